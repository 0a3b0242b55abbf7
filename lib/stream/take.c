/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "stream/reader_internal.h"

/* What a stream without an END record gets from load.c, too. */
static void end_taking(struct vt_reader *r)
{
	r->at_end = true;
	r->status = vti_channel_status(r->channel, &r->failure);
	if (r->status != VT_STATUS_MISSING)
		return;
	r->damage.truncated = true;
	r->gap.open = true;
	snprintf(r->gap.reason, sizeof(r->gap.reason), "truncated");
}

int vti_take_frame(struct vt_reader *r, struct vt_error *err)
{
	const struct vti_frame *f = vti_channel_next(r->channel);
	const char *why = NULL;
	uint32_t k;

	r->nruns = 0;
	r->run = 0;
	if (!f) {
		end_taking(r);
		return 0;
	}
	assert(f->nkinds == r->wire.nkinds);
	for (k = 0; k < f->nkinds && !why; k++) {
		r->slots[k].given = 0;
		r->slots[k].loaded = f->kinds[k].nrows != 0;
		if (r->slots[k].loaded)
			why = vti_block_store_borrow(&r->slots[k].store, &f->kinds[k]);
	}
	if (why || !vt_array_grow(&r->runs, &r->runs_cap, f->nruns, sizeof(*r->runs)))
		return vt_error_set(err, VT_E_NOMEM, "%s: out of memory", r->in.name);
	memcpy(r->runs, f->runs, f->nruns * sizeof(*r->runs));
	r->nruns = f->nruns;
	return 0;
}
