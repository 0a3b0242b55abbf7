/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/escape.h"
#include "culprit/cause.h"
#include "listing/cycles/graph_internal.h"

/* Of longer blocks, the lines in the middle that take no time are left out. */
#define MAX_LINES 40

/* Instructions that are longer are cut. */
#define MAX_CODE 60

/* ---- text ---- */

static bool end_line(struct vti_graph_node *n, size_t start, double share)
{
	if (n->text.failed ||
	    !vt_array_grow(&n->lines, &n->lines_cap, n->nlines + 1, sizeof(*n->lines)))
		return false;
	n->lines[n->nlines++] = (struct vti_graph_line){start, n->text.size - start, share};
	return true;
}

static bool put_head(const struct vt_calc *c, const struct vt_calc_block *b,
		     struct vti_graph_node *n)
{
	char count[16];
	size_t start = n->text.size;

	vt_buf_printf(&n->text, "%" PRIx64, b->block->start);
	if (b->freq) {
		vti_graph_number(b->freq->executions, count);
		vt_buf_printf(&n->text, "  x %s (%s)", count,
			      vt_confidence_name(b->freq->confidence));
	}
	if (!end_line(n, start, 0) || b->sum.executions <= 0)
		return !n->text.failed;
	start = n->text.size;
	vt_buf_printf(&n->text, "%.1f%% of cycles, CPI %.2f", vt_calc_block_share(c, b),
		      b->sum.cycles / b->sum.executions);
	if (b->sum.schedule)
		vt_buf_printf(&n->text, ", best %.2f", b->sum.best / b->sum.executions);
	return end_line(n, start, 0);
}

static void put_letters(const struct vt_calc_insn *insn, struct vt_buf *out)
{
	bool told[VT_NSTALLS] = {false};
	size_t i;

	for (i = 0; i < insn->nstalls; i++) {
		unsigned cause = insn->stalls[i].cause;

		if (cause >= VT_NSTALLS || cause == VT_STALL_GAIN || told[cause] ||
		    insn->stalls[i].high <= 0)
			continue;
		told[cause] = true;
		vt_buf_printf(out, "%c", vt_stall_letter(cause));
	}
}

static double share_of(const struct vt_calc *c, const struct vt_calc_insn *insn)
{
	double cycles = insn->freq ? insn->freq->executions * insn->freq->cycles : 0;

	return isfinite(cycles) && c->sum.cycles > 0 ? 100 * cycles / c->sum.cycles : 0;
}

static bool put_insn(const struct vt_calc *c, const struct vt_calc_insn *insn,
		     struct vti_graph_node *n)
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
	return end_line(n, start, share_of(c, insn));
}

static bool put_block(const struct vt_calc *c, struct vti_graph_node *n)
{
	const struct vt_calc_block *b = &c->blocks[n->block];
	uint32_t i, left_out = 0, many = b->block->ninsns;

	if (!put_head(c, b, n))
		return false;
	for (i = 0; i < many; i++) {
		bool end = i < MAX_LINES / 2 || i + 4 >= many;

		if (many > MAX_LINES && !end && share_of(c, &b->insns[i]) < 1) {
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
		if (!put_insn(c, &b->insns[i], n))
			return false;
	}
	return true;
}

static bool put_text(const struct vt_calc *c, struct vti_graph_node *n)
{
	size_t start = n->text.size;

	if (n->block >= VT_CFG_FIRST)
		return put_block(c, n);
	vt_buf_printf(&n->text, "%s", n->block == VT_CFG_ENTRY ? "entry" : "exit");
	return end_line(n, start, 0);
}

/* ---- the graph ---- */

/* Three orders of magnitude are told apart. */
static double scale(double v, double most)
{
	double s = v > 0 && most > 0 ? 1 + log10(v / most) / 3 : 0;

	return s > 0 && isfinite(s) ? s : 0;
}

static double executions_of(const struct vt_calc *c, uint32_t block)
{
	const struct vt_freq *f = c->blocks[block].freq;

	return f ? f->executions : -1;
}

/* The edge's own record, or the block that it alone leaves or enters. */
static void count_edge(const struct vt_calc *c, uint32_t edge, struct vti_graph_edge *out)
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

static bool add_nodes(struct vti_graph *g, double cutoff, uint32_t *number)
{
	const struct vt_calc *c = g->calc;
	uint32_t b;
	double most = 0;

	for (b = VT_CFG_FIRST; b < c->cfg->nblocks; b++)
		if (executions_of(c, b) > most)
			most = executions_of(c, b);
	for (b = 0; b < c->cfg->nblocks; b++) {
		struct vti_graph_node *n = &g->nodes[g->nnodes];
		double share = vt_calc_block_share(c, &c->blocks[b]);

		number[b] = VTI_GRAPH_NONE;
		if (b >= VT_CFG_FIRST && cutoff > 0 && share < cutoff)
			continue;
		number[b] = g->nnodes++;
		*n = (struct vti_graph_node){.block = b, .share = share};
		n->frequency = scale(executions_of(c, b), most);
		if (!put_text(c, n))
			return false;
	}
	return true;
}

/* Where cold blocks are left out, so are edges that are never taken: a switch has hundreds. */
static void add_edges(struct vti_graph *g, bool cold, const uint32_t *number)
{
	const struct vt_calc *c = g->calc;
	double most = 0;
	uint32_t e;

	for (e = 0; e < c->cfg->nedges; e++) {
		struct vti_graph_edge *out = &g->edges[g->nedges];

		out->from = number[c->cfg->edges[e].from];
		out->to = number[c->cfg->edges[e].to];
		if (out->from == VTI_GRAPH_NONE || out->to == VTI_GRAPH_NONE)
			continue;
		count_edge(c, e, out);
		if (!cold && out->executions >= 0 && out->executions < 0.5)
			continue;
		most = out->executions > most ? out->executions : most;
		g->nedges++;
	}
	for (e = 0; e < g->nedges; e++)
		g->edges[e].frequency = scale(g->edges[e].executions, most);
}

bool vti_graph_init(struct vti_graph *g, const struct vt_calc *c, double cutoff)
{
	uint32_t *number = calloc((size_t)c->cfg->nblocks + 1, sizeof(*number));
	bool ok;

	*g = (struct vti_graph){.calc = c};
	g->nodes = calloc((size_t)c->cfg->nblocks + 1, sizeof(*g->nodes));
	g->edges = calloc((size_t)c->cfg->nedges + 1, sizeof(*g->edges));
	ok = number && g->nodes && g->edges && add_nodes(g, cutoff, number);
	if (ok) {
		add_edges(g, cutoff <= 0, number);
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

void vti_graph_fini(struct vti_graph *g)
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

void vti_graph_color(double share, char text[8])
{
	/* The square root tells small shares apart. */
	double heat = share > 0 ? sqrt(share < 100 ? share / 100 : 1) : 0;
	unsigned green = (unsigned)(255 - 150 * heat + 0.5);
	unsigned blue = (unsigned)(255 - 205 * heat + 0.5);

	snprintf(text, 8, "#ff%02x%02x", green & 255, blue & 255);
}

void vti_graph_number(double v, char text[16])
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
