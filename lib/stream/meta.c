/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/meta.h"

#include <math.h>
#include <stdio.h>

#include "base/opt.h"
#include "stream/kinds.h"

/* Longer texts are no numbers that vtrace writes. */
#define MAX_TEXT 64

bool vt_meta_f64(const struct vt_record *rec, const char *key, double *v)
{
	struct vt_error ignored = VT_ERROR_INIT;
	struct vt_bytes value;
	char text[MAX_TEXT];

	if (!vt_record_is_meta(rec, key))
		return false;
	value = vt_record_bytes(rec, VT_META_VALUE);
	*v = NAN;
	if (value.size >= sizeof(text) || memchr(value.data, 0, value.size))
		return true;
	snprintf(text, sizeof(text), "%.*s", (int)value.size, (const char *)value.data);
	vt_parse_f64(text, "", v, &ignored);
	return true;
}
