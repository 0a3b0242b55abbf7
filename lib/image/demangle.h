/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_DEMANGLE_H
#define VT_IMAGE_DEMANGLE_H

#include <stdbool.h>

#include "base/buf.h"

/* Maximum bytes of a demangled name: a mangled name of some thousand bytes can expand to 2^200. */
#define VT_DEMANGLE_MAX 65536

/*
 * Appends the demangled form of a C++ (Itanium) or Rust (legacy and v0) name: for Rust without the
 * hash, for C++ with the parameter types if `params`, else as perf shows it.  Keeps a suffix `@plt`
 * or `@version`.  Returns false and appends nothing for a name that is not mangled, is malformed,
 * or would exceed the limit.
 */
bool vt_demangle(struct vt_buf *out, const char *name, bool params);

/* The display name of an inlined function, which may have none: "[inlined]".  It is in `out`, which
 * is empty before, or borrowed from the function's name. */
const char *vt_demangle_inlined(struct vt_buf *out, const char *function);

#endif
