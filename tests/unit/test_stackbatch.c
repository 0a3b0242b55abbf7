/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What many branch stacks with times count, told of each other, against the same the slow way. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/stackcount.h"
#include "tests/unit/stacks.h"
#include "tests/unit/streams.h"

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
		l->bias += parts[k] * weight * doubt;
	}
}

static void count_stack(struct model *m, const uint64_t (*b)[3], size_t n)
{
	double window = window_of(m, b, n), weight = 100 / (0.75 * window), before = 0;
	double parts[VT_STACK_PARTS], doubt;
	const struct vt_stacktimes *times = context_of(m, b, 0);
	struct vt_stacktimes own = {{0}};
	struct model_link *l = &m->links[0][0][0];
	size_t i;

	for (i = 0; i + 1 < n; i++)
		vt_stacktimes_add(&own, b[i][2], 1);
	if (!(vt_stacktimes_sum(times) > 0))
		times = &m->times[b[0][1]];
	if (!(vt_stacktimes_sum(times) > 0))
		times = &own;
	doubt = doubt_of(m, b, n, window, vt_stackwindow_since(times, window));
	m->weight += weight;
	for (i = 0; i + 1 < n && before < window; i++) {
		vt_stackwindow_share(times, window, before, parts);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
