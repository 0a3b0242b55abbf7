/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of single accesses: their objects, locations, sums and cache lines, as text. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "memory/memory.h"
#include "stream/profileme.h"
#include "tests/unit/common/streams.h"

#define PID 10

#define LOADS  VT_PM_EVENT(LOAD)
#define STORES VT_PM_EVENT(STORE)

#define STACK UINT64_C(0x70000000)
#define HEAP  UINT64_C(0x10000)

static struct vt_error err;

/* ---- streams ---- */

static void put_map(struct vt_writer *w, uint32_t id, const char *name, uint64_t start)
{
	uint64_t *row = vt_writer_row(w, VT_IMAGE);

	row[VT_IMAGE_ID] = id;
	row[VT_IMAGE_TYPE] = VT_IMAGE_ANON;
	vt_writer_text(w, VT_IMAGE_PATH, name);
	row = vt_writer_row(w, VT_MAP);
	row[VT_MAP_PID] = PID;
	row[VT_MAP_START] = start;
	row[VT_MAP_LENGTH] = 0x10000;
	row[VT_MAP_IMAGE] = id;
	row[VT_MAP_PROT] = 3;
	row[VT_MAP_MISC] = 2;
}

/* A sample; the caller may change its row. */
static uint64_t *sample(struct vt_writer *w, int64_t tid, uint64_t ip, uint64_t events,
			uint64_t addr, unsigned width)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE);

	row[VT_SAMPLE_PID] = PID;
	row[VT_SAMPLE_TID] = (uint64_t)tid;
	row[VT_SAMPLE_IP] = ip;
	row[VT_SAMPLE_MISC] = 2;
	row[VT_SAMPLE_HAS] = VT_HAS_IP | VT_HAS_ADDR;
	row[VT_SAMPLE_ADDR] = addr;
	row[VT_SAMPLE_EVENTS] = events;
	row[VT_SAMPLE_PM_HAS] = VT_PM_BIT(EVENTS);
	row[VT_SAMPLE_WIDTH] = width;
	return row;
}

static void tell(uint64_t *row, uint64_t latency, enum vt_source source, bool tlb_miss)
{
	row[VT_SAMPLE_PM_HAS] |= VT_PM_BIT(LAT_LOAD) | VT_PM_BIT(SOURCE);
	row[VT_SAMPLE_LAT_LOAD] = latency;
	row[VT_SAMPLE_SOURCE] = source;
	row[VT_SAMPLE_EVENTS_TOLD] = VT_PM_EVENT(DTLB_MISS);
	row[VT_SAMPLE_EVENTS] |= tlb_miss ? VT_PM_EVENT(DTLB_MISS) : 0;
}

static void put_sampled(struct vt_buf *b, const struct vt_memory_sampled *s)
{
	unsigned i;

	vt_buf_printf(b, "n%" PRIu64 " lat%" PRIu64 "/%" PRIu64 " tlb%" PRIu64 "/%" PRIu64,
		      s->samples, s->latency, s->latencies, s->tlb_misses, s->tlb_told);
	for (i = 0; i < VT_NSOURCES; i++)
		if (s->sources[i])
			vt_buf_printf(b, " %s:%" PRIu64, vt_pm_source_name(i), s->sources[i]);
	vt_buf_printf(b, "\n");
}

static void put_counts(struct vt_buf *b, const struct vt_memory_counts *c)
{
	vt_buf_printf(b, "l%" PRIu64 ":%" PRIu64 " s%" PRIu64 ":%" PRIu64 " ", c->loads, c->loaded,
		      c->stores, c->stored);
}

static void put_all(struct vt_buf *b, const struct vt_memory *m)
{
	const struct vt_memory_totals *t = vt_memory_totals(m);
	size_t i;

	vt_buf_printf(b, "of %" PRIu64 ": ", t->samples);
	put_counts(b, &t->counts);
	put_sampled(b, &t->sampled);
	for (i = 0; i < vt_memory_nobjects(m); i++) {
		const struct vt_memory_object *o = vt_memory_object(m, i);

		vt_buf_printf(b, "%s %" PRIx64 " ", vt_object_type_name(o->type),
			      o->nplaces ? o->places[0].offset : 0);
		put_counts(b, &o->counts);
		put_sampled(b, &o->sampled);
	}
	for (i = 0; i < vt_memory_nlocations(m); i++) {
		const struct vt_memory_location *l = vt_memory_location(m, i);

		vt_buf_printf(b, " %" PRIu32 "+%" PRIx64 " w%u ", l->object, (uint64_t)l->offset,
			      l->size);
		put_counts(b, &l->counts);
		vt_buf_printf(b, "lat%" PRIu64 "/%" PRIu64 "\n", l->latency, l->latencies);
		assert_null(l->sampled);
	}
	for (i = 0; i < vt_memory_nshared(m); i++) {
		const struct vt_shared_line *l = vt_memory_shared_line(m, i);

		vt_buf_printf(b,
			      "line %" PRIx64 " l%" PRIu64 " s%" PRIu64 " miss%" PRIu64 "/%" PRIu64
			      " risk%" PRIu64 "/%" PRIu64 " +%" PRIx64 "\n",
			      l->address, l->loads, l->stores, l->true_misses, l->false_misses,
			      l->true_accesses, l->false_accesses, (uint64_t)l->words[0].offset);
	}
}

static void check(void (*put)(struct vt_writer *w), bool sharing, unsigned grain, const char *want)
{
	const struct vt_images_options io = {.find = {.symfs = NULL}};
	struct vt_memory_options o = {
		.depth = 2, .grain = grain, .limit = 1000, .sharing = sharing};
	struct vt_images *images = vt_images_new(&io, &err);
	struct vt_context *context = vt_context_new(images);
	int fd = scratch_file();
	struct vt_writer *w = start_stream(fd);
	struct vt_buf text = VT_BUF_INIT;
	const struct vt_block *block;
	uint32_t first, count;
	struct vt_reader *r;
	struct vt_memory *m;

	put(w);
	r = reread_stream(fd, w);
	o.images = images;
	m = vt_memory_new(&o, context, &err);
	while (vt_reader_next_run(r, &block, &first, &count, &err) > 0)
		assert_int_equal(vt_context_feed(context, block, first, count, &err), 0);
	assert_int_equal(vt_memory_finish(m, &err), 0);
	put_all(&text, m);
	assert_string_equal(vt_buf_str(&text), want);
	vt_buf_free(&text);
	vt_memory_free(m);
	vt_reader_close(r);
	vt_context_free(context);
	vt_images_free(images);
	close(fd);
}

/* ---- objects ---- */

static void put_allocation(struct vt_writer *w, uint64_t address, uint64_t size)
{
	uint64_t *row = vt_writer_row(w, VT_HEAP);

	row[VT_HEAP_PID] = row[VT_HEAP_TID] = PID;
	row[VT_HEAP_OP] = VT_HEAP_MALLOC;
	row[VT_HEAP_ADDR] = address;
	row[VT_HEAP_SIZE] = size;
	row[VT_HEAP_CALLER] = 0x77;
}

static void put_objects(struct vt_writer *w)
{
	put_map(w, 1, "[stack]", STACK);
	put_map(w, 2, "[heap]", HEAP);
	put_allocation(w, HEAP + 0x2000, 32);
	/* By procedure, then by address. */
	tell(sample(w, 1, 0x400100, LOADS, STACK + 0x10, 8), 5, VT_SOURCE_L1, false);
	tell(sample(w, 1, 0x400100, LOADS, STACK + 0x14, 4), 7, VT_SOURCE_L2, true);
	sample(w, 2, 0x400200, STORES, STACK + 0x10, 2);
	/* In an allocation, and beside it. */
	tell(sample(w, 1, 0x400100, LOADS | STORES, HEAP + 0x2010, 4), 9, VT_SOURCE_L1, false);
	sample(w, 1, 0x400100, LOADS, HEAP + 0x2014, 4);
	tell(sample(w, 1, 0x400100, LOADS, HEAP + 0x2000, 16), 20, VT_NSOURCES, false);
	sample(w, 1, 0x400100, STORES, HEAP + 0x2020, 8);
	/* No access, no address, or nothing told: none is counted. */
	sample(w, 1, 0x400100, 0, STACK, 8);
	sample(w, 1, 0x400100, LOADS, 0, 8);
	sample(w, 1, 0x400100, LOADS, STACK, 8)[VT_SAMPLE_HAS] = VT_HAS_IP;
	sample(w, 1, 0x400100, LOADS, STACK, 8)[VT_SAMPLE_PM_HAS] = VT_PM_BIT(LAT_LOAD);
}

static void objects(void **state)
{
	(void)state;
	check(put_objects, false, 8,
	      "of 11: l5:36 s3:14 n7 lat41/4 tlb1/4 l1:2 l2:1\n"
	      "heap 77 l3:24 s1:4 n3 lat29/2 tlb0/2 l1:1\n"
	      "stack 400100 l2:12 s0:0 n2 lat12/2 tlb1/2 l1:1 l2:1\n"
	      "stack 400200 l0:0 s1:2 n1 lat0/0 tlb0/0\n"
	      "free 0 l0:0 s1:8 n1 lat0/0 tlb0/0\n"
	      " 0+0 w0 l1:16 s0:0 lat20/1\n"
	      " 0+10 w4 l2:8 s1:4 lat9/1\n"
	      " 1+70000010 w8 l2:12 s0:0 lat12/2\n"
	      " 2+70000010 w2 l0:0 s1:2 lat0/0\n"
	      " 3+12020 w8 l0:0 s1:8 lat0/0\n");
}

static void put_grain(struct vt_writer *w)
{
	sample(w, 1, 0x400100, LOADS, 0x5000, 2);
	sample(w, 1, 0x400100, LOADS, 0x5003, 1);
	sample(w, 1, 0x400100, LOADS, 0x5004, 4);
	/* The bytes of a location are told of accesses of 8 at most. */
	sample(w, 1, 0x400100, LOADS, 0x6000, 9);
	sample(w, 1, 0x400100, LOADS, 0x6004, 8);
}

static void grain(void **state)
{
	(void)state;
	check(put_grain, false, 4,
	      "of 5: l5:24 s0:0 n5 lat0/0 tlb0/0\n"
	      "unknown 0 l5:24 s0:0 n5 lat0/0 tlb0/0\n"
	      " 0+5000 w2 l2:3 s0:0 lat0/0\n"
	      " 0+5004 w4 l1:4 s0:0 lat0/0\n"
	      " 0+6000 w0 l1:9 s0:0 lat0/0\n"
	      " 0+6004 w8 l1:8 s0:0 lat0/0\n");
}

/* ---- cache lines ---- */

static void put_lines(struct vt_writer *w)
{
	/* The second thread misses what the first stored, and what is beside it. */
	sample(w, 1, 0x400100, STORES, 0x30000, 8);
	sample(w, 2, 0x400100, LOADS, 0x30000, 8);
	sample(w, 1, 0x400100, STORES, 0x30000, 8);
	sample(w, 2, 0x400100, LOADS, 0x30008, 8);
	/* The first bytes of an access are in its line, the others in the next. */
	sample(w, 1, 0x400100, STORES, 0x4003c, 16);
	sample(w, 2, 0x400100, LOADS, 0x40038, 4);
	/* Of an unknown width, the first byte alone. */
	sample(w, 1, 0x400100, STORES, 0x50000, 0);
	sample(w, 2, 0x400100, LOADS, 0x50001, 1);
	sample(w, 1, 0x400100, STORES, 0x60000, 8);
}

static void lines(void **state)
{
	(void)state;
	check(put_lines, true, 8,
	      "of 9: l4:21 s5:40 n9 lat0/0 tlb0/0\n"
	      "unknown 0 l4:21 s5:40 n9 lat0/0 tlb0/0\n"
	      " 0+30000 w8 l1:8 s2:16 lat0/0\n"
	      " 0+30008 w8 l1:8 s0:0 lat0/0\n"
	      " 0+40038 w4 l1:4 s1:16 lat0/0\n"
	      " 0+50000 w1 l1:1 s1:0 lat0/0\n"
	      " 0+60000 w8 l0:0 s1:8 lat0/0\n"
	      "line 30000 l2 s2 miss1/1 risk1/1 +30000\n"
	      "line 40000 l1 s1 miss0/1 risk1/0 +0\n"
	      "line 50000 l1 s1 miss0/1 risk1/0 +50001\n");
}

/* The words of a line are known by their offset in the object. */
static void put_line_of_object(struct vt_writer *w)
{
	put_map(w, 1, "[heap]", HEAP);
	put_allocation(w, HEAP + 0x1fc0, 256);
	sample(w, 1, 0x400100, STORES, HEAP + 0x2000, 8);
	sample(w, 2, 0x400100, LOADS, HEAP + 0x2000, 4);
}

static void line_of_object(void **state)
{
	(void)state;
	check(put_line_of_object, true, 8,
	      "of 2: l1:4 s1:8 n2 lat0/0 tlb0/0\n"
	      "heap 77 l1:4 s1:8 n2 lat0/0 tlb0/0\n"
	      " 0+40 w8 l1:4 s1:8 lat0/0\n"
	      "line 12000 l1 s1 miss1/0 risk1/0 +40\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects),
		cmocka_unit_test(grain),
		cmocka_unit_test(lines),
		cmocka_unit_test(line_of_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
