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

/* ---- ways back ---- */

/* Blocks that control came through, the nearest first: a way of which less is known is longer. */
struct ways {
	struct way {
		uint32_t block;
		uint32_t slots; /* micro-operations behind it, up to the stalled instruction */
		uint64_t regs;	/* sought in it */
	} list[VTI_CULPRIT_QUEUE];
	uint32_t done; /* the first of them, which were taken */
	uint32_t count;
};

/* False: there is no room. */
static bool add_way(struct ways *w, uint32_t block, uint64_t regs, uint32_t slots)
{
	uint32_t i;

	for (i = w->done; i < w->count; i++)
		if (w->list[i].block == block && w->list[i].regs == regs) {
			if (slots < w->list[i].slots)
				w->list[i].slots = slots;
			return true;
		}
	if (w->count == VTI_CULPRIT_QUEUE)
		return false;
	w->list[w->count++] = (struct way){block, slots, regs};
	return true;
}

/*
 * Adds the blocks before one; returns how often control, and the registers with it, may come from
 * elsewhere.
 */
static double push_before(const struct vti_culprit *c, uint32_t block, uint64_t regs,
			  uint32_t slots, struct ways *w)
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
		} else if ((regs & ~c->sought[from]) && !add_way(w, from, regs, slots)) {
			return INFINITY;
		}
	}
	return outside;
}

/* The nearest block that is left, with registers not yet sought in it.  False: there is none. */
static bool take_nearest(const struct vti_culprit *c, struct ways *w, struct way *to)
{
	while (w->done < w->count) {
		uint32_t best = w->done, i;

		for (i = best + 1; i < w->count; i++)
			if (w->list[i].slots < w->list[best].slots)
				best = i;
		*to = w->list[best];
		w->list[best] = w->list[w->done];
		w->list[w->done++] = *to;
		to->regs &= ~c->sought[to->block];
		c->sought[to->block] |= to->regs;
		if (to->regs)
			return true;
	}
	return false;
}

/* Forgets which blocks were looked at, so that nothing is left for the next instruction. */
static void clear_visited(const struct vti_culprit *c, const struct ways *w)
{
	uint32_t i;

	for (i = 0; i < w->count; i++)
		c->sought[w->list[i].block] = 0;
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
	uint32_t block = c->block[st->insn], slots = 0;
	struct ways ways;
	struct way at;

	ways.done = ways.count = 0;
	memset(d, 0, sizeof(*d));
	regs = search_definers(st, c->cfg->blocks[block].insn, st->insn, regs, &slots, d);
	if (!regs)
		return;
	d->outside += push_before(c, block, regs, slots, &ways);
	while (take_nearest(c, &ways, &at)) {
		const struct vt_cfg_block *b = &c->cfg->blocks[at.block];

		regs = search_definers(st, b->insn, b->insn + b->ninsns, at.regs, &at.slots, d);
		if (regs)
			d->outside += push_before(c, at.block, regs, at.slots, &ways);
	}
	clear_visited(c, &ways);
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
	uint32_t block = c->block[st->insn],
		 far = measure_way_back(&k, c->cfg->blocks[block].insn, st->insn, 0);
	struct ways ways;
	struct way at = {.block = block};
	double outside;

	ways.done = ways.count = 0;
	if (far == UINT32_MAX)
		return;
	do {
		const struct vt_cfg_block *b = &c->cfg->blocks[at.block];

		if (ways.done)
			far = measure_way_back(&k, b->insn, b->insn + b->ninsns, at.slots);
		if (far == UINT32_MAX)
			continue;
		outside = push_before(c, at.block, BIT(VT_REG_AX), far, &ways);
		if (outside > 0)
			fn(arg, UINT32_MAX, far, outside);
	} while (take_nearest(c, &ways, &at));
	clear_visited(c, &ways);
}
