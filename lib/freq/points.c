/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "freq/internal.h"

/*
 * Divides the code of a class into stretches with independent times, for estimates by likelihood.
 * A stretch begins at an issue point.  It continues over the next issue point
 *
 *   - if instructions issued together with the first have samples, though they should get none.
 *     Either they stall, or groups of instructions are issued that differ from the schedule's,
 *     since control came from elsewhere; then one group has too many samples and the next too few.
 *     The other stretches of the class show which is the case;
 *   - if the next issue point waits for an instruction before this one: its stall contains the
 *     stalls between them (DCPI 6.1.3);
 *   - if it has too few samples.
 *
 * Two samples deviate by 1.4.  From half a cycle on, an instruction is more likely an issue point
 * than not.  These and the other constants were chosen on programs in the simulator
 * (scripts/tune/constants).
 */
#define FEW	2.0  /* samples */
#define ISSUE	0.5  /* least mean cycles of an issue point */
#define SHIFTED 0.12 /* accepted part of samples on instructions that should get none */

/*
 * The probability that samples on an instruction issued together with another belong to the latter.
 * It is lower for the first instruction of a block, which waits for mispredicted branches and for
 * the instruction cache.
 */
#define SHIFT	    0.5
#define SHIFT_FIRST 0.05

struct stretch_walk {
	const struct vti_freqwork *w;
	struct vti_freq_point *list;
	uint32_t *starts; /* by point: its first instruction */
	size_t n;
	size_t first; /* of the block at hand */
	struct vti_freq_point at;
	uint32_t start;
	double extra; /* samples of what should get none */
	bool open;
};

/* The probability that an instruction never stalls; users of loads wait.  Chosen likewise. */
static double prior_of(const struct vti_freqwork *w, uint32_t insn)
{
	const struct vt_procflow *f = w->in->flow;
	int32_t depends = f->costs[insn].depends;

	if (insn == w->g->blocks[f->block[insn]].insn)
		return 0.4;
	if (depends >= 0 && (uint32_t)depends < w->g->ninsns &&
	    w->g->insns[depends].flags & VT_FACT_LOAD)
		return 0.5;
	return 0.7;
}

static void join_points(struct vti_freq_point *to, const struct vti_freq_point *p)
{
	to->samples += p->samples;
	to->cycles += p->cycles;
	to->best += p->best;
	to->extra_samples += p->extra_samples;
	to->extra_cycles += p->extra_cycles;
	to->prior = fmin(to->prior, p->prior);
	to->shift = fmin(to->shift, p->shift);
}

static bool is_whole_stretch(const struct stretch_walk *k)
{
	return k->at.best >= ISSUE && k->at.samples >= FEW &&
	       k->extra <= fmax(2, SHIFTED * k->at.samples);
}

static void end_stretch(struct stretch_walk *k)
{
	if (k->open && k->at.best > 0) {
		k->list[k->n] = k->at;
		k->starts[k->n++] = k->start;
	}
	k->open = false;
}

/*
 * The cycles that an execution waits for a line that the first cache misses and the second one
 * has.  Fetching ahead, and what is left to do after a load, hide some of the latency.
 */
#define HIDDEN 3.0

static double miss_of(const struct vt_core *core)
{
	return core ? fmax((double)core->l2.latency - HIDDEN, 0) : 0;
}

static void begin_stretch(struct stretch_walk *k, uint32_t insn)
{
	k->open = true;
	k->start = insn;
	k->extra = 0;
	k->at = (struct vti_freq_point){
		.prior = prior_of(k->w, insn), .shift = SHIFT, .miss = miss_of(k->w->in->core)};
}

/* Joins the stretches that ended since the instruction that this one waits for. */
static void reach_back(struct stretch_walk *k, uint32_t insn)
{
	int32_t depends = k->w->in->flow->costs[insn].depends;

	while (depends >= 0 && k->n > k->first && k->starts[k->n - 1] > (uint32_t)depends &&
	       k->starts[k->n - 1] < insn) {
		k->n--;
		join_points(&k->at, &k->list[k->n]);
		k->start = k->starts[k->n];
	}
}

static void add_stretch_insn(struct stretch_walk *k, uint32_t insn)
{
	const struct vt_freq_input *in = k->w->in;
	double head = (double)in->flow->costs[insn].head;

	if (vti_freq_repeats(k->w, insn)) {
		end_stretch(k);
		return;
	}
	if (head >= ISSUE && k->open && is_whole_stretch(k))
		end_stretch(k);
	if (!k->open)
		begin_stretch(k, insn);
	k->at.samples += (double)in->samples[insn];
	k->at.cycles += k->w->cycles[insn];
	k->at.best += head;
	if (head >= ISSUE) {
		k->extra = 0;
		k->at.prior = fmin(k->at.prior, prior_of(k->w, insn));
		reach_back(k, insn);
	} else {
		if (insn == k->w->g->blocks[in->flow->block[insn]].insn)
			k->at.shift = SHIFT_FIRST;
		k->extra += (1 - head) * (double)in->samples[insn];
		k->at.extra_samples += (1 - head) * (double)in->samples[insn];
		k->at.extra_cycles += (1 - head) * k->w->cycles[insn];
	}
}

static void end_block(struct stretch_walk *k)
{
	if (k->open && !is_whole_stretch(k) && k->n > k->first) {
		join_points(&k->list[k->n - 1], &k->at);
		k->open = false;
	}
	end_stretch(k);
	k->first = k->n;
}

int64_t vti_freq_stretches(const struct vti_freqwork *w, uint32_t class_,
			   struct vti_freq_point **points, struct vt_error *err)
{
	uint32_t i, first = w->members.first[class_], end = w->members.first[class_ + 1];
	struct stretch_walk k = {.w = w};
	uint32_t block = 0;

	k.list = malloc((end - first + 1) * sizeof(*k.list));
	k.starts = malloc((end - first + 1) * sizeof(*k.starts));
	if (!k.list || !k.starts) {
		free(k.list);
		free(k.starts);
		return vt_error_nomem(err);
	}
	for (i = first; i < end; i++) {
		uint32_t insn = w->members.insns[i];

		if (w->in->flow->block[insn] != block)
			end_block(&k);
		block = w->in->flow->block[insn];
		add_stretch_insn(&k, insn);
	}
	end_block(&k);
	assert(k.n <= end - first);
	free(k.starts);
	*points = k.list;
	return (int64_t)k.n;
}
