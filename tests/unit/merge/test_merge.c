/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "merge/merge.h"
#include "merge/tally.h"
#include "tests/unit/common/hots.h"
#include "tests/unit/common/streams.h"

static struct vt_error err;

/* ---- streams ---- */

static void put_event(struct vt_writer *w, uint64_t id, const char *name, const char *unit,
		      enum vt_policy policy, uint64_t period)
{
	uint64_t *row = vt_writer_row(w, VT_EVENT);

	row[VT_EVENT_ID] = id;
	row[VT_EVENT_POLICY] = policy;
	row[VT_EVENT_PERIOD] = period;
	vt_writer_text(w, VT_EVENT_NAME, name);
	vt_writer_text(w, VT_EVENT_UNIT, unit);
}

static void put_image(struct vt_writer *w, uint64_t id, const char *path, const char *buildid)
{
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	row[VT_IMAGE_ID] = id;
	row[VT_IMAGE_TYPE] = VT_IMAGE_FILE;
	vt_writer_text(w, VT_IMAGE_PATH, path);
	vt_writer_text(w, VT_IMAGE_BUILDID, buildid);
}

static void put_count(struct vt_writer *w, uint64_t image, uint64_t offset, uint64_t event,
		      uint64_t samples, uint64_t period)
{
	uint64_t *row = vt_writer_row(w, VT_COUNT);

	row[VT_COUNT_IMAGE] = image;
	row[VT_COUNT_OFFSET] = offset;
	row[VT_COUNT_EVENT] = event;
	row[VT_COUNT_SAMPLES] = samples;
	row[VT_COUNT_PERIOD] = period;
}

static void put_lost(struct vt_writer *w, uint64_t event, uint64_t count, const char *source)
{
	uint64_t *row = vt_writer_row(w, VT_LOST);

	row[VT_LOST_EVENT] = event;
	row[VT_LOST_COUNT] = count;
	vt_writer_text(w, VT_LOST_SOURCE, source);
}

static void put_gap(struct vt_writer *w, const char *input, const char *reason, uint64_t bytes)
{
	uint64_t *row = vt_writer_row(w, VT_GAP);

	row[VT_GAP_BYTES] = bytes;
	row[VT_GAP_RECORDS] = 1;
	vt_writer_text(w, VT_GAP_INPUT, input);
	vt_writer_text(w, VT_GAP_REASON, reason);
}

static void put_meta(struct vt_writer *w, const char *key, const char *value)
{
	vt_writer_row(w, VT_META);
	vt_writer_text(w, VT_META_KEY, key);
	vt_writer_text(w, VT_META_VALUE, value);
}

static void put_pair(struct vt_writer *w, uint64_t image, uint64_t offset, uint64_t count,
		     uint64_t nearest)
{
	uint64_t *row = vt_writer_row(w, VT_CONFLICT);

	row[VT_CONFLICT_IMAGE] = image;
	row[VT_CONFLICT_OFFSET] = offset;
	row[VT_CONFLICT_EARLIER_IMAGE] = image;
	row[VT_CONFLICT_EARLIER] = 0x500;
	row[VT_CONFLICT_COUNT] = count;
	row[VT_CONFLICT_EXECUTIONS] = 10 * count;
	row[VT_CONFLICT_DISTANCE] = 7 * count;
	row[VT_CONFLICT_NEAREST] = nearest;
}

/* ---- feeding ---- */

typedef int feed_fn(void *arg, const struct vt_block *b, uint32_t first, uint32_t count,
		    struct vt_error *err);

static void feed_stream(struct vt_writer *w, int fd, feed_fn *feed, void *arg)
{
	struct vt_reader *r = reread_stream(fd, w);
	const struct vt_block *block;
	uint32_t first, count;
	int rc;

	while ((rc = vt_reader_next_run(r, &block, &first, &count, &err)) == 1)
		assert_int_equal(feed(arg, block, first, count, &err), 0);
	assert_int_equal(rc, 0);
	vt_reader_close(r);
	close(fd);
}

static int add_stream(struct vt_merge *m, struct vt_writer *w, int fd)
{
	feed_stream(w, fd, vt_merge_feed, m);
	return vt_merge_end_stream(m, "a stream", &err);
}

/* Writes what was merged, opens it for reading. */
static struct vt_reader *read_merged(struct vt_merge *m, int *fd)
{
	struct vt_writer *w;

	*fd = scratch_file();
	w = start_stream(*fd);
	assert_int_equal(vt_merge_write(m, w, &err), 0);
	return reread_stream(*fd, w);
}

static void expect_text(const struct vt_record *rec, unsigned field, const char *want)
{
	struct vt_bytes b = vt_record_bytes(rec, field);

	assert_int_equal(b.size, strlen(want));
	assert_memory_equal(b.data, want, b.size);
}

static void expect_count(struct vt_reader *r, uint64_t image, uint64_t offset, uint64_t event,
			 uint64_t samples, uint64_t period)
{
	struct vt_record rec = next_of_kind(r, VT_COUNT);

	assert_int_equal(vt_record_u64(&rec, VT_COUNT_IMAGE), image);
	assert_int_equal(vt_record_u64(&rec, VT_COUNT_OFFSET), offset);
	assert_int_equal(vt_record_u64(&rec, VT_COUNT_EVENT), event);
	assert_int_equal(vt_record_u64(&rec, VT_COUNT_SAMPLES), samples);
	assert_int_equal(vt_record_u64(&rec, VT_COUNT_PERIOD), period);
}

/* ---- one stream ---- */

static int feed_tally(void *arg, const struct vt_block *b, uint32_t first, uint32_t count,
		      struct vt_error *e)
{
	return vt_tally_feed(arg, b, first, count, e);
}

static void a_tally_keeps_the_ids_of_its_stream(void **state)
{
	struct vt_intern *strings = vt_intern_new();
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	const struct vt_tally_event *e;
	const struct vt_tally_loss *l;
	const struct vt_tally_gap *g;
	struct vt_stream_tally t;

	(void)state;
	put_event(w, 70, "cycles", "cycles", VT_POLICY_INTERRUPT, 1000);
	put_image(w, 9, "/bin/a", "AA");
	put_count(w, 9, 0x10, 70, 3, 3000);
	put_count(w, 5, 0x20, 71, 1, 1);
	put_lost(w, 72, 4, "ring");
	put_lost(w, 72, 5, "ring");
	put_gap(w, "x", "cut", 10);
	put_gap(w, "x", "cut", 30);
	assert_true(vt_tally_init(&t, strings));
	feed_stream(w, fd, feed_tally, &t);
	assert_int_equal(vt_tally_finish(&t, &err), 0);

	assert_int_equal(t.events.count, 3);
	e = vt_hash_at(&t.events, vt_tally_event_index(&t, VT_PROFILE_EVENT, 70));
	assert_string_equal(vt_intern_get(strings, e->name), "cycles");
	assert_int_equal(e->row[VT_EVENT_PERIOD], 1000);
	assert_int_equal(e->row[VT_EVENT_POLICY], VT_POLICY_INTERRUPT);
	e = vt_hash_at(&t.events, vt_tally_event_index(&t, VT_PROFILE_EVENT, 71));
	assert_string_equal(vt_intern_get(strings, e->name), "event71");
	e = vt_hash_at(&t.events, vt_tally_event_index(&t, VT_PROFILE_EVENT, 72));
	assert_string_equal(vt_intern_get(strings, e->name), "event72");
	assert_string_equal(vt_intern_get(strings, e->unit), "");

	assert_string_equal(vt_intern_get(strings, vt_tally_image(&t, 9).path), "/bin/a");
	assert_string_equal(vt_intern_get(strings, vt_tally_image(&t, 9).buildid), "AA");
	assert_string_equal(vt_intern_get(strings, vt_tally_image(&t, 5).path), "");
	assert_int_equal(vt_tally_image(&t, 5).type, VT_IMAGE_FILE);

	assert_int_equal(t.losses.count, 1);
	l = vt_hash_at(&t.losses, 0);
	assert_int_equal(l->event, 72);
	assert_int_equal(l->count, 9);
	assert_int_equal(t.gaps.count, 1);
	g = vt_hash_at(&t.gaps, 0);
	assert_int_equal(g->bytes, 40);
	assert_int_equal(g->records, 2);
	assert_int_equal(vt_profile_nplaces(t.profile), 2);
	vt_tally_fini(&t);
	vt_intern_free(strings);
}

/* ---- several ---- */

/* /bin/b is number 7 in one stream and 1 in the other; each has an image of its own beside it. */
static void add_first(struct vt_merge *m)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	put_event(w, 5, "cycles", "cycles", VT_POLICY_INTERRUPT, 1000);
	put_image(w, 7, "/bin/b", "");
	put_image(w, 8, "/usr/lib/c", "CC");
	put_count(w, 7, 0x20, 5, 2, 2000);
	put_count(w, 7, 0x10, 5, 1, 1000);
	put_count(w, 8, 0x30, 5, 4, 4000);
	put_lost(w, 5, 10, "ring");
	assert_int_equal(add_stream(m, w, fd), 0);
}

static void add_second(struct vt_merge *m)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	put_event(w, 1, "cycles", "cycles", VT_POLICY_INTERRUPT, 500);
	put_event(w, 2, "cycles", "cycles", VT_POLICY_EXACT, 1);
	put_image(w, 1, "/bin/b", "");
	put_image(w, 2, "/lib/c", "CC");
	put_image(w, 3, "/bin/unused", "");
	put_count(w, 1, 0x20, 1, 3, 1500);
	put_count(w, 1, 0x20, 2, 9, 9);
	put_count(w, 2, 0x30, 1, 1, 500);
	put_count(w, 0xffffffff, 1, 1, 6, 3000);
	put_lost(w, 1, 1, "ring");
	assert_int_equal(add_stream(m, w, fd), 0);
}

static void expect_sum(struct vt_merge *m)
{
	struct vt_record rec;
	struct vt_reader *r;
	int fd;

	r = read_merged(m, &fd);
	/* Of one name, but of different policies; numbers on which streams differ become 0. */
	rec = next_of_kind(r, VT_EVENT);
	assert_int_equal(vt_record_u64(&rec, VT_EVENT_POLICY), VT_POLICY_INTERRUPT);
	assert_int_equal(vt_record_u64(&rec, VT_EVENT_PERIOD), 0);
	rec = next_of_kind(r, VT_EVENT);
	assert_int_equal(vt_record_u64(&rec, VT_EVENT_ID), 1);
	assert_int_equal(vt_record_u64(&rec, VT_EVENT_POLICY), VT_POLICY_EXACT);
	assert_int_equal(vt_record_u64(&rec, VT_EVENT_PERIOD), 1);
	/* One image by its path, one by its build-id, of whose paths the first is kept. */
	rec = next_of_kind(r, VT_IMAGE);
	expect_text(&rec, VT_IMAGE_PATH, "/bin/b");
	rec = next_of_kind(r, VT_IMAGE);
	expect_text(&rec, VT_IMAGE_PATH, "/lib/c");
	expect_text(&rec, VT_IMAGE_BUILDID, "CC");
	rec = next_of_kind(r, VT_LOST);
	assert_int_equal(vt_record_u64(&rec, VT_LOST_COUNT), 11);
	expect_count(r, 0, 0x10, 0, 1, 1000);
	expect_count(r, 0, 0x20, 0, 5, 3500);
	expect_count(r, 0, 0x20, 1, 9, 9);
	expect_count(r, 1, 0x30, 0, 5, 4500);
	expect_count(r, 0xffffffff, 1, 0, 6, 3000);
	assert_int_equal(vt_reader_next(r, &rec, NULL), 0);
	vt_reader_close(r);
	close(fd);
	vt_merge_free(m);
}

static void counts_add_up_in_any_order(void **state)
{
	struct vt_merge *m = vt_merge_new(1);

	(void)state;
	add_first(m);
	add_second(m);
	expect_sum(m);
	m = vt_merge_new(1);
	add_second(m);
	add_first(m);
	expect_sum(m);
}

static void gaps_add_up_by_reason_and_input(void **state)
{
	struct vt_merge *m = vt_merge_new(1);
	struct vt_record rec;
	struct vt_reader *r;
	int i, fd;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct vt_writer *w;

		fd = scratch_file();
		w = start_stream(fd);
		put_gap(w, "a", "cut", 5);
		put_gap(w, i ? "a" : "b", "damaged", 100);
		assert_int_equal(add_stream(m, w, fd), 0);
	}
	r = read_merged(m, &fd);
	rec = next_of_kind(r, VT_GAP);
	expect_text(&rec, VT_GAP_REASON, "cut");
	assert_int_equal(vt_record_u64(&rec, VT_GAP_BYTES), 10);
	assert_int_equal(vt_record_u64(&rec, VT_GAP_RECORDS), 2);
	rec = next_of_kind(r, VT_GAP);
	expect_text(&rec, VT_GAP_INPUT, "a");
	assert_int_equal(vt_record_u64(&rec, VT_GAP_BYTES), 100);
	rec = next_of_kind(r, VT_GAP);
	expect_text(&rec, VT_GAP_INPUT, "b");
	vt_reader_close(r);
	close(fd);
	vt_merge_free(m);
}

/* A hot list's image is written even if no sample fell in it. */
static void hot_lists_of_one_place_are_joined(void **state)
{
	const struct hot_spec spec = {.image = 3,
				      .offset = 0x40,
				      .what = VT_WHAT_RESULT,
				      .capacity = 4,
				      .total = 10,
				      .nvalues = 1,
				      .values = {42},
				      .counts = {10}};
	struct vt_merge *m = vt_merge_new(1);
	struct vt_record rec;
	struct vt_reader *r;
	int i, fd;

	(void)state;
	for (i = 0; i < 2; i++) {
		struct vt_writer *w;

		fd = scratch_file();
		w = start_stream(fd);
		hot_image(w, 3, "/bin/h", "HH");
		hot_put(w, &spec);
		assert_int_equal(add_stream(m, w, fd), 0);
	}
	assert_int_equal(vt_merge_damage(m)->rejected, 0);
	assert_int_equal(vt_merge_bad(m), 0);
	r = read_merged(m, &fd);
	rec = next_of_kind(r, VT_IMAGE);
	expect_text(&rec, VT_IMAGE_PATH, "/bin/h");
	rec = next_of_kind(r, VT_HOT);
	assert_int_equal(vt_record_u64(&rec, VT_HOT_IMAGE), 0);
	assert_int_equal(vt_record_u64(&rec, VT_HOT_OFFSET), 0x40);
	assert_int_equal(vt_record_u64(&rec, VT_HOT_TOTAL), 20);
	vt_reader_close(r);
	close(fd);
	vt_merge_free(m);
}

static int add_pairs(struct vt_merge *m, const char *model, uint64_t count, uint64_t nearest)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	put_meta(w, "replay.model", model);
	put_meta(w, "replay.distance", "64");
	put_meta(w, "replay.event", "cycles");
	put_meta(w, "replay.insns", "100");
	put_event(w, 1, "cycles", "", VT_POLICY_EXACT, 1);
	put_event(w, 2, "misses", "", VT_POLICY_EXACT, 1);
	put_count(w, 4, 0x600, 1, count, count);
	put_count(w, 4, 0x600, 2, 1000, 1000);
	/* Before its image is declared. */
	put_pair(w, 4, 0x600, count, nearest);
	put_image(w, 4, "/bin/p", "");
	return add_stream(m, w, fd);
}

static void pairs_of_accesses_add_up(void **state)
{
	struct vt_merge *m = vt_merge_new(1);
	struct vt_record rec;
	struct vt_reader *r;
	int fd;

	(void)state;
	assert_int_equal(add_pairs(m, "zen2", 3, 20), 0);
	assert_int_equal(add_pairs(m, "zen2", 4, 10), 0);
	r = read_merged(m, &fd);
	rec = next_of_kind(r, VT_META);
	expect_text(&rec, VT_META_KEY, "replay.model");
	expect_text(&rec, VT_META_VALUE, "zen2");
	rec = next_of_kind(r, VT_META);
	expect_text(&rec, VT_META_KEY, "replay.distance");
	expect_text(&rec, VT_META_VALUE, "64");
	rec = next_of_kind(r, VT_CONFLICT);
	assert_int_equal(vt_record_u64(&rec, VT_CONFLICT_IMAGE), 0);
	assert_int_equal(vt_record_u64(&rec, VT_CONFLICT_EARLIER), 0x500);
	assert_int_equal(vt_record_u64(&rec, VT_CONFLICT_COUNT), 7);
	assert_int_equal(vt_record_u64(&rec, VT_CONFLICT_EXECUTIONS), 70);
	assert_int_equal(vt_record_u64(&rec, VT_CONFLICT_DISTANCE), 49);
	assert_int_equal(vt_record_u64(&rec, VT_CONFLICT_NEAREST), 10);
	/* Of the event to rank by alone. */
	assert_int_equal(vt_record_u64(&rec, VT_CONFLICT_SAMPLES), 7);
	rec = next_of_kind(r, VT_META);
	expect_text(&rec, VT_META_KEY, "replay.event");
	expect_text(&rec, VT_META_VALUE, "cycles");
	do
		rec = next_of_kind(r, VT_META);
	while (vt_record_bytes(&rec, VT_META_KEY).size != strlen("replay.insns") ||
	       memcmp(vt_record_bytes(&rec, VT_META_KEY).data, "replay.insns", 12) != 0);
	expect_text(&rec, VT_META_VALUE, "200");
	vt_reader_close(r);
	close(fd);
	vt_merge_free(m);
}

static void pairs_of_different_models_are_refused(void **state)
{
	struct vt_merge *m = vt_merge_new(1);

	(void)state;
	assert_int_equal(add_pairs(m, "zen2", 3, 20), 0);
	assert_int_equal(add_pairs(m, "skylake", 3, 20), -VT_E_MISMATCH);
	assert_non_null(strstr(err.text, "another model of a core"));
	vt_merge_free(m);
}

/* ---- models of processors ---- */

/* What a stream of one estimate says of its machine and its event. */
struct origin {
	const char *model;
	const char *cpuid;
	const char *arch;
	const char *check; /* META vevent.check */
	uint64_t config;
	bool sample; /* not an estimate, but a sample of a single instruction */
};

static int add_estimate(struct vt_merge *m, const struct origin *o)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint64_t *row;

	row = vt_writer_row(w, VT_EVENT);
	row[VT_EVENT_ID] = 1;
	row[VT_EVENT_CONFIG] = o->config;
	vt_writer_bytes(w, VT_EVENT_NAME, "ibs_op", 6);
	if (o->model)
		put_meta(w, "cpu.model", o->model);
	if (o->cpuid)
		put_meta(w, "cpuid", o->cpuid);
	if (o->arch)
		put_meta(w, "arch", o->arch);
	if (o->check)
		put_meta(w, VT_EV_META, o->check);
	if (o->sample) {
		row = vt_writer_row(w, VT_SAMPLE);
		row[VT_SAMPLE_EVENT] = 1;
		row[VT_SAMPLE_PM_HAS] = 1;
		return add_stream(m, w, fd);
	}
	row = vt_writer_row(w, VT_EVSTAT);
	row[VT_EVSTAT_IMAGE] = VT_UNMAPPED_IMAGE;
	row[VT_EVSTAT_EVENT] = 1;
	row[VT_EVSTAT_METHOD] = VT_METHOD_FOLLOWED;
	row[VT_EVSTAT_SAMPLES] = 1;
	vt_row_set_f64(&row[VT_EVSTAT_K], 10);
	return add_stream(m, w, fd);
}

/* Adds two streams: what the second one says; `text` is in the error, or NULL: there is none. */
static void check_two(struct origin first, struct origin second, const char *text)
{
	struct vt_merge *m = vt_merge_new(1);

	assert_int_equal(add_estimate(m, &first), 0);
	assert_int_equal(add_estimate(m, &second), text ? -VT_E_MISMATCH : 0);
	if (text && !strstr(err.text, text))
		fail_msg("'%s' is not in '%s'", text, err.text);
	vt_merge_free(m);
}

static void estimates_of_different_models_are_refused(void **state)
{
	struct vt_merge *m = vt_merge_new(1);

	(void)state;
	assert_int_equal(add_estimate(m, &(struct origin){.model = "skylake"}), 0);
	/* A stream that names none is of a real machine. */
	assert_int_equal(add_estimate(m, &(struct origin){.model = NULL}), -VT_E_MISMATCH);
	vt_merge_free(m);
	m = vt_merge_new(1);
	assert_int_equal(add_estimate(m, &(struct origin){.model = "skylake"}), 0);
	assert_int_equal(add_estimate(m, &(struct origin){.model = "skylake"}), 0);
	assert_int_equal(add_estimate(m, &(struct origin){.model = "zen2"}), -VT_E_MISMATCH);
	assert_non_null(strstr(err.text, "estimates are of another model of a processor"));
	vt_merge_free(m);
}

static void estimates_of_different_machines_are_refused(void **state)
{
	const char *zen2 = "AuthenticAMD,23,49,0";

	(void)state;
	check_two((struct origin){.cpuid = zen2}, (struct origin){.cpuid = "AuthenticAMD,25,1,1"},
		  "another processor");
	check_two((struct origin){.cpuid = zen2}, (struct origin){.cpuid = "AuthenticAMD,23,49,1"},
		  NULL);
	/* A model's are of the model, wherever its trace was recorded. */
	check_two((struct origin){.model = "zen2", .cpuid = zen2},
		  (struct origin){.model = "zen2", .cpuid = "GenuineIntel,6,158,9"}, NULL);
	check_two((struct origin){.cpuid = "0x00000000410fd0c0"},
		  (struct origin){.cpuid = "0x00000000413fd0c1"}, NULL);
	check_two((struct origin){.cpuid = "0x00000000410fd0c0"},
		  (struct origin){.cpuid = "0x00000000410fd0d0"}, "another processor");
	check_two((struct origin){.arch = "x86_64"}, (struct origin){.arch = "aarch64"},
		  "another architecture");
}

static void estimates_of_different_settings_are_refused(void **state)
{
	(void)state;
	check_two((struct origin){.config = 0x80000}, (struct origin){.config = 0x90000},
		  "config is 0x90000, not 0x80000");
	check_two((struct origin){.config = 0x80000}, (struct origin){.config = 0}, NULL);
	check_two((struct origin){.check = "1 2 1 3.5 4 0"},
		  (struct origin){.check = "1 4 0 0 0 0"}, "another kind of samples");
	check_two((struct origin){.check = "1 2 1 3.5 4 0"},
		  (struct origin){.check = "1 0 0 0 0 0"}, NULL);
}

static void estimates_and_samples_are_refused(void **state)
{
	const struct origin estimate = {.sample = false}, sample = {.sample = true};

	(void)state;
	check_two(estimate, sample,
		  "its samples of single instructions of 'ibs_op' do not add up with the estimates "
		  "of a stream: vevent takes both files");
	check_two(sample, estimate, "its estimates of 'ibs_op' do not add up with the samples");
	check_two(sample, sample, NULL);
}

/* ---- call trees ---- */

static void put_chain(struct vt_writer *w, uint64_t id, uint64_t parent, uint64_t event,
		      uint64_t image, uint64_t offset, uint64_t samples)
{
	uint64_t *row = vt_writer_row(w, VT_CHAIN);

	row[VT_CHAIN_ID] = id;
	row[VT_CHAIN_PARENT] = parent;
	row[VT_CHAIN_EVENT] = event;
	row[VT_CHAIN_IMAGE] = image;
	row[VT_CHAIN_OFFSET] = offset;
	row[VT_CHAIN_SAMPLES] = samples;
	row[VT_CHAIN_PERIOD] = 3 * samples;
	row[VT_CHAIN_CHAINS] = parent ? 0 : 10;
	row[VT_CHAIN_UNWOUND] = parent ? 0 : 1;
	row[VT_CHAIN_SHORTENED] = parent ? 0 : 1;
}

/* Calls of b from a, with ids of images and events of their own; b's leaf has `samples`. */
static int add_tree(struct vt_merge *m, uint64_t id, uint64_t leaf, uint64_t samples)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_images *images = vt_images_new(&(struct vt_images_options){0}, &err);
	int code;

	put_event(w, id, "cycles", "", VT_POLICY_INTERRUPT, 3);
	put_image(w, id, "/bin/a", "one");
	put_image(w, id + 1, "/bin/b", "");
	put_count(w, id + 1, leaf, id, samples, 3 * samples);
	put_chain(w, 1, 0, id, 0, 0, 0);
	put_chain(w, 2, 1, id, id, 0x10, 0);
	put_chain(w, 3, 2, id, id + 1, leaf, samples);
	assert_int_equal(vt_merge_start_chains(m, images, &err), 0);
	code = add_stream(m, w, fd);
	vt_images_free(images);
	return code;
}

static void expect_chain(struct vt_reader *r, uint64_t id, uint64_t parent, uint64_t image,
			 uint64_t offset, uint64_t samples)
{
	struct vt_record rec = next_of_kind(r, VT_CHAIN);

	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_ID), id);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_PARENT), parent);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_EVENT), 0);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_IMAGE), image);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_OFFSET), offset);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_SAMPLES), samples);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_PERIOD), 3 * samples);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_CHAINS), parent ? 0 : 30);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_UNWOUND), parent ? 0 : 3);
	assert_int_equal(vt_record_u64(&rec, VT_CHAIN_SHORTENED), parent ? 0 : 3);
}

static void call_trees_are_joined(void **state)
{
	struct vt_merge *m = vt_merge_new(1);
	struct vt_reader *r;
	int fd;

	(void)state;
	assert_int_equal(add_tree(m, 5, 0x30, 2), 0);
	assert_int_equal(add_tree(m, 70, 0x20, 4), 0);
	assert_int_equal(add_tree(m, 9, 0x30, 3), 0);
	assert_int_equal(vt_merge_chain_damage(m)->refused, 0);
	r = read_merged(m, &fd);
	expect_chain(r, 1, 0, 0, 0, 0);
	expect_chain(r, 2, 1, 0, 0x10, 0);
	expect_chain(r, 3, 2, 1, 0x30, 5);
	expect_chain(r, 4, 2, 1, 0x20, 4);
	vt_reader_close(r);
	close(fd);
	vt_merge_free(m);
}

static void samples_beyond_counting_are_refused(void **state)
{
	struct vt_merge *m = vt_merge_new(1);

	(void)state;
	assert_int_equal(add_tree(m, 5, 0x30, UINT64_MAX / 3), 0);
	assert_int_equal(add_tree(m, 5, 0x30, UINT64_MAX / 3), 0);
	assert_int_equal(add_tree(m, 5, 0x30, UINT64_MAX / 3), 0);
	assert_int_equal(add_tree(m, 5, 0x30, 1), -VT_E_LIMIT);
	vt_merge_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tally_keeps_the_ids_of_its_stream),
		cmocka_unit_test(counts_add_up_in_any_order),
		cmocka_unit_test(gaps_add_up_by_reason_and_input),
		cmocka_unit_test(hot_lists_of_one_place_are_joined),
		cmocka_unit_test(pairs_of_accesses_add_up),
		cmocka_unit_test(pairs_of_different_models_are_refused),
		cmocka_unit_test(estimates_of_different_models_are_refused),
		cmocka_unit_test(estimates_of_different_machines_are_refused),
		cmocka_unit_test(estimates_of_different_settings_are_refused),
		cmocka_unit_test(estimates_and_samples_are_refused),
		cmocka_unit_test(call_trees_are_joined),
		cmocka_unit_test(samples_beyond_counting_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
