/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_HEADER_INTERNAL_H
#define VT_STREAM_HEADER_INTERNAL_H

#include "base/buf.h"
#include "base/bytes.h"
#include "stream/header.h"

/* The range of a kind's number in a stream.  Other numbers are those of blocks without records. */
#define VTI_FIRST_KIND_ID 16
#define VTI_LAST_KIND_ID  65000

/* Appends the payload of a header block: the stages, then the kinds and their fields. */
void vti_header_encode(struct vt_buf *out, const struct vt_header *h, const struct vt_schema *s);

/*
 * Decodes the payload of a header block.  `h` receives the stages; the caller frees it on error,
 * too.  `schema` holds the known kinds and receives the foreign ones.  `wire` receives the kinds
 * and fields in the stream's own order.  Errors: VT_E_DAMAGED, VT_E_LIMIT, VT_E_NOMEM.
 */
int vti_header_decode(struct vt_cursor *c, struct vt_header *h, struct vt_schema *schema,
		      struct vt_schema *wire, struct vt_error *err);

#endif
