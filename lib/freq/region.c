/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/region.h"

#include <math.h>
#include <stdlib.h>

#include "flow/loops.h"

/*
 * Samples of an interrupt fall on boundaries of groups of instructions, which retire together: at
 * each border of a region, some cycles of its neighbours are its own.  Measured on a Zen 5: 2 to 4.
 */
#define BORDER 4.0

/* Standard deviations of a 90 % interval. */
#define NINETY 1.645

/* The part of an estimate of the schedule that holds for 97 % of measured blocks (BHive). */
#define SURE_SCHEDULE 0.9
#define SURE_SLOTS    0.95

/*
 * Reorder buffers of micro-operations, or of cycles, between neighbours, from which they do not
 * overlap much.
 */
#define APART 2

#define NONE UINT32_MAX

/* The blocks of each region are a list, so that two of them are joined at once. */
struct region_work {
	const struct vt_regions_input *in;
	struct vt_regions *r;
	uint32_t *first; /* by region */
	uint32_t *last;
	uint32_t *next; /* by block */
};

static double edge_executions(const struct region_work *w, uint32_t edge)
{
	return w->in->edges[edge] > 0 ? w->in->edges[edge] : 0;
}

/* ---- sums ---- */

static void add_block(struct region_work *w, uint32_t block, uint32_t which)
{
	const struct vt_procflow *f = w->in->flow;
	const struct vt_cfg_block *b = &f->cfg->blocks[block];
	struct vt_region *r = &w->r->list[which];
	uint32_t i;

	if (w->first[which] == NONE)
		w->first[which] = block;
	else
		w->next[w->last[which]] = block;
	w->last[which] = block;
	w->next[block] = NONE;
	for (i = b->insn; i < b->insn + b->ninsns; i++) {
		double n = w->in->executions[i] > 0 ? w->in->executions[i] : 0;

		r->executions += n;
		r->unsure += n * fmin(w->in->doubt[i], 1);
		r->slots += n * f->ops[i].slots;
		r->samples += (double)w->in->samples[i];
		r->cycles += w->in->cycles[i];
		r->best += n * (double)f->costs[i].head;
	}
}

static uint32_t region_of(const struct region_work *w, uint32_t block)
{
	return block < VT_CFG_FIRST ? NONE : w->r->of[block];
}

/* How often control enters a procedure by an edge, if nobody counted that: what others leave. */
static double entry_executions(const struct region_work *w, uint32_t edge)
{
	const struct vt_cfg *g = w->in->flow->cfg;
	const struct vt_cfg_block *to = &g->blocks[g->edges[edge].to];
	double n = edge_executions(w, edge);
	uint32_t i;

	if (n > 0 || !to->ninsns)
		return n;
	n = w->in->executions[to->insn];
	for (i = 0; i < to->nin; i++)
		n -= edge_executions(w, g->in[to->in + i]);
	return n > 0 ? n : 0;
}

static void sum_edges(struct region_work *w)
{
	const struct vt_cfg *g = w->in->flow->cfg;
	uint32_t i;

	for (i = 0; i < g->nedges; i++) {
		uint32_t from = region_of(w, g->edges[i].from), to = region_of(w, g->edges[i].to);
		double n = from == NONE ? entry_executions(w, i) : edge_executions(w, i);

		if (from == NONE)
			w->r->list[0].rounds += n;
		if (to == NONE)
			continue;
		if (w->r->list[to].head == g->edges[i].to)
			w->r->list[to].rounds += n;
		if (from != to)
			w->r->list[to].visits += n;
	}
}

/* ---- what can be told of one ---- */

/* Outside of loops, the head is the first instruction that was executed. */
static double find_doubt(const struct region_work *w, const struct vt_region *r)
{
	const struct vt_cfg *g = w->in->flow->cfg;
	uint32_t i = 0;

	if (!(r->executions > 0))
		return 0;
	if (r->head != VT_CFG_ENTRY)
		i = g->blocks[r->head].insn;
	else
		while (!(w->in->executions[i] > 0))
			i++;
	return fmax(w->in->doubt[i], r->unsure / r->executions);
}

static double square(double x)
{
	return x * x;
}

double vt_region_half_width(double samples, double visits, double cycles, double doubt)
{
	if (!(samples > 0 && cycles > 0))
		return INFINITY;
	return sqrt(square(NINETY) / samples + square(BORDER * visits / cycles) +
		    square(NINETY * doubt));
}

static void judge_region(struct region_work *w, struct vt_region *r)
{
	const struct vt_core *m = w->in->core;
	double slots = r->slots / (m->retire ? m->retire : 1);
	double apart = APART * (double)m->rob * r->visits;

	r->doubt = find_doubt(w, r);
	r->least = fmax(SURE_SCHEDULE * r->best, SURE_SLOTS * slots);
	if (w->in->exact_time)
		r->half = NINETY * r->doubt;
	else
		r->half = vt_region_half_width(r->samples, r->visits, r->cycles, r->doubt);
	r->overlaps = r->slots < apart && r->best < apart;
}

/* ---- small ones ---- */

/* The executions of edges between a region's blocks and those of another, both ways. */
static double sum_between(const struct region_work *w, uint32_t which, uint32_t other)
{
	const struct vt_cfg *g = w->in->flow->cfg;
	double sum = 0;
	uint32_t b, i;

	for (b = w->first[which]; b != NONE; b = w->next[b]) {
		for (i = g->blocks[b].out; i < g->blocks[b].out + g->blocks[b].nout; i++)
			if (region_of(w, g->edges[i].to) == other)
				sum += edge_executions(w, i);
		for (i = g->blocks[b].in; i < g->blocks[b].in + g->blocks[b].nin; i++)
			if (region_of(w, g->edges[g->in[i]].from) == other)
				sum += edge_executions(w, g->in[i]);
	}
	return sum;
}

/* Makes a region a part of the one around it. */
static void merge_region(struct region_work *w, uint32_t which)
{
	struct vt_region *r = &w->r->list[which], *to = &w->r->list[r->parent];
	uint32_t b;

	to->visits += r->visits - sum_between(w, which, r->parent);
	to->executions += r->executions;
	to->unsure += r->unsure;
	to->slots += r->slots;
	to->samples += r->samples;
	to->cycles += r->cycles;
	to->best += r->best;
	for (b = w->first[which]; b != NONE; b = w->next[b])
		w->r->of[b] = r->parent;
	if (w->first[r->parent] == NONE)
		w->first[r->parent] = w->first[which];
	else if (w->first[which] != NONE)
		w->next[w->last[r->parent]] = w->first[which];
	if (w->first[which] != NONE)
		w->last[r->parent] = w->last[which];
	r->merged = true;
}

/* From the innermost on: a region around others comes before them. */
static void merge_small_regions(struct region_work *w)
{
	uint32_t i;

	for (i = w->r->count; i-- > 0;) {
		struct vt_region *r = &w->r->list[i];

		judge_region(w, r);
		if (r->parent != VT_NO_REGION && (r->half > VT_REGIONS_WIDTH || r->overlaps))
			merge_region(w, i);
	}
}

/* ---- all of them ---- */

static void list_regions(struct region_work *w, const struct vt_loops *loops)
{
	const struct vt_cfg *g = w->in->flow->cfg;
	uint32_t i;

	w->r->count = loops->count + 1;
	w->r->list[0] = (struct vt_region){.head = VT_CFG_ENTRY, .parent = VT_NO_REGION};
	for (i = 0; i < loops->count; i++)
		w->r->list[i + 1] = (struct vt_region){
			.head = loops->list[i].head,
			.parent = loops->list[i].parent == VT_LOOP_NONE ? 0
									: loops->list[i].parent + 1,
		};
	for (i = 0; i < w->r->count; i++)
		w->first[i] = NONE;
	for (i = 0; i < g->nblocks; i++)
		w->r->of[i] = loops->of[i] == VT_LOOP_NONE ? 0 : loops->of[i] + 1;
	for (i = VT_CFG_FIRST; i < g->nblocks; i++)
		add_block(w, i, w->r->of[i]);
}

struct vt_regions *vt_regions_new(const struct vt_regions_input *in, struct vt_error *err)
{
	struct vt_loops *loops = vt_loops_new(in->flow->cfg, err);
	struct region_work w = {.in = in, .r = calloc(1, sizeof(*w.r))};
	size_t blocks = (size_t)in->flow->cfg->nblocks + 1;
	bool ok = loops && w.r;

	if (ok) {
		w.r->list = calloc((size_t)loops->count + 1, sizeof(*w.r->list));
		w.r->of = calloc(blocks, sizeof(*w.r->of));
		w.first = calloc((size_t)loops->count + 1, sizeof(*w.first));
		w.last = calloc((size_t)loops->count + 1, sizeof(*w.last));
		w.next = calloc(blocks, sizeof(*w.next));
		ok = w.r->list && w.r->of && w.first && w.last && w.next;
	}
	if (ok) {
		list_regions(&w, loops);
		sum_edges(&w);
		merge_small_regions(&w);
	}
	vt_loops_free(loops);
	free(w.first);
	free(w.last);
	free(w.next);
	if (ok)
		return w.r;
	vt_regions_free(w.r);
	vt_error_nomem(err);
	return NULL;
}

void vt_regions_free(struct vt_regions *r)
{
	if (!r)
		return;
	free(r->list);
	free(r->of);
	free(r);
}
