/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory profiles as records: what is read, refused, added up and written. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "memory/memory.h"
#include "memory/records.h"
#include "tests/unit/common/streams.h"
#include "value/hot_list.h"

static struct vt_error err;

/* ---- records, and how a test changes them ---- */

/* A field of a record gets another value: a number, or for arrays the first words. */
struct change {
	uint32_t kind;
	unsigned field;
	uint64_t value;
};

static const struct change none = {UINT32_MAX, 0, 0};

static void set(uint64_t *row, uint32_t kind, const struct change *c)
{
	if (c->kind == kind)
		row[c->field] = c->value;
}

static void put_accesses(struct vt_writer *w, const struct change *c)
{
	uint64_t *row = vt_writer_row(w, VT_ACCESSES);

	row[VT_ACCESSES_GRAIN] = 8;
	row[VT_ACCESSES_DEPTH] = 3;
	row[VT_ACCESSES_INSNS] = 100;
	row[VT_ACCESSES_LOADS] = 100;
	row[VT_ACCESSES_STORES] = 50;
	row[VT_ACCESSES_LOADED] = 800;
	row[VT_ACCESSES_STORED] = 400;
	row[VT_ACCESSES_ZERO] = 2;
	row[VT_ACCESSES_DEAD] = 16;
	row[VT_ACCESSES_HEAP_EVENTS] = 4;
	set(row, VT_ACCESSES, c);
}

struct object {
	uint64_t id;
	uint64_t type;
	uint64_t image;
	uint64_t offset;
	const char *name;
	uint64_t loads;
	uint64_t size;
};

static void put_object(struct vt_writer *w, const struct object *o, const struct change *c)
{
	static const uint64_t sources[2] = {1, 0};
	uint64_t images[20] = {o->image}, offsets[20] = {o->offset};
	uint64_t nimages = 1, noffsets = 1;
	uint64_t *row = vt_writer_row(w, VT_OBJECT);

	row[VT_OBJECT_ID] = o->id;
	row[VT_OBJECT_TYPE] = o->type;
	row[VT_OBJECT_LOADS] = o->loads;
	row[VT_OBJECT_LOADED] = 8 * o->loads;
	row[VT_OBJECT_STORES] = 4;
	row[VT_OBJECT_STORED] = 32;
	row[VT_OBJECT_DEAD] = 8;
	row[VT_OBJECT_SIZE] = o->size;
	row[VT_OBJECT_INSTANCES] = 3;
	row[VT_OBJECT_FREED] = 2;
	row[VT_OBJECT_LIFETIME] = 60;
	row[VT_OBJECT_PEAK] = 2 * o->size;
	row[VT_OBJECT_SAMPLED] = 1;
	if (c->kind == VT_OBJECT && c->field == VT_OBJECT_IMAGES)
		nimages = c->value;
	else if (c->kind == VT_OBJECT && c->field == VT_OBJECT_OFFSETS)
		nimages = noffsets = c->value;
	else
		set(row, VT_OBJECT, c);
	vt_writer_words(w, VT_OBJECT_IMAGES, images, nimages);
	vt_writer_words(w, VT_OBJECT_OFFSETS, offsets, noffsets);
	vt_writer_text(w, VT_OBJECT_NAME, o->name);
	vt_writer_words(w, VT_OBJECT_SOURCES, sources, 2);
}

struct values {
	uint64_t n;
	uint64_t values[4];
	uint64_t counts[4];
	uint64_t errors[4];
};

static void put_location(struct vt_writer *w, uint64_t object, int64_t offset,
			 const struct values *v, const struct change *c)
{
	struct values changed = *v;
	uint64_t nerrors = v->n;
	uint64_t *row = vt_writer_row(w, VT_LOCATION);

	row[VT_LOCATION_OBJECT] = object;
	row[VT_LOCATION_OFFSET] = (uint64_t)offset;
	row[VT_LOCATION_SIZE] = 4;
	row[VT_LOCATION_READ] = 0x0f;
	row[VT_LOCATION_WRITTEN] = 0xf0;
	row[VT_LOCATION_LOADS] = 10;
	row[VT_LOCATION_ZERO] = 1;
	row[VT_LOCATION_PROFILED] = 9;
	row[VT_LOCATION_CAPACITY] = 4;
	if (c->kind == VT_LOCATION && c->field == VT_LOCATION_VALUES)
		changed.values[1] = c->value;
	else if (c->kind == VT_LOCATION && c->field == VT_LOCATION_COUNTS)
		changed.counts[0] = c->value;
	else if (c->kind == VT_LOCATION && c->field == VT_LOCATION_ERRORS)
		nerrors = c->value;
	else
		set(row, VT_LOCATION, c);
	vt_writer_words(w, VT_LOCATION_VALUES, changed.values, v->n);
	vt_writer_words(w, VT_LOCATION_COUNTS, changed.counts, v->n);
	vt_writer_words(w, VT_LOCATION_ERRORS, changed.errors, nerrors);
}

static const struct object counter = {7, VT_OBJECT_GLOBAL, 2, 0x4010, "counter", 10, 8};
static const struct values few = {2, {5, 7}, {6, 3}, {2, 0}};

/* ---- reading ---- */

/* Feeds a stream's records; returns how many were refused, with the message of the last in err. */
static unsigned feed_all(struct vt_memrecords *r, int fd, struct vt_writer *w)
{
	struct vt_reader *reader = reread_stream(fd, w);
	struct vt_record rec;
	unsigned refused = 0;
	int got;

	while ((got = vt_reader_next(reader, &rec, &err)) > 0) {
		int code = vt_memrecords_feed(r, &rec, &err);

		assert_true(code == 0 || code == -VT_E_FORMAT);
		refused += code != 0;
	}
	assert_int_equal(got, 0);
	vt_reader_close(reader);
	return refused;
}

static struct vt_memrecords *read_changed(const struct change *c, unsigned *refused)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_memrecords *r = vt_memrecords_new(&err);

	assert_non_null(r);
	put_accesses(w, c);
	put_object(w, &counter, c);
	put_location(w, 7, 16, &few, c);
	*refused = feed_all(r, fd, w);
	close(fd);
	return r;
}

static void check_refused(uint32_t kind, unsigned field, uint64_t value, unsigned want,
			  const char *message)
{
	const struct change c = {kind, field, value};
	unsigned refused;
	struct vt_memrecords *r;

	err = (struct vt_error)VT_ERROR_INIT;
	r = read_changed(&c, &refused);
	assert_int_equal(refused, want);
	if (want)
		assert_non_null(strstr(err.text, message));
	vt_memrecords_free(r);
}

static void test_refused(void **state)
{
	const char *numbers = "its numbers contradict each other";
	const char *values = "its values contradict its counts";
	const uint64_t high = VT_MEMRECORDS_MAX + 1;

	(void)state;
	check_refused(none.kind, 0, 0, 0, NULL);
	/* Without totals, locations have no size: both refuse. */
	check_refused(VT_ACCESSES, VT_ACCESSES_GRAIN, 0, 2, "no totals (ACCESSES) before it");
	check_refused(VT_ACCESSES, VT_ACCESSES_GRAIN, 16, 2, "no totals (ACCESSES) before it");
	check_refused(VT_ACCESSES, VT_ACCESSES_GRAIN, 6, 2, "no totals (ACCESSES) before it");
	check_refused(VT_ACCESSES, VT_ACCESSES_GRAIN, 4, 0, NULL);
	check_refused(VT_ACCESSES, VT_ACCESSES_ZERO, 101, 2, "no totals (ACCESSES) before it");
	check_refused(VT_ACCESSES, VT_ACCESSES_ZERO, 100, 0, NULL);
	check_refused(VT_ACCESSES, VT_ACCESSES_INSNS, high, 2, "no totals (ACCESSES) before it");
	check_refused(VT_ACCESSES, VT_ACCESSES_INSNS, high - 1, 0, NULL);
	check_refused(VT_ACCESSES, VT_ACCESSES_LATENCIES, 1, 2, "no totals (ACCESSES) before it");

	check_refused(VT_OBJECT, VT_OBJECT_TYPE, VT_NOBJECTTYPES, 2, "no record before it");
	check_refused(VT_OBJECT, VT_OBJECT_TYPE, VT_OBJECT_OTHER, 0, NULL);
	check_refused(VT_OBJECT, VT_OBJECT_IMAGES, 2, 2, "no record before it");
	check_refused(VT_OBJECT, VT_OBJECT_OFFSETS, 0, 2, "no record before it");
	check_refused(VT_OBJECT, VT_OBJECT_OFFSETS, VT_MEMORY_DEPTH, 0, NULL);
	check_refused(VT_OBJECT, VT_OBJECT_OFFSETS, VT_MEMORY_DEPTH + 1, 2, "no record before it");
	check_refused(VT_OBJECT, VT_OBJECT_REDUNDANT, 11, 2, "no record before it");
	check_refused(VT_OBJECT, VT_OBJECT_SILENT, 5, 2, "no record before it");
	check_refused(VT_OBJECT, VT_OBJECT_SILENT, 4, 0, NULL);
	check_refused(VT_OBJECT, VT_OBJECT_DEAD, 33, 2, "no record before it");
	check_refused(VT_OBJECT, VT_OBJECT_DEAD, 32, 0, NULL);
	check_refused(VT_OBJECT, VT_OBJECT_FREED, 4, 2, "no record before it");
	check_refused(VT_OBJECT, VT_OBJECT_FREED, 3, 0, NULL);
	check_refused(VT_OBJECT, VT_OBJECT_PEAK, high, 2, "no record before it");
	check_refused(VT_OBJECT, VT_OBJECT_SAMPLED, 0, 2, "no record before it");
	check_refused(VT_OBJECT, VT_OBJECT_TLB_KNOWN, 2, 2, "no record before it");
	check_refused(VT_OBJECT, VT_OBJECT_TLB_MISSED, 1, 2, "no record before it");

	check_refused(VT_LOCATION, VT_LOCATION_OBJECT, 8, 1, "no record before it");
	check_refused(VT_LOCATION, VT_LOCATION_OFFSET, 12, 1, numbers);
	check_refused(VT_LOCATION, VT_LOCATION_OFFSET, (uint64_t)-8, 1, numbers);
	check_refused(VT_LOCATION, VT_LOCATION_SIZE, 256, 1, numbers);
	check_refused(VT_LOCATION, VT_LOCATION_READ, 256, 1, numbers);
	check_refused(VT_LOCATION, VT_LOCATION_WRITTEN, 256, 1, numbers);
	check_refused(VT_LOCATION, VT_LOCATION_ZERO, 11, 1, numbers);
	check_refused(VT_LOCATION, VT_LOCATION_LOADS, 101, 1, "more accesses than there are");
	check_refused(VT_LOCATION, VT_LOCATION_LOADS, 100, 0, NULL);
	check_refused(VT_LOCATION, VT_LOCATION_STORES, 51, 1, "more accesses than there are");
	check_refused(VT_LOCATION, VT_LOCATION_PROFILED, 11, 1, values);
	check_refused(VT_LOCATION, VT_LOCATION_PROFILED, 7, 0, NULL); /* 6 - 2 and 3 */
	check_refused(VT_LOCATION, VT_LOCATION_PROFILED, 6, 1, values);
	check_refused(VT_LOCATION, VT_LOCATION_CAPACITY, 1, 1, values);
	check_refused(VT_LOCATION, VT_LOCATION_CAPACITY, VT_HOTLIST_MAX_ENTRIES + 1, 1, values);
	check_refused(VT_LOCATION, VT_LOCATION_COUNTS, 1, 1, values); /* less than its error */
	check_refused(VT_LOCATION, VT_LOCATION_ERRORS, 1, 1, values);
	check_refused(VT_LOCATION, VT_LOCATION_VALUES, 5, 1, "a value occurs twice");
}

/* Of one profile there is one total, and one object of each id. */
static void test_twice(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_memrecords *r = vt_memrecords_new(&err);

	(void)state;
	put_accesses(w, &none);
	put_accesses(w, &none);
	put_object(w, &counter, &none);
	put_object(w, &counter, &none);
	assert_false(vt_memrecords_given(r));
	assert_int_equal(feed_all(r, fd, w), 2);
	assert_string_equal(err.text, "OBJECT record: there was one of this id before");
	assert_true(vt_memrecords_given(r));
	vt_memrecords_free(r);
	close(fd);
}

/* ---- adding and writing ---- */

/* Image numbers of the second stream are others. */
static bool add_ten(void *arg, uint32_t image, uint32_t *number)
{
	(void)arg;
	*number = image + 10;
	return true;
}

static bool as_it_is(void *arg, uint32_t image, uint32_t *number)
{
	(void)arg;
	*number = image;
	return true;
}

static struct vt_memrecords *read_objects(const struct object *list, unsigned n,
					  const struct values *v, const struct change *c)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_memrecords *r = vt_memrecords_new(&err);
	unsigned i;

	put_accesses(w, c);
	for (i = 0; i < n; i++) {
		put_object(w, &list[i], &none);
		put_location(w, list[i].id, list[i].type == VT_OBJECT_STACK ? -8 : 8, v, &none);
	}
	assert_int_equal(feed_all(r, fd, w), 0);
	close(fd);
	return r;
}

static void put_object_text(struct vt_buf *b, const struct vt_record *rec)
{
	struct vt_bytes name = vt_record_bytes(rec, VT_OBJECT_NAME);

	vt_buf_printf(b, "%" PRIu64 " %s image %" PRIu64 " l%" PRIu64 " size %" PRIu64,
		      vt_record_u64(rec, VT_OBJECT_ID),
		      vt_object_type_name(vt_record_u64(rec, VT_OBJECT_TYPE)),
		      vt_record_words(rec, VT_OBJECT_IMAGES).data[0],
		      vt_record_u64(rec, VT_OBJECT_LOADS), vt_record_u64(rec, VT_OBJECT_SIZE));
	vt_buf_printf(
		b, " peak %" PRIu64 " n%" PRIu64 " life %" PRIu64 " left %" PRIu64 ":%" PRIu64,
		vt_record_u64(rec, VT_OBJECT_PEAK), vt_record_u64(rec, VT_OBJECT_INSTANCES),
		vt_record_u64(rec, VT_OBJECT_LIFETIME), vt_record_u64(rec, VT_OBJECT_LEFT_OUT),
		vt_record_u64(rec, VT_OBJECT_LEFT_OUT_ACCESSES));
	vt_buf_printf(b, " source %" PRIu64 " %.*s\n",
		      vt_record_words(rec, VT_OBJECT_SOURCES).data[0], (int)name.size,
		      (const char *)name.data);
}

static void put_location_text(struct vt_buf *b, const struct vt_record *rec)
{
	struct vt_words values = vt_record_words(rec, VT_LOCATION_VALUES);
	size_t i;

	vt_buf_printf(b, " %" PRIu64 "%+" PRId64 " w%" PRIu64 " r%" PRIx64 " l%" PRIu64,
		      vt_record_u64(rec, VT_LOCATION_OBJECT),
		      vt_record_i64(rec, VT_LOCATION_OFFSET), vt_record_u64(rec, VT_LOCATION_SIZE),
		      vt_record_u64(rec, VT_LOCATION_READ), vt_record_u64(rec, VT_LOCATION_LOADS));
	vt_buf_printf(b, " of %" PRIu64 ":", vt_record_u64(rec, VT_LOCATION_PROFILED));
	for (i = 0; i < values.count; i++)
		vt_buf_printf(b, " %" PRIu64 "*%" PRIu64 "-%" PRIu64, values.data[i],
			      vt_record_words(rec, VT_LOCATION_COUNTS).data[i],
			      vt_record_words(rec, VT_LOCATION_ERRORS).data[i]);
	vt_buf_printf(b, "\n");
}

static void put_record_text(struct vt_buf *b, const struct vt_record *rec)
{
	if (rec->kind == VT_ACCESSES)
		vt_buf_printf(b, "grain %" PRIu64 " depth %" PRIu64 " insns %" PRIu64 "\n",
			      vt_record_u64(rec, VT_ACCESSES_GRAIN),
			      vt_record_u64(rec, VT_ACCESSES_DEPTH),
			      vt_record_u64(rec, VT_ACCESSES_INSNS));
	else if (rec->kind == VT_OBJECT)
		put_object_text(b, rec);
	else if (rec->kind == VT_LOCATION)
		put_location_text(b, rec);
}

/* Compares what was written with text, and ends the stream. */
static void check_records(int fd, struct vt_writer *w, const char *want)
{
	struct vt_reader *reader = reread_stream(fd, w);
	struct vt_buf text = VT_BUF_INIT;
	struct vt_record rec;

	while (vt_reader_next(reader, &rec, &err) > 0)
		put_record_text(&text, &rec);
	assert_string_equal(vt_buf_str(&text), want);
	vt_reader_close(reader);
	vt_buf_free(&text);
	close(fd);
}

static void check_written(struct vt_memrecords *r, const char *want)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	assert_int_equal(vt_memrecords_write(r, as_it_is, NULL, w, &err), 0);
	check_records(fd, w, want);
}

static void test_join(void **state)
{
	const struct object one[] = {{7, VT_OBJECT_GLOBAL, 12, 0x4010, "counter", 10, 8},
				     {9, VT_OBJECT_STACK, 13, 0x100, "", 20, 0}};
	const struct object two[] = {{0, VT_OBJECT_HEAP, 3, 0x200, "", 50, 48},
				     {1, VT_OBJECT_GLOBAL, 2, 0x4010, "counter", 5, 16},
				     /* Another build of the image: no build-id tells. */
				     {2, VT_OBJECT_GLOBAL, 2, 0x4010, "another", 3, 4}};
	const struct values other = {2, {7, 9}, {5, 1}, {0, 0}};
	struct vt_memrecords *sum = vt_memrecords_new(&err);
	struct vt_memrecords *a = read_objects(one, 2, &few, &none);
	struct vt_memrecords *b = read_objects(two, 3, &other, &none);
	struct vt_memrecords *empty = vt_memrecords_new(&err);

	(void)state;
	assert_int_equal(vt_memrecords_join(sum, empty, as_it_is, NULL, &err), 0);
	assert_false(vt_memrecords_given(sum));
	check_written(sum, "");
	assert_int_equal(vt_memrecords_join(sum, a, as_it_is, NULL, &err), 0);
	assert_int_equal(vt_memrecords_join(sum, b, add_ten, NULL, &err), 0);
	assert_int_equal(vt_memrecords_join(sum, empty, as_it_is, NULL, &err), 0);
	/*
	 * 4 stores each: 54, 24 and 23 accesses.  Value 9 may have occurred in the first list as
	 * often as that list's greatest error, 2, and so may 7 not: the list has it.
	 */
	check_written(
		sum, "grain 8 depth 3 insns 200\n"
		     "0 heap image 13 l50 size 48 peak 96 n3 life 60 left 0:0 source 1 \n"
		     " 0+8 w4 rf l10 of 9: 7*5-0 9*1-0\n"
		     "1 stack image 13 l20 size 0 peak 0 n3 life 60 left 0:0 source 1 \n"
		     " 1-8 w4 rf l10 of 9: 5*6-2 7*3-0\n"
		     "2 global image 12 l15 size 16 peak 32 n6 life 120 left 0:0 source 2 counter\n"
		     " 2+8 w4 rf l20 of 18: 7*8-0 5*6-2 9*3-2\n"
		     "3 global image 12 l3 size 4 peak 8 n3 life 60 left 0:0 source 1 another\n"
		     " 3+8 w4 rf l10 of 9: 7*5-0 9*1-0\n");
	vt_memrecords_free(sum);
	vt_memrecords_free(a);
	vt_memrecords_free(b);
	vt_memrecords_free(empty);
}

/* Totals are at least the sum of what there is, and what depends on the processor is known. */
static void test_mended(void **state)
{
	const struct object much = {7, VT_OBJECT_GLOBAL, 2, 0x4010, "counter", 101, 8};
	struct vt_memrecords *r = read_objects(&much, 1, &few, &none);
	const struct change samples = {VT_ACCESSES, VT_ACCESSES_INSNS, 0};
	const struct change misses = {VT_ACCESSES, VT_ACCESSES_MISSES_TOLD, 1};

	(void)state;
	assert_int_equal(vt_memrecords_mend(r), 1);
	assert_int_equal(vt_memrecords_mend(r), 0);
	assert_false(vt_memrecords_depend_on_model(r));
	vt_memrecords_free(r);
	r = read_objects(&counter, 1, &few, &samples);
	assert_int_equal(vt_memrecords_mend(r), 0);
	assert_true(vt_memrecords_depend_on_model(r));
	vt_memrecords_free(r);
	r = read_objects(&counter, 1, &few, &misses);
	assert_true(vt_memrecords_depend_on_model(r));
	vt_memrecords_free(r);
}

/* Sums that no reader would take. */
static void check_too_high(uint32_t kind, unsigned field)
{
	const struct change c = {kind, field, VT_MEMRECORDS_MAX};
	struct vt_memrecords *sum = vt_memrecords_new(&err);
	unsigned refused;
	struct vt_memrecords *a = read_changed(&c, &refused);

	assert_int_equal(refused, 0);
	assert_int_equal(vt_memrecords_join(sum, a, as_it_is, NULL, &err), 0);
	assert_int_equal(vt_memrecords_join(sum, a, as_it_is, NULL, &err), -VT_E_LIMIT);
	assert_string_equal(err.text, "a sum of memory profiles is impossibly high");
	vt_memrecords_free(sum);
	vt_memrecords_free(a);
}

static void test_too_high(void **state)
{
	(void)state;
	check_too_high(VT_ACCESSES, VT_ACCESSES_HEAP_EVENTS);
	check_too_high(VT_OBJECT, VT_OBJECT_BYTES);
	check_too_high(VT_LOCATION, VT_LOCATION_LOADED);
}

/* ---- a part of it ---- */

static bool is_no_stack(void *arg, const struct vt_memory_object *o)
{
	(void)arg;
	return o->type != VT_OBJECT_STACK;
}

static void check_part(const struct vt_memory_written *part, const char *want)
{
	const struct object list[] = {{3, VT_OBJECT_STACK, 1, 0x100, "main", 40, 0},
				      {4, VT_OBJECT_GLOBAL, 1, 0x200, "two", 30, 16},
				      {5, VT_OBJECT_IMAGE, 1, 0x300, ".data", 20, 64}};
	const struct vt_memory_options o = {.recorded = true};
	struct vt_context *context = vt_context_new(NULL);
	struct vt_memory *m = vt_memory_new(&o, context, &err);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_reader *r;
	struct vt_record rec;
	size_t i;

	put_accesses(w, &none);
	for (i = 0; i < 3; i++) {
		put_object(w, &list[i], &none);
		put_location(w, list[i].id, i ? 8 : -8, &few, &none);
	}
	put_location(w, 4, 0, &few, &(struct change){VT_LOCATION, VT_LOCATION_LOADS, 12});
	r = reread_stream(fd, w);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_context_feed(context, rec.block, rec.row, 1, &err), 0);
	assert_int_equal(vt_memory_finish(m, &err), 0);
	assert_int_equal(vt_memory_grain(m), 8);
	vt_reader_close(r);
	close(fd);
	fd = scratch_file();
	w = start_stream(fd);
	assert_int_equal(vt_memory_write(m, part, w, &err), 0);
	check_records(fd, w, want);
	vt_memory_free(m);
	vt_context_free(context);
}

#define TOTALS "grain 8 depth 3 insns 100\n"
#define MAIN   " stack image 1 l40 size 0 peak 0 n3 life 60 left 0:0 source 1 main\n"
#define DATA   " image image 1 l20 size 64 peak 128 n3 life 60 left 0:0 source 1 .data\n"
#define VALUES " of 9: 5*6-2 7*3-0\n"

static void test_parts(void **state)
{
	const char *two = " global image 1 l30 size 16 peak 32 n3 life 60 left 0:0 source 1 two\n";
	char want[900];

	(void)state;
	snprintf(want, sizeof(want),
		 TOTALS "0" MAIN " 0-8 w4 rf l10" VALUES "1%s 1+0 w4 rf l12" VALUES
			" 1+8 w4 rf l10" VALUES "2" DATA " 2+8 w4 rf l10" VALUES,
		 two);
	check_part(&(struct vt_memory_written){.top = 0}, want);
	check_part(&(struct vt_memory_written){.top = 3}, want);
	check_part(&(struct vt_memory_written){.top = 1}, TOTALS "0" MAIN " 0-8 w4 rf l10" VALUES);
	snprintf(want, sizeof(want), TOTALS "1%s 1+0 w4 rf l12" VALUES " 1+8 w4 rf l10" VALUES,
		 two);
	check_part(&(struct vt_memory_written){.top = 1, .wanted = is_no_stack}, want);
	/* The most accessed location, and then the first of those with as many. */
	check_part(&(struct vt_memory_written){.top = 1, .locations = true},
		   TOTALS "1 global image 1 l30 size 16 peak 32 n3 life 60 left 1:10 source 1 two\n"
			  " 1+0 w4 rf l12" VALUES);
	check_part(&(struct vt_memory_written){.top = 2, .locations = true},
		   TOTALS "0" MAIN " 0-8 w4 rf l10" VALUES
			  "1 global image 1 l30 size 16 peak 32 n3 life 60 left 1:10 source 1 two\n"
			  " 1+0 w4 rf l12" VALUES);
	check_part(&(struct vt_memory_written){.top = 3, .locations = true, .wanted = is_no_stack},
		   TOTALS "1 global image 1 l30 size 16 peak 32 n3 life 60 left 0:0 source 1 two\n"
			  " 1+0 w4 rf l12" VALUES " 1+8 w4 rf l10" VALUES "2" DATA
			  " 2+8 w4 rf l10" VALUES);
}

static void check_mismatch(unsigned field, uint64_t value, const char *message)
{
	const struct change c = {VT_ACCESSES, field, value};
	struct vt_memrecords *sum = vt_memrecords_new(&err);
	struct vt_memrecords *a = read_objects(&counter, 1, &few, &none);
	struct vt_memrecords *b = read_objects(&counter, 1, &few, &c);

	assert_int_equal(vt_memrecords_join(sum, a, as_it_is, NULL, &err), 0);
	assert_int_equal(vt_memrecords_join(sum, b, as_it_is, NULL, &err), -VT_E_MISMATCH);
	assert_non_null(strstr(err.text, message));
	vt_memrecords_free(sum);
	vt_memrecords_free(a);
	vt_memrecords_free(b);
}

static void test_mismatch(void **state)
{
	(void)state;
	check_mismatch(VT_ACCESSES_GRAIN, 4, "locations of 4 bytes, those before of 8");
	check_mismatch(VT_ACCESSES_DEPTH, 2, "by 2 callers, those before by 3");
	check_mismatch(VT_ACCESSES_MISSES_TOLD, 1, "one has cache misses and one has not");
	check_mismatch(VT_ACCESSES_INSNS, 0, "one is of samples and one is not");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused), cmocka_unit_test(test_twice),
		cmocka_unit_test(test_join),	cmocka_unit_test(test_mismatch),
		cmocka_unit_test(test_mended),	cmocka_unit_test(test_too_high),
		cmocka_unit_test(test_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
