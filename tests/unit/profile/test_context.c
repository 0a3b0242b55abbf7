/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a reading context knows at each record, and what its consumers get when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/context.h"
#include "tests/unit/common/profiles.h"
#include "tests/unit/common/streams.h"

#define USER 2

static struct vt_error err;

static void put_image(struct vt_writer *w, uint64_t id, unsigned type, const char *path)
{
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	row[VT_IMAGE_ID] = id;
	row[VT_IMAGE_TYPE] = type;
	vt_writer_text(w, VT_IMAGE_PATH, path);
}

static void put_map(struct vt_writer *w, uint64_t start, uint64_t length, uint64_t offset,
		    uint64_t image, uint64_t prot)
{
	uint64_t *row = vt_writer_row(w, VT_MAP);

	row[VT_MAP_PID] = row[VT_MAP_TID] = 10;
	row[VT_MAP_START] = start;
	row[VT_MAP_LENGTH] = length;
	row[VT_MAP_OFFSET] = offset;
	row[VT_MAP_IMAGE] = image;
	row[VT_MAP_PROT] = prot;
	row[VT_MAP_MISC] = USER;
}

static void put_samples(struct vt_writer *w, unsigned n)
{
	for (; n; n--)
		vt_writer_row(w, VT_SAMPLE)[VT_SAMPLE_IP] = 0x1010;
}

static void put_block(struct vt_writer *w, uint64_t id)
{
	uint64_t *row = vt_writer_row(w, VT_BLOCK);

	row[VT_BLOCK_ID] = id;
	row[VT_BLOCK_ADDR] = 0x1000 + 16 * id;
	row[VT_BLOCK_MODE] = 64;
	row[VT_BLOCK_INSNS] = 2;
	row[VT_BLOCK_SIZE] = 5;
	vt_writer_bytes(w, VT_BLOCK_LENGTHS, "\3\2", 2);
}

static void put_event(struct vt_writer *w, uint64_t id, const char *name, uint64_t period)
{
	uint64_t *row = vt_writer_row(w, VT_EVENT);

	row[VT_EVENT_ID] = id;
	row[VT_EVENT_PERIOD] = period;
	vt_writer_text(w, VT_EVENT_NAME, name);
	vt_writer_text(w, VT_EVENT_UNIT, "cycles");
}

/* What a consumer was called with: "M1" a run of one MAP, "m1" the same before it was taken. */
struct seen {
	struct vt_context *context;
	char calls[256];
	uint64_t images[16]; /* mapped at 0x1010 at each of the calls */
	size_t count;
	int stop; /* returned by the call of this number */
	int code;
};

static int see(struct seen *s, char kind, uint32_t count)
{
	const struct vt_map *m = vt_addrspace_find(vt_context_space(s->context), 10, 0x1010, USER);

	assert_true(s->count < 16);
	s->images[s->count++] = m ? m->image : 0;
	s->calls[strlen(s->calls)] = kind;
	s->calls[strlen(s->calls)] = (char)('0' + count);
	return (int)s->count == s->stop ? s->code : 0;
}

static char letter_of(uint32_t kind)
{
	return kind == VT_MAP ? 'M' : kind == VT_SAMPLE ? 'S' : kind == VT_IMAGE ? 'I' : '?';
}

static int see_record(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
		      struct vt_error *e)
{
	(void)first;
	(void)e;
	return see(arg, letter_of(block->kind), count);
}

static int see_before(void *arg, const struct vt_record *rec, struct vt_error *e)
{
	(void)e;
	return see(arg, (char)(letter_of(rec->kind) + 'a' - 'A'), 1);
}

/*
 * Two mappings in one block of records: consumers see each when it is the last that was taken.
 * Samples come in one run.
 */
static void hands_on_in_order(void **state)
{
	struct vt_context *c = vt_context_new(NULL);
	struct seen all = {.context = c}, maps = {.context = c};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	(void)state;
	assert_non_null(c);
	vt_context_add(c, &(struct vt_consumer){.take = see_record, .arg = &all});
	vt_context_add(c, &(struct vt_consumer){.take = see_record,
						.before = see_before,
						.arg = &maps,
						.kinds = VT_KIND(VT_MAP)});
	put_image(w, 1, VT_IMAGE_FILE, "/bin/a");
	put_map(w, 0x1000, 0x1000, 0, 1, 5);
	put_map(w, 0x1000, 0x1000, 0, 2, 5);
	put_samples(w, 7);
	read_context(c, fd, w);
	assert_string_equal(all.calls, "I1M1M1S7");
	assert_int_equal(all.images[0], 0);
	assert_int_equal(all.images[1], 1);
	assert_int_equal(all.images[2], 2);
	assert_int_equal(all.images[3], 2);
	assert_string_equal(maps.calls, "m1M1m1M1");
	assert_int_equal(maps.images[0], 0);
	assert_int_equal(maps.images[1], 1);
	assert_int_equal(maps.images[2], 1);
	assert_int_equal(maps.images[3], 2);
	vt_context_free(c);
}

/* Consumers behind the one that ends the reading do not get the record, and nobody the next. */
static void ends_when_told(void **state)
{
	struct vt_context *c = vt_context_new(NULL);
	struct seen one = {.context = c, .stop = 2, .code = 1}, two = {.context = c};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	const struct vt_block *block;
	struct vt_reader *r;
	uint32_t first, count;

	(void)state;
	assert_non_null(c);
	vt_context_add(c, &(struct vt_consumer){.take = see_record, .arg = &one});
	vt_context_add(c, &(struct vt_consumer){.take = see_record, .arg = &two});
	put_map(w, 0x1000, 0x1000, 0, 1, 5);
	put_map(w, 0x1000, 0x1000, 0, 2, 5);
	put_map(w, 0x1000, 0x1000, 0, 3, 5);
	r = reread_stream(fd, w);
	assert_int_equal(vt_reader_next_run(r, &block, &first, &count, &err), 1);
	assert_int_equal(vt_context_feed(c, block, first, count, &err), 1);
	assert_string_equal(one.calls, "M1M1");
	assert_string_equal(two.calls, "M1");
	vt_reader_close(r);
	vt_context_free(c);
}

/* Which blocks the context refused. */
static int note_refused(void *arg, const struct vt_record *rec, struct vt_error *e)
{
	struct seen *s = arg;
	int code = vt_context_refused(s->context, e);

	(void)rec;
	if (code < 0)
		assert_true(*e->text != 0);
	return see(s, code == 0 ? '+' : code == -VT_E_FORMAT ? '-' : '!', 1);
}

static void knows_blocks(void **state)
{
	struct vt_context *c = vt_context_new(NULL);
	struct seen s = {.context = c};
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);

	(void)state;
	assert_non_null(c);
	vt_context_add(c, &(struct vt_consumer){
				  .record = note_refused, .arg = &s, .kinds = VT_KIND(VT_BLOCK)});
	put_block(w, 0);
	put_block(w, 0);
	put_block(w, 1);
	read_context(c, fd, w);
	assert_string_equal(s.calls, "+1-1+1");
	assert_int_equal(vt_bblocks_end(vt_context_blocks(c)), 2);
	assert_int_equal(vt_bblocks_get(vt_context_blocks(c), 1)->addr, 0x1010);
	vt_context_free(c);
}

static void knows_events_and_losses(void **state)
{
	struct vt_context *c = vt_context_new(NULL);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	const struct vt_event *e;
	uint64_t *row;

	(void)state;
	assert_non_null(c);
	put_event(w, 3, "cycles", 100);
	put_event(w, 4, "misses", 0);
	put_event(w, 3, "cycles:u", 200);
	vt_writer_row(w, VT_META);
	vt_writer_text(w, VT_META_KEY, "samplinx");
	vt_writer_row(w, VT_LOST)[VT_LOST_COUNT] = 12;
	vt_writer_row(w, VT_LOST)[VT_LOST_COUNT] = 30;
	row = vt_writer_row(w, VT_GAP);
	row[VT_GAP_BYTES] = 100;
	row[VT_GAP_RECORDS] = 2;
	read_context(c, fd, w);
	e = vt_context_event(c, 3, &err);
	assert_string_equal(e->name, "cycles:u");
	assert_string_equal(e->unit, "cycles");
	assert_int_equal(e->period, 200);
	assert_int_equal(e->policy, VT_POLICY_UNKNOWN);
	assert_string_equal(vt_context_event(c, 4, &err)->name, "misses");
	assert_string_equal(vt_context_event(c, 9, &err)->name, "event 9");
	assert_string_equal(vt_context_event(c, 9, &err)->unit, "");
	assert_int_equal(vt_context_losses(c)->lost_places, 2);
	assert_int_equal(vt_context_losses(c)->lost, 42);
	assert_int_equal(vt_context_losses(c)->gaps, 1);
	assert_int_equal(vt_context_losses(c)->gap_bytes, 100);
	assert_int_equal(vt_context_losses(c)->gap_records, 2);
	assert_false(vt_context_is_sampled(c));
	fd = scratch_file();
	w = start_stream(fd);
	vt_writer_row(w, VT_META);
	vt_writer_text(w, VT_META_KEY, "sampling");
	read_context(c, fd, w);
	assert_true(vt_context_is_sampled(c));
	vt_context_free(c);
}

typedef bool find_fn(const struct vt_context *c, uint64_t address, uint32_t *image,
		     uint64_t *offset);

static void is_found(const struct vt_context *c, find_fn *find, uint64_t address,
		     uint32_t want_image, uint64_t want_offset)
{
	uint64_t offset = 0;
	uint32_t image = 0;

	assert_true(find(c, address, &image, &offset));
	assert_int_equal(image, want_image);
	assert_int_equal(offset, want_offset);
}

/* The latest mapping counts, the nearest one before an address if it is of an image with code. */
static void finds_images_by_address(void **state)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	uint64_t offset = 0;
	uint32_t image = 0;
	struct vt_context *c = vt_context_new(NULL);

	(void)state;
	assert_non_null(c);
	put_map(w, 0x1000, 0x1000, 0x100, 1, 5);
	put_map(w, 0x3000, 0x1000, 0x200, 2, 1); /* data alone */
	put_map(w, 0x5000, 0x1000, 0x300, 3, 0); /* nothing is told */
	put_map(w, 0x7000, 0x1000, 0x400, 4, 1);
	put_map(w, 0x7000, 0x1000, 0x400, 4, 4); /* data that became code, */
	put_map(w, 0x7000, 0x1000, 0x400, 4, 1); /* and had been */
	put_map(w, 0x1000, 0x800, 0x500, 5, 5);
	put_map(w, 0x1000, 0x1000, 0x100, 1, 5); /* once more: later than image 5 */
	read_context(c, fd, w);
	assert_true(vt_context_has_code(c, 1));
	assert_false(vt_context_has_code(c, 2));
	assert_true(vt_context_has_code(c, 3));
	assert_true(vt_context_has_code(c, 4));
	assert_true(vt_context_has_code(c, 5));
	assert_false(vt_context_has_code(c, 6));

	assert_false(vt_context_find(c, 0xfff, &image, &offset));
	is_found(c, vt_context_find, 0x1000, 1, 0x100);
	is_found(c, vt_context_find, 0x1fff, 1, 0x10ff);
	assert_false(vt_context_find(c, 0x2000, &image, &offset));
	is_found(c, vt_context_find, 0x3010, 2, 0x210);

	assert_false(vt_context_find_before(c, 0xfff, &image, &offset));
	is_found(c, vt_context_find_before, 0x1000, 1, 0x100);
	is_found(c, vt_context_find_before, 0x4fff, 1, 0x40ff);
	is_found(c, vt_context_find_before, 0x5000, 3, 0x300);
	is_found(c, vt_context_find_before, 0x6fff, 3, 0x22ff);
	is_found(c, vt_context_find_before, 0x9000, 4, 0x2400);
	vt_context_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hands_on_in_order),
		cmocka_unit_test(ends_when_told),
		cmocka_unit_test(knows_blocks),
		cmocka_unit_test(knows_events_and_losses),
		cmocka_unit_test(finds_images_by_address),
	};

	return cmocka_run_group_tests_name("context", tests, NULL, NULL);
}
