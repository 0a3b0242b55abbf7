/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows of executed code with times in cycles, against what is worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "pairs/pairs.h"
#include "tests/unit/common/streams.h"

/* ---- streams ---- */

/* Blocks of 4, 2 and 1 instructions of one byte. */
enum { A, B, C, NBLOCKS };

static const uint64_t addrs[NBLOCKS] = {0x1000, 0x1100, 0x1200};
static const uint32_t sizes[NBLOCKS] = {4, 2, 1};

#define MOST 1200 /* blocks of a run */

struct run {
	uint64_t tid;
	uint64_t blocks[MOST];
	uint64_t nblocks;
	uint64_t skip, cut; /* instructions at the start and the end that were not executed */
	uint64_t cycles;    /* at the start */
	uint64_t at[MOST], times[MOST];
	size_t ntimes;
};

static void write_run(struct vt_writer *w, const struct run *r)
{
	uint64_t *row = vt_writer_row(w, VT_EXEC), i;
	static uint64_t none[MOST];
	uint8_t ids[2 * MOST];

	row[VT_EXEC_PID] = 5;
	row[VT_EXEC_TID] = r->tid;
	row[VT_EXEC_BLOCKS] = r->nblocks;
	row[VT_EXEC_SKIP] = r->skip;
	row[VT_EXEC_WIDTH] = 2;
	row[VT_EXEC_CYCLES] = r->cycles;
	for (i = 0; i < r->nblocks; i++) {
		vt_put_le16(ids + 2 * i, (uint16_t)r->blocks[i]);
		/* A block that is not there has some, too. */
		row[VT_EXEC_INSNS] +=
			r->blocks[i] < sizeof(sizes) / sizeof(sizes[0]) ? sizes[r->blocks[i]] : 4;
	}
	row[VT_EXEC_INSNS] -= r->skip + r->cut;
	vt_writer_bytes(w, VT_EXEC_IDS, ids, 2 * r->nblocks);
	vt_writer_words(w, VT_EXEC_TIME_AT, r->at, r->ntimes);
	vt_writer_words(w, VT_EXEC_TIME_TSC, none, r->ntimes);
	vt_writer_words(w, VT_EXEC_TIME_CYCLES, r->times, r->ntimes);
}

static struct vt_writer *begin_code(int fd)
{
	static const uint8_t ones[4] = {1, 1, 1, 1};
	struct vt_writer *w = start_stream(fd);
	uint64_t *row = vt_writer_row(w, VT_MAP), i;

	row[VT_MAP_PID] = 5;
	row[VT_MAP_START] = 0x1000;
	row[VT_MAP_LENGTH] = 0x1000;
	row[VT_MAP_IMAGE] = 1;
	row[VT_MAP_PROT] = 5;
	for (i = 0; i < NBLOCKS; i++) {
		row = vt_writer_row(w, VT_BLOCK);
		row[VT_BLOCK_ID] = i;
		row[VT_BLOCK_PID] = 5;
		row[VT_BLOCK_ADDR] = addrs[i];
		row[VT_BLOCK_SIZE] = row[VT_BLOCK_INSNS] = sizes[i];
		vt_writer_bytes(w, VT_BLOCK_LENGTHS, ones, sizes[i]);
	}
	return w;
}

/* ---- results ---- */

struct found {
	struct vt_context *context;
	struct vt_pairmetric metric;
	struct vt_pairs *pairs;
};

/* What the metric is of these runs. */
static const struct vt_pairs_totals *measure(struct found *f, const char *metric,
					     const struct run *runs, size_t n)
{
	int fd = scratch_file();
	struct vt_writer *w = begin_code(fd);
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_block *block;
	struct vt_reader *r;
	uint32_t first, count;
	size_t i;

	for (i = 0; i < n; i++)
		write_run(w, &runs[i]);
	r = reread_stream(fd, w);
	assert_int_equal(vt_pairmetric_parse(&f->metric, metric, &err), 0);
	f->context = vt_context_new(NULL);
	f->pairs = vt_pairs_new(f->context, &(struct vt_pairs_options){.metric = &f->metric}, &err);
	assert_non_null(f->pairs);
	vt_context_add(f->context, &(struct vt_consumer){.take = vt_pairs_feed, .arg = f->pairs});
	while (vt_reader_next_run(r, &block, &first, &count, &err) > 0)
		assert_int_equal(vt_context_feed(f->context, block, first, count, &err), 0);
	vt_pairs_finish(f->pairs);
	vt_reader_close(r);
	close(fd);
	return vt_pairs_totals(f->pairs);
}

static void end(struct found *f)
{
	vt_pairs_free(f->pairs);
	vt_context_free(f->context);
	vt_pairmetric_fini(&f->metric);
}

/* The sum of an instruction of a block; NULL: there is none. */
static const struct vt_pairsum *sum_of(const struct found *f, uint64_t block, uint32_t insn)
{
	uint64_t offset = addrs[block] - 0x1000 + insn;
	size_t i;

	for (i = 0; i < vt_pairs_nplaces(f->pairs); i++) {
		const struct vt_pairplace *p = vt_pairs_place(f->pairs, i);

		assert_int_equal(p->image, 1);
		assert_int_equal(p->event, 0);
		if (p->offset == offset)
			return vt_pairs_sum(f->pairs, p->row, VT_SPLIT_MET);
	}
	return NULL;
}

static bool same(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

static void expect_sum(const struct found *f, uint64_t block, uint32_t insn, uint64_t n, double x,
		       double y)
{
	const struct vt_pairsum *s = sum_of(f, block, insn);

	assert_non_null(s);
	assert_int_equal(s->pairs, n);
	assert_true(same(s->x, x));
	assert_true(same(s->y, y));
}

/* n times a block, each begun so many cycles after the one before; the end of the last is unknown.
 */
static struct run repeat(uint64_t block, uint64_t n, uint64_t from, uint64_t apart)
{
	struct run r = {.tid = 5, .nblocks = n, .cycles = from};
	uint64_t i;

	for (i = 0; i < n; i++)
		r.blocks[i] = block;
	for (i = 1; i < n; i++) {
		r.at[r.ntimes] = i;
		r.times[r.ntimes++] = from + apart * i;
	}
	return r;
}

/* Instruction i retires at cycle 2 i + 1 of 72: that of 2 has all of [.5, 9.5], and so on to 33. */
static void constant_rate(void **state)
{
	const struct run r = repeat(A, 10, 1000, 8);
	const struct vt_pairs_totals *t;
	struct found f;
	uint32_t i;

	(void)state;
	t = measure(&f, "ipc:4", &r, 1);
	assert_int_equal(t->windows, 32);
	assert_int_equal(t->untimed, 8);
	assert_int_equal(t->bad, 0);
	for (i = 0; i < 4; i++) {
		expect_sum(&f, A, i, 8, 8 * 4.5, 8 * 9);
		assert_true(vt_pairsum_value(sum_of(&f, A, i), false).value == .5);
	}
	end(&f);
	measure(&f, "retire-within:4", &r, 1);
	for (i = 0; i < 4; i++)
		assert_true(vt_pairsum_value(sum_of(&f, A, i), false).value == 3.5);
	end(&f);
}

/* An instruction each cycle, at .5, 1.5 and so on. */
static void borders(void **state)
{
	const struct run r = repeat(C, 11, 7, 1);
	const struct vt_pairs_totals *t;
	struct found f;

	(void)state;
	t = measure(&f, "ipc:0", &r, 1);
	assert_int_equal(t->windows, 10); /* [0, 1] to [9, 10] */
	assert_int_equal(t->untimed, 1);
	expect_sum(&f, C, 0, 10, 10, 10);
	assert_int_equal(sum_of(&f, C, 0)->missing, 1);
	end(&f);
	t = measure(&f, "ipc:1", &r, 1);
	assert_int_equal(t->windows, 8); /* [0, 3] to [7, 10] */
	assert_int_equal(t->untimed, 3);
	expect_sum(&f, C, 0, 8, 24, 24);
	assert_int_equal(sum_of(&f, C, 0)->missing, 3);
	assert_true(sum_of(&f, C, 0)->counted);
	end(&f);
	t = measure(&f, "ipc:5", &r, 1);
	assert_int_equal(t->windows, 0);
	assert_int_equal(t->untimed, 11);
	assert_int_equal(sum_of(&f, C, 0)->missing, 11);
	end(&f);
}

/*
 * A A B B A A at cycles 0, 4, 8, 16, 24, 28 to 32: what retires before a cycle t is t up to 8, then
 * 8 + (t - 8) / 4 up to 24, then t - 12.  Windows of 9 cycles lie within for 4 to 15.
 */
static void two_rates(void **state)
{
	const struct run r = {.tid = 5,
			      .blocks = {A, A, B, B, A, A, A},
			      .nblocks = 7,
			      .cycles = 100,
			      .at = {1, 2, 3, 4, 5, 6},
			      .times = {104, 108, 116, 124, 128, 132},
			      .ntimes = 6};
	const struct vt_pairs_totals *t;
	struct found f;

	(void)state;
	t = measure(&f, "ipc:4", &r, 1);
	assert_int_equal(t->windows, 12);
	assert_int_equal(t->untimed, 12);
	expect_sum(&f, A, 0, 2, 8.25 + 6, 18);
	expect_sum(&f, A, 1, 2, 7.5 + 6.75, 18);
	expect_sum(&f, A, 2, 2, 6.75 + 7.5, 18);
	expect_sum(&f, A, 3, 2, 6 + 8.25, 18);
	expect_sum(&f, B, 0, 2, 4.125 + 2.25, 18);
	expect_sum(&f, B, 1, 2, 2.25 + 4.125, 18);
	/* All of it is one group. */
	assert_true(same(sum_of(&f, A, 0)->x2, 14.25 * 14.25));
	assert_true(same(sum_of(&f, A, 0)->xy, 14.25 * 18));
	/* More is missing than was measured. */
	assert_int_equal(sum_of(&f, A, 0)->missing, 3);
	assert_true(isnan(vt_pairsum_value(sum_of(&f, A, 0), false).value));
	end(&f);
	measure(&f, "retire-within:4", &r, 1);
	expect_sum(&f, B, 0, 2, 4.125 + 2.25 - 2, 2);
	end(&f);
}

/* Two runs are two groups, with an error; a window of one does not reach into the other. */
static void two_runs(void **state)
{
	const struct run runs[] = {repeat(A, 4, 100, 8), repeat(A, 4, 124, 4)};
	const struct vt_pairs_totals *t;
	struct found f;

	(void)state;
	t = measure(&f, "ipc:4", runs, 2);
	/* 2 to 9 of the first one, in 24 cycles; the second one has 8 that are known. */
	assert_int_equal(t->windows, 8);
	assert_int_equal(t->untimed, 32 - 8);
	end(&f);
	t = measure(&f, "ipc:1", (struct run[]){repeat(C, 6, 100, 2), repeat(C, 6, 200, 3)}, 2);
	/* At 1, 3 .. 9 of 10, and 1.5, 4.5 .. 13.5 of 15, with 1.5 and 1 within the window. */
	assert_int_equal(t->windows, 3 + 5);
	expect_sum(&f, C, 0, 8, 3 * 1.5 + 5 * 1, 8 * 3);
	assert_true(same(sum_of(&f, C, 0)->x2, 4.5 * 4.5 + 5 * 5));
	assert_true(same(sum_of(&f, C, 0)->y2, 9 * 9 + 15 * 15));
	end(&f);
}

/* The block at 32 takes 100 cycles: nobody knows when its instructions retired. */
static void gaps(void **state)
{
	struct run r = repeat(A, 10, 1000, 8);
	const struct vt_pairs_totals *t;
	struct found f;
	size_t i;

	(void)state;
	for (i = 4; i < r.ntimes; i++)
		r.times[i] += 92;
	t = measure(&f, "ipc:4", &r, 1);
	/* Before and after it there are 32 cycles each. */
	assert_int_equal(t->windows, 12 + 12);
	assert_int_equal(t->untimed, 16);
	assert_true(vt_pairsum_value(sum_of(&f, A, 0), false).value == .5);
	end(&f);
	/* It does not matter where windows are as long as that. */
	r.times[4] = r.times[3] + 9;
	for (i = 5; i < r.ntimes; i++)
		r.times[i] = r.times[i - 1] + 8;
	t = measure(&f, "ipc:4", &r, 1);
	assert_int_equal(t->untimed, 8);
	end(&f);
	for (i = 4; i < r.ntimes; i++)
		r.times[i]++;
	t = measure(&f, "ipc:4", &r, 1);
	assert_int_equal(t->untimed, 16);
	end(&f);
}

/* Two blocks at cycle 1, so that 2 instructions retire up to it, 1 up to 3, and 1 up to 4. */
static void equal_times(void **state)
{
	const struct run r = {.tid = 5,
			      .blocks = {C, C, C, C, C},
			      .nblocks = 5,
			      .cycles = 10,
			      .at = {1, 2, 3, 4},
			      .times = {11, 11, 13, 14},
			      .ntimes = 4};
	const struct vt_pairs_totals *t;
	struct found f;

	(void)state;
	t = measure(&f, "ipc:1", &r, 1);
	assert_int_equal(t->windows, 1); /* that of the one at 2: [.5, 3.5] */
	assert_int_equal(t->untimed, 4);
	expect_sum(&f, C, 0, 1, 2.5, 3);
	end(&f);
}

/* The run lacks the first instruction of its first block, and the last three of its last one. */
static void parts_of_blocks(void **state)
{
	struct run r = repeat(A, 10, 1000, 8);
	const struct vt_pairs_totals *t;
	struct found f;
	size_t i;

	(void)state;
	r.skip = 1;
	r.cut = 3;
	for (i = 0; i < r.ntimes; i++)
		r.times[i] -= 2;
	t = measure(&f, "ipc:4", &r, 1);
	/* From that at cycle 5 to that at 65 of 70. */
	assert_int_equal(t->windows, 31);
	assert_int_equal(t->untimed, 36 - 31);
	expect_sum(&f, A, 0, 8, 8 * 4.5, 8 * 9);
	expect_sum(&f, A, 1, 8, 8 * 4.5, 8 * 9);
	expect_sum(&f, A, 2, 7, 7 * 4.5, 7 * 9);
	expect_sum(&f, A, 3, 8, 8 * 4.5, 8 * 9);
	end(&f);
}

/* A run that goes on begins at an unknown time, as the one that it tells is that of a block before.
 */
static void old_times(void **state)
{
	struct run runs[] = {repeat(A, 4, 100, 8), repeat(A, 4, 900, 8), repeat(A, 4, 124, 8)};
	const struct vt_pairs_totals *t;
	struct found f;
	size_t i;

	(void)state;
	runs[1].tid = 6;
	for (i = 0; i < runs[2].ntimes; i++)
		runs[2].times[i] += 8;
	t = measure(&f, "ipc:4", runs, 3);
	/* Of 24, 24 and 16 cycles. */
	assert_int_equal(t->windows, 8 + 8 + 4);
	assert_int_equal(t->untimed, 3 * 16 - 20);
	expect_sum(&f, A, 0, 5, 5 * 4.5, 5 * 9);
	end(&f);
	/* Of another thread it is no such time; nor is 0 one. */
	runs[2].tid = 7;
	t = measure(&f, "ipc:4", runs, 3);
	assert_int_equal(t->windows, 8 + 8 + 4);
	end(&f);
	runs[2].cycles = 0;
	runs[2].times[0] = 0;
	t = measure(&f, "ipc:4", &runs[2], 1);
	assert_int_equal(t->windows, 0);
	assert_int_equal(t->untimed, 16);
	end(&f);
}

/* A group has 1024 instructions, and 4 windows. */
static void groups(void **state)
{
	static struct run r;
	const struct vt_pairs_totals *t;
	struct found f;

	(void)state;
	r = repeat(A, 1100, 50, 4);
	t = measure(&f, "ipc:2", &r, 1);
	/* 2 to 4393: of four groups each has 256 of each, and 74 are left. */
	assert_int_equal(t->windows, 4392);
	expect_sum(&f, A, 0, 1098, 5 * 1098, 5 * 1098);
	assert_true(same(sum_of(&f, A, 0)->x2, 25 * (4 * 256. * 256. + 74 * 74)));
	assert_true(same(sum_of(&f, A, 1)->y2, 25 * (4 * 256. * 256. + 74 * 74)));
	end(&f);
	t = measure(&f, "ipc:300", &r, 1);
	/* 300 to 4095: the first group has 4 windows of 601 cycles, 2404 instructions. */
	assert_int_equal(t->windows, 4396 - 600);
	expect_sum(&f, A, 0, 949, 949 * 601., 949 * 601.);
	assert_true(same(sum_of(&f, A, 0)->x2, 601. * 601. * (601. * 601. + 348. * 348.)));
	end(&f);
}

static void expect_bad(const struct run *r)
{
	const struct run runs[] = {*r, repeat(A, 10, 1000, 8)};
	const struct vt_pairs_totals *t;
	struct found f;

	t = measure(&f, "ipc:4", runs, 2);
	assert_int_equal(t->bad, 1);
	assert_int_equal(t->windows, 32);
	assert_int_equal(t->untimed, 8);
	end(&f);
}

static void contradictions(void **state)
{
	const struct run good = repeat(A, 10, 1000, 8);
	struct run r = good;

	(void)state;
	r.times[5] = r.times[4] - 1;
	expect_bad(&r);
	r = good;
	r.cycles = r.times[0] + 1;
	expect_bad(&r);
	r = good;
	r.at[3] = r.at[2];
	expect_bad(&r);
	r = good;
	r.at[8] = 10;
	expect_bad(&r);
	r = good;
	r.at[0] = 0;
	expect_bad(&r);
	r = good;
	r.at[2] = UINT64_MAX;
	expect_bad(&r);
	r = good;
	r.times[8] = r.cycles + (UINT64_C(1) << 44) + 1;
	expect_bad(&r);
	r = good;
	r.blocks[9] = 77;
	expect_bad(&r);
}

/* Times that no clock has, and as far apart as can be. */
static void large_times(void **state)
{
	struct run r = repeat(A, 10, UINT64_MAX - 72, 8);
	const struct vt_pairs_totals *t;
	struct found f;

	(void)state;
	t = measure(&f, "ipc:4", &r, 1);
	assert_int_equal(t->windows, 32);
	assert_true(vt_pairsum_value(sum_of(&f, A, 0), false).value == .5);
	end(&f);
	r = repeat(A, 10, 1, 8);
	r.times[8] = UINT64_C(1) << 44;
	t = measure(&f, "ipc:4", &r, 1);
	assert_int_equal(t->bad, 0);
	assert_int_equal(t->windows, 28); /* those of 64 cycles: 2 to 29 */
	assert_int_equal(t->untimed, 12);
	end(&f);
}

/* Other metrics are not told by times. */
static void other_metrics(void **state)
{
	const struct run r = repeat(A, 10, 1000, 8);
	const struct vt_pairs_totals *t;
	struct found f;

	(void)state;
	t = measure(&f, "wasted", &r, 1);
	assert_int_equal(t->windows + t->untimed + t->bad, 0);
	assert_int_equal(vt_pairs_nplaces(f.pairs), 0);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(constant_rate),
		cmocka_unit_test(borders),
		cmocka_unit_test(two_rates),
		cmocka_unit_test(two_runs),
		cmocka_unit_test(gaps),
		cmocka_unit_test(equal_times),
		cmocka_unit_test(parts_of_blocks),
		cmocka_unit_test(old_times),
		cmocka_unit_test(groups),
		cmocka_unit_test(contradictions),
		cmocka_unit_test(large_times),
		cmocka_unit_test(other_metrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
