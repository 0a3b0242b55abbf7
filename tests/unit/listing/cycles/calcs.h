/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_LISTING_CYCLES_CALCS_H
#define TESTS_UNIT_LISTING_CYCLES_CALCS_H

#include "base/output.h"
#include "listing/cycles/calc.h"

#define CALC_BLOCKS 8
#define CALC_INSNS  64
#define CALC_EDGES  16

/* A procedure "walk" of /bin/prog, told block by block, for what is printed of it. */
struct calc {
	struct vt_calc is;
	struct vt_image image;
	struct vt_cfg cfg;
	struct vt_cfg_block cfg_blocks[CALC_BLOCKS];
	struct vt_cfg_edge cfg_edges[CALC_EDGES];
	struct vt_calc_insn insns[CALC_INSNS];
	struct vt_calc_block blocks[CALC_BLOCKS];
	struct vt_calc_edge edges[CALC_EDGES];
};

void calc_init(struct calc *c);

/* Begins a block, which has the instructions told from now on. */
struct vt_calc_block *calc_block(struct calc *c, uint64_t start);
struct vt_calc_insn *calc_insn(struct calc *c, uint64_t address, const char *text,
			       const struct vt_freq *freq);

/* Those from one block come together. */
void calc_edge(struct calc *c, uint32_t from, uint32_t to, const struct vt_edgefreq *freq);

#endif
