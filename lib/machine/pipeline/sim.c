/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/pipeline/sim.h"

#include <stdlib.h>

#include "base/prefetch.h"
#include "machine/pipeline/memo.h"
#include "machine/pipeline/sim_internal.h"

/* One of them is NULL. */
struct vt_simcore {
	struct vti_siminorder *inorder;
	struct vti_simooo *ooo;
};

/* How many of its micro-operations are loads, or stores. */
static unsigned count_accesses(const struct vt_mop *op, bool store)
{
	unsigned i, n = 0;

	for (i = 0; i < op->nuops && i < VT_MOP_UOPS; i++)
		n += op->uops[i].op_class == (store ? VT_OP_STORE : VT_OP_LOAD);
	return n;
}

static struct vt_simmem_access go(struct vt_simmem *mem, const struct vt_sim_access *at,
				  uint64_t cycle, struct vt_sim_retired *out)
{
	struct vt_simmem_access a = at->store ? vt_simmem_store(mem, cycle, at->addr, at->size)
					      : vt_simmem_load(mem, cycle, at->addr, at->size);

	if (!out->access_cycle)
		out->access_cycle = cycle;
	out->data_missed |= a.missed;
	return a;
}

struct vt_simmem_access vti_sim_access(struct vt_simmem *mem, const struct vt_sim_insn *insn,
				       bool store, unsigned nth, uint64_t cycle,
				       struct vt_sim_retired *out)
{
	struct vt_simmem_access a, slowest = {0};
	uint32_t i, n = 0;
	bool last;

	/* Nearly always there is just one. */
	if (insn->naccesses == 1 && insn->accesses->store == store && nth == 0)
		return go(mem, insn->accesses, cycle, out);
	last = nth + 1 >= count_accesses(insn->op, store);
	for (i = 0; i < insn->naccesses; i++) {
		const struct vt_sim_access *at = &insn->accesses[i];

		if (at->store != store || n++ < nth)
			continue;
		a = go(mem, at, cycle, out);
		if (a.cycles >= slowest.cycles)
			slowest = a;
		if (!last)
			break;
	}
	return slowest;
}

unsigned vti_sim_line_shift(const struct vt_core *m)
{
	uint32_t line = m->icache.size ? m->icache.line : 0;
	unsigned shift = 0;

	while (shift < 31 && (1u << (shift + 1)) <= line)
		shift++;
	return shift;
}

struct vt_simcore *vt_simcore_new(const struct vt_core *m, const struct vt_sim_hooks *hooks,
				  struct vt_error *err)
{
	struct vt_simcore *c = calloc(1, sizeof(*c));

	if (c && m->order == VT_OUT_OF_ORDER)
		c->ooo = vti_simooo_new(m, hooks);
	else if (c)
		c->inorder = vti_siminorder_new(m, hooks);
	if (c && (c->ooo || c->inorder))
		return c;
	vt_simcore_free(c);
	vt_error_nomem(err);
	return NULL;
}

void vt_simcore_free(struct vt_simcore *c)
{
	if (c) {
		vti_siminorder_free(c->inorder);
		vti_simooo_free(c->ooo);
	}
	free(c);
}

bool vt_sim_insn_taken(const struct vt_sim_insn *insn)
{
	uint32_t flags = insn->op->flags;

	return insn->next && flags & VT_FACT_BRANCH &&
	       (!(flags & VT_FACT_CONDITIONAL) || insn->next != insn->addr + insn->op->length);
}

void vt_simcore_run(struct vt_simcore *c, const struct vt_sim_insn *insn)
{
	if (c->ooo)
		vti_simooo_run(c->ooo, insn);
	else
		vti_siminorder_run(c->inorder, insn);
}

uint64_t vt_simcore_run_block(struct vt_simcore *c, struct vt_sim_block *b, uint64_t next,
			      uint64_t due)
{
	uint32_t i;

	if (due && c->inorder)
		return vti_siminorder_run_block(c->inorder, b, next, due);
	b->insns[b->ninsns - 1].next = next;
	if (due)
		return vti_simooo_run_block(c->ooo, b, due);
	for (i = 0; i < b->ninsns; i++)
		vt_simcore_run(c, &b->insns[i]);
	return 0;
}

void vt_sim_block_expect(const struct vt_sim_block *b, bool soon)
{
	if (soon && b->memo) {
		vti_simmemo_expect(b->memo);
	} else if (!soon && b->memo) {
		VT_PREFETCH(b->memo);
		VT_PREFETCH((const char *)b->memo + 64);
	} else if (!soon) {
		VT_PREFETCH(b->insns);
	}
}

void vt_sim_block_fini(struct vt_sim_block *b)
{
	vti_simmemo_free(b->memo);
	b->memo = NULL;
}

void vt_simcore_drain(struct vt_simcore *c)
{
	/* Out of order, all that has been given is retired, and nothing hangs on what comes. */
	if (c->inorder)
		vti_siminorder_drain(c->inorder);
}

uint64_t vt_simcore_cycle(const struct vt_simcore *c)
{
	return c->ooo ? vti_simooo_cycle(c->ooo) : vti_siminorder_cycle(c->inorder);
}
