/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "culprit/internal.h"

/* What waits for other instructions: units, operands, order. */

#define BIT(c) (UINT32_C(1) << (c))

/*
 * Cycles that the static schedule gives the instruction anyway: one that waits for another has been
 * at the head no longer than since that was issued.
 */
static double get_scheduled_cycles(const struct vti_stalled *st)
{
	return (double)st->c->costs[st->insn].head;
}

static double get_issue_width(const struct vti_stalled *st)
{
	return st->c->core->issue ? st->c->core->issue : 1;
}

/* ---- units ---- */

struct busy {
	const struct vti_stalled *st;
	struct vti_suspect *s;
	uint32_t classes; /* of those that may occupy the unit */
	double most;	  /* cycles that it may have to wait for */
};

/*
 * Whether those who use `units` can keep one of the instruction's micro-operations from them all.
 * Where it has a choice of units, they must have the same.
 */
static bool may_block(const struct vt_mop *op, uint32_t units)
{
	unsigned i;

	for (i = 0; i < op->nuops && i < VT_MOP_UOPS; i++)
		if (op->uops[i].units && !(op->uops[i].units & ~units))
			return true;
	return false;
}

static void see_user(void *arg, uint32_t insn, uint32_t far, double often)
{
	struct busy *x = arg;
	const struct vt_mop *op = vti_stalled_op(x->st);
	const struct vt_core *m = x->st->c->core;
	double since = floor(far / get_issue_width(x->st)), left = 0;
	unsigned i;

	(void)often;
	if (insn == UINT32_MAX) {
		/*
		 * Any code may have been there; but that somebody divides just before a return or a
		 * call is assumed only where the results of divisions meet.
		 */
		for (i = 0; i < VT_NOPCLASSES; i++)
			if ((x->classes & BIT(i)) && m->classes[i].busy > 1 &&
			    vt_mop_has(op, BIT(i)))
				left = fmax(left, m->classes[i].busy - since);
	} else {
		const struct vt_mop *by = &x->st->c->ops[insn];

		for (i = 0; i < by->nuops && i < VT_MOP_UOPS; i++)
			if ((x->classes & BIT(by->uops[i].op_class)) && by->uops[i].busy > 1 &&
			    may_block(op, by->uops[i].units))
				left = fmax(left, by->uops[i].busy - since);
		if (left > 0)
			vti_suspect_blame(x->s, insn);
	}
	x->most = fmax(x->most, left);
}

static void note_long(struct vti_culprit *c, const struct vt_uop *u)
{
	uint32_t i;

	for (i = 0; i < c->nlongs && i < VTI_LONGS; i++)
		if (c->longs[i].units == u->units && c->longs[i].op_class == u->op_class)
			return;
	if (i < VTI_LONGS) {
		c->longs[i].units = u->units;
		c->longs[i].op_class = u->op_class;
	}
	c->nlongs = i + 1;
}

/*
 * Whether the instructions before this one have been issued as in the schedule: then so is it. What
 * was before the last of them that waited for two cycles does not matter any more.
 */
static bool is_undisturbed(const struct vti_culprit *c, uint32_t insn)
{
	const struct vt_culprit_insn *in;
	double head;

	if (insn == c->cfg->blocks[c->block[insn]].insn)
		return false;
	in = &c->in->insns[insn - 1];
	head = (double)c->costs[insn - 1].head;
	if (!(fabs(in->cycles - head) < 0.02) || (c->ops[insn - 1].flags & VT_FACT_CALL))
		return false;
	return head >= 2 || c->undisturbed[insn - 1];
}

void vti_culprit_units(struct vti_culprit *c)
{
	uint32_t i, k;

	for (i = 0; i < c->cfg->ninsns; i++) {
		for (k = 0; k < c->ops[i].nuops && k < VT_MOP_UOPS; k++)
			if (c->ops[i].uops[k].busy > 1)
				note_long(c, &c->ops[i].uops[k]);
		c->undisturbed[i] = is_undisturbed(c, i);
	}
}

/* Whether see_user() can find anything at all: most code has nothing that occupies a unit. */
static bool can_wait(const struct vti_stalled *st, uint32_t classes)
{
	const struct vti_culprit *c = st->c;
	const struct vt_mop *op = vti_stalled_op(st);
	uint32_t i;

	for (i = 0; i < op->nuops && i < VT_MOP_UOPS; i++)
		if ((classes & BIT(op->uops[i].op_class)) &&
		    c->core->classes[op->uops[i].op_class].busy > 1)
			return true;
	for (i = 0; i < c->nlongs && i < VTI_LONGS; i++)
		if ((classes & BIT(c->longs[i].op_class)) && may_block(op, c->longs[i].units))
			return true;
	return c->nlongs > VTI_LONGS;
}

/*
 * A unit makes wait only who needs it, and only if somebody who occupies it for more than a cycle
 * was issued less than that long ago.  How long ago is at least what issue width takes for those
 * between.  What the schedule knows of it is no dynamic stall.
 */
static void busy_unit(const struct vti_stalled *st, uint32_t classes, struct vti_suspect *s)
{
	struct busy x = {.st = st, .s = s, .classes = classes};
	bool waits = can_wait(st, classes);
	unsigned i, longest = 1;

	for (i = 0; i < VT_NOPCLASSES && waits; i++)
		if ((classes & BIT(i)) && st->c->core->classes[i].busy > longest)
			longest = st->c->core->classes[i].busy;
	if (longest > 1)
		vti_culprit_back(st, longest * (unsigned)get_issue_width(st), see_user, &x);
	s->bound = st->executions * fmax(0, x.most - get_scheduled_cycles(st));
}

#define MULTIPLIES (BIT(VT_OP_MULTIPLY) | BIT(VT_OP_FMUL))
#define DIVIDES	   (BIT(VT_OP_DIVIDE) | BIT(VT_OP_FDIV))
#define APART	   (BIT(VT_OP_SLOW) | BIT(VT_OP_SYNC))

void vti_rule_multiplier(const struct vti_stalled *st, struct vti_suspect *s)
{
	busy_unit(st, MULTIPLIES, s);
}

void vti_rule_divider(const struct vti_stalled *st, struct vti_suspect *s)
{
	busy_unit(st, DIVIDES, s);
}

/*
 * A group of instructions that are issued together ends elsewhere than in the schedule if something
 * before has stalled, or control came another way: who finds no slot or unit left waits for the
 * next cycle.  Who begins a cycle in the schedule anyway finds all of them free.
 */
static double next_cycle(const struct vti_stalled *st)
{
	if (st->c->core->order != VT_IN_ORDER || st->c->undisturbed[st->insn])
		return 0;
	return fmax(0, 1 - get_scheduled_cycles(st));
}

/* Also those after which nothing is issued until they are done: whoever comes next waits. */
void vti_rule_unit(const struct vti_stalled *st, struct vti_suspect *s)
{
	double most = 0;
	uint32_t i;

	busy_unit(st, ~(MULTIPLIES | DIVIDES), s);
	for (i = 0; i < st->nbefore; i++) {
		const struct vti_before *b = &st->before[i];
		double wait = 0;

		if (b->how == VTI_OUTSIDE || b->how == VTI_RETURN)
			continue;
		if (!vt_mop_has(&st->c->ops[b->insn], APART))
			continue;
		wait = vti_mop_latency(&st->c->ops[b->insn]) - get_scheduled_cycles(st);
		if (wait > 0) {
			vti_suspect_blame(s, b->insn);
			most += b->executions * wait;
		}
	}
	s->bound = fmax(fmax(s->bound, most), st->executions * next_cycle(st));
}

/* ---- operands ---- */

/*
 * A value takes its maker's latency, which the schedule knows; but which instructions were issued
 * how long before is another thing after each stall and on each way to here.  They are at least as
 * far away as issue width makes them.  What comes from other procedures takes what a load does:
 * multiplications and divisions just before a return or a call are not assumed.
 */
void vti_rule_dependency(const struct vti_stalled *st, struct vti_suspect *s)
{
	const struct vt_mop *op = vti_stalled_op(st);
	const struct vt_core *m = st->c->core;
	double most = 0, sum = 0, elsewhere = m->classes[VT_OP_LOAD].latency;
	struct vti_definers d;
	uint32_t i;

	vti_culprit_reach(st, op->reads | op->address_reads, &d);
	for (i = 0; i < d.count; i++) {
		const struct vt_mop *by = &st->c->ops[d.list[i].insn];
		double often = st->c->in->insns[d.list[i].insn].executions;
		double wait = vti_mop_latency(by);

		if (by->flags & (VT_FACT_CALL | VT_FACT_SYSCALL))
			wait = elsewhere;
		wait -= floor(d.list[i].slots / get_issue_width(st)) + get_scheduled_cycles(st);
		if (!(wait > 0))
			continue;
		vti_suspect_blame(s, d.list[i].insn);
		most = fmax(most, wait);
		sum += wait * (often >= 0 ? often : INFINITY);
	}
	elsewhere -= get_scheduled_cycles(st);
	if (d.outside > 0 && elsewhere > 0) {
		most = fmax(most, elsewhere);
		sum += elsewhere * d.outside;
	}
	s->bound = fmin(st->executions * most, sum);
}

/* ---- order ---- */

/* Fences, atomics and microcode wait for all that is under way; nothing else does. */
void vti_rule_sync(const struct vti_stalled *st, struct vti_suspect *s)
{
	const struct vt_core *m = st->c->core;

	s->bound = vt_mop_has(vti_stalled_op(st), APART)
			   ? st->executions * (2 * vti_culprit_miss(m) + m->drain +
					       m->classes[VT_OP_FDIV].latency)
			   : 0;
}

/*
 * Queues fill up behind an instruction that waits for something else, and that one is the one which
 * is charged: in order there are none, and at the head of the reorder buffer only what had to be
 * let in first can have been kept out.
 */
void vti_rule_queue(const struct vti_stalled *st, struct vti_suspect *s)
{
	(void)st;
	s->bound = 0;
}

/* System calls and interrupts: of what happens there nothing is known, so it may take any time. */
void vti_rule_other(const struct vti_stalled *st, struct vti_suspect *s)
{
	uint32_t i;

	s->bound = 0;
	for (i = 0; i < st->nbefore; i++) {
		const struct vti_before *b = &st->before[i];

		if (b->how != VTI_OUTSIDE && (st->c->ops[b->insn].flags & VT_FACT_SYSCALL)) {
			vti_suspect_blame(s, b->insn);
			s->bound = INFINITY;
		}
	}
	if (vti_stalled_op(st)->flags & VT_FACT_SYSCALL)
		s->bound = INFINITY;
}
