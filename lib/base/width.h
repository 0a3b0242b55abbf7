/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_WIDTH_H
#define VT_BASE_WIDTH_H

#include <stddef.h>

#include "base/buf.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the terminal columns of escaped text: wide characters count 2, combining ones 0. */
size_t vt_text_width(const char *text, size_t size);

/*
 * Appends escaped text, at most `columns` wide: of a wider one, the beginning and the end with
 * VT_ELLIPSIS (name.h) between them.  Characters and escape sequences stay whole.
 */
void vt_text_cut(struct vt_buf *out, const char *text, size_t size, size_t columns);

#ifdef __cplusplus
}
#endif
#endif
