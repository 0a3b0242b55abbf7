/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "machine/pipeline/ooo_internal.h"

/* The cycles between two retirements, told from the first to the last. */
struct account {
	struct vt_inorder_cost *cost;
	uint64_t now;  /* told until here */
	uint64_t end;  /* the next retirement */
	uint64_t gone; /* slots of the first of them, which others used */
	uint32_t width;
};

static void add_stall(struct vt_inorder_cost *c, uint8_t cause, uint64_t by, uint64_t slots)
{
	uint32_t n = slots > UINT32_MAX ? UINT32_MAX : (uint32_t)slots, i;

	for (i = 0; i < c->nstalls; i++)
		if (c->stalls[i].cause == cause && c->stalls[i].by == by)
			break;
	if (i == VT_INORDER_STALLS)
		i--;
	if (i == c->nstalls)
		c->stalls[c->nstalls++] = (struct vt_inorder_stall){.cause = cause, .by = by};
	c->stalls[i].slots += n;
	c->used -= n;
}

/* What came next in the instruction's life lasted until `until`. */
static void tell(struct account *a, uint64_t until, uint8_t cause, uint64_t by)
{
	uint64_t slots, gone;

	if (until > a->end)
		until = a->end;
	if (until <= a->now)
		return;
	slots = (until - a->now) * a->width;
	a->now = until;
	gone = slots < a->gone ? slots : a->gone;
	a->gone -= gone;
	if (slots > gone)
		add_stall(a->cost, cause, by, slots - gone);
}

/* Sources are called by their places among all that the instruction reads. */
static uint8_t operand_cause(const struct vt_mop *op, const struct running *r)
{
	uint64_t before;

	if (r->operand.dynamic || r->reg >= VT_NREGS)
		return VT_STALL_DEPENDENCY;
	before = (op->reads | op->address_reads) & (((uint64_t)1 << r->reg) - 1);
	if (!before)
		return VT_STALL_OPERAND_A;
	return before & (before - 1) ? VT_STALL_OPERAND_C : VT_STALL_OPERAND_B;
}

static uint8_t unit_cause(const struct vt_uop *u)
{
	switch (u->op_class) {
	case VT_OP_MULTIPLY:
	case VT_OP_FMUL:
		return VT_STALL_MULTIPLIER;
	case VT_OP_DIVIDE:
	case VT_OP_FDIV:
		return VT_STALL_DIVIDER;
	default:
		return VT_STALL_UNIT;
	}
}

/* A micro-operation's life.  What it took itself counts for what it had to wait for. */
static void tell_uop(struct account *a, const struct step *x, unsigned n, uint8_t *why,
		     uint64_t *whose)
{
	const struct running *r = &x->uops[n];

	if (r->bound == BOUND_OPERAND || r->bound == BOUND_ORDER) {
		*why = r->bound == BOUND_ORDER ? VT_STALL_SYNC : operand_cause(x->in->op, r);
		*whose = r->operand.by;
		tell(a, r->ready, *why, *whose);
	}
	if (r->issued > r->ready) {
		*why = unit_cause(&x->in->op->uops[n]);
		*whose = x->in->tag;
		tell(a, r->issued, *why, *whose);
	}
	tell(a, r->made, *why, *whose);
	tell(a, r->made + r->tlb, VT_STALL_DTLB, x->in->tag);
	tell(a, r->made + r->tlb + r->cache, VT_STALL_DCACHE, x->in->tag);
	tell(a, r->done, VT_STALL_FORWARD, x->in->tag);
}

void vti_ooo_explain(const struct step *x, const struct lane *before, uint64_t first,
		     struct vt_inorder_cost *cost)
{
	struct account a = {
		.cost = cost,
		.now = before->cycle,
		.end = first,
		.gone = before->used,
		.width = before->width,
	};
	uint8_t why = VT_STALL_SLOTTING;
	uint64_t whose = x->in->tag;
	unsigned last = 0, i;

	if (x->front.until > x->begun) {
		why = x->front.cause;
		whose = x->front.by;
	}
	tell(&a, x->begun, why, whose);
	tell(&a, x->translated, VT_STALL_ITLB, x->in->tag);
	tell(&a, x->fetched, VT_STALL_ICACHE, x->in->tag);
	if (x->fetched > x->begun) {
		why = x->fetched > x->translated ? VT_STALL_ICACHE : VT_STALL_ITLB;
		whose = x->in->tag;
	}
	if (x->late != VT_STALL_SLOTTING) {
		why = x->late;
		whose = x->in->tag;
	}
	tell(&a, x->placed + 1, why, whose);
	for (i = 1; i < x->nuops; i++)
		if (x->uops[i].done >= x->uops[last].done)
			last = i;
	/* From the one that needs nothing of those before it to the one that was done last. */
	for (i = last; i > 0 && x->uops[i].bound == BOUND_PREVIOUS; i--)
		;
	for (; x->nuops && i <= last; i++)
		tell_uop(&a, x, i, &why, &whose);
	tell(&a, first, VT_STALL_SLOTTING, x->in->tag);
}
