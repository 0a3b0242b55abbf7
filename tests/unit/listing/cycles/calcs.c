/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/listing/cycles/calcs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

void calc_init(struct calc *c)
{
	static char name[] = "walk", path[] = "/bin/prog";
	uint32_t b;

	memset(c, 0, sizeof(*c));
	c->image.path = path;
	c->is.proc = (struct vt_procedure){.name = name, .symbol = name};
	c->is.image = &c->image;
	c->is.cfg = &c->cfg;
	c->is.insns = c->insns;
	c->is.blocks = c->blocks;
	c->is.edges = c->edges;
	c->cfg = (struct vt_cfg){.start = 0x401000,
				 .end = 0x401080,
				 .blocks = c->cfg_blocks,
				 .edges = c->cfg_edges,
				 .nblocks = VT_CFG_FIRST,
				 .complete = true};
	for (b = 0; b < CALC_BLOCKS; b++)
		c->blocks[b].block = &c->cfg_blocks[b];
}

struct vt_calc_block *calc_block(struct calc *c, uint64_t start)
{
	uint32_t b = c->cfg.nblocks++;

	assert_true(b < CALC_BLOCKS);
	c->cfg_blocks[b].start = start;
	c->cfg_blocks[b].insn = c->cfg.ninsns;
	c->blocks[b].insns = c->insns + c->cfg.ninsns;
	return &c->blocks[b];
}

struct vt_calc_insn *calc_insn(struct calc *c, uint64_t address, const char *text,
			       const struct vt_freq *freq)
{
	struct vt_calc_insn *insn = &c->insns[c->cfg.ninsns++];

	assert_true(c->cfg.ninsns <= CALC_INSNS);
	c->cfg_blocks[c->cfg.nblocks - 1].ninsns++;
	*insn = (struct vt_calc_insn){
		.address = address, .text = text, .size = strlen(text), .file = "", .freq = freq};
	return insn;
}

void calc_edge(struct calc *c, uint32_t from, uint32_t to, const struct vt_edgefreq *freq)
{
	uint32_t e = c->cfg.nedges++;

	assert_true(e < CALC_EDGES);
	c->cfg_edges[e] = (struct vt_cfg_edge){.from = from, .to = to};
	c->edges[e] = (struct vt_calc_edge){.edge = &c->cfg_edges[e], .freq = freq};
	if (!c->cfg_blocks[from].nout++)
		c->cfg_blocks[from].out = e;
	c->cfg_blocks[to].nin++;
}
