/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The modelled branch predictor: against obvious ones over bit strings, and cases worked by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "machine/insn/insn.h"
#include "machine/pipeline/branch.h"

#define CONDITIONAL (VT_FACT_BRANCH | VT_FACT_CONDITIONAL)
#define CALL	    (VT_FACT_BRANCH | VT_FACT_CALL)
#define RETURN	    (VT_FACT_BRANCH | VT_FACT_RETURN)
#define JUMP	    (VT_FACT_BRANCH | VT_FACT_JUMP)

/* How often a conditional branch at `addr` is predicted to be taken: 0 or 1. */
static bool ask(struct vt_simbranch *s, uint64_t addr, bool taken)
{
	uint64_t said = vt_simbranch_predict(s, addr, CONDITIONAL, addr + 2, addr - 100,
					     taken ? addr - 100 : addr + 2);

	assert_true(said == addr + 2 || said == addr - 100);
	return said != addr + 2;
}

/* Two-bit counters as text: the last outcomes at an index, newest last, replayed each time. */
static bool replay(const uint8_t *outcomes, size_t n)
{
	int counter = 1;
	size_t i;

	for (i = 0; i < n; i++) {
		counter += outcomes[i] ? 1 : -1;
		counter = counter < 0 ? 0 : counter > 3 ? 3 : counter;
	}
	return counter >= 2;
}

static void against_replay(enum vt_predictor kind, unsigned history)
{
	enum { BITS = 4, ENTRIES = 1 << BITS, BRANCHES = 2000 };
	struct vt_core m = {.predictor = kind, .predictor_bits = BITS, .history = history};
	struct vt_simbranch *s = vt_simbranch_new(&m);
	static uint8_t outcomes[ENTRIES][BRANCHES];
	size_t n[ENTRIES] = {0};
	bool before[BRANCHES] = {false};
	unsigned said = 0;
	struct vt_rng r;
	size_t i, j;

	assert_non_null(s);
	vt_rng_init(&r, 3);
	for (i = 0; i < BRANCHES; i++) {
		uint64_t addr = 0x400000 + vt_rng_below(&r, 40);
		bool taken = vt_rng_below(&r, 3) > addr % 3;
		size_t index = (size_t)(addr % ENTRIES);

		for (j = 0; kind == VT_PREDICT_GSHARE && j < history && j < i && j < BITS; j++)
			index ^= (size_t)before[i - 1 - j] << j;
		assert_int_equal(ask(s, addr, taken), replay(outcomes[index], n[index]));
		said += replay(outcomes[index], n[index]);
		outcomes[index][n[index]++] = taken;
		before[i] = taken;
	}
	assert_true(said > BRANCHES / 10 && said < BRANCHES - BRANCHES / 10);
	vt_simbranch_free(s);
}

static void test_bimodal(void **state)
{
	(void)state;
	against_replay(VT_PREDICT_BIMODAL, 0);
	against_replay(VT_PREDICT_BIMODAL, 8);
}

static void test_gshare(void **state)
{
	(void)state;
	against_replay(VT_PREDICT_GSHARE, 0);
	against_replay(VT_PREDICT_GSHARE, 3);
	against_replay(VT_PREDICT_GSHARE, 12);
}

/* Of the last thousand of a loop's branches, which leaves after `trips`, those predicted wrongly.
 */
static unsigned wrong_of_loop(enum vt_predictor kind, unsigned trips, unsigned noise)
{
	struct vt_core m = {.predictor = kind, .predictor_bits = 12, .history = 12};
	struct vt_simbranch *s = vt_simbranch_new(&m);
	unsigned i, j, wrong = 0;
	struct vt_rng r;

	vt_rng_init(&r, 4);
	for (i = 0; i < 3000; i++) {
		bool taken = i % trips != trips - 1;

		for (j = 0; j < noise; j++)
			ask(s, 0x400100 + 16 * j, vt_rng_below(&r, 2));
		wrong += ask(s, 0x400020, taken) != taken && i >= 2000;
	}
	vt_simbranch_free(s);
	return wrong;
}

static void test_tournament(void **state)
{
	(void)state;
	/* A count of 8 is in a history of 12, whether it is the branch's own or that of all. */
	assert_int_equal(wrong_of_loop(VT_PREDICT_GSHARE, 8, 0), 0);
	assert_int_equal(wrong_of_loop(VT_PREDICT_TOURNAMENT, 8, 0), 0);
	assert_true(wrong_of_loop(VT_PREDICT_BIMODAL, 8, 0) >= 1000 / 8);
	/* Among branches that go anywhere, only the branch's own history tells. */
	assert_true(wrong_of_loop(VT_PREDICT_GSHARE, 8, 6) >
		    2 * wrong_of_loop(VT_PREDICT_TOURNAMENT, 8, 6));
}

/* The outcomes that an index has seen, oldest first. */
struct seen {
	uint8_t outcomes[4000];
	size_t n;
};

static bool replay_seen(const struct seen *s)
{
	return replay(s->outcomes, s->n);
}

static void see(struct seen *s, bool outcome)
{
	s->outcomes[s->n++] = outcome;
}

/* The last `n` of the outcomes before, the latest in bit 0. */
static size_t last_of(const struct seen *s, unsigned n)
{
	size_t bits = 0, i;

	for (i = 0; i < n && i < s->n; i++)
		bits |= (size_t)s->outcomes[s->n - 1 - i] << i;
	return bits;
}

/*
 * Two predictors by replay, and a third that learns which to believe where they disagree.  The
 * history is shorter, as long as and longer than an index has bits.
 */
static void test_tournament_by_replay(void **state)
{
	enum { BITS = 4, ENTRIES = 1 << BITS, BRANCHES = 4000 };
	static struct seen own[ENTRIES], local[ENTRIES], global[ENTRIES], choice[ENTRIES], all;
	static const unsigned histories[] = {2, 4, 9};
	unsigned h, i, believed[2];

	(void)state;
	for (h = 0; h < 3; h++) {
		struct vt_core m = {.predictor = VT_PREDICT_TOURNAMENT,
				    .predictor_bits = BITS,
				    .history = histories[h]};
		struct vt_simbranch *s = vt_simbranch_new(&m);
		unsigned bits = histories[h] < BITS ? histories[h] : BITS;
		struct vt_rng r;

		memset(own, 0, sizeof(own));
		memset(local, 0, sizeof(local));
		memset(global, 0, sizeof(global));
		memset(choice, 0, sizeof(choice));
		memset(&all, 0, sizeof(all));
		memset(believed, 0, sizeof(believed));
		vt_rng_init(&r, 5);
		for (i = 0; i < BRANCHES; i++) {
			uint64_t addr = 0x400000 + vt_rng_below(&r, 20);
			struct seen *o = &own[addr % ENTRIES];
			bool taken = addr % 2 ? i % 3 == 0 : vt_rng_below(&r, 5) > 0;
			struct seen *l = &local[last_of(o, bits)];
			struct seen *g = &global[(addr ^ last_of(&all, bits)) % ENTRIES];
			struct seen *c = &choice[last_of(&all, bits)];
			bool by_local = replay_seen(l), by_global = replay_seen(g);
			bool want = replay_seen(c) ? by_global : by_local;

			assert_int_equal(ask(s, addr, taken), want);
			if (by_local != by_global) {
				believed[replay_seen(c)]++;
				see(c, by_global == taken);
			}
			see(l, taken);
			see(g, taken);
			see(o, taken);
			see(&all, taken);
		}
		assert_true(believed[0] > 20 && believed[1] > 20);
		vt_simbranch_free(s);
	}
}

static void test_none(void **state)
{
	struct vt_core m = {.predictor = VT_PREDICT_NONE};
	struct vt_simbranch *s = vt_simbranch_new(&m);
	unsigned i;

	(void)state;
	for (i = 0; i < 10; i++)
		assert_false(ask(s, 0x400000, true));
	assert_int_equal(vt_simbranch_predict(s, 1, 0, 2, 3, 4), 4);
	assert_int_equal(vt_simbranch_predict(s, 1, RETURN, 2, 0, 4), 2);
	assert_int_equal(vt_simbranch_predict(s, 1, JUMP | VT_FACT_INDIRECT, 2, 0, 4), 2);
	vt_simbranch_free(s);
}

static void test_returns(void **state)
{
	struct vt_core m = {.returns = 3};
	struct vt_simbranch *s = vt_simbranch_new(&m);
	uint64_t i;

	(void)state;
	/* Five calls deep: the three innermost returns are known, the others not. */
	for (i = 1; i <= 5; i++)
		assert_int_equal(
			vt_simbranch_predict(s, i * 100, CALL, i * 100 + 5, 0x9000, 0x9000),
			0x9000);
	for (i = 5; i >= 3; i--)
		assert_int_equal(vt_simbranch_predict(s, 0x9001, RETURN, 0x9002, 0, i * 100 + 5),
				 i * 100 + 5);
	assert_int_equal(vt_simbranch_predict(s, 0x9001, RETURN, 0x9002, 0, 205), 0x9002);
	/* And again from there on. */
	vt_simbranch_predict(s, 700, CALL, 705, 0x9000, 0x9000);
	assert_int_equal(vt_simbranch_predict(s, 0x9001, RETURN, 0x9002, 0, 705), 705);
	vt_simbranch_free(s);
}

static void test_indirect(void **state)
{
	struct vt_core m = {.btb = 16, .returns = 4};
	struct vt_simbranch *s = vt_simbranch_new(&m);
	uint32_t jump = JUMP | VT_FACT_INDIRECT, call = CALL | VT_FACT_INDIRECT;

	(void)state;
	assert_int_equal(vt_simbranch_predict(s, 0x100, jump, 0x102, 0, 0x500), 0x102);
	assert_int_equal(vt_simbranch_predict(s, 0x100, jump, 0x102, 0, 0x500), 0x500);
	assert_int_equal(vt_simbranch_predict(s, 0x100, jump, 0x102, 0, 0x600), 0x500);
	assert_int_equal(vt_simbranch_predict(s, 0x100, jump, 0x102, 0, 0x600), 0x600);
	/* Another one in its place. */
	assert_int_equal(vt_simbranch_predict(s, 0x110, call, 0x113, 0, 0x700), 0x113);
	assert_int_equal(vt_simbranch_predict(s, 0x100, jump, 0x102, 0, 0x600), 0x102);
	assert_int_equal(vt_simbranch_predict(s, 0x700, RETURN, 0x701, 0, 0x113), 0x113);
	/* A direct one is known from its bytes. */
	assert_int_equal(vt_simbranch_predict(s, 0x120, JUMP, 0x122, 0x800, 0x800), 0x800);
	vt_simbranch_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bimodal),
		cmocka_unit_test(test_gshare),
		cmocka_unit_test(test_tournament),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_returns),
		cmocka_unit_test(test_indirect),
		cmocka_unit_test(test_tournament_by_replay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
