/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "events/stats.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

#define LATENCY VT_PM_NEVENTS /* the first */

static struct vt_evstats *new_stats(uint64_t event)
{
	struct vt_evstats *s = vt_evstats_new();
	uint32_t index;

	assert_non_null(s);
	assert_int_equal(vt_evstats_event(s, event, &index, &err), 0);
	assert_int_equal(index, 0);
	return s;
}

static void check_total(const struct vt_evtotal *t, double samples, double had, double k,
			double sum, double sum2, double variance)
{
	const double got[] = {t->samples, t->had, t->k, t->sum, t->sum2, t->variance};
	const double want[] = {samples, had, k, sum, sum2, variance};
	unsigned i;

	for (i = 0; i < 6; i++)
		if (fabs(got[i] - want[i]) > 1e-9 * want[i])
			fail_msg("number %u is %g, not %g", i, got[i], want[i]);
}

static void totals_have_numbers(void **state)
{
	(void)state;
	assert_int_equal(vt_evstat_of(0), 0);
	assert_int_equal(vt_evstat_of(VT_PM_NEVENTS - 1), VT_PM_NEVENTS - 1);
	assert_int_equal(vt_evstat_of(VT_PM_NEVENTS), VT_EV_STATS);
	assert_int_equal(vt_evstat_of(VT_STAT_LATENCIES - 1), VT_EV_STATS);
	assert_int_equal(vt_evstat_of(VT_STAT_LATENCIES), VT_PM_NEVENTS);
	assert_int_equal(vt_evstat_of(VT_STAT_LATENCIES + VT_EV_LATENCIES - 1), VT_EV_STATS - 1);
	assert_int_equal(vt_evstat_of(VT_STAT_LATENCIES + VT_EV_LATENCIES), VT_EV_STATS);
}

/* What samples tell of is one of a few values; of further ones each event is counted. */
static void few_patterns_are_told(void **state)
{
	const struct vt_evkey key = {.offset = 1};
	struct vt_evstats *s = new_stats(7);
	struct vt_evcounts *c = vt_evstats_add(s, &key);
	struct vt_evtotal t;
	unsigned i;

	(void)state;
	for (i = 0; i < VT_EV_PATTERNS; i++)
		vt_evcounts_tell(c, UINT64_C(1) << i);
	for (i = 0; i < VT_EV_PATTERNS; i++) {
		assert_int_equal(c->told[i], 1 << i);
		assert_int_equal(c->ntold[i], 1);
	}
	c->ntold[2] = 5;
	vt_evcounts_tell(c, 1 << 2 | 1 << 9);
	vt_evcounts_tell(c, 1 << 9);
	assert_int_equal(c->rest[2], 1);
	assert_int_equal(c->rest[9], 2);
	assert_int_equal(c->rest[3], 0);
	c->period = 10;
	vt_evstats_total(s, &key, c, 2, &t);
	check_total(&t, 6, 0, 60, 0, 0, 0);
	vt_evstats_total(s, &key, c, 9, &t);
	check_total(&t, 2, 0, 20, 0, 0, 0);
	vt_evstats_free(s);
}

/* An instruction of two micro-operations, with samples of two periods. */
static void totals_are_divided(void **state)
{
	const struct vt_evkey key = {.offset = 1};
	struct vt_evstats *s = new_stats(7);
	struct vt_evcounts *c = vt_evstats_add(s, &key);
	struct vt_evtotal *other = vt_evcounts_other(c), t;

	(void)state;
	assert_true(c->share == 1);
	c->period = 10;
	c->samples = 3;
	c->told[0] = 1;
	c->ntold[0] = 3;
	c->had[0] = 2;
	c->latency[0].had = 2;
	c->latency[0].least = 1;
	c->latency[0].sum = 7;
	c->latency[0].sum2 = 29;
	c->others = 2;
	c->other_k = 50;
	other[0] = (struct vt_evtotal){
		.samples = 2, .had = 1, .k = 50, .sum = 20, .sum2 = 20, .variance = 400};
	vt_evcounts_all(c, &t);
	check_total(&t, 5, 5, 80, 80, 80, 300 + 1250);
	c->share = 2;
	vt_evcounts_all(c, &t);
	check_total(&t, 5, 5, 40, 40, 40, (300 + 1250) / 4.);
	vt_evstats_total(s, &key, c, 0, &t);
	check_total(&t, 5, 3, 40, 20, 20, (200 + 400) / 4.);
	/* All samples might have told of a latency that one has. */
	vt_evstats_total(s, &key, c, LATENCY, &t);
	check_total(&t, 5, 2, 10, 35, 145, 2900 / 4.);
	assert_true(t.least == 1);
	/* Of 2 and 5 cycles, the mean is 3.5. */
	assert_true(t.spread == 4.5 && t.freedom == 1);
	vt_evtotal_add(&t, &t);
	assert_true(t.spread == 9 && t.freedom == 2);
	vt_evstats_total(s, &key, c, LATENCY + 1, &t);
	check_total(&t, 0, 0, 0, 0, 0, 0);
	assert_true(t.spread == 0 && t.freedom == 0);
	/* One sample of another period, and a record that tells of more. */
	c->others = 1;
	c->other_k = 6;
	other[0].samples = 0;
	other[0].k = 0;
	vt_evcounts_all(c, &t);
	check_total(&t, 4, 4, 18, 18, 18, (300 + 36) / 4.);
	other[1].samples = 4;
	other[1].k = 8;
	vt_evcounts_all(c, &t);
	check_total(&t, 7, 7, 19, 19, 19, (300 + 16) / 4.);
	vt_evstats_free(s);
}

static void places_are_joined(void **state)
{
	const struct vt_evkey key = {.offset = 1}, none = {.offset = 2};
	struct vt_evstats *from = new_stats(7), *to = new_stats(7);
	struct vt_evcounts *c = vt_evstats_add(from, &key), *sum = vt_evstats_add(to, &key);
	struct vt_evtotal t;
	unsigned i;

	(void)state;
	c->period = 10;
	c->samples = 3;
	c->told[0] = 1;
	c->ntold[0] = 3;
	c->had[0] = 2;
	c->latency[0].had = 3;
	c->latency[0].sum = 12;
	c->latency[0].sum2 = 56;
	for (i = 2; i <= 6; i += 2)
		assert_true(vt_evbins_add(&c->latency[0].bins, i, 1));
	for (i = 0; i < 2; i++)
		assert_int_equal(vt_evcounts_join(sum, from, &key, &err), 0);
	assert_int_equal(vt_evcounts_join(sum, from, &none, &err), 0);
	vt_evstats_total(to, &key, sum, 0, &t);
	check_total(&t, 6, 4, 60, 40, 40, 400);
	vt_evstats_total(to, &key, sum, LATENCY, &t);
	check_total(&t, 6, 6, 60, 240, 1120, 11200);
	vt_evcounts_all(sum, &t);
	check_total(&t, 6, 6, 60, 60, 60, 600);
	assert_true(vt_evbins_total(&sum->latency[0].bins) == 6);
	assert_true(sum->latency[0].bins.count[6] == 2 && sum->latency[0].bins.count[5] == 0);
	vt_evstats_free(from);
	vt_evstats_free(to);
}

/* Without a check, nothing is known; with one, as of 25 samples of 10, and of a tenth of them. */
static void intervals_need_a_check(void **state)
{
	struct vt_evtotal t = {.samples = 25, .had = 25, .k = 250, .sum = 250, .variance = 2500};
	struct vt_evtotal none = {.samples = 0};
	struct vt_evevent e = {.check = {.squares = 9, .freedom = 9}};
	double low, high;

	(void)state;
	vt_evtotal_interval(&t, &e, &low, &high);
	assert_true(low == 0 && isinf(high));
	e.check = (struct vt_evcheck){.squares = 10, .freedom = 10};
	vt_evtotal_interval(&t, &e, &low, &high);
	assert_true(fabs(low - 161.787) < .01 && fabs(high - 369.049) < .01);
	vt_evtotal_interval(&none, &e, &low, &high);
	assert_true(low == 0 && isinf(high));
	e.check = (struct vt_evcheck){.squares = 1000, .freedom = 100};
	vt_evtotal_interval(&t, &e, &low, &high);
	/* 2.5 samples of 100. */
	assert_true(fabs(low - 41.56) < .1 && fabs(high - 800.64) < .1);
}

static void means_need_a_check(void **state)
{
	/* Ten samples of 10: cycles 1 to 10; and the same of all. */
	const struct vt_evtotal t = {
		.samples = 10, .had = 10, .k = 100, .sum = 550, .sum2 = 3850, .variance = 38500};
	struct vt_evtotal without = t, all = t;
	struct vt_evevent e = {.check = {.squares = 9, .freedom = 9}};
	struct vt_evmean m = vt_evtotal_mean(&t, &t, &e);

	(void)state;
	assert_true(m.mean == 5.5 && isnan(m.low) && isnan(m.high));
	e.check.freedom = 10;
	m = vt_evtotal_mean(&t, &t, &e);
	/* Student's t of 10 degrees of freedom, 11 samples of variance 8.25. */
	assert_true(m.mean == 5.5);
	assert_true(fabs(m.high - 5.5 - 2.228139 * sqrt(11 * 8.25) / 10) < 1e-4);
	assert_true(fabs(m.low - 5.5 + 2.228139 * sqrt(11 * 8.25) / 10) < 1e-4);
	/* Of unequal weights, they are worth five; ten of the event's are worth one. */
	without.variance = 77000;
	m = vt_evtotal_mean(&without, &t, &e);
	assert_true(fabs(m.high - 5.5 - 2.570582 * sqrt(6 * 8.25) / 5) < 1e-4);
	e.check = (struct vt_evcheck){.squares = 1000, .freedom = 100};
	m = vt_evtotal_mean(&t, &t, &e);
	assert_true(fabs(m.high - 5.5 - 12.706205 * sqrt(2 * 8.25)) < 1e-3);
	assert_true(m.low == 0);
	/* Within places, whose means differ, cycles vary less. */
	e.check = (struct vt_evcheck){.squares = 10, .freedom = 10};
	all.spread = 12;
	all.freedom = 8;
	m = vt_evtotal_mean(&t, &all, &e);
	assert_true(fabs(m.high - 5.5 - 2.228139 * sqrt(10 * 8.25 + 1.5) / 10) < 1e-4);
	without.had = 0;
	assert_true(isnan(vt_evtotal_mean(&without, &t, &e).mean));
	without = t;
	without.k = 0;
	assert_true(isnan(vt_evtotal_mean(&without, &t, &e).mean));
	assert_true(isnan(vt_evtotal_mean(&t, &without, &e).mean));
}

/* ---- records ---- */

static struct vt_reader *write_stats(const struct vt_evstats *s, int *fd)
{
	struct vt_writer *w;

	*fd = scratch_file();
	w = start_stream(*fd);
	assert_int_equal(vt_evstats_write(s, w, &err), 0);
	return reread_stream(*fd, w);
}

/* Records of places in order; each has what its total has. */
static void records_hold_totals(void **state)
{
	static const struct vt_evkey keys[] = {
		{.image = 2, .offset = 1}, {.image = 1, .offset = 9}, {.image = 1, .offset = 8}};
	struct vt_evstats *s = new_stats(77), *back = new_stats(77);
	const uint64_t offsets[] = {8, 9, 1};
	struct vt_record rec;
	struct vt_words bins;
	struct vt_reader *r;
	unsigned i;
	int fd;

	(void)state;
	vt_evstats_event_at(s, 0)->check = (struct vt_evcheck){.squares = 10, .freedom = 10};
	for (i = 0; i < 3; i++) {
		struct vt_evcounts *c = vt_evstats_add(s, &keys[i]);

		c->period = 10;
		c->samples = c->latency[0].had = 25;
		c->latency[0].least = 2;
		c->latency[0].sum = 75;
		c->latency[0].sum2 = 225;
		assert_true(vt_evbins_add(&c->latency[0].bins, 3, 25));
	}
	r = write_stats(s, &fd);
	rec = next_of_kind(r, VT_META);
	assert_true(vt_record_is_meta(&rec, VT_EV_META));
	for (i = 0; i < 3; i++) {
		rec = next_of_kind(r, VT_EVSTAT);
		assert_int_equal(vt_record_u64(&rec, VT_EVSTAT_IMAGE), i < 2 ? 1 : 2);
		assert_int_equal(vt_record_u64(&rec, VT_EVSTAT_OFFSET), offsets[i]);
		assert_int_equal(vt_record_u64(&rec, VT_EVSTAT_EVENT), 77);
		assert_int_equal(vt_record_u64(&rec, VT_EVSTAT_WHAT), VT_STAT_LATENCIES);
		assert_int_equal(vt_record_u64(&rec, VT_EVSTAT_SAMPLES), 25);
		assert_int_equal(vt_record_u64(&rec, VT_EVSTAT_HAD), 25);
		assert_int_equal(vt_record_u64(&rec, VT_EVSTAT_LEAST), 2);
		assert_int_equal(vt_record_u64(&rec, VT_EVSTAT_METHOD), VT_METHOD_FOLLOWED);
		assert_true(vt_record_f64(&rec, VT_EVSTAT_K) == 250);
		assert_true(vt_record_f64(&rec, VT_EVSTAT_SUM) == 750);
		assert_true(vt_record_f64(&rec, VT_EVSTAT_SUM2) == 2250);
		assert_true(vt_record_f64(&rec, VT_EVSTAT_VARIANCE) == 22500);
		/* 25 equal samples, each worth 30. */
		assert_true(fabs(vt_record_f64(&rec, VT_EVSTAT_LOW) - 30 * 16.1787) < .01);
		assert_true(fabs(vt_record_f64(&rec, VT_EVSTAT_HIGH) - 30 * 36.9049) < .01);
		bins = vt_record_words(&rec, VT_EVSTAT_BINS);
		assert_int_equal(bins.count, 2);
		assert_int_equal(bins.data[0], 3);
		assert_int_equal(bins.data[1], 25);
		assert_int_equal(vt_evstats_record(back, &keys[0], &rec, &err), 0);
	}
	vt_reader_close(r);
	close(fd);
	assert_true(vt_evstats_find(back, &keys[0])->latency[0].bins.count[3] == 75);
	vt_evstats_free(s);
	vt_evstats_free(back);
}

/* Of one place, in the order of the events, whatever their ids. */
static void records_are_in_order(void **state)
{
	struct vt_evstats *s = new_stats(7);
	struct vt_evkey key = {.offset = 1};
	struct vt_record rec;
	struct vt_reader *r;
	uint32_t other;
	int fd, i;

	(void)state;
	assert_int_equal(vt_evstats_event(s, 3, &other, &err), 0);
	assert_int_equal(other, 1);
	for (i = 0; i < 4; i++) {
		struct vt_evcounts *c;

		key.event = i < 2;
		key.pid = i % 2 ? 0 : 5;
		c = vt_evstats_add(s, &key);
		c->period = 1;
		c->told[0] = 1;
		c->ntold[0] = c->samples = 10 + (uint64_t)i;
	}
	r = write_stats(s, &fd);
	for (i = 0; i < 4; i++) {
		static const uint64_t samples[] = {13, 12, 11, 10};

		rec = next_of_kind(r, VT_EVSTAT);
		assert_int_equal(vt_record_u64(&rec, VT_EVSTAT_EVENT), i < 2 ? 7 : 3);
		assert_int_equal(vt_record_u64(&rec, VT_EVSTAT_SAMPLES), samples[i]);
	}
	vt_reader_close(r);
	close(fd);
	vt_evstats_free(s);
}

static enum vt_confidence confidence_of(uint64_t samples, const struct vt_evcheck *check)
{
	const struct vt_evkey key = {.offset = 1};
	struct vt_evstats *s = new_stats(7);
	struct vt_evcounts *c = vt_evstats_add(s, &key);
	enum vt_confidence confidence;
	struct vt_record rec;
	struct vt_reader *r;
	int fd;

	vt_evstats_event_at(s, 0)->check = *check;
	c->period = 10;
	c->samples = c->had[0] = c->ntold[0] = samples;
	c->told[0] = 1;
	r = write_stats(s, &fd);
	rec = next_of_kind(r, VT_EVSTAT);
	confidence = (enum vt_confidence)vt_record_u64(&rec, VT_EVSTAT_CONFIDENCE);
	vt_reader_close(r);
	close(fd);
	vt_evstats_free(s);
	return confidence;
}

static void confidence_is_of_samples(void **state)
{
	const struct vt_evcheck none = {.squares = 9, .freedom = 9}, good = {10, 10};
	const struct vt_evcheck bad = {.squares = 1000, .freedom = 100};

	(void)state;
	assert_int_equal(confidence_of(1000, &none), VT_CONFIDENCE_NONE);
	assert_int_equal(confidence_of(400, &good), VT_CONFIDENCE_HIGH);
	assert_int_equal(confidence_of(399, &good), VT_CONFIDENCE_MEDIUM);
	assert_int_equal(confidence_of(30, &good), VT_CONFIDENCE_MEDIUM);
	assert_int_equal(confidence_of(29, &good), VT_CONFIDENCE_LOW);
	/* Ten of these are worth one. */
	assert_int_equal(confidence_of(4000, &bad), VT_CONFIDENCE_HIGH);
	assert_int_equal(confidence_of(3999, &bad), VT_CONFIDENCE_MEDIUM);
	assert_int_equal(confidence_of(299, &bad), VT_CONFIDENCE_LOW);
}

/* ---- what is known of events ---- */

static bool parse(const char *text, struct vt_evevent *e)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_record rec;
	struct vt_reader *r;
	bool ok;

	vt_writer_meta(w, VT_EV_META, text);
	r = reread_stream(fd, w);
	rec = next_of_kind(r, VT_META);
	*e = (struct vt_evevent){0};
	ok = vt_evmeta_parse(&rec, e);
	vt_reader_close(r);
	close(fd);
	return ok;
}

static void checks_are_read(void **state)
{
	static const char *const bad[] = {
		"",
		"x",
		"7 2 1 3.5 4",
		"7 2 1 3.5 4 5 6",
		"7 2 1 3.5 4 5 ",
		"7 6 1 3.5 4 5",
		"7 2 4 3.5 4 5",
		"7 2 1 nan 4 5",
		"7 2 1 -1 4 5",
		"7 2 1 3.5 inf 5",
		"7 2 1 3.5 -4 5x",
		"7 2 1 3.5 1e200 5",
	};
	char longest[200];
	struct vt_evevent e;
	size_t i;

	(void)state;
	assert_true(parse("7 2 1 3.5 4 5", &e));
	assert_int_equal(e.id, 7);
	assert_int_equal(e.population, VT_EVPOP_UOPS);
	assert_int_equal(e.division, VT_EVDIV_DONE);
	assert_true(e.check.squares == 3.5 && e.check.freedom == 4);
	assert_int_equal(e.unlocated, 5);
	assert_true(parse("7 5 3 0 0 0", &e));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse(bad[i], &e))
			fail_msg("'%s' is taken", bad[i]);
	/* A number may have as many zeros as there is room for. */
	memset(longest, '0', sizeof(longest));
	memcpy(longest + 159 - 12, " 2 1 3.5 4 5", 13);
	assert_true(parse(longest, &e));
	memset(longest, '0', sizeof(longest));
	memcpy(longest + 160 - 12, " 2 1 3.5 4 5", 13);
	assert_false(parse(longest, &e));
}

static void checks_are_joined(void **state)
{
	struct vt_evevent to = {0}, from;

	(void)state;
	assert_true(parse("7 2 1 3.5 4 5", &from));
	vt_evmeta_join(&to, &from);
	assert_int_equal(to.population, VT_EVPOP_UOPS);
	assert_int_equal(to.division, VT_EVDIV_DONE);
	assert_true(parse("7 2 1 1.5 2 3", &from));
	vt_evmeta_join(&to, &from);
	assert_int_equal(to.division, VT_EVDIV_DONE);
	assert_true(to.check.squares == 5 && to.check.freedom == 6);
	assert_int_equal(to.unlocated, 8);
	assert_true(parse("7 0 2 0 0 0", &from));
	vt_evmeta_join(&to, &from);
	assert_int_equal(to.division, VT_EVDIV_PARTLY);
	assert_int_equal(to.population, VT_EVPOP_UOPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_have_numbers),
		cmocka_unit_test(few_patterns_are_told),
		cmocka_unit_test(totals_are_divided),
		cmocka_unit_test(places_are_joined),
		cmocka_unit_test(intervals_need_a_check),
		cmocka_unit_test(means_need_a_check),
		cmocka_unit_test(records_hold_totals),
		cmocka_unit_test(confidence_is_of_samples),
		cmocka_unit_test(records_are_in_order),
		cmocka_unit_test(checks_are_read),
		cmocka_unit_test(checks_are_joined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
