/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flow graphs of procedures as pictures: every line of small ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "listing/cycles/graph.h"
#include "listing/layout.h"
#include "tests/unit/common/printed.h"
#include "tests/unit/listing/cycles/calcs.h"

static struct vt_error err;

/* ---- numbers and colours ---- */

static void test_numbers(void **state)
{
	static const struct {
		double v;
		const char *want;
	} rows[] = {
		{0, "0"},	   {9999.4, "9999"},  {10000, "10.0k"},	     {999949, "999.9k"},
		{999950, "1.0M"},  {5700000, "5.7M"}, {999949999, "999.9M"}, {999950000, "1.0G"},
		{2e12, "2.0T"},	   {3e15, "3.0P"},    {4e18, "4.0E"},	     {9.9996e20, "1000.0E"},
		{1e21, "1.0e+21"}, {NAN, "nan"},      {INFINITY, "inf"}};
	char text[16];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		vti_graph_count(rows[i].v, text);
		assert_string_equal(text, rows[i].want);
	}
}

/* From 255 down by 150 of green and 205 of blue, times the root of the share. */
static void test_colors(void **state)
{
	static const struct {
		double share;
		const char *want;
	} rows[] = {{0, "#ffffff"},  {-1, "#ffffff"},  {1, "#fff0eb"},
		    {25, "#ffb499"}, {100, "#ff6932"}, {200, "#ff6932"}};
	char text[8];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		vti_graph_color(rows[i].share, text);
		assert_string_equal(text, rows[i].want);
	}
}

/* ---- the procedure ---- */

static const struct vt_freq thousand = {
	.executions = 1000, .cycles = 4, .confidence = VT_CONFIDENCE_HIGH};
static const struct vt_freq hundred = {
	.executions = 100, .cycles = 0.04, .confidence = VT_CONFIDENCE_MEDIUM};
static const struct vt_freq five = {.executions = 5, .cycles = 8, .confidence = VT_CONFIDENCE_LOW};
static const struct vt_freq brief = {.executions = 5, .cycles = 0.05};
static const struct vt_edgefreq known[] = {
	{.executions = 100, .confidence = VT_CONFIDENCE_MEDIUM},
	{.executions = 1000, .confidence = VT_CONFIDENCE_LOW},
	{.executions = 10, .confidence = VT_CONFIDENCE_HIGH},
	{.executions = 0.4, .confidence = VT_CONFIDENCE_HIGH},
	{.executions = 0.5, .confidence = VT_CONFIDENCE_HIGH},
};
static const struct vt_stall stalls[] = {
	{.cause = VT_STALL_DCACHE, .low = 80, .high = 2000},
	{.cause = VT_STALL_GAIN, .low = 1, .high = 8},
	{.cause = VT_STALL_DTLB, .low = 0, .high = 0},
	{.cause = VT_NSTALLS, .low = 8, .high = 8},
	{.cause = VT_STALL_FORWARD, .low = 0, .high = INFINITY},
	{.cause = VT_STALL_DCACHE, .low = 0, .high = 80},
};

/*
 * ENTRY to 2, 2 to 3 and EXIT, 3 to itself, 2 and 4, 4 to EXIT. Of 8000 cycles, 6000 are of block
 * 2, which is executed most often: 3000 instructions, at best in 3000 cycles.
 */
static void make(struct calc *c)
{
	struct vt_calc_block *b;
	struct vt_calc_insn *insn;

	calc_init(c);
	c->is.sum = (struct vt_cyclesum){.executions = 3200, .cycles = 8000, .timed = true};
	b = calc_block(c, 0x401000);
	b->freq = &thousand;
	b->sum = (struct vt_cyclesum){
		.executions = 3000, .cycles = 6000, .timed = true, .best = 3000, .schedule = true};
	insn = calc_insn(c, 0x401000, "mov \"(%rdi)\",%rbx", &thousand);
	insn->stalls = stalls;
	insn->nstalls = 6;
	calc_insn(c, 0x401008, "a<b>&c", &hundred);
	b = calc_block(c, 0x401010);
	b->freq = &hundred;
	b->sum = (struct vt_cyclesum){.executions = 200, .cycles = 300, .timed = true};
	calc_insn(c, 0x401010, "12345678901234567890123456789012345678901234567890123456789012",
		  &five);
	b = calc_block(c, 0x401020);
	b->freq = &five;
	calc_insn(c, 0x401020, "back\\slash", NULL);
	calc_insn(c, 0x401022, "123456789012345678901234567890123", &brief);
	calc_insn(c, 0x401024, "1234567890123456789012345678901234", &brief);
	c->cfg_blocks[4].incomplete = true;
	calc_edge(c, VT_CFG_ENTRY, 2, NULL);
	calc_edge(c, 2, 3, &known[0]);
	calc_edge(c, 2, VT_CFG_EXIT, NULL);
	calc_edge(c, 3, 3, &known[1]);
	calc_edge(c, 3, 2, &known[2]);
	calc_edge(c, 3, 4, NULL);
	calc_edge(c, 4, VT_CFG_EXIT, NULL);
}

/* ---- for Graphviz ---- */

static const char *print_dot(const struct calc *c, double cutoff)
{
	struct vt_output out;

	print_begin(&out);
	assert_int_equal(vt_calc_dot(&c->is, cutoff, &out, &err), 0);
	return print_end(&out);
}

#define DOT_HEAD                                                                                   \
	"digraph \"walk  /bin/prog\" {\n\tlabel=\"walk  /bin/prog\";\n\tlabelloc=t;\n"             \
	"\tnode [shape=box, style=filled, fontname=monospace];\n"                                  \
	"\tedge [fontname=monospace, fontsize=9];\n"
#define DOT_ENDS                                                                                   \
	"\tn0 [label=\"entry\", fillcolor=\"#ffffff\", fontsize=8.0, shape=oval];\n"               \
	"\tn1 [label=\"exit\", fillcolor=\"#ffffff\", fontsize=8.0, shape=oval];\n"
#define DOT_BLOCK2                                                                                 \
	"\tn2 [label=\"401000  x 1000 (high)\\l75.0% of cycles, CPI 2.00, best 1.00\\l"            \
	"401000 mov \\\"(%rdi)\\\",%rbx                  4.0cy df\\l401008 a<b>&c\\l\", "          \
	"fillcolor=\"#ff7d4d\", fontsize=14.0];\n"

/*
 * 100 executions are two thirds of 1000 on the scale, 10 one third, 5 less a quarter: a thousandth
 * is nothing. Shares of 75, 3.75 and 0 percent: the roots of 0.75 and 0.0375.
 */
static void test_dot(void **state)
{
	struct calc c;

	(void)state;
	make(&c);
	assert_string_equal(
		print_dot(&c, 0), DOT_HEAD DOT_ENDS DOT_BLOCK2
		"\tn3 [label=\"401010  x 100 (medium)\\l3.8% of cycles, CPI 1.50\\l"
		"401010 123456789012345678901234567890123456789012345678901234567890 8.0cy \\l\", "
		"fillcolor=\"#ffe2d7\", fontsize=12.0];\n"
		"\tn4 [label=\"401020  x 5 (low)\\l401020 back\\\\\\\\slash\\l"
		"401022 123456789012345678901234567890123  0.1cy \\l"
		"401024 1234567890123456789012345678901234 0.1cy \\l\", "
		"fillcolor=\"#ffffff\", fontsize=9.4, style=\"filled,dashed\"];\n"
		"\tn0 -> n2 [penwidth=1.0, style=dashed];\n"
		"\tn2 -> n3 [penwidth=3.7, label=\"100\"];\n"
		"\tn2 -> n1 [penwidth=1.0, style=dashed];\n"
		"\tn3 -> n3 [penwidth=5.0, label=\"1000\", style=dashed];\n"
		"\tn3 -> n2 [penwidth=2.3, label=\"10\"];\n"
		"\tn3 -> n4 [penwidth=1.9, label=\"5\", style=dashed];\n"
		"\tn4 -> n1 [penwidth=1.9, label=\"5\", style=dashed];\n}\n");
}

/* Cold blocks are left out, and where they are, edges that are never taken. */
static void test_cutoff(void **state)
{
	struct calc c;

	(void)state;
	make(&c);
	c.edges[4].freq = &known[3];
	assert_string_equal(print_dot(&c, 4), DOT_HEAD DOT_ENDS DOT_BLOCK2
			    "\tn0 -> n2 [penwidth=1.0, style=dashed];\n"
			    "\tn2 -> n1 [penwidth=1.0, style=dashed];\n}\n");
	assert_null(strstr(print_dot(&c, 3.75), "n3 -> n2"));
	assert_non_null(strstr(print_dot(&c, 3.75), "n3 -> n3"));
	assert_non_null(strstr(print_dot(&c, 0), "n3 -> n2 [penwidth=1.0, label=\"0\"];"));
	c.edges[4].freq = &known[4];
	assert_non_null(strstr(print_dot(&c, 3.75), "n3 -> n2"));
	/* An edge of unknown frequency stays: it leads to the block alone. */
	c.blocks[4].sum.cycles = 8000;
	c.blocks[4].freq = NULL;
	assert_non_null(strstr(print_dot(&c, 3.75), "n3 -> n4 [penwidth=1.0, style=dashed];"));
	c.edges[4].freq = NULL;
	c.is.image = NULL;
	assert_non_null(strstr(print_dot(&c, 0), "digraph \"walk\" {"));
	assert_non_null(strstr(print_dot(&c, 0), "n3 -> n2 [penwidth=1.0, style=dashed];"));
}

/* A block's own executions are those of the one edge that leaves it, or else of what enters. */
static void test_lone_edges(void **state)
{
	static const struct vt_freq sure = {.executions = 7, .confidence = VT_CONFIDENCE_MEDIUM};
	struct calc c;

	(void)state;
	calc_init(&c);
	calc_block(&c, 0x401000)->freq = &sure;
	calc_block(&c, 0x401010)->freq = &five;
	calc_edge(&c, VT_CFG_ENTRY, 2, NULL);
	calc_edge(&c, 2, 3, NULL);
	calc_edge(&c, 3, VT_CFG_EXIT, &known[2]);
	assert_string_equal(strstr(print_dot(&c, 0), "\tn0 ->"),
			    "\tn0 -> n2 [penwidth=4.8, label=\"7\"];\n"
			    "\tn2 -> n3 [penwidth=4.8, label=\"7\"];\n"
			    "\tn3 -> n1 [penwidth=5.0, label=\"10\"];\n}\n");
	/* Less than one instruction is executed, too. */
	c.blocks[2].sum = (struct vt_cyclesum){.executions = 0.5, .cycles = 1, .timed = true};
	assert_non_null(strstr(print_dot(&c, 0), "\\l0.0% of cycles, CPI 2.00\\l"));
}

/* Of 45 instructions, those in the middle that have less than a percent of the cycles. */
static void test_long(void **state)
{
	static const struct vt_freq one = {.executions = 1, .cycles = 10};
	static const struct vt_freq less = {.executions = 1, .cycles = 9.9};
	struct calc c;
	const char *text;
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++) {
		unsigned k, n = i ? 45 : 40;

		calc_init(&c);
		c.is.sum.cycles = 1000;
		calc_block(&c, 0x401000);
		for (k = 0; k < n; k++)
			calc_insn(&c, 0x401000 + k, "x", k == 30 ? &one : k == 31 ? &less : NULL);
		text = print_dot(&c, 0);
		assert_true((strstr(text, "more") != NULL) == (i == 1));
	}
	assert_non_null(strstr(text, "401013 x\\l... 10 more\\l40101e x"));
	assert_non_null(strstr(text, " 10.0cy \\l... 10 more\\l401029 x\\l40102a x\\l"));
	/* Nothing is left out at the very start of the middle, or at its end. */
	c.insns[20].freq = &one;
	c.insns[40].freq = &one;
	text = print_dot(&c, 0);
	assert_non_null(strstr(text, "401013 x\\l401014 x"));
	assert_non_null(strstr(text, " 10.0cy \\l... 9 more\\l40101e x"));
	assert_non_null(strstr(text, " 10.0cy \\l... 9 more\\l401028 x"));
	assert_non_null(strstr(text, " 10.0cy \\l401029 x"));
}

/* ---- SVG ---- */

static const char *print_svg(const struct calc *c)
{
	struct vt_output out;

	print_begin(&out);
	assert_int_equal(vt_calc_svg(&c->is, 0, &out, &err), 0);
	return print_end(&out);
}

/* The boxes of make(): letters of 8 to 14, 0.62 as wide and 1.25 as high, and 6 around them. */
static const double times[] = {0.001, 0.001, 1, 0.1, 0.005}; /* executed, of the most frequent */
static const unsigned chars[] = {5, 4, 50, 74, 48}, rows[] = {1, 1, 4, 3, 4};

static double letters(unsigned box)
{
	return 8 + 6 * (1 + log10(times[box]) / 3);
}

static void place(struct vt_layout *l, struct vt_layout_node *nodes, struct vt_layout_edge *edges,
		  const struct calc *c)
{
	uint32_t i;

	*l = (struct vt_layout){.gap = 36,
				.nodes = nodes,
				.nnodes = c->cfg.nblocks,
				.edges = edges,
				.nedges = c->cfg.nedges};
	for (i = 0; i < l->nnodes; i++) {
		nodes[i].width = chars[i] * 0.62 * letters(i) + 12;
		nodes[i].height = rows[i] * 1.25 * letters(i) + 12;
	}
	for (i = 0; i < l->nedges; i++) {
		edges[i].from = c->cfg.edges[i].from;
		edges[i].to = c->cfg.edges[i].to;
	}
	assert_int_equal(vt_layout_place(l, &err), 0);
}

static void check_has(const char *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void check_has(const char *text, const char *fmt, ...)
{
	char want[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(want, sizeof(want), fmt, ap);
	va_end(ap);
	if (!strstr(text, want))
		fail_msg("there is no\n%s\nin\n%s", want, text);
}

static void check_box(const char *text, const struct vt_layout_node *n, int round,
		      const char *color, const char *dashes)
{
	check_has(text,
		  "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%d\" "
		  "fill=\"%s\" stroke=\"#444\"%s/>\n",
		  n->x, n->y, n->width, n->height, round, color, dashes);
}

/* A line of text of a box, counted from 0. */
static void check_line(const char *text, const struct vt_layout_node *n, double size, int line,
		       const char *want)
{
	check_has(text,
		  "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\"%s xml:space=\"preserve\">%s"
		  "</text>\n",
		  n->x + 6, n->y + 6 + (line * 1.25 + 0.95) * size, size,
		  line ? "" : " font-weight=\"bold\"", want);
}

static void test_svg_nodes(void **state)
{
	struct vt_layout_node n[CALC_BLOCKS];
	struct vt_layout_edge e[CALC_EDGES];
	struct vt_layout l;
	struct calc c;
	const char *text;

	(void)state;
	make(&c);
	place(&l, n, e, &c);
	text = print_svg(&c);
	check_box(text, &n[0], 10, "#ffffff", "");
	check_line(text, &n[0], 8, 0, "entry");
	check_box(text, &n[1], 10, "#ffffff", "");
	check_line(text, &n[1], 8, 0, "exit");
	/* Shades of a fourth of the cycles: 18.75 and 0.9375 percent. */
	check_box(text, &n[2], 2, "#ffbea6", "");
	check_line(text, &n[2], 14, 0, "401000  x 1000 (high)");
	check_line(text, &n[2], 14, 1, "75.0% of cycles, CPI 2.00, best 1.00");
	check_line(text, &n[2], 14, 2,
		   "401000 mov &quot;(%rdi)&quot;,%rbx                  4.0cy df");
	check_line(text, &n[2], 14, 3, "401008 a&lt;b&gt;&amp;c");
	check_box(text, &n[3], 2, "#fff0eb", "");
	check_box(text, &n[4], 2, "#ffffff", " stroke-dasharray=\"6 3\"");
	check_line(text, &n[4], letters(4), 1, "401020 back\\\\slash");
	check_has(text, "<g class=\"block\"><rect x=\"%.1f\"", n[0].x);
	check_has(text,
		  "<g class=\"block\"><title>401000: D-cache miss, 1.0%% to 25.0%% of all cycles\n"
		  "401000: unexplained gain, 0.0%% to 0.1%% of all cycles\n"
		  "401000: DTB miss, 0.0%% to 0.0%% of all cycles\n"
		  "401000: ?, 0.1%% to 0.1%% of all cycles\n"
		  "401000: store forwarding, 0.0%% to 100.0%% of all cycles\n"
		  "401000: D-cache miss, 0.0%% to 1.0%% of all cycles\n"
		  "</title><rect");
	check_has(text, "<g class=\"block\"><title></title><rect x=\"%.1f\"", n[3].x);
	/* An instruction with half of the cycles: more than a fourth of what its block has. */
	check_has(text,
		  "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"17.5\" fill=\"#ff956e\"/>"
		  "<text",
		  n[2].x + 1, n[2].y + 6 + 2 * 17.5, n[2].width - 2);
	vt_layout_fini(&l);
}

/* Half a percent and more than a fourth of the block's share are seen. */
static void test_svg_shares(void **state)
{
	static const struct {
		double of_insn, of_block; /* of 1000 cycles */
		bool seen;
	} cases[] = {{5, 10, true},
		     {4.9, 10, false},
		     {250, 1000, false},
		     {251, 1000, true},
		     {0, 0, false}};
	struct calc c;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct vt_freq f = {.executions = 1, .cycles = cases[i].of_insn};

		calc_init(&c);
		c.is.sum.cycles = 1000;
		calc_block(&c, 0x401000)->sum.cycles = cases[i].of_block;
		calc_insn(&c, 0x401000, "nop", &f);
		assert_true((strstr(print_svg(&c), "/><text") != NULL) == cases[i].seen);
		c.is.sum.cycles = 0;
		assert_null(strstr(print_svg(&c), "/><text"));
	}
}

static void check_edge(const char *text, const struct vt_layout *l, uint32_t edge,
		       const char *color, double width, const char *dashes)
{
	const struct vt_layout_edge *e = &l->edges[edge];
	const struct vt_layout_point *p = l->points + e->first;
	char path[1024];
	size_t i, n;

	n = (size_t)snprintf(path, sizeof(path), "<path d=\"M%.1f %.1f", p->x, p->y);
	for (i = 1; i < e->npoints && e->from != e->to; i++) {
		double y = (p[i - 1].y + p[i].y) / 2;

		if (i % 2)
			n += (size_t)snprintf(path + n, sizeof(path) - n,
					      "C%.1f %.1f %.1f %.1f %.1f %.1f", p[i - 1].x, y,
					      p[i].x, y, p[i].x, p[i].y);
		else
			n += (size_t)snprintf(path + n, sizeof(path) - n, "L%.1f %.1f", p[i].x,
					      p[i].y);
	}
	if (e->from == e->to)
		snprintf(path + n, sizeof(path) - n, "C%.1f %.1f %.1f %.1f %.1f %.1f", p[0].x + 30,
			 p[0].y, p[1].x + 30, p[1].y, p[1].x, p[1].y);
	check_has(text, "%s\" stroke=\"%s\" stroke-width=\"%.1f\"%s marker-end=\"url(#a)\"/>\n",
		  path, color, width, dashes);
}

static void check_count(const char *text, double x, double y, const char *count)
{
	check_has(text,
		  "<text x=\"%.1f\" y=\"%.1f\" font-size=\"8\" fill=\"#235\" stroke=\"none\">%s"
		  "</text>\n",
		  x, y, count);
}

#define DASHES " stroke-dasharray=\"4 3\""

static void test_svg_edges(void **state)
{
	struct vt_layout_node n[CALC_BLOCKS];
	struct vt_layout_edge e[CALC_EDGES];
	const struct vt_layout_point *p;
	struct vt_layout l;
	struct calc c;
	const char *text;

	(void)state;
	make(&c);
	place(&l, n, e, &c);
	text = print_svg(&c);
	check_edge(text, &l, 0, "#999", 0.8, DASHES);
	check_edge(text, &l, 1, "#235", 0.8 + 3.2 * 2 / 3, "");
	check_edge(text, &l, 2, "#999", 0.8, DASHES);
	check_edge(text, &l, 3, "#235", 4, DASHES);
	check_edge(text, &l, 4, "#235", 0.8 + 3.2 / 3, "");
	check_edge(text, &l, 6, "#235", 0.8 + 3.2 * 0.23299, DASHES);
	/* Beside where a downward edge begins, one upwards, one to the same block. */
	p = l.points + e[1].first;
	check_count(text, p[0].x + 4, p[0].y + 14, "100");
	p = l.points + e[4].first;
	assert_true(p[1].y < p[0].y);
	check_count(text, p[0].x + 4, p[0].y - 8, "10");
	p = l.points + e[3].first;
	check_count(text, p[0].x + 22.5 + 4, (p[0].y + p[1].y) / 2, "1000");
	/* Long edges go straight through layers. */
	assert_true(e[2].npoints > 2);
	vt_layout_fini(&l);
}

static void test_svg_head(void **state)
{
	struct vt_layout_node n[CALC_BLOCKS];
	struct vt_layout_edge e[CALC_EDGES];
	struct vt_layout l;
	struct calc c;
	const char *text;

	(void)state;
	make(&c);
	c.is.sum = (struct vt_cyclesum){.samples = 100,
					.samples_at = {[VT_CONFIDENCE_EXACT] = 10,
						       [VT_CONFIDENCE_HIGH] = 20,
						       [VT_CONFIDENCE_MEDIUM] = 30,
						       [VT_CONFIDENCE_LOW] = 25},
					.executions = 3200,
					.cycles = 8000,
					.timed = true};
	place(&l, n, e, &c);
	assert_true(l.width > 640);
	text = print_svg(&c);
	check_has(text,
		  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		  "viewBox=\"0 0 %.0f %.0f\" font-family=\"monospace\">\n",
		  l.width + 64, l.height + 128, l.width + 64, l.height + 128);
	check_has(text, "<text x=\"32\" y=\"24\" font-size=\"14\" font-weight=\"bold\" "
			"xml:space=\"preserve\">walk  /bin/prog</text>\n"
			"<text x=\"32\" y=\"42\" font-size=\"11\">samples: high 30.0%%, medium "
			"30.0%%, low 25.0%%, no estimate 15.0%%; CPI 2.50</text>\n"
			"<text x=\"32\" y=\"58\" font-size=\"9\" fill=\"#555\">letters: ");
	check_has(text, "<text x=\"32\" y=\"72\" font-size=\"9\" fill=\"#555\">d D-cache miss; "
			"D DTB miss; f store forwarding</text>\n"
			"<g transform=\"translate(32 96)\">\n<g fill=\"none\">\n<path");
	vt_layout_fini(&l);
	/* A wide one; the best case; no stalls; nothing executed. */
	c.is.sum.best = 1600;
	c.is.sum.schedule = true;
	c.insns[2].size = 40;
	c.cfg_blocks[2].ninsns = 0;
	c.insns[0].nstalls = 0;
	text = print_svg(&c);
	check_has(text, "; CPI 2.50, at best 0.50</text>\n");
	assert_null(strstr(text, "y=\"72\""));
	check_has(text, "unknown</text>\n<g transform");
	c.is.sum.executions = 0;
	assert_null(strstr(print_svg(&c), "samples: "));
	calc_init(&c);
	calc_block(&c, 0x401000);
	calc_block(&c, 0x401010);
	calc_insn(&c, 0x401010, "123456789012345678901234567890123456789012345678901234567890",
		  NULL);
	calc_edge(&c, VT_CFG_ENTRY, 2, NULL);
	calc_edge(&c, VT_CFG_ENTRY, 3, NULL);
	/* Letters of 8, 67 and 6 in a line, the gap and what is around the boxes. */
	check_has(print_svg(&c), " width=\"704\" height");
	c.cfg_blocks[2].ninsns = 1;
	c.blocks[2].insns = c.insns;
	calc_block(&c, 0x401020)->insns = c.insns;
	c.cfg_blocks[4].ninsns = 1;
	calc_edge(&c, VT_CFG_ENTRY, 4, NULL);
	/* Three boxes of 67 letters side by side: 344.32 each. */
	check_has(print_svg(&c), " width=\"%.0f\" height", 3 * 344.32 + 2 * 36 + 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),	   cmocka_unit_test(test_colors),
		cmocka_unit_test(test_dot),	   cmocka_unit_test(test_cutoff),
		cmocka_unit_test(test_lone_edges), cmocka_unit_test(test_long),
		cmocka_unit_test(test_svg_nodes),  cmocka_unit_test(test_svg_shares),
		cmocka_unit_test(test_svg_edges),  cmocka_unit_test(test_svg_head),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
