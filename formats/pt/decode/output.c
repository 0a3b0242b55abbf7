/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/decode/output.h"

#include <stdlib.h>

void vti_pt_output_fini(struct vti_pt_output *o)
{
	free(o->ids);
	free(o->notes);
	free(o->times);
}

void vti_pt_output_reset(struct vti_pt_output *o)
{
	o->nids = o->nnotes = o->ntimes = 0;
	o->insns = 0;
}

struct vt_pt_batch vti_pt_output_batch(const struct vti_pt_output *o, struct vt_pt_blocks *blocks)
{
	return (struct vt_pt_batch){
		.blocks = blocks,
		.ids = o->ids,
		.nids = o->nids,
		.insns = o->insns,
		.notes = o->notes,
		.nnotes = o->nnotes,
		.times = o->times,
		.ntimes = o->ntimes,
	};
}

bool vti_pt_report_state(struct vti_pt_reported *r, const struct vt_pt_note *n)
{
	uint32_t bit = UINT32_C(1) << n->type;
	bool changed = !(r->types & bit) || r->last[n->type] != n->value;

	if (n->type == VT_PT_NOTE_PAGING) {
		changed |= r->nonroot != n->flag;
		r->nonroot = n->flag;
	}
	r->types |= bit;
	r->last[n->type] = n->value;
	return changed;
}
