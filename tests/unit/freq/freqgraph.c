/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/freq/freqgraph.h"

#include <math.h>
#include <string.h>

bool nearly_equal(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(b), 1);
}

void graph_insn(struct graph *g, uint32_t block, float head, uint64_t samples, double cycles)
{
	uint32_t n = g->cfg.ninsns++;

	if (!g->blocks[block].ninsns++)
		g->blocks[block].insn = n;
	g->insns[n] = (struct vt_cfg_insn){.addr = 0x1000 + n, .length = 1};
	g->costs[n] = (struct vt_schedule_cost){.head = head, .depends = VT_SCHEDULE_NONE};
	g->block[n] = block;
	g->samples[n] = samples;
	g->cycles[n] = cycles;
}

void graph_edge(struct graph *g, uint32_t from, uint32_t to)
{
	g->edges[g->cfg.nedges++] = (struct vt_cfg_edge){from, to, VT_EDGE_FALL};
}

void graph_finish(struct graph *g, uint32_t nblocks)
{
	uint32_t b, i, n = 0;

	g->cfg.nblocks = nblocks;
	for (b = 0; b < nblocks; b++) {
		g->block_class[b] = b;
		g->blocks[b].in = n;
		for (i = 0; i < g->cfg.nedges; i++) {
			if (g->edges[i].from == b && !g->blocks[b].nout++)
				g->blocks[b].out = i;
			if (g->edges[i].to == b)
				g->into[n++] = i;
		}
		g->blocks[b].nin = n - g->blocks[b].in;
		g->first[b] = b >= VT_CFG_FIRST ? g->blocks[b].insn : 0;
	}
	for (i = 0; i < g->cfg.nedges; i++)
		g->edge_class[i] = nblocks + i;
	for (i = nblocks; i <= nblocks + g->cfg.nedges; i++)
		g->first[i] = g->cfg.ninsns;
	for (i = 0; i < g->cfg.ninsns; i++)
		g->members[i] = i;
	g->classes = (struct vt_classes){g->block_class, g->edge_class, nblocks + g->cfg.nedges};
}

void graph_begin(struct graph *g)
{
	memset(g, 0, sizeof(*g));
	g->cfg.blocks = g->blocks;
	g->cfg.edges = g->edges;
	g->cfg.in = g->into;
	g->cfg.insns = g->insns;
	g->cfg.complete = true;
	g->flow = (struct vt_procflow){
		.cfg = &g->cfg, .costs = g->costs, .block = g->block, .classes = &g->classes};
	g->in = (struct vt_freq_input){
		.flow = &g->flow, .samples = g->samples, .cycles = g->cycles, .core = &g->core};
	g->w = (struct vti_freqwork){.in = &g->in,
				     .g = &g->cfg,
				     .period = 100,
				     .cycles = g->cycles,
				     .members = {g->first, g->members},
				     .classes = g->class_estimates,
				     .seen = g->seen,
				     .blocks = g->block_estimates,
				     .edges = g->edge_estimates,
				     .left = g->left};
}

void graph_begin_diamond(struct graph *g)
{
	uint32_t b;

	graph_begin(g);
	graph_edge(g, VT_CFG_ENTRY, 2);
	graph_edge(g, 2, 3);
	graph_edge(g, 2, 4);
	graph_edge(g, 3, 5);
	graph_edge(g, 4, 5);
	graph_edge(g, 5, VT_CFG_EXIT);
	for (b = 2; b < 6; b++)
		graph_insn(g, b, 1, 4, 400);
	graph_finish(g, 6);
}
