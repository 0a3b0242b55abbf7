/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often instructions were executed, and control went from one to another, by what was run. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "freq/counted.h"
#include "tests/unit/common/profiles.h"
#include "tests/unit/common/simruns.h"

#define IMAGE 1

static struct vt_error err;

/* Counts what `put` writes. */
static struct vt_flowcount *count(put_fn *put)
{
	struct vt_context *context = vt_context_new(NULL);
	struct vt_flowcount *c = vt_flowcount_new(context);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	assert_true(context && c);
	vt_context_add(context, &(struct vt_consumer){.record = vt_flowcount_feed, .arg = c});
	put(w);
	read_context(context, fd, w);
	assert_int_equal(vt_flowcount_finish(c, &err), 0);
	vt_context_free(context);
	return c;
}

static void assert_insn(const struct vt_flowcount *c, uint64_t offset, double n)
{
	if (vt_flowcount_insn(c, IMAGE, offset) != n)
		fail_msg("%#llx: %g, not %g", (unsigned long long)offset,
			 vt_flowcount_insn(c, IMAGE, offset), n);
}

static void assert_edge(const struct vt_flowcount *c, uint64_t from, uint64_t to, double n)
{
	double got = -1;

	assert_true(vt_flowcount_edge(c, IMAGE, from, to, &got));
	if (got != n)
		fail_msg("%#llx to %#llx: %g, not %g", (unsigned long long)from,
			 (unsigned long long)to, got, n);
}

/* ---- what was run ---- */

/*
 * 1018: e8 e3 ff ff ff  call 1000, behind the store
 */
static const uint8_t call_code[] = {0xe8, 0xe3, 0xff, 0xff, 0xff};

/* By two threads in turns; the call does not come back, and neither does the last block. */
static void put_runs(struct vt_writer *w)
{
	const struct block call = {CODE + 0x18, CODE, call_code,	 5, 1, {5},
				   0,		{0},  .end = VT_END_CALL};
	const struct run runs[] = {
		{PID, PID, 0, 5, "01", 1, 2},	  {PID, PID + 1, 0, 8, "012", 1, 3},
		{PID, PID, 0, 3, "0", 1, 2},	  {PID, PID + 1, 0, 1, "3", 1, 0},
		{PID, PID + 1, 0, 5, "01", 1, 2}, {PID, PID, 0, 2, "1", 1, 0},
		{PID, PID, 1, 2, "2", 1, 0},
	};
	unsigned i;

	put_code(w, PID, 0);
	put_block(w, 3, &call, PID, true);
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		put_exec(w, &runs[i]);
}

static void test_runs(void **state)
{
	struct vt_flowcount *c = count(put_runs);
	double n;

	(void)state;
	assert_true(vt_flowcount_any(c));
	assert_true(vt_flowcount_has(c, IMAGE));
	assert_false(vt_flowcount_has(c, IMAGE + 1));
	assert_int_equal(vt_flowcount_bad(c), 0);
	assert_insn(c, 0x400, 4);
	assert_insn(c, 0x404, 4);
	assert_insn(c, 0x410, 4);
	assert_insn(c, 0x411, 4);
	assert_insn(c, 0x413, 1);
	assert_insn(c, 0x416, 2); /* once without the first of its block */
	assert_insn(c, 0x417, 2);
	assert_insn(c, 0x418, 1);
	assert_insn(c, 0x402, 0);
	/* Between blocks, by thread. */
	assert_edge(c, 0x404, 0x410, 4);
	assert_edge(c, 0x411, 0x400, 1);
	assert_edge(c, 0x411, 0x413, 1 + 4 - 3); /* one leads nowhere that was seen */
	assert_edge(c, 0x411, 0x416, 1);
	assert_edge(c, 0x417, 0x418, 1 + 2 - 1);
	/* Within them, each follows the one before it. */
	assert_edge(c, 0x400, 0x401, 4);
	assert_edge(c, 0x416, 0x417, 2);
	assert_edge(c, 0x400, 0x404, 0);
	/* Behind a call, what it leads to comes first. */
	assert_edge(c, 0x418, 0x400, 1);
	assert_edge(c, 0x418, 0x41d, 1);
	assert_edge(c, 0x999, 0x99a, 0);
	assert_true(vt_flowcount_edge(c, IMAGE + 1, 0x404, 0x410, &n) && n == 0);
	vt_flowcount_free(c);
}

/* Another block has the last instruction of the first one, too, and a branch of its own. */
static void put_overlap(struct vt_writer *w)
{
	const struct block tail = {CODE + 4, 0, call_code, 5, 1, {5}, 0, {0}, .end = VT_END_FALL};
	const struct run runs[] = {{PID, PID, 0, 3, "0", 1, 2},
				   {PID, PID, 0, 1, "3", 1, 0},
				   {PID, PID, 0, 1, "3", 1, 0}};
	unsigned i;

	put_code(w, PID, 0);
	put_block(w, 3, &tail, PID, true);
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		put_exec(w, &runs[i]);
}

/* What is executed as a part of several blocks adds up. */
static void test_overlap(void **state)
{
	struct vt_flowcount *c = count(put_overlap);

	(void)state;
	assert_insn(c, 0x400, 1);
	assert_insn(c, 0x401, 1);
	assert_insn(c, 0x404, 3);
	assert_insn(c, 0x409, 0);
	assert_edge(c, 0x404, 0x404, 2);
	vt_flowcount_free(c);
}

/* A block of a nop and an indirect call: once both, once the nop alone. */
static void put_call(struct vt_writer *w)
{
	static const uint8_t bytes[] = {0x90, 0xff, 0xd0};
	const struct block call = {
		CODE + 0x18, 0, bytes, 3, 2, {1, 2}, 0, {0}, .end = VT_END_CALL_INDIRECT};
	const struct run runs[] = {{PID, PID, 0, 1, "3", 1, 0},
				   {PID, PID, 0, 3, "0", 1, 2},
				   {PID, PID, 0, 2, "3", 1, 0},
				   {PID, PID, 0, 3, "0", 1, 2}};
	unsigned i;

	put_code(w, PID, 0);
	put_block(w, 3, &call, PID, true);
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		put_exec(w, &runs[i]);
}

/* Its last instruction is one alone. */
static void test_call(void **state)
{
	struct vt_flowcount *c = count(put_call);

	(void)state;
	assert_insn(c, 0x418, 2);
	assert_insn(c, 0x419, 1);
	assert_edge(c, 0x418, 0x400, 1);
	assert_edge(c, 0x418, 0x419, 1);
	assert_edge(c, 0x419, 0x400, 1);
	assert_edge(c, 0x419, 0x41b, 1);
	vt_flowcount_free(c);
}

/* Block 3 lies in another image, 4 in none. */
static void put_elsewhere(struct vt_writer *w)
{
	const struct block other = {0x5000, 0, call_code, 5, 1, {5}, 0, {0}, .end = VT_END_FALL};
	struct block none = other;
	const struct run runs[] = {{PID, PID, 0, 5, "112", 1, 1}, {PID, PID, 0, 1, "3", 1, 0},
				   {PID, PID, 0, 2, "1", 1, 0},	  {PID, PID, 0, 1, "4", 1, 0},
				   {PID, PID, 0, 2, "1", 1, 0},	  {PID, PID, 0, 1, "3", 1, 0},
				   {PID, PID, 0, 2, "1", 1, 0}};
	uint64_t *row;
	unsigned i;

	put_code(w, PID, 0);
	row = vt_writer_row(w, VT_MAP);
	row[VT_MAP_PID] = row[VT_MAP_TID] = PID;
	row[VT_MAP_START] = 0x5000;
	row[VT_MAP_LENGTH] = 0x1000;
	row[VT_MAP_IMAGE] = 2;
	row[VT_MAP_PROT] = 5;
	put_block(w, 3, &other, PID, true);
	none.addr = 0x9000;
	put_block(w, 4, &none, PID, true);
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		put_exec(w, &runs[i]);
}

/* Control that goes elsewhere goes along no edge, but it does not fall through either. */
static void test_elsewhere(void **state)
{
	struct vt_flowcount *c = count(put_elsewhere);
	double n = -1;

	(void)state;
	assert_insn(c, 0x410, 5);
	assert_edge(c, 0x411, 0x410, 1);
	/* One to it; of all five, one to itself, two elsewhere, and one nowhere that was seen. */
	assert_edge(c, 0x411, 0x413, 1 + 5 - 4);
	assert_edge(c, 0x411, 0, 0);
	assert_true(vt_flowcount_edge(c, 2, 0, 5, &n) && n == 0);
	assert_true(vt_flowcount_insn(c, 2, 0) == 2);
	assert_true(vt_flowcount_edge(c, 2, 0, 0x10, &n) && n == 0);
	vt_flowcount_free(c);
}

/* ---- what was counted ---- */

static void put_event(struct vt_writer *w, uint64_t id, const char *name, enum vt_policy policy)
{
	uint64_t *row = vt_writer_row(w, VT_EVENT);

	row[VT_EVENT_ID] = id;
	row[VT_EVENT_POLICY] = policy;
	vt_writer_text(w, VT_EVENT_NAME, name);
}

static void put_count(struct vt_writer *w, uint64_t event, uint64_t offset, uint64_t n)
{
	uint64_t *row = vt_writer_row(w, VT_COUNT);

	row[VT_COUNT_IMAGE] = IMAGE;
	row[VT_COUNT_OFFSET] = offset;
	row[VT_COUNT_EVENT] = event;
	row[VT_COUNT_SAMPLES] = n;
}

static void put_edge(struct vt_writer *w, uint64_t from, double n, enum vt_confidence confidence)
{
	uint64_t *row = vt_writer_row(w, VT_EDGE);

	row[VT_EDGE_IMAGE] = IMAGE;
	row[VT_EDGE_FROM] = from;
	row[VT_EDGE_TO] = 0x80;
	row[VT_EDGE_CONFIDENCE] = confidence;
	memcpy(&row[VT_EDGE_EXECUTIONS], &n, sizeof(n));
}

static void put_freq(struct vt_writer *w, uint64_t offset, double n, enum vt_confidence confidence)
{
	uint64_t *row = vt_writer_row(w, VT_FREQ);

	row[VT_FREQ_IMAGE] = IMAGE;
	row[VT_FREQ_OFFSET] = offset;
	row[VT_FREQ_CONFIDENCE] = confidence;
	memcpy(&row[VT_FREQ_EXECUTIONS], &n, sizeof(n));
}

static void put_counts(struct vt_writer *w)
{
	put_event(w, 1, "instructions", VT_POLICY_EXACT);
	put_event(w, 2, "instructions", VT_POLICY_PRECISE);
	put_event(w, 3, "instructionx", VT_POLICY_EXACT);
	put_event(w, 4, "instructions:u", VT_POLICY_EXACT);
	put_count(w, 1, 0x10, 5);
	put_count(w, 1, 0x10, 6);
	put_count(w, 2, 0x20, 7);
	put_count(w, 3, 0x30, 8);
	put_count(w, 4, 0x40, 8);
	put_freq(w, 0x50, 9.5, VT_CONFIDENCE_EXACT);
	put_freq(w, 0x50, 1, VT_CONFIDENCE_HIGH);
	put_freq(w, 0x70, 0.5, VT_CONFIDENCE_EXACT);
	put_freq(w, 0x80, 0, VT_CONFIDENCE_EXACT);
	put_freq(w, 0x60, -1, VT_CONFIDENCE_EXACT);
	put_freq(w, 0x60, INFINITY, VT_CONFIDENCE_EXACT);
}

static void put_edges(struct vt_writer *w)
{
	put_edge(w, 0x10, 3, VT_CONFIDENCE_EXACT);
	put_edge(w, 0x10, 4, VT_CONFIDENCE_EXACT);
	put_edge(w, 0x20, 4, VT_CONFIDENCE_HIGH);
	put_edge(w, 0x30, NAN, VT_CONFIDENCE_EXACT);
	put_edge(w, 0x40, 0.5, VT_CONFIDENCE_EXACT);
	put_edge(w, 0x30, 0, VT_CONFIDENCE_EXACT);
}

static void put_one(struct vt_writer *w)
{
	put_freq(w, 0x50, 9.5, VT_CONFIDENCE_EXACT);
}

static void put_nothing(struct vt_writer *w)
{
	put_event(w, 1, "instructions", VT_POLICY_EXACT);
}

static void test_counts(void **state)
{
	struct vt_flowcount *c = count(put_counts);
	double n = -1;

	(void)state;
	assert_insn(c, 0x10, 11);
	assert_insn(c, 0x20, 0);
	assert_insn(c, 0x30, 0);
	assert_insn(c, 0x40, 0);
	assert_insn(c, 0x50, 9.5);
	assert_insn(c, 0x60, 0);
	assert_insn(c, 0x70, 0.5);
	assert_int_equal(vt_flowcount_bad(c), 2);
	/* Of edges nothing was counted. */
	assert_false(vt_flowcount_edge(c, IMAGE, 0x10, 0x80, &n));
	assert_true(n == 0);
	vt_flowcount_free(c);
	c = count(put_edges);
	assert_edge(c, 0x10, 0x80, 7);
	assert_edge(c, 0x20, 0x80, 0);
	assert_edge(c, 0x30, 0x80, 0);
	assert_edge(c, 0x40, 0x80, 0.5);
	assert_int_equal(vt_flowcount_bad(c), 1);
	assert_false(vt_flowcount_any(c));
	vt_flowcount_free(c);
	c = count(put_one);
	assert_true(vt_flowcount_any(c));
	vt_flowcount_free(c);
	c = count(put_nothing);
	assert_false(vt_flowcount_any(c));
	assert_false(vt_flowcount_has(c, IMAGE));
	vt_flowcount_free(c);
}

/* The kernel's mappings, of -1 or 0, are there in every run. */
static void put_kernel(struct vt_writer *w)
{
	vt_writer_row(w, VT_MAP)[VT_MAP_PID] = (uint64_t)-1;
	vt_writer_row(w, VT_MAP)[VT_MAP_PID] = 0;
}

static void test_processes(void **state)
{
	struct vt_flowcount *c = count(put_runs);

	(void)state;
	assert_true(vt_flowcount_ran(c, PID));
	assert_false(vt_flowcount_ran(c, PID + 1));
	assert_true(vt_flowcount_ran_any(c));
	vt_flowcount_free(c);
	c = count(put_kernel);
	assert_false(vt_flowcount_ran(c, -1));
	assert_false(vt_flowcount_ran(c, 0));
	assert_false(vt_flowcount_ran_any(c));
	vt_flowcount_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),	  cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_elsewhere), cmocka_unit_test(test_call),
		cmocka_unit_test(test_counts),	  cmocka_unit_test(test_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
