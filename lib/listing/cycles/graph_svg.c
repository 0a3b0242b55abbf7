/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "culprit/cause.h"
#include "flow/layout.h"
#include "listing/cycles/graph_internal.h"

/* Pixels; a letter of a monospaced font is 0.6 of its height wide, or somewhat more. */
#define MARGIN	    32
#define GAP	    36
#define PADDING	    6
#define HEAD	    64	/* the lines above the graph */
#define LEAST_WIDTH 640 /* so that these are read */
#define LETTER	    0.62
#define LINE	    1.25
#define LEAST	    8 /* size of the letters of what is hardly executed */
#define MORE	    6 /* of what is executed most often: so much larger */
#define LOOP_ROOM   30

static void put_xml(struct vt_output *out, const uint8_t *text, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		const char *entity = text[i] == '<'   ? "&lt;"
				     : text[i] == '>' ? "&gt;"
				     : text[i] == '&' ? "&amp;"
				     : text[i] == '"' ? "&quot;"
						      : NULL;

		if (entity)
			vt_output_text(out, entity);
		else
			vt_output_put(out, &text[i], 1);
	}
}

static double letters(const struct vti_graph_node *n)
{
	return LEAST + MORE * n->frequency;
}

static void measure(const struct vti_graph_node *n, struct vt_layout_node *box)
{
	double width = 0;
	size_t i;

	for (i = 0; i < n->nlines; i++) {
		double w = (double)vt_text_width((const char *)n->text.data + n->lines[i].start,
						 n->lines[i].size);

		width = w > width ? w : width;
	}
	box->width = width * LETTER * letters(n) + 2 * PADDING;
	box->height = (double)n->nlines * LINE * letters(n) + 2 * PADDING;
}

/* ---- nodes ---- */

/* What a pointer over the block is told: each stall with its cause in words. */
static void put_tip(const struct vt_calc *c, const struct vt_calc_block *b, struct vt_output *out)
{
	uint32_t i;
	size_t k;

	vt_output_text(out, "<title>");
	for (i = 0; i < b->block->ninsns; i++) {
		const struct vt_calc_insn *insn = &b->insns[i];

		for (k = 0; k < insn->nstalls && c->sum.cycles > 0; k++) {
			const struct vt_stall *s = &insn->stalls[k];

			vt_output_printf(out, "%llx: %s, %.1f%% to %.1f%% of all cycles\n",
					 (unsigned long long)insn->address, vt_stall_text(s->cause),
					 100 * s->low / c->sum.cycles,
					 isfinite(s->high) ? 100 * s->high / c->sum.cycles : 100);
		}
	}
	vt_output_text(out, "</title>");
}

static void put_lines(const struct vti_graph_node *n, const struct vt_layout_node *box,
		      struct vt_output *out)
{
	double size = letters(n), y = box->y + PADDING;
	char color[8];
	size_t i;

	for (i = 0; i < n->nlines; i++, y += LINE * size) {
		const struct vti_graph_line *line = &n->lines[i];

		if (line->share >= 0.5 && line->share > n->share / 4) {
			vti_graph_color(line->share, color);
			vt_output_printf(out,
					 "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
					 "height=\"%.1f\" fill=\"%s\"/>",
					 box->x + 1, y, box->width - 2, LINE * size, color);
		}
		vt_output_printf(out,
				 "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\"%s "
				 "xml:space=\"preserve\">",
				 box->x + PADDING, y + 0.95 * size, size,
				 i == 0 ? " font-weight=\"bold\"" : "");
		put_xml(out, n->text.data + line->start, line->size);
		vt_output_text(out, "</text>\n");
	}
}

static void put_node(const struct vti_graph *g, const struct vti_graph_node *n,
		     const struct vt_layout_node *box, struct vt_output *out)
{
	const struct vt_calc_block *b = &g->calc->blocks[n->block];
	char color[8];

	vti_graph_color(n->share / 4, color);
	vt_output_text(out, "<g class=\"block\">");
	if (n->block >= VT_CFG_FIRST)
		put_tip(g->calc, b, out);
	vt_output_printf(
		out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%d\" "
		"fill=\"%s\" stroke=\"#444\"%s/>\n",
		box->x, box->y, box->width, box->height, n->block < VT_CFG_FIRST ? 10 : 2, color,
		n->block >= VT_CFG_FIRST && b->block->incomplete ? " stroke-dasharray=\"6 3\""
								 : "");
	put_lines(n, box, out);
	vt_output_text(out, "</g>\n");
}

/* ---- edges ---- */

static void put_path(const struct vt_layout *l, const struct vt_layout_edge *e,
		     struct vt_output *out)
{
	const struct vt_layout_point *p = l->points + e->first;
	size_t i;

	vt_output_printf(out, "M%.1f %.1f", p[0].x, p[0].y);
	if (e->from == e->to) {
		vt_output_printf(out, "C%.1f %.1f %.1f %.1f %.1f %.1f", p[0].x + LOOP_ROOM, p[0].y,
				 p[1].x + LOOP_ROOM, p[1].y, p[1].x, p[1].y);
		return;
	}
	for (i = 1; i < e->npoints; i++) {
		double half = (p[i].y - p[i - 1].y) / 2;

		if (i % 2)
			vt_output_printf(out, "C%.1f %.1f %.1f %.1f %.1f %.1f", p[i - 1].x,
					 p[i - 1].y + half, p[i].x, p[i].y - half, p[i].x, p[i].y);
		else
			vt_output_printf(out, "L%.1f %.1f", p[i].x, p[i].y);
	}
}

static void put_edge(const struct vti_graph_edge *e, const struct vt_layout *l,
		     const struct vt_layout_edge *route, struct vt_output *out)
{
	const struct vt_layout_point *p = l->points + route->first;
	bool self = route->from == route->to;
	double x = p[0].x + (self ? LOOP_ROOM * 0.75 : 0) + 4;
	double y = self ? (p[0].y + p[1].y) / 2 : p[0].y + (p[1].y < p[0].y ? -8 : 14);
	bool known = e->executions >= 0;
	char count[16];

	vt_output_text(out, "<path d=\"");
	put_path(l, route, out);
	vt_output_printf(out, "\" stroke=\"%s\" stroke-width=\"%.1f\"%s marker-end=\"url(#a)\"/>\n",
			 known ? "#235" : "#999", 0.8 + 3.2 * e->frequency,
			 e->sure ? "" : " stroke-dasharray=\"4 3\"");
	if (!known)
		return;
	vti_graph_number(e->executions, count);
	vt_output_printf(out,
			 "<text x=\"%.1f\" y=\"%.1f\" font-size=\"8\" fill=\"#235\" "
			 "stroke=\"none\">%s</text>\n",
			 x, y, count);
}

/* ---- the whole ---- */

static void put_head(const struct vti_graph *g, const struct vt_layout *l, struct vt_output *out)
{
	const struct vt_cyclesum *s = &g->calc->sum;
	double width = (l->width > LEAST_WIDTH ? l->width : LEAST_WIDTH) + 2 * MARGIN;
	double height = l->height + HEAD + 2 * MARGIN;

	vt_output_printf(out,
			 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
			 "viewBox=\"0 0 %.0f %.0f\" font-family=\"monospace\">\n"
			 "<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
			 "markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" "
			 "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#235\"/></marker>"
			 "</defs>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
			 width, height, width, height);
	vt_output_printf(out,
			 "<text x=\"%d\" y=\"24\" font-size=\"14\" font-weight=\"bold\" "
			 "xml:space=\"preserve\">",
			 MARGIN);
	put_xml(out, g->title.data, g->title.size);
	vt_output_text(out, "</text>\n");
	if (s->executions <= 0)
		return;
	vt_output_printf(out,
			 "<text x=\"%d\" y=\"42\" font-size=\"11\">samples: high %.1f%%, medium "
			 "%.1f%%, low %.1f%%, no estimate %.1f%%; CPI %.2f",
			 MARGIN,
			 vt_cyclesum_share(s, VT_CONFIDENCE_HIGH) +
				 vt_cyclesum_share(s, VT_CONFIDENCE_EXACT),
			 vt_cyclesum_share(s, VT_CONFIDENCE_MEDIUM),
			 vt_cyclesum_share(s, VT_CONFIDENCE_LOW),
			 vt_cyclesum_share(s, VT_CONFIDENCE_NONE), s->cycles / s->executions);
	if (s->schedule)
		vt_output_printf(out, ", at best %.2f", s->best / s->executions);
	vt_output_text(out, "</text>\n");
}

static void open_small(struct vt_output *out, int y)
{
	vt_output_printf(out, "<text x=\"%d\" y=\"%d\" font-size=\"9\" fill=\"#555\">", MARGIN, y);
}

/* What letters beside instructions, and the shape of lines, mean. */
static void put_legend(const struct vti_graph *g, struct vt_output *out)
{
	bool seen[VT_NSTALLS] = {false};
	bool first = true;
	uint32_t i;
	size_t k;

	for (i = 0; i < g->calc->cfg->ninsns; i++)
		for (k = 0; k < g->calc->insns[i].nstalls; k++)
			if ((unsigned)g->calc->insns[i].stalls[k].cause < VT_NSTALLS)
				seen[g->calc->insns[i].stalls[k].cause] = true;
	open_small(out, 58);
	vt_output_text(out, "letters: the larger, the more executions; shade: cycles; lines: "
			    "executions, dashed: of low confidence or unknown</text>\n");
	for (i = 0; i < VT_NSTALLS; i++) {
		if (!seen[i] || i == VT_STALL_GAIN)
			continue;
		if (first)
			open_small(out, 72);
		vt_output_printf(out, "%s%c %s", first ? "" : "; ", vt_stall_letter(i),
				 vt_stall_text(i));
		first = false;
	}
	if (!first)
		vt_output_text(out, "</text>\n");
}

static void draw(const struct vti_graph *g, const struct vt_layout *l, struct vt_output *out)
{
	uint32_t i;

	put_head(g, l, out);
	put_legend(g, out);
	vt_output_printf(out, "<g transform=\"translate(%d %d)\">\n<g fill=\"none\">\n", MARGIN,
			 MARGIN + HEAD);
	for (i = 0; i < g->nedges; i++)
		put_edge(&g->edges[i], l, &l->edges[i], out);
	vt_output_text(out, "</g>\n");
	for (i = 0; i < g->nnodes; i++)
		put_node(g, &g->nodes[i], &l->nodes[i], out);
	vt_output_text(out, "</g>\n</svg>\n");
}

int vt_calc_svg(const struct vt_calc *c, double cutoff, struct vt_output *out, struct vt_error *err)
{
	struct vt_layout l = {.gap = GAP};
	struct vti_graph g;
	bool ok = vti_graph_init(&g, c, cutoff);
	uint32_t i;
	int rc;

	l.nodes = ok ? calloc((size_t)g.nnodes + 1, sizeof(*l.nodes)) : NULL;
	l.edges = ok ? calloc((size_t)g.nedges + 1, sizeof(*l.edges)) : NULL;
	ok = l.nodes && l.edges;
	rc = ok ? 0 : vt_error_nomem(err);
	for (i = 0; ok && i < g.nnodes; i++)
		measure(&g.nodes[i], &l.nodes[i]);
	for (i = 0; ok && i < g.nedges; i++)
		l.edges[i] = (struct vt_layout_edge){.from = g.edges[i].from, .to = g.edges[i].to};
	l.nnodes = g.nnodes;
	l.nedges = g.nedges;
	rc = rc < 0 ? rc : vt_layout_place(&l, err);
	if (rc == 0)
		draw(&g, &l, out);
	vt_layout_fini(&l);
	free(l.nodes);
	free(l.edges);
	vti_graph_fini(&g);
	return rc;
}
