/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/pipeline/schedule.h"

#include "machine/pipeline/inorder.h"
#include "machine/pipeline/ooo.h"

/*
 * In a schedule nothing is dynamic: causes have the names of static ones.  What comes from a store,
 * forwarded or not, is an operand.
 */
static uint8_t static_cause(uint8_t cause)
{
	if (cause == VT_STALL_DEPENDENCY || cause == VT_STALL_FORWARD)
		return VT_STALL_OPERAND_C;
	return cause >= VT_STALL_SLOTTING ? cause : VT_STALL_UNIT_STATIC;
}

/* By the latency or the unit of an instruction before, which may end while others stall. */
static bool is_dependence(uint8_t cause)
{
	return cause != VT_STALL_SLOTTING;
}

/*
 * Adds a stall to those of its cause, of which the first names the culprit.  The longest come
 * first: what there is no room for is none of the longest.
 */
static void add_stall(struct vt_schedule_cost *c, uint8_t cause, int32_t culprit, float cycles)
{
	unsigned i;

	for (i = 0; i < c->nstalls; i++)
		if (c->stalls[i].cause == cause) {
			c->stalls[i].cycles += cycles;
			return;
		}
	if (i < VT_SCHEDULE_CAUSES)
		c->stalls[c->nstalls++] = (struct vt_schedule_stall){cause, culprit, cycles};
}

/* Stalls are few: equal ones stay in their order. */
static void sort_by_length(struct vt_schedule_stall *s, uint32_t n)
{
	uint32_t i, k;

	for (i = 1; i < n; i++) {
		struct vt_schedule_stall at = s[i];

		for (k = i; k > 0 && s[k - 1].cycles < at.cycles; k--)
			s[k] = s[k - 1];
		s[k] = at;
	}
}

static void sort_by_slots(struct vt_inorder_stall *s, uint32_t n)
{
	uint32_t i, k;

	for (i = 1; i < n; i++) {
		struct vt_inorder_stall at = s[i];

		for (k = i; k > 0 && s[k - 1].slots < at.slots; k--)
			s[k] = s[k - 1];
		s[k] = at;
	}
}

/* Tags that hold an index below. */
#define PACKED (-1)

static int32_t tag_index(uint64_t tag, int64_t warm)
{
	if (warm != PACKED)
		return (int32_t)((int64_t)tag - warm);
	return (uint32_t)tag <= INT32_MAX ? (int32_t)tag : VT_SCHEDULE_NONE;
}

/* `tag` is the instruction's; those of others become indices that are counted from `warm`. */
static void convert_cost(struct vt_inorder_cost *c, uint32_t width, uint64_t tag, int64_t warm,
			 struct vt_schedule_cost *out)
{
	uint64_t latest = 0;
	uint32_t i;

	*out = (struct vt_schedule_cost){
		.head = (float)c->head,
		.best = (float)c->used / (float)width,
		.depends = VT_SCHEDULE_NONE,
	};
	sort_by_slots(c->stalls, c->nstalls);
	for (i = 0; i < c->nstalls; i++) {
		const struct vt_inorder_stall *s = &c->stalls[i];
		int32_t by = tag_index(s->by, warm);

		add_stall(out, static_cause(s->cause), by, (float)s->slots / (float)width);
		if (!is_dependence(s->cause) || s->by >= tag || s->by < latest)
			continue;
		latest = s->by;
		out->depends = by;
	}
	sort_by_length(out->stalls, out->nstalls);
}

static int schedule_in_order(const struct vt_core *m, const struct vt_mop *const *ops, size_t n,
			     size_t warm, struct vt_schedule_cost *costs)
{
	struct vt_inorder_cost cost;
	struct vt_inorder e;
	size_t i;

	vt_inorder_init(&e, m);
	for (i = 0; i < n; i++) {
		vt_inorder_issue(&e, ops[i], i, NULL, NULL, &cost);
		if (i >= warm)
			convert_cost(&cost, e.width, i, (int64_t)warm, &costs[i - warm]);
	}
	return 0;
}

void vt_schedule_next(struct vt_inorder *e, const struct vt_mop *op, uint64_t tag,
		      struct vt_schedule_cost *cost)
{
	struct vt_inorder_cost c;

	vt_inorder_issue(e, op, tag, NULL, NULL, &c);
	if (cost)
		convert_cost(&c, e->width, tag, PACKED, cost);
}

static bool is_taken_in_sequence(const struct vt_mop *const *op, bool last)
{
	if (op[0]->flags & (VT_FACT_JUMP | VT_FACT_CALL | VT_FACT_RETURN))
		return true;
	return op[0]->flags & VT_FACT_CONDITIONAL && !last && op[1] != op[0] + 1;
}

void vt_schedule_on(struct vt_ooo *e, const struct vt_core *m, const struct vt_mop *const *ops,
		    size_t n, size_t warm, struct vt_schedule_cost *costs)
{
	struct vt_inorder_cost cost;
	struct vt_ooo_insn in = {0};
	struct vt_ooo_times times;
	uint32_t width = m->retire ? m->retire : 1;
	float own;
	size_t i;

	vt_ooo_empty(e);
	for (i = 0; i < n; i++) {
		in.op = ops[i];
		in.tag = i;
		in.brief = i < warm;
		in.taken = is_taken_in_sequence(&ops[i], i + 1 == n);
		vt_ooo_run(e, &in, &cost, &times);
		if (i < warm)
			continue;
		convert_cost(&cost, width, i, (int64_t)warm, &costs[i - warm]);
		/*
		 * Which of those retired together is the first changes from time to time, so that
		 * each has its slots' part of the cycle.
		 */
		own = (float)times.slots / (float)width;
		costs[i - warm].head -= costs[i - warm].best - own;
		costs[i - warm].best = own;
	}
}

static int schedule_out_of_order(const struct vt_core *m, const struct vt_mop *const *ops, size_t n,
				 size_t warm, struct vt_schedule_cost *costs, struct vt_error *err)
{
	struct vt_ooo *e = vt_ooo_new(m, NULL);

	if (!e)
		return vt_error_set(err, VT_E_NOMEM, "no memory for a schedule");
	vt_schedule_on(e, m, ops, n, warm, costs);
	vt_ooo_free(e);
	return 0;
}

int vt_schedule(const struct vt_core *m, const struct vt_mop *const *ops, size_t n, size_t warm,
		struct vt_schedule_cost *costs, struct vt_error *err)
{
	if (n > INT32_MAX || warm > n)
		return vt_error_set(err, VT_E_LIMIT, "a schedule of %zu instructions", n);
	if (m->order == VT_OUT_OF_ORDER)
		return schedule_out_of_order(m, ops, n, warm, costs, err);
	return schedule_in_order(m, ops, n, warm, costs);
}
