/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/pipeline/ooo_internal.h"

static void time_last_load(const struct step *x, struct vt_ooo_times *times)
{
	const struct running *last = NULL;
	unsigned i;

	times->load = times->tlb = 0;
	times->forwarded = false;
	for (i = 0; i < x->nuops; i++) {
		const struct running *r = &x->uops[i];

		if (x->in->op->uops[i].op_class != VT_OP_LOAD || (last && r->done < last->done))
			continue;
		last = r;
		times->load = (uint32_t)(r->done - r->issued);
		times->tlb = r->tlb;
		times->forwarded = x->forwarded >> i & 1;
	}
}

void vti_ooo_time_loads(const struct step *x, struct vt_ooo_times *times)
{
	unsigned i, first = 0;

	for (i = 1; i < x->nuops; i++)
		if (x->uops[i].issued < x->uops[first].issued)
			first = i;
	if (x->forwarded >> first & 1)
		times->ready = x->uops[first].addressed;
	if (x->in->followed)
		time_last_load(x, times);
}
