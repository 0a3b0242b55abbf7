/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_ESCAPE_H
#define VT_BASE_ESCAPE_H

#include <stddef.h>

#include "base/buf.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Appends untrusted text, escaped so that it is safe on a terminal, in line-based output and in
 * tab-separated tables.  Control characters (C0, DEL, C1), those of the direction of text
 * (Bidi_Control), backslashes and bytes that are not well-formed UTF-8 become \n, \t, \\ or \xHH.
 * All other text stays as it is.
 */
void vt_escape(struct vt_buf *out, const void *text, size_t size);

/* Like vt_escape(), for a C string. */
void vt_escape_str(struct vt_buf *out, const char *s);

#ifdef __cplusplus
}
#endif
#endif
