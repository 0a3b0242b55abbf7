/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_NAME_H
#define VT_BASE_NAME_H

#include <stddef.h>

#include "base/buf.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Stands for what is left out of a name: U+2026, one column wide. */
#define VT_ELLIPSIS "\xe2\x80\xa6"

/*
 * Appends the demangled name of a procedure without its template arguments and the types of its
 * parameters: "std::sort<...>" and "f(...)", with VT_ELLIPSIS for the dots.  Operators, the types
 * that conversion operators convert to, "(anonymous namespace)", the parameters of a lambda
 * expression and the types of Rust's "<T as Trait>::f" stay.  A name whose brackets do not match
 * is appended as it is.  Takes time linear in `size`.
 */
void vt_name_shorten(struct vt_buf *out, const char *name, size_t size);

/*
 * Appends what a person would call the procedure: the same without the brackets and without ABI
 * tags, as "std::sort" for "std::sort<int*>" and "f" for "f[abi:cxx11](int)".
 */
void vt_name_bare(struct vt_buf *out, const char *name, size_t size);

#ifdef __cplusplus
}
#endif
#endif
