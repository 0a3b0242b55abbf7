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
