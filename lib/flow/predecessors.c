/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flow/predecessors.h"

#include <stdlib.h>

enum { WHITE, OPEN, DONE };

struct visit_order {
	const struct vt_cfg *g;
	uint8_t *color; /* by block */
	uint32_t *next; /* by block: number of out edges visited */
	uint32_t *stack;
	/* By block: its most likely incoming edge; 0, an edge of the entry: none. */
	uint32_t *before;
	uint8_t *preferred; /* how good that one is */
};

/* Loops continue more often than they begin; compilers let likely branches fall through. */
static uint8_t likelihood(const struct visit_order *o, const struct vt_cfg_edge *e)
{
	if (e->from < VT_CFG_FIRST)
		return 0;
	if (o->color[e->to] == OPEN)
		return 3;
	return e->kind == VT_EDGE_FALL ? 2 : 1;
}

static void rate_predecessor(struct visit_order *o, uint32_t edge)
{
	const struct vt_cfg_edge *e = &o->g->edges[edge];
	uint8_t how = likelihood(o, e);

	if (how > o->preferred[e->to]) {
		o->preferred[e->to] = how;
		o->before[e->to] = edge;
	}
}

/*
 * Visits blocks depth first, so that edges to an open block close loops.  The entry has edges to
 * all blocks without other predecessors.
 */
static void visit_blocks(struct visit_order *o)
{
	uint32_t depth = 0;

	o->stack[depth++] = VT_CFG_ENTRY;
	while (depth) {
		uint32_t b = o->stack[depth - 1];
		const struct vt_cfg_block *block = &o->g->blocks[b];
		uint32_t to;

		if (o->next[b] == block->nout) {
			o->color[b] = DONE;
			depth--;
			continue;
		}
		rate_predecessor(o, block->out + o->next[b]);
		to = o->g->edges[block->out + o->next[b]++].to;
		if (o->color[to] == WHITE) {
			o->color[to] = OPEN;
			o->stack[depth++] = to;
		}
	}
}

uint32_t *vt_predecessors_new(const struct vt_cfg *g, struct vt_error *err)
{
	uint32_t n = g->nblocks;
	struct visit_order o = {
		.g = g,
		.color = calloc(n, 1),
		.next = calloc(n, sizeof(uint32_t)),
		.stack = calloc(n, sizeof(uint32_t)),
		.before = calloc(n, sizeof(uint32_t)),
		.preferred = calloc(n, 1),
	};
	bool ok = o.color && o.next && o.stack && o.before && o.preferred;

	if (ok)
		visit_blocks(&o);
	free(o.color);
	free(o.next);
	free(o.stack);
	free(o.preferred);
	if (ok)
		return o.before;
	free(o.before);
	vt_error_nomem(err);
	return NULL;
}
