/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much runs vary: three of them, whose statistics are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "listing/profile/profile.h"
#include "listing/profile/variance.h"
#include "tests/unit/common/printed.h"
#include "tests/unit/common/profiles.h"
#include "tests/unit/common/streams.h"

#define RUNS 3

static struct vt_error err;

/* Samples of three images in each run, each of a period of 10. */
static const uint64_t samples[RUNS][3] = {{10, 5, 8}, {20, 0, 8}, {30, 1, 8}};

static void add_run(struct vt_runs *runs, const char *const *paths, const uint64_t n[3],
		    enum vt_level level)
{
	static const struct vt_images_options none = {.warn = NULL};
	struct vt_images *images = vt_images_new(&none, &err);
	struct vt_profile *p = new_profile(images);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_ranking *ranking;
	const size_t event = 0;
	uint64_t *row;
	uint64_t i;

	row = vt_writer_row(w, VT_EVENT);
	row[VT_EVENT_ID] = 1;
	vt_writer_text(w, VT_EVENT_NAME, "cycles");
	for (i = 0; i < 3; i++) {
		row = vt_writer_row(w, VT_IMAGE);
		row[VT_IMAGE_ID] = i + 1;
		row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
		vt_writer_text(w, VT_IMAGE_PATH, paths[i]);
		row = vt_writer_row(w, VT_COUNT);
		row[VT_COUNT_IMAGE] = i + 1;
		row[VT_COUNT_EVENT] = 1;
		row[VT_COUNT_SAMPLES] = n[i];
		row[VT_COUNT_PERIOD] = 10 * n[i];
	}
	read_context(vt_profile_context(p), fd, w);
	assert_int_equal(vt_profile_finish(p, &err), 0);
	ranking = vt_ranking_new(p, images, level, &err);
	assert_non_null(ranking);
	assert_int_equal(vt_runs_add(runs, ranking, &event, &err), 0);
	vt_ranking_free(ranking);
	free_profile(p);
	vt_images_free(images);
}

static void check_runs(const char *const *paths, const uint64_t n[][3], enum vt_level level,
		       const struct vt_statlist_options *o, uint64_t total, int64_t left_out,
		       const char *want)
{
	struct vt_runs *runs = vt_runs_new(1);
	struct vt_table *t = vt_table_new();
	size_t i;

	assert_true(runs && t);
	for (i = 0; i < RUNS; i++)
		add_run(runs, paths, n[i], level);
	assert_int_equal(vt_statlist_fill(t, runs, level, total, o, &err), left_out);
	assert_string_equal(print_table(t, VT_TABLE_CSV, false), want);
	vt_table_free(t);
	vt_runs_free(runs);
}

static void check(const struct vt_statlist_options *o, uint64_t total, int64_t left_out,
		  const char *want)
{
	static const char *const paths[] = {"/one/a", "/one/b", "/one/c"};

	check_runs(paths, samples, VT_LEVEL_IMAGE, o, total, left_out, want);
}

#define HEADING "range_percent,sum,sum_percent,runs,mean,std_dev,noise,min,max,image\n"
/* Of a, (30 - 10) / 60; the root of (100 + 0 + 100) / 2; 10 / 20 times the root of 20. */
#define A "33.3333,60,66.6667,3,20,10,2.23607,10,30,/one/a\n"
/* Of b, 5 / 6; the root of (9 + 4 + 1) / 2; that by 2, times the root of 2. */
#define B "83.3333,6,6.66667,2,2,2.64575,1.87083,0,5,/one/b\n"
#define C "0,24,26.6667,3,8,0,0,8,8,/one/c\n"

static void test_orders(void **state)
{
	struct vt_statlist_options o = {.order = VT_STAT_RANGE};

	(void)state;
	check(&o, 90, 0, HEADING B A C);
	o.order = VT_STAT_DEVIATION;
	check(&o, 90, 0, HEADING A B C);
	o.order = VT_STAT_NOISE;
	check(&o, 90, 0, HEADING A B C);
	o.order = VT_STAT_SUM;
	check(&o, 90, 0, HEADING A C B);
}

static void test_left_out(void **state)
{
	struct vt_statlist_options o = {.order = VT_STAT_RANGE, .top = 1};

	(void)state;
	check(&o, 90, 2, HEADING B);
	o.top = 3;
	check(&o, 90, 0, HEADING B A C);
	o.top = 1;
	o.min_percent = 20;
	check(&o, 90, 2, HEADING A);
	o.top = 0;
	check(&o, 90, 1, HEADING A C);
}

/* Periods are ten times as many; chance makes as much of them as of samples. */
static void test_periods(void **state)
{
	const struct vt_statlist_options o = {.order = VT_STAT_SUM, .by_period = true};

	(void)state;
	check(&o, 900, 0,
	      HEADING "33.3333,600,66.6667,3,200,100,2.23607,100,300,/one/a\n"
		      "0,240,26.6667,3,80,0,0,80,80,/one/c\n"
		      "83.3333,60,6.66667,2,20,26.4575,1.87083,0,50,/one/b\n");
}

/*
 * What varies as much comes by its sum, and of the same sum by its name; what has no samples in any
 * run is no row.
 */
static void test_ties(void **state)
{
	static const char *const paths[] = {"/two/z", "/two/y", "/two/x"};
	static const uint64_t still[RUNS][3] = {{4, 8, 4}, {4, 8, 4}, {4, 8, 4}};
	static const uint64_t none[RUNS][3] = {{4, 0, 0}, {0, 0, 0}, {0, 0, 0}};
	const struct vt_statlist_options range = {.order = VT_STAT_RANGE};
	const struct vt_statlist_options sum = {.order = VT_STAT_SUM};

	(void)state;
	check_runs(paths, still, VT_LEVEL_IMAGE, &range, 48, 0,
		   HEADING "0,24,50,3,8,0,0,8,8,/two/y\n"
			   "0,12,25,3,4,0,0,4,4,/two/x\n"
			   "0,12,25,3,4,0,0,4,4,/two/z\n");
	check_runs(paths, still, VT_LEVEL_IMAGE, &sum, 48, 0,
		   HEADING "0,24,50,3,8,0,0,8,8,/two/y\n"
			   "0,12,25,3,4,0,0,4,4,/two/x\n"
			   "0,12,25,3,4,0,0,4,4,/two/z\n");
	check_runs(paths, still, VT_LEVEL_PROCEDURE, &sum, 48, 0,
		   "range_percent,sum,sum_percent,runs,mean,std_dev,noise,min,max,procedure,image\n"
		   "0,24,50,3,8,0,0,8,8,[file not found],/two/y\n"
		   "0,12,25,3,4,0,0,4,4,[file not found],/two/x\n"
		   "0,12,25,3,4,0,0,4,4,[file not found],/two/z\n");
	check_runs(paths, still, VT_LEVEL_LINE, &sum, 48, 0,
		   "range_percent,sum,sum_percent,runs,mean,std_dev,noise,min,max,line,image\n"
		   "0,24,50,3,8,0,0,8,8,[file not found],/two/y\n"
		   "0,12,25,3,4,0,0,4,4,[file not found],/two/x\n"
		   "0,12,25,3,4,0,0,4,4,[file not found],/two/z\n");
	/* Of 4, 0 and 0: the root of 16 / 3, which by 4 / 3 is the root of 3; times that of 4 / 3.
	 */
	check_runs(paths, none, VT_LEVEL_IMAGE, &range, 4, 0,
		   HEADING "100,4,100,1,1.33333,2.3094,2,0,4,/two/z\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_orders),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_periods),
		cmocka_unit_test(test_ties),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
