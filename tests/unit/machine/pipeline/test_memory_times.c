/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The modelled memory: times, limits and odd shapes, each worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "machine/pipeline/memory.h"

/* Longer than anything takes: what one access began is done before the next. */
#define LONG 10000

#define ALL (VT_MISS_L1 | VT_MISS_L2 | VT_MISS_L3)

/* Lines of 32 bytes that hit in 2 cycles, then 10, then 30; 100 to memory. */
static struct vt_core caches(void)
{
	return (struct vt_core){
		.icache = {.size = 256, .line = 32, .ways = 1, .latency = 1},
		.dcache = {.size = 512, .line = 32, .ways = 2, .latency = 2},
		.l2 = {.size = 3 * 16 * 64, .line = 64, .ways = 3, .latency = 10},
		.l3 = {.size = 5 * 7 * 128, .line = 128, .ways = 5, .latency = 30},
		.memory = 100,
	};
}

/* No caches, and pages of 256 bytes that take 20 cycles. */
static struct vt_core pages(uint32_t entries)
{
	return (struct vt_core){
		.memory = 7,
		.dtlb = {.entries = entries, .ways = entries, .page = 256, .latency = 20},
	};
}

static struct vt_simmem *make(const struct vt_core *m)
{
	struct vt_simmem *s = vt_simmem_new(m);

	assert_non_null(s);
	return s;
}

static void expect(struct vt_simmem_access a, uint32_t tlb, uint32_t cache, uint32_t buffer,
		   uint32_t missed)
{
	assert_int_equal(a.tlb, tlb);
	assert_int_equal(a.cache, cache);
	assert_int_equal(a.buffer, buffer);
	assert_int_equal(a.cycles, tlb + cache + buffer);
	assert_int_equal(a.missed, missed);
}

/* ---- levels ---- */

static void each_level_has_its_time(void **state)
{
	struct vt_core m = caches();
	struct vt_simmem *s = make(&m);

	(void)state;
	expect(vt_simmem_load(s, LONG, 0x1000, 8), 0, 98, 0, ALL);
	/* The other half of a line of the second level, and of one of the third. */
	expect(vt_simmem_load(s, 2 * LONG, 0x1020, 8), 0, 8, 0, VT_MISS_L1);
	expect(vt_simmem_load(s, 3 * LONG, 0x1040, 8), 0, 28, 0, VT_MISS_L1 | VT_MISS_L2);
	expect(vt_simmem_load(s, 4 * LONG, 0x1080, 8), 0, 98, 0, ALL);
	expect(vt_simmem_load(s, 5 * LONG, 0x1018, 8), 0, 0, 0, 0);
	/* Code has a first level of its own, which hits in one cycle. */
	expect(vt_simmem_fetch(s, 6 * LONG, 0x1000, 8), 0, 9, 0, VT_MISS_L1);
	expect(vt_simmem_fetch(s, 7 * LONG, 0x1000, 8), 0, 0, 0, 0);
	/* Stores do not wait for lines, but bring them. */
	expect(vt_simmem_store(s, 8 * LONG, 0x2000, 8), 0, 0, 0, ALL);
	expect(vt_simmem_load(s, 9 * LONG, 0x2000, 8), 0, 0, 0, 0);
	vt_simmem_free(s);
	/* Without the second level, the third is next; without both, memory. */
	m.l2.size = 0;
	s = make(&m);
	expect(vt_simmem_load(s, LONG, 0x1000, 8), 0, 98, 0, VT_MISS_L1 | VT_MISS_L3);
	expect(vt_simmem_load(s, 2 * LONG, 0x1020, 8), 0, 28, 0, VT_MISS_L1);
	vt_simmem_free(s);
	m.l3.size = 0;
	s = make(&m);
	expect(vt_simmem_load(s, LONG, 0x1000, 8), 0, 98, 0, VT_MISS_L1);
	expect(vt_simmem_load(s, 2 * LONG, 0x1020, 8), 0, 98, 0, VT_MISS_L1);
	vt_simmem_free(s);
	/* A latency of what there is not is none. */
	m = (struct vt_core){.memory = 7, .dcache = {.latency = 5}, .icache = {.latency = 3}};
	s = make(&m);
	expect(vt_simmem_load(s, LONG, 0x1000, 8), 0, 7, 0, 0);
	expect(vt_simmem_fetch(s, LONG, 0x1000, 8), 0, 7, 0, 0);
	vt_simmem_free(s);
	/* Memory that is as fast as the cache, or faster, costs nothing. */
	m = (struct vt_core){.memory = 2,
			     .dcache = {.size = 64, .line = 32, .ways = 1, .latency = 2}};
	s = make(&m);
	expect(vt_simmem_load(s, LONG, 0x1000, 8), 0, 0, 0, VT_MISS_L1);
	vt_simmem_free(s);
	m.memory = 1;
	s = make(&m);
	expect(vt_simmem_load(s, LONG, 0x1000, 8), 0, 0, 0, VT_MISS_L1);
	vt_simmem_free(s);
}

static void translation_comes_first(void **state)
{
	struct vt_core m = caches();
	struct vt_simmem *s;

	(void)state;
	/* Pages of 4 KB, of 16 KB in the second TLB, which takes 50 cycles more. */
	m.dtlb = (struct vt_tlb_shape){.entries = 2, .ways = 2, .page = 4096, .latency = 20};
	m.itlb = (struct vt_tlb_shape){.entries = 1, .ways = 1, .page = 4096, .latency = 15};
	m.stlb = (struct vt_tlb_shape){.entries = 4, .ways = 4, .page = 16384, .latency = 50};
	s = make(&m);
	expect(vt_simmem_load(s, LONG, 0x10000, 8), 70, 98, 0, ALL | VT_MISS_TLB | VT_MISS_STLB);
	expect(vt_simmem_load(s, 2 * LONG, 0x10fe0, 8), 0, 98, 0, ALL);
	expect(vt_simmem_load(s, 3 * LONG, 0x13000, 8), 20, 98, 0, ALL | VT_MISS_TLB);
	expect(vt_simmem_store(s, 4 * LONG, 0x14000, 8), 70, 0, 0,
	       ALL | VT_MISS_TLB | VT_MISS_STLB);
	/* The first page is no longer one of two, nor is the line in its set. */
	expect(vt_simmem_load(s, 5 * LONG, 0x10000, 8), 20, 8, 0, VT_MISS_L1 | VT_MISS_TLB);
	expect(vt_simmem_fetch(s, 6 * LONG, 0x10000, 8), 15, 9, 0, VT_MISS_L1 | VT_MISS_TLB);
	/* A line under way for 98 cycles more has come when the page is known. */
	expect(vt_simmem_load(s, 70000, 0x10100, 8), 0, 98, 0, ALL);
	expect(vt_simmem_load(s, 70001, 0x20000, 8), 70, 98, 0, ALL | VT_MISS_TLB | VT_MISS_STLB);
	vt_simmem_free(s);
	/* The page is asked for before the line is, whose rest is less by then: from 30 to 120. */
	m = caches();
	m.dtlb = (struct vt_tlb_shape){.entries = 1, .ways = 1, .page = 4096, .latency = 20};
	s = make(&m);
	expect(vt_simmem_load(s, 70000, 0x10000, 8), 20, 98, 0, ALL | VT_MISS_TLB);
	expect(vt_simmem_load(s, 70001, 0x20020, 8), 20, 98, 0, ALL | VT_MISS_TLB);
	expect(vt_simmem_load(s, 70010, 0x10008, 8), 20, 88, 0, ALL | VT_MISS_TLB);
	vt_simmem_free(s);
}

/* ---- accesses to several lines ---- */

/* The slowest counts, the first of equal ones; and all misses do. */
static void the_slower_half_counts(void **state)
{
	struct vt_core m = caches();
	struct vt_simmem *s = make(&m);

	(void)state;
	/* The upper half of a line of the second level is there, what is behind it not. */
	vt_simmem_load(s, LONG, 0x1020, 1);
	vt_simmem_load(s, 2 * LONG, 0x1080, 1);
	expect(vt_simmem_load(s, 3 * LONG, 0x101c, 8), 0, 8, 0, VT_MISS_L1);
	expect(vt_simmem_load(s, 4 * LONG, 0x109c, 8), 0, 8, 0, VT_MISS_L1);
	expect(vt_simmem_load(s, 5 * LONG, 0x10fc, 8), 0, 98, 0, ALL);
	vt_simmem_free(s);
	/* 20 cycles for a page, and 20 for a line, where either is known. */
	m = pages(2);
	m.memory = 22;
	m.dcache = (struct vt_cache_shape){.size = 1024, .line = 32, .ways = 32, .latency = 2};
	s = make(&m);
	vt_simmem_load(s, LONG, 0x100, 1);
	vt_simmem_load(s, 2 * LONG, 0x200, 1);
	vt_simmem_load(s, 3 * LONG, 0, 1);
	expect(vt_simmem_load(s, 4 * LONG, 0xfc, 8), 0, 20, 0, VT_MISS_L1 | VT_MISS_TLB);
	vt_simmem_load(s, 5 * LONG, 0x3e0, 1);
	vt_simmem_load(s, 6 * LONG, 0x500, 1);
	vt_simmem_load(s, 7 * LONG, 0x480, 1);
	expect(vt_simmem_load(s, 8 * LONG, 0x3fc, 8), 20, 0, 0, VT_MISS_L1 | VT_MISS_TLB);
	vt_simmem_free(s);
}

static void sizes_are_of_bytes(void **state)
{
	struct vt_core m = caches();
	struct vt_simmem *s = make(&m);

	(void)state;
	vt_simmem_load(s, LONG, 0x1000, 1);
	/* Up to the last byte of the line, and nothing of the next. */
	expect(vt_simmem_load(s, 2 * LONG, 0x1000, 32), 0, 0, 0, 0);
	expect(vt_simmem_load(s, 3 * LONG, 0x101f, 1), 0, 0, 0, 0);
	expect(vt_simmem_load(s, 4 * LONG, 0x101f, 0), 0, 0, 0, 0);
	expect(vt_simmem_load(s, 5 * LONG, 0x1000, 33), 0, 8, 0, VT_MISS_L1);
	/* Nothing, at the end of one that is not there. */
	expect(vt_simmem_load(s, 6 * LONG, 0x2fff, 0), 0, 98, 0, ALL);
	expect(vt_simmem_load(s, 7 * LONG, 0x3000, 1), 0, 98, 0, ALL);
	vt_simmem_free(s);
}

/* Without a cache, 64 bytes are a line: behind 128 of them no page is looked at. */
static void no_access_is_of_too_many_lines(void **state)
{
	struct vt_core m = pages(64);
	struct vt_simmem *s;
	uint32_t n;

	(void)state;
	/* Pages of 64 bytes, as lines. */
	m.dtlb = (struct vt_tlb_shape){.entries = 256, .ways = 256, .page = 64, .latency = 20};
	for (n = 126; n <= 131; n++) {
		const uint32_t last = n - 1 > 128 ? 128 : n - 1;

		s = make(&m);
		expect(vt_simmem_load(s, LONG, 0, 64 * n), 20, 7, 0, VT_MISS_TLB);
		expect(vt_simmem_load(s, 2 * LONG, 64 * (uint64_t)last, 1), 0, 7, 0, 0);
		expect(vt_simmem_load(s, 3 * LONG, 64 * (uint64_t)last + 64, 1), 20, 7, 0,
		       VT_MISS_TLB);
		vt_simmem_free(s);
	}
	s = make(&m);
	expect(vt_simmem_load(s, LONG, 0x3c, 4), 20, 7, 0, VT_MISS_TLB);
	expect(vt_simmem_load(s, 2 * LONG, 0x40, 4), 20, 7, 0, VT_MISS_TLB);
	expect(vt_simmem_load(s, 3 * LONG, 0xbc, 8), 20, 7, 0, VT_MISS_TLB);
	expect(vt_simmem_load(s, 4 * LONG, 0xc0, 4), 0, 7, 0, 0);
	vt_simmem_free(s);
}

/* ---- shapes ---- */

/* How many lines of the n from 0 on are still there after all were loaded once, in order. */
static unsigned count_kept(struct vt_cache_shape shape, unsigned n)
{
	struct vt_core m = {.memory = 50, .dcache = shape};
	struct vt_simmem *s = make(&m);
	unsigned i, kept = 0;

	for (i = 0; i < n; i++)
		vt_simmem_load(s, (i + 1) * (uint64_t)LONG, i * (uint64_t)shape.line, 1);
	/* From the last on backwards: what is not there takes the place of what was told. */
	for (i = n; i > 0; i--)
		kept += vt_simmem_load(s, (2 * n - i + 2) * (uint64_t)LONG,
				       (i - 1) * (uint64_t)shape.line, 1)
				.cycles == 0;
	vt_simmem_free(s);
	return kept;
}

static void caches_hold_their_size(void **state)
{
	(void)state;
	/* One set, several, and none but a power of 2. */
	assert_int_equal(count_kept((struct vt_cache_shape){512, 32, 16, 1, 0}, 20), 16);
	assert_int_equal(count_kept((struct vt_cache_shape){512, 32, 4, 1, 0}, 16), 16);
	assert_int_equal(count_kept((struct vt_cache_shape){480, 32, 5, 1, 0}, 15), 15);
	assert_int_equal(count_kept((struct vt_cache_shape){480, 32, 1, 1, 0}, 15), 15);
	/* No ways are one, more than there are lines are as many. */
	assert_int_equal(count_kept((struct vt_cache_shape){128, 32, 0, 1, 0}, 4), 4);
	assert_int_equal(count_kept((struct vt_cache_shape){128, 32, 9, 1, 0}, 4), 4);
	assert_int_equal(count_kept((struct vt_cache_shape){128, 32, 4, 1, 0}, 5), 4);
	assert_int_equal(count_kept((struct vt_cache_shape){128, 32, 5, 1, 0}, 5), 4);
	/* Lines of two bytes. */
	assert_int_equal(count_kept((struct vt_cache_shape){16, 2, 8, 1, 0}, 8), 8);
	assert_int_equal(count_kept((struct vt_cache_shape){16, 2, 8, 1, 0}, 9), 8);
	/* Those of one byte are of two: 0 and 1, 2 and 3, ... are the same. */
	assert_int_equal(count_kept((struct vt_cache_shape){16, 1, 8, 1, 0}, 16), 16);
	assert_int_equal(count_kept((struct vt_cache_shape){16, 1, 8, 1, 0}, 18), 17);
}

/* Whose set is full loses the one that was used longest ago. */
static void the_least_recently_used_goes(void **state)
{
	struct vt_core m = {.memory = 50,
			    .dcache = {.size = 256, .line = 32, .ways = 2, .latency = 1}};
	struct vt_simmem *s = make(&m);

	(void)state;
	/* Four sets: 0x000, 0x080, 0x100 are in the first, 0x020 in the second. */
	vt_simmem_load(s, LONG, 0x000, 1);
	vt_simmem_load(s, 2 * LONG, 0x080, 1);
	vt_simmem_load(s, 3 * LONG, 0x020, 1);
	vt_simmem_load(s, 4 * LONG, 0x000, 1);
	expect(vt_simmem_load(s, 5 * LONG, 0x100, 1), 0, 49, 0, VT_MISS_L1);
	expect(vt_simmem_load(s, 6 * LONG, 0x000, 1), 0, 0, 0, 0);
	expect(vt_simmem_load(s, 7 * LONG, 0x080, 1), 0, 49, 0, VT_MISS_L1);
	expect(vt_simmem_load(s, 8 * LONG, 0x020, 1), 0, 0, 0, 0);
	vt_simmem_free(s);
	/* With no ways, eight sets of one line each. */
	m.dcache.ways = 0;
	s = make(&m);
	vt_simmem_load(s, LONG, 0x000, 1);
	expect(vt_simmem_load(s, 2 * LONG, 0x100, 1), 0, 49, 0, VT_MISS_L1);
	expect(vt_simmem_load(s, 3 * LONG, 0x000, 1), 0, 49, 0, VT_MISS_L1);
	vt_simmem_free(s);
}

/* TLBs of more than eight ways, on pages of 256 bytes far up: who is known, and in how many sets.
 */
static void wide_tlbs_know_their_pages(void **state)
{
	const uint64_t up = UINT64_C(1) << 46;
	struct vt_core m = pages(16);
	struct vt_simmem *s = make(&m);
	uint64_t i;

	(void)state;
	/* The first two have the same last eight bits of their numbers. */
	expect(vt_simmem_load(s, LONG, up, 1), 20, 7, 0, VT_MISS_TLB);
	expect(vt_simmem_load(s, 2 * LONG, up + 0x10000, 1), 20, 7, 0, VT_MISS_TLB);
	expect(vt_simmem_load(s, 3 * LONG, up, 1), 0, 7, 0, 0);
	expect(vt_simmem_load(s, 4 * LONG, up + 0x10000, 1), 0, 7, 0, 0);
	for (i = 2; i < 16; i++)
		expect(vt_simmem_load(s, (3 + i) * LONG, up + 256 * i, 1), 20, 7, 0, VT_MISS_TLB);
	/* The seventeenth takes the place of the first. */
	expect(vt_simmem_load(s, 20 * LONG, up + 256 * 16, 1), 20, 7, 0, VT_MISS_TLB);
	expect(vt_simmem_load(s, 21 * LONG, up + 0x10000, 1), 0, 7, 0, 0);
	expect(vt_simmem_load(s, 22 * LONG, up, 1), 20, 7, 0, VT_MISS_TLB);
	vt_simmem_free(s);
	/* Two sets of sixteen hold 32 pages. */
	m.dtlb.entries = 32;
	s = make(&m);
	for (i = 0; i < 32; i++)
		expect(vt_simmem_load(s, (1 + i) * LONG, up + 256 * i, 1), 20, 7, 0, VT_MISS_TLB);
	for (i = 0; i < 32; i++)
		expect(vt_simmem_load(s, (40 + i) * LONG, up + 256 * i, 1), 0, 7, 0, 0);
	vt_simmem_free(s);
}

/* ---- what is under way ---- */

/*
 * Ahead of a clock is nothing by more than 64 times what takes longest: 100 to memory, 10 and 30
 * for the levels between, 7 to write a line out and one: 64 * 148 = 9472 cycles.
 */
static void nothing_is_awaited_for_long(void **state)
{
	enum { HORIZON = 64 * (100 + 10 + 30 + 7 + 1), AT = 100000 };
	struct vt_core m = caches();
	unsigned more;

	(void)state;
	m.drain = 7;
	for (more = 0; more < 2; more++) {
		struct vt_simmem *s = make(&m);

		vt_simmem_load(s, AT, 0x1000, 8);
		/* It comes in AT + 100: so much earlier, it is loaded anew, or always was there. */
		expect(vt_simmem_load(s, AT + 100 - HORIZON - more, 0x1000, 8), 0, more ? 0 : 98, 0,
		       more ? 0 : ALL);
		vt_simmem_free(s);
	}
}

static void misses_wait_for_each_other(void **state)
{
	struct vt_core m = caches();
	struct vt_simmem *s;

	(void)state;
	m.dcache.misses = 1;
	s = make(&m);
	expect(vt_simmem_load(s, 1000, 0x1000, 8), 0, 98, 0, ALL);
	/* In the same cycle: when that has come, in 1100. */
	expect(vt_simmem_load(s, 1000, 0x2000, 8), 0, 100 + 98, 0, ALL);
	/* It comes in 1200; a third, a cycle before that and in it. */
	expect(vt_simmem_load(s, 1199, 0x3000, 8), 0, 1 + 98, 0, ALL);
	expect(vt_simmem_load(s, 1300, 0x4000, 8), 0, 98, 0, ALL);
	/* One that began later is not in the way of an earlier one. */
	expect(vt_simmem_load(s, 1299, 0x5000, 8), 0, 98, 0, ALL);
	vt_simmem_free(s);
	/* Of two, the first that comes makes room: in 1050, not in 1100. */
	m.dcache.misses = 2;
	s = make(&m);
	expect(vt_simmem_load(s, 1000, 0x1000, 8), 0, 98, 0, ALL);
	expect(vt_simmem_load(s, 1000, 0x1040, 8), 0, 98, 0, VT_MISS_L1 | VT_MISS_L2 | VT_MISS_L3);
	vt_simmem_free(s);
}

/* Who comes before the data waits for the rest, and no longer than if it had asked itself. */
static void lines_under_way_are_awaited(void **state)
{
	struct vt_core m = caches();
	struct vt_simmem *s = make(&m);

	(void)state;
	expect(vt_simmem_load(s, 1000, 0x1000, 8), 0, 98, 0, ALL);
	expect(vt_simmem_load(s, 1001, 0x1008, 8), 0, 97, 0, ALL);
	/* The other line of the same one of the second level: its rest, as a miss of the first. */
	expect(vt_simmem_load(s, 1040, 0x1020, 8), 0, 58, 0, ALL);
	/* When the rest is no longer than a hit takes there, it is one. */
	expect(vt_simmem_load(s, 1070, 0x1040, 8), 0, 28, 0, VT_MISS_L1 | VT_MISS_L2);
	vt_simmem_free(s);
	/* Asked for in 1000; in 950, told later, it takes as long as it does. */
	s = make(&m);
	expect(vt_simmem_load(s, 1000, 0x1000, 8), 0, 98, 0, ALL);
	expect(vt_simmem_load(s, 950, 0x1000, 8), 0, 98, 0, ALL);
	/* And then it is there in 1050. */
	expect(vt_simmem_load(s, 1048, 0x1000, 8), 0, 0, 0, 0);
	expect(vt_simmem_load(s, 1047, 0x1000, 8), 0, 1, 0, ALL);
	vt_simmem_free(s);
}

/* ---- the write buffer ---- */

/* A buffer of so many lines that take 10 cycles to write; lines 0x1000 to 0x10e0 are there. */
static struct vt_simmem *make_buffer(struct vt_core *m, uint32_t lines)
{
	struct vt_simmem *s;
	unsigned i;

	m->write_buffer = lines;
	m->drain = 10;
	s = make(m);
	for (i = 0; i < 8; i++)
		vt_simmem_load(s, (i + 1) * (uint64_t)LONG, 0x1000 + 32 * i, 1);
	return s;
}

static void lines_are_written_one_by_one(void **state)
{
	struct vt_core m = caches();
	struct vt_simmem *s = make_buffer(&m, 1);

	(void)state;
	/* 100000 to 100010; to 100020; from 100025 on. */
	expect(vt_simmem_store(s, 100000, 0x1000, 8), 0, 0, 0, 0);
	expect(vt_simmem_store(s, 100001, 0x1000, 8), 0, 0, 9, VT_MISS_BUFFER);
	expect(vt_simmem_store(s, 100025, 0x1020, 8), 0, 0, 0, 0);
	expect(vt_simmem_store(s, 100034, 0x1040, 8), 0, 0, 1, VT_MISS_BUFFER);
	/* Out in 100045: then there is room. */
	expect(vt_simmem_store(s, 100045, 0x1060, 8), 0, 0, 0, 0);
	vt_simmem_free(s);
	s = make_buffer(&m, 3);
	expect(vt_simmem_store(s, 100000, 0x1000, 8), 0, 0, 0, 0);
	expect(vt_simmem_store(s, 100000, 0x1020, 8), 0, 0, 0, 0);
	expect(vt_simmem_store(s, 100000, 0x1040, 8), 0, 0, 0, 0);
	/* The second begins in 100010: a store before that goes along. */
	expect(vt_simmem_store(s, 100009, 0x1038, 8), 0, 0, 0, 0);
	expect(vt_simmem_store(s, 100009, 0x1058, 8), 0, 0, 0, 0);
	expect(vt_simmem_store(s, 100009, 0x1060, 8), 0, 0, 1, VT_MISS_BUFFER);
	/* In 100010 it no longer does, and the next one is out in 100020. */
	expect(vt_simmem_store(s, 100010, 0x1038, 8), 0, 0, 10, VT_MISS_BUFFER);
	/* Held are now those that begin in 100020, 100030 and 100040. */
	expect(vt_simmem_store(s, 100021, 0x1078, 8), 0, 0, 0, 0);
	expect(vt_simmem_store(s, 100021, 0x1020, 8), 0, 0, 0, 0);
	expect(vt_simmem_store(s, 100021, 0x1040, 8), 0, 0, 9, VT_MISS_BUFFER);
	vt_simmem_free(s);
}

static void lines_are_written_when_they_have_come(void **state)
{
	struct vt_core m = caches();
	struct vt_simmem *s = make_buffer(&m, 1);

	(void)state;
	/* From memory in 100100. */
	expect(vt_simmem_store(s, 100000, 0x2000, 8), 0, 0, 0, ALL);
	expect(vt_simmem_store(s, 100001, 0x1000, 8), 0, 0, 99, VT_MISS_BUFFER);
	/* From the second level, in 10 cycles, which it takes to write it: 100200 to 100210. */
	expect(vt_simmem_store(s, 100200, 0x2020, 8), 0, 0, 0, VT_MISS_L1);
	expect(vt_simmem_store(s, 100201, 0x1000, 8), 0, 0, 9, VT_MISS_BUFFER);
	vt_simmem_free(s);
	/* 20 cycles for the page, then it goes into the buffer. */
	m.dtlb = (struct vt_tlb_shape){.entries = 2, .ways = 2, .page = 4096, .latency = 20};
	s = make_buffer(&m, 1);
	vt_simmem_load(s, 90000, 0x3020, 1);
	vt_simmem_load(s, 91000, 0x4040, 1);
	expect(vt_simmem_store(s, 100000, 0x1000, 8), 20, 0, 0, VT_MISS_TLB);
	/* Up to 100030: the next one's page is known in 100021. */
	expect(vt_simmem_store(s, 100001, 0x3020, 8), 20, 0, 9, VT_MISS_TLB | VT_MISS_BUFFER);
	/* To 100040, and a line that is not there, whose page is not known: from 100101 on. */
	expect(vt_simmem_store(s, 100081, 0x5000, 8), 20, 0, 0, ALL | VT_MISS_TLB);
	/* Its data comes in 100201. */
	expect(vt_simmem_store(s, 100111, 0x5800, 8), 0, 0, 90, ALL | VT_MISS_BUFFER);
	vt_simmem_free(s);
	/* What crosses lines waits for the slower one alone, but both go in. */
	m = caches();
	s = make_buffer(&m, 2);
	expect(vt_simmem_store(s, 100000, 0x101c, 8), 0, 0, 0, 0);
	expect(vt_simmem_store(s, 100001, 0x1040, 8), 0, 0, 9, VT_MISS_BUFFER);
	vt_simmem_free(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_level_has_its_time),
		cmocka_unit_test(translation_comes_first),
		cmocka_unit_test(the_slower_half_counts),
		cmocka_unit_test(sizes_are_of_bytes),
		cmocka_unit_test(no_access_is_of_too_many_lines),
		cmocka_unit_test(caches_hold_their_size),
		cmocka_unit_test(the_least_recently_used_goes),
		cmocka_unit_test(wide_tlbs_know_their_pages),
		cmocka_unit_test(nothing_is_awaited_for_long),
		cmocka_unit_test(misses_wait_for_each_other),
		cmocka_unit_test(lines_under_way_are_awaited),
		cmocka_unit_test(lines_are_written_one_by_one),
		cmocka_unit_test(lines_are_written_when_they_have_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
