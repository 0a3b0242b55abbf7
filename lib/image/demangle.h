/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_DEMANGLE_H
#define VT_IMAGE_DEMANGLE_H

#include <stdbool.h>

#include "base/buf.h"

/* Longest demangled name, in bytes: some thousand bytes of mangled name can stand for 2^200. */
#define VT_DEMANGLE_MAX 65536

/*
 * Appends the readable form of a C++ (Itanium) or Rust (legacy and v0) name, without the hash for
 * Rust; for C++ with the parameters' types, or as perf shows it without.  A suffix `@plt` or
 * `@version` is kept.  Returns false, with nothing appended, for a name that is not mangled, is
 * malformed, or would exceed the limit.
 */
bool vt_demangle(struct vt_buf *out, const char *name, bool params);

#endif
