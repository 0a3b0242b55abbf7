/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_ESCAPE_H
#define VT_BASE_ESCAPE_H

#include <stddef.h>

#include "base/buf.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Appends text that came from a file so that a terminal, a line-based reader and a tab-separated
 * table are all safe: control characters (C0, DEL, C1), backslashes, and bytes that are not
 * well-formed UTF-8 become \n, \t, \\ or \xHH; everything else stays.
 */
void vt_escape(struct vt_buf *out, const void *text, size_t size);

/* The same for a C string. */
void vt_escape_str(struct vt_buf *out, const char *s);

#ifdef __cplusplus
}
#endif
#endif
