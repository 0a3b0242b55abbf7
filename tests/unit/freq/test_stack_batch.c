/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What many branch stacks with times count, told of each other, against the same the slow way. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "freq/stack_count.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/freq/stacks.h"

enum { STACKS = 80, PLACES = 0x40, CONTEXTS = STACKS * 8 };

struct model {
	uint64_t stacks[STACKS][8][3];
	size_t lengths[STACKS], n;
	bool zeros;
	struct vt_stackreach reaches[PLACES];
	struct vt_stacktimes times[PLACES];
	struct model_context {
		uint64_t to, before, bin;
		struct vt_stacktimes times;
	} contexts[CONTEXTS];
	size_t ncontexts;
	struct model_link {
		double parts[VT_STACK_PARTS], variance, bias, current;
		uint64_t stacks;
	} links[2][PLACES][PLACES];
	double weight;
};

static double time_of(const struct model *m, const uint64_t (*b)[3], size_t i, double before)
{
	double half = before + 0.5, least = (double)(i + 1);

	if (m->zeros || b[i][2] != 1)
		return before + (double)b[i][2];
	return half > least ? half : least;
}

static double reach_of(const struct model *m, const uint64_t (*b)[3], size_t n)
{
	double before = 0;
	size_t i;

	for (i = 0; i < n - 1; i++)
		before = time_of(m, b, i, before);
	return before;
}

static double window_of(const struct model *m, const uint64_t (*b)[3], size_t n)
{
	double window = reach_of(m, b, n);
	size_t i;

	for (i = 0; i < n; i++)
		window = fmin(window, vt_stackreach_window(&m->reaches[b[i][1]]));
	return window;
}

static struct vt_stacktimes *context_of(struct model *m, const uint64_t (*b)[3], size_t i)
{
	struct model_context key = {
		b[i][1], b[i][1] - b[i + 1][1], vt_stacktimes_bin(b[i][2]), {{0}}};
	size_t k;

	for (k = 0; k < m->ncontexts; k++)
		if (m->contexts[k].to == key.to && m->contexts[k].before == key.before &&
		    m->contexts[k].bin == key.bin)
			return &m->contexts[k].times;
	assert_true(k < CONTEXTS);
	m->contexts[m->ncontexts++] = key;
	return &m->contexts[k].times;
}

static void learn_times(struct model *m, const uint64_t (*b)[3], size_t n)
{
	double window = window_of(m, b, n), before = 0;
	size_t i;

	for (i = 0; i + 1 < n && before < window; i++) {
		double weight = 100 / (0.75 * window);

		vt_stacktimes_add(&m->times[b[i + 1][1]], b[i][2], weight);
		if (i + 2 < n)
			vt_stacktimes_add(context_of(m, b, i + 1), b[i][2], weight);
		before = time_of(m, b, i, before);
	}
}

static double doubt_of(const struct model *m, const uint64_t (*b)[3], size_t n, double window,
		       double since)
{
	double time = since, ones = 0, spare;
	size_t i = 0;

	for (; i + 1 < n && time < window; i++) {
		time += (double)b[i][2];
		ones += b[i][2] == 1;
	}
	spare = m->zeros ? 0 : fmin(ones, fmax(time - (double)i, 0));
	return 0.2887 * sqrt(since * since + spare * spare) / (0.75 * window);
}

static void add_to(struct model_link *l, const double *parts, double weight, double doubt)
{
	size_t k;

	for (k = 0; k < VT_STACK_PARTS; k++) {
		l->parts[k] += parts[k] * weight;
		l->current += parts[k] * weight;
		l->bias += parts[k] * weight * fmax(doubt, 0.04);
	}
}

static void count_stack(struct model *m, const uint64_t (*b)[3], size_t n)
{
	double window = window_of(m, b, n), weight = 100 / (0.75 * window), before = 0;
	double parts[VT_STACK_PARTS], doubt;
	const struct vt_stacktimes *times = context_of(m, b, 0);
	struct vt_stacktimes own = {{0}};
	struct vt_stackruns runs;
	struct model_link *l = &m->links[0][0][0];
	size_t i;

	for (i = 0; i + 1 < n; i++)
		vt_stacktimes_add(&own, b[i][2], 1);
	if (!(vt_stacktimes_sum(times) > 0))
		times = &m->times[b[0][1]];
	if (!(vt_stacktimes_sum(times) > 0))
		times = &own;
	runs = vt_stackwindow_runs(times);
	doubt = doubt_of(m, b, n, window, vt_stackwindow_since(&runs, window));
	m->weight += weight;
	for (i = 0; i + 1 < n && before < window; i++) {
		vt_stackwindow_share(&runs, window, before, parts);
		add_to(&m->links[0][b[i][0]][b[i][1]], parts, weight, doubt);
		if (b[i + 1][1] <= b[i][0])
			add_to(&m->links[1][b[i + 1][1]][b[i][0]], parts, weight, doubt);
		before = time_of(m, b, i, before);
	}
	for (i = 0; i < (size_t)2 * PLACES * PLACES; i++) {
		l[i].stacks += l[i].current > 0;
		l[i].variance += l[i].current * l[i].current;
		l[i].current = 0;
	}
}

/* Stacks by chance, of few places; of few times, which are mostly below `cycles`. */
static void make_stacks(struct model *m, uint32_t seed, unsigned least, unsigned cycles)
{
	uint64_t zeros = 0, ones = 0;
	size_t i, k;

#define CHANCE(n) (seed = seed * 1664525 + 1013904223, (seed >> 16) % (n))
	for (i = 0; i < STACKS; i++) {
		uint64_t(*b)[3] = m->stacks[i];

		m->lengths[i] = 2 + CHANCE(7);
		for (k = 0; k < m->lengths[i]; k++) {
			b[k][0] = 0x18 + 8 * CHANCE(4);
			b[k][1] = 8 + 8 * CHANCE(4);
			b[k][2] = CHANCE(6) ? least + CHANCE(cycles) : 10 + CHANCE(60);
		}
		b[0][0] = 0x38; /* not twice the same */
		b[1][0] = 0x30;
		b[m->lengths[i] - 2][2] += b[m->lengths[i] - 2][2] == 0;
		for (k = 0; k + 1 < m->lengths[i]; k++) {
			zeros += b[k][2] == 0;
			ones += b[k][2] == 1;
		}
	}
#undef CHANCE
	m->zeros = zeros > ones / 20;
}

static void compare_links(const struct model *m, const struct vt_stackcount *c, unsigned runs)
{
	size_t from, to, i, k, n, all = 0;
	const struct vt_stackcount_link *l =
		vt_stackcount_links(c, 1, 7, 0, runs, 0, UINT64_MAX, &n);

	for (from = 0; from < PLACES; from++)
		for (to = 0; to < PLACES; to++)
			all += m->links[runs][from][to].stacks > 0;
	assert_int_equal(n, all);
	for (i = 0; i < n; i++) {
		const struct model_link *x = &m->links[runs][l[i].from][l[i].to];

		assert_int_equal(l[i].stacks, x->stacks);
		stacks_assert_sum(&l[i], x->parts[0], x->parts[1], x->parts[2], x->parts[3]);
		assert_true(stacks_near(l[i].sum.variance / x->variance, 1));
		assert_true(stacks_near(l[i].sum.bias, x->bias));
		for (k = 0; k < i; k++)
			assert_false(l[k].from == l[i].from && l[k].to == l[i].to);
	}
}

/* Many stacks at once, with times that tell of zeros and without. */
static void test_many(void **state)
{
	static const struct {
		uint32_t seed;
		unsigned least, cycles;
		bool zeros;
	} rows[] = {{1, 1, 3, false},
		    {2, 0, 3, true},
		    {3, 1, 12, false},
		    {4, 0, 9, true},
		    {5, 1, 1, false}};
	size_t i, k;

	(void)state;
	for (i = 0; i < 5; i++) {
		struct model *m = calloc(1, sizeof(*m));
		int fd = scratch_file();
		struct vt_writer *w = stacks_begin(fd);
		struct vt_stackcount *c;

		assert_non_null(m);
		make_stacks(m, rows[i].seed, rows[i].least, rows[i].cycles);
		assert_true(m->zeros == rows[i].zeros);
		for (k = 0; k < STACKS; k++)
			stacks_put(w, 1, 100, m->stacks[k], m->lengths[k]);
		for (k = 0; k < STACKS; k++)
			vt_stackreach_add(&m->reaches[m->stacks[k][0][1]],
					  reach_of(m, m->stacks[k], m->lengths[k]));
		for (k = 0; k < STACKS; k++)
			learn_times(m, m->stacks[k], m->lengths[k]);
		for (k = 0; k < STACKS; k++)
			count_stack(m, m->stacks[k], m->lengths[k]);
		c = stacks_read(w, fd);
		assert_int_equal(vt_stackcount_event(c, 1)->stacks, STACKS);
		assert_true(stacks_near(vt_stackcount_event(c, 1)->weight, m->weight / STACKS));
		compare_links(m, c, 0);
		compare_links(m, c, 1);
		vt_stackcount_free(c);
		free(m);
	}
}

/*
 * As many as wait are counted before others come, of which these know nothing: as many stacks, of
 * as many branches as 32 of each are, or fewer.
 */
static void test_batch(void **state)
{
	enum { BATCH = 16384, MORE = 400 };
	uint64_t stack[32][3];
	size_t i, n;
	unsigned threads;

	(void)state;
	for (n = 31, threads = 1; threads <= 3; n = 63 - n, threads += n == 31) {
		int fd = scratch_file();
		struct vt_writer *w = stacks_begin(fd);
		struct vt_stackcount *c;

		for (i = 0; i < 32; i++) {
			stack[i][0] = 0x20;
			stack[i][1] = 0x10;
			stack[i][2] = 3;
		}
		stack[0][2] = n == 31 ? 6 : 3;
		for (i = 0; i < BATCH; i++)
			stacks_put(w, 1, 100, stack, n);
		for (i = 0; i < MORE; i++)
			stacks_put(w, 1, 100, stack + 1, 8);
		c = stacks_read_by(w, fd, threads);
		/* 31 times 3 cycles; 7 times, in more than 2 % of all. */
		assert_int_equal(vt_stackcount_event(c, 1)->stacks, BATCH + MORE);
		assert_true(stacks_near(
			vt_stackcount_event(c, 1)->weight,
			(BATCH * (100 / (0.75 * 90.509667991878085)) + MORE * (100 / (0.75 * 16))) /
				(BATCH + MORE)));
		vt_stackcount_free(c);
	}
}

/*
 * What runs take in one process they take in another, wherever its files lie: how long what follows
 * the newest branch takes is known of a stack of the first, whose branch came the same way, 3
 * cycles, and not of one of 50 whose came another way.
 */
static void test_elsewhere(void **state)
{
	static const uint64_t same[][3] = {{0x20, 0x10, 3}, {0x28, 0x18, 9}, {0x30, 0x24, 9}};
	static const uint64_t other[][3] = {{0x20, 0x10, 50}, {0x28, 0x18, 9}, {0x30, 0x20, 9}};
	static const uint64_t newest[][3] = {{0x28, 0x18, 9}, {0x30, 0x24, 9}, {0x40, 0x2c, 9}};
	static const uint64_t moved[][3] = {
		{0x8028, 0x8018, 9}, {0x8030, 0x8024, 9}, {0x8040, 0x802c, 9}};
	struct vt_stackcount_sum sums[2];
	size_t i, k;

	(void)state;
	for (i = 0; i < 2; i++) {
		int fd = scratch_file();
		struct vt_writer *w = stacks_begin(fd);
		struct vt_stackcount *c;

		stacks_map(w, 6, STACKS_BASE + 0x8000, 4096, 7);
		stacks_put(w, 1, 100, same, 3);
		stacks_put(w, 1, 100, other, 3);
		stacks_put(w, 1, 100, i ? moved : newest, 3)[VT_SAMPLE_PID] = i ? 6 : 5;
		c = stacks_read(w, fd);
		sums[i] = stacks_only(c, 1, true, 0x24)->sum;
		vt_stackcount_free(c);
	}
	for (k = 0; k < VT_STACK_PARTS; k++)
		assert_true(stacks_near(sums[0].parts[k], sums[1].parts[k]));
}

/* A hundredth of the period is a hundredth of all counts, however little they are. */
static void test_period(void **state)
{
	static const uint64_t stacks[][3][3] = {
		{{0x20, 0x10, 3}, {0x28, 0x18, 9}, {0x30, 0x24, 9}},
		{{0x20, 0x10, 50}, {0x28, 0x18, 9}, {0x30, 0x20, 9}},
		{{0x28, 0x18, 9}, {0x30, 0x24, 9}, {0x40, 0x2c, 9}},
	};
	struct vt_stackcount_sum sums[2];
	size_t i, k;

	(void)state;
	for (i = 0; i < 2; i++) {
		int fd = scratch_file();
		struct vt_writer *w = stacks_begin(fd);
		struct vt_stackcount *c;

		for (k = 0; k < 3; k++)
			stacks_put(w, 1, i ? 100 : 1, stacks[k], 3);
		c = stacks_read(w, fd);
		sums[i] = stacks_only(c, 1, true, 0x24)->sum;
		vt_stackcount_free(c);
	}
	for (k = 0; k < VT_STACK_PARTS; k++)
		assert_true(fabs(100 * sums[0].parts[k] - sums[1].parts[k]) < 1e-4);
	assert_true(vt_stackcount_count(&sums[0]) > 0);
}

/* Windows have four cycles at least; all stacks count for them, and all are halved alike. */
static void test_short(void **state)
{
	struct vt_stackreach r = {{0}};
	unsigned i;

	(void)state;
	vt_stackreach_add(&r, 0);
	vt_stackreach_add(&r, 1);
	assert_int_equal(r.stacks[0], 2);
	assert_true(stacks_near(vt_stackreach_window(&r), 4));
	vt_stackreach_add(&r, 1);
	for (i = 0; i < 97; i++)
		vt_stackreach_add(&r, 64);
	assert_true(stacks_near(vt_stackreach_window(&r), 4));
	r.stacks[19] = UINT16_MAX;
	vt_stackreach_add(&r, 1000);
	assert_true(r.stacks[0] == 1 && r.stacks[12] == 48 && r.stacks[19] == 32768);
	r = (struct vt_stackreach){{0}};
	vt_stackreach_add(&r, 1e300);
	assert_true(stacks_near(vt_stackreach_window(&r) / exp2((VT_STACKWINDOW_REACHES - 1) / 2.0),
				1));
}

/* However little runs took all in all, their shares are the same. */
static void test_light(void **state)
{
	struct vt_stacktimes t = {{0}};
	struct vt_stackruns runs;
	double parts[VT_STACK_PARTS];

	(void)state;
	vt_stacktimes_add(&t, 4, 0.0625);
	runs = vt_stackwindow_runs(&t);
	vt_stackwindow_share(&runs, 8, 0, parts);
	assert_true(stacks_near(parts[0], 0.375) && stacks_near(parts[1], 0.375) &&
		    stacks_near(parts[2], 0.25) && stacks_near(parts[3], 0));
}

/* What lies at one offset of two images is not the same. */
static void test_images(void **state)
{
	static const uint64_t fast[][3] = {{0x20, 0x10, 20}, {0x20, 0x10, 9}};
	static const uint64_t slow[][3] = {{0x8020, 0x8010, 80}, {0x8020, 0x8010, 9}};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	struct vt_stackcount *c;

	(void)state;
	stacks_map(w, 5, STACKS_BASE + 0x8000, 4096, 8);
	stacks_put(w, 1, 100, fast, 2);
	stacks_put(w, 1, 100, slow, 2);
	c = stacks_read(w, fd);
	assert_true(stacks_near(vt_stackcount_event(c, 1)->weight,
				(100 / (0.75 * 16) + 100 / (0.75 * 64)) / 2));
	vt_stackcount_free(c);
}

/* Events with times and without in one stream; their stacks are counted each for itself. */
static void test_both(void **state)
{
	static const uint64_t stack[][3] = {{0x20, 0x10, 0}, {0x30, 0x18, 0}};
	static const uint64_t timed[][3] = {{0x20, 0x10, 5}, {0x30, 0x18, 5}};
	int fd = scratch_file();
	struct vt_writer *w = stacks_begin(fd);
	struct vt_stackcount *c;

	(void)state;
	stacks_put(w, 2, 100, stack, 2);
	stacks_put(w, 1, 100, timed, 2);
	c = stacks_read(w, fd);
	assert_int_equal(stacks_only(c, 1, true, 0x18)->stacks, 1);
	assert_int_equal(stacks_only(c, 2, true, 0x18)->stacks, 1);
	vt_stackcount_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),	  cmocka_unit_test(test_batch),
		cmocka_unit_test(test_elsewhere), cmocka_unit_test(test_both),
		cmocka_unit_test(test_images),	  cmocka_unit_test(test_short),
		cmocka_unit_test(test_light),	  cmocka_unit_test(test_period),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
