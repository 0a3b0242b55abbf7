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

#include "listing/profile/profile.h"
#include "tests/unit/common/printed.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/common/toolbox.h"
#include "tests/unit/listing/listed.h"

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
		     "Lost while recording: 12 records (48.00% of these and all samples)\n"
		     "Gaps in the input: 1, with 100 bytes and 0 records known to be missing\n");
	discard(&l);
	w = start_stream(fd);
	scene_event(w, 1, "cycles", VT_POLICY_INTERRUPT);
	list(&l, fd, w, false, NULL, 0);
	check_header(&l, "No samples\n");
	check_table(&l, VT_LEVEL_IMAGE, &(struct vt_proflist_options){.top = 0}, 0,
		    "image,unknown\n");
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
	vt_proflist_legend(&(struct vt_proflist_legend){0}, &out);
	snprintf(want, sizeof(want), "\nA column counts the samples of its event.\n%s", rule);
	assert_string_equal(print_end(&out), want);
	print_begin(&out);
	vt_proflist_legend(&(struct vt_proflist_legend){.by_period = true, .diff = true}, &out);
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
		    "cycles,cycles.percent,cycles.cumulative,misses,misses.percent,image,unknown"
		    ",cycles.low,cycles.high,misses.low,misses.high\n"
		    "6,60,60,0,0,/no/such/a,"
		    ",27.367,86.3069,0,69.0012\n"
		    "3,30,90,3,100,/no/such/b,"
		    ",8.09478,64.6329,30.9988,100\n"
		    "1,10,100,0,0,\"[no mapping, user mode]\",\"no mapping, user mode\""
		    ",0.52423,45.8846,0,69.0012\n");
	check_table(&l, VT_LEVEL_PROCEDURE, &all, 0,
		    "cycles,cycles.percent,cycles.cumulative,misses,misses.percent,procedure,"
		    "image,symbol,unknown"
		    ",cycles.low,cycles.high,misses.low,misses.high\n"
		    "6,60,60,0,0,[file not found],/no/such/a,,file not found"
		    ",27.367,86.3069,0,69.0012\n"
		    "3,30,90,3,100,[file not found],/no/such/b,,file not found"
		    ",8.09478,64.6329,30.9988,100\n"
		    "1,10,100,0,0,\"[no mapping, user mode]\",[unknown],,\"no mapping, user mode\""
		    ",0.52423,45.8846,0,69.0012\n");
	/* By period: 24, 10 and 6 of 40. */
	all.by_period = true;
	check_table(&l, VT_LEVEL_IMAGE, &all, 0,
		    "cycles,cycles.percent,cycles.cumulative,misses,misses.percent,image,unknown"
		    ",cycles.low,cycles.high,misses.low,misses.high\n"
		    "3,60,60,3,100,/no/such/b,"
		    ",18.1121,92.1123,30.9988,100\n"
		    "1,25,85,0,0,\"[no mapping, user mode]\",\"no mapping, user mode\""
		    ",1.64365,76.3,0,69.0012\n"
		    "6,15,100,0,0,/no/such/a,"
		    ",0.393297,64.7287,0,69.0012\n");
	/* What is below, and as much as is wanted. */
	check_table(&l, VT_LEVEL_IMAGE,
		    &(struct vt_proflist_options){.by_period = true, .min_percent = 25}, 1,
		    "cycles,cycles.percent,cycles.cumulative,misses,misses.percent,image,unknown"
		    ",cycles.low,cycles.high,misses.low,misses.high\n"
		    "3,60,60,3,100,/no/such/b,"
		    ",18.1121,92.1123,30.9988,100\n"
		    "1,25,85,0,0,\"[no mapping, user mode]\",\"no mapping, user mode\""
		    ",1.64365,76.3,0,69.0012\n");
	check_table(&l, VT_LEVEL_IMAGE, &(struct vt_proflist_options){.top = 1}, 2,
		    "cycles,cycles.percent,cycles.cumulative,misses,misses.percent,image,unknown"
		    ",cycles.low,cycles.high,misses.low,misses.high\n"
		    "6,60,60,0,0,/no/such/a,"
		    ",27.367,86.3069,0,69.0012\n");
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
		    "misses,misses.percent,misses.cumulative,image,unknown"
		    ",misses.low,misses.high\n"
		    "3,100,100,/no/such/b,"
		    ",30.9988,100\n");
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
	int fd = scratch_file(), less = scratch_file(), again = scratch_file();
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
		    "stall cycles.percent,cpi,image,unknown"
		    ",head cycles.low,head cycles.high,stall cycles.low,stall cycles.high\n"
		    "250,96.8992,96.8992,150,94.9367,2.5,/no/such/a,"
		    ",,,,\n"
		    "8,3.10078,100,8,5.06329,,/no/such/b,"
		    ",,,,\n");
	assert_int_equal(vt_profile_estimate_event(l.scene.profile, VT_ESTIMATE_EXECUTIONS), 0);
	discard(&l);
	/* Of less than half a cycle there is no event, so there are none for each execution. */
	w = start_stream(less);
	scene_image(w, 1, "/no/such/a");
	scene_freq(w, 1, 0x10, 100, 0.001, 0);
	list(&l, less, w, true, NULL, 0);
	check_table(&l, VT_LEVEL_IMAGE, &(struct vt_proflist_options){.top = 0}, 0,
		    "executions,executions.percent,executions.cumulative,image,unknown"
		    ",executions.low,executions.high\n"
		    "100,100,100,/no/such/a,"
		    ",,\n");
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
		assert_int_equal(e->kind, VT_ESTIMATE_EXECUTIONS + i);
		assert_int_equal(e->policy, VT_POLICY_MODEL);
		assert_int_equal(vt_profile_estimate_event(l.scene.profile, e->kind), i);
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

/* Any id may be that of an event of the stream: estimates never add to its samples. */
static void test_estimates_beside_events(void **state)
{
	uint64_t id;

	(void)state;
	for (id = 0x76730000; id < 0x76730004; id++) {
		int fd = scratch_file();
		struct vt_writer *w = start_stream(fd);
		const struct vt_profile_event *e;
		struct listed l;

		scene_event(w, id, "loads", VT_POLICY_EXACT);
		scene_image(w, 1, "/no/such/a");
		scene_map(w, 0x1000, 1);
		scene_samples(w, id, 0x1010, SCENE_EXACT_IP, 100, 3);
		scene_freq(w, 1, 0x10, 100, 2.5, 1);
		list(&l, fd, w, true, NULL, 0);
		assert_int_equal(vt_profile_nevents(l.scene.profile), 4);
		e = vt_profile_event(l.scene.profile, 0);
		assert_string_equal(e->name, "loads");
		assert_int_equal(e->policy, VT_POLICY_EXACT);
		assert_int_equal(e->samples, 3);
		assert_int_equal(e->period, 300);
		assert_false(e->estimate);
		e = vt_profile_event(l.scene.profile, 1);
		assert_string_equal(e->name, "executions");
		assert_int_equal(e->samples, 100);
		discard(&l);
	}
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
		 "unknown"
		 ",cycles.low,cycles.high\n"
		 "3,75,75,%#" PRIx64 ",work+0x0,%s,%s.c:2,work,"
		 ",21.9427,98.6809\n"
		 "1,25,100,,\"[no mapping, user mode]\",[unknown],,,\"no mapping, user mode\""
		 ",1.31912,78.0573\n",
		 work, path, path);
	check_table(&l, VT_LEVEL_INSTRUCTION, &all, 0, want);
	snprintf(want, sizeof(want),
		 "cycles,cycles.percent,cycles.cumulative,line,image,unknown"
		 ",cycles.low,cycles.high\n"
		 "3,75,75,%s.c:2,%s,"
		 ",21.9427,98.6809\n"
		 "1,25,100,\"[no mapping, user mode]\",[unknown],\"no mapping, user mode\""
		 ",1.31912,78.0573\n",
		 path, path);
	check_table(&l, VT_LEVEL_LINE, &all, 0, want);
	discard(&l);
	toolbox_remove(dir);
}

/* Procedures of one name, and samples in nothing of several modes, are rows of their own. */
static void test_same_names(void **state)
{
	static const char text[] = ".type f,@function\nf: nop\nret\n.size f,.-f\n";
	const struct vt_proflist_options all = {.top = 0};
	char *dir = toolbox_dir(), path[256], want[2048];
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct listed l;

	(void)state;
	toolbox_write(dir, "f.s", text);
	free(toolbox_run(dir,
			 "as -o a.o f.s && as -o b.o f.s && sed 's/\\bf\\b/e/g' f.s | as -o c.o && "
			 "ld -e 0x401000 -Ttext=0x401000 -o prog a.o b.o c.o"));
	snprintf(path, sizeof(path), "%s", toolbox_path(dir, "prog"));
	scene_event(w, 1, "cycles", VT_POLICY_INTERRUPT);
	scene_event(w, 2, "misses", VT_POLICY_INTERRUPT);
	scene_image(w, 1, path);
	scene_map(w, 0x400000, 1);
	/* By name, then by place: the second f is met first, and comes last. */
	scene_samples(w, 1, 0x401002, 0, 1, 4);
	scene_samples(w, 1, 0x401000, 0, 1, 4);
	scene_samples(w, 2, 0x401000, 0, 1, 1);
	scene_samples(w, 1, 0x401004, 0, 1, 4);
	scene_samples(w, 1, 0x900000, 0, 1, 2);
	scene_samples(w, 1, 0x900000, 1, 1, 1);
	list(&l, fd, w, false, NULL, 0);
	snprintf(want, sizeof(want),
		 "cycles,cycles.percent,cycles.cumulative,misses,misses.percent,procedure,image,"
		 "symbol,unknown"
		 ",cycles.low,cycles.high,misses.low,misses.high\n"
		 "4,26.6667,26.6667,0,0,e,%s,e,"
		 ",8.91363,55.1675,0,94.5379\n"
		 "4,26.6667,53.3333,1,100,f,%s,f,"
		 ",8.91363,55.1675,5.46208,100\n"
		 "4,26.6667,80,0,0,f,%s,f,"
		 ",8.91363,55.1675,0,94.5379\n"
		 "2,13.3333,93.3333,0,0,\"[no mapping, user mode]\",[unknown],,"
		 "\"no mapping, user mode\""
		 ",2.3438,41.611,0,94.5379\n"
		 "1,6.66667,100,0,0,[in the hypervisor],[unknown],,in the hypervisor"
		 ",0.348989,33.9669,0,94.5379\n",
		 path, path, path);
	check_table(&l, VT_LEVEL_PROCEDURE, &all, 0, want);
	/* Without lines, procedures stand for them. */
	snprintf(want, sizeof(want),
		 "cycles,cycles.percent,cycles.cumulative,misses,misses.percent,line,image,unknown"
		 ",cycles.low,cycles.high,misses.low,misses.high\n"
		 "4,26.6667,26.6667,0,0,e [no line],%s,no line"
		 ",8.91363,55.1675,0,94.5379\n"
		 "4,26.6667,53.3333,1,100,f [no line],%s,no line"
		 ",8.91363,55.1675,5.46208,100\n"
		 "4,26.6667,80,0,0,f [no line],%s,no line"
		 ",8.91363,55.1675,0,94.5379\n"
		 "2,13.3333,93.3333,0,0,\"[no mapping, user mode]\",[unknown],"
		 "\"no mapping, user mode\""
		 ",2.3438,41.611,0,94.5379\n"
		 "1,6.66667,100,0,0,[in the hypervisor],[unknown],in the hypervisor"
		 ",0.348989,33.9669,0,94.5379\n",
		 path, path, path);
	check_table(&l, VT_LEVEL_LINE, &all, 0, want);
	discard(&l);
	toolbox_remove(dir);
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
		cmocka_unit_test(test_header),	   cmocka_unit_test(test_legend),
		cmocka_unit_test(test_tables),	   cmocka_unit_test(test_chosen),
		cmocka_unit_test(test_estimates),  cmocka_unit_test(test_program),
		cmocka_unit_test(test_heat),	   cmocka_unit_test(test_bounds_of_estimates),
		cmocka_unit_test(test_same_names), cmocka_unit_test(test_estimates_beside_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
