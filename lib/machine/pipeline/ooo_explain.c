/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/pipeline/ooo_internal.h"

/* The cycles between two retirements, explained from the first to the last. */
struct stall_account {
	struct vt_inorder_cost *cost;
	uint64_t now;  /* explained until here */
	uint64_t end;  /* the next retirement */
	uint64_t gone; /* slots of the first of them, which others used */
	uint32_t width;
};

/* What came next in the instruction's life lasted until `until`. */
static void charge_until(struct stall_account *a, uint64_t until, uint8_t cause, uint64_t by)
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
		a->cost->used -= vti_cost_add_stall(a->cost, cause, by, slots - gone);
}

/* A value that was late, or came from a store, is no operand of the static schedule. */
static uint8_t awaited_cause(const struct vt_mop *op, const struct running *r)
{
	if (r->operand.dynamic || r->reg >= VT_NREGS)
		return VT_STALL_DEPENDENCY;
	return vti_operand_cause(op, r->reg);
}

/* A micro-operation's life.  What it took itself counts for what it had to wait for. */
static void charge_uop(struct stall_account *a, const struct step *x, unsigned n, uint8_t *why,
		       uint64_t *whose)
{
	const struct running *r = &x->uops[n];

	if (r->bound == BOUND_OPERAND || r->bound == BOUND_ORDER) {
		*why = r->bound == BOUND_ORDER ? VT_STALL_SYNC : awaited_cause(x->in->op, r);
		*whose = r->operand.by;
		charge_until(a, r->ready, *why, *whose);
	}
	if (r->issued > r->ready) {
		*why = vti_unit_cause(x->in->op->uops[n].op_class);
		*whose = x->in->tag;
		charge_until(a, r->issued, *why, *whose);
	}
	charge_until(a, r->made, *why, *whose);
	charge_until(a, r->made + r->tlb, VT_STALL_DTLB, x->in->tag);
	charge_until(a, r->made + r->tlb + r->cache, VT_STALL_DCACHE, x->in->tag);
	charge_until(a, r->done, VT_STALL_FORWARD, x->in->tag);
}

void vti_ooo_explain(const struct step *x, const struct lane *before, uint64_t first,
		     struct vt_inorder_cost *cost)
{
	struct stall_account a = {
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
	charge_until(&a, x->begun, why, whose);
	charge_until(&a, x->translated, VT_STALL_ITLB, x->in->tag);
	charge_until(&a, x->fetched, VT_STALL_ICACHE, x->in->tag);
	if (x->fetched > x->begun) {
		why = x->fetched > x->translated ? VT_STALL_ICACHE : VT_STALL_ITLB;
		whose = x->in->tag;
	}
	if (x->late != VT_STALL_SLOTTING) {
		why = x->late;
		whose = x->in->tag;
	}
	charge_until(&a, x->placed + 1, why, whose);
	for (i = 1; i < x->nuops; i++)
		if (x->uops[i].done >= x->uops[last].done)
			last = i;
	/* From the one that needs nothing of those before it to the one that was done last. */
	for (i = last; i > 0 && x->uops[i].bound == BOUND_PREVIOUS; i--)
		;
	for (; x->nuops && i <= last; i++)
		charge_uop(&a, x, i, &why, &whose);
	charge_until(&a, first, VT_STALL_SLOTTING, x->in->tag);
}
