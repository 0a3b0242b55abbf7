/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small graphs for tests of the steps that frequencies are found in. */
#ifndef TESTS_UNIT_FREQ_FREQGRAPH_H
#define TESTS_UNIT_FREQ_FREQGRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "freq/internal.h"

#define MAX_BLOCKS 8
#define MAX_EDGES  12
#define MAX_INSNS  24

/* A graph whose classes are those that the test says. */
struct graph {
	struct vti_freqwork w;
	struct vt_freq_input in;
	struct vt_core core;
	struct vt_procflow flow;
	struct vt_cfg cfg;
	struct vt_cfg_block blocks[MAX_BLOCKS];
	struct vt_cfg_edge edges[MAX_EDGES];
	uint32_t into[MAX_EDGES];
	struct vt_cfg_insn insns[MAX_INSNS];
	struct vt_schedule_cost costs[MAX_INSNS];
	uint32_t block[MAX_INSNS];
	uint64_t samples[MAX_INSNS];
	double cycles[MAX_INSNS];
	struct vt_classes classes;
	uint32_t block_class[MAX_BLOCKS];
	uint32_t edge_class[MAX_EDGES];
	uint32_t first[MAX_BLOCKS + MAX_EDGES + 2];
	uint32_t members[MAX_INSNS];
	struct vti_estimate class_estimates[MAX_BLOCKS + MAX_EDGES];
	struct vti_freq_seen *seen[MAX_BLOCKS + MAX_EDGES];
	struct vti_estimate block_estimates[MAX_BLOCKS];
	struct vti_estimate edge_estimates[MAX_EDGES];
	double left[MAX_BLOCKS];
};

bool nearly_equal(double a, double b);
void graph_insn(struct graph *g, uint32_t block, float head, uint64_t samples, double cycles);
/* In order of `from`. */
void graph_edge(struct graph *g, uint32_t from, uint32_t to);
/* Each block and each edge is a class of its own: blocks first. */
void graph_finish(struct graph *g, uint32_t nblocks);
void graph_begin(struct graph *g);
/* entry -> 2; 2 -> 3 or 4; both -> 5 -> exit. */
void graph_begin_diamond(struct graph *g);

#endif
