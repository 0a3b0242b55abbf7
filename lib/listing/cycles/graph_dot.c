/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "listing/cycles/graph_internal.h"

/* A quoted string of the DOT language, in which a backslash begins an escape. */
static void put_quoted(struct vt_output *out, const uint8_t *text, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		if (text[i] == '"' || text[i] == '\\')
			vt_output_put(out, "\\", 1);
		vt_output_put(out, &text[i], 1);
	}
}

static void put_node(const struct vti_graph *g, uint32_t number, struct vt_output *out)
{
	const struct vti_graph_node *n = &g->nodes[number];
	const struct vt_calc_block *b = &g->calc->blocks[n->block];
	char color[8];
	size_t i;

	vti_graph_color(n->share, color);
	vt_output_printf(out, "\tn%u [label=\"", n->block);
	for (i = 0; i < n->nlines; i++) {
		put_quoted(out, n->text.data + n->lines[i].start, n->lines[i].size);
		vt_output_text(out, n->nlines > 1 ? "\\l" : "");
	}
	vt_output_printf(out, "\", fillcolor=\"%s\", fontsize=%.1f", color, 8 + 6 * n->frequency);
	if (n->block < VT_CFG_FIRST)
		vt_output_text(out, ", shape=oval");
	else if (b->block->incomplete)
		vt_output_text(out, ", style=\"filled,dashed\"");
	vt_output_text(out, "];\n");
}

static void put_edge(const struct vti_graph *g, const struct vti_graph_edge *e,
		     struct vt_output *out)
{
	char count[16];

	vt_output_printf(out, "\tn%u -> n%u [penwidth=%.1f", g->nodes[e->from].block,
			 g->nodes[e->to].block, 1 + 4 * e->frequency);
	if (e->executions >= 0) {
		vti_graph_number(e->executions, count);
		vt_output_printf(out, ", label=\"%s\"", count);
	}
	vt_output_printf(out, "%s];\n", e->sure ? "" : ", style=dashed");
}

int vt_calc_dot(const struct vt_calc *c, double cutoff, struct vt_output *out, struct vt_error *err)
{
	struct vti_graph g;
	uint32_t i;
	bool ok = vti_graph_init(&g, c, cutoff);

	if (ok) {
		vt_output_text(out, "digraph \"");
		put_quoted(out, g.title.data, g.title.size);
		vt_output_text(out, "\" {\n\tlabel=\"");
		put_quoted(out, g.title.data, g.title.size);
		vt_output_text(out, "\";\n\tlabelloc=t;\n"
				    "\tnode [shape=box, style=filled, fontname=monospace];\n"
				    "\tedge [fontname=monospace, fontsize=9];\n");
		for (i = 0; i < g.nnodes; i++)
			put_node(&g, i, out);
		for (i = 0; i < g.nedges; i++)
			put_edge(&g, &g.edges[i], out);
		vt_output_text(out, "}\n");
	}
	vti_graph_fini(&g);
	return ok ? 0 : vt_error_nomem(err);
}
