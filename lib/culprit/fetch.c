/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "culprit/internal.h"

/* What keeps instructions from arriving: caches and TLBs for them, and mispredicted branches. */

double vti_culprit_miss(const struct vt_core *m)
{
	/* As if the request were turned away by each cache in turn. */
	return (double)m->l2.latency + m->l3.latency + m->memory;
}

double vti_culprit_fill(const struct vti_stalled *st)
{
	const struct vt_core *m = st->c->core;

	return st->expected ? (double)m->l2.latency + m->l3.latency : vti_culprit_miss(m);
}

double vti_culprit_tlb(const struct vt_core *m, const struct vt_tlb_shape *t)
{
	return (double)t->latency + m->stlb.latency;
}

static bool touches_unit(const struct vt_cfg_insn *i, uint64_t number, uint32_t size)
{
	return i->addr / size <= number && (i->addr + i->length - 1) / size >= number;
}

/* How many lines (or pages) an instruction lies in that the one before it does not (NULL: all). */
static unsigned count_new(const struct vt_cfg_insn *i, const struct vt_cfg_insn *before,
			  uint32_t size)
{
	uint64_t first = i->addr / size, last = (i->addr + (i->length ? i->length - 1U : 0)) / size;

	return (!before || !touches_unit(before, first, size)) +
	       (last != first && (!before || !touches_unit(before, last, size)));
}

/* The arrivals by which an instruction is fetched anew, each times the lines that are. */
static double count_fetched(const struct vti_stalled *st, uint32_t size, bool each_line)
{
	const struct vt_cfg *g = st->c->cfg;
	double n = 0;
	uint32_t i;

	if (!size)
		return 0;
	for (i = 0; i < st->nbefore; i++) {
		const struct vti_before *b = &st->before[i];
		bool elsewhere = b->how == VTI_OUTSIDE || b->how == VTI_RETURN;
		unsigned lines =
			count_new(&g->insns[st->insn], elsewhere ? NULL : &g->insns[b->insn], size);

		n += b->executions * (each_line ? lines : lines > 0);
	}
	return n;
}

double vti_culprit_entered(const struct vti_stalled *st, uint32_t size)
{
	return count_fetched(st, size, false);
}

/* How often others can have displaced an instruction's line (or page), or both that it lies in. */
static double get_displacements(const struct vti_stalled *st, uint32_t size,
				double (*misses)(const struct vt_footprint *f, uint32_t image,
						 uint64_t vaddr))
{
	const struct vti_culprit *c = st->c;
	const struct vt_cfg_insn *i = &c->cfg->insns[st->insn];
	uint32_t image = c->in->flow->proc.image;
	double n;

	if (!c->in->footprint || !size)
		return INFINITY;
	n = misses(c->in->footprint, image, i->addr);
	if (count_new(i, NULL, size) > 1)
		n += misses(c->in->footprint, image, i->addr + i->length - 1U);
	return n;
}

/*
 * An instruction in the same line as all that can be executed just before it has been fetched with
 * them: DCPI 6.3.  If it is not, it can miss as often as control comes from another line; but where
 * control stays in code that calls nothing and all of which the cache can hold, only once for each
 * time that it gets there; and only as often as other code that has been executed can have taken
 * the line's place.  Each miss costs a fill from memory at most; an instruction that lies in two
 * lines can miss both.
 */
void vti_rule_icache(const struct vti_stalled *st, struct vti_suspect *s)
{
	const struct vti_culprit *c = st->c;
	const struct vt_core *m = c->core;
	double often = m->icache.size ? count_fetched(st, m->icache.line, true) : 0;
	double resident = c->line_entries[c->block[st->insn]];
	double events = vti_culprit_events(st, VT_CULPRIT_IMISS, st->insn);

	if (often > 0)
		resident *= count_new(&c->cfg->insns[st->insn], NULL, m->icache.line);
	often = fmin(fmin(often, get_displacements(st, m->icache.line, vt_footprint_lines)),
		     resident);
	s->bound = fmin(often, events) * vti_culprit_fill(st);
}

/* The same with pages, which the TLB holds. */
void vti_rule_itlb(const struct vti_stalled *st, struct vti_suspect *s)
{
	const struct vti_culprit *c = st->c;
	const struct vt_core *m = c->core;
	double often = m->itlb.entries ? vti_culprit_entered(st, m->itlb.page) : 0;
	double resident = c->page_entries[c->block[st->insn]];
	double events = vti_culprit_events(st, VT_CULPRIT_ITBMISS, st->insn);

	often = fmin(often, get_displacements(st, m->itlb.page, vt_footprint_pages));
	s->bound = fmin(fmin(often, resident), events) * vti_culprit_tlb(m, &m->itlb);
}

/* ---- branches ---- */

/*
 * How often a conditional branch can have been mispredicted on its way along one of its edges.  Of
 * a predictor that is a table of counters, that is known (footprint.h).  Others learn, too: they
 * are wrong on the rarer way each time it is taken, and, having learnt from that, once more on the
 * other one.
 */
static double bound_branch_mispredictions(const struct vti_culprit *c, const struct vti_before *b)
{
	const struct vt_cfg_block *from = &c->cfg->blocks[c->block[b->insn]];
	double other = INFINITY;
	uint32_t i;

	if (c->core->predictor == VT_PREDICT_NONE)
		return b->executions;
	if (c->in->footprint)
		other = vt_footprint_mispredicted(c->in->footprint, c->cfg->insns[b->insn].addr,
						  c->cfg->edges[b->edge].kind == VT_EDGE_TAKEN);
	if (!isinf(other))
		return fmin(b->executions, other);
	for (i = 0, other = 0; i < from->nout; i++) {
		double n = c->in->edges ? c->in->edges[from->out + i] : NAN;

		if (from->out + i == b->edge)
			continue;
		if (isnan(n))
			return b->executions;
		other += n;
	}
	return fmin(b->executions, 2 * other);
}

/*
 * In order, branches are resolved when they are issued, and nothing comes between.  Out of order,
 * the pipeline has to be filled again, and the first results to be awaited.
 */
double vti_culprit_mispredict(const struct vt_core *m)
{
	double n = m->mispredict;

	if (m->order == VT_OUT_OF_ORDER)
		n += (double)m->front + m->classes[VT_OP_LOAD].latency;
	return n;
}

/* How often an instruction's address was called by name: no such call is mispredicted. */
static double get_direct_calls(const struct vti_stalled *st)
{
	const struct vti_culprit *c = st->c;

	return c->in->footprint ? vt_footprint_called(c->in->footprint, c->in->flow->proc.image,
						      c->cfg->insns[st->insn].addr)
				: 0;
}

/*
 * How many of those that can have been mispredicted may be expected to be: of returns, those from
 * deeper calls than are remembered; of conditional branches, as if each way came at random; of
 * indirect ones, half of them if their last targets are remembered, else all.  Two in a hundred
 * returns were chosen; at random is what is most that a predictor can do wrong for long.
 */
#define DEEP   0.02
#define RANDOM 0.5

/*
 * How often an arrival can have been mispredicted.  *direct are calls by name, which are no others
 * than those from outside.
 */
static double bound_mispredictions(const struct vti_stalled *st, const struct vti_before *b,
				   double *direct)
{
	uint32_t flags = b->how == VTI_OUTSIDE ? 0 : st->c->ops[b->insn].flags;
	double n = 0, indirect = st->expected && st->c->core->btb ? RANDOM : 1;

	switch (b->how) {
	case VTI_OUTSIDE:
		n = fmax(0, b->executions - *direct) * indirect;
		*direct = fmax(0, *direct - b->executions);
		break;
	case VTI_RETURN:
		n = b->executions * (st->expected ? DEEP : 1);
		break;
	case VTI_BRANCH:
		if (flags & VT_FACT_CONDITIONAL)
			n = bound_branch_mispredictions(st->c, b) * (st->expected ? RANDOM : 1);
		else if (flags & VT_FACT_INDIRECT)
			n = b->executions * indirect;
		break;
	case VTI_NEXT:
		break;
	}
	return n;
}

/*
 * Only where control was transferred in a way that is not known beforehand: behind conditional and
 * indirect branches, at a procedure's entry, as far as it was called or jumped to indirectly, and
 * behind calls, whose return may have been mispredicted.
 */
void vti_rule_mispredict(const struct vti_stalled *st, struct vti_suspect *s)
{
	const struct vti_culprit *c = st->c;
	double often = 0, direct = get_direct_calls(st);
	uint32_t i;

	for (i = 0; i < st->nbefore; i++) {
		const struct vti_before *b = &st->before[i];
		double n = bound_mispredictions(st, b, &direct);

		if (!(n > 0))
			continue;
		if (b->how == VTI_BRANCH)
			vti_suspect_blame(s, b->insn);
		often += fmin(n, vti_culprit_events(st, VT_CULPRIT_BRANCHMP,
						    b->how == VTI_BRANCH ? b->insn : st->insn));
	}
	s->bound = often * vti_culprit_mispredict(c->core);
}
