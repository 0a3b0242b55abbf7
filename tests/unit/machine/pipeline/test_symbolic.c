/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Addresses in code whose values nobody knows: where each instruction loads and stores, worked out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "machine/pipeline/symbolic.h"

#define BIT(reg) (UINT64_C(1) << (reg))
#define NONE	 VT_REG_NONE
#define STACK	 (UINT64_C(1) << 44)

/* fmix64() of MurmurHash3, in the words of its author: three shifts, two factors between them. */
static uint64_t fmix(uint64_t k)
{
	static const uint64_t factors[] = {UINT64_C(0xff51afd7ed558ccd),
					   UINT64_C(0xc4ceb9fe1a85ec53), 1};
	unsigned i;

	for (i = 0; i < 3; i++) {
		k ^= k >> 33;
		k *= factors[i];
	}
	return k;
}

static struct vt_mop_sum place(unsigned base, unsigned index, unsigned scale, unsigned segment,
			       int32_t displacement, unsigned size)
{
	return (struct vt_mop_sum){.displacement = displacement,
				   .size = (uint16_t)size,
				   .base = (uint8_t)base,
				   .index = (uint8_t)index,
				   .scale = (uint8_t)scale,
				   .segment = (uint8_t)segment};
}

static struct vt_mop_sum at_reg(unsigned base, int32_t displacement, unsigned size)
{
	return place(base, NONE, 0, NONE, displacement, size);
}

/* No access, and no register with a value that is told. */
static struct vt_mop other(uint64_t reads, uint64_t writes)
{
	return (struct vt_mop){.reads = reads, .writes = writes, .id = 77, .target = NONE};
}

static struct vt_mop load_of(struct vt_mop_sum from, unsigned target)
{
	struct vt_mop op = other(0, BIT(target));

	op.load = from;
	op.target = (uint8_t)target;
	op.result = VT_RESULT_LOAD;
	return op;
}

/* Moves a register to memory. */
static struct vt_mop store_of(struct vt_mop_sum to, unsigned reg)
{
	struct vt_mop op = other(BIT(reg), 0);

	op.store = to;
	op.flags = VT_FACT_MOVE;
	return op;
}

static struct vt_mop sum_of(struct vt_mop_sum sum, unsigned target)
{
	struct vt_mop op = other(0, BIT(target));

	op.sum = sum;
	op.target = (uint8_t)target;
	op.result = VT_RESULT_SUM;
	return op;
}

static struct vt_ooo_place load, store;

static void run(struct vti_symbolic *s, struct vt_mop op)
{
	vti_symbolic_run(s, &op, 0, &load, &store);
}

/* What is loaded from an address. */
static uint64_t look_at(struct vti_symbolic *s, uint64_t addr)
{
	s->values[VT_REG_R8] = addr;
	run(s, load_of(at_reg(VT_REG_R8, 0, 8), VT_REG_R8 + 1));
	return s->values[VT_REG_R8 + 1];
}

/* ---- the beginning ---- */

static void all_begin_with_numbers_of_their_own(void **state)
{
	struct vti_symbolic s;
	unsigned i;

	(void)state;
	/* The function's known results. */
	assert_int_equal(fmix(1), UINT64_C(0xb456bcfc34c2cb2c));
	assert_int_equal(fmix(2), UINT64_C(0x3abf2a20650683e7));
	s.filled = true;
	vti_symbolic_init(&s);
	for (i = 0; i < VT_NREGS; i++)
		assert_int_equal(s.values[i], fmix(i + 1));
	/* Memory: of its address and one more. */
	assert_int_equal(look_at(&s, 0x1000), fmix(0x1001));
	assert_int_equal(look_at(&s, UINT64_C(0x0101010101010101)),
			 fmix(UINT64_C(0x0101010101010102)));
	/* What was stored is forgotten. */
	s.values[VT_REG_R8] = 0x1000;
	run(&s, store_of(at_reg(VT_REG_R8, 0, 8), VT_REG_AX));
	assert_int_equal(look_at(&s, 0x1000), fmix(1));
	vti_symbolic_init(&s);
	assert_int_equal(look_at(&s, 0x1000), fmix(0x1001));
}

static void a_fill_sets_general_registers_and_memory(void **state)
{
	struct vti_symbolic s;
	unsigned i;

	(void)state;
	memset(&s, 0, sizeof(s));
	vti_symbolic_init(&s);
	vti_symbolic_fill(&s, 500);
	for (i = 0; i < VT_NREGS; i++) {
		const uint64_t want = i == VT_REG_SP			  ? STACK
				      : i == VT_REG_FS || i == VT_REG_GS  ? 0
				      : i < VT_REG_SP			  ? 500
				      : i >= VT_REG_R8 && i <= VT_REG_R15 ? 500
									  : fmix(i + 1);

		assert_int_equal(s.values[i], want);
	}
	assert_int_equal(look_at(&s, 0x1000), 500);
	run(&s, store_of(at_reg(VT_REG_R8, 0, 8), VT_REG_SP));
	assert_int_equal(look_at(&s, 0x1000), STACK);
	assert_int_equal(look_at(&s, 0x1008), 500);
	/* A register that there is not is 0, whatever stands behind the last one. */
	run(&s, load_of(at_reg(VT_NREGS, 0x20, 8), VT_REG_AX));
	assert_int_equal(load.addr, 0x20);
}

/* ---- places ---- */

static void places_are_sums(void **state)
{
	static const struct {
		struct vt_mop_sum sum;
		uint64_t next, want;
	} cases[] = {
		/* bx = 0x1000, si = 3, gs = 0x70000 */
		{{16, 8, VT_REG_BX, NONE, 0, NONE}, 0, 0x1010},
		{{-16, 8, VT_REG_BX, NONE, 0, NONE}, 0, 0xff0},
		{{0, 4, VT_REG_BX, VT_REG_SI, 8, NONE}, 0, 0x1018},
		{{5, 4, VT_REG_BX, VT_REG_SI, 8, VT_REG_GS}, 0, 0x7101d},
		{{0x1234, 4, NONE, NONE, 0, NONE}, 0, 0x1234},
		{{0, 4, NONE, VT_REG_SI, 4, NONE}, 0, 12},
		/* From the next instruction on. */
		{{0x20, 8, VT_REG_IP, NONE, 0, NONE}, 0x4000, 0x4020},
	};
	static const struct vt_mop_sum unknown[] = {
		{16, 0, VT_REG_BX, NONE, 0, NONE},
		{0x20, 8, VT_REG_IP, NONE, 0, NONE},
	};
	struct vti_symbolic s;
	unsigned i;

	(void)state;
	vti_symbolic_init(&s);
	s.values[VT_REG_BX] = 0x1000;
	s.values[VT_REG_SI] = 3;
	s.values[VT_REG_GS] = 0x70000;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_mop op = other(0, 0);

		op.load = cases[i].sum;
		vti_symbolic_run(&s, &op, cases[i].next, &load, &store);
		assert_int_equal(load.addr, cases[i].want);
		assert_int_equal(load.size, cases[i].sum.size);
		assert_int_equal(store.size, 0);
		op = other(0, 0);
		op.store = cases[i].sum;
		vti_symbolic_run(&s, &op, cases[i].next, &load, &store);
		assert_int_equal(store.addr, cases[i].want);
		assert_int_equal(store.size, cases[i].sum.size);
		assert_int_equal(load.size, 0);
	}
	for (i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		struct vt_mop op = other(0, 0);

		op.load = op.store = unknown[i];
		run(&s, op);
		assert_int_equal(load.size, 0);
		assert_int_equal(load.addr, 0);
		assert_int_equal(store.size, 0);
		assert_int_equal(store.addr, 0);
	}
}

/* Pushes store below the stack pointer and move it; pops load at it and move it back. */
static void the_stack_grows_down(void **state)
{
	struct vt_mop push = store_of(at_reg(VT_REG_SP, 0, 8), VT_REG_AX);
	struct vt_mop pop = load_of(at_reg(VT_REG_SP, 0, 8), VT_REG_CX);
	struct vti_symbolic s;

	(void)state;
	vti_symbolic_init(&s);
	s.values[VT_REG_SP] = 0x8000;
	s.values[VT_REG_AX] = 0x123456789;
	push.flags = VT_FACT_PUSH;
	push.moves = -8;
	pop.moves = 8;
	run(&s, push);
	assert_int_equal(store.addr, 0x7ff8);
	assert_int_equal(store.size, 8);
	assert_int_equal(s.values[VT_REG_SP], 0x7ff8);
	s.values[VT_REG_AX] = 6;
	run(&s, push);
	assert_int_equal(store.addr, 0x7ff0);
	assert_int_equal(s.values[VT_REG_SP], 0x7ff0);
	run(&s, pop);
	assert_int_equal(load.addr, 0x7ff0);
	assert_int_equal(s.values[VT_REG_CX], 6);
	assert_int_equal(s.values[VT_REG_SP], 0x7ff8);
	/* "pop (%rcx)": where it stores does not hang on how the stack pointer moves. */
	pop.store = at_reg(VT_REG_CX, 0x100, 8);
	run(&s, pop);
	assert_int_equal(load.addr, 0x7ff8);
	assert_int_equal(store.addr, 0x106);
	assert_int_equal(s.values[VT_REG_CX], 0x123456789);
	assert_int_equal(s.values[VT_REG_SP], 0x8000);
	/* "pop %rsp": what was loaded stays. */
	run(&s, push);
	pop = load_of(at_reg(VT_REG_SP, 0, 8), VT_REG_SP);
	pop.moves = 8;
	run(&s, pop);
	assert_int_equal(s.values[VT_REG_SP], 6);
}

/* ---- values ---- */

static void sums_are_computed(void **state)
{
	struct vti_symbolic s;

	(void)state;
	vti_symbolic_init(&s);
	s.values[VT_REG_BX] = 0xfffffff0;
	s.values[VT_REG_SI] = 8;
	run(&s, sum_of(place(VT_REG_BX, VT_REG_SI, 4, NONE, 1, 8), VT_REG_AX));
	assert_int_equal(s.values[VT_REG_AX], 0x100000011);
	/* Of 4 bytes the upper half is 0. */
	run(&s, sum_of(place(VT_REG_BX, VT_REG_SI, 4, NONE, 1, 4), VT_REG_AX));
	assert_int_equal(s.values[VT_REG_AX], 0x11);
	/* Where the instruction is, is not known: from 0. */
	run(&s, sum_of(at_reg(VT_REG_IP, 0x40, 8), VT_REG_AX));
	assert_int_equal(s.values[VT_REG_AX], 0x40);
	run(&s, sum_of(at_reg(NONE, -1, 8), VT_REG_AX));
	assert_int_equal(s.values[VT_REG_AX], UINT64_MAX);
	run(&s, sum_of(at_reg(NONE, -1, 4), VT_REG_AX));
	assert_int_equal(s.values[VT_REG_AX], UINT32_MAX);
}

static void stores_are_loaded_again(void **state)
{
	struct vti_symbolic s;
	struct vt_mop op;

	(void)state;
	vti_symbolic_init(&s);
	s.values[VT_REG_BX] = 0x1000;
	s.values[VT_REG_AX] = 0x987654321;
	run(&s, store_of(at_reg(VT_REG_BX, 0, 8), VT_REG_AX));
	run(&s, load_of(at_reg(VT_REG_BX, 0, 8), VT_REG_CX));
	assert_int_equal(s.values[VT_REG_CX], 0x987654321);
	/* Four bytes of it. */
	run(&s, store_of(at_reg(VT_REG_BX, 4, 4), VT_REG_AX));
	run(&s, load_of(at_reg(VT_REG_BX, 4, 4), VT_REG_CX));
	assert_int_equal(s.values[VT_REG_CX], 0x87654321);
	/* The last one counts, and other places keep theirs. */
	s.values[VT_REG_AX] = 5;
	run(&s, store_of(at_reg(VT_REG_BX, 4, 4), VT_REG_AX));
	assert_int_equal(look_at(&s, 0x1004), 5);
	assert_int_equal(look_at(&s, 0x1000), 0x987654321);
	/* A load that nobody knows the place of is like any other instruction. */
	op = load_of(at_reg(VT_REG_BX, 0, 0), VT_REG_CX);
	run(&s, op);
	assert_int_equal(s.values[VT_REG_CX], fmix(77));
}

/* There is one place for each of 256 hashes: a store takes it from the one before. */
static void places_are_shared(void **state)
{
	struct vti_symbolic s;
	uint64_t first = 0x1000, second = 0x1008, third = 0x1008;

	(void)state;
	assert_int_equal(VTI_SYMBOLIC_MEMORY, 256);
	while (fmix(second) % 256 != fmix(first) % 256)
		second += 8;
	while (fmix(third) % 256 == fmix(first) % 256 || fmix(third) % 128 != fmix(first) % 128)
		third += 8;
	vti_symbolic_init(&s);
	s.values[VT_REG_AX] = 1;
	s.values[VT_REG_BX] = first;
	run(&s, store_of(at_reg(VT_REG_BX, 0, 8), VT_REG_AX));
	s.values[VT_REG_BX] = third;
	run(&s, store_of(at_reg(VT_REG_BX, 0, 8), VT_REG_AX));
	assert_int_equal(look_at(&s, first), 1);
	assert_int_equal(look_at(&s, second), fmix(second + 1));
	s.values[VT_REG_BX] = second;
	run(&s, store_of(at_reg(VT_REG_BX, 0, 8), VT_REG_AX));
	assert_int_equal(look_at(&s, second), 1);
	assert_int_equal(look_at(&s, first), fmix(first + 1));
	assert_int_equal(look_at(&s, third), 1);
}

/* What follows from an instruction, the registers that it reads but flags, and what it loads. */
static void other_results_are_mixed(void **state)
{
	struct vti_symbolic s;
	struct vt_mop op = other(BIT(VT_REG_AX) | BIT(VT_REG_CX) | BIT(VT_REG_FLAGS),
				 BIT(VT_REG_AX) | BIT(VT_REG_DX) | BIT(VT_REG_FLAGS));
	uint64_t mixed;

	(void)state;
	vti_symbolic_init(&s);
	s.values[VT_REG_AX] = 11;
	s.values[VT_REG_CX] = 13;
	mixed = fmix(fmix(fmix(77) + 11) + 13);
	op.target = VT_REG_AX;
	run(&s, op);
	assert_int_equal(s.values[VT_REG_AX], mixed);
	assert_int_equal(s.values[VT_REG_DX], fmix(mixed + VT_REG_DX));
	/* No address is made of flags. */
	assert_int_equal(s.values[VT_REG_FLAGS], fmix(VT_REG_FLAGS + 1));
	assert_int_equal(s.values[VT_REG_CX], 13);
	/* And what is loaded: fmix() of 0x2001, where nothing was stored. */
	op = other(BIT(VT_REG_CX), BIT(VT_REG_DX));
	op.load = at_reg(NONE, 0x2000, 8);
	run(&s, op);
	mixed = fmix(fmix(77 + fmix(0x2001)) + 13);
	assert_int_equal(s.values[VT_REG_DX], fmix(mixed + VT_REG_DX));
}

/* A register is stored as it is by moves and pushes that read nothing else. */
static void what_is_stored_is_the_register_or_mixed(void **state)
{
	const struct vt_mop_sum to = {0x3000, 8, NONE, NONE, 0, NONE};
	const struct vt_mop_sum half = {0x3008, 4, NONE, NONE, 0, NONE};
	struct vt_mop op = store_of(to, VT_REG_AX);
	struct vti_symbolic s;

	(void)state;
	vti_symbolic_init(&s);
	s.values[VT_REG_AX] = 11;
	s.values[VT_REG_CX] = 13;
	/* Neither a move nor a push. */
	op.flags = VT_FACT_BRANCH;
	run(&s, op);
	assert_int_equal(look_at(&s, 0x3000), fmix(fmix(77) + 11));
	op.flags = VT_FACT_PUSH;
	run(&s, op);
	assert_int_equal(look_at(&s, 0x3000), 11);
	/* Of two registers; of none, as a number; of what is loaded. */
	op.flags = VT_FACT_MOVE;
	op.reads = BIT(VT_REG_AX) | BIT(VT_REG_CX);
	run(&s, op);
	assert_int_equal(look_at(&s, 0x3000), fmix(fmix(fmix(77) + 11) + 13));
	op.reads = 0;
	run(&s, op);
	assert_int_equal(look_at(&s, 0x3000), fmix(77));
	op.reads = BIT(VT_REG_AX);
	op.load = at_reg(NONE, 0x4000, 8);
	run(&s, op);
	assert_int_equal(look_at(&s, 0x3000), fmix(fmix(77 + fmix(0x4001)) + 11));
	/* Four bytes of such. */
	op = store_of(half, VT_REG_AX);
	op.flags = 0;
	run(&s, op);
	assert_int_equal(look_at(&s, 0x3008), (uint32_t)fmix(fmix(77) + 11));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_begin_with_numbers_of_their_own),
		cmocka_unit_test(a_fill_sets_general_registers_and_memory),
		cmocka_unit_test(places_are_sums),
		cmocka_unit_test(the_stack_grows_down),
		cmocka_unit_test(sums_are_computed),
		cmocka_unit_test(stores_are_loaded_again),
		cmocka_unit_test(places_are_shared),
		cmocka_unit_test(other_results_are_mixed),
		cmocka_unit_test(what_is_stored_is_the_register_or_mixed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
