/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The modelled memory: against a slow obvious one with time stamps, and cases worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "machine/pipeline/memory.h"

/* Longer than anything takes: what one access began is done before the next. */
#define LONG 10000

static struct vt_core small(void)
{
	struct vt_core m = {
		.icache = {.size = 256, .line = 32, .ways = 1, .latency = 1},
		.dcache = {.size = 512, .line = 32, .ways = 2, .latency = 2, .misses = 2},
		.l2 = {.size = 3 * 16 * 64, .line = 64, .ways = 3, .latency = 10},
		.l3 = {.size = 5 * 7 * 128, .line = 128, .ways = 5, .latency = 30},
		.memory = 100,
		.itlb = {.entries = 2, .ways = 2, .page = 256, .latency = 20},
		.dtlb = {.entries = 4, .ways = 4, .page = 256, .latency = 20},
		.stlb = {.entries = 8, .ways = 2, .page = 256, .latency = 50},
	};

	return m;
}

/* ---- a slow obvious model: every line that was ever used, with the time of its last use ---- */

#define OLD_LINES 4096

struct slow {
	uint32_t size, line, ways;
	size_t n;
	struct {
		uint64_t number, used;
		bool in;
	} lines[OLD_LINES];
};

static bool slow_hit(struct slow *c, uint64_t addr, uint64_t now)
{
	uint32_t sets = c->size / c->line / c->ways;
	uint64_t number = addr / c->line;
	size_t i, own = c->n, oldest = c->n;
	uint32_t in = 0;
	bool hit;

	for (i = 0; i < c->n; i++) {
		if (c->lines[i].number == number)
			own = i;
		if (!c->lines[i].in || c->lines[i].number % sets != number % sets)
			continue;
		in++;
		if (oldest == c->n || c->lines[i].used < c->lines[oldest].used)
			oldest = i;
	}
	hit = own < c->n && c->lines[own].in;
	if (!hit && in == c->ways)
		c->lines[oldest].in = false;
	if (own == c->n) {
		assert_true(c->n < OLD_LINES);
		c->lines[c->n++].number = number;
	}
	c->lines[own].in = true;
	c->lines[own].used = now;
	return hit;
}

struct slow_memory {
	const struct vt_core *m;
	struct slow l1, l2, l3, tlb, stlb;
};

static void slow_init(struct slow_memory *s, const struct vt_core *m,
		      const struct vt_cache_shape *l1, const struct vt_tlb_shape *tlb)
{
	memset(s, 0, sizeof(*s));
	s->m = m;
	s->l1 = (struct slow){l1->size, l1->line, l1->ways, 0, {{0}}};
	s->l2 = (struct slow){m->l2.size, m->l2.line, m->l2.ways, 0, {{0}}};
	s->l3 = (struct slow){m->l3.size, m->l3.line, m->l3.ways, 0, {{0}}};
	s->tlb = (struct slow){tlb->entries * tlb->page, tlb->page, tlb->ways, 0, {{0}}};
	s->stlb =
		(struct slow){m->stlb.entries * m->stlb.page, m->stlb.page, m->stlb.ways, 0, {{0}}};
}

static struct vt_simmem_access slow_access(struct slow_memory *s, uint32_t latency, uint64_t addr,
					   uint64_t now)
{
	struct vt_simmem_access a = {0};

	if (!slow_hit(&s->tlb, addr, now)) {
		a.missed |= VT_MISS_TLB;
		a.tlb = s->m->dtlb.latency;
		if (!slow_hit(&s->stlb, addr, now)) {
			a.missed |= VT_MISS_STLB;
			a.tlb += s->m->stlb.latency;
		}
	}
	if (!slow_hit(&s->l1, addr, now)) {
		a.missed |= VT_MISS_L1;
		a.cache = s->m->l2.latency - latency;
		if (!slow_hit(&s->l2, addr, now)) {
			a.missed |= VT_MISS_L2;
			a.cache = s->m->l3.latency - latency;
			if (!slow_hit(&s->l3, addr, now)) {
				a.missed |= VT_MISS_L3;
				a.cache = s->m->memory - latency;
			}
		}
	}
	a.cycles = a.tlb + a.cache;
	return a;
}

static void assert_same(struct vt_simmem_access a, struct vt_simmem_access b)
{
	assert_int_equal(a.missed, b.missed);
	assert_int_equal(a.tlb, b.tlb);
	assert_int_equal(a.cache, b.cache);
	assert_int_equal(a.buffer, b.buffer);
	assert_int_equal(a.cycles, b.cycles);
}

/* Addresses that often come back, and differ in which level still has them. */
static uint64_t draw_address(struct vt_rng *r, const uint64_t spans[4])
{
	return 0x7fff0000 + vt_rng_below(r, spans[vt_rng_below(r, 4)]);
}

/* Returns, as bits, which sets of misses were seen. */
static unsigned against_slow(struct vt_core m, const uint64_t spans[4], bool fetch)
{
	const struct vt_cache_shape *l1 = fetch ? &m.icache : &m.dcache;
	struct slow_memory *slow = malloc(sizeof(*slow));
	struct vt_simmem *s = vt_simmem_new(&m);
	unsigned seen = 0;
	struct vt_rng r;
	uint64_t i;

	assert_non_null(slow);
	assert_non_null(s);
	slow_init(slow, &m, l1, fetch ? &m.itlb : &m.dtlb);
	vt_rng_init(&r, 1);
	for (i = 1; i < 20000; i++) {
		uint64_t addr = draw_address(&r, spans);
		struct vt_simmem_access want = slow_access(slow, l1->latency, addr, i);

		assert_same(fetch ? vt_simmem_fetch(s, i * LONG, addr, 1)
				  : vt_simmem_load(s, i * LONG, addr, 1),
			    want);
		seen |= 1u << want.missed;
	}
	vt_simmem_free(s);
	free(slow);
	return seen;
}

static void test_every_level(void **state)
{
	static const uint64_t spans[] = {256, 1024, 4096, 16384};
	unsigned fetch;

	(void)state;
	for (fetch = 0; fetch < 2; fetch++) {
		unsigned seen = against_slow(small(), spans, fetch);

		/* Hits, and misses in every level, with and without TLB misses. */
		assert_int_equal(seen & 0xff, 0x8b);
		assert_int_not_equal(seen >> 8, 0);
	}
}

/*
 * TLBs of one set: from nine ways on, what was used last is known by clocks and not by places.  Of
 * the pages drawn, some fit all of them and some none.
 */
static void test_tlbs_of_one_set(void **state)
{
	static const uint32_t sizes[] = {7, 8, 9, 16, 48, 64};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		uint64_t page = 256, reach = sizes[i] * page;
		uint64_t spans[] = {reach / 2, reach, 2 * reach, 4 * reach};
		struct vt_core m = small();
		unsigned seen;

		m.itlb = (struct vt_tlb_shape){sizes[i], sizes[i], 256, 20};
		m.dtlb = m.itlb;
		m.stlb = (struct vt_tlb_shape){2 * sizes[i], 2 * sizes[i], 256, 50};
		seen = against_slow(m, spans, i % 2);
		/* Hits, misses of the first TLB alone, misses of both. */
		assert_int_not_equal(seen & 0xff, 0);
		assert_int_not_equal(seen & 0xff00, 0);
		assert_int_not_equal(seen >> 24, 0);
	}
}

/* ---- by hand ---- */

/* Without TLBs: only the caches count. */
static struct vt_core flat(void)
{
	struct vt_core m = small();

	memset(&m.itlb, 0, sizeof(m.itlb));
	memset(&m.dtlb, 0, sizeof(m.dtlb));
	memset(&m.stlb, 0, sizeof(m.stlb));
	return m;
}

static void test_lines_under_way(void **state)
{
	struct vt_core m = flat();
	struct vt_simmem *s = vt_simmem_new(&m);
	struct vt_simmem_access a;

	(void)state;
	a = vt_simmem_load(s, 1000, 0, 8);
	assert_int_equal(a.cycles, 98);
	/* The same line, 60 cycles later: the rest of it, and a miss like the first. */
	a = vt_simmem_load(s, 1060, 8, 8);
	assert_int_equal(a.cycles, 38);
	assert_int_equal(a.missed, VT_MISS_L1 | VT_MISS_L2 | VT_MISS_L3);
	/* As soon as it takes no longer than a hit, it is one. */
	assert_int_equal(vt_simmem_load(s, 1097, 8, 8).cycles, 1);
	a = vt_simmem_load(s, 1098, 8, 8);
	assert_int_equal(a.cycles, 0);
	assert_int_equal(a.missed, 0);
	vt_simmem_free(s);
}

static void test_two_misses_at_a_time(void **state)
{
	struct vt_core m = flat();
	struct vt_simmem *s = vt_simmem_new(&m);

	(void)state;
	assert_int_equal(vt_simmem_load(s, 1000, 0, 8).cycles, 98);
	assert_int_equal(vt_simmem_load(s, 1010, 0x1000, 8).cycles, 98);
	/* The third begins when the first is done, at 1100. */
	assert_int_equal(vt_simmem_load(s, 1020, 0x2000, 8).cycles, 80 + 98);
	/* The fourth when the second is, at 1110. */
	assert_int_equal(vt_simmem_load(s, 1020, 0x3000, 8).cycles, 90 + 98);
	vt_simmem_free(s);
}

static void test_across_lines(void **state)
{
	struct vt_core m = flat();
	struct vt_simmem *s = vt_simmem_new(&m);
	struct vt_simmem_access a;

	(void)state;
	vt_simmem_load(s, 0, 0x1000, 8);
	/* One half is there, the other not; afterwards both are. */
	assert_int_equal(vt_simmem_load(s, LONG, 0x101c, 8).missed, VT_MISS_L1);
	assert_int_equal(vt_simmem_load(s, 2 * LONG, 0x101c, 8).missed, 0);
	/* The end of the address space has no next line. */
	a = vt_simmem_load(s, 3 * LONG, UINT64_MAX, 8);
	assert_int_equal(a.cycles, 98);
	assert_int_equal(vt_simmem_load(s, 4 * LONG, UINT64_MAX - 3, 4).cycles, 0);
	/* Any size ends. */
	vt_simmem_load(s, 5 * LONG, 0, UINT32_MAX);
	vt_simmem_free(s);
}

static void test_clocks_apart(void **state)
{
	struct vt_core m = flat();
	struct vt_simmem *s = vt_simmem_new(&m);

	(void)state;
	/* Another thread's miss, a long time ahead, is nothing to wait for. */
	vt_simmem_load(s, 1000000000, 0, 8);
	assert_int_equal(vt_simmem_load(s, 1000, 0, 8).cycles, 0);
	vt_simmem_free(s);
}

static void test_nothing_there(void **state)
{
	struct vt_core m = {.memory = 7};
	struct vt_simmem *s = vt_simmem_new(&m);

	(void)state;
	/* Without caches every access goes to memory. */
	assert_int_equal(vt_simmem_load(s, 0, 0x1000, 8).cycles, 7);
	assert_int_equal(vt_simmem_load(s, 100, 0x1000, 8).cycles, 7);
	assert_int_equal(vt_simmem_store(s, 200, 0x1000, 8).cycles, 0);
	vt_simmem_free(s);
	/* Shapes that a cache cannot have. */
	m.dcache = (struct vt_cache_shape){.size = 64, .line = 0, .ways = 100, .latency = 1};
	s = vt_simmem_new(&m);
	assert_int_equal(vt_simmem_load(s, 0, 0x1000, 2).cycles, 6);
	assert_int_equal(vt_simmem_load(s, 100, 0x1000, 2).cycles, 0);
	vt_simmem_free(s);
}

static void test_out_of_order(void **state)
{
	struct vt_core m = flat();
	struct vt_simmem *s = vt_simmem_new(&m);

	(void)state;
	assert_int_equal(vt_simmem_load(s, 1000, 0, 8).cycles, 98);
	assert_int_equal(vt_simmem_load(s, 1000, 0x1000, 8).cycles, 98);
	/* Told later, but earlier: it waits neither for that line nor for room, */
	assert_int_equal(vt_simmem_load(s, 900, 0, 8).cycles, 98);
	assert_int_equal(vt_simmem_load(s, 900, 0x2000, 8).cycles, 98);
	/* and brought the line for the first. */
	assert_int_equal(vt_simmem_load(s, 1000, 8, 8).cycles, 0);
	vt_simmem_free(s);
}

/* ---- the write buffer ---- */

static void test_write_buffer(void **state)
{
	struct vt_core m = flat();
	struct vt_simmem_access a;
	struct vt_simmem *s;
	unsigned i;

	(void)state;
	m.write_buffer = 2;
	m.drain = 10;
	s = vt_simmem_new(&m);
	for (i = 0; i < 4; i++)
		vt_simmem_load(s, (i + 1) * (uint64_t)LONG, i * 32, 1);
	/* The lines are all in the cache: each takes ten cycles to write out, from 100000 on. */
	assert_int_equal(vt_simmem_store(s, 100000, 0, 8).cycles, 0);
	assert_int_equal(vt_simmem_store(s, 100001, 32, 8).cycles, 0);
	assert_int_equal(vt_simmem_store(s, 100002, 40, 8).cycles, 0); /* goes along */
	a = vt_simmem_store(s, 100003, 64, 8);
	assert_int_equal(a.cycles, 7);
	assert_int_equal(a.buffer, 7);
	assert_int_equal(a.missed, VT_MISS_BUFFER);
	/* At 100010 line 1 is being written, and nothing can go along any more. */
	assert_int_equal(vt_simmem_store(s, 100012, 48, 8).cycles, 8);
	assert_int_equal(vt_simmem_store(s, 101000, 96, 8).cycles, 0);
	vt_simmem_free(s);
}

static void test_write_misses(void **state)
{
	struct vt_core m = flat();
	struct vt_simmem_access a;
	struct vt_simmem *s;

	(void)state;
	m.write_buffer = 2;
	m.drain = 10;
	m.dcache.misses = 0;
	s = vt_simmem_new(&m);
	/* Both lines come from memory, at a time; the third waits for the first of them. */
	a = vt_simmem_store(s, 1000, 0, 8);
	assert_int_equal(a.cycles, 0);
	assert_int_equal(a.missed, VT_MISS_L1 | VT_MISS_L2 | VT_MISS_L3);
	assert_int_equal(vt_simmem_store(s, 1001, 0x1000, 8).cycles, 0);
	assert_int_equal(vt_simmem_store(s, 1002, 0x2000, 8).cycles, 98);
	assert_int_equal(vt_simmem_store(s, 1100, 0x3000, 8).cycles, 10);
	vt_simmem_free(s);
}

/*
 * Any number of stores to lines that hit, against a buffer that is looked at in every cycle: it
 * takes in what comes if there is room, and writes the head out for `drain` cycles.
 */
static void test_write_buffer_by_cycles(void **state)
{
	enum { ROOM = 3, DRAIN = 7, LINES = 8, STORES = 3000 };
	uint64_t lines[ROOM], at = 100000, cycle = 100000, left = 0;
	struct vt_core m = flat();
	uint32_t held = 0, waits = 0;
	struct vt_simmem *s;
	struct vt_rng r;
	unsigned i, j;

	(void)state;
	m.dcache = (struct vt_cache_shape){.size = 4096, .line = 32, .ways = 4, .latency = 2};
	m.write_buffer = ROOM;
	m.drain = DRAIN;
	s = vt_simmem_new(&m);
	vt_rng_init(&r, 2);
	for (i = 0; i < LINES; i++)
		vt_simmem_load(s, (i + 1) * (uint64_t)(LONG / LINES), i * 32, 1);
	for (i = 0; i < STORES; i++) {
		uint64_t line = vt_rng_below(&r, LINES);
		struct vt_simmem_access a = vt_simmem_store(s, at, line * 32, 4);
		bool taken = false;

		while (!taken) {
			/* One cycle of the buffer; a store comes in at `at` or later. */
			if (held && left == 0) {
				memmove(lines, lines + 1, sizeof(lines) - sizeof(*lines));
				held--;
				left = held ? DRAIN : 0;
			}
			for (j = 1; cycle >= at && j < held && !taken; j++)
				taken = lines[j] == line;
			if (cycle >= at && !taken && held < ROOM) {
				lines[held++] = line;
				left = held == 1 ? DRAIN : left;
				taken = true;
			}
			if (taken)
				break;
			cycle++;
			left -= left > 0;
		}
		assert_int_equal(a.cycles, cycle - at);
		waits += a.cycles > 0;
		at = cycle + 1 + vt_rng_below(&r, 8);
	}
	assert_true(waits > 100 && waits < STORES);
	vt_simmem_free(s);
}

/* ---- misses that are told ---- */

struct told {
	struct vt_simmem_miss misses[16];
	size_t n;
};

static void note_miss(void *arg, const struct vt_simmem_miss *miss)
{
	struct told *t = arg;

	assert_true(t->n < 16);
	t->misses[t->n++] = *miss;
}

/* Of small()'s data cache: 8 sets of 2 ways, so that lines 256 bytes apart are of one set. */
static void test_misses_told(void **state)
{
	static const struct {
		uint64_t addr;
		uint32_t size, set;
		uint64_t evicted; /* 0: none */
		bool store, brought;
		uint32_t missed;
	} want[] = {
		{0x10000, 8, 0, 0, false, true, VT_MISS_L1 | VT_MISS_L2 | VT_MISS_L3},
		{0x10100, 8, 0, 0, true, true, VT_MISS_L1 | VT_MISS_L2 | VT_MISS_L3},
		{0x10200, 4, 0, 0x10000, false, true, VT_MISS_L1 | VT_MISS_L2 | VT_MISS_L3},
		{0x10000, 8, 0, 0x10200, false, true, VT_MISS_L1},
		/* Over the end of a line. */
		{0x1021c, 4, 0, 0x10100, false, true, VT_MISS_L1},
		{0x10220, 4, 1, 0, false, true, VT_MISS_L1},
		/* A line that is on its way. */
		{0x10340, 8, 2, 0, false, true, VT_MISS_L1 | VT_MISS_L2 | VT_MISS_L3},
		{0x10348, 8, 2, 0, false, false, VT_MISS_L1 | VT_MISS_L2 | VT_MISS_L3},
	};
	const struct vt_core m = small();
	struct vt_simmem *s = vt_simmem_new(&m);
	struct told told = {.n = 0};
	uint64_t now = LONG;
	size_t i;

	(void)state;
	assert_int_equal(vt_simmem_sets(&m.dcache), 8);
	assert_int_equal(vt_simmem_sets(&m.l3), 7);
	assert_int_equal(vt_simmem_sets(&(struct vt_cache_shape){.size = 0}), 0);
	vt_simmem_load(s, now, 0x10000, 8);
	vt_simmem_free(s);
	s = vt_simmem_new(&m);
	vt_simmem_watch(s, note_miss, &told);
	vt_simmem_load(s, now += LONG, 0x10000, 8);
	vt_simmem_load(s, now += LONG, 0x10010, 8);
	vt_simmem_store(s, now += LONG, 0x10100, 8);
	vt_simmem_load(s, now += LONG, 0x10200, 4);
	vt_simmem_load(s, now += LONG, 0x10108, 8);
	vt_simmem_fetch(s, now += LONG, 0x20000, 8);
	vt_simmem_load(s, now += LONG, 0x10000, 8);
	vt_simmem_load(s, now += LONG, 0x1021c, 8);
	vt_simmem_load(s, now += LONG, 0x10340, 8);
	vt_simmem_load(s, now + 1, 0x10348, 8);
	assert_int_equal(told.n, sizeof(want) / sizeof(want[0]));
	for (i = 0; i < told.n; i++) {
		const struct vt_simmem_miss *got = &told.misses[i];
		const uint32_t caches = VT_MISS_L1 | VT_MISS_L2 | VT_MISS_L3;

		assert_int_equal(got->addr, want[i].addr);
		assert_int_equal(got->size, want[i].size);
		assert_int_equal(got->set, want[i].set);
		assert_int_equal(got->evicts, want[i].evicted != 0);
		assert_int_equal(got->evicted, want[i].evicted);
		assert_int_equal(got->store, want[i].store);
		assert_int_equal(got->brought, want[i].brought);
		assert_int_equal(got->access.missed & caches, want[i].missed);
	}
	vt_simmem_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_level),
		cmocka_unit_test(test_misses_told),
		cmocka_unit_test(test_tlbs_of_one_set),
		cmocka_unit_test(test_lines_under_way),
		cmocka_unit_test(test_two_misses_at_a_time),
		cmocka_unit_test(test_across_lines),
		cmocka_unit_test(test_clocks_apart),
		cmocka_unit_test(test_out_of_order),
		cmocka_unit_test(test_nothing_there),
		cmocka_unit_test(test_write_buffer),
		cmocka_unit_test(test_write_misses),
		cmocka_unit_test(test_write_buffer_by_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
