/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "culprit/internal.h"

/* Code before an instruction, along all ways by which control may have come. */

bool vti_mop_is_load(const struct vt_mop *op)
{
	return vt_mop_has(op, 1U << VT_OP_LOAD) && !vti_mop_waits(op);
}

bool vti_mop_waits(const struct vt_mop *op)
{
	bool loaded = false;
	unsigned i;

	for (i = 0; i < op->nuops && i < VT_MOP_UOPS; i++) {
		if (loaded && (op->uops[i].operands & VT_UOP_PREVIOUS))
			return true;
		if (op->uops[i].op_class == VT_OP_LOAD)
			loaded = true;
	}
	return false;
}

unsigned vti_mop_latency(const struct vt_mop *op)
{
	unsigned i, max = 0;

	for (i = 0; i < op->nuops && i < VT_MOP_UOPS; i++)
		if (op->uops[i].latency > max)
			max = op->uops[i].latency;
	return max;
}

/* What a procedure is called with: registers that it may find loaded just before (System V ABI). */
#define BIT(reg) (UINT64_C(1) << (reg))
#define ARGUMENTS                                                                                  \
	(BIT(VT_REG_AX) | BIT(VT_REG_CX) | BIT(VT_REG_DX) | BIT(VT_REG_SI) | BIT(VT_REG_DI) |      \
	 UINT64_C(15) << VT_REG_R8 | UINT64_C(255) << VT_REG_VECTOR)

/* How often control comes by an edge; INFINITY: it is not known. */
static double get_edge_executions(const struct vti_culprit *c, uint32_t edge)
{
	double n = c->in->edges ? c->in->edges[edge] : NAN;

	return n >= 0 ? n : INFINITY;
}

/*
 * Adds the blocks before one to the queue; returns how often control, and the registers with it,
 * may come from elsewhere.
 */
static double push_before(const struct vti_culprit *c, uint32_t block, uint64_t regs, uint32_t *n)
{
	const struct vt_cfg *g = c->cfg;
	const struct vt_cfg_block *b = &g->blocks[block];
	double outside = !b->nin || (!g->complete && regs) ? INFINITY : 0;
	uint32_t i;

	for (i = 0; i < b->nin; i++) {
		uint32_t from = g->edges[g->in[b->in + i]].from;

		if (from < VT_CFG_FIRST) {
			if (regs & ARGUMENTS)
				outside += get_edge_executions(c, g->in[b->in + i]);
		} else if (regs & ~c->sought[from]) {
			if (*n == VTI_CULPRIT_QUEUE)
				return INFINITY;
			/* A block may come again, with registers not yet sought in it. */
			c->sought[from] |= regs;
			c->queue[(*n)++] = from;
		}
	}
	return outside;
}

/* Forgets which blocks were looked at, so that nothing is left for the next instruction. */
static void clear_visited(const struct vti_culprit *c, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		c->sought[c->queue[i]] = 0;
}

/* ---- definitions ---- */

static void add_definer(struct vti_definers *d, uint32_t insn, uint32_t slots)
{
	uint32_t i;

	for (i = 0; i < d->count; i++)
		if (d->list[i].insn == insn) {
			if (slots < d->list[i].slots)
				d->list[i].slots = slots;
			return;
		}
	if (d->count == VTI_DEFINERS)
		d->outside = INFINITY;
	else
		d->list[d->count++] = (struct vti_definer){insn, slots};
}

/* What a procedure gives back in registers (System V ABI): rax, rdx, xmm0, xmm1. */
#define RESULTS (UINT64_C(1) << VT_REG_AX | UINT64_C(1) << VT_REG_DX | UINT64_C(3) << VT_REG_VECTOR)

void vti_culprit_stretches(struct vti_culprit *c)
{
	uint32_t i;

	for (i = 0; i < c->cfg->ninsns; i++) {
		struct vti_stretch *s = &c->stretches[i / VTI_STRETCH];
		const struct vt_mop *op = &c->ops[i];

		s->touched |= op->writes;
		if (c->core->order == VT_IN_ORDER)
			s->touched |= op->reads | op->address_reads;
		s->slots += op->nuops;
		s->calls |= (op->flags & (VT_FACT_CALL | VT_FACT_SYSCALL)) != 0;
	}
}

/*
 * Goes back through instructions [first, end) in search of `regs`; returns those that none of them
 * defines or waits for.  *slots counts micro-operations up to the stalled one.
 */
static uint64_t search_definers(const struct vti_stalled *st, uint32_t first, uint32_t end,
				uint64_t regs, uint32_t *slots, struct vti_definers *d)
{
	const struct vti_culprit *c = st->c;
	bool in_order = c->core->order == VT_IN_ORDER;
	uint32_t i;

	for (i = end; i > first && regs; i--) {
		const struct vti_stretch *s = &c->stretches[(i - 1) / VTI_STRETCH];
		const struct vt_mop *op = &c->ops[i - 1];

		if (i % VTI_STRETCH == 0 && i - first >= VTI_STRETCH && !s->calls &&
		    !(s->touched & regs)) {
			*slots += s->slots;
			i -= VTI_STRETCH - 1;
			continue;
		}
		if (op->flags & (VT_FACT_CALL | VT_FACT_SYSCALL)) {
			/*
			 * Saved registers are loaded before the return is, which waits for its
			 * own load; what else is read behind a call is what it gives back.
			 */
			if (regs & RESULTS)
				add_definer(d, i - 1, *slots);
			return 0;
		}
		if (op->writes & regs)
			add_definer(d, i - 1, *slots);
		*slots += op->nuops;
		regs &= ~op->writes;
		if (in_order)
			regs &= ~(op->reads | op->address_reads);
	}
	return regs;
}

void vti_culprit_reach(const struct vti_stalled *st, uint64_t regs, struct vti_definers *d)
{
	const struct vti_culprit *c = st->c;
	uint32_t block = c->block[st->insn], at, i, n = 0;
	uint32_t slots[VTI_CULPRIT_QUEUE], far = 0;

	memset(d, 0, sizeof(*d));
	regs = search_definers(st, c->cfg->blocks[block].insn, st->insn, regs, &far, d);
	if (!regs)
		return;
	d->outside += push_before(c, block, regs, &n);
	for (i = 0; i < n; i++)
		slots[i] = far;
	for (at = 0; at < n; at++) {
		const struct vt_cfg_block *b = &c->cfg->blocks[c->queue[at]];
		uint32_t had = n;
		uint64_t left;

		far = slots[at];
		left = search_definers(st, b->insn, b->insn + b->ninsns, c->sought[c->queue[at]],
				       &far, d);
		if (left)
			d->outside += push_before(c, c->queue[at], left, &n);
		for (i = had; i < n; i++)
			slots[i] = far;
	}
	clear_visited(c, n);
}

/* ---- what was executed shortly before ---- */

struct back {
	const struct vti_stalled *st;
	uint32_t slots; /* how far to go */
	vti_culprit_visit *fn;
	void *arg;
};

/* Goes back through [first, end); returns how far it is to its start, UINT32_MAX: far enough. */
static uint32_t measure_way_back(const struct back *k, uint32_t first, uint32_t end, uint32_t slots)
{
	const struct vti_culprit *c = k->st->c;
	uint32_t i;

	for (i = end; i > first; i--) {
		if (slots >= k->slots)
			return UINT32_MAX;
		if (c->ops[i - 1].flags & (VT_FACT_CALL | VT_FACT_SYSCALL)) {
			k->fn(k->arg, UINT32_MAX, slots, c->in->insns[i - 1].executions);
			return UINT32_MAX;
		}
		k->fn(k->arg, i - 1, slots, c->in->insns[i - 1].executions);
		slots += c->ops[i - 1].nuops;
	}
	return slots >= k->slots ? UINT32_MAX : slots;
}

void vti_culprit_back(const struct vti_stalled *st, uint32_t slots, vti_culprit_visit *fn,
		      void *arg)
{
	const struct vti_culprit *c = st->c;
	const struct back k = {st, slots, fn, arg};
	uint32_t block = c->block[st->insn], at, i, n = 0;
	uint32_t far[VTI_CULPRIT_QUEUE],
		d = measure_way_back(&k, c->cfg->blocks[block].insn, st->insn, 0);
	double outside;

	if (d == UINT32_MAX)
		return;
	outside = push_before(c, block, BIT(VT_REG_AX), &n);
	if (outside > 0)
		fn(arg, UINT32_MAX, d, outside);
	for (i = 0; i < n; i++)
		far[i] = d;
	for (at = 0; at < n; at++) {
		const struct vt_cfg_block *b = &c->cfg->blocks[c->queue[at]];
		uint32_t had = n;

		d = measure_way_back(&k, b->insn, b->insn + b->ninsns, far[at]);
		if (d == UINT32_MAX)
			continue;
		outside = push_before(c, c->queue[at], BIT(VT_REG_AX), &n);
		if (outside > 0)
			fn(arg, UINT32_MAX, d, outside);
		for (i = had; i < n; i++)
			far[i] = d;
	}
	clear_visited(c, n);
}
