/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "flow/mincost.h"
#include "freq/internal.h"

/*
 * Finds the likeliest frequencies that add up: a circulation over the graph, in which one block of
 * each class has a cost for the distance from the class's estimate, the negative logarithm of the
 * likelihood.  The cost is a parabola near the estimate, and levels off, since points that stall or
 * that waited before are common.  A frequency above the estimate costs more than one below, since
 * stalls raise estimates.
 *
 * A flow of minimum cost needs convex costs.  So it is solved several times: each time, the cost of
 * a class that was far from its estimate is limited to its true cost at that distance.
 *
 * Typical costs were chosen on programs in the simulator; scripts/tune/constants measures their
 * effect.
 */
#define STALL_COST 2.5 /* typical logarithm of likelihood of a stalled point, */
#define WAIT_COST  4.0 /* of a point with too little time, */
#define NEVER_COST 8.0 /* and of one that took time without an execution */
#define HALVINGS   7   /* of the estimate, down to which the likelihood is computed */
#define ROUNDS	   4

/*
 * Units of flow in the most frequent block, and units of cost in a logarithm of likelihood: 2^22
 * and 2^28, far finer than estimates.
 */
#define MOST_UNITS 4194304.0
#define COST_UNITS 268435456.0

/*
 * The cost, in logarithms of likelihood, of control along unknown jumps as frequent as the most
 * frequent block.  Chosen.
 */
#define HIDDEN_COST 1.0

/* Corners of the parabola in standard deviations; its slope between two is that in the middle. */
static const double corners[] = {0, 1, 2, 4};
#define NCORNERS (sizeof(corners) / sizeof(corners[0]))

struct solver {
	struct vti_freqwork *w;
	struct vt_mincost *flow;
	bool first;	  /* there is no flow yet */
	double unit;	  /* executions in one of flow */
	uint32_t narcs;	  /* so far; arcs are numbered in order */
	uint32_t *blocks; /* by block: its first arc; one more for the end of the last */
	uint32_t *edges;  /* likewise */
	bool *seen;	  /* classes of which a block or edge has a cost */
};

static uint32_t node_in(uint32_t block)
{
	return 2 * block;
}

static uint32_t node_out(uint32_t block)
{
	return 2 * block + 1;
}

/* The cost of a unit for a slope in logarithms for each execution. */
static int64_t cost_of(const struct solver *s, double slope)
{
	double cost = slope * s->unit * COST_UNITS;

	if (!(cost > 1))
		return 1;
	return cost < (double)VT_MINCOST_COST ? (int64_t)cost : VT_MINCOST_COST;
}

static int64_t flow_units(const struct solver *s, double f)
{
	double v = f / s->unit + 0.5;

	return v < (double)VT_MINCOST_MAX ? (int64_t)v : VT_MINCOST_MAX;
}

static int add_flow_arc(struct solver *s, uint32_t from, uint32_t to,
			const struct vt_mincost_arc *how, struct vt_error *err)
{
	struct vt_mincost_arc arc = *how;
	int64_t code;

	/* Each round has the same arcs in the same order: only prices change. */
	if (!s->first) {
		vt_mincost_price(s->flow, s->narcs++, arc.less, arc.more);
		return 0;
	}
	arc.from = from;
	arc.to = to;
	code = vt_mincost_add(s->flow, &arc, err);
	s->narcs++;
	return code < 0 ? (int)code : 0;
}

/* ---- what a class costs ---- */

/* The block or edge that has the cost of its class. */
struct paying_arc {
	uint32_t from; /* nodes */
	uint32_t to;
	uint32_t class_;
	double f; /* its flow so far */
};

static bool has_cost(const struct vti_estimate *e)
{
	return e->known && isfinite(e->sigma) && e->sigma > 0;
}

/* The mean slope of the cost from the estimate to a frequency, which limits steeper corners. */
static double slope_to(const struct solver *s, const struct paying_arc *p,
		       const struct vti_estimate *e, double at, double typical)
{
	double cost =
		vti_freq_unlikely(s->w, p->class_, at) - vti_freq_unlikely(s->w, p->class_, e->f);

	if (isnan(cost))
		cost = typical;
	return fmax(cost, 0.25 * typical) / fabs(e->f - at);
}

/*
 * Adds arcs from 0 to the outermost corner below the estimate.  Below the current flow, all points
 * stall ever longer: the cost grows with each halving.
 */
static int add_deep(struct solver *s, const struct paying_arc *p, const struct vti_estimate *e,
		    double is, double cap, struct vt_error *err)
{
	double top = fmax(e->f - corners[NCORNERS - 1] * e->sigma, 0);
	double points = fmax(e->points, 0.3);
	double part = e->f;
	int k, code = 0;

	for (k = 1; k <= HALVINGS && code == 0; k++, part /= 2) {
		bool last = k == HALVINGS;
		double high = fmin(part, top);
		double low = last ? 0 : fmin(part / 2, top);
		double cost = last ? NEVER_COST * points
				   : vti_freq_unlikely(s->w, p->class_, low) -
					      vti_freq_unlikely(s->w, p->class_, high);
		int64_t size = flow_units(s, high) - flow_units(s, low);
		struct vt_mincost_arc arc = {.want = size, .at_most = size};

		if (size <= 0)
			continue;
		if (isnan(cost))
			cost = 0.5 * points;
		arc.less = cost_of(s, low >= is ? cap : fmax(cap, cost / (high - low)));
		code = add_flow_arc(s, p->from, p->to, &arc, err);
	}
	return code;
}

/* Adds arcs from 0 to the estimate. */
static int add_below(struct solver *s, const struct paying_arc *p, const struct vti_estimate *e,
		     struct vt_error *err)
{
	double is = s->first ? 0.25 * e->f : p->f;
	double cap, far = fmin(fmax(is, e->f / 64), 0.75 * e->f);
	size_t i;
	int code;

	cap = slope_to(s, p, e, far, STALL_COST * fmax(e->points, 0.3));
	code = add_deep(s, p, e, far, cap, err);
	for (i = NCORNERS - 1; i-- > 0 && code == 0;) {
		double high = fmax(e->f - corners[i] * e->sigma, 0);
		double low = fmax(e->f - corners[i + 1] * e->sigma, 0);
		double middle = (corners[i] + corners[i + 1]) / 2;
		int64_t size = flow_units(s, high) - flow_units(s, low);
		struct vt_mincost_arc arc = {
			.want = size,
			.at_most = size,
			.less = cost_of(s, fmin(middle / e->sigma, cap)),
		};

		if (size > 0)
			code = add_flow_arc(s, p->from, p->to, &arc, err);
	}
	return code;
}

static int add_above(struct solver *s, const struct paying_arc *p, const struct vti_estimate *e,
		     struct vt_error *err)
{
	double near = fmax(0.25 * e->f, 2 * e->sigma);
	double is = s->first ? e->f + 4 * near : fmax(p->f, e->f + near);
	double cap = slope_to(s, p, e, is, WAIT_COST * fmax(e->points, 0.5));
	size_t i;
	int code = 0;

	for (i = 0; i < NCORNERS && code == 0; i++) {
		bool last = i + 1 == NCORNERS;
		double middle = last ? 6 : (corners[i] + corners[i + 1]) / 2;
		int64_t size = last ? VT_MINCOST_MAX
				    : flow_units(s, e->f + corners[i + 1] * e->sigma) -
					       flow_units(s, e->f + corners[i] * e->sigma);
		struct vt_mincost_arc arc = {
			.at_most = size,
			.more = cost_of(s, fmin(middle / e->sigma, cap)),
		};

		if (size > 0)
			code = add_flow_arc(s, p->from, p->to, &arc, err);
	}
	return code;
}

static int add_estimate_arcs(struct solver *s, const struct paying_arc *p,
			     const struct vti_estimate *e, struct vt_error *err)
{
	int code = e->f > 0 ? add_below(s, p, e, err) : 0;

	return code < 0 ? code : add_above(s, p, e, err);
}

static int add_exact_arc(struct solver *s, uint32_t block, double f, struct vt_error *err)
{
	struct vt_mincost_arc arc = {
		.want = flow_units(s, f),
		.less = VT_MINCOST_COST,
		.more = VT_MINCOST_COST,
		.at_most = VT_MINCOST_MAX,
	};

	return add_flow_arc(s, node_in(block), node_out(block), &arc, err);
}

static double exact_of(const struct vti_freqwork *w, uint32_t block)
{
	const struct vt_cfg_block *b = &w->g->blocks[block];

	return w->in->exact && b->ninsns ? w->in->exact[b->insn] : -1;
}

static int add_block_arcs(struct solver *s, uint32_t block, bool first_of_class,
			  struct vt_error *err)
{
	const struct vti_freqwork *w = s->w;
	const struct vti_estimate *e = &w->classes[w->in->flow->classes->block[block]];
	const struct paying_arc p = {node_in(block), node_out(block),
				     w->in->flow->classes->block[block], w->blocks[block].f};
	static const struct vt_mincost_arc any = {.more = 1, .at_most = VT_MINCOST_MAX};

	if (exact_of(w, block) >= 0)
		return add_exact_arc(s, block, exact_of(w, block), err);
	if (!first_of_class || !has_cost(e))
		return add_flow_arc(s, p.from, p.to, &any, err);
	return add_estimate_arcs(s, &p, e, err);
}

/* ---- the graph ---- */

static int add_all_blocks(struct solver *s, struct vt_error *err)
{
	const struct vt_classes *c = s->w->in->flow->classes;
	uint32_t b;
	int code = 0;

	for (b = 0; b < s->w->g->nblocks && code == 0; b++) {
		s->blocks[b] = s->narcs;
		code = add_block_arcs(s, b, !s->seen[c->block[b]], err);
		s->seen[c->block[b]] = true;
	}
	s->blocks[s->w->g->nblocks] = s->narcs;
	return code;
}

/* Edges have estimates of their own only from branch stacks, or with a block of their class. */
static int add_all_edges(struct solver *s, struct vt_error *err)
{
	const struct vt_cfg *g = s->w->g;
	const struct vt_classes *c = s->w->in->flow->classes;
	static const struct vt_mincost_arc any = {.more = 1, .at_most = VT_MINCOST_MAX};
	uint32_t i;
	int code = 0;

	for (i = 0; i < g->nedges && code == 0; i++) {
		const struct vti_estimate *e = &s->w->classes[c->edge[i]];
		const struct paying_arc p = {node_out(g->edges[i].from), node_in(g->edges[i].to),
					     c->edge[i], s->w->edges[i].f};

		s->edges[i] = s->narcs;
		code = s->seen[c->edge[i]] || !has_cost(e)
			       ? add_flow_arc(s, p.from, p.to, &any, err)
			       : add_estimate_arcs(s, &p, e, err);
		s->seen[c->edge[i]] = true;
	}
	s->edges[g->nedges] = s->narcs;
	/* Control that leaves the procedure enters it again. */
	return code < 0 ? code
			: add_flow_arc(s, node_out(VT_CFG_EXIT), node_in(VT_CFG_ENTRY), &any, err);
}

/* Adds arcs for jumps with unknown targets: from their blocks to the exit, and to any block. */
static int add_hidden(struct solver *s, double most, struct vt_error *err)
{
	const struct vt_cfg *g = s->w->g;
	const struct vt_mincost_arc arrive = {.more = cost_of(s, HIDDEN_COST / most),
					      .at_most = VT_MINCOST_MAX};
	const struct vt_mincost_arc leave = {.more = 1, .at_most = VT_MINCOST_MAX};
	uint32_t b;
	int code = 0;

	for (b = VT_CFG_FIRST; b < g->nblocks && code == 0 && !g->complete; b++) {
		if (g->blocks[b].incomplete)
			code = add_flow_arc(s, node_out(b), node_in(VT_CFG_EXIT), &leave, err);
		if (code == 0)
			code = add_flow_arc(s, node_out(VT_CFG_ENTRY), node_in(b), &arrive, err);
	}
	return code;
}

/* ---- the solution ---- */

static double sum_flow(const struct solver *s, const uint32_t *arcs)
{
	int64_t sum = 0;
	uint32_t i;

	for (i = arcs[0]; i < arcs[1]; i++)
		sum += vt_mincost_flow(s->flow, i);
	return (double)sum * s->unit;
}

/* True if it changed. */
static bool set_frequency(struct vti_estimate *e, double f)
{
	bool other = !(e->f == f);

	e->f = f;
	e->known = true;
	return other;
}

/* True if the flow differs from that of the round before. */
static bool take_solution(const struct solver *s)
{
	const struct vt_cfg *g = s->w->g;
	bool other = false;
	uint32_t i;

	for (i = 0; i < g->nblocks; i++)
		other |= set_frequency(&s->w->blocks[i], sum_flow(s, &s->blocks[i]));
	for (i = 0; i < g->nedges; i++)
		other |= set_frequency(&s->w->edges[i], sum_flow(s, &s->edges[i]));
	return other;
}

static double most_frequent(const struct vti_freqwork *w)
{
	double most = 0;
	uint32_t i;

	for (i = 0; i < w->in->flow->classes->count; i++)
		if (w->classes[i].known && w->classes[i].f > most)
			most = w->classes[i].f;
	for (i = 0; i < w->g->nblocks; i++)
		most = fmax(most, exact_of(w, i));
	return most;
}

/* Solves a round.  1; 0: the flow did not change, and would not any more. */
static int solve_once(struct solver *s, double most, struct vt_error *err)
{
	bool other;
	int code;

	s->narcs = 0;
	memset(s->seen, 0, s->w->in->flow->classes->count * sizeof(*s->seen));
	code = add_all_blocks(s, err);
	if (code == 0)
		code = add_all_edges(s, err);
	if (code == 0)
		code = add_hidden(s, fmax(most, 1), err);
	if (code == 0)
		code = vt_mincost_solve(s->flow, err);
	if (code < 0)
		return code;
	/* The first round has no flow to compare with. */
	other = take_solution(s);
	return other || s->first;
}

int vti_freq_solve(struct vti_freqwork *w, struct vt_error *err)
{
	double most = most_frequent(w);
	struct solver s = {.w = w};
	int round, code = 1;

	s.unit = w->in->exact || most <= 0 ? 1 : most / MOST_UNITS;
	s.flow = vt_mincost_new(2 * w->g->nblocks);
	s.blocks = calloc((size_t)w->g->nblocks + 1, sizeof(*s.blocks));
	s.edges = calloc((size_t)w->g->nedges + 1, sizeof(*s.edges));
	s.seen = calloc((size_t)w->in->flow->classes->count + 1, sizeof(*s.seen));
	if (!s.flow || !s.blocks || !s.edges || !s.seen)
		code = vt_error_nomem(err);
	for (round = 0; round < ROUNDS && code > 0; round++) {
		s.first = round == 0;
		code = solve_once(&s, most, err);
	}
	free(s.seen);
	free(s.edges);
	free(s.blocks);
	vt_mincost_free(s.flow);
	return code < 0 ? code : 0;
}
