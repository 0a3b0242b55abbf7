/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/cycles/graph.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/table.h"
#include "base/width.h"
#include "culprit/cause.h"
#include "listing/layout.h"

/* Longer blocks are shown without lines in the middle that take no time. */
#define MAX_LINES 40

/* Longer instructions are cut. */
#define MAX_CODE 60

/* Sizes in the SVG, in pixels.  A monospaced letter is at least 0.6 of its height wide. */
#define MARGIN	    32
#define GAP	    36
#define PADDING	    6
#define HEAD	    64	/* height of the lines above the graph */
#define LEAST_WIDTH 640 /* room for these lines */
#define LETTER	    0.62
#define LINE	    1.25
#define LEAST	    8 /* size of letters in rarely executed blocks */
#define MORE	    6 /* added in the most frequently executed block */
#define LOOP_ROOM   30

#define NO_NODE UINT32_MAX

/* One line of a block's text. */
struct graph_line {
	size_t start; /* in graph_node.text */
	size_t size;
	double share; /* percent of the procedure's cycles */
};

struct graph_node {
	uint32_t block;
	struct vt_buf text; /* lines, escaped as for a terminal, without ends */
	struct graph_line *lines;
	size_t nlines;
	size_t lines_cap;
	double share;	  /* percent of the procedure's cycles */
	double frequency; /* 0 to 1: how often it is executed, on a logarithmic scale */
};

struct graph_edge {
	uint32_t from; /* nodes */
	uint32_t to;
	double executions; /* below 0: unknown */
	double frequency;  /* 0 to 1, on a logarithmic scale */
	bool sure;	   /* its confidence is above low */
};

struct graph {
	const struct vt_calc *calc;
	struct graph_node *nodes;
	uint32_t nnodes;
	struct graph_edge *edges;
	uint32_t nedges;
	struct vt_buf title; /* escaped */
};

void vti_graph_color(double share, char text[8])
{
	/* The square root tells small shares apart. */
	double heat = share > 0 ? sqrt(share < 100 ? share / 100 : 1) : 0;
	unsigned green = (unsigned)(255 - 150 * heat + 0.5);
	unsigned blue = (unsigned)(255 - 205 * heat + 0.5);

	snprintf(text, 8, "#ff%02x%02x", green & 255, blue & 255);
}

void vti_graph_count(double v, char text[16])
{
	static const char suffixes[] = "kMGTPE";
	size_t i = 0;

	if (!(v >= 10000) || v >= 1e21) {
		snprintf(text, 16, v < 10000 ? "%.0f" : "%.1e", v);
		return;
	}
	while (v >= 999950 && suffixes[i + 1]) {
		v /= 1000;
		i++;
	}
	snprintf(text, 16, "%.1f%c", v / 1000, suffixes[i]);
}

/* ---- text ---- */

static bool end_line(struct graph_node *n, size_t start, double share)
{
	if (n->text.failed ||
	    !vt_array_grow(&n->lines, &n->lines_cap, n->nlines + 1, sizeof(*n->lines)))
		return false;
	n->lines[n->nlines++] = (struct graph_line){start, n->text.size - start, share};
	return true;
}

static bool put_block_head(const struct vt_calc *c, const struct vt_calc_block *b,
			   struct graph_node *n)
{
	char count[16];
	size_t start = n->text.size;

	vt_buf_printf(&n->text, "%" PRIx64, b->block->start);
	if (b->freq) {
		vti_graph_count(b->freq->executions, count);
		vt_buf_printf(&n->text, "  x %s (%s)", count,
			      vt_confidence_name(b->freq->confidence));
	}
	if (!end_line(n, start, 0) || b->sum.executions <= 0)
		return !n->text.failed;
	start = n->text.size;
	if (vt_cyclesum_is_untimed(&b->sum))
		vt_buf_printf(&n->text, "%.1f%% of samples", vt_calc_block_share(c, b));
	else
		vt_buf_printf(&n->text, "%.1f%% of cycles, CPI %.2f", vt_calc_block_share(c, b),
			      b->sum.cycles / b->sum.executions);
	if (b->sum.schedule)
		vt_buf_printf(&n->text, ", best %.2f", b->sum.best / b->sum.executions);
	return end_line(n, start, 0);
}

static void put_letters(const struct vt_calc_insn *insn, struct vt_buf *out)
{
	bool shown[VT_NSTALLS] = {false};
	size_t i;

	for (i = 0; i < insn->nstalls; i++) {
		unsigned cause = insn->stalls[i].cause;

		if (cause >= VT_NSTALLS || cause == VT_STALL_GAIN || shown[cause] ||
		    insn->stalls[i].high <= 0)
			continue;
		shown[cause] = true;
		vt_buf_printf(out, "%c", vt_stall_letter(cause));
	}
}

static double insn_share(const struct vt_calc *c, const struct vt_calc_insn *insn)
{
	double cycles = insn->freq ? insn->freq->executions * insn->freq->cycles : 0;

	return isfinite(cycles) && c->sum.cycles > 0 ? 100 * cycles / c->sum.cycles : 0;
}

static bool put_insn_line(const struct vt_calc *c, const struct vt_calc_insn *insn,
			  struct graph_node *n)
{
	size_t size = insn->size < MAX_CODE ? insn->size : MAX_CODE;
	const struct vt_freq *f = insn->freq;
	size_t start = n->text.size, code;

	vt_buf_printf(&n->text, "%" PRIx64 " ", insn->address);
	code = n->text.size;
	vt_escape(&n->text, insn->text, size);
	if (f && f->executions > 0 && f->cycles >= 0.05) {
		int pad = 34 - (int)(n->text.size - code);

		vt_buf_printf(&n->text, "%*s %.1fcy ", pad > 0 ? pad : 0, "", f->cycles);
		put_letters(insn, &n->text);
	}
	return end_line(n, start, insn_share(c, insn));
}

static bool put_block_lines(const struct vt_calc *c, struct graph_node *n)
{
	const struct vt_calc_block *b = &c->blocks[n->block];
	uint32_t i, left_out = 0, many = b->block->ninsns;

	if (!put_block_head(c, b, n))
		return false;
	for (i = 0; i < many; i++) {
		bool end = i < MAX_LINES / 2 || i + 4 >= many;

		if (many > MAX_LINES && !end && insn_share(c, &b->insns[i]) < 1) {
			left_out++;
			continue;
		}
		if (left_out) {
			size_t start = n->text.size;

			vt_buf_printf(&n->text, "... %u more", left_out);
			if (!end_line(n, start, 0))
				return false;
			left_out = 0;
		}
		if (!put_insn_line(c, &b->insns[i], n))
			return false;
	}
	return true;
}

static bool put_node_text(const struct vt_calc *c, struct graph_node *n)
{
	size_t start = n->text.size;

	if (n->block >= VT_CFG_FIRST)
		return put_block_lines(c, n);
	vt_buf_printf(&n->text, "%s", n->block == VT_CFG_ENTRY ? "entry" : "exit");
	return end_line(n, start, 0);
}

/* ---- the graph ---- */

/* Maps counts to 0..1 on a logarithmic scale of three orders of magnitude. */
static double scale_count(double v, double most)
{
	double s = v > 0 && most > 0 ? 1 + log10(v / most) / 3 : 0;

	return s > 0 && isfinite(s) ? s : 0;
}

static double executions_of(const struct vt_calc *c, uint32_t block)
{
	const struct vt_freq *f = c->blocks[block].freq;

	return f ? f->executions : -1;
}

/* Takes the count of an edge from its record, or from a block that only this edge leaves or enters.
 */
static void count_graph_edge(const struct vt_calc *c, uint32_t edge, struct graph_edge *out)
{
	const struct vt_cfg_edge *e = &c->cfg->edges[edge];
	const struct vt_edgefreq *f = c->edges[edge].freq;
	const struct vt_freq *block = NULL;

	if (!f && c->cfg->blocks[e->from].nout == 1)
		block = c->blocks[e->from].freq;
	if (!f && !block && c->cfg->blocks[e->to].nin == 1)
		block = c->blocks[e->to].freq;
	out->executions = f ? f->executions : block ? block->executions : -1;
	out->sure = f	    ? f->confidence > VT_CONFIDENCE_LOW
		    : block ? block->confidence > VT_CONFIDENCE_LOW
			    : false;
}

static bool add_graph_nodes(struct graph *g, double cutoff, uint32_t *number)
{
	const struct vt_calc *c = g->calc;
	uint32_t b;
	double most = 0;

	for (b = VT_CFG_FIRST; b < c->cfg->nblocks; b++)
		if (executions_of(c, b) > most)
			most = executions_of(c, b);
	for (b = 0; b < c->cfg->nblocks; b++) {
		struct graph_node *n = &g->nodes[g->nnodes];
		double share = vt_calc_block_share(c, &c->blocks[b]);

		number[b] = NO_NODE;
		if (b >= VT_CFG_FIRST && cutoff > 0 && share < cutoff)
			continue;
		number[b] = g->nnodes++;
		*n = (struct graph_node){.block = b, .share = share};
		n->frequency = scale_count(executions_of(c, b), most);
		if (!put_node_text(c, n))
			return false;
	}
	return true;
}

/* Leaves out edges that are never taken, unless `cold`: a switch has hundreds. */
static void add_graph_edges(struct graph *g, bool cold, const uint32_t *number)
{
	const struct vt_calc *c = g->calc;
	double most = 0;
	uint32_t e;

	for (e = 0; e < c->cfg->nedges; e++) {
		struct graph_edge *out = &g->edges[g->nedges];

		out->from = number[c->cfg->edges[e].from];
		out->to = number[c->cfg->edges[e].to];
		if (out->from == NO_NODE || out->to == NO_NODE)
			continue;
		count_graph_edge(c, e, out);
		if (!cold && out->executions >= 0 && out->executions < 0.5)
			continue;
		most = out->executions > most ? out->executions : most;
		g->nedges++;
	}
	for (e = 0; e < g->nedges; e++)
		g->edges[e].frequency = scale_count(g->edges[e].executions, most);
}

/* Gathers what a picture shows.  False when memory runs out; call graph_fini() in either case. */
static bool graph_init(struct graph *g, const struct vt_calc *c, double cutoff)
{
	uint32_t *number = calloc((size_t)c->cfg->nblocks + 1, sizeof(*number));
	bool ok;

	*g = (struct graph){.calc = c};
	g->nodes = calloc((size_t)c->cfg->nblocks + 1, sizeof(*g->nodes));
	g->edges = calloc((size_t)c->cfg->nedges + 1, sizeof(*g->edges));
	ok = number && g->nodes && g->edges && add_graph_nodes(g, cutoff, number);
	if (ok) {
		add_graph_edges(g, cutoff <= 0, number);
		vt_escape_str(&g->title, c->proc.name);
		if (c->image) {
			vt_buf_printf(&g->title, "  ");
			vt_escape_str(&g->title, c->image->path);
		}
		ok = !g->title.failed;
	}
	free(number);
	return ok;
}

static void graph_fini(struct graph *g)
{
	uint32_t i;

	for (i = 0; i < g->nnodes; i++) {
		vt_buf_free(&g->nodes[i].text);
		free(g->nodes[i].lines);
	}
	free(g->nodes);
	free(g->edges);
	vt_buf_free(&g->title);
}

/* ---- DOT ---- */

/* Escapes text for a quoted string of the DOT language. */
static void put_quoted(struct vt_output *out, const uint8_t *text, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		if (text[i] == '"' || text[i] == '\\')
			vt_output_put(out, "\\", 1);
		vt_output_put(out, &text[i], 1);
	}
}

static void put_dot_node(const struct graph *g, uint32_t number, struct vt_output *out)
{
	const struct graph_node *n = &g->nodes[number];
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

static void put_dot_edge(const struct graph *g, const struct graph_edge *e, struct vt_output *out)
{
	char count[16];

	vt_output_printf(out, "\tn%u -> n%u [penwidth=%.1f", g->nodes[e->from].block,
			 g->nodes[e->to].block, 1 + 4 * e->frequency);
	if (e->executions >= 0) {
		vti_graph_count(e->executions, count);
		vt_output_printf(out, ", label=\"%s\"", count);
	}
	vt_output_printf(out, "%s];\n", e->sure ? "" : ", style=dashed");
}

int vt_calc_dot(const struct vt_calc *c, double cutoff, struct vt_output *out, struct vt_error *err)
{
	struct graph g;
	uint32_t i;
	bool ok = graph_init(&g, c, cutoff);

	if (ok) {
		vt_output_text(out, "digraph \"");
		put_quoted(out, g.title.data, g.title.size);
		vt_output_text(out, "\" {\n\tlabel=\"");
		put_quoted(out, g.title.data, g.title.size);
		vt_output_text(out, "\";\n\tlabelloc=t;\n"
				    "\tnode [shape=box, style=filled, fontname=monospace];\n"
				    "\tedge [fontname=monospace, fontsize=9];\n");
		for (i = 0; i < g.nnodes; i++)
			put_dot_node(&g, i, out);
		for (i = 0; i < g.nedges; i++)
			put_dot_edge(&g, &g.edges[i], out);
		vt_output_text(out, "}\n");
	}
	graph_fini(&g);
	return ok ? 0 : vt_error_nomem(err);
}

/* ---- SVG ---- */

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

static double letter_size(const struct graph_node *n)
{
	return LEAST + MORE * n->frequency;
}

static void measure_node(const struct graph_node *n, struct vt_layout_node *box)
{
	double width = 0;
	size_t i;

	for (i = 0; i < n->nlines; i++) {
		double w = (double)vt_text_width((const char *)n->text.data + n->lines[i].start,
						 n->lines[i].size);

		width = w > width ? w : width;
	}
	box->width = width * LETTER * letter_size(n) + 2 * PADDING;
	box->height = (double)n->nlines * LINE * letter_size(n) + 2 * PADDING;
}

/* ---- nodes ---- */

/* Puts a tooltip: each stall of a block, with its cause in words. */
static void put_svg_tip(const struct vt_calc *c, const struct vt_calc_block *b,
			struct vt_output *out)
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

static void put_svg_lines(const struct graph_node *n, const struct vt_layout_node *box,
			  struct vt_output *out)
{
	double size = letter_size(n), y = box->y + PADDING;
	char color[8];
	size_t i;

	for (i = 0; i < n->nlines; i++, y += LINE * size) {
		const struct graph_line *line = &n->lines[i];

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

static void put_svg_node(const struct graph *g, const struct graph_node *n,
			 const struct vt_layout_node *box, struct vt_output *out)
{
	const struct vt_calc_block *b = &g->calc->blocks[n->block];
	char color[8];

	vti_graph_color(n->share / 4, color);
	vt_output_text(out, "<g class=\"block\">");
	if (n->block >= VT_CFG_FIRST)
		put_svg_tip(g->calc, b, out);
	vt_output_printf(
		out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%d\" "
		"fill=\"%s\" stroke=\"#444\"%s/>\n",
		box->x, box->y, box->width, box->height, n->block < VT_CFG_FIRST ? 10 : 2, color,
		n->block >= VT_CFG_FIRST && b->block->incomplete ? " stroke-dasharray=\"6 3\""
								 : "");
	put_svg_lines(n, box, out);
	vt_output_text(out, "</g>\n");
}

/* ---- edges ---- */

static void put_svg_path(const struct vt_layout *l, const struct vt_layout_edge *e,
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

static void put_svg_edge(const struct graph_edge *e, const struct vt_layout *l,
			 const struct vt_layout_edge *route, struct vt_output *out)
{
	const struct vt_layout_point *p = l->points + route->first;
	bool self = route->from == route->to;
	double x = p[0].x + (self ? LOOP_ROOM * 0.75 : 0) + 4;
	double y = self ? (p[0].y + p[1].y) / 2 : p[0].y + (p[1].y < p[0].y ? -8 : 14);
	bool known = e->executions >= 0;
	char count[16];

	vt_output_text(out, "<path d=\"");
	put_svg_path(l, route, out);
	vt_output_printf(out, "\" stroke=\"%s\" stroke-width=\"%.1f\"%s marker-end=\"url(#a)\"/>\n",
			 known ? "#235" : "#999", 0.8 + 3.2 * e->frequency,
			 e->sure ? "" : " stroke-dasharray=\"4 3\"");
	if (!known)
		return;
	vti_graph_count(e->executions, count);
	vt_output_printf(out,
			 "<text x=\"%.1f\" y=\"%.1f\" font-size=\"8\" fill=\"#235\" "
			 "stroke=\"none\">%s</text>\n",
			 x, y, count);
}

/* ---- the whole ---- */

static void put_svg_head(const struct graph *g, const struct vt_layout *l, struct vt_output *out)
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
			 "%.1f%%, low %.1f%%, no estimate %.1f%%",
			 MARGIN,
			 vt_cyclesum_share(s, VT_CONFIDENCE_HIGH) +
				 vt_cyclesum_share(s, VT_CONFIDENCE_EXACT),
			 vt_cyclesum_share(s, VT_CONFIDENCE_MEDIUM),
			 vt_cyclesum_share(s, VT_CONFIDENCE_LOW),
			 vt_cyclesum_share(s, VT_CONFIDENCE_NONE));
	if (s->timed)
		vt_output_printf(out, "; CPI %.2f", s->cycles / s->executions);
	if (s->schedule)
		vt_output_printf(out, ", at best %.2f", s->best / s->executions);
	vt_output_text(out, "</text>\n");
}

static void open_small(struct vt_output *out, int y)
{
	vt_output_printf(out, "<text x=\"%d\" y=\"%d\" font-size=\"9\" fill=\"#555\">", MARGIN, y);
}

/* Explains the letters beside instructions and the looks of lines. */
static void put_svg_legend(const struct graph *g, struct vt_output *out)
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

static void draw_svg(const struct graph *g, const struct vt_layout *l, struct vt_output *out)
{
	uint32_t i;

	put_svg_head(g, l, out);
	put_svg_legend(g, out);
	vt_output_printf(out, "<g transform=\"translate(%d %d)\">\n<g fill=\"none\">\n", MARGIN,
			 MARGIN + HEAD);
	for (i = 0; i < g->nedges; i++)
		put_svg_edge(&g->edges[i], l, &l->edges[i], out);
	vt_output_text(out, "</g>\n");
	for (i = 0; i < g->nnodes; i++)
		put_svg_node(g, &g->nodes[i], &l->nodes[i], out);
	vt_output_text(out, "</g>\n</svg>\n");
}

int vt_calc_svg(const struct vt_calc *c, double cutoff, struct vt_output *out, struct vt_error *err)
{
	struct vt_layout l = {.gap = GAP};
	struct graph g;
	bool ok = graph_init(&g, c, cutoff);
	uint32_t i;
	int rc;

	l.nodes = ok ? calloc((size_t)g.nnodes + 1, sizeof(*l.nodes)) : NULL;
	l.edges = ok ? calloc((size_t)g.nedges + 1, sizeof(*l.edges)) : NULL;
	ok = l.nodes && l.edges;
	rc = ok ? 0 : vt_error_nomem(err);
	for (i = 0; ok && i < g.nnodes; i++)
		measure_node(&g.nodes[i], &l.nodes[i]);
	for (i = 0; ok && i < g.nedges; i++)
		l.edges[i] = (struct vt_layout_edge){.from = g.edges[i].from, .to = g.edges[i].to};
	l.nnodes = g.nnodes;
	l.nedges = g.nedges;
	rc = rc < 0 ? rc : vt_layout_place(&l, err);
	if (rc == 0)
		draw_svg(&g, &l, out);
	vt_layout_fini(&l);
	free(l.nodes);
	free(l.edges);
	graph_fini(&g);
	return rc;
}
