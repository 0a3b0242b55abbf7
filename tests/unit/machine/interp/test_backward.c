/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is inferred from a branch must be so: random operations are computed with numbers all of
 * which are known to the test, some of their bits are hidden, and whatever is inferred of them is
 * compared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libvex_ir.h>

#include "base/rng.h"
#include "machine/interp/backward.h"
#include "tests/unit/common/iroperators.h"

#define ROUNDS 100000
#define NSTATE 6  /* words of the guest state that take part */
#define NSLOTS 40 /* CONSTANTS of them with constants */
#define CONSTS 12
#define NOPS   40
#define MEMORY UINT64_C(0x10000) /* numbers in memory */
#define NCELLS 4

/* A block in the making, and what all of it is in truth. */
struct world {
	struct vt_rng rng;
	struct vt_interp *m;
	struct vti_block block;
	struct vti_op ops[NOPS];
	struct vt_word slots[NSLOTS];
	uint64_t truth[NSLOTS];
	uint8_t bits[NSLOTS]; /* of the number in it; 0: none yet */
	uint64_t state[NSTATE];
	uint64_t cells[NCELLS];
	unsigned nops;
};

static unsigned below(struct world *w, unsigned n)
{
	return (unsigned)vt_rng_below(&w->rng, n);
}

/* Numbers that are often equal, small, or close to a limit. */
static uint64_t any_number(struct world *w, unsigned bits)
{
	static const uint64_t some[] = {0, 0, 1, 2, 7, 8, 0x7f, 0x80, UINT64_MAX, INT64_MAX};
	uint64_t v =
		below(w, 2) ? vt_rng_next(&w->rng) : some[below(w, sizeof(some) / sizeof(*some))];

	return v & vt_low_bits(bits);
}

/* A slot that holds a number of so many bits, or -1. */
static int any_slot(struct world *w, unsigned bits)
{
	unsigned i, n = below(w, NSLOTS);

	for (i = 0; i < NSLOTS; i++) {
		unsigned s = (i + n) % NSLOTS;

		if (w->bits[s] == bits)
			return (int)s;
	}
	return -1;
}

static void add(struct world *w, struct vti_op op, unsigned bits, uint64_t value)
{
	w->ops[w->nops++] = op;
	if (bits) {
		w->truth[op.dst] = value & vt_low_bits(bits);
		w->bits[op.dst] = (uint8_t)bits;
	}
}

static void add_operator(struct world *w, uint16_t dst)
{
	static const struct vti_irop one_word = {.words = 1};
	const struct operator* o = & iroperators[below(w, IROPERATORS)];
	int a = any_slot(w, o->a), b = o->b ? any_slot(w, o->b) : 0;
	struct vti_op op = {.op = VTI_IROP, .dst = dst, .aux = o->irop};
	const void *p = &one_word;

	if (a < 0 || b < 0 || a == dst || b == dst)
		return;
	if (strchr("lra", o->how) && w->truth[b] >= o->a)
		return;
	op.a = (uint16_t)a;
	op.b = (uint16_t)b;
	memcpy(&op.imm, &p, sizeof(p));
	add(w, op, o->to, iroperator_compute(o, w->truth[a], w->truth[b]));
}

static void add_choice(struct world *w, uint16_t dst)
{
	static const uint8_t sizes[] = {1, 8, 16, 32, 64};
	unsigned bits = sizes[below(w, 5)];
	int a = any_slot(w, 1), b = any_slot(w, bits), c = any_slot(w, bits);
	struct vti_op op = {.op = VTI_ITE, .dst = dst, .aux = 1};

	if (a < 0 || b < 0 || c < 0 || a == dst || b == dst || c == dst)
		return;
	op.a = (uint16_t)a;
	op.b = (uint16_t)b;
	op.c = (uint16_t)c;
	add(w, op, bits, w->truth[a] ? w->truth[b] : w->truth[c]);
}

static void add_move(struct world *w, uint16_t dst)
{
	unsigned a = below(w, NSLOTS);

	if (w->bits[a] && a != dst)
		add(w, (struct vti_op){.op = VTI_MOVE1, .dst = dst, .a = (uint16_t)a}, w->bits[a],
		    w->truth[a]);
}

/* Reads or writes a part of the guest state, or of memory at an address that a constant holds. */
static void add_access(struct world *w, uint16_t dst)
{
	unsigned log = below(w, 4), bits = 8u << log, at = below(w, 8) & ~((1u << log) - 1);
	bool memory = below(w, 2), write = below(w, 2);
	unsigned cell = below(w, memory ? NCELLS : NSTATE);
	uint64_t *word = memory ? &w->cells[cell] : &w->state[cell];
	uint64_t mask = vt_low_bits(bits) << 8 * at;
	int a = any_slot(w, bits);
	struct vti_op op = {.dst = dst, .imm = 8 * cell + at};
	uint16_t addr = (uint16_t)cell;

	if (write && a < 0)
		return;
	if (memory) {
		/* The first constants are the addresses of cells. */
		at = 0;
		mask = vt_low_bits(bits);
		op.op = (uint16_t)((write ? VTI_STORE1 : VTI_LOAD1) + log);
		op.a = addr;
		op.b = (uint16_t)a;
		op.imm = 0;
	} else {
		op.op = (uint16_t)((write ? VTI_PUT1 : VTI_GET1) + log);
		op.a = (uint16_t)a;
	}
	if (write)
		*word = (*word & ~mask) | (w->truth[a] << 8 * at & mask);
	add(w, op, write ? 0 : bits, *word >> 8 * at);
}

/* Some bits of a number: all, none, the lowest, any. */
static struct vt_word hide(struct world *w, uint64_t truth, unsigned bits)
{
	uint64_t known;

	switch (below(w, 5)) {
	case 0:
		known = UINT64_MAX;
		break;
	case 1:
		known = vt_rng_next(&w->rng);
		break;
	case 2:
		known = vt_low_bits(1 + below(w, 64));
		break;
	default:
		known = 0;
		break;
	}
	known |= ~vt_low_bits(bits);
	return (struct vt_word){truth & known, known};
}

static void make_world(struct world *w)
{
	static const uint8_t sizes[] = {1, 8, 16, 32, 64};
	unsigned i;

	w->nops = 0;
	memset(w->bits, 0, sizeof(w->bits));
	for (i = 0; i < NSTATE; i++)
		w->state[i] = any_number(w, 64);
	for (i = 0; i < NCELLS; i++)
		w->cells[i] = any_number(w, 64);
	for (i = 0; i < CONSTS; i++) {
		w->bits[i] = sizes[i < NCELLS ? 4 : i % 5];
		w->truth[i] = i < NCELLS ? MEMORY + 8 * i : any_number(w, w->bits[i]);
	}
	while (w->nops < NOPS - 1) {
		uint16_t dst = (uint16_t)(CONSTS + below(w, NSLOTS - CONSTS));

		switch (below(w, 8)) {
		case 0:
			add_choice(w, dst);
			break;
		case 1:
			add_move(w, dst);
			break;
		case 2:
		case 3:
			add_access(w, dst);
			break;
		default:
			add_operator(w, dst);
			break;
		}
	}
}

/* What is reported: not everything, but nothing wrong. */
static void hide_world(struct world *w)
{
	unsigned i, k;

	for (i = 0; i < NSLOTS; i++)
		w->slots[i] = i < CONSTS ? vt_word_of(w->truth[i])
					 : hide(w, w->truth[i], w->bits[i] ? w->bits[i] : 64);
	for (i = 0; i < NSTATE; i++)
		w->m->state[i] = hide(w, w->state[i], 64);
	vt_known_memory_reset(w->m->mem);
	for (i = 0; i < NCELLS; i++) {
		for (k = 0; k < 8; k++) {
			uint8_t byte = (uint8_t)(w->cells[i] >> 8 * k);

			if (below(w, 2))
				vt_known_memory_set(w->m->mem, MEMORY + 8 * i + k, &byte, 1);
		}
	}
}

static uint64_t count(uint64_t bits)
{
	return (uint64_t)__builtin_popcountll(bits);
}

/* Everything that is known is true; how many bits are. */
static uint64_t check_world(const struct world *w, uint64_t known[3])
{
	struct vt_word word;
	unsigned i;

	known[0] = known[1] = known[2] = 0;
	for (i = 0; i < NSLOTS; i++) {
		if (!w->bits[i])
			continue;
		assert_int_equal(w->slots[i].value, w->truth[i] & w->slots[i].known);
		known[0] += count(w->slots[i].known);
	}
	for (i = 0; i < NSTATE; i++) {
		assert_int_equal(w->m->state[i].value, w->state[i] & w->m->state[i].known);
		known[1] += count(w->m->state[i].known);
	}
	for (i = 0; i < NCELLS; i++) {
		vt_known_memory_load(w->m->mem, MEMORY + 8 * i, 8, &word);
		assert_int_equal(word.value, w->cells[i] & word.known);
		known[2] += count(word.known);
	}
	return known[0];
}

static void test_only_truth(void **unused)
{
	struct world w = {.nops = 0};
	uint64_t before[3], after[3], inferred[3] = {0, 0, 0};
	unsigned round, i;

	(void)unused;
	w.m = calloc(1, sizeof(*w.m));
	assert_non_null(w.m);
	w.m->mem = vt_known_memory_new(NULL, NULL, 1 << 20);
	assert_non_null(w.m->mem);
	w.block = (struct vti_block){.ops = w.ops, .slots = w.slots, .nslots = NSLOTS};
	vt_rng_init(&w.rng, 5);
	for (round = 0; round < ROUNDS; round++) {
		int guard;

		make_world(&w);
		guard = any_slot(&w, 1);
		if (guard < CONSTS)
			continue;
		hide_world(&w);
		w.slots[guard] = vt_word_unknown(1);
		check_world(&w, before);
		w.ops[w.nops] = (struct vti_op){.op = VTI_EXIT, .a = (uint16_t)guard};
		w.block.nops = w.nops + 1;
		assert_true(vti_infer_from_exit(w.m, &w.block, w.nops, w.truth[guard] != 0));
		check_world(&w, after);
		for (i = 0; i < 3; i++)
			inferred[i] += after[i] - before[i];
	}
	for (i = 0; i < 3; i++)
		assert_true(inferred[i] > ROUNDS / 20);
	vt_known_memory_free(w.m->mem);
	free(w.m);
}

/* A way that cannot be gone is found out. */
static void test_contradiction(void **unused)
{
	struct vt_interp *m = calloc(1, sizeof(*m));
	struct vt_word slots[3];
	struct vti_op ops[] = {
		{.op = VTI_GET8, .dst = 1},
		{.op = VTI_FAST, .dst = 2, .a = 1, .b = 0, .aux = Iop_CmpEQ64},
		{.op = VTI_EXIT, .a = 2},
	};
	struct vti_block b = {.ops = ops, .nops = 3, .slots = slots, .nslots = 3};

	(void)unused;
	assert_non_null(m);
	slots[0] = vt_word_of(5);
	slots[1] = vt_word_unknown(64);
	slots[2] = vt_word_unknown(1);
	assert_true(vti_infer_from_exit(m, &b, 2, true));
	assert_true(vt_word_is_known(m->state[0]));
	assert_int_equal(m->state[0].value, 5);
	slots[1] = (struct vt_word){4, 4 | 1};
	slots[2] = vt_word_unknown(1);
	assert_false(vti_infer_from_exit(m, &b, 2, true));
	free(m);
}

/* Flags that another block has left: conditions of a comparison and of a result. */
static void test_flags(void **unused)
{
	struct vt_interp *m = calloc(1, sizeof(*m));
	struct vti_call call = {.name = "amd64g_calculate_condition",
				.nargs = 5,
				.result_size = 8,
				.args = {0, 1, 2, 3, 4},
				.dst = 5};
	const void *p = &call;
	struct vti_op ops[] = {
		{.op = VTI_GET8, .dst = 2},
		{.op = VTI_CCALL},
		{.op = VTI_FAST, .dst = 6, .a = 5, .aux = Iop_64to1},
		{.op = VTI_EXIT, .a = 6},
	};
	struct vt_word slots[7];
	struct vti_block b = {.ops = ops, .nops = 4, .slots = slots, .nslots = 7};
	/* Condition, operation, second operand, whether it holds; what the first then has. */
	static const struct {
		uint64_t cond, op, second;
		bool holds;
		uint64_t value, known;
	} rows[] = {
		{4, 7, 0x123456789, true, 0x23456789, UINT32_MAX}, /* cmp %ecx, %eax; je */
		{5, 7, 9, false, 9, UINT32_MAX},		   /* jne, not taken */
		{5, 20, 0, false, 0, UINT64_MAX},		   /* test %rax, %rax; jne, not */
		{8, 19, 0, true, 1u << 31, 1u << 31},		   /* test %eax, %eax; js */
		{2, 5, 4, true, 0, 0xfc},			   /* cmp $4, %al; jb */
		{7, 6, 15, false, 0, 0xfff0},			   /* cmp $15, %ax; ja, not */
		{13, 8, 0, true, 0, UINT64_C(1) << 63},		   /* cmp $0, %rax; jge */
		{14, 19, 0, false, 0, 1u << 31},		   /* test %eax, %eax; jle, not */
		{4, 27, 0, true, 0, UINT32_MAX},		   /* dec %ecx; jz */
		{4, 3, 7, true, 0, 0},				   /* add: nothing is inferred */
	};
	size_t i;

	(void)unused;
	assert_non_null(m);
	memcpy(&ops[1].imm, &p, sizeof(p));
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		slots[0] = vt_word_of(rows[i].cond);
		slots[1] = vt_word_of(rows[i].op);
		slots[2] = m->state[0] = vt_word_unknown(64);
		slots[3] = vt_word_of(rows[i].second);
		slots[4] = vt_word_of(0);
		slots[5] = vt_word_unknown(64);
		slots[6] = vt_word_unknown(1);
		assert_true(vti_infer_from_exit(m, &b, 3, rows[i].holds));
		assert_int_equal(m->state[0].known, rows[i].known);
		assert_int_equal(m->state[0].value, rows[i].value);
	}
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_truth),
		cmocka_unit_test(test_contradiction),
		cmocka_unit_test(test_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
