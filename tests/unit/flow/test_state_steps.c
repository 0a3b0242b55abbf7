/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state of registers on the way to an indirect jump: names, what comparisons told of them, and
 * addresses.
 */
#include "tests/unit/flow/flowstates.h"

/* ---- registers ---- */

static void test_registers(void **state)
{
	struct vti_flowstate s = fresh();
	struct vti_value v, five = vti_value_constant(5);
	unsigned reg;

	(void)state;
	for (reg = 0; reg < 64; reg++) {
		int want = reg < 8 ? (int)reg : reg >= 16 && reg < 24 ? (int)reg - 8 : -1;

		assert_int_equal(vti_flowstate_index(reg), want);
		v = vti_flowstate_get(&s, reg, 16);
		assert_int_equal(v.sym, want < 0 ? 0 : VTI_NAME_START | (unsigned)want);
		expect_range(&v, 0, M16, 1);
		vti_flowstate_put(&s, reg, &five);
		v = vti_flowstate_get(&s, reg, 16);
		expect_range(&v, want < 0 ? 0 : 5, want < 0 ? M16 : 5, want < 0);
	}
	assert_int_equal(s.ncells, 0);
	assert_int_equal(s.nfacts, 0);
	assert_int_equal(s.cells[0].sym, 0);
	assert_false(s.compare.valid);
}

/* Operands are read by their size, but for bits 8 to 15. */
static void test_operands(void **state)
{
	static const struct {
		struct vt_operand o;
		uint64_t read;	/* of 0x123456789a in the register */
		bool put_whole; /* written, it is what was written; if not, something new */
	} operands[] = {
		{{.reg = VT_REG_BX, .size = 1}, 0x9a, false},
		{{.reg = VT_REG_BX, .size = 2}, 0x789a, false},
		{{.reg = VT_REG_BX, .size = 4}, 0x3456789a, true},
		{{.reg = VT_REG_BX, .size = 8}, UINT64_C(0x123456789a), true},
		{{.reg = VT_REG_BX, .size = 3}, 0x56789a, false},
		{{.reg = VT_REG_BX, .size = 9}, M64, false},
		{{.reg = VT_REG_BX, .size = 16}, M64, false},
		{{.reg = VT_REG_BX, .size = 1, .high = true}, M64, false},
	};
	struct vti_value v, w = vti_value_constant(UINT64_C(0x123456789a));
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(operands) / sizeof(operands[0]); i++) {
		struct vti_flowstate s = fresh();
		bool known = operands[i].read != M64;

		vti_flowstate_put(&s, VT_REG_BX, &w);
		v = vti_flowstate_get_operand(&s, &operands[i].o);
		expect_range(&v, known ? operands[i].read : 0, operands[i].read, !known);
		/* Another register has what was made at that place before. */
		s.regs[VT_REG_CX].sym = VTI_NAME_MADE | 9;
		v = vti_value_constant(7);
		vti_flowstate_put_operand(&s, &operands[i].o, &v, 9);
		v = s.regs[VT_REG_BX];
		assert_int_equal(v.computed, !operands[i].put_whole);
		assert_int_equal(v.sym, operands[i].put_whole ? 0 : VTI_NAME_MADE | 9);
		assert_int_equal(s.regs[VT_REG_CX].sym,
				 operands[i].put_whole ? VTI_NAME_MADE | 9 : 0);
		expect_range(&v, operands[i].put_whole ? 7 : 0, operands[i].put_whole ? 7 : M64,
			     !operands[i].put_whole);
	}
}

/* One thing after the other that makes a stack pointer, or a loaded value, another. */
static void test_kinds(void **state)
{
	static const struct {
		uint64_t sym, off;
		uint8_t width;
		bool entry, computed, at_start, loaded;
	} kinds[] = {
		{VTI_NAME_STACK, 0, 64, false, false, true, false},
		{VTI_NAME_STACK, 8, 64, false, false, false, false},
		{VTI_NAME_STACK, 0, 32, false, false, false, false},
		{VTI_NAME_START, 0, 64, false, false, false, false},
		{VTI_NAME_LOAD | 7, 0, 64, false, false, false, true},
		{VTI_NAME_LOAD | 7, 1, 64, false, false, false, false},
		{VTI_NAME_LOAD | 7, 0, 64, true, false, false, false},
		{VTI_NAME_LOAD | 7, 0, 64, false, true, false, false},
		{VTI_NAME_MADE | 7, 0, 64, false, false, false, false},
		{VTI_NAME_JOIN | 7, 0, 64, false, false, false, false},
		{0, 0, 64, false, false, false, false},
	};
	struct vti_flowstate s = fresh();
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct vti_value v = at(kinds[i].sym, kinds[i].off, kinds[i].width);

		v.entry = kinds[i].entry;
		v.computed = kinds[i].computed;
		s.regs[VT_REG_SP] = v;
		assert_int_equal(vti_flowstate_at_start(&s), kinds[i].at_start);
		assert_int_equal(vti_flowstate_is_loaded(&v), kinds[i].loaded);
	}
}

/* ---- what comparisons told ---- */

/* A fact of 10 to 20 about some bits of a name, and a value of it or of another. */
static void test_evaluate(void **state)
{
	static const struct {
		uint64_t sym, off;
		unsigned width, fact_width;
		uint64_t fact_hi; /* from 10 on */
		uint64_t lo, hi, stride, want_lo, want_hi, want_stride;
	} cases[] = {
		{9, 4, 32, 32, 20, 0, M32, 1, 10, 20, 1},
		{8, 4, 32, 32, 20, 0, M32, 1, 0, M32, 1},
		{9, 5, 32, 32, 20, 0, M32, 1, 0, M32, 1},
		/* Told of more bits than it has, or of fewer. */
		{9, 4, 8, 32, 20, 0, 255, 1, 10, 20, 1},
		{9, 4, 8, 32, 255, 0, 255, 1, 10, 255, 1},
		{9, 4, 8, 32, 256, 0, 255, 1, 0, 255, 1},
		{9, 4, 32, 8, 20, 0, M32, 1, 0, M32, 1},
		{9, 4, 32, 8, 20, 0, 256, 1, 0, 256, 1},
		{9, 4, 32, 8, 20, 0, 255, 1, 10, 20, 1},
		/* Numbers of a range that are left. */
		{9, 4, 32, 32, 20, 0, 40, 8, 16, 16, 0},
		{9, 4, 32, 32, 20, 0, 40, 4, 12, 20, 4},
		{9, 4, 32, 32, 20, 3, 40, 4, 11, 19, 4},
		{9, 4, 32, 32, 20, 10, 20, 5, 10, 20, 5},
		{9, 4, 32, 32, 20, 12, 18, 3, 12, 18, 3},
		{9, 4, 32, 32, 20, 20, 30, 1, 20, 20, 0},
		{9, 4, 32, 32, 20, 0, 10, 1, 10, 10, 0},
		{9, 4, 32, 32, 20, 8, 24, 16, 24, 24, 0},
		/* None: what was known stays. */
		{9, 4, 32, 32, 20, 21, 30, 1, 21, 30, 1},
		{9, 4, 32, 32, 20, 0, 9, 1, 0, 9, 1},
		{9, 4, 32, 32, 20, 7, 7, 0, 7, 7, 0},
		{9, 4, 32, 32, 20, 15, 15, 0, 15, 15, 0},
	};
	struct vti_value v, r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vti_flowstate s = fresh();

		v = at(9, 4, cases[i].fact_width);
		vti_flowstate_learn(&s, &v, 10, cases[i].fact_hi);
		assert_int_equal(s.nfacts, 1);
		v = at(cases[i].sym, cases[i].off, cases[i].width);
		v.lo = cases[i].lo;
		v.hi = cases[i].hi;
		v.stride = cases[i].stride;
		r = vti_flowstate_evaluate(&s, &v);
		expect_range(&r, cases[i].want_lo, cases[i].want_hi, cases[i].want_stride);
		v.entry = true;
		r = vti_flowstate_evaluate(&s, &v);
		expect_range(&r, v.lo, v.hi, v.stride);
	}
}

/* With a sign, it is what it is without as long as it is below half of its bits' range. */
static void test_evaluate_signed(void **state)
{
	static const struct {
		uint64_t hi;
		bool known;
	} cases[] = {{20, true}, {127, true}, {128, false}, {255, false}};
	struct vti_value v = at(9, 0, 8), r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vti_flowstate s = fresh();

		vti_flowstate_learn(&s, &v, 10, cases[i].hi);
		r = v;
		r.sext = true;
		r.hi = M64;
		r = vti_flowstate_evaluate(&s, &r);
		assert_int_equal(r.sext, !cases[i].known);
		expect_range(&r, cases[i].known ? 10 : 0, cases[i].known ? cases[i].hi : M64, 1);
	}
}

static void test_learn(void **state)
{
	struct vti_flowstate s = fresh();
	struct vti_value v = at(9, 4, 32), w;
	unsigned i;

	(void)state;
	vti_flowstate_learn(&s, &v, 10, 20);
	/* More of the same makes it narrower; what contradicts it does not count. */
	vti_flowstate_learn(&s, &v, 12, 30);
	assert_int_equal(s.facts[0].lo, 12);
	assert_int_equal(s.facts[0].hi, 20);
	vti_flowstate_learn(&s, &v, 5, 18);
	assert_int_equal(s.facts[0].lo, 12);
	assert_int_equal(s.facts[0].hi, 18);
	vti_flowstate_learn(&s, &v, 19, 25);
	assert_int_equal(s.facts[0].lo, 12);
	vti_flowstate_learn(&s, &v, 18, 25);
	assert_int_equal(s.facts[0].lo, 18);
	assert_int_equal(s.facts[0].hi, 18);
	assert_int_equal(s.nfacts, 1);
	/* Nothing is learnt of what has no name, of entries, with a sign, and of no numbers. */
	w = v, w.sym = 0;
	vti_flowstate_learn(&s, &w, 1, 2);
	w = v, w.off = 1, w.entry = true;
	vti_flowstate_learn(&s, &w, 1, 2);
	w = v, w.off = 1, w.sext = true;
	vti_flowstate_learn(&s, &w, 1, 2);
	w = v, w.off = 1;
	vti_flowstate_learn(&s, &w, 2, 1);
	assert_int_equal(s.nfacts, 1);
	/* Another name, distance or width is another fact. */
	vti_flowstate_learn(&s, &w, 2, 2);
	w = v, w.sym = 8;
	vti_flowstate_learn(&s, &w, 3, 4);
	w = v, w.width = 16;
	vti_flowstate_learn(&s, &w, 5, 6);
	assert_int_equal(s.nfacts, 4);
	for (i = 0; i < 4; i++) {
		static const struct vti_known want[] = {
			{9, 4, 32, 18, 18}, {9, 1, 32, 2, 2}, {8, 4, 32, 3, 4}, {9, 4, 16, 5, 6}};

		assert_int_equal(s.facts[i].sym, want[i].sym);
		assert_int_equal(s.facts[i].off, want[i].off);
		assert_int_equal(s.facts[i].width, want[i].width);
		assert_int_equal(s.facts[i].lo, want[i].lo);
		assert_int_equal(s.facts[i].hi, want[i].hi);
	}
}

/* Of more than there is room for, the oldest is forgotten. */
static void test_learn_many(void **state)
{
	struct vti_flowstate s = fresh();
	unsigned i;

	(void)state;
	s.compare = (struct vti_compare){true, 64, 77, at(99, 0, 64)};
	for (i = 1; i <= VTI_STATE_FACTS + 2; i++) {
		struct vti_value v = at(i, 0, 32);

		vti_flowstate_learn(&s, &v, i, 2 * i);
		assert_int_equal(s.nfacts, i < VTI_STATE_FACTS ? i : VTI_STATE_FACTS);
	}
	for (i = 0; i < VTI_STATE_FACTS; i++) {
		assert_int_equal(s.facts[i].sym, i + 3);
		assert_int_equal(s.facts[i].lo, i + 3);
		assert_int_equal(s.facts[i].hi, 2 * (i + 3));
	}
	/* What was compared last is another matter. */
	assert_true(s.compare.valid && s.compare.with == 77 && s.compare.value.sym == 99);
}

/* A name that is given anew is no name of what had it. */
static void test_rename(void **state)
{
	struct vti_flowstate s = fresh();
	struct vti_value v[3] = {at(5, 0, 64), at(6, 0, 64), at(7, 0, 64)};
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++) {
		s.regs[i == 2 ? 15 : i] = v[i];
		vti_flowstate_learn(&s, &v[i], i, 100);
		/* A word at each of the names, which has the next one in it. */
		s.cells[i] =
			(struct vti_flowcell){.sym = 5 + i, .size = 8, .value = v[(i + 1) % 3]};
	}
	s.ncells = 3;
	s.compare = (struct vti_compare){.valid = true, .width = 64, .value = v[1]};
	assert_int_equal(vti_flowstate_rename(&s, 5), 5);
	assert_int_equal(s.regs[0].sym, 0);
	assert_int_equal(s.regs[1].sym, 6);
	assert_int_equal(s.regs[15].sym, 7);
	assert_int_equal(s.ncells, 2);
	assert_int_equal(s.cells[0].sym, 6);
	assert_int_equal(s.cells[0].value.sym, 7);
	assert_int_equal(s.cells[1].sym, 7);
	assert_int_equal(s.cells[1].value.sym, 0);
	assert_int_equal(s.nfacts, 2);
	assert_int_equal(s.facts[0].sym, 6);
	assert_int_equal(s.facts[1].sym, 7);
	assert_true(s.compare.valid);
	assert_int_equal(vti_flowstate_rename(&s, 7), 7);
	assert_int_equal(s.regs[15].sym, 0);
	assert_int_equal(s.ncells, 1);
	assert_int_equal(s.cells[0].value.sym, 0);
	assert_int_equal(s.nfacts, 1);
	assert_true(s.compare.valid);
	vti_flowstate_rename(&s, 6);
	assert_int_equal(s.regs[1].sym, 0);
	assert_int_equal(s.ncells, 0);
	assert_int_equal(s.nfacts, 0);
	assert_false(s.compare.valid);
}

/* ---- addresses ---- */

static void test_address(void **state)
{
	/* BX is 3, CX 0 to 7, DX TABLE, R8 has 32 bits, SI and DI are not known. */
	static const struct {
		uint8_t base, index, scale;
		int64_t displacement;
		uint64_t lo, hi, stride;
		uint64_t sym; /* a register of 64 bits and a distance from it have a name */
	} cases[] = {
		{VT_REG_NONE, VT_REG_NONE, 0, 0x1000, 0x1000, 0x1000, 0, 0},
		{VT_REG_NONE, VT_REG_NONE, 0, -1, M64, M64, 0, 0},
		{VT_REG_IP, VT_REG_NONE, 0, 0x10, 0x5010, 0x5010, 0, 0},
		{VT_REG_IP, VT_REG_NONE, 0, -0x10, 0x4ff0, 0x4ff0, 0, 0},
		{VT_REG_BX, VT_REG_NONE, 0, 0, 3, 3, 0, 0},
		{VT_REG_BX, VT_REG_NONE, 0, 5, 8, 8, 0, 0},
		{VT_REG_BX, VT_REG_BX, 4, 5, 20, 20, 0, 0},
		{VT_REG_NONE, VT_REG_BX, 8, 5, 29, 29, 0, 0},
		{VT_REG_NONE, VT_REG_CX, 8, 5, 5, 61, 8, 0},
		{VT_REG_BX, VT_REG_CX, 2, 5, 8, 22, 2, 0},
		{VT_REG_CX, VT_REG_NONE, 0, 5, 5, 12, 1, 9},
		{VT_REG_SI, VT_REG_NONE, 0, 5, 0, M64, 1, VTI_NAME_START | 4},
		{VT_REG_R8, VT_REG_NONE, 0, 5, 5, M32 + 5, 1, 0},
		{VT_REG_SI, VT_REG_CX, 4, 5, 0, M64, 1, 0},
		/* A table at a known place, and any entry of it. */
		{VT_REG_NONE, VT_REG_SI, 8, TABLE, TABLE, TABLE + 8 * BIG, 8, 0},
		{VT_REG_DX, VT_REG_SI, 4, 16, TABLE + 16, TABLE + 16 + 4 * BIG, 4, 0},
		{VT_REG_SI, VT_REG_DX, 1, 0, TABLE, TABLE + BIG, 1, 0},
		{VT_REG_NONE, VT_REG_SI, 8, TABLE_END, 0, M64, 1, 0},
		{VT_REG_SI, VT_REG_DX, 2, 0, 0, M64, 1, VTI_NAME_START | 4},
		{VT_REG_CX, VT_REG_SI, 1, TABLE, 0, M64, 1, 0},
		{VT_REG_DX, VT_REG_BX, 4, 0, TABLE + 12, TABLE + 12, 0, 0},
		{VT_REG_SI, VT_REG_DI, 1, TABLE, 0, M64, 1, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_memory a = {.base = cases[i].base,
				      .index = cases[i].index,
				      .scale = cases[i].scale,
				      .displacement = cases[i].displacement};
		struct vti_flowstate s = fresh();
		struct vti_value v;

		s.regs[VT_REG_BX] = vti_value_constant(3);
		s.regs[VT_REG_CX] = range(9, 0, 7, 1);
		s.regs[VT_REG_DX] = vti_value_constant(TABLE);
		s.regs[8] = at(10, 0, 32);
		v = vti_flowstate_address(&s, &a, 0x5000, &memory);
		assert_false(v.entry);
		expect_range(&v, cases[i].lo, cases[i].hi, cases[i].stride);
		assert_int_equal(v.sym, cases[i].sym);
		if (cases[i].hi >= TABLE + BIG && cases[i].hi != M64)
			assert_false(v.computed);
	}
}

/* An index of up to 32 bits is one that something is known of. */
static void test_long_index(void **state)
{
	static const struct {
		uint64_t hi; /* of the index, from 1 on */
		bool known;
	} cases[] = {{BIG - 1, true}, {BIG, true}, {BIG + 1, false}};
	struct vt_memory a = {
		.base = VT_REG_NONE, .index = VT_REG_CX, .scale = 1, .displacement = TABLE};
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct vti_flowstate s = fresh();
		struct vti_value v;

		s.regs[VT_REG_CX] = range(9, 1, cases[i].hi, 1);
		v = vti_flowstate_address(&s, &a, 0x5000, &memory);
		expect_range(&v, cases[i].known ? TABLE + 1 : TABLE,
			     TABLE + (cases[i].known ? cases[i].hi : BIG), 1);
		/* Entries are no index of a known place. */
		s.regs[VT_REG_CX] = an_entry(TABLE, 8);
		v = vti_flowstate_address(&s, &a, 0x5000, &memory);
		assert_int_equal(v.entry, true);
		assert_int_equal(v.add, TABLE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers),	cmocka_unit_test(test_operands),
		cmocka_unit_test(test_kinds),		cmocka_unit_test(test_evaluate),
		cmocka_unit_test(test_evaluate_signed), cmocka_unit_test(test_learn),
		cmocka_unit_test(test_learn_many),	cmocka_unit_test(test_rename),
		cmocka_unit_test(test_address),		cmocka_unit_test(test_long_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
