/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of pairs of samples, against what is worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pairs/internal.h"
#include "stream/profileme.h"

/* ---- blocks of samples ---- */

#define ROWS 16

struct samples {
	struct vt_column columns[VT_SAMPLE_NFIELDS];
	uint64_t numbers[VT_SAMPLE_NFIELDS][ROWS];
	uint32_t off[2];
	struct vt_block block;
};

static void init_samples(struct samples *s)
{
	unsigned f;

	memset(s, 0, sizeof(*s));
	for (f = 0; f < VT_SAMPLE_NFIELDS; f++)
		s->columns[f] =
			(struct vt_column){.v = s->numbers[f], .mask = SIZE_MAX, .off = s->off};
	s->block = (struct vt_block){
		.kind = VT_SAMPLE, .ncolumns = VT_SAMPLE_NFIELDS, .columns = s->columns};
}

static void set(struct samples *s, unsigned field, uint64_t value)
{
	uint32_t row = s->block.nrecords - 1;

	s->numbers[field][row] = value;
	if (vt_pm_is_field(field))
		s->numbers[VT_SAMPLE_PM_HAS][row] |= VT_PM_BIT_OF(field);
}

/* Appends a sample: `nth` of its group, fetched at a cycle; of period 1000. */
static void add_sample(struct samples *s, uint64_t ip, uint64_t nth, uint64_t distance,
		       uint64_t cycle, double weight)
{
	uint64_t bits;

	s->block.nrecords++;
	set(s, VT_SAMPLE_EVENT, 5);
	set(s, VT_SAMPLE_IP, ip);
	set(s, VT_SAMPLE_PERIOD, 1000);
	set(s, VT_SAMPLE_PAIR, nth);
	set(s, VT_SAMPLE_PAIR_DISTANCE, distance);
	set(s, VT_SAMPLE_PAIR_CYCLES, cycle);
	memcpy(&bits, &weight, sizeof(bits));
	set(s, VT_SAMPLE_PAIR_WEIGHT, bits);
}

/* It retired, after so many cycles in each stage. */
static void add_stages(struct samples *s, uint64_t map, uint64_t ready, uint64_t issue,
		       uint64_t exec, uint64_t retire)
{
	set(s, VT_SAMPLE_EVENTS, VT_PM_EVENT(RETIRED));
	set(s, VT_SAMPLE_EVENTS_TOLD, VT_PM_EVENT(RETIRED) | VT_PM_EVENT(ABORTED));
	set(s, VT_SAMPLE_LAT_MAP, map);
	set(s, VT_SAMPLE_LAT_READY, ready);
	set(s, VT_SAMPLE_LAT_ISSUE, issue);
	set(s, VT_SAMPLE_LAT_EXEC, exec);
	set(s, VT_SAMPLE_LAT_RETIRE, retire);
	set(s, VT_SAMPLE_LAT_TOTAL, map + ready + issue + exec + retire);
}

static void add_abort(struct samples *s, uint64_t total)
{
	set(s, VT_SAMPLE_EVENTS, VT_PM_EVENT(ABORTED));
	set(s, VT_SAMPLE_EVENTS_TOLD, VT_PM_EVENT(RETIRED) | VT_PM_EVENT(ABORTED));
	set(s, VT_SAMPLE_LAT_TOTAL, total);
}

/* ---- running ---- */

struct run {
	struct vt_context *context;
	struct vt_pairmetric metric;
	struct vt_pairs *pairs;
};

static const struct vt_core core = {.issue = 4};

static void begin_learning(struct run *r, const char *metric, const char *split, uint64_t window,
			   enum vt_learn learn)
{
	static struct vt_schema schema;
	struct vt_error err = VT_ERROR_INIT;

	if (!schema.nkinds)
		assert_int_equal(vt_schema_init(&schema, &err), 0);
	r->context = vt_context_new(NULL);
	assert_int_equal(vt_pairmetric_parse(&r->metric, metric, &err), 0);
	r->pairs = vt_pairs_new(r->context,
				&(struct vt_pairs_options){.metric = &r->metric,
							   .split = split,
							   .schema = &schema,
							   .window = window,
							   .learn = learn},
				&err);
	assert_non_null(r->pairs);
	vt_pairs_set_core(r->pairs, &core);
}

static void begin(struct run *r, const char *metric, const char *split, uint64_t window)
{
	begin_learning(r, metric, split, window, VT_LEARN_NEVER);
}

/* META: a number that vsim tells. */
static int feed_meta(struct run *r, const char *key, const char *value, struct vt_error *err)
{
	uint32_t key_off[2] = {0, (uint32_t)strlen(key)};
	uint32_t value_off[2] = {0, (uint32_t)strlen(value)};
	struct vt_column columns[VT_META_NFIELDS] = {
		[VT_META_KEY] = {.bytes = (const uint8_t *)key, .off = key_off},
		[VT_META_VALUE] = {.bytes = (const uint8_t *)value, .off = value_off},
	};
	const struct vt_block block = {
		.kind = VT_META, .nrecords = 1, .ncolumns = VT_META_NFIELDS, .columns = columns};

	return vt_pairs_feed(r->pairs, &block, 0, 1, err);
}

static void feed(struct run *r, const struct samples *s, uint32_t first, uint32_t count)
{
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(vt_pairs_feed(r->pairs, &s->block, first, count, &err), 0);
}

static void end(struct run *r)
{
	vt_pairs_free(r->pairs);
	vt_pairmetric_fini(&r->metric);
	vt_context_free(r->context);
}

/* The sum of the place that was met as the n-th. */
static const struct vt_pairsum *sum_of(const struct run *r, size_t n, enum vt_split side)
{
	return vt_pairs_sum(r->pairs, vt_pairs_place(r->pairs, n)->row, side);
}

static void near(double a, double b)
{
	assert_true(fabs(a - b) <= 1e-9 * fmax(1, fabs(b)));
}

/*
 * All samples lie in no mapping, so that a place is told by its event alone.  Three pairs, of which
 * the instructions are in events 5 (first) and 6 (second) where that matters.
 */
static void fill_three_pairs(struct samples *s)
{
	init_samples(s);
	/* Fetched at 0, issues at 5, done at 15; the other: fetched at 2, issues at 6, done at 8.
	 */
	add_sample(s, 1, 1, 0, 0, 1);
	add_stages(s, 2, 2, 1, 10, 3);
	add_sample(s, 2, 2, 3, 2, 1);
	add_stages(s, 2, 1, 1, 2, 8);
	/* Done at 4, before the other issues, at 13; it is in progress from 5 to 20. */
	add_sample(s, 1, 1, 0, 0, .5);
	add_stages(s, 1, 1, 1, 1, 0);
	add_sample(s, 2, 2, 10, 5, .5);
	add_stages(s, 4, 4, 0, 7, 1);
	/* In progress to 30; the other is aborted, 12 cycles after its fetch at 1. */
	add_sample(s, 1, 1, 0, 0, 2);
	add_stages(s, 1, 1, 1, 27, 0);
	add_sample(s, 2, 2, 8, 1, 2);
	add_abort(s, 12);
}

/* Wasted: L C S/2 - u w W S, of both instructions of a pair, which share a place. */
static void test_wasted(void **state)
{
	struct samples s;
	struct run r;
	struct vt_pairvalue v;
	/*
	 * 1: L = 15 + 6 = 21, each issues while the other is in progress: u = 2.
	 * 2: L = 4 + 15 = 19, u = 0.  3: L = 30 + 12 = 42; the first issued at 3, and so in the
	 * time of the other: u = 1, of weight 2.  W = 10, C = 4, S = 1000.
	 */
	const double x[] = {21 * 2000.0 - 2 * 10000, 19 * 2000.0, 42 * 2000.0 - 2 * 10000};
	const double y[] = {0, -1, 2};

	(void)state;
	fill_three_pairs(&s);
	begin(&r, "wasted", NULL, 10);
	feed(&r, &s, 0, 3);
	feed(&r, &s, 3, 3);
	vt_pairs_finish(r.pairs);
	assert_int_equal(vt_pairs_nplaces(r.pairs), 1);
	assert_int_equal(vt_pairs_totals(r.pairs)->pairs, 3);
	assert_int_equal(vt_pairs_totals(r.pairs)->measured, 6);
	assert_int_equal(sum_of(&r, 0, VT_SPLIT_MET)->pairs, 6);
	near(sum_of(&r, 0, VT_SPLIT_MET)->x, x[0] + x[1] + x[2]);
	near(sum_of(&r, 0, VT_SPLIT_MET)->x2, x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
	near(sum_of(&r, 0, VT_SPLIT_MET)->y, 1);
	near(sum_of(&r, 0, VT_SPLIT_MET)->y2, 5);
	near(sum_of(&r, 0, VT_SPLIT_MET)->xy, x[1] * y[1] + x[2] * y[2]);
	near(sum_of(&r, 0, VT_SPLIT_MET)->cycles, 82 * 500);
	/* b = (128000 - 38000) / 5 * 6 / 26. */
	v = vt_pairsum_value(sum_of(&r, 0, VT_SPLIT_MET), true);
	near(v.value, 124000 - 18000 * 6 / 26.0);
	end(&r);
}

/* The same without weights, for ratios. */
static void test_ratios(void **state)
{
	static const struct {
		const char *metric;
		double x, y; /* in S and S/2 */
		uint64_t measured, apart;
	} cases[] = {
		/* Overlaps as above, by weight; cycles in progress. */
		{"useful-concurrency", 40, 82, 6, 0},
		/*
		 * In the queue: 1: [2, 5) and [4, 6): the first issues at 5: 1.  2: [1, 3) and
		 * [9, 13): 0.  3: the second was aborted: 0, and its own does not count.
		 */
		{"issue-while-queued", 10, 5, 5, 1},
		/* Retired at 18 and 16; 4 and 21; 30 and never. */
		{"retire-within:2", 20, 5, 5, 1},
		{"retire-within:1", 0, 5, 5, 1},
		{"retire-within:17", 30, 5, 5, 1},
		/* Itself, and the others, in 5 cycles. */
		{"ipc:2", 20 + 2.5, 25, 5, 1},
		/* The one of the pair that was fetched first; of the second pair by weight 1/2. */
		{"2.pair == 1", 10 + 5 + 20, 6, 6, 0},
		{"2.events & aborted", 20, 6, 6, 0},
		{"2.pair_cycles - 1.pair_cycles > 0 && 1.lat_exec == 10", 10, 6, 6, 0},
	};
	struct samples s;
	struct run r;
	size_t i;

	(void)state;
	fill_three_pairs(&s);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct vt_pairs_totals *t;

		begin(&r, cases[i].metric, NULL, 10);
		/* Wherever runs end. */
		feed(&r, &s, 0, 1);
		feed(&r, &s, 1, 2);
		feed(&r, &s, 3, 3);
		vt_pairs_finish(r.pairs);
		t = vt_pairs_totals(r.pairs);
		assert_int_equal(t->apart, cases[i].apart);
		assert_int_equal(t->measured, cases[i].measured);
		assert_int_equal(t->unknown, 6 - cases[i].measured - cases[i].apart);
		near(sum_of(&r, 0, VT_SPLIT_MET)->x, cases[i].x * 1000);
		near(sum_of(&r, 0, VT_SPLIT_MET)->y, cases[i].y * 500);
		end(&r);
	}
}

static void test_split(void **state)
{
	struct samples s;
	struct run r;

	(void)state;
	fill_three_pairs(&s);
	begin(&r, "useful-concurrency", "lat_exec >= 10", 10);
	feed(&r, &s, 0, 6);
	vt_pairs_finish(r.pairs);
	assert_int_equal(sum_of(&r, 0, VT_SPLIT_MET)->pairs, 2);
	near(sum_of(&r, 0, VT_SPLIT_MET)->y, (15 + 30) * 500);
	near(sum_of(&r, 0, VT_SPLIT_MET)->x, 10000);
	assert_int_equal(sum_of(&r, 0, VT_SPLIT_UNMET)->pairs, 3);
	near(sum_of(&r, 0, VT_SPLIT_UNMET)->y, (6 + 4 + 15) * 500);
	near(sum_of(&r, 0, VT_SPLIT_UNMET)->x, 10000);
	assert_int_equal(sum_of(&r, 0, VT_SPLIT_UNKNOWN)->pairs, 1);
	near(sum_of(&r, 0, VT_SPLIT_UNKNOWN)->y, 12 * 500);
	near(sum_of(&r, 0, VT_SPLIT_UNKNOWN)->x, 20000);
	end(&r);
}

/* Of groups of three, each makes a pair with the one before it. */
static void test_groups(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct samples s;
	struct run r;

	(void)state;
	init_samples(&s);
	add_sample(&s, 1, 1, 0, 0, 1);
	add_stages(&s, 1, 1, 1, 1, 1);
	add_sample(&s, 1, 2, 9, 1, 1);
	add_stages(&s, 1, 1, 1, 1, 1);
	add_sample(&s, 1, 3, 14, 2, .25);
	add_stages(&s, 1, 1, 1, 1, 1);
	begin(&r, "retire-within:1", NULL, 10);
	assert_int_equal(feed_meta(&r, "vsim.ways", "3", &err), 0);
	feed(&r, &s, 0, 3);
	vt_pairs_finish(r.pairs);
	assert_int_equal(vt_pairs_totals(r.pairs)->pairs, 2);
	assert_int_equal(sum_of(&r, 0, VT_SPLIT_MET)->pairs, 4);
	/* Each pair stands for half of the period. */
	near(sum_of(&r, 0, VT_SPLIT_MET)->x, 2 * 5000 + 2 * 1250);
	near(sum_of(&r, 0, VT_SPLIT_MET)->x2, 12500.0 * 12500);
	near(sum_of(&r, 0, VT_SPLIT_MET)->y, 4 * 250);
	end(&r);
	/* A stream that does not tell has pairs: the third is one too many. */
	begin(&r, "retire-within:1", NULL, 10);
	assert_int_equal(feed_meta(&r, "vsim.ways", "1", &err), 0);
	assert_int_equal(feed_meta(&r, "vsim.ways", "257", &err), 0);
	feed(&r, &s, 0, 3);
	vt_pairs_finish(r.pairs);
	assert_int_equal(vt_pairs_totals(r.pairs)->pairs, 1);
	assert_int_equal(vt_pairs_totals(r.pairs)->beyond, 1);
	near(sum_of(&r, 0, VT_SPLIT_MET)->x, 2 * 10000);
	end(&r);
}

/* ---- what is expected ---- */

static void add_plain_pair(struct samples *s, uint64_t distance, double weight)
{
	add_sample(s, 1, 1, 0, 0, 1);
	add_stages(s, 1, 1, 1, 1, 1);
	add_sample(s, 1, 2, distance, 1, weight);
	add_stages(s, 1, 1, 1, 1, 1);
}

static void expect_rates(struct vti_expect *e, struct vti_expected x, double rate, double mean)
{
	struct vti_expected got;

	assert_true(vti_expect_pair(e, x.row, x.ahead, x.met, 5, x.range, &got));
	assert_true(fabs(got.rate - rate) < 1e-6);
	assert_true(fabs(got.mean - mean) < 1e-6);
}

static struct vti_expected make_query(uint32_t row, uint8_t ahead, bool retired, uint8_t distance)
{
	return (struct vti_expected){.row = row, .ahead = ahead, .met = retired, .range = distance};
}

/* Ranges of a window of 256 end at squares, so that the second one is 2 to 4: 3 distances. */
static void test_expect(void **state)
{
	struct vti_expect e = {.cap = 0};
	struct vti_expected x;
	unsigned i;

	(void)state;
	vti_expect_set_window(&e, 256);
	assert_int_equal(e.ends[0], 1);
	assert_int_equal(e.ends[1], 4);
	assert_int_equal(e.ends[15], 256);
	for (i = 0; i < 3; i++) {
		/* 6 or 7 cycles are one class; the last pair does not count. */
		assert_true(vti_expect_pair(&e, 7, true, true, 5 + (i & 1), 2 + i, &x));
		assert_int_equal(x.range, 1);
		x.met = i < 2;
		vti_expect_learn(&e, &x);
	}
	/* Of all, 2 of 3 and one more that did not; of its own, these and 4 at that rate: 4 / 7. */
	expect_rates(&e, make_query(7, 1, true, 4), 4 / 7.0, 4 / 7.0 * 3 / 256);
	expect_rates(&e, make_query(7, 1, true, 5), 0, 4 / 7.0 * 3 / 256);
	expect_rates(&e, make_query(7, 1, true, 1), 0, 4 / 7.0 * 3 / 256);
	/* Another instruction has only what is of all; one behind, or that is aborted, has not. */
	expect_rates(&e, make_query(3, 1, true, 2), .5, 1.5 / 256);
	expect_rates(&e, make_query(3, 0, true, 2), 0, 0);
	expect_rates(&e, make_query(3, 1, false, 2), 0, 0);
	expect_rates(&e, make_query(7, 1, false, 2), 2 / 7.0, 2 / 7.0 * 3 / 256);
	/* 4 cycles and 7 are other classes. */
	for (i = 4; i < 8; i += 3) {
		assert_true(vti_expect_pair(&e, 3, true, true, i, 2, &x));
		assert_true(x.rate == 0);
	}
	/* The last class has no end. */
	assert_true(vti_expect_pair(&e, 3, true, true, UINT64_MAX - 1, 256, &x));
	assert_int_equal(x.range, 15);
	assert_ptr_equal(x.all, &e.all[1][1][VTI_CLASSES - 1]);
	vti_expect_fini(&e);
}

/* Older pairs count for half when there are many, so that numbers stay exact. */
static void test_many(void **state)
{
	struct vti_expect e = {.cap = 0};
	struct vti_expected x;
	unsigned i;

	(void)state;
	vti_expect_set_window(&e, 16);
	assert_true(vti_expect_pair(&e, 0, false, true, 0, 16, &x));
	x.met = true;
	for (i = 0; i < 65536; i++)
		vti_expect_learn(&e, &x);
	assert_true(e.rows[0].side[0].pairs[15] == 65536);
	x.met = false;
	vti_expect_learn(&e, &x);
	assert_true(e.rows[0].side[0].pairs[15] == 32769);
	assert_true(e.rows[0].side[0].met[15] == 32768);
	vti_expect_fini(&e);
}

/*
 * Pairs of 11, 12 and 3 instructions within 16, whose two retire within a cycle.  The first tells
 * nothing of what is expected.  At the second, each half expects 1/2 of all and
 * (1 + 4/2) / (1 + 4) of its own at distances of 11 and 12, and nothing elsewhere.
 */
static void test_learned(void **state)
{
	const struct vt_pairsum *sum;
	struct samples s;
	struct run r;
	double rate = 3 / 5.0, share = 2 / 16.0, x;
	unsigned learn;

	(void)state;
	init_samples(&s);
	add_plain_pair(&s, 11, .5);
	add_plain_pair(&s, 12, .5);
	add_plain_pair(&s, 3, 2);
	for (learn = VT_LEARN_WEIGHTED; learn <= VT_LEARN_NEVER; learn++) {
		begin_learning(&r, "retire-within:1", NULL, 16, (enum vt_learn)learn);
		feed(&r, &s, 0, 6);
		vt_pairs_finish(r.pairs);
		sum = sum_of(&r, 0, VT_SPLIT_MET);
		near(sum->y, 6 * 500);
		x = 2 * 16000 * (.5 + .5 + 2);
		if (learn != VT_LEARN_NEVER) {
			x += 2 * 16000 * (share - .5) * rate;
			rate = (2 + 4 * 2 / 3.0) / (2 + 4);
			x += 2 * 16000 * share * rate;
			rate = 3 / 5.0;
		}
		assert_true(fabs(sum->x - x) < 1e-3);
		end(&r);
	}
	/* What weighs 1 tells nothing, unless it is asked for. */
	init_samples(&s);
	add_plain_pair(&s, 11, 1);
	add_plain_pair(&s, 12, 1);
	for (learn = VT_LEARN_WEIGHTED; learn <= VT_LEARN_NEVER; learn++) {
		begin_learning(&r, "wasted", NULL, 16, (enum vt_learn)learn);
		feed(&r, &s, 0, 4);
		vt_pairs_finish(r.pairs);
		/* Only the first issues while the second is in progress. */
		x = 4 * 4 * 2000 - 2 * 16000;
		if (learn == VT_LEARN_ALWAYS)
			x -= 16000 * (share - 1) * rate;
		assert_true(fabs(sum_of(&r, 0, VT_SPLIT_MET)->x - x) < 1e-3);
		end(&r);
	}
}

/* ---- what cannot be used ---- */

static void expect_unused(const struct samples *s, uint64_t distance, uint64_t weight,
			  uint64_t period, uint64_t unknown, uint64_t stopped)
{
	const struct vt_pairs_totals *t;
	struct run r;

	begin(&r, "wasted", NULL, 10);
	feed(&r, s, 0, s->block.nrecords);
	vt_pairs_finish(r.pairs);
	t = vt_pairs_totals(r.pairs);
	assert_int_equal(t->pairs, 1);
	assert_int_equal(t->distance, distance);
	assert_int_equal(t->weight, weight);
	assert_int_equal(t->period, period);
	assert_int_equal(t->unknown, unknown);
	assert_int_equal(t->stopped, stopped);
	assert_int_equal(t->measured, distance + weight + period ? 0 : 2 - unknown - stopped);
	end(&r);
}

static void test_unusable(void **state)
{
	static const double weights[] = {0, -1, NAN, INFINITY, 1e7};
	static const uint64_t distances[] = {0, 11, UINT64_MAX};
	struct samples s;
	size_t i;

	(void)state;
	for (i = 0; i < 5; i++) {
		init_samples(&s);
		add_plain_pair(&s, 3, weights[i]);
		expect_unused(&s, 0, 1, 0, 0, 0);
	}
	for (i = 0; i < 3; i++) {
		init_samples(&s);
		add_plain_pair(&s, distances[i], 1);
		expect_unused(&s, 1, 0, 0, 0, 0);
	}
	init_samples(&s);
	add_plain_pair(&s, 10, 1);
	expect_unused(&s, 0, 0, 0, 0, 0);
	s.numbers[VT_SAMPLE_PERIOD][0] = 0;
	s.numbers[VT_SAMPLE_HAS][0] = VT_HAS_PERIOD;
	expect_unused(&s, 0, 0, 1, 0, 0);
	/* Without its execution, only the other one's own time is known, */
	s.numbers[VT_SAMPLE_PERIOD][0] = 1000;
	s.numbers[VT_SAMPLE_PM_HAS][0] &= ~VT_PM_BIT(LAT_EXEC);
	expect_unused(&s, 0, 0, 0, 1, 0);
	/* as of a counter that stopped. */
	s.numbers[VT_SAMPLE_PM_HAS][0] |= VT_PM_BIT(LAT_EXEC);
	s.numbers[VT_SAMPLE_PM_LEAST][0] = VT_PM_BIT(LAT_EXEC);
	expect_unused(&s, 0, 0, 0, 0, 1);
	s.numbers[VT_SAMPLE_PM_LEAST][0] = VT_PM_BIT(LAT_MAP);
	expect_unused(&s, 0, 0, 0, 0, 2);
	s.numbers[VT_SAMPLE_PM_LEAST][0] = 0;
	s.numbers[VT_SAMPLE_LAT_EXEC][0] = (UINT64_C(1) << 40) + 1;
	expect_unused(&s, 0, 0, 0, 1, 0);
	/* Nobody knows whether it retired. */
	s.numbers[VT_SAMPLE_LAT_EXEC][0] = 1;
	s.numbers[VT_SAMPLE_EVENTS_TOLD][1] = 0;
	expect_unused(&s, 0, 0, 0, 2, 0);
}

static void test_halves(void **state)
{
	const struct vt_pairs_totals *t;
	struct vt_error err = VT_ERROR_INIT;
	struct samples s;
	struct run r;

	(void)state;
	init_samples(&s);
	add_sample(&s, 1, 2, 3, 1, 1); /* without the first */
	add_sample(&s, 1, 1, 0, 0, 1); /* without the second */
	add_plain_pair(&s, 3, 1);
	s.numbers[VT_SAMPLE_TID][2] = 7; /* of another thread */
	add_sample(&s, 1, 3, 9, 9, 1);	 /* of the thread of the one before, which is used */
	add_sample(&s, 1, 1, 0, 0, 1);	 /* without the second: no sample of a group comes */
	s.block.nrecords++;
	add_sample(&s, 1, 2, 3, 1, 1);
	add_sample(&s, 1, 1, 0, 0, 1); /* without the third is no loss, */
	add_sample(&s, 1, 3, 3, 1, 1); /* nor is it that of this one */
	add_sample(&s, 1, 1, 0, 0, 1); /* the last */
	begin(&r, "wasted", NULL, 10);
	assert_int_equal(feed_meta(&r, "vsim.ways", "3", &err), 0);
	feed(&r, &s, 0, s.block.nrecords);
	vt_pairs_finish(r.pairs);
	t = vt_pairs_totals(r.pairs);
	assert_int_equal(t->samples, s.block.nrecords);
	assert_int_equal(t->unpaired, 1);
	assert_int_equal(t->orphans, 3);
	assert_int_equal(t->beyond, 0);
	assert_int_equal(t->alone, 3);
	assert_int_equal(t->cut, 1);
	assert_int_equal(t->foreign, 1);
	assert_int_equal(t->pairs, 1);
	end(&r);
}

static void test_window(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct samples s;
	struct run r;
	uint32_t i, n;

	(void)state;
	init_samples(&s);
	add_plain_pair(&s, 3, 1);
	begin(&r, "wasted", NULL, 0);
	assert_int_equal(vt_pairs_feed(r.pairs, &s.block, 0, 2, &err), -VT_E_ABSENT);
	assert_int_equal(feed_meta(&r, "vsim.window", "12", &err), 0);
	assert_int_equal(vt_pairs_window(r.pairs), 12);
	end(&r);
	/* No other one than that of the stream. */
	begin(&r, "wasted", NULL, 12);
	assert_int_equal(feed_meta(&r, "vsim.window", "12", &err), 0);
	assert_int_equal(feed_meta(&r, "vsim.window", "11", &err), -VT_E_USAGE);
	assert_int_equal(feed_meta(&r, "vsim.window", "13", &err), -VT_E_USAGE);
	end(&r);
	/* The last tenth of 40 begins behind 36. */
	init_samples(&s);
	add_plain_pair(&s, 36, 1);
	add_plain_pair(&s, 37, .5);
	begin(&r, "retire-within:1", NULL, 40);
	feed(&r, &s, 0, 4);
	near(vt_pairs_totals(r.pairs)->overlaps, 1.5);
	near(vt_pairs_totals(r.pairs)->far, .5);
	end(&r);
	/* More than one such pair, and more than 1 % of the others, leave more beyond. */
	begin(&r, "retire-within:1", NULL, 40);
	assert_false(vt_pairs_is_cut(r.pairs, 1, 100));
	assert_true(vt_pairs_is_cut(r.pairs, 1.01, 100));
	end(&r);
	for (n = 1; n <= 3; n++) {
		init_samples(&s);
		for (i = 0; i < n; i++)
			add_plain_pair(&s, 37, 1);
		begin(&r, "retire-within:1", NULL, 40);
		feed(&r, &s, 0, 2 * n);
		vt_pairs_finish(r.pairs);
		assert_int_equal(vt_pairs_sum(r.pairs, 0, VT_SPLIT_MET)->partial, n > 1);
		end(&r);
	}
	/* What an expression is true of may be anywhere. */
	begin(&r, "2.events & load", NULL, 40);
	assert_false(vt_pairs_is_cut(r.pairs, 50, 100));
	end(&r);
}

/* At the same time, in units of the same kind. */
static void test_units(void **state)
{
	struct vt_followed a = {.knows = 31, .retired = true, .issued = 10, .done = 14, .units = 6};
	struct vt_followed b = {.knows = 31, .retired = true, .issued = 13, .done = 15, .units = 4};
	const struct vt_pairscale scale = {1000, 10, 4, 1};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_pairmetric m;
	struct vt_pairterm t;

	(void)state;
	assert_int_equal(vt_pairmetric_parse(&m, "same-unit", &err), 0);
	assert_int_equal(vt_pair_measure(&m, &a, &b, VT_UNKNOWN, &scale, &t), VT_PAIR_MEASURED);
	assert_true(t.overlaps);
	near(t.x, 10000);
	near(t.y, 500);
	b.issued = 14;
	vt_pair_measure(&m, &a, &b, VT_UNKNOWN, &scale, &t);
	assert_false(t.overlaps);
	b.issued = 9;
	b.done = 10;
	vt_pair_measure(&m, &a, &b, VT_UNKNOWN, &scale, &t);
	assert_false(t.overlaps);
	b.done = 11;
	b.units = 8;
	vt_pair_measure(&m, &a, &b, VT_UNKNOWN, &scale, &t);
	assert_false(t.overlaps);
	b.units = 0;
	assert_int_equal(vt_pair_measure(&m, &a, &b, VT_UNKNOWN, &scale, &t), VT_PAIR_UNKNOWN);
	b.retired = false;
	assert_int_equal(vt_pair_measure(&m, &a, &b, VT_UNKNOWN, &scale, &t), VT_PAIR_MEASURED);
	assert_int_equal(vt_pair_measure(&m, &b, &a, VT_UNKNOWN, &scale, &t), VT_PAIR_APART);
}

/* ---- names ---- */

static void test_names(void **state)
{
	static const struct {
		const char *text;
		int code;
	} wrong[] = {
		{"ipc:", -VT_E_USAGE},	      {"ipc:-1", -VT_E_USAGE},
		{"ipc:1000001", -VT_E_USAGE}, {"retire-within:3x", -VT_E_USAGE},
		{"Wasted", -VT_E_ABSENT},     {"ip == 3", -VT_E_ABSENT},
		{"3.ip", -VT_E_USAGE},	      {"1.callchain.count", -VT_E_ABSENT},
		{"1. ip", -VT_E_USAGE},
	};
	struct vt_pairmetric m;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct vt_error err = VT_ERROR_INIT;

		assert_int_equal(vt_pairmetric_parse(&m, wrong[i].text, &err), wrong[i].code);
		vt_pairmetric_fini(&m);
	}
	assert_true(vt_pairmetric_is_total("wasted"));
	assert_false(vt_pairmetric_is_total("ipc:30"));
	assert_string_equal(vt_pairmetric_unit("wasted"), "slots");
	assert_string_equal(vt_pairmetric_unit("ipc:30"), "instructions/cycle");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wasted),	cmocka_unit_test(test_ratios),
		cmocka_unit_test(test_split),	cmocka_unit_test(test_groups),
		cmocka_unit_test(test_expect),	cmocka_unit_test(test_many),
		cmocka_unit_test(test_learned), cmocka_unit_test(test_unusable),
		cmocka_unit_test(test_halves),	cmocka_unit_test(test_window),
		cmocka_unit_test(test_names),	cmocka_unit_test(test_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
