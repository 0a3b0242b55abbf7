/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Differences between profiles: every line and cell of small ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "listing/profile/profile.h"
#include "profile/significance.h"
#include "tests/unit/common/printed.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"
#include "tests/unit/listing/listed.h"

/* So many samples of an event, and of another if it is not NULL, in /no/such/a, b and c, and in
 * nothing. */
static void make_two(struct listed *l, const char *event, const unsigned n[4], uint64_t period,
		     const char *other, const unsigned m[4])
{
	static const char *const paths[] = {"/no/such/a", "/no/such/b", "/no/such/c"};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	unsigned i;

	scene_event(w, 1, event, VT_POLICY_INTERRUPT);
	if (other)
		scene_event(w, 2, other, VT_POLICY_INTERRUPT);
	for (i = 0; i < 4; i++) {
		uint64_t at = 0x10000 * (i + 1);

		if (i < 3) {
			scene_image(w, i + 1, paths[i]);
			scene_map(w, at, i + 1);
		}
		scene_samples(w, 1, at, 0, period, n[i]);
		if (other)
			scene_samples(w, 2, at, 0, period, m[i]);
	}
	list(l, fd, w, false, NULL, 0);
}

static void make_run(struct listed *l, const char *event, const unsigned n[4])
{
	make_two(l, event, n, 2, NULL, NULL);
}

#define MAX_RUNS 6

/* Compares the first `before` runs with the others; a table of NULL is not looked at. */
static void check_diff_in(bool color, enum vt_level level, enum vt_table_form form,
			  const struct listed *l, size_t before, size_t n,
			  const struct vt_profdiff_options *opt, struct vt_profdiff_result *result,
			  const char *want)
{
	struct vt_proflist_side sides[MAX_RUNS];
	const struct vt_profdiff_set sets[2] = {{sides, before}, {sides + before, n - before}};
	struct vt_ranking *r[MAX_RUNS];
	struct vt_table *t = vt_table_new();
	size_t i;

	for (i = 0; i < n; i++) {
		r[i] = vt_ranking_new(l[i].scene.profile, l[i].scene.images, level, &err);
		sides[i] = (struct vt_proflist_side){l[i].scene.profile, r[i], l[i].scene.images,
						     &l[i].events};
	}
	assert_int_equal(vt_proflist_diff(t, sets, opt, result, &err), 0);
	if (want)
		assert_string_equal(print_table(t, form, color), want);
	vt_table_free(t);
	for (i = 0; i < n; i++)
		vt_ranking_free(r[i]);
}

static void check_diff_as(enum vt_level level, enum vt_table_form form, const struct listed *l,
			  size_t before, size_t n, const struct vt_profdiff_options *opt,
			  struct vt_profdiff_result *result, const char *want)
{
	check_diff_in(false, level, form, l, before, n, opt, result, want);
}

static void check_diff(const struct listed *l, size_t before, size_t n,
		       const struct vt_profdiff_options *opt, struct vt_profdiff_result *result,
		       const char *want)
{
	check_diff_as(VT_LEVEL_IMAGE, VT_TABLE_CSV, l, before, n, opt, result, want);
}

#define HEAD(event)                                                                                \
	event ".before," event ".before_percent," event ".after," event ".after_percent," event    \
	      ".delta," event ".points," event ".p," event ".significant,image\n"

/*
 * Of 100 samples before and 125 after: a has 40 more, c lost all its 20, which is 2 in 2^20 by
 * chance; 5 are in nothing, which is not tested.  Shares of all 225: 17.8, 8.9, 2.2 and 0 percent.
 */
static void test_diff(void **state)
{
	static const unsigned before[] = {40, 40, 20, 0}, after[] = {80, 40, 0, 5};
	struct vt_profdiff_options opt = {.rate = 0.05, .check = 10};
	struct vt_profdiff_result result;
	struct listed l[2];
	char want[1024];

	(void)state;
	make_run(&l[0], "cycles", before);
	make_run(&l[1], "cycles", after);
	snprintf(want, sizeof(want),
		 HEAD("cycles") "40,40,80,64,40,24,%g,1,/no/such/a\n"
				"20,20,0,0,-20,-20,%g,1,/no/such/c\n"
				"0,0,5,4,5,4,,0,\"[no mapping, user mode]\"\n"
				"40,40,40,32,0,-8,1,0,/no/such/b\n",
		 vt_count_test(40, 80, 0.5), 2.0 / (1 << 20));
	check_diff(l, 1, 2, &opt, &result, want);
	assert_int_equal(result.left_out, 0);
	assert_int_equal(result.significant, 2);
	assert_int_equal(result.grown.count, 1);
	assert_int_equal(result.shrunk.count, 1);
	assert_string_equal(vt_buf_str(&result.grown.names), "a (+40%)");
	assert_string_equal(vt_buf_str(&result.shrunk.names), "c (-20%)");
	assert_true(result.unknown == 4 && result.unknown_run == 1 && result.unknown_event == 0);
	assert_int_equal(result.alone.size, 0);
	vt_profdiff_result_fini(&result);
	check_diff_as(VT_LEVEL_IMAGE, VT_TABLE_TEXT, l, 1, 2, &opt, &result,
		      "before       %  after       %  cycles   points    chance  image\n"
		      "    40  40.00%     80  64.00%     +40  +24.00%   0.03% *  /no/such/a\n"
		      "    20  20.00%      0   0.00%     -20  -20.00%  <0.01% *  /no/such/c\n"
		      "     0   0.00%      5   4.00%      +5   +4.00%            "
		      "[no mapping, user mode]\n"
		      "    40  40.00%     40  32.00%       0   -8.00%    100%    /no/such/b\n");
	vt_profdiff_result_fini(&result);
	/* What is as great as asked for, and what is not; as many rows as are wanted. */
	opt.check = 20;
	opt.list.top = 1;
	snprintf(want, sizeof(want), HEAD("cycles") "40,40,80,64,40,24,%g,1,/no/such/a\n",
		 vt_count_test(40, 80, 0.5));
	check_diff(l, 1, 2, &opt, &result, want);
	assert_int_equal(result.left_out, 3);
	assert_int_equal(result.significant, 2);
	assert_true(result.grown.count == 1 && result.shrunk.count == 1);
	vt_profdiff_result_fini(&result);
	opt.check = 20.1;
	opt.list.top = 0;
	opt.list.min_percent = 17;
	check_diff(l, 1, 2, &opt, &result, want);
	assert_true(result.grown.count == 1 && result.shrunk.count == 0);
	vt_profdiff_result_fini(&result);
	discard(&l[0]);
	discard(&l[1]);
}

/* Two runs before, one after, whose event has another modifier: means, and twice the exposure. */
static void test_diff_of_runs(void **state)
{
	static const unsigned first[] = {4, 0, 0, 0}, second[] = {8, 2, 0, 0},
			      after[] = {60, 1, 0, 0};
	const struct vt_profdiff_options opt = {.rate = 0.05, .check = 50};
	struct vt_profdiff_result result;
	struct listed l[3];
	char want[1024];

	(void)state;
	make_run(&l[0], "cycles", first);
	make_run(&l[1], "cycles", second);
	make_run(&l[2], "cycles:u", after);
	snprintf(want, sizeof(want),
		 HEAD("cycles") "6,85.7143,60,98.3607,54,12.6464,%g,1,/no/such/a\n"
				"1,14.2857,1,1.63934,0,-12.6464,%g,0,/no/such/b\n",
		 vt_count_test(12, 60, 2.0 / 3), vt_count_test(2, 1, 2.0 / 3));
	check_diff(l, 2, 3, &opt, &result, want);
	assert_int_equal(result.significant, 1);
	/* 7 before, 61 after: 54 of 7 more, all of that in a. */
	assert_int_equal(result.grown.count, 2);
	assert_string_equal(vt_buf_str(&result.grown.names),
			    "a (+771%), the total (+771%), of that +771% in a");
	assert_true(result.unknown == 0);
	vt_profdiff_result_fini(&result);
	discard(&l[0]);
	discard(&l[1]);
	discard(&l[2]);
	/* One run before, two after. */
	make_run(&l[0], "cycles", after);
	make_run(&l[1], "cycles", first);
	make_run(&l[2], "cycles", second);
	snprintf(want, sizeof(want),
		 HEAD("cycles") "60,98.3607,6,85.7143,-54,-12.6464,%g,1,/no/such/a\n"
				"1,1.63934,1,14.2857,0,12.6464,%g,0,/no/such/b\n",
		 vt_count_test(60, 12, 1.0 / 3), vt_count_test(1, 2, 1.0 / 3));
	check_diff(l, 1, 3, &opt, &result, want);
	/* 54 of 61. */
	assert_string_equal(vt_buf_str(&result.shrunk.names),
			    "a (-88.5%), the total (-88.5%), of that -88.5% in a");
	vt_profdiff_result_fini(&result);
	discard(&l[0]);
	discard(&l[1]);
	discard(&l[2]);
}

/* How likely chance makes the difference of a row's shares, of 1000 samples in each of four runs.
 */
static double chance_of(const unsigned counts[4])
{
	struct vt_share_set sets[2] = {{{0}, 0, 0}, {{0}, 0, 0}};
	int i;

	for (i = 0; i < 4; i++) {
		vt_moments_add(&sets[i / 2].shares, counts[i] / 1000.0);
		sets[i / 2].count += counts[i];
		sets[i / 2].total += 1000;
	}
	return vt_share_test(&sets[0], &sets[1]);
}

/* Two runs before, two after: the shares of each are compared. */
static void test_diff_of_sets(void **state)
{
	static const unsigned runs[4][4] = {
		{100, 900, 0, 0}, {110, 890, 0, 0}, {150, 850, 0, 0}, {165, 835, 0, 0}};
	static const unsigned a[4] = {100, 110, 150, 165}, b[4] = {900, 890, 850, 835};
	const struct vt_profdiff_options opt = {.rate = 0.01, .check = NAN};
	struct vt_profdiff_result result;
	struct listed l[4];
	char want[1024];
	int i;

	(void)state;
	for (i = 0; i < 4; i++)
		make_run(&l[i], "cycles", runs[i]);
	snprintf(want, sizeof(want),
		 HEAD("cycles") "105,10.5,157.5,15.75,52.5,5.25,%g,0,/no/such/a\n"
				"895,89.5,842.5,84.25,-52.5,-5.25,%g,0,/no/such/b\n",
		 chance_of(a), chance_of(b));
	check_diff(l, 2, 4, &opt, &result, want);
	vt_profdiff_result_fini(&result);
	for (i = 0; i < 4; i++)
		discard(&l[i]);
}

#define BOLD(text) "\033[1m" text "\033[0m"
#define COLORED                                                                                    \
	BOLD("before")                                                                             \
	"       " BOLD("%") "  " BOLD("after") "       " BOLD("%") "  " BOLD("cycles") "  " BOLD(  \
		"points") "  " BOLD("chance") "  " BOLD("image") "\n"

/* A point more or less is coloured, half a one is not. */
static void test_colors(void **state)
{
	static const unsigned before[] = {50, 50, 0, 0}, after[] = {51, 49, 0, 0};
	static const unsigned half[] = {100, 100, 0, 0}, less[] = {101, 99, 0, 0};
	const struct vt_profdiff_options opt = {.rate = 0.05, .check = NAN};
	struct vt_profdiff_result result;
	struct listed l[2];

	(void)state;
	make_run(&l[0], "cycles", before);
	make_run(&l[1], "cycles", after);
	check_diff_in(true, VT_LEVEL_IMAGE, VT_TABLE_TEXT, l, 1, 2, &opt, &result,
		      COLORED
		      "    50  50.00%     51  51.00%      +1  \033[1;31m+1.00%\033[0m  100%    "
		      "/no/such/a\n"
		      "    50  50.00%     49  49.00%      -1  \033[36m-1.00%\033[0m  100%    "
		      "/no/such/b\n");
	vt_profdiff_result_fini(&result);
	discard(&l[0]);
	discard(&l[1]);
	make_run(&l[0], "cycles", half);
	make_run(&l[1], "cycles", less);
	check_diff_in(true, VT_LEVEL_IMAGE, VT_TABLE_TEXT, l, 1, 2, &opt, &result,
		      COLORED
		      "   100  50.00%    101  50.50%      +1  +0.50%  100%    /no/such/a\n"
		      "   100  50.00%     99  49.50%      -1  -0.50%  100%    /no/such/b\n");
	vt_profdiff_result_fini(&result);
	discard(&l[0]);
	discard(&l[1]);
}

/* Compares two runs that have nothing in common. */
static void refuse_diff(const struct listed l[2], const char *want)
{
	const struct vt_profdiff_options opt = {.rate = 0.05, .check = NAN};
	struct vt_proflist_side sides[2];
	const struct vt_profdiff_set sets[2] = {{sides, 1}, {sides + 1, 1}};
	struct vt_profdiff_result result;
	struct vt_table *t = vt_table_new();
	int i;

	for (i = 0; i < 2; i++)
		sides[i] = (struct vt_proflist_side){
			l[i].scene.profile,
			vt_ranking_new(l[i].scene.profile, l[i].scene.images, VT_LEVEL_IMAGE, &err),
			l[i].scene.images, &l[i].events};
	assert_int_equal(vt_proflist_diff(t, sets, &opt, &result, &err), -VT_E_FORMAT);
	assert_string_equal(err.text, want);
	vt_profdiff_result_fini(&result);
	vt_table_free(t);
	for (i = 0; i < 2; i++)
		vt_ranking_free((struct vt_ranking *)sides[i].ranking);
}

/* Events of which only one side has any samples are named, and left out. */
static void test_diff_of_events(void **state)
{
	static const unsigned some[] = {1, 2, 3, 4}, none[4];
	struct listed l[2];

	(void)state;
	make_run(&l[0], "cycles", some);
	make_run(&l[1], "misses", some);
	refuse_diff(l, "nothing to compare: no event is both before and after: cycles, misses");
	discard(&l[0]);
	discard(&l[1]);
	make_run(&l[0], "cycles", none);
	make_run(&l[1], "misses", none);
	refuse_diff(l, "nothing to compare: there are no samples");
	discard(&l[0]);
	discard(&l[1]);
}

static void test_modifiers(void **state)
{
	static const struct {
		const char *a, *b;
		bool same;
	} names[] = {
		{"cycles", "cycles", true},
		{"cycles", "misses", false},
		{"cycles", "cycle", false},
		{"cycles:u", "cycles", true},
		{"cycles:u", "cycles:k", true},
		{"cycles:ukhIGHpPSDeWRb", "cycles", true},
		{"cycles:x", "cycles", false},
		{"cycles:", "cycles", false},
		{"cpu/event=0x3c/pp", "cpu/event=0x3c/", true},
		{"cpu/event=0x3c/x", "cpu/event=0x3c/", false},
		{"cpu/event=0x3c/pp", "cpu/event=0x3c", false},
		{"sched:wakeup", "sched:wak", false},
		{"a:u", "a", true},
		{":u", "", false},
		{"hub", "", false},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (vti_same_event(names[i].a, names[i].b) != names[i].same)
			fail_msg("%s, %s", names[i].a, names[i].b);
		assert_int_equal(vti_same_event(names[i].b, names[i].a), names[i].same);
	}
}

/*
 * An event that only one side has samples of is compared where the other one has it, too: by its
 * name, else as the only one that differs in modifiers. Chance alone makes 3 and 0 with 2 in 8.
 */
static void test_diff_without_samples(void **state)
{
	static const unsigned three[] = {3, 0, 0, 0}, none[4];
	static const char *const names[] = {"cycles", "cycles:u"};
	const struct vt_profdiff_options opt = {.rate = 0.05, .check = NAN};
	struct vt_profdiff_result result;
	struct listed l[2];
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		make_run(&l[0], "cycles", three);
		make_two(&l[1], names[i], none, 2, "misses", three);
		check_diff(l, 1, 2, &opt, &result,
			   HEAD("cycles") "3,100,0,0,-3,-100,0.25,0,/no/such/a\n");
		assert_string_equal(vt_buf_str(&result.alone), "misses");
		vt_profdiff_result_fini(&result);
		discard(&l[0]);
		discard(&l[1]);
	}
	/* What has just that name comes before what has samples. */
	make_run(&l[0], "cycles", three);
	make_two(&l[1], "cycles:u", three, 2, "cycles", none);
	check_diff(l, 1, 2, &opt, &result,
		   "cycles.before,cycles.before_percent,cycles.after,cycles.after_percent,"
		   "cycles.delta,cycles.points,cycles.p,cycles.significant," HEAD(
			   "cycles:u") "3,100,0,0,-3,-100,0.25,0,3,100,3,100,0,0,1,0,/no/such/a\n");
	vt_profdiff_result_fini(&result);
	discard(&l[0]);
	discard(&l[1]);
}

/*
 * Of a, 8 and 32 of 24 and 48 are the periods, of b 16 each. A sample after is worth two before: if
 * nothing had changed, two of three samples would be before.
 */
static void test_diff_by_period(void **state)
{
	static const unsigned before[] = {4, 8, 0, 0}, after[] = {8, 4, 0, 0};
	static const unsigned other[] = {0, 1, 0, 0};
	const struct vt_profdiff_options opt = {.list.by_period = true, .rate = 0.05, .check = NAN};
	struct vt_profdiff_result result;
	struct listed l[2];
	char want[1024];

	(void)state;
	make_two(&l[0], "cycles", before, 2, "misses", other);
	make_two(&l[1], "cycles", after, 4, "misses", other);
	snprintf(want, sizeof(want),
		 "cycles.before,cycles.before_percent,cycles.after,cycles.after_percent,"
		 "cycles.delta,cycles.points,cycles.p,cycles.significant," HEAD(
			 "misses") "4,33.3333,8,66.6667,4,33.3333,%g,0,0,0,0,0,0,0,1,0,/no/such/a\n"
				   "8,66.6667,4,33.3333,-4,-33.3333,1,0,1,100,1,100,0,0,1,0,/no/"
				   "such/b\n",
		 vt_count_test(4, 8, 2.0 / 3));
	check_diff(l, 1, 2, &opt, &result, want);
	vt_profdiff_result_fini(&result);
	discard(&l[0]);
	discard(&l[1]);
}

/*
 * All rows change, and the total with them; what changed most did not change as the total did.
 * Before 4000, 1000, 1000 and 8 samples, after 3000, 1900, 1800 and 8.
 */
static void test_check_of_total(void **state)
{
	static const unsigned before[] = {4000, 1000, 1000, 8}, after[] = {3000, 1900, 1800, 8};
	static const unsigned few[] = {8, 0, 0, 0}, many[] = {1000, 0, 0, 0};
	const struct vt_profdiff_options opt = {.rate = 0.05, .check = 10};
	struct vt_profdiff_result result;
	struct listed l[2];

	(void)state;
	make_run(&l[0], "cycles", before);
	make_run(&l[1], "cycles", after);
	check_diff_as(VT_LEVEL_IMAGE, VT_TABLE_TEXT, l, 1, 2, &opt, &result,
		      "before       %  after       %  cycles   points    chance  image\n"
		      "  4000  66.58%   3000  44.72%   -1000  -21.86%  <0.01% *  /no/such/a\n"
		      "  1000  16.64%   1900  28.32%    +900  +11.68%  <0.01% *  /no/such/b\n"
		      "  1000  16.64%   1800  26.83%    +800  +10.19%  <0.01% *  /no/such/c\n"
		      "     8   0.13%      8   0.12%       0   -0.01%            "
		      "[no mapping, user mode]\n");
	assert_string_equal(vt_buf_str(&result.grown.names),
			    "b (+15%), c (+13.3%), the total (+11.7%)");
	assert_string_equal(vt_buf_str(&result.shrunk.names), "a (-16.6%)");
	vt_profdiff_result_fini(&result);
	discard(&l[0]);
	discard(&l[1]);
	/* By more than a hundred percent: 992 of 8. */
	make_run(&l[0], "cycles", few);
	make_run(&l[1], "cycles", many);
	check_diff_as(VT_LEVEL_IMAGE, VT_TABLE_TEXT, l, 1, 2, &opt, &result, NULL);
	assert_string_equal(vt_buf_str(&result.grown.names),
			    "a (+12400%), the total (+12400%), of that +12400% in a");
	vt_profdiff_result_fini(&result);
	discard(&l[0]);
	discard(&l[1]);
}

/* A run of a number of images, all with as many samples. */
static void make_even(struct listed *l, unsigned images, unsigned samples)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	char path[] = "/no/such/a";
	unsigned i;

	scene_event(w, 1, "cycles", VT_POLICY_INTERRUPT);
	for (i = 0; i < images; i++) {
		path[9] = (char)('a' + i);
		scene_image(w, i + 1, path);
		scene_map(w, 0x10000 * (i + 1), i + 1);
		scene_samples(w, 1, 0x10000 * (i + 1), 0, 1, samples);
	}
	list(l, fd, w, false, NULL, 0);
}

/*
 * Three runs of 100, 120 and 140 samples, and three of 250, 300 and 350: Welch finds 2 %, and that
 * is one question.  Forty images that did not change make noise of it if they count as questions.
 * t^2 = 180^2 / (400 / 3 + 2500 / 3), with 2.62 degrees of freedom.
 */
static void test_total_of_runs(void **state)
{
	static const unsigned runs[6] = {100, 120, 140, 250, 300, 350};
	struct vt_profdiff_options opt = {.rate = 0.05, .check = 10};
	const double freedom = 2900.0 * 2900 / ((400.0 * 400 + 2500.0 * 2500) / 2);
	const double t2 = 180.0 * 180 * 3 / 2900;
	struct vt_profdiff_result result;
	struct listed l[6];
	size_t i;

	(void)state;
	for (i = 0; i < 6; i++)
		make_even(&l[i], 10, runs[i] / 10);
	check_diff_as(VT_LEVEL_IMAGE, VT_TABLE_CSV, l, 3, 6, &opt, &result, NULL);
	assert_int_equal(result.significant, 0);
	assert_string_equal(vt_buf_str(&result.grown.names),
			    "the total (+150%), of that +15% in a");
	assert_int_equal(result.ntotals, 1);
	assert_string_equal(result.total[0].label, "cycles");
	assert_true(result.total[0].before == 120 && result.total[0].after == 300);
	assert_true(result.total[0].by == 150 && result.total[0].significant);
	assert_float_equal(result.total[0].p,
			   vt_incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t2)), 1e-12);
	assert_true(result.total[0].p < 0.05 && result.total[0].p > 0.01);
	assert_true(result.total[0].least > 75 && result.total[0].least < 150);
	vt_profdiff_result_fini(&result);
	/* At a level that three such runs do not reach. */
	opt.rate = 0.01;
	check_diff_as(VT_LEVEL_IMAGE, VT_TABLE_CSV, l, 3, 6, &opt, &result, NULL);
	assert_int_equal(result.grown.count, 0);
	assert_false(result.total[0].significant);
	assert_true(result.total[0].least > 150);
	vt_profdiff_result_fini(&result);
	/* One run a side: 180 of 120 more, by counts.  Nothing is said of how runs vary. */
	check_diff_as(VT_LEVEL_IMAGE, VT_TABLE_CSV, l + 2, 1, 2, &opt, &result, NULL);
	assert_float_equal(result.total[0].p, vt_count_test(140, 250, 0.5), 0);
	assert_true(isnan(result.total[0].least));
	vt_profdiff_result_fini(&result);
	for (i = 0; i < 6; i++)
		discard(&l[i]);
}

/* Five changes are named, the total among them; others are counted. */
static void test_named_changes(void **state)
{
	static const char *const names[] = {"a (+25%), b (+25%), c (+25%), d (+25%), "
					    "the total (+100%), of that +25% in a",
					    "a (+20%), b (+20%), c (+20%), d (+20%), e (+20%)"};
	static const unsigned before[] = {100, 29900, 0, 0}, after[] = {300, 29900, 0, 0};
	struct vt_profdiff_options opt = {.rate = 0.05, .check = 10};
	struct vt_profdiff_result result;
	struct listed l[2];
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++) {
		make_even(&l[0], 4 + i, 100);
		make_even(&l[1], 4 + i, 200);
		check_diff_as(VT_LEVEL_IMAGE, VT_TABLE_CSV, l, 1, 2, &opt, &result, NULL);
		assert_int_equal(result.grown.count, 5 + i);
		assert_int_equal(result.shrunk.count, 0);
		assert_string_equal(vt_buf_str(&result.grown.names), names[i]);
		vt_profdiff_result_fini(&result);
		discard(&l[0]);
		discard(&l[1]);
	}
	/* Of less than one percent: 200 of 30000. */
	opt.check = 0.5;
	make_run(&l[0], "cycles", before);
	make_run(&l[1], "cycles", after);
	check_diff_as(VT_LEVEL_IMAGE, VT_TABLE_CSV, l, 1, 2, &opt, &result, NULL);
	assert_string_equal(vt_buf_str(&result.grown.names), "a (+0.667%)");
	assert_int_equal(result.shrunk.count, 0);
	vt_profdiff_result_fini(&result);
	discard(&l[0]);
	discard(&l[1]);
}

/* ---- images without symbols ---- */

#define NAMED	 1
#define STRIPPED 2

/* A run of 4 samples of f in one or two programs of the same file name. */
static void make_named(struct listed *l, const char *dir, unsigned how)
{
	static const char *const paths[] = {"named/prog", "stripped/prog"};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	unsigned i;

	scene_event(w, 1, "cycles", VT_POLICY_INTERRUPT);
	for (i = 0; i < 2; i++) {
		if (!(how >> i & 1))
			continue;
		scene_image(w, i + 1, toolbox_path(dir, paths[i]));
		scene_map(w, 0x400000 + 0x10000 * i, i + 1);
		scene_samples(w, 1, 0x401000 + 0x10000 * i, 0, 1, 4);
	}
	list(l, fd, w, false, NULL, 0);
}

/*
 * Rows of an image that has symbols in some runs only cannot match: it is named, with the side of
 * the last run that has none. A run of two images of that name, one of either kind, tells nothing.
 */
static void test_diff_of_stripped(void **state)
{
	static const struct {
		unsigned runs[4]; /* two before, two after */
		const char *want;
		unsigned unknown; /* percent */
	} cases[] = {
		{{NAMED, NAMED, NAMED, NAMED}, "", 0},
		{{STRIPPED, STRIPPED, STRIPPED, STRIPPED}, "", 100},
		{{NAMED, NAMED, STRIPPED, NAMED}, "prog (after)", 100},
		{{NAMED, STRIPPED, NAMED, NAMED}, "prog (before)", 100},
		{{STRIPPED, NAMED, NAMED, NAMED}, "prog (before)", 100},
		{{STRIPPED, NAMED, NAMED, STRIPPED}, "prog (after)", 100},
		{{STRIPPED, STRIPPED, STRIPPED, NAMED}, "prog (after)", 100},
		{{NAMED | STRIPPED, NAMED, NAMED | STRIPPED, NAMED}, "", 50},
		{{NAMED | STRIPPED, STRIPPED, NAMED | STRIPPED, STRIPPED}, "", 100},
		{{NAMED | STRIPPED, STRIPPED, NAMED, NAMED | STRIPPED}, "prog (before)", 100},
	};
	const struct vt_profdiff_options opt = {.rate = 0.05, .check = NAN};
	char *dir = toolbox_dir();
	size_t i, k;

	(void)state;
	scene_program(dir, ".globl f\n.type f,@function\nf: nop\nret\n.size f,.-f\n");
	free(toolbox_run(dir,
			 "mkdir named stripped && cp prog named && strip -o stripped/prog prog"));
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_profdiff_result result;
		struct listed l[4];

		for (k = 0; k < 4; k++)
			make_named(&l[k], dir, cases[i].runs[k]);
		check_diff_as(VT_LEVEL_PROCEDURE, VT_TABLE_CSV, l, 2, 4, &opt, &result, NULL);
		assert_string_equal(vt_buf_str(&result.stripped), cases[i].want);
		assert_int_equal(result.unknown, cases[i].unknown);
		vt_profdiff_result_fini(&result);
		for (k = 0; k < 4; k++)
			discard(&l[k]);
	}
	toolbox_remove(dir);
}

/*
 * Of estimates, which are not tested: cycles per execution on both sides, if either was estimated.
 * a: 100 times 2 and 200 times 1.5 cycles, b: 50 times 2 and 25 times 2; 300 before, 350 after.
 */
static void test_diff_of_estimates(void **state)
{
	static const char *const names[] = {"head cycles"};
	static const double times[2][2] = {{100, 50}, {200, 25}};
	static const double cycles[2][2] = {{2, 2}, {1.5, 2}};
	const struct vt_profdiff_options opt = {.rate = 0.05, .check = NAN};
	struct vt_profdiff_result result;
	struct listed l[2];
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		int fd = scratch_file();
		struct vt_writer *w = start_stream(fd);

		scene_image(w, 1, "/no/such/a");
		scene_image(w, 2, "/no/such/b");
		scene_freq(w, 1, 0x10, times[i][0], cycles[i][0], 1);
		scene_freq(w, 2, 0x10, times[i][1], cycles[i][1], 1);
		list(&l[i], fd, w, true, names, 1);
	}
	check_diff(l, 1, 2, &opt, &result,
		   "head cycles.before,head cycles.before_percent,head cycles.after,"
		   "head cycles.after_percent,head cycles.delta,head cycles.points,head cycles.p,"
		   "head cycles.significant,cpi.before,cpi.after,image\n"
		   "200,66.6667,300,85.7143,100,19.0476,,0,2,1.5,/no/such/a\n"
		   "100,33.3333,50,14.2857,-50,-19.0476,,0,2,2,/no/such/b\n");
	assert_int_equal(result.significant, 0);
	vt_profdiff_result_fini(&result);
	discard(&l[0]);
	discard(&l[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_diff_of_runs),
		cmocka_unit_test(test_diff_of_sets),
		cmocka_unit_test(test_colors),
		cmocka_unit_test(test_diff_of_events),
		cmocka_unit_test(test_modifiers),
		cmocka_unit_test(test_diff_without_samples),
		cmocka_unit_test(test_diff_by_period),
		cmocka_unit_test(test_check_of_total),
		cmocka_unit_test(test_total_of_runs),
		cmocka_unit_test(test_named_changes),
		cmocka_unit_test(test_diff_of_stripped),
		cmocka_unit_test(test_diff_of_estimates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
