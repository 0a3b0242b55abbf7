/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact totals of all that is fetched, against sums over all pairs of random instructions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "simulate/internal.h"

#define INSNS  3000
#define PLACES 7
#define WIDTH  3

static struct vt_mop op = {.length = 4, .flags = VT_FACT_LOAD};
static struct vt_sim_access access = {0x40, 8, false};
static struct vt_sim_insn insn = {.op = &op, .next = 4, .naccesses = 1, .accesses = &access};

static struct vt_core core = {
	.order = VT_OUT_OF_ORDER, .issue = WIDTH, .dcache = {.size = 64}, .dtlb = {.entries = 1}};

static struct vt_sim_followed all[INSNS];
static uint32_t places[INSNS];

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Most are short; some take `longest`.  A quarter is aborted, some of these before the map. */
static void draw_insns(uint64_t seed, uint64_t longest)
{
	uint64_t fetched = 100, retired = 0;
	struct vt_rng r;
	unsigned i;

	vt_rng_init(&r, seed);
	for (i = 0; i < INSNS; i++) {
		uint64_t most = vt_rng_below(&r, 50) ? 9 : longest;
		struct vt_sim_followed *f = &all[i];

		fetched += vt_rng_below(&r, 4) ? 0 : vt_rng_below(&r, most);
		places[i] = (uint32_t)vt_rng_below(&r, PLACES);
		*f = (struct vt_sim_followed){.fetched = fetched, .flags = VT_FACT_LOAD};
		f->placed = fetched + 1 + vt_rng_below(&r, 3);
		if (vt_rng_below(&r, 4) == 0) {
			f->ended = f->placed + vt_rng_below(&r, most);
			f->placed = vt_rng_below(&r, 3) ? f->placed : 0;
			continue;
		}
		f->insn = &insn;
		f->ready = f->placed + vt_rng_below(&r, most);
		f->issued = f->ready + vt_rng_below(&r, 3);
		f->done = f->issued + vt_rng_below(&r, most);
		f->ended = retired = max(f->done, retired);
		f->load = (uint32_t)(f->done - f->issued);
		f->data_missed = vt_rng_below(&r, 2) ? VT_MISS_L1 : 0;
	}
}

static uint64_t progress_end(const struct vt_sim_followed *f)
{
	return f->insn ? f->done : f->ended;
}

static unsigned count_useful(unsigned i)
{
	unsigned k, n = 0;

	for (k = 0; k < INSNS; k++)
		n += k != i && all[k].insn && all[k].issued >= all[i].fetched &&
		     all[k].issued < progress_end(&all[i]);
	return n;
}

static void expect_stat(const struct vti_pmstat *s, uint64_t k, double sum, double sum2)
{
	assert_int_equal(s->k, k);
	assert_true(s->sum == sum);
	assert_true(s->sum2 == sum2);
}

static void check_place(const struct vti_pmtruth *t, uint32_t place)
{
	const struct vti_pmstat *s = t->places[place].stats;
	double cycles = 0, cycles2 = 0, useful = 0, useful2 = 0, wasted = 0, wasted2 = 0;
	double mapped = 0, mapped2 = 0, retired = 0, missed = 0;
	unsigned i, n = 0, nmapped = 0;

	for (i = 0; i < INSNS; i++) {
		const struct vt_sim_followed *f = &all[i];
		double c = (double)(progress_end(f) - f->fetched), u = count_useful(i);
		double w = WIDTH * c - u, m = f->placed ? (double)(f->placed - f->fetched) : 0;

		if (places[i] != place)
			continue;
		n++;
		nmapped += f->placed != 0;
		cycles += c;
		cycles2 += c * c;
		useful += u;
		useful2 += u * u;
		wasted += w;
		wasted2 += w * w;
		mapped += m;
		mapped2 += m * m;
		retired += f->insn != NULL;
		missed += f->data_missed != 0;
	}
	expect_stat(&s[VT_STAT_IN_PROGRESS], n, cycles, cycles2);
	expect_stat(&s[VT_STAT_USEFUL], n, useful, useful2);
	expect_stat(&s[VT_STAT_WASTED], n, wasted, wasted2);
	expect_stat(&s[VT_STAT_OF(LAT_MAP)], nmapped, mapped, mapped2);
	expect_stat(&s[VT_PM_RETIRED], n, retired, retired);
	expect_stat(&s[VT_PM_ABORTED], n, n - retired, n - retired);
	expect_stat(&s[VT_PM_DCACHE_MISS], (uint64_t)retired, missed, missed);
	assert_int_equal(s[VT_STAT_OF(LAT_EXEC)].k, retired);
	assert_int_equal(s[VT_STAT_OF(LAT_LOAD)].k, retired);
	assert_int_equal(s[VT_STAT_OF(LAT_TLB)].k, retired);
	assert_int_equal(s[VT_STAT_OF(LAT_TOTAL)].k, n);
	assert_int_equal(s[VT_STAT_OF(LAT_FETCH)].k, 0);
	assert_int_equal(s[VT_PM_ICACHE_MISS].k, 0);
}

/* The longest are longer than the rings are at first. */
static void sums_are_those_of_pairs(void **state)
{
	static const uint64_t longest[] = {2, 60, 700, 9000};
	unsigned i, k;

	(void)state;
	for (k = 0; k < 4; k++) {
		struct vti_pmwindow *w = vti_pmwindow_new();
		struct vti_pmtruth t = {0};

		assert_non_null(w);
		draw_insns(k, longest[k]);
		for (i = 0; i < INSNS; i++)
			vti_pmtruth_add(&t, w, &core, places[i], &all[i]);
		vti_pmtruth_end(&t, w, &core);
		assert_false(t.failed);
		for (i = 0; i < PLACES; i++)
			check_place(&t, i);
		vti_pmwindow_free(w);
		vti_pmtruth_fini(&t);
	}
}

/* What has no place was not counted for want of memory. */
static void places_may_be_wanting(void **state)
{
	struct vti_pmwindow *w = vti_pmwindow_new();
	struct vti_pmtruth t = {0};

	(void)state;
	assert_non_null(w);
	draw_insns(1, 9);
	vti_pmtruth_add(&t, w, &core, VTI_NONE, &all[0]);
	assert_true(t.failed);
	vti_pmwindow_free(w);
	vti_pmwindow_free(NULL);
	vti_pmtruth_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_those_of_pairs),
		cmocka_unit_test(places_may_be_wanting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
