/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "merge/merge.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

/* Which records a stream has. */
enum sums {
	NONE,
	ESTIMATE,
	PAIR_SUM,
	PATH,
	ACCESSES,
	SAMPLE,
	SAMPLE_OF_PAIR,
	OTHER_PAIR_SUM,
	OTHER_ESTIMATE,
	TWO_ESTIMATES, /* of the other event second, as the next */
	TWO_SAMPLES,
	ONE_EACH,      /* of each event a sample, of the other second */
	SECOND_PAIRED, /* a sample of a pair of one event, and of the other one of none first */
	UNDECLARED     /* sums of pairs of two events that no EVENT record has */
};

static void put_meta(struct vt_writer *w, const char *key, const char *value)
{
	vt_writer_row(w, VT_META);
	vt_writer_text(w, VT_META_KEY, key);
	vt_writer_text(w, VT_META_VALUE, value);
}

static void put_estimate(struct vt_writer *w, uint64_t event)
{
	uint64_t *row = vt_writer_row(w, VT_EVSTAT);

	row[VT_EVSTAT_IMAGE] = VT_UNMAPPED_IMAGE;
	row[VT_EVSTAT_EVENT] = event;
	row[VT_EVSTAT_METHOD] = VT_METHOD_FOLLOWED;
	row[VT_EVSTAT_SAMPLES] = 1;
	vt_row_set_f64(&row[VT_EVSTAT_K], 10);
}

static void put_pair_sum(struct vt_writer *w, uint64_t event)
{
	uint64_t *row = vt_writer_row(w, VT_PAIRSTAT);

	row[VT_PAIRSTAT_IMAGE] = VT_UNMAPPED_IMAGE;
	row[VT_PAIRSTAT_EVENT] = event;
	row[VT_PAIRSTAT_PAIRS] = 1;
	vt_writer_text(w, VT_PAIRSTAT_METRIC, "wasted");
}

static void put_path(struct vt_writer *w)
{
	const uint64_t words[] = {0};
	uint64_t *row = vt_writer_row(w, VT_PATH);

	row[VT_PATH_EVENT] = 1;
	vt_row_set_f64(&row[VT_PATH_SAMPLES], 1);
	vt_row_set_f64(&row[VT_PATH_PROBABILITY], 1);
	vt_writer_words(w, VT_PATH_IMAGES, words, 1);
	vt_writer_words(w, VT_PATH_OFFSETS, words, 1);
}

static void put_sample(struct vt_writer *w, uint64_t event, uint64_t pm_has, uint64_t pair)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE);

	row[VT_SAMPLE_EVENT] = event;
	row[VT_SAMPLE_PM_HAS] = pm_has;
	row[VT_SAMPLE_PAIR] = pair;
}

static void put_sums(struct vt_writer *w, enum sums sums)
{
	switch (sums) {
	case ESTIMATE:
		put_estimate(w, 1);
		break;
	case PAIR_SUM:
	case OTHER_PAIR_SUM:
		put_pair_sum(w, sums == PAIR_SUM ? 1 : 2);
		break;
	case PATH:
		put_path(w);
		break;
	case ACCESSES:
		put_meta(w, "replay.model", "zen2");
		break;
	case SAMPLE:
		/* Of one that might be of a pair, and is not. */
		put_sample(w, 1, VT_PM_BIT(EVENTS) | VT_PM_BIT(PAIR), 0);
		break;
	case SAMPLE_OF_PAIR:
		/* Behind one that is of no pair. */
		put_sample(w, 1, VT_PM_BIT(EVENTS), 1);
		put_sample(w, 1, VT_PM_BIT(EVENTS) | VT_PM_BIT(PAIR), 2);
		break;
	case OTHER_ESTIMATE:
		put_estimate(w, 2);
		break;
	case TWO_ESTIMATES:
		put_estimate(w, 1);
		put_estimate(w, 2);
		break;
	case TWO_SAMPLES:
		/* No sample of a single instruction, and then one. */
		put_sample(w, 1, 0, 0);
		put_sample(w, 2, VT_PM_BIT(EVENTS), 0);
		break;
	case ONE_EACH:
		put_sample(w, 1, VT_PM_BIT(EVENTS), 0);
		put_sample(w, 2, VT_PM_BIT(EVENTS), 0);
		break;
	case SECOND_PAIRED:
		put_sample(w, 1, VT_PM_BIT(EVENTS) | VT_PM_BIT(PAIR), 1);
		put_sample(w, 2, VT_PM_BIT(EVENTS), 0);
		put_sample(w, 2, VT_PM_BIT(EVENTS) | VT_PM_BIT(PAIR), 1);
		break;
	case UNDECLARED:
		put_pair_sum(w, 8);
		put_pair_sum(w, 9);
		break;
	case NONE:
		break;
	}
}

static int add_named(struct vt_merge *m, const char *name, enum sums sums, const char *key,
		     const char *value)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	const struct vt_block *block;
	uint32_t first, count;
	struct vt_reader *r;
	uint64_t id;
	int rc;

	for (id = 1; id <= 2; id++) {
		uint64_t *row = vt_writer_row(w, VT_EVENT);

		row[VT_EVENT_ID] = id;
		vt_writer_text(w, VT_EVENT_NAME, id == 1 ? "ibs_op" : "other");
	}
	put_sums(w, sums);
	if (value)
		put_meta(w, key, value);
	r = reread_stream(fd, w);
	while ((rc = vt_reader_next_run(r, &block, &first, &count, &err)) == 1)
		assert_int_equal(vt_merge_feed(m, block, first, count, &err), 0);
	assert_int_equal(rc, 0);
	vt_reader_close(r);
	close(fd);
	return vt_merge_end_stream(m, name, &err);
}

static int add_sums(struct vt_merge *m, enum sums sums, const char *key, const char *value)
{
	return add_named(m, "a stream", sums, key, value);
}

/* The value of the META record with a key of what was merged; "": there is none. */
static void read_meta(struct vt_merge *m, const char *key, char *value, size_t size)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_record rec;
	struct vt_reader *r;

	assert_int_equal(vt_merge_write(m, w, &err), 0);
	r = reread_stream(fd, w);
	*value = '\0';
	while (vt_reader_next(r, &rec, &err) == 1) {
		struct vt_bytes v;

		if (!vt_record_is_meta(&rec, key))
			continue;
		assert_string_equal(value, "");
		v = vt_record_bytes(&rec, VT_META_VALUE);
		assert_true(v.size < size);
		memcpy(value, v.data, v.size);
		value[v.size] = '\0';
	}
	vt_reader_close(r);
	close(fd);
}

/* What two streams of such sums, with these values of a setting, are together; `text` as below. */
static void check_values(enum sums sums, const char *key, const char *first, const char *second,
			 const char *text)
{
	struct vt_merge *m = vt_merge_new(1);
	int want = text ? -VT_E_MISMATCH : 0;

	assert_int_equal(add_sums(m, sums, key, first), 0);
	if (add_sums(m, sums, key, second) != want)
		fail_msg("%s: '%s' and '%s' of sums %d", key, first, second, (int)sums);
	if (text && !strstr(err.text, text))
		fail_msg("'%s' is not in '%s'", text, err.text);
	vt_merge_free(m);
}

/* Each setting, and the sums that depend on it. */
static const struct {
	const char *key;
	const char *text;
	bool of[5]; /* by enum sums */
} settings[] = {
	{"arch",
	 "of another architecture (META arch)",
	 {[ESTIMATE] = 1, [PAIR_SUM] = 1, [PATH] = 1}},
	{"cpu.model",
	 "of another model of a processor (META cpu.model)",
	 {[ESTIMATE] = 1, [PAIR_SUM] = 1, [PATH] = 1}},
	{"cpuid", "of another processor (META cpuid)", {[ESTIMATE] = 1, [PAIR_SUM] = 1}},
	{"cpudesc", NULL, {0}},
	{"vsim.window", "of another window (META vsim.window)", {[PAIR_SUM] = 1}},
	{"vpair.learn",
	 "of another way to learn what to expect (META vpair.learn)",
	 {[PAIR_SUM] = 1}},
	{"vpair.model", "of another model of slots and units (META vpair.model)", {[PAIR_SUM] = 1}},
	{"vevent.model",
	 "of another model of micro-operations (META vevent.model)",
	 {[ESTIMATE] = 1}},
	{"vpath.across-calls", "(META vpath.across-calls)", {[PATH] = 1}},
	{"vpath.branches", "of another number of branches (META vpath.branches)", {[PATH] = 1}},
	/* The setting alone says that there are such sums, though they are 0. */
	{"replay.model", "of another model of a core (META replay.model)", {1, 1, 1, 1, 1}},
	{"replay.distance", "of another distance (META replay.distance)", {[ACCESSES] = 1}},
	{"something.else", NULL, {0}},
};

/* What no model made is of a real machine. */
static bool is_told_by_absence(enum sums sums, const char *key)
{
	return strcmp(key, "cpu.model") == 0 && (sums == ESTIMATE || sums == PAIR_SUM);
}

static void sums_that_depend_on_a_setting_are_refused(void **state)
{
	static const char *const of[] = {[ESTIMATE] = "its estimates are ",
					 [PAIR_SUM] = "its sums of pairs are ",
					 [PATH] = "its paths are ",
					 [ACCESSES] = "its pairs of accesses are "};
	size_t i;
	int sums;

	(void)state;
	for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		for (sums = NONE; sums <= ACCESSES; sums++) {
			bool refused = settings[i].of[sums];

			check_values((enum sums)sums, settings[i].key, "a", "b",
				     refused ? settings[i].text : NULL);
			if (refused && settings[i].of[NONE])
				assert_ptr_equal(strstr(err.text, of[ACCESSES]), err.text);
			else if (refused)
				assert_ptr_equal(strstr(err.text, of[sums]), err.text);
			check_values((enum sums)sums, settings[i].key, "a", "a", NULL);
			/* Streams of older versions do not tell. */
			if (sums == ACCESSES ||
			    is_told_by_absence((enum sums)sums, settings[i].key))
				continue;
			check_values((enum sums)sums, settings[i].key, "a", NULL, NULL);
			check_values((enum sums)sums, settings[i].key, NULL, "b", NULL);
		}
}

static void sums_of_a_model_and_of_a_machine_are_refused(void **state)
{
	struct vt_merge *m = vt_merge_new(1);
	char value[64];

	(void)state;
	check_values(
		ESTIMATE, "cpu.model", "zen3", NULL,
		"its estimates are of a real machine (META cpu.model), unlike the estimates of "
		"a stream");
	check_values(ESTIMATE, "cpu.model", NULL, "zen3",
		     "its estimates are of a simulated machine (META cpu.model), unlike the "
		     "estimates of a stream");
	check_values(PAIR_SUM, "cpu.model", "zen3", NULL,
		     "its sums of pairs are of a real machine (META cpu.model), unlike the sums of "
		     "pairs of a stream");
	check_values(PAIR_SUM, "cpu.model", "zen3", "zen4",
		     "its sums of pairs are of another model of a processor (META cpu.model) than "
		     "the sums of pairs of a stream");
	check_values(PATH, "cpu.model", "zen3", NULL, NULL);
	/* A stream tells one model of both. */
	assert_int_equal(add_sums(m, ESTIMATE, "cpu.model", "zen3"), 0);
	assert_int_equal(add_sums(m, PATH, "cpu.model", "zen4"), 0);
	assert_int_equal(add_sums(m, NONE, NULL, NULL), 0);
	read_meta(m, "cpu.model", value, sizeof(value));
	assert_string_equal(value, "zen3");
	assert_int_equal(add_sums(m, PAIR_SUM, NULL, NULL), -VT_E_MISMATCH);
	assert_string_equal(err.text, "its sums of pairs are of a real machine (META cpu.model), "
				      "unlike the estimates of a stream");
	vt_merge_free(m);
	m = vt_merge_new(1);
	assert_int_equal(add_sums(m, PAIR_SUM, NULL, NULL), 0);
	assert_int_equal(add_sums(m, NONE, "cpu.model", "zen3"), 0);
	read_meta(m, "cpu.model", value, sizeof(value));
	assert_string_equal(value, "");
	vt_merge_free(m);
}

/* Each stream has its own name. */
static void the_stream_that_differs_is_named(void **state)
{
	struct vt_merge *m = vt_merge_new(1);

	(void)state;
	assert_int_equal(add_named(m, "first", PAIR_SUM, NULL, NULL), 0);
	assert_int_equal(add_named(m, "second", PAIR_SUM, "vsim.window", "80"), 0);
	assert_int_equal(add_named(m, "third", PAIR_SUM, "vsim.window", "80"), 0);
	assert_int_equal(add_named(m, "fourth", PAIR_SUM, "vsim.window", "90"), -VT_E_MISMATCH);
	assert_string_equal(err.text, "its sums of pairs are of another window (META vsim.window) "
				      "than the sums of pairs of second");
	vt_merge_free(m);
}

static void what_is_forgotten_in_between_is_refused(void **state)
{
	struct vt_merge *m = vt_merge_new(1);

	(void)state;
	assert_int_equal(add_sums(m, PAIR_SUM, "vpair.learn", "weighted"), 0);
	assert_int_equal(add_sums(m, PAIR_SUM, NULL, NULL), 0);
	assert_int_equal(add_sums(m, ESTIMATE, "vpair.learn", "never"), 0);
	assert_int_equal(add_sums(m, PAIR_SUM, "vpair.learn", "never"), -VT_E_MISMATCH);
	vt_merge_free(m);
}

static void settings_of_sums_are_written(void **state)
{
	struct vt_merge *m = vt_merge_new(1);
	char value[64];

	(void)state;
	/* Of no sums, or of others. */
	assert_int_equal(add_sums(m, NONE, "vsim.window", "10"), 0);
	read_meta(m, "vsim.window", value, sizeof(value));
	assert_string_equal(value, "");
	assert_int_equal(add_sums(m, PAIR_SUM, "vsim.window", "80"), 0);
	assert_int_equal(add_sums(m, PAIR_SUM, NULL, NULL), 0);
	assert_int_equal(add_sums(m, PATH, "vsim.window", "20"), 0);
	read_meta(m, "vsim.window", value, sizeof(value));
	assert_string_equal(value, "80");
	/* Of a machine, what all name alike. */
	vt_merge_free(m);
	m = vt_merge_new(1);
	assert_int_equal(add_sums(m, NONE, "arch", "x86_64"), 0);
	assert_int_equal(add_sums(m, NONE, "arch", "x86_64"), 0);
	read_meta(m, "arch", value, sizeof(value));
	assert_string_equal(value, "x86_64");
	assert_int_equal(add_sums(m, NONE, NULL, NULL), 0);
	read_meta(m, "arch", value, sizeof(value));
	assert_string_equal(value, "");
	vt_merge_free(m);
	/* The first does not. */
	m = vt_merge_new(1);
	assert_int_equal(add_sums(m, NONE, NULL, NULL), 0);
	assert_int_equal(add_sums(m, NONE, "arch", "x86_64"), 0);
	read_meta(m, "arch", value, sizeof(value));
	assert_string_equal(value, "");
	vt_merge_free(m);
}

/* ---- conditions on samples ---- */

#define LOADS  "3 of 10 pass, 1 unknown, SAMPLE: events & load"
#define FEWER  "2 of 7 pass, 0 unknown, SAMPLE: events & load"
#define STORES "3 of 10 pass, 1 unknown, SAMPLE: events & store"
#define VALUES "3 of 10 pass, 1 unknown, VALUE: value > 3"

static void a_choice_of_samples_adds_up_with_no_other(void **state)
{
	static const enum sums chosen[] = {ESTIMATE, PAIR_SUM};
	const char *text = "of another choice of samples (META where)";
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		check_values(chosen[i], "where", LOADS, FEWER, NULL);
		check_values(chosen[i], "where", LOADS, STORES, text);
		/* Without a condition, all are chosen. */
		check_values(chosen[i], "where", LOADS, NULL, text);
		check_values(chosen[i], "where", NULL, LOADS, text);
		check_values(chosen[i], "where", NULL, NULL, NULL);
		/* Estimates are not made of values. */
		check_values(chosen[i], "where", VALUES, NULL, NULL);
		check_values(chosen[i], "where", "of another version", NULL, NULL);
	}
	check_values(PATH, "where", LOADS, STORES, NULL);
	check_values(NONE, "where", LOADS, STORES, NULL);
}

static void what_is_left_out_adds_up(void **state)
{
	struct vt_merge *m = vt_merge_new(1);
	char value[128];

	(void)state;
	assert_int_equal(add_sums(m, ESTIMATE, "where", LOADS), 0);
	assert_int_equal(add_sums(m, ESTIMATE, "where", FEWER), 0);
	read_meta(m, "where", value, sizeof(value));
	assert_string_equal(value, "5 of 17 pass, 1 unknown, SAMPLE: events & load");
	vt_merge_free(m);
}

/* All of them, in the order of their texts. */
static void all_that_is_left_out_is_told(void **state)
{
	static const char *const want[] = {"2 of 7 pass, 0 unknown, SAMPLE: events & load",
					   "3 of 10 pass, 1 unknown, SAMPLE: events & store",
					   "9 of 10 pass, 1 unknown, VALUE: value > 3"};
	struct vt_merge *m = vt_merge_new(1);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_record rec;
	struct vt_reader *r;
	unsigned n = 0;

	(void)state;
	assert_int_equal(add_sums(m, NONE, "where", want[2]), 0);
	assert_int_equal(add_sums(m, NONE, "where", STORES), 0);
	assert_int_equal(add_sums(m, NONE, "where", FEWER), 0);
	assert_int_equal(vt_merge_write(m, w, &err), 0);
	r = reread_stream(fd, w);
	while (vt_reader_next(r, &rec, &err) == 1)
		if (vt_record_is_meta(&rec, "where") && n++ < 3)
			assert_true(
				vt_bytes_are(vt_record_bytes(&rec, VT_META_VALUE), want[n - 1]));
	assert_int_equal(n, 3);
	vt_reader_close(r);
	close(fd);
	vt_merge_free(m);
}

/* ---- sums and samples ---- */

static void check_two(enum sums first, enum sums second, const char *text)
{
	struct vt_merge *m = vt_merge_new(1);

	assert_int_equal(add_sums(m, first, NULL, NULL), 0);
	assert_int_equal(add_sums(m, second, NULL, NULL), text ? -VT_E_MISMATCH : 0);
	if (text)
		assert_string_equal(err.text, text);
	vt_merge_free(m);
}

static void sums_of_pairs_and_pairs_are_refused(void **state)
{
	(void)state;
	check_two(PAIR_SUM, SAMPLE_OF_PAIR,
		  "its samples of pairs of 'ibs_op' do not add up with the sums of pairs of a "
		  "stream: vpair makes sums of these, too");
	check_two(SAMPLE_OF_PAIR, PAIR_SUM,
		  "its sums of pairs of 'ibs_op' do not add up with the samples of pairs of a "
		  "stream: vpair makes sums of these, too");
	check_two(PAIR_SUM, SAMPLE, NULL);
	check_two(SAMPLE, PAIR_SUM, NULL);
	check_two(SAMPLE_OF_PAIR, SAMPLE_OF_PAIR, NULL);
	check_two(PAIR_SUM, PAIR_SUM, NULL);
	/* Of another event. */
	check_two(OTHER_PAIR_SUM, SAMPLE_OF_PAIR, NULL);
	check_two(SAMPLE_OF_PAIR, OTHER_PAIR_SUM, NULL);
	/* Estimates of events are of the same samples, for something else. */
	check_two(PAIR_SUM, ESTIMATE, NULL);
	check_two(ESTIMATE, SAMPLE_OF_PAIR,
		  "its samples of single instructions of 'ibs_op' do not add up with the estimates "
		  "of a stream: vevent takes both files");
}

static void each_event_is_looked_at(void **state)
{
	(void)state;
	check_two(TWO_ESTIMATES, TWO_SAMPLES,
		  "its samples of single instructions of 'other' do not add up with the estimates "
		  "of a stream: vevent takes both files");
	check_two(TWO_SAMPLES, TWO_ESTIMATES,
		  "its estimates of 'other' do not add up with the samples of single instructions "
		  "of a stream: vevent takes both files");
	check_two(ESTIMATE, TWO_SAMPLES, NULL);
	check_two(TWO_ESTIMATES, ONE_EACH,
		  "its samples of single instructions of 'ibs_op' do not add up with the estimates "
		  "of a stream: vevent takes both files");
	check_two(OTHER_ESTIMATE, ONE_EACH,
		  "its samples of single instructions of 'other' do not add up with the estimates "
		  "of a stream: vevent takes both files");
	check_two(OTHER_PAIR_SUM, ONE_EACH, NULL);
	check_two(OTHER_PAIR_SUM, SECOND_PAIRED,
		  "its samples of pairs of 'other' do not add up with the sums of pairs of a "
		  "stream: vpair makes sums of these, too");
	check_two(UNDECLARED, UNDECLARED, NULL);
	check_two(UNDECLARED, SAMPLE_OF_PAIR, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_that_depend_on_a_setting_are_refused),
		cmocka_unit_test(sums_of_a_model_and_of_a_machine_are_refused),
		cmocka_unit_test(the_stream_that_differs_is_named),
		cmocka_unit_test(what_is_forgotten_in_between_is_refused),
		cmocka_unit_test(settings_of_sums_are_written),
		cmocka_unit_test(a_choice_of_samples_adds_up_with_no_other),
		cmocka_unit_test(what_is_left_out_adds_up),
		cmocka_unit_test(all_that_is_left_out_is_told),
		cmocka_unit_test(sums_of_pairs_and_pairs_are_refused),
		cmocka_unit_test(each_event_is_looked_at),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
