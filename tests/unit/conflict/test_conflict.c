/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pairs of conflicting accesses: random accesses of a few places against all pairs looked at byte
 * by byte; and what rules a pair out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "conflict/conflict.h"

#define NINSNS	4000
#define NPLACES 8

struct step {
	uint32_t place;
	struct vt_access access;
};

static void make_steps(struct step *steps, uint64_t seed)
{
	struct vt_rng rng;
	int i;

	vt_rng_init(&rng, seed);
	for (i = 0; i < NINSNS; i++) {
		steps[i].place = (uint32_t)vt_rng_below(&rng, NPLACES);
		steps[i].access = (struct vt_access){
			.addr = 0x10000 + 4096 * vt_rng_below(&rng, 2) + vt_rng_below(&rng, 80),
			.size = (uint16_t)(1u << vt_rng_below(&rng, 5)),
			.store = vt_rng_below(&rng, 2),
			.known = true};
	}
}

/* How many bytes of the load the store has; with `mask`, as far as these bits of addresses tell. */
static int shared(const struct vt_access *store, const struct vt_access *load, uint64_t mask)
{
	int i, k, n = 0;

	for (i = 0; i < load->size; i++)
		for (k = 0; k < store->size; k++)
			n += ((load->addr + (unsigned)i) & mask) ==
			     ((store->addr + (unsigned)k) & mask);
	return n;
}

/*
 * The youngest store in reach that seems to have bytes of load `at`, or -1; one of the last
 * `stores`, unless that is 0.
 */
static int youngest(const struct step *steps, int at, int distance, uint32_t stores, uint64_t mask)
{
	uint32_t seen = 0;
	int i;

	for (i = at - 1; i >= 0 && at - i <= distance; i--) {
		if (!steps[i].access.store)
			continue;
		if (shared(&steps[i].access, &steps[at].access, mask))
			return i;
		if (++seen == stores)
			break;
	}
	return -1;
}

static uint64_t count_of(const struct vt_conflicts *c, uint32_t later, uint32_t earlier,
			 uint32_t type)
{
	size_t i;

	for (i = 0; i < vt_conflicts_count(c); i++) {
		const struct vt_conflict_pair *p = vt_conflicts_at(c, i);

		if (p->later == later && p->earlier == earlier && p->type == type)
			return p->count;
	}
	return 0;
}

static void against_all_pairs(void **state)
{
	static struct step steps[NINSNS];
	uint64_t want[2][NPLACES][NPLACES];
	int distance, i, k, e;

	(void)state;
	for (distance = 1; distance < 300; distance = distance * 2 + 1) {
		struct vt_conflict_model m = *vt_conflict_model("generic");
		struct vt_error err = VT_ERROR_INIT;
		struct vt_conflicts *c;

		memset(want, 0, sizeof(want));
		make_steps(steps, (uint64_t)distance);
		m.distance = (uint32_t)distance;
		m.stores = (uint32_t)distance % 7;
		c = vt_conflicts_new(&m, false, &err);
		assert_non_null(c);
		vt_conflicts_begin(c);
		for (i = 0; i < NINSNS; i++) {
			const struct vt_access *a = &steps[i].access;
			struct vt_conflict_code code = {.place = steps[i].place};

			assert_int_equal(vt_conflicts_insn(c, &code, a, 1, &err), 0);
			if (a->store)
				continue;
			e = youngest(steps, i, distance, m.stores, UINT64_MAX);
			if (e >= 0 && shared(&steps[e].access, a, UINT64_MAX) < a->size)
				want[0][steps[i].place][steps[e].place]++;
			e = youngest(steps, i, distance, m.stores, 4095);
			if (e >= 0 && !shared(&steps[e].access, a, UINT64_MAX))
				want[1][steps[i].place][steps[e].place]++;
		}
		for (i = 0; i < NPLACES; i++) {
			for (k = 0; k < NPLACES; k++) {
				assert_int_equal(
					count_of(c, (uint32_t)i, (uint32_t)k, VT_CONFLICT_FORWARD),
					want[0][i][k]);
				assert_int_equal(
					count_of(c, (uint32_t)i, (uint32_t)k, VT_CONFLICT_ALIAS_4K),
					want[1][i][k]);
			}
		}
		assert_int_equal(vt_conflicts_totals(c)->insns, NINSNS);
		vt_conflicts_free(c);
	}
}

/* A load whose address comes from the load before it, or does not; dependent pairs may be wanted.
 */
static void dependence(void **state)
{
	const struct vt_access accesses[] = {{.addr = 0x1040, .size = 8, .known = true},
					     {.addr = 0x9040, .size = 8, .known = true}};
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		const bool depends = i & 1, wanted = i & 2;
		struct vt_conflict_code first = {.place = 0, .results = 1, .replaced = 1};
		struct vt_conflict_code move = {
			.place = 1, .reads = 1, .results = 2, .replaced = 2};
		struct vt_conflict_code last = {
			.place = 2, .reads = 2u << !depends, .loads = 2u << !depends};
		struct vt_error err = VT_ERROR_INIT;
		struct vt_conflicts *c = vt_conflicts_new(vt_conflict_model("alpha"), wanted, &err);

		assert_non_null(c);
		vt_conflicts_begin(c);
		assert_int_equal(vt_conflicts_insn(c, &first, &accesses[0], 1, &err), 0);
		assert_int_equal(vt_conflicts_insn(c, &move, NULL, 0, &err), 0);
		assert_int_equal(vt_conflicts_insn(c, &last, &accesses[1], 1, &err), 0);
		assert_int_equal(count_of(c, 2, 0, VT_CONFLICT_SYNONYM), wanted || !depends);
		assert_int_equal(vt_conflicts_totals(c)->ruled_out, !wanted && depends);
		vt_conflicts_free(c);
	}
}

/* ---- worked examples ---- */

#define T(type) (1u << VT_CONFLICT_##type)

/* The accesses of instructions of places 0, 1, ..., one each, that depend on nothing. */
static struct vt_conflicts *run(const struct vt_conflict_model *m, const struct vt_access *accesses,
				uint32_t n)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_conflicts *c = vt_conflicts_new(m, false, &err);
	uint32_t i;

	assert_non_null(c);
	vt_conflicts_begin(c);
	for (i = 0; i < n; i++) {
		struct vt_conflict_code code = {.place = i};

		assert_int_equal(vt_conflicts_insn(c, &code, &accesses[i], 1, &err), 0);
	}
	return c;
}

/*
 * The sets of a cache and the pages of 4 Kbyte need not divide one another: two loads a way apart
 * are of one set, and a store and a load 4096 bytes apart alias, whatever the cache.
 */
static void sets_and_pages(void **state)
{
	static const struct {
		uint32_t types, size, ways, line;
		uint64_t way;
	} caches[] = {
		{T(SYNONYM) | T(ALIAS_4K), 65536, 1, 64, 65536},
		{T(SYNONYM) | T(ALIAS_4K), 131072, 2, 64, 65536},
		{T(SYNONYM) | T(ALIAS_4K), 6144, 1, 64, 6144},
		{T(SYNONYM) | T(ALIAS_4K), 96, 1, 32, 96},
		{T(SYNONYM) | T(ALIAS_4K), 384, 1, 128, 384},
		{T(SYNONYM) | T(ALIAS_4K), 1600, 1, 64, 1600},
		{T(SYNONYM) | T(ALIAS_4K), 2048, 1, 32, 2048},
		{T(SYNONYM), 192, 1, 64, 192},
		{T(SYNONYM), 768, 1, 64, 768},
		{T(SYNONYM), 65600, 1, 64, 65600},
		{T(SYNONYM), 6144, 1, 64, 6144},
		{T(SYNONYM), 2048, 1, 32, 2048},
		{T(SYNONYM), 1600, 1, 64, 1600},
		{T(SYNONYM), 131072, 1, 64, 131072},
		{T(SYNONYM), 96, 1, 32, 96},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(caches) / sizeof(*caches); i++) {
		const uint64_t at = 0x600000, way = caches[i].way;
		const struct vt_access accesses[] = {
			{.addr = at, .size = 8, .known = true, .store = true},
			{.addr = at + 4096, .size = 8, .known = true},
			{.addr = at + way, .size = 8, .known = true},
			{.addr = at + way + caches[i].line, .size = 8, .known = true},
			{.addr = at + way, .size = 8, .known = true},
		};
		struct vt_conflict_model m = *vt_conflict_model("generic");
		struct vt_conflicts *c;

		m.types = caches[i].types;
		m.cache_size = caches[i].size;
		m.cache_ways = caches[i].ways;
		m.cache_line = caches[i].line;
		c = run(&m, accesses, 5);
		assert_int_equal(count_of(c, 1, 0, VT_CONFLICT_ALIAS_4K),
				 !!(m.types & T(ALIAS_4K)));
		assert_int_equal(count_of(c, 2, 0, VT_CONFLICT_SYNONYM), 1);
		assert_int_equal(count_of(c, 3, 0, VT_CONFLICT_SYNONYM), 0);
		assert_int_equal(count_of(c, 4, 2, VT_CONFLICT_SYNONYM), 0); /* the same line */
		vt_conflicts_free(c);
	}
}

/* A load takes each byte from the youngest store of it, up to 64 bytes; older stores do not matter.
 */
static void wide_loads(void **state)
{
	static const uint16_t sizes[] = {62, 63, 64};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const uint16_t size = sizes[i];
		const struct vt_access accesses[] = {
			{.addr = 0x1000, .size = 64, .known = true, .store = true},
			{.addr = 0x1020,
			 .size = (uint16_t)(size - 32),
			 .known = true,
			 .store = true},
			{.addr = 0x1000, .size = 32, .known = true, .store = true},
			{.addr = 0x1000, .size = size, .known = true},
		};
		struct vt_conflict_model m = *vt_conflict_model("generic");
		struct vt_conflicts *c;

		m.types = T(FORWARD) | T(ORDER) | T(SIZE);
		m.late_address = false;
		c = run(&m, accesses, 4);
		assert_int_equal(count_of(c, 3, 2, VT_CONFLICT_FORWARD), 1);
		assert_int_equal(count_of(c, 3, 1, VT_CONFLICT_FORWARD), 0);
		assert_int_equal(count_of(c, 3, 2, VT_CONFLICT_SIZE), 1);
		assert_int_equal(count_of(c, 3, 2, VT_CONFLICT_ORDER), 1);
		assert_int_equal(count_of(c, 3, 1, VT_CONFLICT_ORDER), 1);
		assert_int_equal(count_of(c, 3, 0, VT_CONFLICT_ORDER), 0);
		vt_conflicts_free(c);
	}
}

/* Two accesses, one after the other: whether the later one meets the earlier one in this way. */
static uint64_t meets(const struct vt_conflict_model *m, struct vt_access first,
		      struct vt_access last, enum vt_conflict type)
{
	const struct vt_access accesses[] = {first, last};
	struct vt_conflicts *c = run(m, accesses, 2);
	uint64_t n = count_of(c, 1, 0, type);

	vt_conflicts_free(c);
	return n;
}

#define STORE(a, n) ((struct vt_access){.addr = (a), .size = (n), .store = true, .known = true})
#define LOAD(a, n)  ((struct vt_access){.addr = (a), .size = (n), .known = true})

/* A store and a load in its midst or around it, both of three chunks of 64 bytes. */
static void wide_accesses(void **state)
{
	struct vt_conflict_model m = *vt_conflict_model("generic");
	uint64_t at;

	(void)state;
	m.late_address = false;
	for (at = 0x103f - 64; at < 0x103f + 64 + 8; at++) {
		bool shares = at + 8 > 0x103f && at < 0x103f + 64;
		bool within = at >= 0x103f && at + 8 <= 0x103f + 64;

		assert_int_equal(meets(&m, STORE(0x103f, 64), LOAD(at, 8), VT_CONFLICT_ORDER),
				 shares);
		assert_int_equal(meets(&m, STORE(0x103f, 64), LOAD(at, 8), VT_CONFLICT_FORWARD),
				 shares && !within);
		assert_int_equal(meets(&m, STORE(at, 8), LOAD(0x103f, 64), VT_CONFLICT_ORDER),
				 shares);
	}
}

/* A store that ends before the last byte of a load: what an older one has of that counts. */
static void last_bytes(void **state)
{
	const struct vt_access accesses[] = {STORE(0x1004, 1), STORE(0x1000, 4), LOAD(0x1000, 8)};
	struct vt_conflict_model m = *vt_conflict_model("generic");
	struct vt_conflicts *c;

	(void)state;
	m.late_address = false;
	c = run(&m, accesses, 3);
	assert_int_equal(count_of(c, 2, 0, VT_CONFLICT_ORDER), 1);
	assert_int_equal(count_of(c, 2, 1, VT_CONFLICT_ORDER), 1);
	vt_conflicts_free(c);
}

/* Only stores that cross a line; where lines are is not known of what is relative. */
static void crossing_stores(void **state)
{
	struct vt_conflict_model m = *vt_conflict_model("generic");
	struct vt_access store, load;
	uint64_t at;

	(void)state;
	m.crossing = 64;
	for (at = 0x1030; at <= 0x1048; at++) {
		store = STORE(at, 8);
		load = LOAD(at, 4);
		assert_int_equal(meets(&m, store, load, VT_CONFLICT_FORWARD),
				 at > 0x1038 && at < 0x1040);
		store.base = load.base = 1;
		assert_int_equal(meets(&m, store, load, VT_CONFLICT_FORWARD), 0);
		load.addr++;
		load.size = 8;
		assert_int_equal(meets(&m, store, load, VT_CONFLICT_FORWARD), 1);
		load.base = 2;
		assert_int_equal(meets(&m, store, load, VT_CONFLICT_FORWARD), 0);
	}
}

/* Relative to the same, only places whole ways apart are of one set for certain. */
static void relative_synonyms(void **state)
{
	const struct vt_conflict_model *m = vt_conflict_model("alpha");
	struct vt_access first = LOAD(0x20, 8), last;
	uint64_t apart;

	(void)state;
	first.base = 3;
	for (apart = 32768 - 64; apart <= 32768 + 64; apart += 8) {
		last = LOAD(0x20 + apart, 8);
		last.base = 3;
		assert_int_equal(meets(m, first, last, VT_CONFLICT_SYNONYM), apart == 32768);
		last.base = 4;
		assert_int_equal(meets(m, first, last, VT_CONFLICT_SYNONYM), 0);
	}
}

/* Of 4800 stores in 960 instructions the last 4096 are remembered: from number 704 on. */
static void many_stores(void **state)
{
	struct vt_conflict_model m = *vt_conflict_model("generic");
	const struct vt_access loads[] = {LOAD(0x10000 + 8 * 703, 8), LOAD(0x10000 + 8 * 704, 8)};
	struct vt_access stores[5];
	struct vt_error err = VT_ERROR_INIT;
	struct vt_conflicts *c;
	uint32_t i, k;

	(void)state;
	m.distance = VT_CONFLICT_MAX_DISTANCE;
	m.stores = 0;
	m.late_address = false;
	c = vt_conflicts_new(&m, false, &err);
	assert_non_null(c);
	vt_conflicts_begin(c);
	for (i = 0; i < 962; i++) {
		const struct vt_conflict_code code = {.place = i};
		const bool store = i < 960;

		for (k = 0; k < 5; k++)
			stores[k] = STORE(0x10000 + 8 * (5 * i + k), 8);
		assert_int_equal(vt_conflicts_insn(c, &code, store ? stores : &loads[i - 960],
						   store ? 5 : 1, &err),
				 0);
	}
	assert_int_equal(count_of(c, 960, 140, VT_CONFLICT_ORDER), 0);
	assert_int_equal(count_of(c, 961, 140, VT_CONFLICT_ORDER), 1);
	vt_conflicts_free(c);
}

/* What is known of two pairs: how often, how far apart in all, and the nearest. */
static void distances_and_totals(void **state)
{
	const struct vt_access store = {.addr = 0x1000, .size = 4, .store = true, .known = true};
	const struct vt_access load = {.addr = 0x1000, .size = 8, .known = true};
	const struct vt_access several[] = {
		{.addr = 0, .size = 8}, /* not known */
		{.addr = 8, .base = 1, .size = 8, .known = true},
		{.addr = 0x2000, .size = VT_CONFLICT_MAX_ACCESS, .known = true},
		{.addr = 0x3000, .size = VT_CONFLICT_MAX_ACCESS + 1, .known = true},
		{.addr = 0x3000, .size = 0, .known = true},
	};
	static const int between[] = {2, 0, 4};
	struct vt_conflict_model m = *vt_conflict_model("generic");
	const struct vt_conflict_code first = {.place = 0}, last = {.place = 1};
	const struct vt_conflict_code other = {.place = 7};
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_conflict_pair *p;
	struct vt_conflicts *c;
	size_t i;
	int k;

	(void)state;
	m.types = T(FORWARD);
	c = vt_conflicts_new(&m, false, &err);
	assert_non_null(c);
	for (i = 0; i < 3; i++) {
		vt_conflicts_begin(c);
		assert_int_equal(vt_conflicts_insn(c, &first, &store, 1, &err), 0);
		for (k = 0; k < between[i]; k++)
			assert_int_equal(vt_conflicts_insn(c, &other, NULL, 0, &err), 0);
		assert_int_equal(vt_conflicts_insn(c, &last, &load, 1, &err), 0);
	}
	assert_int_equal(vt_conflicts_insn(c, &other, several, 5, &err), 0);
	assert_int_equal(vt_conflicts_count(c), 1);
	p = vt_conflicts_at(c, 0);
	assert_int_equal(p->count, 3);
	assert_int_equal(p->distance, 3 + 1 + 5);
	assert_int_equal(p->nearest, 1);
	assert_int_equal(vt_conflicts_executions(c, 0), 3);
	assert_int_equal(vt_conflicts_executions(c, 1), 3);
	assert_int_equal(vt_conflicts_executions(c, 6), 0);
	assert_int_equal(vt_conflicts_executions(c, 7), 1);
	assert_int_equal(vt_conflicts_executions(c, UINT32_MAX), 0);
	assert_int_equal(vt_conflicts_totals(c)->runs, 3);
	assert_int_equal(vt_conflicts_totals(c)->insns, 13);
	assert_int_equal(vt_conflicts_totals(c)->accesses, 11);
	assert_int_equal(vt_conflicts_totals(c)->known, 9);
	assert_int_equal(vt_conflicts_totals(c)->relative, 1);
	assert_int_equal(vt_conflicts_totals(c)->apart, 2);
	vt_conflicts_free(c);
}

/* SIZE:WAYS:LINE: what is taken, and what is refused as it makes no cache. */
static void caches(void **state)
{
	static const char *const bad[] = {
		"",	    "64k",	"64k:2",	"64k:2:64:", "64k:2:64 ",     "0:2:64",
		"64k:0:64", "64k:2:0",	"64k:2k:64",	" 64k:2:64", "-64:2:64",      "64k:2:48",
		"64:2:64",  "100:1:64", "1048577k:1:1", "64m:2:64",  "1073741825:1:1"};
	struct vt_conflict_model m = *vt_conflict_model("alpha");
	struct vt_error err = VT_ERROR_INIT;
	size_t i;

	(void)state;
	assert_int_equal(vt_conflict_model_cache(&m, "128K:4:32", &err), 0);
	assert_int_equal(m.cache_size, 131072);
	assert_int_equal(m.cache_ways, 4);
	assert_int_equal(m.cache_line, 32);
	assert_int_equal(vt_conflict_model_cache(&m, "128:2:64", &err), 0);
	assert_int_equal(vt_conflict_model_cache(&m, "1048576k:1:1", &err), 0);
	assert_int_equal(m.cache_size, 1u << 30);
	assert_int_equal(vt_conflict_model_cache(&m, "1073741824:1:1", &err), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(vt_conflict_model_cache(&m, bad[i], &err), -VT_E_USAGE);
	m = *vt_conflict_model("zen4");
	assert_int_equal(vt_conflict_model_cache(&m, "64k:2:64", &err), -VT_E_USAGE);
	assert_string_equal(err.text, "the model zen4 has no conflicts of its cache");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_all_pairs),
		cmocka_unit_test(dependence),
		cmocka_unit_test(sets_and_pages),
		cmocka_unit_test(wide_loads),
		cmocka_unit_test(distances_and_totals),
		cmocka_unit_test(wide_accesses),
		cmocka_unit_test(last_bytes),
		cmocka_unit_test(crossing_stores),
		cmocka_unit_test(relative_synonyms),
		cmocka_unit_test(many_stores),
		cmocka_unit_test(caches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
