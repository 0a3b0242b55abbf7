/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "events/gather.h"
#include "tests/unit/common/profiles.h"
#include "tests/unit/common/scenes.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

#define EVENT	       7
#define LOADS	       (VT_PM_EVENT(RETIRED) | VT_PM_EVENT(LOAD) | VT_PM_EVENT(DCACHE_MISS))
#define LATENCY(field) (VT_PM_NEVENTS + VT_SAMPLE_##field - VT_SAMPLE_LAT_FETCH)

struct gathered {
	struct vt_context *context;
	struct vt_evgather *gather;
	unsigned warnings;
};

static void count_warning(void *arg, const char *text)
{
	struct gathered *g = arg;

	assert_non_null(strstr(text, "EVSTAT"));
	g->warnings++;
}

static struct vt_writer *start(int *fd)
{
	struct vt_writer *w;

	*fd = scratch_file();
	w = start_stream(*fd);
	scene_event(w, EVENT, "profileme", VT_POLICY_MODEL);
	scene_image(w, 1, "/bin/prog");
	scene_map(w, 0x400000, 1);
	return w;
}

static void gather(struct gathered *g, int fd, struct vt_writer *w, enum vt_evby by)
{
	*g = (struct gathered){.context = vt_context_new(NULL)};
	assert_non_null(g->context);
	g->gather = vt_evgather_new(g->context, by);
	assert_non_null(g->gather);
	vt_evgather_warn(g->gather, count_warning, g);
	vt_context_add(g->context, &(struct vt_consumer){.take = vt_evgather_feed,
							 .arg = g->gather,
							 .kinds = VT_EVGATHER_KINDS});
	read_context(g->context, fd, w);
	assert_int_equal(vt_evstats_settle(vt_evgather_stats(g->gather), &err), 0);
}

static void drop(struct gathered *g)
{
	vt_evgather_free(g->gather);
	vt_context_free(g->context);
}

static uint64_t *put_sample(struct vt_writer *w, uint64_t ip, uint64_t period)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE);

	row[VT_SAMPLE_PID] = row[VT_SAMPLE_TID] = 10;
	row[VT_SAMPLE_EVENT] = EVENT;
	row[VT_SAMPLE_IP] = ip;
	row[VT_SAMPLE_PERIOD] = period;
	row[VT_SAMPLE_MISC] = 2;
	row[VT_SAMPLE_HAS] = VT_HAS_IP | VT_HAS_TID | VT_HAS_PERIOD;
	return row;
}

static uint64_t *put_load(struct vt_writer *w, uint64_t period, bool miss, uint64_t cycles)
{
	uint64_t *row = put_sample(w, 0x400010, period);

	vt_pm_tell(row, LOADS, false);
	row[VT_SAMPLE_EVENTS] = VT_PM_EVENT(RETIRED) | VT_PM_EVENT(LOAD);
	vt_pm_tell(row, VT_PM_EVENT(DCACHE_MISS), miss);
	vt_pm_set_latency(row, VT_SAMPLE_LAT_LOAD, cycles, 4095);
	return row;
}

static struct vt_evtotal total_of(const struct gathered *g, uint64_t offset, unsigned stat)
{
	const struct vt_evkey key = {.offset = offset, .image = 1};
	const struct vt_evstats *s = vt_evgather_stats(g->gather);
	const struct vt_evcounts *c = vt_evstats_find(s, &key);
	struct vt_evtotal t;

	assert_non_null(c);
	vt_evstats_total(s, &key, c, stat, &t);
	return t;
}

static void check_total(struct vt_evtotal t, double samples, double had, double k, double sum,
			double sum2, double variance)
{
	assert_true(t.samples == samples);
	assert_true(t.had == had);
	assert_true(t.k == k);
	assert_true(t.sum == sum);
	assert_true(t.sum2 == sum2);
	assert_true(t.variance == variance);
}

static void sums(void **state)
{
	struct gathered g;
	struct vt_writer *w;
	struct vt_evseen seen;
	int fd;

	(void)state;
	w = start(&fd);
	put_load(w, 100, false, 3);
	put_load(w, 100, true, 12);
	put_load(w, 100, true, 4095);
	/* Another period, a later one of a pair, and one of no instruction. */
	put_load(w, 50, true, 20);
	vt_pm_set(put_load(w, 100, true, 5), VT_SAMPLE_PAIR, 2);
	put_sample(w, 0x400010, 100);
	gather(&g, fd, w, VT_EVBY_PLACE);
	seen = vt_evgather_seen(g.gather);
	assert_int_equal(seen.samples, 4);
	assert_int_equal(seen.seconds, 1);
	assert_int_equal(seen.others, 1);
	check_total(total_of(&g, 0x10, VT_PM_DCACHE_MISS), 4, 3, 350, 250, 250, 22500);
	check_total(total_of(&g, 0x10, VT_PM_RETIRED), 4, 4, 350, 350, 350, 32500);
	check_total(total_of(&g, 0x10, LATENCY(LAT_LOAD)), 4, 4, 350, 412000, 1676917800 + 20000,
		    167691780000 + 1000000);
	assert_true(total_of(&g, 0x10, LATENCY(LAT_LOAD)).least == 1);
	assert_true(total_of(&g, 0x10, VT_PM_TRAP).samples == 0);
	drop(&g);
	/* The counter of one of another period had stopped. */
	w = start(&fd);
	put_load(w, 100, false, 3);
	put_load(w, 50, true, 4095);
	put_load(w, 50, true, 4094);
	gather(&g, fd, w, VT_EVBY_PLACE);
	assert_true(total_of(&g, 0x10, LATENCY(LAT_LOAD)).least == 1);
	assert_true(total_of(&g, 0x10, LATENCY(LAT_LOAD)).had == 3);
	drop(&g);
}

/* What a machine tells only where it happened is known of all samples. */
static void told_if_set(void **state)
{
	struct gathered g;
	struct vt_writer *w;
	int fd, i;

	(void)state;
	w = start(&fd);
	for (i = 0; i < 8; i++) {
		uint64_t *row = put_load(w, 10, false, 3);

		if (i < 2)
			vt_pm_tell(row, VT_PM_EVENT(REMOTE), true);
	}
	gather(&g, fd, w, VT_EVBY_PLACE);
	check_total(total_of(&g, 0x10, VT_PM_REMOTE), 8, 2, 80, 20, 20, 200);
	drop(&g);
}

static void groups(void **state)
{
	struct vt_evkey key = {.offset = VT_SOURCE_L2};
	struct vt_evtotal all;
	struct gathered g;
	struct vt_writer *w;
	int fd;

	(void)state;
	w = start(&fd);
	put_load(w, 10, false, 3);
	vt_pm_set(put_load(w, 10, true, 12), VT_SAMPLE_SOURCE, VT_SOURCE_L2);
	vt_pm_set(put_load(w, 10, true, 14), VT_SAMPLE_SOURCE, VT_SOURCE_L2);
	gather(&g, fd, w, VT_EVBY_SOURCE);
	vt_evcounts_all(vt_evstats_find(vt_evgather_groups(g.gather), &key), &all);
	assert_true(all.samples == 2 && all.k == 20);
	key = (struct vt_evkey){.image = VT_EVGROUP_UNTOLD};
	vt_evcounts_all(vt_evstats_find(vt_evgather_groups(g.gather), &key), &all);
	assert_true(all.samples == 1 && all.k == 10);
	drop(&g);
}

/* By page and by address; what has none is apart. */
static void groups_of_addresses(void **state)
{
	static const struct {
		enum vt_evby by;
		uint64_t of[2];
		double samples[2];
	} want[] = {{VT_EVBY_PAGE, {0x7000, 0x8000}, {2, 1}},
		    {VT_EVBY_ADDR, {0x7008, 0x8000}, {1, 1}}};
	static const uint64_t addresses[] = {0x7008, 0x7fff, 0x8000};
	struct vt_evtotal all;
	struct gathered g;
	struct vt_writer *w;
	unsigned i, k;
	int fd;

	(void)state;
	for (i = 0; i < 2; i++) {
		w = start(&fd);
		put_load(w, 10, false, 3);
		for (k = 0; k < 3; k++) {
			uint64_t *row = put_load(w, 10, false, 3);

			row[VT_SAMPLE_ADDR] = addresses[k];
			row[VT_SAMPLE_HAS] |= VT_HAS_ADDR;
		}
		gather(&g, fd, w, want[i].by);
		for (k = 0; k < 3; k++) {
			const struct vt_evkey key = {.offset = k < 2 ? want[i].of[k] : 0,
						     .image = k < 2 ? VT_EVGROUP_KNOWN
								    : VT_EVGROUP_UNTOLD};

			vt_evcounts_all(vt_evstats_find(vt_evgather_groups(g.gather), &key), &all);
			assert_true(all.samples == (k < 2 ? want[i].samples[k] : 1));
		}
		drop(&g);
	}
}

/* ---- events ---- */

static void events_choose_from_populations(void **state)
{
	static const struct {
		const char *name;
		uint64_t type, config;
		enum vt_policy policy;
		enum vt_evpopulation want;
	} cases[] = {
		{"ibs_op//", 9, 0, VT_POLICY_DISPATCH, VT_EVPOP_CYCLES},
		{"ibs_op/cnt_ctl=1/", 9, 1 << 19, VT_POLICY_DISPATCH, VT_EVPOP_UOPS},
		{"ibs_fetch//", 9, 1 << 19, VT_POLICY_DISPATCH, VT_EVPOP_FETCHES},
		{"arm_spe_0//", 9, 0, VT_POLICY_DISPATCH, VT_EVPOP_OPERATIONS},
		{"ibs", 9, 0, VT_POLICY_MODEL, VT_EVPOP_INSTRUCTIONS},
		{"profileme", 0, 0, VT_POLICY_MODEL, VT_EVPOP_INSTRUCTIONS},
		{"cycles:pp", 0, 0, VT_POLICY_DISPATCH, VT_EVPOP_CYCLES},
		/* Above are bits that tell the kind of core. */
		{"cycles:pp", 0, UINT64_C(5) << 32, VT_POLICY_DISPATCH, VT_EVPOP_CYCLES},
		{"instructions:pp", 0, 1, VT_POLICY_DISPATCH, VT_EVPOP_UNKNOWN},
		{"r0c1:p", 4, 0xc1, VT_POLICY_DISPATCH, VT_EVPOP_UOPS},
		{"r0c1:p", 4, 0x5300c1, VT_POLICY_DISPATCH, VT_EVPOP_UOPS},
		{"r1c1:p", 4, 0x1c1, VT_POLICY_DISPATCH, VT_EVPOP_UNKNOWN},
		{"r076:p", 4, 0, VT_POLICY_DISPATCH, VT_EVPOP_UNKNOWN},
		{"other", 5, 0xc1, VT_POLICY_DISPATCH, VT_EVPOP_UNKNOWN},
	};
	const size_t n = sizeof(cases) / sizeof(cases[0]);
	struct gathered g;
	struct vt_writer *w;
	uint64_t *row;
	size_t i;
	int fd;

	(void)state;
	w = start(&fd);
	for (i = 0; i < n; i++) {
		row = vt_writer_row(w, VT_EVENT);
		row[VT_EVENT_ID] = 100 + i;
		row[VT_EVENT_TYPE] = cases[i].type;
		row[VT_EVENT_CONFIG] = cases[i].config;
		row[VT_EVENT_POLICY] = cases[i].policy;
		vt_writer_bytes(w, VT_EVENT_NAME, cases[i].name, strlen(cases[i].name));
	}
	gather(&g, fd, w, VT_EVBY_PLACE);
	assert_int_equal(vt_evstats_nevents(vt_evgather_stats(g.gather)), n + 1);
	for (i = 0; i < n; i++) {
		const struct vt_evevent *e =
			vt_evstats_event_at(vt_evgather_stats(g.gather), i + 1);

		assert_int_equal(e->id, 100 + i);
		if (e->population != cases[i].want)
			fail_msg("%zu %s: %d", i, cases[i].name, (int)e->population);
	}
	drop(&g);
}

/* Samples that have no period are of the event's. */
static void periods_of_events(void **state)
{
	struct gathered g;
	struct vt_writer *w;
	uint64_t *row;
	int fd;

	(void)state;
	w = start(&fd);
	row = put_load(w, 0, true, 3);
	row[VT_SAMPLE_HAS] &= ~(uint64_t)VT_HAS_PERIOD;
	row = vt_writer_row(w, VT_EVENT);
	row[VT_EVENT_ID] = EVENT;
	row[VT_EVENT_PERIOD] = 500;
	row = put_load(w, 0, true, 3);
	row[VT_SAMPLE_HAS] &= ~(uint64_t)VT_HAS_PERIOD;
	put_load(w, 0, true, 3);
	gather(&g, fd, w, VT_EVBY_PLACE);
	/* 1, where none is known; 500; and 0, which the sample has. */
	check_total(total_of(&g, 0x10, VT_PM_DCACHE_MISS), 3, 3, 501, 501, 501, 1 + 250000);
	drop(&g);
}

/* ---- estimates that were written ---- */

static uint64_t *put_estimate(struct vt_writer *w, uint64_t what, uint64_t samples, uint64_t had,
			      double k, double sum)
{
	uint64_t *row = vt_writer_row(w, VT_EVSTAT);

	row[VT_EVSTAT_IMAGE] = 1;
	row[VT_EVSTAT_OFFSET] = 0x10;
	row[VT_EVSTAT_EVENT] = EVENT;
	row[VT_EVSTAT_WHAT] = what;
	row[VT_EVSTAT_SAMPLES] = samples;
	row[VT_EVSTAT_HAD] = had;
	vt_row_set_f64(&row[VT_EVSTAT_K], k);
	vt_row_set_f64(&row[VT_EVSTAT_SUM], sum);
	vt_row_set_f64(&row[VT_EVSTAT_SUM2], sum);
	vt_row_set_f64(&row[VT_EVSTAT_VARIANCE], sum);
	row[VT_EVSTAT_METHOD] = VT_METHOD_FOLLOWED;
	return row;
}

static void put_bins(struct vt_writer *w, const uint64_t *words, size_t n)
{
	uint64_t *row = put_estimate(w, VT_STAT_OF(LAT_LOAD), 3, 3, 30, 90);

	vt_row_set_f64(&row[VT_EVSTAT_SUM2], 270);
	vt_writer_words(w, VT_EVSTAT_BINS, words, n);
}

static void bad_estimates(void **state)
{
	static const uint64_t good[] = {2, 1, 4, 2}, descending[] = {4, 2, 2, 1};
	static const uint64_t beyond[] = {VT_EVBINS_MAX, 3}, fewer[] = {2, 1, 4, 1};
	static const uint64_t huge[] = {2, UINT64_MAX};
	static const double numbers[] = {NAN, -1, INFINITY, -INFINITY, 1e200};
	struct gathered g;
	struct vt_writer *w;
	size_t i;
	int fd;

	(void)state;
	w = start(&fd);
	for (i = 0; i < 5; i++) {
		put_estimate(w, VT_PM_LOAD, 3, 2, numbers[i], 20);
		put_estimate(w, VT_PM_LOAD, 3, 2, 30, numbers[i]);
		vt_row_set_f64(&put_estimate(w, 0, 3, 2, 30, 20)[VT_EVSTAT_VARIANCE], numbers[i]);
	}
	put_estimate(w, VT_PM_NEVENTS, 3, 2, 30, 20);
	put_estimate(w, VT_STAT_WASTED, 3, 2, 30, 20);
	put_estimate(w, UINT64_MAX, 3, 2, 30, 20);
	put_estimate(w, VT_PM_LOAD, 2, 3, 30, 20);
	put_estimate(w, VT_PM_LOAD, UINT64_MAX, 3, 30, 20);
	put_estimate(w, VT_PM_LOAD, 3, 2, 30, 20)[VT_EVSTAT_LEAST] = 3;
	put_bins(w, good, 3);
	put_bins(w, descending, 4);
	put_bins(w, beyond, 2);
	put_bins(w, fewer, 4);
	put_bins(w, huge, 2);
	put_bins(w, good, 0);
	/* 90 squared is no more than 30 times the squares. */
	vt_row_set_f64(&put_estimate(w, VT_STAT_OF(LAT_LOAD), 0, 0, 30, 90)[VT_EVSTAT_SUM2], 269);
	put_estimate(w, VT_PM_LOAD, 3, 3, 30, 30);
	vt_writer_words(w, VT_EVSTAT_BINS, good, 4);
	/* What is known is no estimate, and passes. */
	put_estimate(w, VT_PM_LOAD, 3, 2, 30, NAN)[VT_EVSTAT_METHOD] = VT_METHOD_MODEL;
	put_bins(w, good, 4);
	put_estimate(w, VT_PM_LOAD, 3, 2, 30, 20);
	put_estimate(w, VT_PM_LOAD, 5, 4, 50, 40)[VT_EVSTAT_IMAGE] = 1;
	gather(&g, fd, w, VT_EVBY_PLACE);
	assert_int_equal(g.warnings, 29);
	assert_int_equal(vt_evgather_seen(g.gather).estimates, 3);
	check_total(total_of(&g, 0x10, VT_PM_LOAD), 8, 6, 80, 60, 60, 60);
	assert_true(total_of(&g, 0x10, LATENCY(LAT_LOAD)).had == 3);
	drop(&g);
}

/* Samples that are only counted, of events that have estimates; and what META tells of them. */
static void counts_beside_estimates(void **state)
{
	struct vt_evseen seen = {.others = 5, .seconds = 2};
	const struct vt_evevent *e;
	struct gathered g;
	struct vt_writer *w;
	uint64_t *row;
	int fd, i;

	(void)state;
	w = start(&fd);
	put_estimate(w, VT_PM_LOAD, 3, 2, 30, 20);
	vt_writer_meta(w, VT_EV_META, "7 2 1 3.5 4 6");
	vt_writer_meta(w, "another", "7 2 1 3.5 4 6");
	for (i = 0; i < 4; i++) {
		row = vt_writer_row(w, VT_COUNT);
		row[VT_COUNT_EVENT] = i < 2 ? EVENT : 9;
		row[VT_COUNT_SAMPLES] = 20 + (uint64_t)i;
	}
	gather(&g, fd, w, VT_EVBY_PLACE);
	assert_int_equal(vt_evgather_seen(g.gather).counted, 41);
	e = vt_evstats_event_at(vt_evgather_stats(g.gather), 0);
	assert_int_equal(e->population, VT_EVPOP_UOPS);
	assert_int_equal(e->unlocated, 6);
	assert_true(e->check.squares == 3.5 && e->check.freedom == 4);
	assert_true(e->estimated);
	vt_evgather_note(g.gather, &seen);
	vt_evgather_note(g.gather, &seen);
	assert_int_equal(vt_evgather_seen(g.gather).others, 10);
	assert_int_equal(vt_evgather_seen(g.gather).seconds, 4);
	drop(&g);
	/* More than can be counted are as many as can be. */
	w = start(&fd);
	put_estimate(w, VT_PM_LOAD, 3, 2, 30, 20);
	for (i = 0; i < 2; i++) {
		row = vt_writer_row(w, VT_COUNT);
		row[VT_COUNT_EVENT] = EVENT;
		row[VT_COUNT_SAMPLES] = UINT64_MAX - 1;
	}
	gather(&g, fd, w, VT_EVBY_PLACE);
	assert_true(vt_evgather_seen(g.gather).counted == UINT64_MAX);
	drop(&g);
}

/* What cannot be a latency or a period still has a sum. */
static void absurd_samples(void **state)
{
	struct vt_evtotal t;
	struct gathered g;
	struct vt_writer *w;
	int fd, i;

	(void)state;
	w = start(&fd);
	for (i = 0; i < 100; i++) {
		uint64_t *row = put_load(w, i < 50 ? UINT64_MAX : 0, true, UINT64_MAX);

		row[VT_SAMPLE_PM_HAS] |= UINT64_MAX << VT_PM_NBITS;
		row[VT_SAMPLE_EVENTS_TOLD] = UINT64_MAX - (uint64_t)i;
		row[VT_SAMPLE_EVENTS] = UINT64_MAX;
	}
	gather(&g, fd, w, VT_EVBY_PLACE);
	t = total_of(&g, 0x10, LATENCY(LAT_LOAD));
	assert_true(t.had == 100 && isfinite(t.sum2) && isfinite(t.variance));
	assert_true(total_of(&g, 0x10, VT_PM_TRAP).had == 100);
	drop(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums),
		cmocka_unit_test(told_if_set),
		cmocka_unit_test(groups),
		cmocka_unit_test(bad_estimates),
		cmocka_unit_test(absurd_samples),
		cmocka_unit_test(groups_of_addresses),
		cmocka_unit_test(events_choose_from_populations),
		cmocka_unit_test(periods_of_events),
		cmocka_unit_test(counts_beside_estimates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
