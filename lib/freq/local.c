/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "freq/internal.h"

/*
 * DCPI 6.1.4: the executions of a block are the sum over its incoming edges, and over its outgoing
 * edges.  If one part of such a sum is unknown, it follows from the others.  Each part is found
 * once: the time is linear in the graph, except for the degree of its blocks.
 */
struct propagation {
	struct vti_freqwork *w;
	uint32_t *members_first; /* by class: its blocks and edges in `members` */
	uint32_t *members;	 /* blocks, and edges as nblocks + edge */
	uint32_t *queue;	 /* blocks with sums to check */
	bool *queued;
	uint32_t nqueued;
};

static struct vti_estimate *member_estimate(const struct propagation *l, uint32_t member)
{
	uint32_t n = l->w->g->nblocks;

	return member < n ? &l->w->blocks[member] : &l->w->edges[member - n];
}

static uint32_t class_of(const struct propagation *l, uint32_t member)
{
	const struct vt_classes *c = l->w->in->flow->classes;
	uint32_t n = l->w->g->nblocks;

	return member < n ? c->block[member] : c->edge[member - n];
}

static void enqueue(struct propagation *l, uint32_t block)
{
	if (l->queued[block])
		return;
	l->queued[block] = true;
	assert(l->nqueued < l->w->g->nblocks);
	l->queue[l->nqueued++] = block;
}

/* Sets the estimate of all members of a class, and queues their blocks. */
static void set_class(struct propagation *l, uint32_t member, const struct vti_estimate *e)
{
	const struct vt_cfg *g = l->w->g;
	uint32_t class_ = class_of(l, member), i;

	for (i = l->members_first[class_]; i < l->members_first[class_ + 1]; i++) {
		uint32_t m = l->members[i];

		*member_estimate(l, m) = *e;
		if (m < g->nblocks) {
			enqueue(l, m);
		} else {
			enqueue(l, g->edges[m - g->nblocks].from);
			enqueue(l, g->edges[m - g->nblocks].to);
		}
	}
}

/* A block and the n edges on one of its sides, which add up. */
struct flow_sum {
	uint32_t block;
	uint32_t n;
	bool out;
};

static uint32_t sum_edge(const struct propagation *l, const struct flow_sum *s, uint32_t i)
{
	const struct vt_cfg_block *b = &l->w->g->blocks[s->block];

	return s->out ? b->out + i : l->w->g->in[b->in + i];
}

/* Whether the edges add up to the block: unknown jumps may lead from it, or to it. */
static bool is_sum(const struct propagation *l, const struct flow_sum *s)
{
	const struct vt_cfg *g = l->w->g;

	if (!s->n || s->block == VT_CFG_ENTRY || s->block == VT_CFG_EXIT)
		return false;
	return s->out ? !g->blocks[s->block].incomplete : g->complete;
}

static void infer(struct propagation *l, const struct flow_sum *s)
{
	const struct vti_estimate *block = &l->w->blocks[s->block];
	uint32_t i, unknown = 0, which = 0;
	struct vti_estimate e = {.known = true};
	double sum = 0, variance = 0;

	if (!is_sum(l, s))
		return;
	for (i = 0; i < s->n; i++) {
		const struct vti_estimate *edge = &l->w->edges[sum_edge(l, s, i)];

		if (edge->known) {
			sum += edge->f;
			variance += edge->sigma * edge->sigma;
		} else {
			unknown++;
			which = sum_edge(l, s, i);
		}
	}
	if (unknown > 1 || (unknown == 0 && block->known) || (unknown == 1 && !block->known))
		return;
	if (unknown == 0) {
		e.f = sum;
		e.sigma = sqrt(variance);
		set_class(l, s->block, &e);
	} else {
		/* Estimates may not quite add up, but no frequency is negative. */
		e.f = fmax(block->f - sum, 0);
		e.sigma = sqrt(variance + block->sigma * block->sigma);
		set_class(l, l->w->g->nblocks + which, &e);
	}
}

/* The edges of a block that is never executed are not executed, either. */
static void infer_zero(struct propagation *l, const struct flow_sum *s)
{
	const struct vti_estimate zero = {.known = true, .sigma = l->w->blocks[s->block].sigma};
	uint32_t i;

	if (!is_sum(l, s) || !l->w->blocks[s->block].known || l->w->blocks[s->block].f > 0)
		return;
	for (i = 0; i < s->n; i++)
		if (!l->w->edges[sum_edge(l, s, i)].known)
			set_class(l, l->w->g->nblocks + sum_edge(l, s, i), &zero);
}

static bool list_class_members(struct propagation *l)
{
	const struct vt_cfg *g = l->w->g;
	const struct vt_classes *c = l->w->in->flow->classes;
	uint32_t i, n = g->nblocks + g->nedges;

	l->members_first = calloc((size_t)c->count + 2, sizeof(uint32_t));
	l->members = calloc((size_t)n + 1, sizeof(uint32_t));
	l->queue = calloc((size_t)g->nblocks + 1, sizeof(uint32_t));
	l->queued = calloc((size_t)g->nblocks + 1, sizeof(bool));
	if (!l->members_first || !l->members || !l->queue || !l->queued)
		return false;
	for (i = 0; i < n; i++)
		l->members_first[class_of(l, i) + 2]++;
	for (i = 2; i < c->count + 2; i++)
		l->members_first[i] += l->members_first[i - 1];
	for (i = 0; i < n; i++)
		l->members[l->members_first[class_of(l, i) + 1]++] = i;
	return true;
}

static void propagate_estimates(struct propagation *l)
{
	const struct vt_cfg *g = l->w->g;
	uint32_t i;

	for (i = 0; i < l->w->in->flow->classes->count; i++)
		if (l->w->classes[i].known && l->members_first[i] < l->members_first[i + 1])
			set_class(l, l->members[l->members_first[i]], &l->w->classes[i]);
	while (l->nqueued) {
		uint32_t block = l->queue[--l->nqueued];
		struct flow_sum in = {block, g->blocks[block].nin, false};
		struct flow_sum out = {block, g->blocks[block].nout, true};

		l->queued[block] = false;
		infer(l, &in);
		infer(l, &out);
		infer_zero(l, &in);
		infer_zero(l, &out);
	}
}

int vti_freq_propagate(struct vti_freqwork *w, struct vt_error *err)
{
	struct propagation l = {.w = w};
	bool ok = list_class_members(&l);

	if (ok)
		propagate_estimates(&l);
	free(l.members_first);
	free(l.members);
	free(l.queue);
	free(l.queued);
	return ok ? 0 : vt_error_nomem(err);
}
