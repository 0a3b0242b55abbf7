/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/common/procs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct vt_error err;

static void schedule(struct proc *p, const struct vt_cfg_block *b)
{
	const struct vt_mop *ops[PROC_MAX];
	uint32_t i, k;

	for (i = 0; i < b->ninsns; i++)
		ops[i] = &p->ops[b->insn + i];
	assert_int_equal(vt_schedule(&p->core, ops, b->ninsns, 0, p->costs + b->insn, &err), 0);
	for (i = 0; i < b->ninsns; i++)
		for (k = 0; k < p->costs[b->insn + i].nstalls; k++)
			if (p->costs[b->insn + i].stalls[k].culprit >= 0)
				p->costs[b->insn + i].stalls[k].culprit += (int32_t)b->insn;
}

struct proc *proc_make(const char *core, const uint8_t *code, size_t size)
{
	struct vt_cfg_source src = {.code = code, .size = size, .start = PROC_START};
	struct proc *p = calloc(1, sizeof(*p));
	struct vt_cfg *g;
	uint32_t b, i;

	assert_non_null(p);
	assert_int_equal(vt_core_load(&p->core, core, &err), 0);
	g = vt_cfg_new(&src, &err);
	assert_non_null(g);
	assert_true(g->ninsns <= PROC_MAX && g->nedges <= PROC_MAX && g->complete);
	for (i = 0; i < g->ninsns; i++) {
		uint64_t at = g->insns[i].addr - PROC_START;

		assert_true(vt_core_op(&p->core, code + at, size - at, &p->ops[i]));
	}
	for (b = VT_CFG_FIRST; b < g->nblocks; b++) {
		schedule(p, &g->blocks[b]);
		for (i = 0; i < g->blocks[b].ninsns; i++)
			p->block[g->blocks[b].insn + i] = b;
	}
	for (i = 0; i < g->nedges; i++)
		p->edges[i] = NAN;
	for (i = 0; i < g->ninsns; i++)
		p->insns[i] = (struct vt_culprit_insn){
			.executions = PROC_EACH,
			.cycles = (double)p->costs[i].head,
			.confidence = VT_CONFIDENCE_HIGH,
		};
	p->flow =
		(struct vt_procflow){.cfg = g, .ops = p->ops, .costs = p->costs, .block = p->block};
	p->in = (struct vt_culprit_input){
		.core = &p->core,
		.flow = &p->flow,
		.insns = p->insns,
		.edges = p->edges,
		.charged_before = true,
	};
	return p;
}

struct proc *proc_make_plain(const uint8_t *code, size_t size)
{
	struct proc *p = proc_make("alpha21164", code, size);
	uint32_t i;

	for (i = 0; i < p->flow.cfg->ninsns; i++) {
		p->ops[i] = (struct vt_mop){.nuops = 1, .slots = 1};
		p->insns[i].executions = 10 * (i + 1.0);
	}
	return p;
}

struct proc *proc_make_ways(void)
{
	static const uint8_t code[] = {0x85, 0xff, 0x74, 0x03, 0x90, 0xeb, 0x01,
				       0x90, 0x90, 0x90, 0x75, 0xfc, 0xc3};
	static const uint8_t nuops[] = {1, 2, 3, 4, 9, 6, 7, 8, 1};
	struct proc *p = proc_make_plain(code, sizeof(code));
	uint32_t i;

	assert_int_equal(p->flow.cfg->ninsns, PROC_WAYS);
	for (i = 0; i < PROC_WAYS; i++)
		p->ops[i].nuops = nuops[i];
	proc_set_entry(p, 300);
	return p;
}

void proc_drop(struct proc *p)
{
	vt_culprit_stalls_fini(&p->stalls);
	vt_cfg_free(p->flow.cfg);
	free(p);
}

uint32_t proc_at(const struct proc *p, uint64_t offset)
{
	uint32_t i = vt_cfg_insn_at(p->flow.cfg, PROC_START + offset);

	assert_int_not_equal(i, UINT32_MAX);
	return i;
}

void proc_set_edge(struct proc *p, uint64_t from, uint64_t to, double n)
{
	const struct vt_cfg *g = p->flow.cfg;
	uint32_t i;

	for (i = 0; i < g->nedges; i++) {
		const struct vt_cfg_block *b = &g->blocks[g->edges[i].from];

		if (b->ninsns && p->block[proc_at(p, from)] == g->edges[i].from &&
		    g->blocks[g->edges[i].to].start == PROC_START + to) {
			p->edges[i] = n;
			return;
		}
	}
	fail();
}

void proc_set_entry(struct proc *p, double n)
{
	uint32_t i;

	for (i = 0; i < p->flow.cfg->nedges; i++)
		if (p->flow.cfg->edges[i].from == VT_CFG_ENTRY)
			p->edges[i] = n;
}
