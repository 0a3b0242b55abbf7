/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What records say of a procedure's blocks, and of whole procedures, worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "listing/cycles/calc.h"
#include "listing/cycles/stall_ranking.h"
#include "listing/cycles/views.h"
#include "tests/unit/common/printed.h"
#include "tests/unit/common/scenes.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"

#define MISSING_IMAGE 7

static struct vt_error err;
static char *dir;
static struct scene s;
static struct vt_calc_source src;

static void put_edge(struct vt_writer *w, uint64_t from, uint64_t to, double executions)
{
	uint64_t *row = vt_writer_row(w, VT_EDGE);

	row[VT_EDGE_IMAGE] = 1;
	row[VT_EDGE_FROM] = from;
	row[VT_EDGE_TO] = to;
	memcpy(&row[VT_EDGE_EXECUTIONS], &executions, sizeof(executions));
}

static void put_stall(struct vt_writer *w, uint64_t image, uint64_t offset,
		      enum vt_stall_cause cause, double low, double high)
{
	uint64_t *row = vt_writer_row(w, VT_STALL);

	row[VT_STALL_IMAGE] = image;
	row[VT_STALL_OFFSET] = offset;
	row[VT_STALL_CAUSE] = cause;
	memcpy(&row[VT_STALL_LOW], &low, sizeof(low));
	memcpy(&row[VT_STALL_HIGH], &high, sizeof(high));
}

static void put_freqs(struct vt_writer *w)
{
	scene_freq(w, 1, 0x1000, 100, 5, 2)[VT_FREQ_SAMPLES] = 40;
	scene_freq(w, 1, 0x1004, 100, 1, 1)[VT_FREQ_SAMPLES] = 10;
	scene_freq(w, 1, 0x100e, 50, 2, NAN);
	scene_freq(w, 1, 0x101b, 50, 0, 0);
	scene_freq(w, 1, 0x101c, 100, 3, NAN);
	scene_freq(w, 1, 0x101e, 100, 1, NAN);
	scene_freq(w, MISSING_IMAGE, 0x10, 1000, 1, NAN);
	put_edge(w, 0x100c, 0x1000, 60.5);
	put_edge(w, 0x100c, 0x1001, 1);
	put_edge(w, 0x100c, 0x100e, 50);
	put_edge(w, 0x100b, 0x100e, 2);
	put_edge(w, 0x100d, 0x100e, 3);
	put_stall(w, 1, 0x0fff, VT_STALL_DCACHE, 9, 9);
	put_stall(w, 1, 0x1000, VT_STALL_DCACHE, 100, 200);
	put_stall(w, 1, 0x1000, VT_STALL_OPERAND_A, 20, 20);
	put_stall(w, 1, 0x1000, VT_STALL_DTLB, 0, 60);
	put_stall(w, 1, 0x1002, VT_STALL_DCACHE, 9, 9);
	put_stall(w, 1, 0x1004, VT_STALL_GAIN, 40, 60);
	put_stall(w, 1, 0x101c, VT_STALL_DCACHE, 150, 150);
	put_stall(w, 1, 0x101e, VT_STALL_DCACHE, 50, 50);
	put_stall(w, MISSING_IMAGE, 0x10, VT_STALL_DCACHE, 0, 100);
	put_stall(w, MISSING_IMAGE, 0x10, VT_STALL_GAIN, 50, 50);
}

/* 51 samples of f's in its code, and 3 of another event; one each before and behind it. */
static int begin(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	(void)state;
	dir = toolbox_dir();
	scene_program(dir, scene_walk);
	scene_event(w, 1, "misses", VT_POLICY_INTERRUPT);
	scene_event(w, 2, "cycles", VT_POLICY_INTERRUPT);
	scene_image(w, 1, toolbox_path(dir, "prog"));
	scene_image(w, MISSING_IMAGE, "/no/such/lib");
	scene_map(w, 0x400000, 1);
	scene_samples(w, 1, 0x401000, 0, 1, 3);
	scene_samples(w, 2, 0x400fff, 0, 1, 1);
	scene_samples(w, 2, 0x401000, 0, 1, 41);
	scene_samples(w, 2, 0x40101b, 0, 1, 10);
	scene_samples(w, 2, 0x40101c, 0, 1, 1);
	put_freqs(w);
	scene_read(&s, fd, w, false);
	src = (struct vt_calc_source){.profile = s.profile,
				      .images = s.images,
				      .freqs = s.freqs,
				      .syntax = VT_SYNTAX_ATT,
				      .event = 1};
	return 0;
}

static int end(void **state)
{
	(void)state;
	scene_drop(&s);
	toolbox_remove(dir);
	return 0;
}

static const struct vt_procedure f = {
	.image = 1, .start = 0x401000, .end = 0x40101c, .symbol = "f", .name = "f"};
static const struct vt_procedure rest = {.image = 1, .name = "", .why = VT_UNKNOWN_NO_SYMBOL};

/* ---- where a procedure lies ---- */

static void test_range(void **state)
{
	static const struct {
		struct vt_procedure proc;
		bool known;
		uint64_t first, end;
	} rows[] = {
		{{.image = 1, .start = 0x401000, .end = 0x40101c, .symbol = "f"},
		 true,
		 0x1000,
		 0x101c},
		{{.image = 1, .start = 0x401004, .end = 0x401004, .symbol = "f"},
		 true,
		 0x1004,
		 0x1004},
		{{.image = 1, .start = 0x401004, .end = 0x401003, .symbol = "f"}, false, 0, 0},
		{{.image = 1, .start = 0x401004, .end = 0x3ff000, .symbol = "f"}, false, 0, 0},
		{{.image = 1, .start = 0x401000, .end = UINT64_MAX, .symbol = "f"},
		 true,
		 0x1000,
		 UINT64_MAX - 0x400000},
		{{.image = 1, .start = 0x901000, .end = 0x901001, .symbol = "f"}, false, 0, 0},
		{{.image = 1}, true, 0, UINT64_MAX},
		{{.image = VT_UNMAPPED_IMAGE}, false, 0, 0},
		{{.image = VT_UNMAPPED_IMAGE, .symbol = "f"}, false, 0, 0},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint64_t first, last;

		assert_int_equal(vt_calc_range(&src, &rows[i].proc, &first, &last), rows[i].known);
		if (rows[i].known) {
			assert_int_equal(first, rows[i].first);
			assert_int_equal(last, rows[i].end);
		}
	}
}

/* ---- a procedure ---- */

static struct vt_calc *make(void)
{
	struct vt_calc *c = vt_calc_new(&src, &f, &err);

	assert_non_null(c);
	assert_int_equal(c->cfg->ninsns, 9);
	assert_int_equal(c->cfg->nblocks, 4);
	assert_int_equal(c->cfg->nedges, 4);
	return c;
}

static void check_freq(const struct vt_calc_insn *insn, uint64_t offset)
{
	size_t n;
	const struct vt_freq_at *at = vt_freqprofile_freqs(s.freqs, 1, offset, offset + 1, &n);

	assert_true(n > 0);
	assert_ptr_equal(at[n - 1].freq, insn->freq);
}

/* Its own places are not named, others are. */
static void test_insns(void **state)
{
	static const struct {
		uint64_t address;
		const char *text, *file;
		unsigned line;
		bool freq;
		size_t nstalls;
	} rows[] = {
		{0x401000, "push   %rbx", "/src/a.c", 3, true, 3},
		{0x401001, "mov    (%rdi),%rbx", "/src/a.c", 4, false, 0},
		{0x401004, "add    $0x1,%rbx", "/src/b.h", 2, true, 1},
		{0x401008, "imul   %rbx,%rbx", "/src/b.h", 3, false, 0},
		{0x40100c, "je     401000 <f>", "/src/a.c", 4, false, 0},
		{0x40100e, "call   40101c <g>", "/src/a.c", 5, true, 0},
		{0x401013, "mov    0x10(%rip),%rax        # 40102a", "/src/a.c", 5, false, 0},
		{0x40101a, "pop    %rbx", "/src/a.c", 6, false, 0},
		{0x40101b, "ret", "/src/a.c", 6, true, 0},
	};
	struct vt_calc *c = make();
	unsigned i;

	(void)state;
	assert_int_equal(c->base, 0x400000);
	assert_int_equal(c->image->id, 1);
	assert_string_equal(c->proc.name, "f");
	for (i = 0; i < 9; i++) {
		const struct vt_calc_insn *insn = &c->insns[i];

		assert_int_equal(insn->address, rows[i].address);
		assert_string_equal(insn->text, rows[i].text);
		assert_int_equal(insn->size, strlen(rows[i].text));
		assert_string_equal(insn->file, rows[i].file);
		assert_int_equal(insn->line, rows[i].line);
		assert_int_equal(insn->freq != NULL, rows[i].freq);
		assert_int_equal(insn->nstalls, rows[i].nstalls);
		if (insn->freq)
			check_freq(insn, rows[i].address - 0x400000);
		if (insn->nstalls)
			assert_int_equal(insn->stalls->offset + 0x400000, rows[i].address);
	}
	vt_calc_free(c);
}

/* A jump within the procedure has no name; the beginning has. */
static void test_names(void **state)
{
	struct vt_procedure upper = f;
	struct vt_calc *c;

	(void)state;
	upper.start = 0x40100c;
	c = vt_calc_new(&src, &upper, &err);
	assert_non_null(c);
	assert_string_equal(c->insns[0].text, "je     401000 <f>");
	vt_calc_free(c);
	upper.start = 0x400ffe;
	assert_null(vt_calc_new(&src, &upper, &err));
	upper.start = 0x401001;
	upper.end = 0x40101e;
	c = vt_calc_new(&src, &upper, &err);
	assert_non_null(c);
	assert_string_equal(c->insns[4].text, "call   40101c");
	vt_calc_free(c);
}

/* 500 and 100 cycles of 200 executions: those scheduled are 300; 100 cycles, and none. */
static void test_blocks(void **state)
{
	struct vt_calc *c = make();
	const struct vt_calc_block *b = &c->blocks[2];

	(void)state;
	assert_ptr_equal(b->block, &c->cfg->blocks[2]);
	assert_ptr_equal(b->insns, c->insns);
	assert_ptr_equal(b->freq, c->insns[0].freq);
	assert_float_equal(b->sum.executions, 200, 0);
	assert_float_equal(b->sum.cycles, 600, 0);
	assert_float_equal(b->sum.best, 300, 0);
	assert_float_equal(b->sum.fixed, 20, 0);
	/* 300 that the schedule does not explain, less the gain. */
	assert_float_equal(b->sum.dynamic, 250, 0);
	assert_float_equal(b->sum.high[VT_STALL_DCACHE], 200, 0);
	b = &c->blocks[3];
	assert_ptr_equal(b->insns, c->insns + 5);
	assert_ptr_equal(b->freq, c->insns[5].freq);
	assert_float_equal(b->sum.executions, 100, 0);
	assert_float_equal(b->sum.cycles, 100, 0);
	assert_null(c->blocks[VT_CFG_ENTRY].freq);
	assert_null(c->blocks[VT_CFG_EXIT].freq);
	/* All of it, the stall between instructions apart. */
	assert_float_equal(c->sum.executions, 300, 0);
	assert_float_equal(c->sum.cycles, 700, 0);
	assert_float_equal(c->sum.samples, 51, 0);
	assert_float_equal(c->sum.low[VT_STALL_DCACHE], 100, 0);
	assert_float_equal(vt_calc_block_share(c, b), 100.0 / 7, 1e-9);
	c->sum.cycles = 0;
	assert_float_equal(vt_calc_block_share(c, b), 0, 0);
	vt_calc_free(c);
}

static void test_edges(void **state)
{
	struct vt_calc *c = make();
	unsigned i, known = 0;

	(void)state;
	for (i = 0; i < 4; i++) {
		const struct vt_calc_edge *e = &c->edges[i];

		assert_ptr_equal(e->edge, &c->cfg->edges[i]);
		if (e->edge->from != 2) {
			assert_null(e->freq);
			continue;
		}
		assert_non_null(e->freq);
		assert_float_equal(e->freq->executions, e->edge->to == 2 ? 60.5 : 50, 0);
		known++;
	}
	assert_int_equal(known, 2);
	vt_calc_free(c);
}

/* What lies in none has no code; its cycles count. */
static void test_none(void **state)
{
	static const struct vt_procedure nowhere = {.image = VT_UNMAPPED_IMAGE,
						    .why = VT_UNKNOWN_NO_MAP};
	struct vt_cyclesum sum = {0};
	char want[600];

	(void)state;
	assert_null(vt_calc_new(&src, &rest, &err));
	assert_int_equal(err.code, VT_E_ABSENT);
	snprintf(want, sizeof(want), "%s: no procedure: no symbol covers it",
		 toolbox_path(dir, "prog"));
	assert_string_equal(err.text, want);
	assert_null(vt_calc_new(&src, &nowhere, &err));
	assert_string_equal(err.text, "?: no procedure: nothing known to be mapped there");
	vt_calc_add(&src, &nowhere, &sum);
	assert_float_equal(sum.cycles, 0, 0);
	vt_calc_add(&src, &rest, &sum);
	assert_float_equal(sum.cycles, 1100, 0);
	assert_float_equal(sum.samples, 53, 0);
	vt_calc_add(&src, &f, &sum);
	assert_float_equal(sum.cycles, 1800, 0);
}

/* ---- what a cause costs procedures ---- */

static const char *rank(const struct vt_cyclerank_options *o, enum vt_table_form form)
{
	struct vt_cyclerank *r = vt_cyclerank_new(&src);
	struct vt_table *t = vt_table_new();
	const char *text;

	assert_true(r && t);
	assert_true(vt_cyclerank_add(r, MISSING_IMAGE));
	assert_true(vt_cyclerank_add(r, 1));
	assert_true(vt_cyclerank_fill(r, o, t));
	text = scene_text(print_table(t, form, false), dir);
	vt_table_free(t);
	vt_cyclerank_free(r);
	return text;
}

#define KEYS "low_cycles,high_cycles,low,high,own_low,own_high,cycles,percent,procedure,image\n"

/* Of 2100 cycles, 700 are f's; in the middle, it loses as many to the cache as g does. */
static void test_rank(void **state)
{
	struct vt_cyclerank_options o = {.cause = VT_STALL_DCACHE};

	(void)state;
	assert_string_equal(rank(&o, VT_TABLE_CSV),
			    KEYS "100,200,4.7619,9.52381,14.2857,28.5714,700,33.3333,f,D/prog\n"
				 "150,150,7.14286,7.14286,50,50,300,14.2857,g,D/prog\n"
				 "50,50,2.38095,2.38095,50,50,100,4.7619,[no symbol covers it],"
				 "D/prog\n"
				 "0,100,0,4.7619,0,10,1000,47.619,[file not found],/no/such/lib\n");
	o.top = 2;
	assert_string_equal(rank(&o, VT_TABLE_TEXT),
			    "at least  at most  of its own   up to  cycles  procedure  image\n"
			    "   4.76%    9.52%      14.29%  28.57%  33.33%  f          D/prog\n"
			    "   7.14%    7.14%      50.00%  50.00%  14.29%  g          D/prog\n");
	o = (struct vt_cyclerank_options){.cause = VT_STALL_DTLB};
	assert_string_equal(rank(&o, VT_TABLE_CSV),
			    KEYS "0,60,0,2.85714,0,8.57143,700,33.3333,f,D/prog\n");
	/* What is gained, too, by the size of it. */
	o.cause = VT_STALL_GAIN;
	assert_string_equal(
		rank(&o, VT_TABLE_CSV),
		KEYS "-40,-60,-1.90476,-2.85714,-5.71429,-8.57143,700,33.3333,f,D/prog\n"
		     "-50,-50,-2.38095,-2.38095,-5,-5,1000,47.619,[file not found],/no/such/lib\n");
	o.cause = VT_STALL_MISPREDICT;
	assert_string_equal(rank(&o, VT_TABLE_CSV), KEYS);
}

/* Percents of all cycles that are lost at least: 50 of 2100 are not quite 2.4. */
static void test_rank_cutoff(void **state)
{
	struct vt_cyclerank_options o = {.cause = VT_STALL_DTLB, .cutoff = 100 * 30.0 / 2100};

	(void)state;
	assert_int_equal(strlen(rank(&o, VT_TABLE_CSV)) > strlen(KEYS), true);
	o.cutoff = 1.43;
	assert_string_equal(rank(&o, VT_TABLE_CSV), KEYS);
}

/* Sums that are no 64-bit integers. */
static void test_rank_much(void **state)
{
	struct vt_cyclerank_options o = {.cause = VT_STALL_DCACHE};
	const struct vt_calc_source shared = src;
	struct vt_cyclerank *r;
	struct vt_table *t = vt_table_new();
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct scene much;

	(void)state;
	scene_image(w, MISSING_IMAGE, "/no/such/lib");
	scene_freq(w, MISSING_IMAGE, 0x10, 1e19, 2, NAN);
	put_stall(w, MISSING_IMAGE, 0x10, VT_STALL_DCACHE, 8e18, 1e19);
	/* Of an image that the stream does not tell of. */
	scene_freq(w, 8, 0, 9e18, 1, NAN);
	put_stall(w, 8, 0, VT_STALL_DTLB, 9e18, 9e18);
	scene_read(&much, fd, w, false);
	src.images = much.images;
	src.freqs = much.freqs;
	assert_string_equal(rank(&o, VT_TABLE_CSV),
			    KEYS "8000000000000000000,1e+19,40,50,40,50,2e+19,100,"
				 "[file not found],/no/such/lib\n");
	r = vt_cyclerank_new(&src);
	assert_true(r && t);
	assert_true(vt_cyclerank_add(r, 8));
	o.cause = VT_STALL_DTLB;
	assert_true(vt_cyclerank_fill(r, &o, t));
	assert_string_equal(print_table(t, VT_TABLE_CSV, false),
			    KEYS "9e+18,9e+18,100,100,100,100,9e+18,100,"
				 "[image not in the stream],?\n");
	vt_table_free(t);
	vt_cyclerank_free(r);
	src = shared;
	scene_drop(&much);
}

/* Of what loses the same, by image. */
static void test_rank_ties(void **state)
{
	static const uint32_t order[] = {7, 9, 6, 8};
	const struct vt_cyclerank_options o = {.cause = VT_STALL_DCACHE};
	struct vt_calc_source ties = {.event = SIZE_MAX};
	struct vt_table *t = vt_table_new();
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_cyclerank *r;
	struct scene same;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		char path[] = "/no/0";

		path[4] = (char)('0' + order[i]);
		scene_image(w, order[i], path);
		scene_freq(w, order[i], 0x10, 100, 2, NAN);
		put_stall(w, order[i], 0x10, VT_STALL_DCACHE, i, 10 - i);
	}
	scene_read(&same, fd, w, false);
	ties.images = same.images;
	ties.freqs = same.freqs;
	r = vt_cyclerank_new(&ties);
	assert_non_null(r);
	for (i = 0; i < 4; i++)
		assert_true(vt_cyclerank_add(r, order[i]));
	assert_true(vt_cyclerank_fill(r, &o, t));
	assert_string_equal(print_table(t, VT_TABLE_CSV, false),
			    KEYS "2,8,0.25,1,1,4,200,25,[file not found],/no/6\n"
				 "0,10,0,1.25,0,5,200,25,[file not found],/no/7\n"
				 "3,7,0.375,0.875,1.5,3.5,200,25,[file not found],/no/8\n"
				 "1,9,0.125,1.125,0.5,4.5,200,25,[file not found],/no/9\n");
	vt_table_free(t);
	vt_cyclerank_free(r);
	scene_drop(&same);
}

/* Within an image by where procedures begin, and what lies in none last; less than a cycle counts.
 */
static void test_rank_order(void **state)
{
	static const uint64_t offsets[] = {0xff0, 0x1000, 0x101c};
	const struct vt_cyclerank_options o = {.cause = VT_STALL_DCACHE};
	const struct vt_calc_source shared = src;
	struct vt_table *t = vt_table_new();
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	const char *text, *first, *second;
	struct vt_cyclerank *r;
	struct scene same;
	size_t i;

	(void)state;
	scene_image(w, 1, toolbox_path(dir, "prog"));
	for (i = 0; i < 3; i++) {
		scene_freq(w, 1, offsets[i], 100, 3, NAN);
		put_stall(w, 1, offsets[i], VT_STALL_DCACHE, 0.5, 0.5);
	}
	scene_read(&same, fd, w, false);
	src.images = same.images;
	src.freqs = same.freqs;
	r = vt_cyclerank_new(&src);
	assert_true(r && t);
	assert_true(vt_cyclerank_add(r, 1));
	assert_true(vt_cyclerank_fill(r, &o, t));
	text = print_table(t, VT_TABLE_CSV, false);
	first = strstr(text, ",f,");
	second = strstr(text, ",g,");
	assert_true(first && second && strstr(text, ",["));
	assert_true(first < second && second < strstr(text, ",["));
	vt_table_free(t);
	vt_cyclerank_free(r);
	src = shared;
	scene_drop(&same);
}

static void test_rank_header(void **state)
{
	const struct vt_cyclerank_options o = {.cause = VT_STALL_DCACHE};
	struct vt_cyclesum all = {.executions = 400, .cycles = 1000, .timed = true};
	struct vt_output out;

	(void)state;
	all.low[VT_STALL_DCACHE] = 125;
	all.high[VT_STALL_DCACHE] = 300;
	print_begin(&out);
	vt_cyclerank_header(&o, &all, &out);
	assert_string_equal(
		print_end(&out),
		"*** Confidence  high 0.0%, medium 0.0%, low 0.0%, no estimate 0.0% of the cycles\n"
		"*** Actual      1000/400 = 2.50CPI\n"
		"*** d = D-cache miss: 12.5% to 30.0% of the cycles\n\n");
	all.stalls = true;
	all.not_judged = 100;
	print_begin(&out);
	vt_cyclerank_header(&o, &all, &out);
	assert_non_null(strstr(print_end(&out), "d = D-cache miss: 12.5% to 40.0% of the cycles, "
						"as 10.0% were not judged\n\n"));
	/* Bounds of several regions may be more than all that there is. */
	all.cycles = 200;
	print_begin(&out);
	vt_cyclerank_header(&o, &all, &out);
	assert_non_null(strstr(print_end(&out), "D-cache miss: 62.5% to 100.0%"));
	all.cycles = 0;
	print_begin(&out);
	vt_cyclerank_header(&o, &all, &out);
	assert_null(strstr(print_end(&out), "D-cache"));
}

/* ---- views ---- */

static void count_warning(void *arg, const char *text)
{
	assert_non_null(strstr(text, "/no/such/lib"));
	++*(unsigned *)arg;
}

/* What is printed of these procedures, with the code that it gives. */
static const char *view(struct vt_cyclelist *l, const struct vt_procedure *list, size_t count,
			int want)
{
	const struct vt_found found = {.list = (struct vt_procedure *)list, .count = count};
	struct vt_hash images;
	struct vt_output out;
	uint32_t id;

	vt_hash_init(&images, sizeof(id), sizeof(id));
	for (id = 1; id <= MISSING_IMAGE; id += MISSING_IMAGE - 1)
		assert_non_null(vt_hash_add(&images, &id, NULL));
	l->src = src;
	l->images = &images;
	l->out = &out;
	l->warn = count_warning;
	assert_ptr_equal(vt_cyclelist_unknown(l), l->nnames > 1 ? l->names[1] : NULL);
	print_begin(&out);
	assert_int_equal(vt_cyclelist_print(l, &found, &err), want);
	vt_hash_fini(&images);
	return print_end(&out);
}

static void test_views(void **state)
{
	static const char *const names[] = {"lib", "none"};
	const struct vt_procedure both[] = {f, {.image = MISSING_IMAGE, .name = "", .end = 0}};
	const struct vt_losses losses = {0};
	struct vt_cyclelist l = {.view = VT_CYCLES_SUMMARY};
	unsigned warnings = 0;

	(void)state;
	assert_non_null(strstr(view(&l, NULL, 0, 0), "All images\n"));
	l = (struct vt_cyclelist){.view = VT_CYCLES_SUMMARY, .names = names, .nnames = 1};
	assert_non_null(strstr(view(&l, NULL, 0, 0), "/no/such/lib\n"));
	l.losses = &losses;
	l.nnames = 2;
	assert_non_null(strstr(view(&l, NULL, 0, 0), "\"images\": [\n    {\n      \"image\": "
						     "\"/no/such/lib\""));
	assert_non_null(strstr(view(&l, both, 2, 0), "\"procedure\": \"[no procedure]\""));
	l = (struct vt_cyclelist){.view = VT_CYCLES_CALC, .arg = &warnings};
	assert_non_null(strstr(view(&l, both, 2, 0), "\n401000  push "));
	assert_int_equal(l.count, 1);
	assert_int_equal(warnings, 1);
	view(&l, &both[1], 1, -VT_E_ABSENT);
	assert_int_equal(warnings, 1);
	l = (struct vt_cyclelist){.view = VT_CYCLES_GRAPH, .dot = true};
	assert_non_null(strstr(view(&l, &f, 1, 0), "digraph"));
	l = (struct vt_cyclelist){.view = VT_CYCLES_STALL, .cause = VT_STALL_DCACHE, .top = 1};
	assert_non_null(strstr(view(&l, NULL, 0, 0), "D-cache"));
	l.losses = &losses;
	assert_non_null(strstr(view(&l, NULL, 0, 0), "\"schema\": \"vlist-stall/1\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_range),	    cmocka_unit_test(test_insns),
		cmocka_unit_test(test_names),	    cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_edges),	    cmocka_unit_test(test_none),
		cmocka_unit_test(test_rank),	    cmocka_unit_test(test_rank_ties),
		cmocka_unit_test(test_rank_cutoff), cmocka_unit_test(test_rank_header),
		cmocka_unit_test(test_rank_much),   cmocka_unit_test(test_rank_order),
		cmocka_unit_test(test_views),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
