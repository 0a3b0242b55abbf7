/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flow/cfg.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "flow/internal.h"
#include "machine/insn/insn.h"

/* A graph under construction. */
struct cfg_build {
	struct vti_walk w;
	struct vt_cfg *g;
	uint32_t *sorted; /* numbers of nodes of w, sorted by offset */
	uint32_t *block;  /* by offset: the block that starts there; 0: none */
	size_t edges_cap;
};

int vti_cfg_nomem(struct vt_error *err)
{
	return vt_error_set(err, VT_E_NOMEM, "out of memory for a control-flow graph");
}

static const struct vti_node *get_sorted_node(const struct cfg_build *b, uint32_t i)
{
	return &b->w.nodes[b->sorted[i]];
}

static uint32_t node_end(const struct vti_node *n)
{
	return n->offset + n->length;
}

/* ---- instructions and blocks ---- */

static bool is_block_end(const struct vti_node *n)
{
	return n->next != VTI_NEXT_FALL;
}

static void sort_nodes(struct cfg_build *b)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < b->w.src->size; i++)
		if (b->w.at[i])
			b->sorted[n++] = b->w.at[i] - 1;
}

/*
 * Where instructions overlap (a jump over a prefix, for example), the successor of the earlier one
 * starts a block.  The later one starts a block anyway, because control does not fall through to
 * it.
 */
static void mark_overlaps(struct cfg_build *b)
{
	uint32_t i;

	for (i = 0; i + 1 < b->w.nnodes; i++)
		if (node_end(get_sorted_node(b, i)) > get_sorted_node(b, i + 1)->offset)
			b->w.mark[node_end(get_sorted_node(b, i))] |= VTI_LEADER;
}

static bool is_block_start(const struct cfg_build *b, uint32_t i)
{
	const struct vti_node *n = get_sorted_node(b, i), *before;

	if (!i || (b->w.mark[n->offset] & VTI_LEADER))
		return true;
	before = get_sorted_node(b, i - 1);
	return is_block_end(before) || node_end(before) != n->offset;
}

static int make_blocks(struct cfg_build *b, struct vt_error *err)
{
	struct vt_cfg *g = b->g;
	uint32_t i, n = VT_CFG_FIRST;
	struct vt_cfg_block *block = NULL;

	for (i = 0; i < b->w.nnodes; i++)
		n += is_block_start(b, i);
	g->blocks = calloc(n, sizeof(*g->blocks));
	g->insns = calloc(b->w.nnodes + 1, sizeof(*g->insns));
	if (!g->blocks || !g->insns)
		return vti_cfg_nomem(err);
	g->nblocks = VT_CFG_FIRST;
	for (i = 0; i < b->w.nnodes; i++) {
		const struct vti_node *node = get_sorted_node(b, i);

		if (is_block_start(b, i)) {
			b->block[node->offset] = g->nblocks;
			block = &g->blocks[g->nblocks++];
			block->start = g->start + node->offset;
			block->insn = i;
		}
		block->end = g->start + node_end(node);
		block->ninsns++;
		g->insns[i] = (struct vt_cfg_insn){g->start + node->offset, node->flags,
						   node->next == VTI_NEXT_BAD ? 1 : node->length};
	}
	g->ninsns = (uint32_t)b->w.nnodes;
	return 0;
}

/* ---- edges ---- */

static bool append_cfg_edge(struct cfg_build *b, uint32_t from, uint32_t to,
			    enum vt_cfg_edge_kind kind)
{
	struct vt_cfg *g = b->g;

	if (!vt_array_grow(&g->edges, &b->edges_cap, g->nedges + 1, sizeof(*g->edges)))
		return false;
	g->edges[g->nedges++] = (struct vt_cfg_edge){from, to, kind};
	return true;
}

/* Appends an edge to an offset, or to EXIT if that is outside the procedure. */
static bool append_edge_to_offset(struct cfg_build *b, uint32_t from, int64_t offset,
				  enum vt_cfg_edge_kind kind)
{
	uint32_t to = 0;

	if (offset >= 0 && (uint64_t)offset < b->w.src->size)
		to = b->block[offset];
	if (!to)
		return append_cfg_edge(b, from, VT_CFG_EXIT, VT_EDGE_EXIT);
	return append_cfg_edge(b, from, to, kind);
}

static bool append_switch_edges(struct cfg_build *b, uint32_t from, const struct vti_node *n)
{
	const struct vti_walk *w = &b->w;
	size_t i;

	b->g->blocks[from].incomplete = n->unknown;
	for (i = vti_jumps_at(w, w->njumps, n->offset);
	     i < w->njumps && w->jumps[i].from == n->offset; i++)
		if (!append_edge_to_offset(b, from, w->jumps[i].to, VT_EDGE_SWITCH))
			return false;
	return !n->leaves || append_cfg_edge(b, from, VT_CFG_EXIT, VT_EDGE_EXIT);
}

static bool append_out_edges(struct cfg_build *b, uint32_t from)
{
	const struct vt_cfg_block *block = &b->g->blocks[from];
	const struct vti_node *n = get_sorted_node(b, block->insn + block->ninsns - 1);

	switch ((enum vti_next)n->next) {
	case VTI_NEXT_FALL:
		return append_edge_to_offset(b, from, node_end(n), VT_EDGE_FALL);
	case VTI_NEXT_CONDITIONAL:
		return append_edge_to_offset(b, from, node_end(n), VT_EDGE_FALL) &&
		       append_edge_to_offset(b, from, n->target, VT_EDGE_TAKEN);
	case VTI_NEXT_JUMP:
		return append_edge_to_offset(b, from, n->target, VT_EDGE_TAKEN);
	case VTI_NEXT_INDIRECT:
		return append_switch_edges(b, from, n);
	default:
		return append_cfg_edge(b, from, VT_CFG_EXIT, VT_EDGE_EXIT);
	}
}

static int make_edges(struct cfg_build *b, struct vt_error *err)
{
	uint32_t i;

	for (i = VT_CFG_FIRST; i < b->g->nblocks; i++)
		if ((b->w.mark[b->g->blocks[i].start - b->g->start] & VTI_ENTRY) &&
		    !append_cfg_edge(b, VT_CFG_ENTRY, i, VT_EDGE_ENTRY))
			return vti_cfg_nomem(err);
	for (i = VT_CFG_FIRST; i < b->g->nblocks; i++)
		if (!append_out_edges(b, i))
			return vti_cfg_nomem(err);
	return 0;
}

/* Sets the edges of blocks, from g->edges sorted by `from`. */
static int index_edges(struct vt_cfg *g, struct vt_error *err)
{
	uint32_t i, at = 0;

	g->in = calloc(g->nedges + 1, sizeof(*g->in));
	if (!g->in)
		return vti_cfg_nomem(err);
	for (i = 0; i < g->nedges; i++) {
		struct vt_cfg_block *from = &g->blocks[g->edges[i].from];

		if (!from->nout++)
			from->out = i;
		g->blocks[g->edges[i].to].nin++;
	}
	for (i = 0; i < g->nblocks; i++) {
		g->blocks[i].in = at;
		at += g->blocks[i].nin;
		g->blocks[i].nin = 0;
	}
	for (i = 0; i < g->nedges; i++) {
		struct vt_cfg_block *to = &g->blocks[g->edges[i].to];

		g->in[to->in + to->nin++] = i;
	}
	return 0;
}

/* ---- graphs ---- */

static int build_graph(struct cfg_build *b, struct vt_error *err)
{
	uint32_t i;
	int rc = vti_walk_all(&b->w, err);

	if (rc < 0)
		return rc;
	b->sorted = calloc(b->w.nnodes + 1, sizeof(*b->sorted));
	b->block = calloc(b->w.src->size + 1, sizeof(*b->block));
	if (!b->sorted || !b->block)
		return vti_cfg_nomem(err);
	sort_nodes(b);
	mark_overlaps(b);
	rc = make_blocks(b, err);
	if (rc == 0)
		rc = make_edges(b, err);
	if (rc == 0)
		rc = index_edges(b->g, err);
	b->g->complete = !b->w.bad;
	for (i = VT_CFG_FIRST; i < b->g->nblocks; i++)
		b->g->complete &= !b->g->blocks[i].incomplete;
	return rc;
}

struct vt_cfg *vt_cfg_new(const struct vt_cfg_source *src, struct vt_error *err)
{
	struct cfg_build b = {.w = {.src = src}, .g = calloc(1, sizeof(*b.g))};
	int rc;

	if (!b.g) {
		vti_cfg_nomem(err);
		return NULL;
	}
	b.g->start = src->start;
	b.g->end = src->start + src->size;
	rc = build_graph(&b, err);
	vti_walk_free(&b.w);
	free(b.sorted);
	free(b.block);
	if (rc < 0) {
		vt_cfg_free(b.g);
		return NULL;
	}
	return b.g;
}

void vt_cfg_free(struct vt_cfg *g)
{
	if (!g)
		return;
	free(g->blocks);
	free(g->edges);
	free(g->in);
	free(g->insns);
	free(g);
}

uint32_t vt_cfg_insn_at(const struct vt_cfg *g, uint64_t addr)
{
	size_t i = vt_array_below(g->insns, g->ninsns, sizeof(*g->insns), addr);

	return i < g->ninsns && g->insns[i].addr == addr ? (uint32_t)i : UINT32_MAX;
}
