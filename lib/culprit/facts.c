/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "culprit/internal.h"

/*
 * What rules causes out on machines that issue out of order: facts of the code, of the addresses in
 * it and of how often it was executed.
 *
 * What a miss costs is not such a fact, as it hangs on the machine, its neighbours and its load: on
 * a virtual machine, whose pages are walked twice, a TLB miss took 500 cycles.  So each miss, of
 * whatever, may take so many times as long as memory does by the core.
 */
#define SURE 3.0

#define BIT(c) (UINT32_C(1) << (c))

static const struct vti_fact absent = {0, 0, VT_WHY_ABSENT};

static double get_slowest_miss(const struct vti_stalled *st)
{
	return SURE * vti_culprit_miss(st->c->core);
}

/* What is left of a rate for its bias: samples do not fall on all executions alike. */
#define UNBIASED 0.9

/* ---- data ---- */

/* So many new lines (pages) of an access; INFINITY: it may go anywhere. */
static struct vti_fact bound_accesses(const struct vti_stalled *st, double units, double events)
{
	bool anywhere = units >= st->executions;

	if (anywhere && isinf(events))
		return (struct vti_fact){INFINITY, 0, VT_WHY_ANYWHERE};
	return (struct vti_fact){fmin(units, fmin(st->executions, events)) * get_slowest_miss(st),
				 0, anywhere ? VT_WHY_ANYWHERE : VT_WHY_STEPS};
}

/* A place that does not move stays in the cache unless others take its line. */
static struct vti_fact bound_lines(const struct vti_stalled *st, double events)
{
	double lines = st->c->data_lines[st->insn];

	if (lines >= st->executions && vti_culprit_is_fixed(st->c, st->insn))
		return (struct vti_fact){st->executions * get_slowest_miss(st), 0,
					 VT_WHY_DISPLACED};
	return bound_accesses(st, lines, events);
}

/*
 * Loads that were sampled whatever happened to them tell how many of all missed: of `known`
 * samples, `missed` did.  Each is of one of the instruction's loads, and any of these may be the
 * one that misses.  What repeated instructions and microcode load is not told by one of it.
 */
static struct vti_fact narrow_by_loads(const struct vti_stalled *st, double missed, double known,
				       struct vti_fact fact)
{
	const struct vt_mop *op = vti_stalled_op(st);
	double loads = 0, rate, bound;
	unsigned i;

	if ((op->flags & VT_FACT_REPEATED) || vt_mop_has(op, BIT(VT_OP_SLOW)))
		return fact;
	for (i = 0; i < op->nuops && i < VT_MOP_UOPS; i++)
		loads += op->uops[i].op_class == VT_OP_LOAD;
	/* Without samples, it is infinite. */
	rate = loads * vti_culprit_at_most(missed) / known / UNBIASED;
	bound = rate * st->executions * get_slowest_miss(st);
	if (!(rate < 1) || !(bound < fact.bound))
		return fact;
	return (struct vti_fact){bound, 0, VT_WHY_SOURCE};
}

static struct vti_fact get_dcache_fact(const struct vti_stalled *st)
{
	const struct vt_culprit_loads *l = &st->c->in->insns[st->insn].loads;

	if (!vt_mop_has(vti_stalled_op(st), BIT(VT_OP_LOAD)))
		return absent;
	return narrow_by_loads(st, l->cache_missed, l->cache_known,
			       bound_lines(st, vti_culprit_events(st, VT_CULPRIT_DMISS, st->insn)));
}

static struct vti_fact get_write_buffer_fact(const struct vti_stalled *st)
{
	return vt_mop_has(vti_stalled_op(st), BIT(VT_OP_STORE)) ? bound_lines(st, INFINITY)
								: absent;
}

/* A store may miss where the same instruction's load does not. */
static struct vti_fact get_dtlb_fact(const struct vti_stalled *st)
{
	const struct vt_culprit_loads *l = &st->c->in->insns[st->insn].loads;
	const struct vt_mop *op = vti_stalled_op(st);
	struct vti_fact fact;

	if (!vt_mop_has(op, BIT(VT_OP_LOAD) | BIT(VT_OP_STORE)))
		return absent;
	fact = bound_accesses(st, st->c->data_pages[st->insn],
			      vti_culprit_events(st, VT_CULPRIT_DTBMISS, st->insn));
	return vt_mop_has(op, BIT(VT_OP_STORE))
		       ? fact
		       : narrow_by_loads(st, l->tlb_missed, l->tlb_known, fact);
}

/* ---- store forwarding ---- */

struct stores {
	const struct vti_stalled *st;
	double often;	/* that there may be one */
	double outside; /* that control came from code that is not known */
};

/*
 * Between two instructions of a block, no address register of the second one is written.  It is
 * so only for the same execution of the block, when they are no further apart than in the code.
 */
static bool has_same_registers(const struct vti_culprit *c, uint32_t a, uint32_t b, uint32_t far)
{
	uint32_t i, slots = 0;

	if (c->block[a] != c->block[b] || a >= b || (c->ops[a].writes & c->ops[b].address_reads))
		return false;
	for (i = a + 1; i < b; i++) {
		if (c->ops[i].writes & c->ops[b].address_reads)
			return false;
		slots += c->ops[i].nuops;
	}
	return far == slots;
}

/* Where code shows which bytes both access, the schedule knows of the wait, or there is none. */
static void see_store(void *arg, uint32_t insn, uint32_t far, double often)
{
	struct stores *x = arg;
	const struct vti_culprit *c = x->st->c;
	double apart;

	if (insn == UINT32_MAX)
		x->outside += often;
	else if (vt_mop_has(&c->ops[insn], BIT(VT_OP_STORE)) &&
		 !(has_same_registers(c, insn, x->st->insn, far) &&
		   vti_culprit_are_near(c, insn, x->st->insn, &apart)))
		x->often += often;
}

/*
 * How often a load can wait for a store before its procedure, or in a call: as often as it is
 * executed while that is not further away than a reorder buffer holds.  It comes again after a
 * round of its loop, or after its block at least.  Each wait ends when the store is written, and
 * with it all stores before it, so that there are no more waits than stores in flight.
 */
static double count_in_reach(const struct vti_stalled *st)
{
	const struct vti_culprit *c = st->c;
	uint32_t block = c->block[st->insn], i;
	const struct vt_cfg_block *b = &c->cfg->blocks[block];
	double slots = c->round_slots[block];

	if (isinf(slots))
		for (slots = 0, i = b->insn; i < b->insn + b->ninsns; i++)
			slots += c->ops[i].slots;
	slots = 1 + c->core->rob / fmax(slots, 1);
	return c->core->stores ? fmin(slots, c->core->stores) : slots;
}

static struct vti_fact get_forward_fact(const struct vti_stalled *st)
{
	const struct vt_core *m = st->c->core;
	struct stores x = {st, 0, 0};

	if (!vt_mop_has(vti_stalled_op(st), BIT(VT_OP_LOAD)))
		return absent;
	vti_culprit_back(st, m->rob ? m->rob : 1, see_store, &x);
	if (x.outside > 0)
		x.often += x.outside * count_in_reach(st);
	if (!(x.often > 0))
		return absent;
	return (struct vti_fact){fmin(st->executions, x.often) * SURE *
					 ((double)m->forward + m->blocked),
				 0, VT_WHY_STORE};
}

/* ---- fetching ---- */

static struct vti_fact get_icache_fact(const struct vti_stalled *st)
{
	uint32_t flags = vti_stalled_op(st)->flags;
	struct vti_suspect s = {.bound = INFINITY};

	if ((flags & VT_FACT_CALL) && (flags & VT_FACT_INDIRECT))
		return (struct vti_fact){INFINITY, 0, VT_WHY_CALLED};
	vti_rule_icache(st, &s);
	return (struct vti_fact){SURE * s.bound, 0, s.bound > 0 ? VT_WHY_DISPLACED : VT_WHY_ABSENT};
}

static struct vti_fact get_itlb_fact(const struct vti_stalled *st)
{
	const struct vt_core *m = st->c->core;
	double cost = vti_culprit_tlb(m, &m->itlb);
	struct vti_suspect s = {.bound = INFINITY};

	vti_rule_itlb(st, &s);
	if (!(s.bound > 0) || !(cost > 0))
		return absent;
	return (struct vti_fact){s.bound / cost * get_slowest_miss(st), 0, VT_WHY_DISPLACED};
}

/* ---- branches ---- */

/*
 * How often a branch at most went where nobody could expect: elsewhere than on its usual way, and,
 * having learnt from that, once more on the usual one.
 */
static double count_surprises(const struct vti_stalled *st, bool conditional)
{
	const struct vti_culprit *c = st->c;
	const struct vt_cfg_block *b = &c->cfg->blocks[c->block[st->insn]];
	double sum = 0, most = 0;
	uint32_t i;

	for (i = b->out; i < b->out + b->nout; i++) {
		double n = c->in->edges ? c->in->edges[i] : NAN;

		if (isnan(n))
			return st->executions;
		sum += n;
		most = fmax(most, n);
	}
	if (b->incomplete || (!conditional && b->nout < 2))
		return st->executions;
	return fmin(st->executions, 2 * (sum - most));
}

/* Executions of a branch that control did not leave by: stacks do not have these. */
static double count_not_taken(const struct vti_stalled *st)
{
	const struct vti_culprit *c = st->c;
	const struct vt_cfg_block *b = &c->cfg->blocks[c->block[st->insn]];
	double sum = 0;
	uint32_t i;

	if (!(vti_stalled_op(st)->flags & VT_FACT_CONDITIONAL))
		return 0;
	for (i = b->out; i < b->out + b->nout; i++)
		if (c->cfg->edges[i].kind == VT_EDGE_FALL)
			sum += c->in->edges ? c->in->edges[i] : NAN;
	return isnan(sum) ? st->executions : fmin(sum, st->executions);
}

/*
 * Stacks show how many of the taken branches were mispredicted, and what that took up to the next
 * one where they have cycles: within 2 deviations.  It may take more later, as nothing was begun
 * ahead; and code that is new to the caches is mispredicted, too, so that no more is claimed than
 * a mispredicted branch may take.  Of those not taken, each may have been, `n` at most in all: if
 * less than was measured may have been, one of both is wrong, and nothing is claimed.
 */
static struct vti_fact narrow_by_stacks(const struct vti_stalled *st, double n,
					struct vti_fact fact)
{
	const struct vt_culprit_insn *in = &st->c->in->insns[st->insn];
	const struct vt_culprit_branch *b = &in->branch;
	double most = fmin(vti_culprit_at_most(b->mispredicted) / b->branches, 1);
	double least = fmax(b->mispredicted - 2 * sqrt(b->mispredicted), 0) / b->branches;
	double missed = count_not_taken(st), taken = st->executions - missed;
	double cost = SURE * vti_culprit_mispredict(st->c->core);

	fact.bound = fmin(n, most / UNBIASED * taken + missed) * cost;
	if (!isfinite(b->deviation))
		return fact;
	fact.sure = UNBIASED * least * fmax(taken - 2 * in->doubt * st->executions, 0) *
		    fmin(fmax(b->cost - 2 * b->deviation, 0), cost);
	if (!(fact.sure <= fact.bound))
		fact.sure = 0;
	return fact;
}

static struct vti_fact get_mispredict_fact(const struct vti_stalled *st)
{
	uint32_t flags = vti_stalled_op(st)->flags;
	struct vti_fact fact;
	double n;
	enum vt_stall_why why;

	if (!(flags & VT_FACT_BRANCH))
		return absent;
	if (flags & VT_FACT_CONDITIONAL) {
		n = count_surprises(st, true);
		why = VT_WHY_BOTH_WAYS;
	} else if (!(flags & VT_FACT_RETURN) && (flags & VT_FACT_INDIRECT)) {
		n = flags & VT_FACT_CALL ? st->executions : count_surprises(st, false);
		why = VT_WHY_INDIRECT;
	} else if (flags & (VT_FACT_RETURN | VT_FACT_CALL)) {
		n = st->executions;
		why = VT_WHY_RETURNS;
	} else {
		return absent;
	}
	n = fmin(n, vti_culprit_events(st, VT_CULPRIT_BRANCHMP, st->insn));
	fact = (struct vti_fact){n * SURE * vti_culprit_mispredict(st->c->core), 0, why};
	return st->c->in->insns[st->insn].branch.branches > 0 ? narrow_by_stacks(st, n, fact)
							      : fact;
}

struct vti_fact vti_culprit_arrival_fact(const struct vti_stalled *st, uint32_t *guilty)
{
	struct vti_suspect s = {.bound = INFINITY};
	enum vt_stall_why why = VT_WHY_INDIRECT;

	vti_rule_mispredict(st, &s);
	*guilty = s.nguilty ? s.guilty[0] : st->insn;
	if (s.nguilty && (st->c->ops[*guilty].flags & VT_FACT_CONDITIONAL))
		why = VT_WHY_BOTH_WAYS;
	else if (!s.nguilty && st->nbefore && st->before[0].how == VTI_RETURN)
		why = VT_WHY_RETURNS;
	return (struct vti_fact){SURE * s.bound, 0, s.bound > 0 ? why : VT_WHY_ABSENT};
}

/* ---- the rest ---- */

/* A division takes its latency in the schedule, and with other operands not twice as long. */
static struct vti_fact get_divider_fact(const struct vti_stalled *st)
{
	const struct vt_mop *op = vti_stalled_op(st);

	if (!vt_mop_has(op, BIT(VT_OP_DIVIDE) | BIT(VT_OP_FDIV)))
		return absent;
	return (struct vti_fact){st->executions * vti_mop_latency(op), 0, VT_WHY_OPERANDS};
}

static struct vti_fact get_sync_fact(const struct vti_stalled *st)
{
	if (!vt_mop_has(vti_stalled_op(st), BIT(VT_OP_SLOW) | BIT(VT_OP_SYNC)))
		return absent;
	return (struct vti_fact){INFINITY, 0, VT_WHY_DRAINS};
}

static struct vti_fact get_other_fact(const struct vti_stalled *st)
{
	if (!(vti_stalled_op(st)->flags & VT_FACT_SYSCALL))
		return absent;
	return (struct vti_fact){INFINITY, 0, VT_WHY_KERNEL};
}

/* In the order in which they are named where facts allow two as much; VTI_FACT_OTHER is first. */
static const struct {
	enum vt_stall_cause cause;
	struct vti_fact (*get)(const struct vti_stalled *st);
} facts[] = {
	{VT_STALL_OTHER, get_other_fact},	    {VT_STALL_SYNC, get_sync_fact},
	{VT_STALL_DCACHE, get_dcache_fact},	    {VT_STALL_DTLB, get_dtlb_fact},
	{VT_STALL_ICACHE, get_icache_fact},	    {VT_STALL_ITLB, get_itlb_fact},
	{VT_STALL_MISPREDICT, get_mispredict_fact}, {VT_STALL_WRITE_BUFFER, get_write_buffer_fact},
	{VT_STALL_FORWARD, get_forward_fact},	    {VT_STALL_DIVIDER, get_divider_fact},
};

_Static_assert(sizeof(facts) / sizeof(facts[0]) == VTI_FACTS, "a fact for each cause");

enum vt_stall_cause vti_culprit_fact_cause(uint32_t i)
{
	return facts[i].cause;
}

struct vti_fact vti_culprit_fact(const struct vti_stalled *st, uint32_t i)
{
	return facts[i].get(st);
}
