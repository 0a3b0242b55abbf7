/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "memory/accesses.h"

#include <stdlib.h>

static uint8_t access_role(const struct vt_bblock *b, const struct vt_access_slots *a)
{
	if (a->insn + 1u != b->ninsns || a->size != 8)
		return VTI_ACCESS_DATA;
	if (a->store && (b->end == VT_END_CALL || b->end == VT_END_CALL_INDIRECT))
		return VTI_ACCESS_CALL;
	if (!a->store && b->end == VT_END_RETURN)
		return VTI_ACCESS_RETURN;
	return VTI_ACCESS_DATA;
}

bool vti_block_accesses_make(struct vti_block_accesses *a, const struct vt_bblock *b)
{
	struct vt_access_cursor c = {.block = b};
	struct vt_access_slots s;
	uint32_t insn;

	*a = (struct vti_block_accesses){.list = calloc(b->nslots + 1u, sizeof(*a->list))};
	if (!a->list)
		return false;
	for (insn = 0; insn < b->ninsns; insn++) {
		vt_access_start(&c, insn, NULL);
		while (vt_access_next(&c, &s)) {
			if (s.address == VT_ACCESS_NO_SLOT || s.value == VT_ACCESS_NO_SLOT)
				a->incomplete++;
			else
				a->list[a->count++] =
					(struct vti_block_access){s, access_role(b, &s)};
		}
	}
	return true;
}
