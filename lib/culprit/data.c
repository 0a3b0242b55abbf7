/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "culprit/internal.h"

/* What waits for memory: values from caches, translations, room in buffers. */

#define STACK_POINTER (UINT64_C(1) << VT_REG_SP)

static bool in_order(const struct vti_stalled *st)
{
	return st->c->core->order == VT_IN_ORDER;
}

/* The registers that an instruction waits for.  A stack pointer moved by a push is at hand. */
static uint64_t get_awaited_registers(const struct vt_mop *op)
{
	return op->reads | op->address_reads;
}

/* How often the loads behind a stall can have missed: how often they were executed, and sampled. */
struct loads {
	double events;
	double last; /* the last cache */
	double pages;
};

static double bound_executions(const struct vti_stalled *st, uint32_t insn)
{
	double n = st->c->in->insns[insn].executions;

	return n >= 0 ? n : INFINITY;
}

/* How often an instruction's data can have missed the TLB. */
static double bound_page_misses(const struct vti_stalled *st, uint32_t insn)
{
	return fmin(st->c->data_pages[insn], vti_culprit_events(st, VT_CULPRIT_DTBMISS, insn));
}

/* Of somebody else's loads nothing is known but how often they can be what is waited for. */
static void take_others(double often, struct loads *l)
{
	l->events += often;
	l->last += often;
	l->pages += often;
}

static void take_load(const struct vti_stalled *st, uint32_t insn, struct loads *l,
		      struct vti_suspect *s)
{
	double n = bound_executions(st, insn);

	vti_suspect_blame(s, insn);
	l->events += fmin(n, vti_culprit_events(st, VT_CULPRIT_DMISS, insn));
	l->last += fmin(n, vti_culprit_events(st, VT_CULPRIT_LLCMISS, insn));
	l->pages += fmin(n, bound_page_misses(st, insn));
}

/*
 * The loads that an instruction can be waiting for.  Issued in order, it waits for the values of
 * its registers as far as nothing before has waited for them, and, if it does more than to load,
 * for what it loads itself.  At the head of a reorder buffer all before it is done, so that it can
 * wait for its own loads only.
 */
static void find_loads(const struct vti_stalled *st, struct loads *l, struct vti_suspect *s)
{
	const struct vt_mop *op = vti_stalled_op(st);
	struct vti_definers d;
	uint32_t i;

	*l = (struct loads){0};
	if (!in_order(st)) {
		if (vt_mop_has(op, 1U << VT_OP_LOAD))
			take_load(st, st->insn, l, s);
		return;
	}
	if (vti_mop_waits(op))
		take_load(st, st->insn, l, s);
	vti_culprit_reach(st, get_awaited_registers(op), &d);
	for (i = 0; i < d.count; i++) {
		const struct vt_mop *by = &st->c->ops[d.list[i].insn];

		if (by->flags & (VT_FACT_CALL | VT_FACT_SYSCALL)) {
			vti_suspect_blame(s, d.list[i].insn);
			take_others(bound_executions(st, d.list[i].insn), l);
		} else if (vti_mop_is_load(by)) {
			take_load(st, d.list[i].insn, l, s);
		}
	}
	take_others(d.outside, l);
	if (!st->expected)
		return;
	l->events = fmin(l->events, vti_culprit_events(st, VT_CULPRIT_DMISS, st->insn));
	l->last = fmin(l->last, vti_culprit_events(st, VT_CULPRIT_LLCMISS, st->insn));
	l->pages = fmin(l->pages, vti_culprit_events(st, VT_CULPRIT_DTBMISS, st->insn));
}

/* The most cycles that a load takes, when all misses that may be under way are before it. */
static double slowest_load(const struct vti_stalled *st)
{
	const struct vt_core *m = st->c->core;
	double queue = m->l2.misses ? ceil((double)m->dcache.misses / m->l2.misses) : 1;

	return st->expected ? vti_culprit_fill(st) : vti_culprit_fill(st) * (1 + queue);
}

/*
 * Without a load to wait for, the data cache is innocent.  What is left is bounded by the misses
 * that were sampled: each may go to memory; but those that miss the last cache only tell apart who
 * goes there from who finds its line before.
 */
void vti_rule_dcache(const struct vti_stalled *st, struct vti_suspect *s)
{
	const struct vt_core *m = st->c->core;
	struct loads l;
	double bound;

	find_loads(st, &l, s);
	if (!m->dcache.size) {
		s->bound = 0;
		return;
	}
	bound = fmin(st->executions, l.events) * slowest_load(st);
	if (l.last < st->executions)
		bound = fmin(bound, l.last * slowest_load(st) +
					    st->executions * fmax(m->l2.latency, m->l3.latency));
	s->bound = bound;
}

/*
 * Translations: of the loads that it waits for, and of its own store, which waits for nothing else
 * of memory.
 */
void vti_rule_dtlb(const struct vti_stalled *st, struct vti_suspect *s)
{
	const struct vt_core *m = st->c->core;
	const struct vt_mop *op = vti_stalled_op(st);
	struct loads l;
	double often;

	find_loads(st, &l, s);
	often = l.pages;
	if (vt_mop_has(op, 1U << VT_OP_STORE)) {
		vti_suspect_blame(s, st->insn);
		often += bound_page_misses(st, st->insn);
	}
	s->bound = m->dtlb.entries ? fmin(often, st->executions) * vti_culprit_tlb(m, &m->dtlb) : 0;
}

/* Only a store needs room in the write buffer; it waits until a line has been written at most. */
void vti_rule_write_buffer(const struct vti_stalled *st, struct vti_suspect *s)
{
	const struct vt_core *m = st->c->core;
	bool store = vt_mop_has(vti_stalled_op(st), 1U << VT_OP_STORE);

	if (!store || (!m->write_buffer && in_order(st))) {
		s->bound = 0;
		return;
	}
	s->bound = st->executions * ((double)m->drain + (st->expected ? 0 : slowest_load(st)));
}

/* ---- store forwarding ---- */

struct stores {
	const struct vti_stalled *st;
	struct vti_suspect *s;
	bool any;
};

static void see_store(void *arg, uint32_t insn, uint32_t far, double often)
{
	struct stores *x = arg;

	(void)far;
	(void)often;
	if (insn == UINT32_MAX) {
		x->any = true;
		return;
	}
	if (!vt_mop_has(&x->st->c->ops[insn], 1U << VT_OP_STORE))
		return;
	x->any = true;
	vti_suspect_blame(x->s, insn);
}

/*
 * Only on machines whose stores wait in a queue for loads to look into; only of loads, and only if
 * a store has been executed while it could still be in the queue.
 */
void vti_rule_forward(const struct vti_stalled *st, struct vti_suspect *s)
{
	const struct vt_core *m = st->c->core;
	struct stores x = {st, s, false};

	if (in_order(st) || !vt_mop_has(vti_stalled_op(st), 1U << VT_OP_LOAD)) {
		s->bound = 0;
		return;
	}
	vti_culprit_back(st, m->rob ? m->rob : 1, see_store, &x);
	s->bound = x.any ? st->executions * ((double)m->forward + m->blocked) : 0;
}
