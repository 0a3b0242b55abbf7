/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Listings of profiles: every line and cell of small ones. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/proflist.h"
#include "analysis/significance.h"
#include "tests/unit/printed.h"
#include "tests/unit/scenes.h"
#include "tests/unit/streams.h"
#include "tests/unit/toolbox.h"

static struct vt_error err;

/* ---- profiles ---- */

struct listed {
	struct scene scene;
	struct vt_event_choice events;
};

/* Reads the stream; chooses the events of these names, or all that have samples. */
static void list(struct listed *l, int fd, struct vt_writer *w, bool estimates,
		 const char *const *names, size_t nnames)
{
	scene_read(&l->scene, fd, w, estimates);
	assert_int_equal(vt_event_choice_init(&l->events, l->scene.profile, names, nnames, &err),
			 0);
}

static void discard(struct listed *l)
{
	vt_event_choice_fini(&l->events);
	scene_drop(&l->scene);
}

/* ---- what is printed ---- */

static void check_header(const struct listed *l, const char *want)
{
	struct vt_ranking *r =
		vt_ranking_new(l->scene.profile, l->scene.images, VT_LEVEL_PROCEDURE, &err);
	struct vt_output out;

	assert_non_null(r);
	print_begin(&out);
	vt_proflist_header(l->scene.profile, r, &l->events, &out);
	assert_string_equal(print_end(&out), want);
	vt_ranking_free(r);
}

static void check_table(const struct listed *l, enum vt_level level,
			const struct vt_proflist_options *opt, uint64_t left_out, const char *want)
{
	struct vt_ranking *r = vt_ranking_new(l->scene.profile, l->scene.images, level, &err);
	const struct vt_proflist_side side = {l->scene.profile, r, l->scene.images, &l->events};
	struct vt_table *t = vt_table_new();

	assert_true(r && t);
	assert_int_equal(vt_ranking_sort(r, l->events.index[0], opt->by_period, &err), 0);
	assert_int_equal(vt_proflist_fill(t, &side, opt), left_out);
	assert_string_equal(print_table(t, VT_TABLE_CSV, false), want);
	vt_table_free(t);
	vt_ranking_free(r);
}

/* ---- tests ---- */

/*
 * Ten samples of cycles: 6 in /no/such/a at two places, 3 in /no/such/b, 1 in nothing; 3 of misses,
 * of which 2 have an exact pc, all in b.
 */
static void make_ten(struct listed *l)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	scene_event(w, 1, "cycles", VT_POLICY_INTERRUPT);
	scene_event(w, 2, "misses", VT_POLICY_PRECISE);
	scene_event(w, 3, "never", VT_POLICY_PRECISE);
	scene_image(w, 1, "/no/such/a");
	scene_image(w, 2, "/no/such/b");
	scene_map(w, 0x10000, 1);
	scene_map(w, 0x20000, 2);
	scene_samples(w, 1, 0x10010, 0, 1, 4);
	scene_samples(w, 1, 0x10020, 0, 1, 2);
	scene_samples(w, 1, 0x20010, 0, 8, 3);
	scene_samples(w, 1, 0x70000, 0, 10, 1);
	scene_samples(w, 2, 0x20010, SCENE_EXACT_IP, 1, 2);
	scene_samples(w, 2, 0x20010, 0, 1, 1);
	vt_writer_row(w, VT_LOST)[VT_LOST_COUNT] = 12;
	vt_writer_row(w, VT_GAP)[VT_GAP_BYTES] = 100;
	list(l, fd, w, false, NULL, 0);
}

static void test_header(void **state)
{
	struct listed l;
	int fd = scratch_file();
	struct vt_writer *w;

	(void)state;
	make_ten(&l);
	check_header(&l,
		     "Total samples for event type cycles = 10 (pc at the interrupt, with skid), "
		     "unknown 10 (100.00%)\n"
		     "Total samples for event type misses = 3 (pc asked to be precise), "
		     "EXACT_IP 2 (66.67%), unknown 3 (100.00%)\n"
		     "Lost while recording: 12 records\n"
		     "Gaps in the input: 1, with 100 bytes and 0 records known to be missing\n");
	discard(&l);
	w = start_stream(fd);
	scene_event(w, 1, "cycles", VT_POLICY_INTERRUPT);
	list(&l, fd, w, false, NULL, 0);
	check_header(&l, "No samples\n");
	discard(&l);
}

static void test_legend(void **state)
{
	static const char rule[] = "=========================================================="
				   "======================\n";
	struct vt_output out;
	char want[512];

	(void)state;
	print_begin(&out);
	vt_proflist_legend(false, false, &out);
	snprintf(want, sizeof(want), "\nA column counts the samples of its event.\n%s", rule);
	assert_string_equal(print_end(&out), want);
	print_begin(&out);
	vt_proflist_legend(true, true, &out);
	snprintf(want, sizeof(want),
		 "\nA column counts the samples of its event,\nbefore and after, with the change "
		 "in samples and in percentage points,\nand how likely chance alone makes such a "
		 "change; a star if it is significant.\nThe percentages weigh each sample by its "
		 "period.\n%s",
		 rule);
	assert_string_equal(print_end(&out), want);
}

static void test_tables(void **state)
{
	struct vt_proflist_options all = {.by_period = false};
	struct listed l;

	(void)state;
	make_ten(&l);
	check_table(&l, VT_LEVEL_IMAGE, &all, 0,
		    "cycles,cycles.percent,cycles.cumulative,misses,misses.percent,image,unknown\n"
		    "6,60,60,0,0,/no/such/a,\n"
		    "3,30,90,3,100,/no/such/b,\n"
		    "1,10,100,0,0,\"[no mapping, user mode]\",\"no mapping, user mode\"\n");
	check_table(
		&l, VT_LEVEL_PROCEDURE, &all, 0,
		"cycles,cycles.percent,cycles.cumulative,misses,misses.percent,procedure,"
		"image,symbol,unknown\n"
		"6,60,60,0,0,[file not found],/no/such/a,,file not found\n"
		"3,30,90,3,100,[file not found],/no/such/b,,file not found\n"
		"1,10,100,0,0,\"[no mapping, user mode]\",[unknown],,\"no mapping, user mode\"\n");
	/* By period: 24, 10 and 6 of 40. */
	all.by_period = true;
	check_table(&l, VT_LEVEL_IMAGE, &all, 0,
		    "cycles,cycles.percent,cycles.cumulative,misses,misses.percent,image,unknown\n"
		    "3,60,60,3,100,/no/such/b,\n"
		    "1,25,85,0,0,\"[no mapping, user mode]\",\"no mapping, user mode\"\n"
		    "6,15,100,0,0,/no/such/a,\n");
	/* What is below, and as much as is wanted. */
	check_table(&l, VT_LEVEL_IMAGE,
		    &(struct vt_proflist_options){.by_period = true, .min_percent = 25}, 1,
		    "cycles,cycles.percent,cycles.cumulative,misses,misses.percent,image,unknown\n"
		    "3,60,60,3,100,/no/such/b,\n"
		    "1,25,85,0,0,\"[no mapping, user mode]\",\"no mapping, user mode\"\n");
	check_table(&l, VT_LEVEL_IMAGE, &(struct vt_proflist_options){.top = 1}, 2,
		    "cycles,cycles.percent,cycles.cumulative,misses,misses.percent,image,unknown\n"
		    "6,60,60,0,0,/no/such/a,\n");
	discard(&l);
}

/* Of one event alone, rows without its samples are no rows; named twice, it is chosen once. */
static void test_chosen(void **state)
{
	static const char *const names[] = {"misses", "misses"};
	struct listed l;

	(void)state;
	make_ten(&l);
	vt_event_choice_fini(&l.events);
	assert_int_equal(vt_event_choice_init(&l.events, l.scene.profile, names, 2, &err), 0);
	check_table(&l, VT_LEVEL_IMAGE, &(struct vt_proflist_options){.top = 0}, 0,
		    "misses,misses.percent,misses.cumulative,image,unknown\n"
		    "3,100,100,/no/such/b,\n");
	vt_event_choice_fini(&l.events);
	assert_int_equal(vt_event_choice_init(&l.events, l.scene.profile,
					      (const char *const[]){"nothing"}, 1, &err),
			 -VT_E_NOTFOUND);
	assert_string_equal(err.text, "no event nothing; there are cycles, misses, never");
	discard(&l);
}

/*
 * 100 executions of 2.5 cycles, 1 of them needed: 250 at the head, 150 of stall; and 0.4 of one,
 * which are rounded to none. Cycles for each execution: 250 / 100.
 */
static void test_estimates(void **state)
{
	static const char *const names[] = {"head cycles", "stall cycles"};
	int fd = scratch_file(), again = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct listed l;

	(void)state;
	scene_image(w, 1, "/no/such/a");
	scene_image(w, 2, "/no/such/b");
	scene_freq(w, 1, 0x10, 100, 2.5, 1);
	scene_freq(w, 2, 0x10, 0.4, 20, 0);
	list(&l, fd, w, true, names, 2);
	assert_int_equal(vt_profile_nevents(l.scene.profile), 3);
	check_header(&l, "Estimated head cycles = 258\nEstimated stall cycles = 158\n");
	check_table(&l, VT_LEVEL_IMAGE, &(struct vt_proflist_options){.top = 0}, 0,
		    "head cycles,head cycles.percent,head cycles.cumulative,stall cycles,"
		    "stall cycles.percent,cpi,image,unknown\n"
		    "250,96.8992,96.8992,150,94.9367,2.5,/no/such/a,\n"
		    "8,3.10078,100,8,5.06329,,/no/such/b,\n");
	assert_int_equal(vt_profile_estimate_event(l.scene.profile, VT_ESTIMATE_EXECUTIONS), 0);
	discard(&l);
	/* Not unless they are asked for. */
	w = start_stream(again);
	scene_freq(w, 1, 0x10, 100, 2.5, 1);
	list(&l, again, w, false, NULL, 0);
	assert_int_equal(vt_profile_nevents(l.scene.profile), 0);
	assert_true(vt_profile_estimate_event(l.scene.profile, VT_ESTIMATE_CYCLES) == SIZE_MAX);
	discard(&l);
}

/* An estimate is rounded; what rounds to nothing, or to more than there is, is none. */
static void test_bounds_of_estimates(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct listed l;
	size_t i;

	(void)state;
	scene_image(w, 1, "/no/such/a");
	scene_freq(w, 1, 0x10, 0.5, 1, 1);
	scene_freq(w, 1, 0x20, 0.49, 1, 0);
	scene_freq(w, 1, 0x30, 1.5, 3, 1);
	scene_freq(w, 1, 0x40, 9e18, 1, 0);
	scene_freq(w, 1, 0x50, 8e18, 1, 0.5);
	list(&l, fd, w, true, NULL, 0);
	assert_int_equal(vt_profile_nevents(l.scene.profile), 3);
	for (i = 0; i < 3; i++) {
		const struct vt_profile_event *e = vt_profile_event(l.scene.profile, i);

		assert_true(e->estimate);
		assert_int_equal(e->policy, VT_POLICY_MODEL);
		assert_int_equal(vt_profile_estimate_event(l.scene.profile, (enum vt_estimate)i),
				 i);
	}
	assert_string_equal(vt_profile_event(l.scene.profile, 0)->name, "executions");
	/* 0.5, 1.5 and 8e18; 0.5, 4.5 and 8e18; 3 and 4e18 of what it waits. */
	assert_true(vt_profile_event(l.scene.profile, 0)->samples ==
		    3 + UINT64_C(8000000000000000000));
	assert_true(vt_profile_event(l.scene.profile, 0)->period ==
		    3 + UINT64_C(8000000000000000000));
	assert_true(vt_profile_event(l.scene.profile, 1)->samples ==
		    6 + UINT64_C(8000000000000000000));
	assert_true(vt_profile_event(l.scene.profile, 2)->samples ==
		    3 + UINT64_C(4000000000000000000));
	discard(&l);
}

/* Addresses, procedures and lines of a program, as nm tells them. */
static void test_program(void **state)
{
	const struct vt_proflist_options all = {.top = 0};
	char *dir = toolbox_dir(), *nm, path[256], want[1024];
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint64_t work;
	struct listed l;

	(void)state;
	toolbox_write(dir, "p.c",
		      "\n__attribute__((noinline)) int work(int x) { return x * x; }\n"
		      "int main(int c, char **v) { (void)v; return work(c); }\n");
	free(toolbox_run(
		dir,
		"gcc -O1 -g -no-pie p.c -o p -Wl,-Ttext-segment=0x400000 -Wl,--build-id=none"));
	nm = toolbox_run(dir, "nm p | sed -n 's/ T work//p'");
	work = strtoull(nm, NULL, 16);
	free(nm);
	snprintf(path, sizeof(path), "%s", toolbox_path(dir, "p"));
	scene_event(w, 1, "cycles", VT_POLICY_INTERRUPT);
	scene_image(w, 1, path);
	scene_map(w, 0x400000, 1);
	scene_samples(w, 1, work, 0, 1, 3);
	scene_samples(w, 1, 0x900000, 0, 1, 1);
	list(&l, fd, w, false, NULL, 0);
	check_header(&l,
		     "Total samples for event type cycles = 4 (pc at the interrupt, with skid), "
		     "unknown 1 (25.00%), unverified 3 (75.00%)\n");
	snprintf(want, sizeof(want),
		 "cycles,cycles.percent,cycles.cumulative,address,procedure,image,line,symbol,"
		 "unknown\n"
		 "3,75,75,%#" PRIx64 ",work+0x0,%s,%s.c:2,work,\n"
		 "1,25,100,,\"[no mapping, user mode]\",[unknown],,,\"no mapping, user mode\"\n",
		 work, path, path);
	check_table(&l, VT_LEVEL_INSTRUCTION, &all, 0, want);
	snprintf(want, sizeof(want),
		 "cycles,cycles.percent,cycles.cumulative,line,image,unknown\n"
		 "3,75,75,%s.c:2,%s,\n"
		 "1,25,100,\"[no mapping, user mode]\",[unknown],\"no mapping, user mode\"\n",
		 path, path);
	check_table(&l, VT_LEVEL_LINE, &all, 0, want);
	discard(&l);
	toolbox_remove(dir);
}

/* ---- differences ---- */

/* So many samples of one event in /no/such/a, b and c, and in nothing. */
static void make_run(struct listed *l, const char *event, const unsigned n[4])
{
	static const char *const paths[] = {"/no/such/a", "/no/such/b", "/no/such/c"};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	unsigned i;

	scene_event(w, 1, event, VT_POLICY_INTERRUPT);
	for (i = 0; i < 3; i++) {
		scene_image(w, i + 1, paths[i]);
		scene_map(w, 0x10000 * (i + 1), i + 1);
		scene_samples(w, 1, 0x10000 * (i + 1), 0, 2, n[i]);
	}
	scene_samples(w, 1, 0x90000, 0, 2, n[3]);
	list(l, fd, w, false, NULL, 0);
}

#define MAX_RUNS 4

/* Compares the first `before` runs with the others. */
static void check_diff(const struct listed *l, size_t before, size_t n,
		       const struct vt_profdiff_options *opt, struct vt_profdiff_result *result,
		       const char *want)
{
	struct vt_proflist_side sides[MAX_RUNS];
	const struct vt_profdiff_set sets[2] = {{sides, before}, {sides + before, n - before}};
	struct vt_ranking *r[MAX_RUNS];
	struct vt_table *t = vt_table_new();
	size_t i;

	for (i = 0; i < n; i++) {
		r[i] = vt_ranking_new(l[i].scene.profile, l[i].scene.images, VT_LEVEL_IMAGE, &err);
		sides[i] = (struct vt_proflist_side){l[i].scene.profile, r[i], l[i].scene.images,
						     &l[i].events};
	}
	assert_int_equal(vt_proflist_diff(t, sets, opt, result, &err), 0);
	assert_string_equal(print_table(t, VT_TABLE_CSV, false), want);
	vt_table_free(t);
	for (i = 0; i < n; i++)
		vt_ranking_free(r[i]);
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
}

/* Events of which only one side has any samples are named, and left out. */
static void test_diff_of_events(void **state)
{
	static const unsigned some[] = {1, 2, 3, 4};
	const struct vt_profdiff_options opt = {.rate = 0.05, .check = NAN};
	struct vt_proflist_side sides[2];
	const struct vt_profdiff_set sets[2] = {{sides, 1}, {sides + 1, 1}};
	struct vt_profdiff_result result;
	struct listed l[2];
	struct vt_table *t = vt_table_new();
	int i;

	(void)state;
	make_run(&l[0], "cycles", some);
	make_run(&l[1], "misses", some);
	for (i = 0; i < 2; i++)
		sides[i] = (struct vt_proflist_side){
			l[i].scene.profile,
			vt_ranking_new(l[i].scene.profile, l[i].scene.images, VT_LEVEL_IMAGE, &err),
			l[i].scene.images, &l[i].events};
	assert_int_equal(vt_proflist_diff(t, sets, &opt, &result, &err), -VT_E_FORMAT);
	assert_string_equal(err.text, "nothing to compare: no event is both before and after: "
				      "cycles, misses");
	vt_profdiff_result_fini(&result);
	vt_table_free(t);
	for (i = 0; i < 2; i++) {
		vt_ranking_free((struct vt_ranking *)sides[i].ranking);
		discard(&l[i]);
	}
}

/*
 * Of estimates, which are not tested: cycles per execution on both sides, if either was estimated.
 * a: 100 times 2 and 3 cycles, b: 50 times 2 and 1; 300 before, 350 after.
 */
static void test_diff_of_estimates(void **state)
{
	static const char *const names[] = {"head cycles"};
	static const double cycles[2][2] = {{2, 2}, {3, 1}};
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
		scene_freq(w, 1, 0x10, 100, cycles[i][0], 1);
		scene_freq(w, 2, 0x10, 50, cycles[i][1], 1);
		list(&l[i], fd, w, true, names, 1);
	}
	check_diff(l, 1, 2, &opt, &result,
		   "head cycles.before,head cycles.before_percent,head cycles.after,"
		   "head cycles.after_percent,head cycles.delta,head cycles.points,head cycles.p,"
		   "head cycles.significant,cpi.before,cpi.after,image\n"
		   "200,66.6667,300,85.7143,100,19.0476,,0,2,3,/no/such/a\n"
		   "100,33.3333,50,14.2857,-50,-19.0476,,0,2,1,/no/such/b\n");
	assert_int_equal(result.significant, 0);
	vt_profdiff_result_fini(&result);
	discard(&l[0]);
	discard(&l[1]);
}

static void test_heat(void **state)
{
	(void)state;
	assert_int_equal(vt_heat(10, 100), VT_STYLE_HOT);
	assert_int_equal(vt_heat(99, 1000), VT_STYLE_WARM);
	assert_int_equal(vt_heat(2, 100), VT_STYLE_WARM);
	assert_int_equal(vt_heat(19, 1000), VT_STYLE_PLAIN);
	assert_int_equal(vt_heat(5, 0), VT_STYLE_PLAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_legend),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_chosen),
		cmocka_unit_test(test_estimates),
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_heat),
		cmocka_unit_test(test_bounds_of_estimates),
		cmocka_unit_test(test_diff_of_estimates),
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_diff_of_runs),
		cmocka_unit_test(test_diff_of_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
