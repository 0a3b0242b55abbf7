/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What branch stacks count of a procedure's instructions and edges, added up run by run. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "freq/stack_flow.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/freq/stacks.h"

#define BASE   0x10000
#define IMAGE  7
#define START  0x401000
#define OFFSET 0x100 /* of the procedure in its image */

static struct vt_error err;

/*
 * At 0, inc and je to 0xb; at 5, nop and a call; at 0xb, dec and jne to 0; at 0x10, jmp to what is
 * behind it; at 0x12, ret.
 */
static const uint8_t code[] = {0x48, 0xff, 0xc0, 0x74, 0x06, 0x90, 0xe8, 0xf5, 0x01, 0x00,
			       0x00, 0x48, 0xff, 0xc9, 0x75, 0xf0, 0xeb, 0x00, 0xc3};

/* A stack, newest branch first: where it is, and where it goes, from the procedure's start. */
static void put_stack(struct vt_writer *w, const uint64_t (*branches)[2], size_t n)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE), from[8], to[8], flags[8] = {0};
	size_t i;

	row[VT_SAMPLE_PID] = 5;
	row[VT_SAMPLE_EVENT] = 1;
	row[VT_SAMPLE_PERIOD] = 100;
	for (i = 0; i < n; i++) {
		from[i] = BASE + OFFSET + branches[i][0];
		to[i] = BASE + OFFSET + branches[i][1];
	}
	vt_writer_words(w, VT_SAMPLE_BR_FROM, from, n);
	vt_writer_words(w, VT_SAMPLE_BR_TO, to, n);
	vt_writer_words(w, VT_SAMPLE_BR_FLAGS, flags, n);
}

struct stack {
	uint64_t branches[5][2];
	size_t n;
};

static struct vt_stackcount *count(const struct stack *stacks, size_t n)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint64_t *row = vt_writer_row(w, VT_EVENT);
	size_t i;

	row[VT_EVENT_ID] = 1;
	row[VT_EVENT_BRANCH_TYPE] = 8; /* PERF_SAMPLE_BRANCH_ANY */
	vt_writer_row(w, VT_IMAGE)[VT_IMAGE_ID] = IMAGE;
	row = vt_writer_row(w, VT_MAP);
	row[VT_MAP_PID] = 5;
	row[VT_MAP_START] = BASE;
	row[VT_MAP_LENGTH] = 4096;
	row[VT_MAP_IMAGE] = IMAGE;
	row[VT_MAP_PROT] = 5;
	for (i = 0; i < n; i++)
		put_stack(w, stacks[i].branches, stacks[i].n);
	return stacks_read(w, fd);
}

/* ---- the slow way ---- */

struct expected {
	struct vt_stackcount *c;
	const struct vt_cfg *g;
	double scale;
};

static void add(struct vt_stackcount_sum *to, const struct vt_stackcount_sum *s)
{
	size_t i;

	for (i = 0; i < VT_STACK_PARTS; i++)
		to->parts[i] += s->parts[i];
	to->variance += s->variance;
	to->bias += s->bias;
}

/* Runs over an instruction; with `on`, those that go on behind it. */
static void add_runs(const struct expected *e, uint64_t at, bool on, struct vt_stackcount_sum *sum)
{
	size_t n, i;
	const struct vt_stackcount_link *l =
		vt_stackcount_links(e->c, 1, IMAGE, 0, true, 0, 4096, &n);

	assert_true(n >= 7);
	for (i = 0; i < n; i++) {
		uint64_t first = l[i].from - OFFSET, last = l[i].to - OFFSET;

		if (first != 1 && last < sizeof(code) && first <= at &&
		    (on ? at < last : at <= last))
			add(sum, &l[i].sum);
	}
}

/* Jumps from one place to another. */
static void add_jumps(const struct expected *e, uint64_t from, uint64_t to,
		      struct vt_stackcount_sum *sum)
{
	size_t n, i;
	const struct vt_stackcount_link *l =
		vt_stackcount_links(e->c, 1, IMAGE, 0, false, 0, 4096, &n);

	for (i = 0; i < n; i++)
		if (l[i].from == OFFSET + from && l[i].to == OFFSET + to)
			add(sum, &l[i].sum);
}

static void check(const struct expected *e, const struct vt_freq_measure *m,
		  const struct vt_stackcount_sum *sum, const char *what, unsigned i)
{
	double n = vt_stackcount_count(sum) * e->scale;
	double sigma = vt_stackcount_sigma(sum) * e->scale;

	if (fabs(m->executions - n) > 1e-6 || fabs(m->sigma - sigma) > 1e-6)
		fail_msg("%s %u: %g +- %g, not %g +- %g", what, i, m->executions, m->sigma, n,
			 sigma);
}

static void test_all(void **state)
{
	static const struct stack stacks[] = {
		{{{0x12, 0x300}, {0xe, 0}, {0xe, 0}, {3, 0xb}, {0x200, 0}}, 5},
		{{{6, 0x200}, {0xe, 0}, {0x300, 5}}, 3},
		/* Within an instruction, and into what follows the procedure. */
		{{{0xe, 0}, {0x300, 1}}, 2},
		{{{0x80, 0}, {0x300, 0xb}}, 2},
		{{{0x10, 0x12}, {0x300, 0xb}}, 2},
		{{{3, 0xb}, {0x300, 0}}, 2},
	};
	/* From, to, whether its jump is told, and whether control may go on without one. */
	static const struct {
		uint64_t from, to, last;
		bool jumps, goes_on;
	} edges[] = {{0, 0xb, 3, true, false},
		     {0, 5, 3, false, true},
		     {0xb, 0, 0xe, true, false},
		     {0xb, 0x10, 0xe, false, true},
		     {0x10, 0x12, 0x10, true, true}};
	const struct vt_cfg_source src = {.code = code, .size = sizeof(code), .start = START};
	struct vt_cfg *g = vt_cfg_new(&src, &err);
	const struct vt_procflow f = {
		.proc = {.image = IMAGE, .start = START, .end = START + sizeof(code)}, .cfg = g};
	struct expected e = {count(stacks, 6), g, 2.5};
	struct vt_freq_counts s = {0};
	unsigned i, k, known = 0;

	(void)state;
	assert_non_null(g);
	assert_int_equal(g->ninsns, 8);
	assert_int_equal(vt_stackflow_measure(e.c, 1, &f, OFFSET, e.scale, &s, &err), 0);
	for (i = 0; i < g->ninsns; i++) {
		struct vt_stackcount_sum sum = {.variance = 0};

		add_runs(&e, g->insns[i].addr - START, false, &sum);
		check(&e, &s.measured[i], &sum, "instruction", i);
		assert_true(s.measured[i].executions > 0);
	}
	for (i = 0; i < g->nedges; i++) {
		uint64_t from = g->blocks[g->edges[i].from].start - START;
		uint64_t to = g->blocks[g->edges[i].to].start - START;
		struct vt_stackcount_sum sum = {.variance = 0};

		for (k = 0; k < 5 && (edges[k].from != from || edges[k].to != to); k++)
			continue;
		if (k == 5) {
			assert_float_equal(s.measured_edges[i].executions, -1, 0);
			assert_float_equal(s.measured_edges[i].sigma, 0, 0);
			continue;
		}
		known++;
		if (edges[k].jumps)
			add_jumps(&e, edges[k].last, to, &sum);
		if (edges[k].goes_on)
			add_runs(&e, edges[k].last, true, &sum);
		check(&e, &s.measured_edges[i], &sum, "edge", i);
		assert_true(s.measured_edges[i].executions > 0);
	}
	assert_int_equal(known, 5);
	assert_int_equal(g->nedges, 8);
	vt_freq_counts_fini(&s);
	s = (struct vt_freq_counts){0};
	/* Of another event, and where no run begins, there is nothing. */
	assert_int_equal(vt_stackflow_measure(e.c, 2, &f, OFFSET, 1, &s, &err), 0);
	assert_true(!s.measured && !s.measured_edges);
	assert_int_equal(vt_stackflow_measure(e.c, 1, &f, 0x800, 1, &s, &err), 0);
	assert_true(!s.measured && !s.measured_edges);
	vt_cfg_free(g);
	vt_stackcount_free(e.c);
}

/* ---- one stack, of a period of 100 ---- */

/* At 0, jmp to what is behind it; at 2, nop and je to what is behind it; at 5, ret. */
static const uint8_t jumps[] = {0xeb, 0x00, 0x90, 0x74, 0x00, 0xc3};

/* How often each edge within the code is gone along, when there is one stack of one run. */
static void check_one(const uint8_t *bytes, size_t size, const uint64_t (*branches)[2],
		      const double *want, size_t nwant, enum vt_cfg_edge_kind taken)
{
	const struct vt_cfg_source src = {.code = bytes, .size = size, .start = START};
	struct vt_cfg *g = vt_cfg_new(&src, &err);
	const struct vt_procflow f = {.proc = {.image = IMAGE, .start = START, .end = START + size},
				      .cfg = g};
	struct stack stack = {.n = 2};
	double got[6] = {0};
	struct vt_stackcount *c;
	struct vt_freq_counts s = {0};
	size_t i, n = 0;

	assert_non_null(g);
	memcpy(stack.branches, branches, 2 * sizeof(*branches));
	c = count(&stack, 1);
	for (i = 0; i < g->nedges; i++)
		if (g->edges[i].kind == VT_EDGE_TAKEN)
			g->edges[i].kind = taken;
	assert_int_equal(vt_stackflow_measure(c, 1, &f, OFFSET, 1, &s, &err), 0);
	for (i = 0; i < g->nedges; i++) {
		if (!g->blocks[g->edges[i].from].ninsns || !g->blocks[g->edges[i].to].ninsns)
			continue;
		assert_true(n < 6);
		assert_true(s.measured_edges[i].executions > 0 || s.measured_edges[i].sigma == 0);
		got[n++] = s.measured_edges[i].executions;
	}
	assert_int_equal(n, nwant);
	for (i = 0; i < nwant; i++)
		if (fabs(got[i] - want[i]) > 1e-9)
			fail_msg("edge %zu: %g, not %g", i, got[i], want[i]);
	vt_freq_counts_fini(&s);
	vt_cfg_free(g);
	vt_stackcount_free(c);
}

/* Jumps that were not taken, though others were from there or elsewhere; by a table, too. */
static void test_not_taken(void **state)
{
	static const struct {
		uint64_t branches[2][2];
		double want[6]; /* from 3 on, 0xb; from 6; from 0xe on, 0; from 0x10 */
	} rows[] = {
		{{{3, 0xb}, {0x300, 0}}, {0, 100, -1, 0, 0, 0}},
		{{{3, 0x20}, {0x300, 0}}, {0, 0, -1, 0, 0, 0}},
		{{{0x12, 0x300}, {0x300, 0}}, {100, 0, -1, 100, 0, 100}},
		{{{0xe, 0}, {0x300, 0xb}}, {0, 0, -1, 0, 100, 0}},
		{{{0x10, 0x12}, {0x300, 0x10}}, {0, 0, -1, 0, 0, 100}},
		/* A run of one instruction. */
		{{{3, 0xb}, {0x300, 3}}, {0, 100, -1, 0, 0, 0}},
	};
	unsigned i, table;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (table = 0; table < 2; table++)
			check_one(code, sizeof(code), rows[i].branches, rows[i].want, 6,
				  table ? VT_EDGE_SWITCH : VT_EDGE_TAKEN);
}

/* A jump to what is behind it is gone along where nothing else leads there. */
static void test_behind(void **state)
{
	static const uint64_t branches[2][2] = {{5, 0x300}, {0x300, 0}};
	static const double want[] = {100, 100, 0};

	(void)state;
	check_one(jumps, sizeof(jumps), branches, want, 3, VT_EDGE_TAKEN);
}

/* ---- as a source of counts ---- */

/* The stacks of the event of time, else of the one that has most; events 1 and 2 have 1 and 2. */
static void test_source(void **state)
{
	static const uint64_t timed[][3] = {{3, 0xb, 1}, {0x300, 0, 0}};
	static const uint64_t untimed[][3] = {{3, 0xb, 0}, {0x300, 0, 0}};
	static const struct {
		uint64_t time; /* id of the event of time */
		bool timed;
		double unit; /* a stack's period of 50 or 100, times the scale */
	} rows[] = {{1, true, 0}, {2, false, 150}, {9, false, 150}};
	const struct vt_cfg_source src = {.code = code, .size = sizeof(code), .start = START};
	struct vt_cfg *g = vt_cfg_new(&src, &err);
	const struct vt_procflow f = {
		.proc = {.image = IMAGE, .start = START, .end = START + sizeof(code)}, .cfg = g};
	struct vt_count_request r = {.flow = &f, .offset = 0, .scale = 3};
	struct vt_freq_counts none = {0};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	struct vt_stackcount *c;
	unsigned i;

	(void)state;
	stacks_put(w, 1, 100, timed, 2);
	stacks_put(w, 2, 50, untimed, 2);
	stacks_put(w, 2, 50, untimed, 2);
	c = stacks_read(w, fd);
	for (i = 0; i < 3; i++) {
		struct vt_freq_counts counts = {0};

		r.event = rows[i].time;
		assert_int_equal(vt_stackflow_count(c, &r, &counts, &err), 0);
		assert_true(counts.measured && counts.measured_edges && !counts.exact);
		assert_true(counts.measure_timed == rows[i].timed);
		if (rows[i].timed)
			assert_float_equal(counts.measure_unit,
					   3 * vt_stackcount_event(c, 1)->weight, 1e-9);
		else
			assert_float_equal(counts.measure_unit, rows[i].unit, 1e-9);
		if (!rows[i].timed)
			assert_float_equal(counts.measured[0].executions, 300, 1e-9);
		vt_freq_counts_fini(&counts);
	}
	assert_int_equal(vt_stackflow_count(NULL, &r, &none, &err), 0);
	assert_true(!none.measured && none.measure_unit == 0);
	vt_cfg_free(g);
	vt_stackcount_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_not_taken),
		cmocka_unit_test(test_behind),
		cmocka_unit_test(test_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
