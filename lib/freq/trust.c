/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>

#include "freq/internal.h"

/*
 * The deviations of frequencies that add up.  They follow from the points of the own class, and
 * from the neighbours: a part of a sum is at least as certain as all the others together.  Each
 * pass propagates that by one block; PASSES bounds the time.
 */
#define PASSES 8

static double square(double x)
{
	return x * x;
}

double vti_freq_doubt(const struct vti_freqwork *w, const struct vti_estimate *e)
{
	double points = fmax(e->points, 0.5);

	/* Skewed samples give only one sum for the class: one point. */
	if (w->in->skewed && !e->counted)
		points = fmin(points, 1);
	if (!e->known || !isfinite(e->sigma))
		return INFINITY;
	return sqrt(square(e->sigma) + square(e->f * VTI_FREQ_ALONE / points));
}

static void init_trust(struct vti_freqwork *w)
{
	const struct vt_classes *c = w->in->flow->classes;
	uint32_t i;

	for (i = 0; i < w->g->nblocks; i++) {
		const struct vti_estimate *e = &w->classes[c->block[i]];

		w->blocks[i].points = e->points;
		w->blocks[i].sigma = hypot(vti_freq_doubt(w, e), e->f - w->blocks[i].f);
	}
	for (i = 0; i < w->g->nedges; i++) {
		const struct vti_estimate *e = &w->classes[c->edge[i]];

		w->edges[i].points = e->points;
		w->edges[i].sigma = hypot(vti_freq_doubt(w, e), e->f - w->edges[i].f);
	}
}

static struct vti_estimate *edge_at(const struct vti_freqwork *w, uint32_t block, uint32_t i,
				    bool out)
{
	const struct vt_cfg_block *b = &w->g->blocks[block];

	return &w->edges[out ? b->out + i : w->g->in[b->in + i]];
}

/* Improves the deviations in a sum; true if it changed one. */
static bool relax_sum(struct vti_freqwork *w, uint32_t block, bool out)
{
	const struct vt_cfg_block *b = &w->g->blocks[block];
	struct vti_estimate *whole = &w->blocks[block], *worst = NULL;
	uint32_t i, n = out ? b->nout : b->nin;
	double sum = 0, all;
	bool changed = false;

	if (!n || block < VT_CFG_FIRST || (out ? b->incomplete : !w->g->complete))
		return false;
	/* Only the least certain edge can improve by the others. */
	for (i = 0; i < n; i++) {
		struct vti_estimate *e = edge_at(w, block, i, out);

		if (!worst || e->sigma > worst->sigma)
			worst = e;
	}
	assert(worst);
	for (i = 0; i < n; i++)
		if (edge_at(w, block, i, out) != worst)
			sum += square(edge_at(w, block, i, out)->sigma);
	all = sqrt(sum + square(worst->sigma));
	if (all < 0.999 * whole->sigma) {
		whole->sigma = all;
		changed = true;
	}
	all = sqrt(sum + square(whole->sigma));
	if (all < 0.999 * worst->sigma) {
		worst->sigma = all;
		changed = true;
	}
	return changed;
}

/* Adds the deviation that all counts share, which no sum reduces. */
static void doubt_unit(struct vti_freqwork *w)
{
	const struct vt_classes *c = w->in->flow->classes;
	uint32_t i;

	for (i = 0; i < w->g->nblocks; i++)
		if (w->classes[c->block[i]].counted)
			w->blocks[i].sigma =
				hypot(w->blocks[i].sigma, w->unit_doubt * w->blocks[i].f);
	for (i = 0; i < w->g->nedges; i++)
		if (w->classes[c->edge[i]].counted)
			w->edges[i].sigma = hypot(w->edges[i].sigma, w->unit_doubt * w->edges[i].f);
}

/* What has no deviation follows from nothing that was counted. */
static void forget_uncounted(struct vti_estimate *list, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (isinf(list[i].sigma))
			list[i] = (struct vti_estimate){.sigma = INFINITY};
}

/* Whose time its samples are does not matter: what an interrupt returns to is executed. */
static bool was_sampled(const struct vti_freqwork *w, uint32_t block)
{
	const struct vt_cfg_block *b = &w->g->blocks[block];
	uint32_t i;

	for (i = b->insn; i < b->insn + b->ninsns; i++)
		if (w->in->samples[i])
			return true;
	return false;
}

/* What was sampled was executed, also if no branch stack has it: nobody knows how often. */
static void forget_missed(const struct vti_freqwork *w)
{
	uint32_t b;

	for (b = VT_CFG_FIRST; b < w->g->nblocks; b++)
		if (w->blocks[b].known && !(w->blocks[b].f > 0) && was_sampled(w, b))
			w->blocks[b] = (struct vti_estimate){.sigma = INFINITY};
}

void vti_freq_trust(struct vti_freqwork *w)
{
	bool changed = true;
	uint32_t b;
	int pass;

	init_trust(w);
	for (pass = 0; pass < PASSES && changed; pass++) {
		changed = false;
		for (b = VT_CFG_FIRST; b < w->g->nblocks; b++) {
			changed |= relax_sum(w, b, false);
			changed |= relax_sum(w, b, true);
		}
	}
	doubt_unit(w);
	if (w->in->counts_only) {
		forget_uncounted(w->blocks, w->g->nblocks);
		forget_uncounted(w->edges, w->g->nedges);
		forget_missed(w);
	}
}
