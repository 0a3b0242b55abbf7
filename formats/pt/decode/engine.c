/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/decode/engine.h"

#include <string.h>

#include "stream/kinds.h"

const struct vt_pt_engine_ops *vt_pt_engine_by_name(const char *name)
{
	static const struct vt_pt_engine_ops *const all[] = {&vt_pt_libipt, &vt_pt_fast, NULL};
	const struct vt_pt_engine_ops *const *e;

	for (e = all; *e; e++) {
		if (!strcmp((*e)->name, name))
			return *e;
	}
	return NULL;
}

const char *vt_pt_error_text(unsigned error)
{
	static const char *const texts[VT_PT_NERRS] = {
		[VT_PT_ERR_NONE] = "no error",
		[VT_PT_ERR_BAD_PACKET] = "bad packet",
		[VT_PT_ERR_NO_CODE] = VT_REASON_NO_CODE,
		[VT_PT_ERR_BAD_CODE] = "bad code",
		[VT_PT_ERR_MISMATCH] = "trace and code contradict each other",
		[VT_PT_ERR_RETURN] = "return without its call",
		[VT_PT_ERR_NO_IP] = "suppressed address",
		[VT_PT_ERR_LOOP] = "loop without trace",
		[VT_PT_ERR_OTHER] = "decoder error",
	};

	return error < VT_PT_NERRS ? texts[error] : "decoder error";
}

/* "GenuineIntel,6,142,10": vendor, family, model, stepping. */
void vt_pt_options_meta(struct vt_pt_options *opt, const struct vt_record *rec)
{
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);
	unsigned n[4] = {0};
	size_t at, field = 0;

	if (!vt_record_is_meta(rec, "cpuid") || value.size < 13 ||
	    memcmp(value.data, "GenuineIntel,", 13))
		return;
	for (at = 13; at < value.size && field < 3; at++) {
		if (value.data[at] == ',')
			field++;
		else if (value.data[at] >= '0' && value.data[at] <= '9' && n[field] < 65536)
			n[field] = n[field] * 10 + (value.data[at] - '0');
	}
	opt->family = (uint16_t)n[0];
	opt->model = (uint8_t)n[1];
	opt->stepping = (uint8_t)n[2];
}
