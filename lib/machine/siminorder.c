/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "machine/simbranch.h"
#include "machine/simcore_internal.h"
#include "machine/simmem.h"

/* A power of 2, more than instructions are fetched ahead. */
#define RING 64

struct vti_siminorder {
	const struct vt_core *core; /* borrowed */
	struct vt_sim_hooks hooks;
	struct vt_simmem *mem;
	struct vt_simbranch *branches;
	struct vt_inorder engine;
	uint64_t line; /* the number of that which was fetched last */
	unsigned line_shift;
	uint64_t front; /* when the front end has mastered all misses and wrong branches so far */
	uint32_t ahead; /* instructions that are fetched before they can be issued */
	uint64_t issued[RING]; /* when the last instructions were */
	uint32_t at;
	const struct vt_sim_insn *insn; /* at hand */
	struct vt_sim_retired out;
};

/* Instructions are fetched a group ahead. */
static uint32_t fetched_ahead(const struct vt_core *m)
{
	uint32_t n = m->fetch ? m->fetch : 1;

	return n < RING ? n : RING - 1;
}

struct vti_siminorder *vti_siminorder_new(const struct vt_core *m, const struct vt_sim_hooks *hooks)
{
	struct vti_siminorder *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->core = m;
	s->hooks = *hooks;
	s->mem = vt_simmem_new(m);
	s->branches = vt_simbranch_new(m);
	if (!s->mem || !s->branches) {
		vti_siminorder_free(s);
		return NULL;
	}
	vt_inorder_init(&s->engine, m);
	s->line_shift = vti_sim_line_shift(m);
	s->line = UINT64_MAX;
	s->ahead = fetched_ahead(m);
	return s;
}

void vti_siminorder_free(struct vti_siminorder *s)
{
	if (!s)
		return;
	vt_simmem_free(s->mem);
	vt_simbranch_free(s->branches);
	free(s);
}

uint64_t vti_siminorder_cycle(const struct vti_siminorder *s)
{
	return s->engine.cycle;
}

/*
 * The front end keeps ahead of the instruction that is issued by a group, so that a miss costs what
 * is left when all before it has been issued.  Only the first fetch from a line can miss.
 */
static void fetch(struct vti_siminorder *s, const struct vt_sim_insn *insn)
{
	uint32_t length = insn->op->length ? insn->op->length : 1;
	uint64_t first = insn->addr >> s->line_shift;
	uint64_t last = (insn->addr + length - 1) >> s->line_shift;
	struct vt_simmem_access a;
	uint64_t start;

	s->out.fetch_missed = 0;
	if (first == s->line && last == first)
		return;
	start = s->issued[(s->at - s->ahead) % RING];
	if (start < s->front)
		start = s->front;
	s->out.fetch_cycle = start;
	s->line = last;
	a = vt_simmem_fetch(s->mem, start, insn->addr, length);
	s->out.fetch_missed = a.missed;
	if (!a.cycles)
		return;
	s->front = start + a.cycles;
	vt_inorder_hold(&s->engine, start + a.tlb, VT_STALL_ITLB, insn->tag);
	vt_inorder_hold(&s->engine, s->front, VT_STALL_ICACHE, insn->tag);
}

static struct vt_simmem_access go_to_memory(void *arg, bool store, unsigned nth, uint64_t cycle)
{
	struct vti_siminorder *s = arg;

	return vti_sim_access(s->mem, s->insn, store, nth, cycle, &s->out);
}

static void branch(struct vti_siminorder *s, const struct vt_sim_insn *insn, uint64_t cycle)
{
	uint64_t fall = insn->addr + insn->op->length, to;

	to = vt_simbranch_predict(s->branches, insn->addr, insn->op->flags, fall, insn->target,
				  insn->next);
	if (to == insn->next)
		return;
	s->out.mispredicted = true;
	s->front = cycle + s->core->mispredict;
	vt_inorder_hold(&s->engine, s->front, VT_STALL_MISPREDICT, insn->tag);
}

void vti_siminorder_run(struct vti_siminorder *s, const struct vt_sim_insn *insn)
{
	struct vt_inorder_cost cost;

	s->insn = insn;
	s->out.access_cycle = 0;
	s->out.data_missed = 0;
	s->out.mispredicted = false;
	fetch(s, insn);
	vt_inorder_issue(&s->engine, insn->op, insn->tag, insn->naccesses ? go_to_memory : NULL, s,
			 &cost);
	s->issued[s->at++ % RING] = cost.cycle;
	if ((insn->op->flags & VT_FACT_BRANCH) && insn->next)
		branch(s, insn, cost.cycle);
	s->out.tag = insn->tag;
	s->out.addr = insn->addr;
	s->out.cycle = cost.cycle;
	s->out.head = cost.head;
	s->out.used = cost.used;
	s->out.done_cycle = s->engine.done;
	s->out.nstalls = cost.nstalls;
	s->out.stalls = cost.stalls;
	s->hooks.retire(s->hooks.arg, &s->out);
}

void vti_siminorder_drain(struct vti_siminorder *s)
{
	vt_inorder_drain(&s->engine);
}
