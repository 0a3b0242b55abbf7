/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_HEADER_INTERNAL_H
#define VT_STREAM_HEADER_INTERNAL_H

#include "base/buf.h"
#include "base/bytes.h"
#include "stream/header.h"

/* Numbers that kinds may have on the wire; those outside are the format's own blocks. */
#define VTI_FIRST_KIND_ID 16
#define VTI_LAST_KIND_ID  65000

/* The payload of a header block: the stages, then the kinds and their fields. */
void vti_header_encode(struct vt_buf *out, const struct vt_header *h, const struct vt_schema *s);

/*
 * Decodes a header's payload into `h` (to be freed also on error) and into `schema`, which holds
 * the known kinds and gets the foreign ones.  `wire` receives the kinds in the order and with the
 * fields of the stream itself.
 */
int vti_header_decode(struct vt_cursor *c, struct vt_header *h, struct vt_schema *schema,
		      struct vt_schema *wire, struct vt_error *err);

#endif
