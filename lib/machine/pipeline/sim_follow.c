/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/pipeline/sim_follow.h"

void vti_follow_init(struct vti_follow *w, const struct vt_sim_hooks *hooks,
		     struct vt_sim_followed *f)
{
	w->f = f;
	w->left = UINT64_MAX;
	w->tell = hooks->follow;
	w->arg = hooks->arg;
}

void vti_follow_begin(struct vti_follow *w, const struct vt_sim_insn *insn)
{
	w->on = true;
	*w->f = (struct vt_sim_followed){
		.insn = insn,
		.addr = insn->addr,
		.flags = insn->op->flags,
		.history = w->history,
		.nhistory = w->nhistory,
	};
}

uint32_t vti_follow_latency(const struct vt_mop *op, unsigned nth)
{
	unsigned i, n = 0;

	for (i = 0; i < op->nuops && i < VT_MOP_UOPS; i++)
		if (op->uops[i].op_class == VT_OP_LOAD && n++ == nth)
			return op->uops[i].latency;
	return 0;
}

void vti_follow_access(struct vti_follow *w, bool store, unsigned nth, uint32_t missed,
		       const struct vt_simmem_access *a)
{
	struct vt_sim_followed *f = w->f;
	uint32_t cycles = vti_follow_latency(f->insn->op, nth) + a->cycles;

	f->data_missed |= missed;
	if (store)
		return;
	f->load_missed |= missed;
	if (cycles < f->load)
		return;
	f->load = cycles;
	f->tlb = a->tlb;
}

static void tell_followed(struct vti_follow *w)
{
	w->on = false;
	w->left = w->tell(w->arg, w->f);
	if (!w->left)
		w->left = UINT64_MAX;
}

void vti_follow_end(struct vti_follow *w, const struct vt_sim_retired *r,
		    const struct vt_ooo_times *times)
{
	struct vt_sim_followed *f = w->f;

	f->fetch_missed = r->fetch_missed;
	f->mispredicted = r->mispredicted;
	if (times) {
		f->fetched = times->fetched;
		f->placed = times->placed;
		f->ready = times->ready;
		f->issued = times->issued;
		f->done = times->done;
		f->ended = times->retired;
		f->load = times->load;
		f->tlb = times->tlb;
		f->forwarded = times->forwarded;
	} else {
		f->issued = r->cycle;
		f->done = f->ended = r->done_cycle;
		if (f->ready < f->placed)
			f->ready = f->placed;
		if (!f->load)
			f->load = vti_follow_latency(f->insn->op, 0);
	}
	tell_followed(w);
}

void vti_follow_wrong(struct vti_follow *w, const struct vti_follow_wrong *wrong)
{
	*w->f = (struct vt_sim_followed){
		.addr = wrong->insn->addr,
		.flags = wrong->insn->flags,
		.fetched = wrong->begin,
		.placed = wrong->placed,
		.ended = wrong->end,
		.fetch_missed = wrong->fetch_missed,
		.history = wrong->history,
		.nhistory = wrong->nhistory,
	};
	tell_followed(w);
}
