/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flow/cfg.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "flow/internal.h"
#include "machine/insn/insn.h"

/* A graph being made. */
struct build {
	struct vti_walk w;
	struct vt_cfg *g;
	uint32_t *sorted; /* nodes of w by offset */
	uint32_t *block;  /* by offset: the block that starts there; 0: none */
	size_t edges_cap;
};

static int no_memory(struct vt_error *err)
{
	return vt_error_set(err, VT_E_NOMEM, "out of memory for a control-flow graph");
}

static const struct vti_node *node_at(const struct build *b, uint32_t i)
{
	return &b->w.nodes[b->sorted[i]];
}

static uint32_t end_of(const struct vti_node *n)
{
	return n->offset + n->length;
}

/* ---- instructions and blocks ---- */

static bool ends_block(const struct vti_node *n)
{
	return n->next != VTI_NEXT_FALL;
}

static void sort_nodes(struct build *b)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < b->w.src->size; i++)
		if (b->w.at[i])
			b->sorted[n++] = b->w.at[i] - 1;
}

/*
 * Where instructions overlap (a jump over a prefix, say), the one that is not followed by the next
 * in order leads to a block of its own.  The next in order is one anyway: what comes before it is
 * a jump, or such an instruction.
 */
static void mark_overlaps(struct build *b)
{
	uint32_t i;

	for (i = 0; i + 1 < b->w.nnodes; i++)
		if (end_of(node_at(b, i)) > node_at(b, i + 1)->offset)
			b->w.mark[end_of(node_at(b, i))] |= VTI_LEADER;
}

static bool starts_block(const struct build *b, uint32_t i)
{
	const struct vti_node *n = node_at(b, i), *before;

	if (!i || (b->w.mark[n->offset] & VTI_LEADER))
		return true;
	before = node_at(b, i - 1);
	return ends_block(before) || end_of(before) != n->offset;
}

static int make_blocks(struct build *b, struct vt_error *err)
{
	struct vt_cfg *g = b->g;
	uint32_t i, n = VT_CFG_FIRST;
	struct vt_cfg_block *block = NULL;

	for (i = 0; i < b->w.nnodes; i++)
		n += starts_block(b, i);
	g->blocks = calloc(n, sizeof(*g->blocks));
	g->insns = calloc(b->w.nnodes + 1, sizeof(*g->insns));
	if (!g->blocks || !g->insns)
		return no_memory(err);
	g->nblocks = VT_CFG_FIRST;
	for (i = 0; i < b->w.nnodes; i++) {
		const struct vti_node *node = node_at(b, i);

		if (starts_block(b, i)) {
			b->block[node->offset] = g->nblocks;
			block = &g->blocks[g->nblocks++];
			block->start = g->start + node->offset;
			block->insn = i;
		}
		block->end = g->start + end_of(node);
		block->ninsns++;
		g->insns[i] = (struct vt_cfg_insn){g->start + node->offset, node->flags,
						   node->next == VTI_NEXT_BAD ? 1 : node->length};
	}
	g->ninsns = (uint32_t)b->w.nnodes;
	return 0;
}

/* ---- edges ---- */

static bool add_edge(struct build *b, uint32_t from, uint32_t to, enum vt_cfg_edge_kind kind)
{
	struct vt_cfg *g = b->g;

	if (!vt_array_grow(&g->edges, &b->edges_cap, g->nedges + 1, sizeof(*g->edges)))
		return false;
	g->edges[g->nedges++] = (struct vt_cfg_edge){from, to, kind};
	return true;
}

/* To an offset of the procedure or out of it. */
static bool add_edge_to(struct build *b, uint32_t from, int64_t offset, enum vt_cfg_edge_kind kind)
{
	uint32_t to = 0;

	if (offset >= 0 && (uint64_t)offset < b->w.src->size)
		to = b->block[offset];
	if (!to)
		return add_edge(b, from, VT_CFG_EXIT, VT_EDGE_EXIT);
	return add_edge(b, from, to, kind);
}

static bool add_switch(struct build *b, uint32_t from, const struct vti_node *n)
{
	const struct vti_walk *w = &b->w;
	size_t i;

	b->g->blocks[from].incomplete = n->unknown;
	for (i = vti_jumps_at(w, w->njumps, n->offset);
	     i < w->njumps && w->jumps[i].from == n->offset; i++)
		if (!add_edge_to(b, from, w->jumps[i].to, VT_EDGE_SWITCH))
			return false;
	return !n->leaves || add_edge(b, from, VT_CFG_EXIT, VT_EDGE_EXIT);
}

static bool add_out(struct build *b, uint32_t from)
{
	const struct vt_cfg_block *block = &b->g->blocks[from];
	const struct vti_node *n = node_at(b, block->insn + block->ninsns - 1);

	switch ((enum vti_next)n->next) {
	case VTI_NEXT_FALL:
		return add_edge_to(b, from, end_of(n), VT_EDGE_FALL);
	case VTI_NEXT_CONDITIONAL:
		return add_edge_to(b, from, end_of(n), VT_EDGE_FALL) &&
		       add_edge_to(b, from, n->target, VT_EDGE_TAKEN);
	case VTI_NEXT_JUMP:
		return add_edge_to(b, from, n->target, VT_EDGE_TAKEN);
	case VTI_NEXT_INDIRECT:
		return add_switch(b, from, n);
	default:
		return add_edge(b, from, VT_CFG_EXIT, VT_EDGE_EXIT);
	}
}

static int make_edges(struct build *b, struct vt_error *err)
{
	uint32_t i;

	for (i = VT_CFG_FIRST; i < b->g->nblocks; i++)
		if ((b->w.mark[b->g->blocks[i].start - b->g->start] & VTI_ENTRY) &&
		    !add_edge(b, VT_CFG_ENTRY, i, VT_EDGE_ENTRY))
			return no_memory(err);
	for (i = VT_CFG_FIRST; i < b->g->nblocks; i++)
		if (!add_out(b, i))
			return no_memory(err);
	return 0;
}

/* Edges are there, sorted by `from`. */
static int index_edges(struct vt_cfg *g, struct vt_error *err)
{
	uint32_t i, at = 0;

	g->in = calloc(g->nedges + 1, sizeof(*g->in));
	if (!g->in)
		return no_memory(err);
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

static int make(struct build *b, struct vt_error *err)
{
	uint32_t i;
	int rc = vti_walk_all(&b->w, err);

	if (rc < 0)
		return rc;
	b->sorted = calloc(b->w.nnodes + 1, sizeof(*b->sorted));
	b->block = calloc(b->w.src->size + 1, sizeof(*b->block));
	if (!b->sorted || !b->block)
		return no_memory(err);
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
	struct build b = {.w = {.src = src}, .g = calloc(1, sizeof(*b.g))};
	int rc;

	if (!b.g) {
		no_memory(err);
		return NULL;
	}
	b.g->start = src->start;
	b.g->end = src->start + src->size;
	rc = make(&b, err);
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

struct vt_cfg *vt_cfg_of_image(struct vt_images *images, uint32_t image, uint64_t start,
			       uint64_t end, struct vt_error *err)
{
	struct vt_cfg_source src = {.start = start, .images = images, .image = image};
	enum vt_unknown why;
	const struct vt_elf *e = vt_images_elf(images, image, &why);

	if (!e) {
		vt_error_set(err, VT_E_NOTFOUND, "no code: %s", vt_unknown_text(why));
		return NULL;
	}
	if (vt_elf_info(e)->machine != VT_MACHINE_X86_64) {
		vt_error_set(err, VT_E_NOTFOUND, "no code for x86-64");
		return NULL;
	}
	src.code = vt_elf_bytes(e, start, &src.size);
	if (!src.code || end <= start) {
		vt_error_set(err, VT_E_NOTFOUND, "no code at 0x%llx", (unsigned long long)start);
		return NULL;
	}
	if (src.size > end - start)
		src.size = (size_t)(end - start);
	return vt_cfg_new(&src, err);
}

uint32_t vt_cfg_block_at(const struct vt_cfg *g, uint64_t addr)
{
	uint32_t low = VT_CFG_FIRST, high = g->nblocks;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (g->blocks[middle].start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == VT_CFG_FIRST || addr >= g->blocks[low - 1].end)
		return 0;
	return low - 1;
}

uint32_t vt_cfg_insn_at(const struct vt_cfg *g, uint64_t addr)
{
	uint32_t low = 0, high = g->ninsns;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (g->insns[middle].addr < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < g->ninsns && g->insns[low].addr == addr ? low : UINT32_MAX;
}
