/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places of several streams in one profile: what is the same one, and in which order it is written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "stream/reader.h"
#include "tests/unit/common/streams.h"
#include "value/sites.h"

static struct vt_error err;

static struct vt_sites *new_sites(void)
{
	const struct vt_hotlist_options o = {.algo = VT_ALGO_EXACT};
	struct vt_sites *s = vt_sites_new(&o, &err);

	assert_non_null(s);
	return s;
}

/* What is wrong with the options is said as the lists say it. */
static void test_bad_options(void **state)
{
	const struct vt_hotlist_options o = {.algo = VT_NALGOS};

	(void)state;
	assert_null(vt_sites_new(&o, &err));
	assert_string_equal(err.text, "no such algorithm");
}

struct image {
	const char *path, *buildid;
	uint64_t type, machine;
};

/* Declares images and maps to the sites as a stream does; the numbers they get. */
static void declare(struct vt_sites *s, const struct image *images, size_t n, uint32_t *numbers)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_record rec = {0};
	struct vt_reader *r;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t *row = vt_writer_row(w, VT_IMAGE);

		row[VT_IMAGE_ID] = 100 + i;
		row[VT_IMAGE_TYPE] = images[i].type;
		row[VT_IMAGE_MACHINE] = images[i].machine;
		vt_writer_text(w, VT_IMAGE_PATH, images[i].path);
		vt_writer_text(w, VT_IMAGE_BUILDID, images[i].buildid);
	}
	r = reread_stream(fd, w);
	for (i = 0; vt_reader_next(r, &rec, &err) > 0;)
		if (rec.kind == VT_IMAGE)
			numbers[i++] = vt_sites_image(s, &rec);
	assert_int_equal(i, n);
	vt_reader_close(r);
	close(fd);
}

struct map {
	uint32_t image;
	uint64_t start, length, offset, pid, prot, flags;
};

static void map(struct vt_sites *s, const struct map *maps, size_t n)
{
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_record rec = {0};
	struct vt_reader *r;
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t *row = vt_writer_row(w, VT_MAP);

		row[VT_MAP_PID] = maps[i].pid;
		row[VT_MAP_START] = maps[i].start;
		row[VT_MAP_LENGTH] = maps[i].length;
		row[VT_MAP_OFFSET] = maps[i].offset;
		row[VT_MAP_PROT] = maps[i].prot;
		row[VT_MAP_FLAGS] = maps[i].flags;
	}
	r = reread_stream(fd, w);
	for (i = 0; vt_reader_next(r, &rec, &err) > 0;) {
		if (rec.kind != VT_MAP)
			continue;
		assert_int_equal(vt_sites_map(s, maps[i].image, &rec, &err), 0);
		i++;
	}
	assert_int_equal(i, n);
	vt_reader_close(r);
	close(fd);
}

/* The records of one kind that the sites write, up to 16; the stream stays open. */
struct written {
	struct vt_reader *reader;
	struct vt_record rec;
	int fd;
};

static struct written begin_written(struct vt_sites *s)
{
	struct written o = {.fd = scratch_file()};
	struct vt_writer *w = start_stream(o.fd);

	assert_int_equal(vt_sites_write(s, w, &err), 0);
	o.reader = reread_stream(o.fd, w);
	return o;
}

static bool next_written(struct written *o, enum vt_kind kind)
{
	while (vt_reader_next(o->reader, &o->rec, &err) > 0)
		if (o->rec.kind == kind)
			return true;
	vt_reader_close(o->reader);
	close(o->fd);
	return false;
}

static void check_text(const struct written *o, unsigned field, const char *text)
{
	struct vt_bytes b = vt_record_bytes(&o->rec, field);

	assert_int_equal(b.size, strlen(text));
	assert_memory_equal(b.data, text, b.size);
}

/* ---- images ---- */

/*
 * One with a build-id is the same under any path and type, and keeps those that it had first; one
 * without is the same by both.  They are written by path (a prefix first), build-id, type.
 */
static const struct image images[] = {
	{"/b", "", VT_IMAGE_FILE, 62},	/* 0: written 5th */
	{"/a", "2", VT_IMAGE_FILE, 1},	/* 1: 3rd */
	{"/b", "", VT_IMAGE_ANON, 2},	/* 2: 6th, types being in this order */
	{"/a", "1", VT_IMAGE_FILE, 3},	/* 3: 2nd */
	{"/ab", "", VT_IMAGE_FILE, 4},	/* 4: 4th */
	{"/z", "2", VT_IMAGE_ANON, 5},	/* 1 again */
	{"/b", "", VT_IMAGE_FILE, 62},	/* 0 again */
	{"/a", "", VT_IMAGE_FILE, 6},	/* 5: 1st */
	{"/ab", "1", VT_IMAGE_FILE, 7}, /* 3 again */
};

#define NIMAGES (sizeof(images) / sizeof(images[0]))

static const uint32_t numbers_expected[NIMAGES] = {0, 1, 2, 3, 4, 1, 0, 5, 3};
/* By number: its place in the order written. */
static const uint32_t id_of[] = {4, 2, 5, 1, 3, 0};

static void test_images(void **state)
{
	static const size_t order[] = {7, 3, 1, 4, 0, 2};
	struct vt_sites *s = new_sites();
	uint32_t numbers[NIMAGES];
	struct written o;
	size_t n;

	(void)state;
	assert_true(VT_IMAGE_FILE < VT_IMAGE_ANON);
	declare(s, images, NIMAGES, numbers);
	assert_memory_equal(numbers, numbers_expected, sizeof(numbers));
	assert_int_equal(vt_sites_made_image(s, VT_IMAGE_FILE, "/b"), 0);
	assert_int_equal(vt_sites_made_image(s, VT_IMAGE_ANON, "/b"), 2);
	assert_string_equal(vt_sites_image_path(s, 1), "/a");
	assert_string_equal(vt_sites_image_path(s, 5), "/a");
	assert_string_equal(vt_sites_image_path(s, 6), "[unmapped]");
	assert_string_equal(vt_sites_image_path(s, VT_SITES_NO_IMAGE), "[unmapped]");
	o = begin_written(s);
	for (n = 0; next_written(&o, VT_IMAGE); n++) {
		const struct image *i = &images[order[n]];

		assert_true(n < 6);
		assert_int_equal(vt_record_u64(&o.rec, VT_IMAGE_ID), n);
		assert_int_equal(vt_record_u64(&o.rec, VT_IMAGE_TYPE), i->type);
		assert_int_equal(vt_record_u64(&o.rec, VT_IMAGE_MACHINE), i->machine);
		check_text(&o, VT_IMAGE_PATH, i->path);
		check_text(&o, VT_IMAGE_BUILDID, i->buildid);
	}
	assert_int_equal(n, 6);
	vt_sites_free(s);
}

/* A mapping is written once, when it was made last: what lay over it must not do so again. */
static void test_maps(void **state)
{
	static const struct map maps[] = {
		{0, 0x1000, 0x10, 0x100, 5, 5, 2}, {1, 0x1000, 0x10, 0x100, 5, 5, 2},
		{1, 0x2000, 0x10, 0x100, 5, 5, 2}, {1, 0x1000, 0x20, 0x100, 5, 5, 2},
		{1, 0x1000, 0x10, 0x200, 5, 5, 2}, {1, 0x1000, 0x10, 0x100, 6, 5, 2},
		{1, 0x1000, 0x10, 0x100, 5, 1, 2}, {1, 0x1000, 0x10, 0x100, 5, 5, 1},
		{0, 0x1000, 0x10, 0x100, 5, 5, 2},
	};
	struct vt_sites *s = new_sites();
	uint32_t numbers[NIMAGES];
	struct written o;
	size_t n;

	(void)state;
	declare(s, images, NIMAGES, numbers);
	map(s, maps, 9);
	o = begin_written(s);
	for (n = 1; next_written(&o, VT_MAP); n++) {
		assert_true(n < 9);
		assert_int_equal(vt_record_u64(&o.rec, VT_MAP_IMAGE), id_of[maps[n].image]);
		assert_int_equal(vt_record_u64(&o.rec, VT_MAP_START), maps[n].start);
		assert_int_equal(vt_record_u64(&o.rec, VT_MAP_LENGTH), maps[n].length);
		assert_int_equal(vt_record_u64(&o.rec, VT_MAP_OFFSET), maps[n].offset);
		assert_int_equal(vt_record_u64(&o.rec, VT_MAP_PID), maps[n].pid);
		assert_int_equal(vt_record_u64(&o.rec, VT_MAP_TID), maps[n].pid);
		assert_int_equal(vt_record_u64(&o.rec, VT_MAP_PROT), maps[n].prot);
		assert_int_equal(vt_record_u64(&o.rec, VT_MAP_FLAGS), maps[n].flags);
	}
	assert_int_equal(n, 9);
	vt_sites_free(s);
}

/* ---- counts ---- */

/*
 * Code comes between the mappings before and after it, so that it lies in the image that was mapped
 * when it ran.  A mapping that is made again is written again, where code was in between.
 */
static void test_code(void **state)
{
	static const struct image images[] = {{"/lib/a", "", VT_IMAGE_FILE, 62}};
	static const struct map
		here = {.image = 0, .start = 0x1000, .length = 0x1000, .pid = 7, .prot = 5},
		there = {.image = 0, .start = 0x1000, .length = 0x1000, .offset = 0x3000, .pid = 7};
	static const uint8_t bytes[] = {0x90, 0x31, 0xc0, 0xc3}, lengths[] = {1, 2, 1};
	/* Offsets of the mappings, and addresses of the blocks. */
	static const uint64_t want[] = {0x3000, 0, 0x1010, 0x1020, 0x3000, 0x1030, 0, 0x1040};
	const struct vt_slot slot = {.size = 8};
	struct vt_bblock b = {.id = 99,
			      .pid = 7,
			      .size = 4,
			      .ninsns = 3,
			      .nslots = 1,
			      .data_size = 8,
			      .slots = &slot,
			      .end = VT_END_RETURN,
			      .mode = 32};
	uint8_t code[4], insns[3];
	struct vt_sites *s = new_sites();
	struct written o;
	uint32_t number;
	size_t i = 0, id = 0;

	(void)state;
	b.code = code;
	b.lengths = insns;
	memcpy(code, bytes, 4);
	memcpy(insns, lengths, 3);
	declare(s, images, 1, &number);
	map(s, &here, 1);
	map(s, &there, 1);
	map(s, &here, 1);
	b.addr = 0x1010;
	assert_int_equal(vt_sites_code(s, &b, &err), 0);
	b.addr = 0x1020;
	assert_int_equal(vt_sites_code(s, &b, &err), 0);
	map(s, &there, 1);
	b.addr = 0x1030;
	assert_int_equal(vt_sites_code(s, &b, &err), 0);
	map(s, &here, 1);
	b.addr = 0x1040;
	assert_int_equal(vt_sites_code(s, &b, &err), 0);
	/* What was handed in was copied. */
	memset(code, 0, 4);
	memset(insns, 0, 3);
	o = begin_written(s);
	while (vt_reader_next(o.reader, &o.rec, &err) > 0) {
		if (o.rec.kind == VT_MAP) {
			assert_int_equal(vt_record_u64(&o.rec, VT_MAP_OFFSET), want[i++]);
		} else if (o.rec.kind == VT_BLOCK) {
			assert_int_equal(vt_record_u64(&o.rec, VT_BLOCK_ADDR), want[i++]);
			assert_int_equal(vt_record_u64(&o.rec, VT_BLOCK_ID), id++);
			assert_int_equal(vt_record_i64(&o.rec, VT_BLOCK_PID), 7);
			assert_int_equal(vt_record_u64(&o.rec, VT_BLOCK_END), VT_END_RETURN);
			assert_int_equal(vt_record_u64(&o.rec, VT_BLOCK_MODE), 32);
			assert_int_equal(vt_record_bytes(&o.rec, VT_BLOCK_CODE).size, 4);
			assert_memory_equal(vt_record_bytes(&o.rec, VT_BLOCK_CODE).data, bytes, 4);
			assert_int_equal(vt_record_bytes(&o.rec, VT_BLOCK_LENGTHS).size, 3);
			assert_memory_equal(vt_record_bytes(&o.rec, VT_BLOCK_LENGTHS).data, lengths,
					    3);
			assert_int_equal(vt_record_words(&o.rec, VT_BLOCK_SLOTS).count, 0);
		}
	}
	assert_int_equal(i, 8);
	vt_reader_close(o.reader);
	close(o.fd);
	vt_sites_free(s);
}

static void test_counts(void **state)
{
	/* In the order written: image, offset, event, samples, period. */
	static const uint64_t order[][5] = {{2, 0x10, 0, 3, 300}, {2, 0x10, 1, 1, 7},
					    {2, 0x20, 0, 5, 50},  {4, 0x08, 1, 2, 20},
					    {4, 0x30, 0, 1, 1},	  {VT_SITES_NO_IMAGE, 0, 0, 9, 90}};
	struct vt_sites *s = new_sites();
	uint32_t numbers[NIMAGES];
	struct written o;
	size_t n;
	int k;

	(void)state;
	declare(s, images, NIMAGES, numbers);
	assert_int_equal(vt_sites_event(s, "cycles", VT_POLICY_EXACT, "cycles"), 0);
	assert_int_equal(vt_sites_event(s, "cycles", VT_POLICY_INTERRUPT, "cycles"), 1);
	assert_int_equal(vt_sites_event(s, "cycles", VT_POLICY_EXACT, "cycles"), 0);
	assert_int_equal(vt_sites_event(s, "cycles", VT_POLICY_EXACT, "ticks"), 2);
	assert_int_equal(vt_sites_count(s, VT_SITES_NO_IMAGE, 0, 0, 9, 90, &err), 0);
	assert_int_equal(vt_sites_count(s, 0, 0x30, 0, 1, 1, &err), 0);
	assert_int_equal(vt_sites_count(s, 0, 0x08, 1, 2, 20, &err), 0);
	assert_int_equal(vt_sites_count(s, 1, 0x20, 0, 5, 50, &err), 0);
	assert_int_equal(vt_sites_count(s, 1, 0x10, 1, 1, 7, &err), 0);
	for (k = 0; k < 3; k++)
		assert_int_equal(vt_sites_count(s, 1, 0x10, 0, 1, 100, &err), 0);
	o = begin_written(s);
	for (n = 0; next_written(&o, VT_COUNT); n++) {
		assert_true(n < 6);
		assert_int_equal(vt_record_u64(&o.rec, VT_COUNT_IMAGE), order[n][0]);
		assert_int_equal(vt_record_u64(&o.rec, VT_COUNT_OFFSET), order[n][1]);
		assert_int_equal(vt_record_u64(&o.rec, VT_COUNT_EVENT), order[n][2]);
		assert_int_equal(vt_record_u64(&o.rec, VT_COUNT_SAMPLES), order[n][3]);
		assert_int_equal(vt_record_u64(&o.rec, VT_COUNT_PERIOD), order[n][4]);
	}
	assert_int_equal(n, 6);
	o = begin_written(s);
	for (n = 0; next_written(&o, VT_EVENT); n++) {
		assert_int_equal(vt_record_u64(&o.rec, VT_EVENT_ID), n);
		assert_int_equal(vt_record_u64(&o.rec, VT_EVENT_POLICY),
				 n == 1 ? VT_POLICY_INTERRUPT : VT_POLICY_EXACT);
		/* What is counted without sampling stands for itself. */
		assert_int_equal(vt_record_u64(&o.rec, VT_EVENT_PERIOD), n == 1 ? 0 : 1);
		check_text(&o, VT_EVENT_NAME, "cycles");
		check_text(&o, VT_EVENT_UNIT, n == 2 ? "ticks" : "cycles");
	}
	assert_int_equal(n, 3);
	vt_sites_free(s);
}

/* ---- lists ---- */

/* In the order to be written: each field of the key decides once, in either direction. */
static const struct vt_site places[] = {
	{.offset = 9, .image = 1, .what = 2, .reg = 2, .lane = 2},
	{.offset = 3, .image = 0, .what = 9, .reg = 9, .lane = 9},
	{.offset = 4, .image = 0, .what = 3, .reg = 9, .lane = 9},
	{.offset = 4, .image = 0, .what = 4, .reg = 1, .lane = 9},
	{.offset = 4, .image = 0, .what = 4, .reg = 2, .lane = 0},
	{.offset = 4, .image = 0, .what = 4, .reg = 2, .lane = 1},
	{.offset = 4, .image = 0, .what = 4, .reg = 2, .lane = 1, .caller = 5, .caller_image = 5},
	{.offset = 4, .image = 0, .what = 4, .reg = 2, .lane = 1, .caller = 8, .caller_image = 3},
	{.offset = 4, .image = 0, .what = 4, .reg = 2, .lane = 1, .caller = 6, .caller_image = 4},
	{.offset = 4, .image = 0, .what = 4, .reg = 2, .lane = 1, .caller = 7, .caller_image = 4},
};

#define NPLACES (sizeof(places) / sizeof(places[0]))

static void test_lists(void **state)
{
	static const struct vt_site empty = {.offset = 1};
	struct vt_sites *s = new_sites();
	uint32_t numbers[NIMAGES];
	struct written o;
	size_t i, n;

	(void)state;
	declare(s, images, NIMAGES, numbers);
	assert_non_null(vt_sites_list(s, &empty, 8));
	for (i = 0; i < NPLACES; i++) {
		/* 3 has no factor in common with 10: all of them, in an order of no meaning. */
		size_t k = (4 + 3 * i) % NPLACES;
		struct vt_hotlist *l = vt_sites_list(s, &places[k], (uint32_t)k + 1);

		vt_hotlist_put_many(vt_sites_lists(s), l, 1000 + k, k + 2);
		vt_hotlist_put(vt_sites_lists(s), l, 0);
		assert_ptr_equal(vt_sites_list(s, &places[k], 77), l);
	}
	assert_int_equal(vt_sites_nlists(s), NPLACES + 1);
	o = begin_written(s);
	for (n = 0; next_written(&o, VT_HOT); n++) {
		const struct vt_site *p = &places[n];
		struct vt_words values = vt_record_words(&o.rec, VT_HOT_VALUES);
		struct vt_words counts = vt_record_words(&o.rec, VT_HOT_COUNTS);

		assert_true(n < NPLACES);
		assert_int_equal(vt_record_u64(&o.rec, VT_HOT_IMAGE), id_of[p->image]);
		assert_int_equal(vt_record_u64(&o.rec, VT_HOT_OFFSET), p->offset);
		assert_int_equal(vt_record_u64(&o.rec, VT_HOT_WHAT), p->what);
		assert_int_equal(vt_record_u64(&o.rec, VT_HOT_REG), p->reg);
		assert_int_equal(vt_record_u64(&o.rec, VT_HOT_LANE), p->lane);
		assert_int_equal(vt_record_u64(&o.rec, VT_HOT_CALLER), p->caller);
		assert_int_equal(vt_record_u64(&o.rec, VT_HOT_CALLER_IMAGE),
				 p->caller ? id_of[p->caller_image] : 0);
		assert_int_equal(vt_record_u64(&o.rec, VT_HOT_SIZE), n + 1);
		assert_int_equal(vt_record_u64(&o.rec, VT_HOT_ALGO), VT_ALGO_EXACT);
		assert_int_equal(vt_record_u64(&o.rec, VT_HOT_TOTAL), n + 3);
		assert_int_equal(vt_record_u64(&o.rec, VT_HOT_PROFILED), n + 3);
		assert_int_equal(vt_record_u64(&o.rec, VT_HOT_ZERO), 1);
		assert_int_equal(vt_record_u64(&o.rec, VT_HOT_SAME), n + 1);
		assert_int_equal(vt_record_u64(&o.rec, VT_HOT_FIRST), 1000 + n);
		assert_int_equal(vt_record_u64(&o.rec, VT_HOT_LAST), 0);
		assert_int_equal(values.count, 2);
		assert_true(values.data[0] == 1000 + n && counts.data[0] == n + 2);
		assert_true(values.data[1] == 0 && counts.data[1] == 1);
	}
	assert_int_equal(n, NPLACES);
	vt_sites_free(s);
}

/* A loss keeps all fields but its event, which has another number in what is written. */
static void test_loss(void **state)
{
	int fd = scratch_file(), copy = scratch_file();
	struct vt_writer *w = start_stream(fd), *to = start_stream(copy);
	uint64_t *row = vt_writer_row(w, VT_LOST);
	struct vt_record rec;
	struct vt_reader *r;
	unsigned f;

	(void)state;
	for (f = 0; f < VT_LOST_NFIELDS; f++)
		if (f != VT_LOST_SOURCE)
			row[f] = 10 + f;
	vt_writer_text(w, VT_LOST_SOURCE, "kernel");
	r = reread_stream(fd, w);
	rec = next_of_kind(r, VT_LOST);
	vt_sites_write_loss(to, &rec);
	vt_reader_close(r);
	close(fd);
	r = reread_stream(copy, to);
	rec = next_of_kind(r, VT_LOST);
	for (f = 0; f < VT_LOST_NFIELDS; f++)
		if (f != VT_LOST_SOURCE)
			assert_int_equal(vt_record_u64(&rec, f), f == VT_LOST_EVENT ? 0 : 10 + f);
	assert_true(vt_bytes_are(vt_record_bytes(&rec, VT_LOST_SOURCE), "kernel"));
	vt_reader_close(r);
	close(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_options), cmocka_unit_test(test_loss),
		cmocka_unit_test(test_images),	    cmocka_unit_test(test_maps),
		cmocka_unit_test(test_code),	    cmocka_unit_test(test_counts),
		cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
