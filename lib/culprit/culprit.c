/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "culprit/culprit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "culprit/internal.h"
#include "freq/region.h"

/*
 * A stall below so many standard errors may well be none: of the samples that there would be
 * without it, so that a few samples are enough where none were to be expected.  Below so many
 * cycles each time nobody can do anything about it.
 *
 * These numbers and the next ones were chosen on programs in the simulator, so that few causes are
 * named and the true one is among them; what hangs on each scripts/tune/constants measures.
 */
#define NOISE	   1.0
#define MIN_CYCLES 0.02

/*
 * What could account for less than this share of a stall is no explanation of it; nor, if others
 * can account for all of it, is what could for less than the second.
 */
#define NEGLIGIBLE 0.02
#define MINOR	   (1.0 / 3)

/*
 * Nor, if the others can account for all of it, what may be expected to account for less than this
 * share of it, as stalls go; less of those whose number a few samples tell, which might as well
 * have been a few more.
 */
#define UNLIKELY 0.08
#define SAMPLED	 0.03

/* Every dynamic cause and the rule that may rule it out. */
static const struct {
	enum vt_stall_cause cause;
	vti_culprit_rule *rule;
} rules[] = {
	{VT_STALL_ICACHE, vti_rule_icache},
	{VT_STALL_ITLB, vti_rule_itlb},
	{VT_STALL_DCACHE, vti_rule_dcache},
	{VT_STALL_DTLB, vti_rule_dtlb},
	{VT_STALL_WRITE_BUFFER, vti_rule_write_buffer},
	{VT_STALL_FORWARD, vti_rule_forward},
	{VT_STALL_MISPREDICT, vti_rule_mispredict},
	{VT_STALL_SYNC, vti_rule_sync},
	{VT_STALL_MULTIPLIER, vti_rule_multiplier},
	{VT_STALL_DIVIDER, vti_rule_divider},
	{VT_STALL_UNIT, vti_rule_unit},
	{VT_STALL_DEPENDENCY, vti_rule_dependency},
	{VT_STALL_QUEUE, vti_rule_queue},
	{VT_STALL_OTHER, vti_rule_other},
};

_Static_assert(sizeof(rules) / sizeof(rules[0]) == VTI_RULES, "a rule for each cause");

struct finder {
	struct vti_culprit c;
	struct vt_culprit_stalls *out;
	struct vt_error *err;
};

int vti_culprit_append(struct vt_culprit_stalls *s, const struct vt_culprit_stall *stall,
		       struct vt_error *err)
{
	if (!vt_array_grow(&s->list, &s->cap, s->count + 1, sizeof(*s->list)))
		return vt_error_nomem(err);
	s->list[s->count++] = *stall;
	return 0;
}

/* ---- how control arrives ---- */

static void add_arrival(struct vti_stalled *st, enum vti_arrival how, uint32_t insn, uint32_t edge,
			double executions)
{
	struct vti_before *b;

	/* Too many ways: what is left of them is the last one's, of which nothing is assumed. */
	if (st->nbefore == VTI_BEFORES) {
		b = &st->before[VTI_BEFORES - 1];
		b->how = VTI_OUTSIDE;
		b->executions += executions;
		return;
	}
	b = &st->before[st->nbefore++];
	*b = (struct vti_before){how, insn, edge, executions};
}

/*
 * Of the graph's edges, how often each is taken is an estimate, or not known: at most as often as
 * its ends.
 */
static double edge_executions(const struct vti_culprit *c, uint32_t edge, double limit)
{
	const struct vt_cfg_edge *e = &c->cfg->edges[edge];
	double n = c->in->edges ? c->in->edges[edge] : NAN;

	if (isnan(n) && e->from >= VT_CFG_FIRST) {
		const struct vt_cfg_block *from = &c->cfg->blocks[e->from];

		n = c->in->insns[from->insn + from->ninsns - 1].executions;
	}
	return !(n < limit) ? limit : n < 0 ? 0 : n;
}

/*
 * Edges that are hardly ever taken are left out, as the paper does (DCPI 6.3), which does not say
 * how rare those are: one in a hundred was chosen.  What the others do not account
 * for comes from nobody knows where.
 */
#define RARE 0.01

static void arrive_at_block(struct vti_stalled *st, uint32_t block)
{
	const struct vt_cfg *g = st->c->cfg;
	const struct vt_cfg_block *b = &g->blocks[block];
	double known = 0;
	uint32_t i;

	for (i = 0; i < b->nin; i++) {
		uint32_t edge = g->in[b->in + i];
		const struct vt_cfg_edge *e = &g->edges[edge];
		const struct vt_cfg_block *from = &g->blocks[e->from];
		double n = edge_executions(st->c, edge, st->executions);

		known += n;
		if (n < RARE * st->executions)
			continue;
		if (e->from < VT_CFG_FIRST || !from->ninsns)
			add_arrival(st, VTI_OUTSIDE, UINT32_MAX, edge, n);
		else if (e->kind == VT_EDGE_FALL &&
			 (g->insns[from->insn + from->ninsns - 1].flags & VT_FACT_CALL))
			add_arrival(st, VTI_RETURN, from->insn + from->ninsns - 1, edge, n);
		else
			add_arrival(st, VTI_BRANCH, from->insn + from->ninsns - 1, edge, n);
	}
	if (!g->complete && known < 0.9 * st->executions)
		add_arrival(st, VTI_OUTSIDE, UINT32_MAX, UINT32_MAX, st->executions - known);
}

static void find_arrivals(struct vti_stalled *st)
{
	const struct vt_cfg *g = st->c->cfg;
	uint32_t block = st->c->block[st->insn];

	st->nbefore = 0;
	if (g->blocks[block].insn == st->insn)
		arrive_at_block(st, block);
	else
		add_arrival(st, g->insns[st->insn - 1].flags & VT_FACT_CALL ? VTI_RETURN : VTI_NEXT,
			    st->insn - 1, UINT32_MAX, st->executions);
}

/* ---- one instruction ---- */

void vti_suspect_blame(struct vti_suspect *s, uint32_t insn)
{
	uint32_t i;

	for (i = 0; i < s->nguilty; i++)
		if (s->guilty[i] == insn)
			return;
	if (s->nguilty < VT_CULPRIT_GUILTY)
		s->guilty[s->nguilty++] = insn;
}

static int add_static(struct finder *f, uint32_t insn, double executions)
{
	const struct vt_schedule_cost *cost = &f->c.costs[insn];
	uint32_t i;
	int code = 0;

	for (i = 0; i < cost->nstalls && i < VT_SCHEDULE_CAUSES && code == 0; i++) {
		const struct vt_schedule_stall *s = &cost->stalls[i];
		struct vt_culprit_stall stall = {
			.insn = insn,
			.cause = (enum vt_stall_cause)s->cause,
			.low = (double)s->cycles * executions,
			.high = (double)s->cycles * executions,
			.confidence = f->c.in->insns[insn].confidence,
		};

		if (!(s->cycles > 0))
			continue;
		if (s->culprit >= 0 && (uint32_t)s->culprit < f->c.cfg->ninsns)
			stall.guilty[stall.nguilty++] = (uint32_t)s->culprit;
		code = vti_culprit_append(f->out, &stall, f->err);
	}
	return code;
}

/*
 * A cause's least is what all others together cannot account for, as each of them is no more than
 * its bound.
 */
static int add_dynamic(struct finder *f, const struct vti_stalled *st,
		       const struct vti_suspect *suspects, double minor)
{
	double all = minor, left;
	uint32_t i;
	int code = 0;

	for (i = 0; i < VTI_RULES; i++)
		all += suspects[i].bound;
	left = st->cycles - all;
	for (i = 0; i < VTI_RULES && code == 0; i++) {
		const struct vti_suspect *s = &suspects[i];
		double others = all - s->bound;
		struct vt_culprit_stall stall = {
			.insn = st->insn,
			.cause = rules[i].cause,
			.low = st->cycles > others ? st->cycles - others : 0,
			.high = s->bound,
			.nguilty = s->nguilty,
			.confidence = f->c.in->insns[st->insn].confidence,
		};

		if (!(s->bound > 0))
			continue;
		if (stall.low > stall.high)
			stall.low = stall.high;
		memcpy(stall.guilty, s->guilty, sizeof(stall.guilty));
		code = vti_culprit_append(f->out, &stall, f->err);
	}
	if (code == 0 && left > NEGLIGIBLE * st->cycles) {
		struct vt_culprit_stall stall = {
			.insn = st->insn,
			.cause = VT_STALL_UNEXPLAINED,
			.low = left,
			.high = left,
			.confidence = f->c.in->insns[st->insn].confidence,
		};

		code = vti_culprit_append(f->out, &stall, f->err);
	}
	return code;
}

enum vt_stall_cause vti_culprit_cause(uint32_t rule)
{
	return rules[rule].cause;
}

void vti_culprit_suspects(const struct vti_stalled *st, struct vti_suspect *suspects)
{
	uint32_t i;

	for (i = 0; i < VTI_RULES; i++) {
		suspects[i] = (struct vti_suspect){.bound = INFINITY};
		rules[i].rule(st, &suspects[i]);
	}
}

/* Leaves a suspect out if the others can account for all of the stall without it. */
static void drop_suspect(const struct vti_stalled *st, struct vti_suspect *s, double *all,
			 double *minor)
{
	if (*all - s->bound < st->cycles)
		return;
	*all -= s->bound;
	*minor += s->bound;
	s->bound = 0;
}

static bool has_events(const struct vt_culprit_input *in)
{
	unsigned i;

	for (i = 0; i < VT_NCULPRIT_EVENTS; i++)
		if (in->period[i] > 0)
			return true;
	return false;
}

/*
 * A stall that is longer than the others usually take may be the rare case: then a cause that could
 * do something about that is left in.
 */
static void leave_out_unlikely(const struct vti_stalled *st, struct vti_suspect *suspects,
			       double *all, double *minor)
{
	double unlikely = has_events(st->c->in) ? SAMPLED : UNLIKELY;
	double typical[VTI_RULES], likely[VTI_RULES], usual = 0;
	uint32_t i;

	vti_culprit_likely(st, suspects, typical, likely);
	for (i = 0; i < VTI_RULES; i++)
		usual += typical[i];
	for (i = 0; i < VTI_RULES; i++) {
		if (!(suspects[i].bound > 0) || !(likely[i] < unlikely) ||
		    (usual - typical[i] < st->cycles && typical[i] >= MINOR * st->cycles))
			continue;
		drop_suspect(st, &suspects[i], all, minor);
		if (!(suspects[i].bound > 0))
			usual -= typical[i];
	}
}

/*
 * Guilty until proven innocent.  Returns what those could account for that are left out as minor or
 * unlikely: the least that others must have done does not become more by it.
 */
static double acquit_suspects(const struct vti_stalled *st, struct vti_suspect *suspects)
{
	double all = 0, major = 0, minor = 0;
	uint32_t i;

	vti_culprit_suspects(st, suspects);
	for (i = 0; i < VTI_RULES; i++) {
		struct vti_suspect *s = &suspects[i];

		if (!(s->bound >= NEGLIGIBLE * st->cycles))
			s->bound = 0;
		else if (s->bound > st->cycles)
			s->bound = st->cycles;
		all += s->bound;
		if (s->bound >= MINOR * st->cycles)
			major += s->bound;
	}
	for (i = 0; i < VTI_RULES && major >= st->cycles; i++)
		if (suspects[i].bound < MINOR * st->cycles)
			drop_suspect(st, &suspects[i], &all, &minor);
	if (st->c->in->shares)
		leave_out_unlikely(st, suspects, &all, &minor);
	return minor;
}

static bool has_time(const struct vti_culprit *c, uint32_t insn)
{
	const struct vt_culprit_insn *in = &c->in->insns[insn];

	return in->executions > 0 && in->cycles >= 0 && !isinf(in->executions);
}

bool vti_culprit_stalled(const struct vti_culprit *c, uint32_t insn, struct vti_stalled *st)
{
	const struct vt_culprit_insn *in = &c->in->insns[insn];

	if (!has_time(c, insn))
		return false;
	st->c = c;
	st->insn = insn;
	st->executions = in->executions;
	st->cycles = (in->cycles - (double)c->costs[insn].head) * in->executions;
	st->expected = false;
	find_arrivals(st);
	return true;
}

/* Whether there is a stall, or a gain, and it is neither too small nor noise. */
static bool is_reported(const struct vti_stalled *st)
{
	const struct vt_culprit_insn *in = &st->c->in->insns[st->insn];
	double noise = sqrt(in->period * (double)st->c->costs[st->insn].head * in->executions);

	return fabs(st->cycles) > MIN_CYCLES * st->executions && fabs(st->cycles) > NOISE * noise;
}

static int find_at(struct finder *f, uint32_t insn)
{
	struct vti_suspect suspects[VTI_RULES];
	struct vti_stalled st;
	double minor;
	int code;

	if (!vti_culprit_stalled(&f->c, insn, &st))
		return 0;
	code = add_static(f, insn, st.executions);
	if (code < 0 || f->c.core->order == VT_OUT_OF_ORDER || !is_reported(&st))
		return code;
	if (st.cycles < 0) {
		const struct vt_culprit_stall gain = {
			.insn = insn,
			.cause = VT_STALL_GAIN,
			.low = -st.cycles,
			.high = -st.cycles,
			.confidence = f->c.in->insns[insn].confidence,
		};

		return vti_culprit_append(f->out, &gain, f->err);
	}
	minor = acquit_suspects(&st, suspects);
	return add_dynamic(f, &st, suspects, minor);
}

static int compare_stall_places(const void *va, const void *vb)
{
	const struct vt_culprit_stall *a = va, *b = vb;

	uint32_t x = a->flags & VT_STALL_SCOPE, y = b->flags & VT_STALL_SCOPE;

	if (a->insn != b->insn)
		return a->insn < b->insn ? -1 : 1;
	if (x != y)
		return x < y ? -1 : 1;
	return (int)a->cause - (int)b->cause;
}

/* What follows from the code alone. */
static int find_static(struct finder *f)
{
	uint32_t i;
	int code = 0;

	for (i = 0; i < f->c.cfg->ninsns && code == 0; i++)
		if (has_time(&f->c, i))
			code = add_static(f, i, f->c.in->insns[i].executions);
	return code;
}

static int find_all(struct finder *f)
{
	uint32_t i;
	int code = vti_culprit_init(&f->c, f->c.in, f->err);

	for (i = 0; i < f->c.cfg->ninsns && code == 0; i++)
		code = find_at(f, i);
	if (code == 0 && f->c.core->order == VT_OUT_OF_ORDER)
		code = vti_culprit_by_region(&f->c, f->out, f->err);
	vti_culprit_fini(&f->c);
	return code;
}

int vt_culprit_find(const struct vt_culprit_input *in, struct vt_culprit_stalls *out,
		    struct vt_error *err)
{
	struct finder f = {
		.c = {.in = in, .cfg = in->flow->cfg, .costs = in->flow->costs},
		.out = out,
		.err = err,
	};
	size_t first = out->count;
	int code = in->static_only ? find_static(&f) : find_all(&f);

	if (code == 0 && out->count > first)
		qsort(out->list + first, out->count - first, sizeof(*out->list),
		      compare_stall_places);
	return code;
}

/* A conditional branch at a block's end, of whose edges one may not be known: then it is both. */
static int enter_branch(const struct vt_culprit_input *in, const struct vt_cfg_block *b,
			struct vt_footprint *f, struct vt_error *err)
{
	const struct vt_cfg *g = in->flow->cfg;
	uint32_t last = b->insn + b->ninsns - 1, i;
	double all = in->insns[last].executions, n, taken = 0, fallen = 0;

	if (!(g->insns[last].flags & VT_FACT_CONDITIONAL) || !(all > 0))
		return 0;
	for (i = b->out; i < b->out + b->nout; i++) {
		n = in->edges && !isnan(in->edges[i]) ? fmin(in->edges[i], all) : all;
		if (g->edges[i].kind == VT_EDGE_FALL)
			fallen += n;
		else
			taken += n;
	}
	return vt_footprint_branch(f, g->insns[last].addr, taken, fallen, err);
}

/* Direct calls, and jumps to other procedures, which nobody predicts wrongly. */
static int enter_call(const struct vt_culprit_input *in, uint32_t insn, struct vt_footprint *f,
		      struct vt_error *err)
{
	const struct vt_cfg *g = in->flow->cfg;
	uint32_t flags = g->insns[insn].flags;
	uint64_t at = g->insns[insn].addr - g->start, to;
	struct vt_flow flow;

	if (!(flags & VT_FACT_BRANCH) ||
	    (flags & (VT_FACT_INDIRECT | VT_FACT_RETURN | VT_FACT_CONDITIONAL)) || !in->code ||
	    at >= in->code_size ||
	    !vt_flow_decode(in->code + at, in->code_size - (size_t)at, &flow) || !flow.has_target)
		return 0;
	to = g->insns[insn].addr + (uint64_t)flow.target;
	if (!(flags & VT_FACT_CALL) && to >= g->start && to < g->end)
		return 0;
	return vt_footprint_call(f, in->flow->proc.image, to, in->insns[insn].executions, err);
}

/* Where control comes to an instruction from other lines and pages. */
static int enter_insn(const struct vti_culprit *c, uint32_t insn, struct vt_footprint *f,
		      struct vt_error *err)
{
	struct vti_stalled st = {.c = c, .insn = insn, .executions = c->in->insns[insn].executions};
	const struct vt_core *m = c->core;
	const struct vt_cfg_insn *i = &c->cfg->insns[insn];
	double lines, pages;

	find_arrivals(&st);
	lines = m->icache.size ? vti_culprit_entered(&st, m->icache.line) : 0;
	pages = m->itlb.entries ? vti_culprit_entered(&st, m->itlb.page) : 0;
	if (!(lines > 0) && !(pages > 0))
		return 0;
	return vt_footprint_enter(f, c->in->flow->proc.image, i->addr, i->length, lines, pages,
				  err);
}

int vt_culprit_enter(const struct vt_culprit_input *in, struct vt_footprint *f,
		     struct vt_error *err)
{
	const struct vt_cfg *g = in->flow->cfg;
	const struct vti_culprit c = {
		.in = in,
		.core = in->core,
		.cfg = g,
		.block = in->flow->block,
	};
	uint32_t i;
	int code = 0;

	for (i = VT_CFG_FIRST; i < g->nblocks && code == 0; i++)
		code = enter_branch(in, &g->blocks[i], f, err);
	for (i = 0; i < g->ninsns && code == 0; i++) {
		if (!(in->insns[i].executions > 0))
			continue;
		code = enter_insn(&c, i, f, err);
		if (code == 0)
			code = enter_call(in, i, f, err);
	}
	return code;
}

void vt_culprit_stalls_fini(struct vt_culprit_stalls *s)
{
	free(s->list);
	vt_regions_free(s->regions);
	memset(s, 0, sizeof(*s));
}

/* ---- what all rules need ---- */

int vti_culprit_init(struct vti_culprit *c, const struct vt_culprit_input *in, struct vt_error *err)
{
	uint32_t n = in->flow->cfg->nblocks, i;

	*c = (struct vti_culprit){
		.in = in,
		.core = in->core,
		.cfg = in->flow->cfg,
		.ops = in->flow->ops,
		.costs = in->flow->costs,
		.block = in->flow->block,
		.line_entries = calloc(n, sizeof(double)),
		.page_entries = calloc(n, sizeof(double)),
		.round_slots = calloc(n, sizeof(double)),
		.data_pages = calloc((size_t)in->flow->cfg->ninsns + 1, sizeof(double)),
		.data_lines = calloc((size_t)in->flow->cfg->ninsns + 1, sizeof(double)),
		.stretches =
			calloc(in->flow->cfg->ninsns / VTI_STRETCH + 1, sizeof(struct vti_stretch)),
		.undisturbed = calloc((size_t)in->flow->cfg->ninsns + 1, sizeof(bool)),
		.sought = calloc(n, sizeof(uint64_t)),
	};
	if (!c->line_entries || !c->page_entries || !c->round_slots || !c->data_pages ||
	    !c->data_lines || !c->stretches || !c->undisturbed || !c->sought)
		return vt_error_nomem(err);
	for (i = 0; i < c->cfg->nblocks; i++)
		c->round_slots[i] = INFINITY;
	for (i = 0; i < c->cfg->ninsns; i++)
		c->data_pages[i] = c->data_lines[i] = INFINITY;
	vti_culprit_units(c);
	vti_culprit_stretches(c);
	vti_culprit_stack(c);
	vti_culprit_neighbours(c);
	return vti_culprit_regions(c, err);
}

void vti_culprit_fini(struct vti_culprit *c)
{
	free(c->line_entries);
	free(c->page_entries);
	free(c->round_slots);
	free(c->data_pages);
	free(c->data_lines);
	free(c->stretches);
	free(c->undisturbed);
	free(c->sought);
}
