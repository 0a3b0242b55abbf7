/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_STREAM_TRACED_H
#define VT_LISTING_STREAM_TRACED_H

#include <jansson.h>

#include "base/buf.h"
#include "stream/record.h"
#include "tracepoints/tracepoints.h"

/*
 * Appends the fields of a tracepoint in what it recorded, as text that is not escaped: NAME=VALUE
 * with blanks between.  A field that does not lie in `raw` is "[damaged]".
 */
void vt_traced_fields(const struct vt_tracepoint *p, struct vt_bytes raw, struct vt_buf *b);

/*
 * The same as an object of names and values: numbers, strings for arrays of char, arrays for other
 * arrays; null for what does not lie in `raw`.  A new reference; NULL when memory runs out.
 */
json_t *vt_traced_json(const struct vt_tracepoint *p, struct vt_bytes raw);

#endif
