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

#include "analysis/conflict.h"
#include "base/rng.h"

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

/* The youngest store in reach that seems to have bytes of load `at`, or -1. */
static int youngest(const struct step *steps, int at, int distance, uint64_t mask)
{
	int i;

	for (i = at - 1; i >= 0 && at - i <= distance; i--)
		if (steps[i].access.store && shared(&steps[i].access, &steps[at].access, mask))
			return i;
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
	for (distance = 1; distance < 300; distance = distance * 3 + 1) {
		struct vt_conflict_model m = *vt_conflict_model("generic");
		struct vt_error err = VT_ERROR_INIT;
		struct vt_conflicts *c;

		memset(want, 0, sizeof(want));
		make_steps(steps, (uint64_t)distance);
		m.distance = (uint32_t)distance;
		m.stores = 0;
		c = vt_conflicts_new(&m, false, &err);
		assert_non_null(c);
		vt_conflicts_begin(c);
		for (i = 0; i < NINSNS; i++) {
			const struct vt_access *a = &steps[i].access;
			struct vt_conflict_code code = {.place = steps[i].place};

			assert_int_equal(vt_conflicts_insn(c, &code, a, 1, &err), 0);
			if (a->store)
				continue;
			e = youngest(steps, i, distance, UINT64_MAX);
			if (e >= 0 && shared(&steps[e].access, a, UINT64_MAX) < a->size)
				want[0][steps[i].place][steps[e].place]++;
			e = youngest(steps, i, distance, 4095);
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

/* A load whose address comes from the load before it, or does not. */
static void dependence(void **state)
{
	const struct vt_access accesses[] = {{.addr = 0x1040, .size = 8, .known = true},
					     {.addr = 0x9040, .size = 8, .known = true}};
	int depends;

	(void)state;
	for (depends = 0; depends < 2; depends++) {
		struct vt_conflict_code first = {.place = 0, .results = 1, .replaced = 1};
		struct vt_conflict_code move = {
			.place = 1, .reads = 1, .results = 2, .replaced = 2};
		struct vt_conflict_code last = {
			.place = 2, .reads = 2u << !depends, .loads = 2u << !depends};
		struct vt_error err = VT_ERROR_INIT;
		struct vt_conflicts *c = vt_conflicts_new(vt_conflict_model("alpha"), false, &err);

		assert_non_null(c);
		vt_conflicts_begin(c);
		assert_int_equal(vt_conflicts_insn(c, &first, &accesses[0], 1, &err), 0);
		assert_int_equal(vt_conflicts_insn(c, &move, NULL, 0, &err), 0);
		assert_int_equal(vt_conflicts_insn(c, &last, &accesses[1], 1, &err), 0);
		assert_int_equal(count_of(c, 2, 0, VT_CONFLICT_SYNONYM), !depends);
		assert_int_equal(vt_conflicts_totals(c)->ruled_out, depends);
		vt_conflicts_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_all_pairs),
		cmocka_unit_test(dependence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
