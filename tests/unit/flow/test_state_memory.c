/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words of memory on the way to an indirect jump, and what is left of states where ways meet. */
#include "tests/unit/flow/flowstates.h"

/* ---- words of memory ---- */

static void put_word(struct vti_flowstate *s, uint64_t sym, uint64_t off, unsigned size, uint64_t n)
{
	struct vti_value address = sym ? at(sym, off, 64) : vti_value_constant(off);
	struct vti_value v = vti_value_constant(n);

	vti_flowstate_store(s, &address, size, &v, &memory);
}

/* What is read there: a constant, or UINT64_MAX. */
static uint64_t get_word(const struct vti_flowstate *s, uint64_t sym, uint64_t off, unsigned size)
{
	struct vti_flowstate copy = *s;
	struct vti_value address = sym ? at(sym, off, 64) : vti_value_constant(off);
	struct vti_value v = vti_flowstate_load(&copy, &address, size, false, 1, &memory);

	return v.lo == v.hi ? v.lo : M64;
}

/* A word of 8 bytes, then a store next to it or into it, by the same name or another. */
static void test_words(void **state)
{
	static const struct {
		uint64_t sym, off; /* of the word */
		uint64_t other, at;
		unsigned size;
		bool kept;
	} cases[] = {
		{7, 100, 7, 108, 4, true},
		{7, 100, 7, 107, 4, false},
		{7, 100, 7, 96, 4, true},
		{7, 100, 7, 97, 4, false},
		{7, 100, 7, 92, 8, true},
		{7, 100, 7, 93, 8, false},
		{7, 100, 7, 100, 1, false},
		{7, 100, 8, 108, 4, false},
		{7, 100, 0, 108, 4, false},
		{0, 100, 0, 108, 4, true},
		{0, 100, 0, 104, 4, false},
		{0, 100, 7, 108, 4, false},
		/* What a pointer leads to is not the stack; what is on the stack may be anything's.
		 */
		{7, 100, VTI_NAME_STACK, 100, 8, true},
		{0, 100, VTI_NAME_STACK, 100, 8, true},
		{VTI_NAME_STACK, 100, 7, 500, 8, false},
		{VTI_NAME_STACK, 100, VTI_NAME_STACK, 108, 8, true},
		{VTI_NAME_STACK, 100, VTI_NAME_STACK, 104, 8, false},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vti_flowstate s = fresh();

		put_word(&s, cases[i].sym, cases[i].off, 8, 0x55);
		assert_int_equal(get_word(&s, cases[i].sym, cases[i].off, 8), 0x55);
		assert_int_equal(get_word(&s, cases[i].sym, cases[i].off, 4), M64);
		assert_int_equal(get_word(&s, cases[i].sym, cases[i].off + 1, 8), M64);
		assert_int_equal(get_word(&s, 6, cases[i].off, 8), M64);
		put_word(&s, cases[i].other, cases[i].at, cases[i].size, 0x66);
		assert_int_equal(get_word(&s, cases[i].other, cases[i].at, cases[i].size), 0x66);
		assert_int_equal(get_word(&s, cases[i].sym, cases[i].off, 8),
				 cases[i].kept ? 0x55 : M64);
	}
}

/* Only an address of a table, as a whole on the stack, outlives stores that may go anywhere. */
static void test_saved_tables(void **state)
{
	struct vti_flowstate s = fresh();
	struct vti_value entry = an_entry(TABLE, 8), some = range(9, TABLE, TABLE + 8, 8);
	struct vti_value a, b;

	(void)state;
	put_word(&s, VTI_NAME_STACK, 0, 8, TABLE);
	put_word(&s, VTI_NAME_STACK, 8, 4, TABLE);
	put_word(&s, VTI_NAME_STACK, 16, 8, TABLE_END);
	a = at(VTI_NAME_STACK, 24, 64);
	vti_flowstate_store(&s, &a, 8, &entry, &memory);
	a.off = 32;
	vti_flowstate_store(&s, &a, 8, &some, &memory);
	put_word(&s, VTI_NAME_STACK, 40, 8, TABLE_END - 1);
	assert_int_equal(s.ncells, 6);
	b = vti_value_unknown(0);
	vti_flowstate_store(&s, &b, 8, &b, &memory);
	assert_int_equal(s.ncells, 2);
	assert_int_equal(get_word(&s, VTI_NAME_STACK, 0, 8), TABLE);
	assert_int_equal(get_word(&s, VTI_NAME_STACK, 40, 8), TABLE_END - 1);
	/* Stores by a name that is not the stack's leave it, too, but not one into it. */
	put_word(&s, 7, 0, 8, 1);
	assert_int_equal(get_word(&s, VTI_NAME_STACK, 0, 8), TABLE);
	put_word(&s, VTI_NAME_STACK, 4, 8, 1);
	assert_int_equal(get_word(&s, VTI_NAME_STACK, 0, 8), M64);
	assert_int_equal(get_word(&s, VTI_NAME_STACK, 40, 8), TABLE_END - 1);
	assert_int_equal(s.cells[0].off, 40);
	/* Elsewhere than on the stack it is a word like others. */
	put_word(&s, 7, 0, 8, TABLE);
	vti_flowstate_forget(&s, NULL, &memory);
	assert_int_equal(s.ncells, 1);
	assert_int_equal(s.cells[0].off, 40);
}

/* Addresses that say nothing of where: stores there may change any word, loads are not kept. */
static void test_no_cells(void **state)
{
	struct vti_value a[5] = {at(7, 0, 64), at(7, 0, 64), at(7, 0, 32), vti_value_unknown(0),
				 at(7, 0, 64)};
	static const unsigned sizes[] = {8, 8, 8, 8, 9};
	size_t i;

	(void)state;
	a[0].entry = true;
	a[1].sext = true;
	for (i = 0; i < 5; i++) {
		struct vti_flowstate s = fresh();
		struct vti_value v = vti_value_constant(3);

		vti_flowstate_load(&s, &a[i], sizes[i], false, 5, &memory);
		assert_int_equal(s.ncells, 0);
		/* Nor are they the place that is called 0. */
		put_word(&s, 0, 0, 8, 1);
		v = vti_flowstate_load(&s, &a[i], sizes[i], false, 5, &memory);
		assert_int_equal(v.hi, M64);
		v = vti_value_constant(3);
		put_word(&s, 7, 0, 8, 1);
		vti_flowstate_store(&s, &a[i], sizes[i], &v, &memory);
		assert_int_equal(s.ncells, 0);
	}
}

/* A stored value is cut down to the word; of too many words, the oldest goes. */
static void test_many_words(void **state)
{
	struct vti_flowstate s = fresh();
	unsigned i, n;

	(void)state;
	put_word(&s, 7, 0, 2, 0x12345678);
	assert_int_equal(get_word(&s, 7, 0, 2), 0x5678);
	vti_flowstate_forget(&s, NULL, &memory);
	for (n = 1; n <= 2 * VTI_STATE_CELLS + 1; n++) {
		put_word(&s, VTI_NAME_STACK, 8 * n, 8, n);
		assert_int_equal(s.ncells, n < VTI_STATE_CELLS ? n : VTI_STATE_CELLS);
		for (i = 1; i <= n; i++)
			assert_int_equal(get_word(&s, VTI_NAME_STACK, 8 * i, 8),
					 i + VTI_STATE_CELLS > n ? i : M64);
	}
}

static void test_loads(void **state)
{
	static const struct {
		uint64_t lo, hi, stride;
		unsigned size;
		bool is_signed;
		bool entry;
		uint64_t want_lo, want_hi, want_stride;
	} cases[] = {
		/* A word that is known, one that is not, and one that does not stay as it is. */
		{TABLE + 16, TABLE + 16, 0, 4, false, false, TABLE + 20, TABLE + 20, 0},
		{TABLE + 16, TABLE + 16, 0, 8, false, false, TABLE + 24, TABLE + 24, 0},
		{TABLE + 16, TABLE + 16, 0, 16, false, false, 0, M64, 1},
		{TABLE + 16, TABLE + 16, 0, 9, false, false, 0, M64, 1},
		{TABLE + 24, TABLE + 24, 0, 7, false, false, 0, M64 >> 8, 1},
		{TABLE + 24, TABLE + 24, 0, 4, false, false, 0, M32, 1},
		{TABLE + 24, TABLE + 24, 0, 2, true, false, 0, M16, 1},
		{TABLE_END, TABLE_END, 0, 8, false, false, 0, M64, 1},
		/* Entries. */
		{TABLE, TABLE + 56, 8, 8, false, true, TABLE, TABLE + 56, 8},
		{TABLE, TABLE + 56, 8, 8, true, true, TABLE, TABLE + 56, 8},
		{TABLE, TABLE + 56, 9, 9, true, false, 0, M64, 1},
		{TABLE, TABLE + 56, 8, 7, true, true, TABLE, TABLE + 56, 8},
		{TABLE, TABLE + 56, 8, 4, true, true, TABLE, TABLE + 56, 8},
		{TABLE, TABLE + 56, 1, 4, false, true, TABLE, TABLE + 56, 4},
		{TABLE, TABLE + 56, 2, 1, false, true, TABLE, TABLE + 56, 2},
		{TABLE, TABLE + 56, 16, 16, false, false, 0, M64, 1},
		{TABLE_END, TABLE_END + 56, 8, 8, false, false, 0, M64, 1},
		/* As long as an index of 32 bits makes it, but nothing before a file's header. */
		{TABLE, TABLE + 8 * BIG, 8, 8, false, true, TABLE, TABLE + 8 * BIG, 8},
		{TABLE, TABLE + 8 * BIG + 1, 1, 8, false, false, 0, M64, 1},
		{64, 128, 8, 8, false, true, 64, 128, 8},
		{63, 127, 8, 8, false, false, 0, M64, 1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vti_flowstate s = fresh();
		struct vti_value a = range(9, cases[i].lo, cases[i].hi, cases[i].stride), v;

		a.off = 3;
		a.width = 32;
		a.add = 7;
		v = vti_flowstate_load(&s, &a, cases[i].size, cases[i].is_signed, 5, &memory);
		assert_int_equal(v.entry, cases[i].entry);
		expect_range(&v, cases[i].want_lo, cases[i].want_hi, cases[i].want_stride);
		if (v.entry) {
			assert_int_equal(v.sym, 0);
			assert_int_equal(v.off, 0);
			assert_int_equal(v.width, 64);
			assert_int_equal(v.add, 0);
			assert_int_equal(v.size, cases[i].size);
			assert_int_equal(v.is_signed, cases[i].is_signed && cases[i].size < 8);
		} else if (v.lo != v.hi) {
			assert_int_equal(v.sym, VTI_NAME_LOAD | 5);
			assert_int_equal(v.width, cases[i].size < 8 ? 8 * cases[i].size : 64);
		}
		/* An entry of a table is no table. */
		a.entry = true;
		v = vti_flowstate_load(&s, &a, cases[i].size, cases[i].is_signed, 5, &memory);
		assert_false(v.entry);
	}
}

/* What was loaded is in the word, by its new name, unless the address had that name. */
static void test_load_keeps(void **state)
{
	struct vti_flowstate s = fresh();
	struct vti_value a = at(7, 24, 64), v, w;

	(void)state;
	v = vti_flowstate_load(&s, &a, 4, false, 5, &memory);
	assert_int_equal(s.ncells, 1);
	assert_int_equal(s.cells[0].sym, 7);
	assert_int_equal(s.cells[0].off, 24);
	assert_int_equal(s.cells[0].size, 4);
	/* What is told of it later is known when it is loaded again. */
	vti_flowstate_learn(&s, &v, 2, 6);
	w = vti_flowstate_load(&s, &a, 4, false, 6, &memory);
	assert_int_equal(w.sym, VTI_NAME_LOAD | 5);
	expect_range(&w, 2, 6, 1);
	a = at(VTI_NAME_LOAD | 5, 0, 64);
	s.regs[VT_REG_BX] = a;
	v = vti_flowstate_load(&s, &a, 8, false, 5, &memory);
	assert_int_equal(v.sym, VTI_NAME_LOAD | 5);
	assert_int_equal(s.regs[VT_REG_BX].sym, 0);
	assert_int_equal(s.ncells, 1);
	assert_int_equal(s.cells[0].value.sym, 0);
}

/* ---- where ways meet ---- */

/* One register of two states that differ in one thing: joined, it is changed or not. */
static void test_join_registers(void **state)
{
	static const struct {
		uint64_t lo, hi, stride;   /* of the other; this one: 8 to 16 by 4 */
		bool same, widen, changed; /* same: by name */
		uint64_t want_lo, want_hi, want_stride;
	} cases[] = {
		{8, 16, 4, true, false, false, 8, 16, 4}, {12, 16, 4, true, false, false, 8, 16, 4},
		{8, 12, 4, true, false, false, 8, 16, 4}, {10, 14, 4, true, false, true, 8, 16, 2},
		{4, 16, 4, true, false, true, 4, 16, 4},  {8, 20, 4, true, false, true, 8, 20, 4},
		{8, 20, 4, false, false, true, 8, 20, 4}, {8, 16, 4, true, true, false, 8, 16, 4},
		{8, 12, 4, true, true, false, 8, 16, 4},  {8, 20, 4, true, true, true, 0, M64, 1},
		{8, 20, 4, false, true, true, 0, M64, 1},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vti_flowstate s = fresh(), other = fresh();
		struct vti_value *r = &s.regs[VT_REG_R15 - VT_REG_R8 + 8];
		uint64_t place = VTI_NAME_JOIN | 0x40 << 8 | 15;

		*r = range(9, 8, 16, 4);
		r->off = 2;
		other.regs[15] =
			range(cases[i].same ? 9 : 10, cases[i].lo, cases[i].hi, cases[i].stride);
		other.regs[15].off = 2;
		assert_int_equal(vti_flowstate_join(&s, &other, 0x40, cases[i].widen),
				 cases[i].changed);
		expect_range(r, cases[i].want_lo, cases[i].want_hi, cases[i].want_stride);
		assert_int_equal(r->sym, cases[i].same ? 9 : place);
		assert_int_equal(r->off, cases[i].same ? 2 : 0);
		assert_int_equal(r->width, 64);
		/* Once more, nothing is new. */
		assert_false(vti_flowstate_join(&s, &other, 0x40, cases[i].widen));
		expect_range(r, cases[i].want_lo, cases[i].want_hi, cases[i].want_stride);
	}
}

/* Values that differ in one thing only are not the same. */
static void test_join_each_part(void **state)
{
	struct vti_value v = range(9, 0, M64, 1), others[6];
	size_t i;

	(void)state;
	v.off = 2;
	v.width = 32;
	for (i = 0; i < 6; i++)
		others[i] = v;
	others[1].sym = 10;
	others[2].off = 3;
	others[3].width = 16;
	others[4].sext = true;
	others[5].entry = true;
	for (i = 0; i < 6; i++) {
		struct vti_flowstate s = fresh(), other = fresh();

		s.regs[3] = v;
		other.regs[3] = others[i];
		assert_int_equal(vti_flowstate_join(&s, &other, 0x40, false), i > 0);
		assert_int_equal(s.regs[3].sym, i ? VTI_NAME_JOIN | 0x4003 : 9);
		assert_int_equal(s.regs[3].computed, i == 5);
	}
	/* What is computed stays so, also when it is given up. */
	for (i = 0; i < 2; i++) {
		struct vti_flowstate s = fresh(), other = fresh();

		s.regs[3] = other.regs[3] = range(9, 8, 16, 4);
		s.regs[3].computed = i;
		other.regs[3].hi = 20;
		assert_true(vti_flowstate_join(&s, &other, 0x40, true));
		assert_int_equal(s.regs[3].computed, i);
		assert_int_equal(s.regs[3].sym, 9);
	}
}

/* A change of any register is one, also if others do not change. */
static void test_join_any_register(void **state)
{
	unsigned i, k;

	(void)state;
	for (i = 0; i < VTI_STATE_REGS; i++) {
		struct vti_flowstate s = fresh(), other = fresh();

		other.regs[i] = vti_value_constant(3);
		assert_true(vti_flowstate_join(&s, &other, 0x40, false));
		for (k = 0; k < VTI_STATE_REGS; k++)
			assert_int_equal(s.regs[k].sym,
					 k == i ? VTI_NAME_JOIN | 0x4000 | i : VTI_NAME_START | k);
		/* And if what others are is told less of. */
		s = fresh();
		s.regs[(i + 1) % VTI_STATE_REGS] = range(9, 0, 100, 1);
		s.regs[(i + 2) % VTI_STATE_REGS] = range(9, 0, 100, 1);
		other.regs[(i + 1) % VTI_STATE_REGS] = range(9, 3, 4, 1);
		other.regs[(i + 2) % VTI_STATE_REGS] = range(9, 3, 4, 1);
		assert_true(vti_flowstate_join(&s, &other, 0x40, false));
	}
}

/* Entries of a table stay so if both are; given up, they are computed from it. */
static void test_join_entries(void **state)
{
	struct vti_flowstate s = fresh(), other = fresh();
	struct vti_value e = an_entry(TABLE, 8), f;

	(void)state;
	s.regs[0] = other.regs[0] = e;
	assert_false(vti_flowstate_join(&s, &other, 0x40, false));
	assert_true(s.regs[0].entry);
	other.regs[0].hi += 8;
	assert_true(vti_flowstate_join(&s, &other, 0x40, false));
	assert_int_equal(s.regs[0].hi, e.hi + 8);
	/* Of another size, or with something added to it. */
	s.regs[0] = e, f = e, f.size = 4, other.regs[0] = f;
	assert_true(vti_flowstate_join(&s, &other, 0x40, false));
	assert_false(s.regs[0].entry);
	assert_true(s.regs[0].computed);
	s.regs[0] = e, f = e, f.add = 4, other.regs[0] = f;
	assert_true(vti_flowstate_join(&s, &other, 0x40, false));
	assert_false(s.regs[0].entry);
	s.regs[0] = e, f = e, f.hi += 8, other.regs[0] = f;
	assert_true(vti_flowstate_join(&s, &other, 0x40, true));
	assert_false(s.regs[0].entry);
	assert_true(s.regs[0].computed);
	expect_range(&s.regs[0], 0, M64, 1);
}

/* What comparisons told on the other way counts; words are joined like registers. */
static void test_join_words(void **state)
{
	struct vti_flowstate s = fresh(), other = fresh();
	struct vti_value a = at(7, 0, 64), b = at(7, 8, 64), v = at(9, 0, 32);

	(void)state;
	v.hi = 5;
	vti_flowstate_store(&s, &a, 8, &v, &memory);
	vti_flowstate_store(&s, &b, 8, &v, &memory);
	v.hi = M32;
	vti_flowstate_store(&other, &b, 8, &v, &memory);
	s.oldest = 3;
	vti_flowstate_learn(&other, &v, 0, 9);
	assert_true(vti_flowstate_join(&s, &other, 0x40, false));
	assert_int_equal(s.ncells, 1);
	assert_int_equal(s.oldest, 0);
	assert_int_equal(s.cells[0].off, 8);
	assert_int_equal(s.cells[0].value.sym, 9);
	expect_range(&s.cells[0].value, 0, 9, 1);
	assert_false(vti_flowstate_join(&s, &other, 0x40, false));
	/* One that is not there on the other way is a change, though the next stays. */
	s.ncells = 0;
	vti_flowstate_store(&s, &a, 8, &v, &memory);
	vti_flowstate_store(&s, &b, 8, &v, &memory);
	other = fresh();
	vti_flowstate_store(&other, &b, 8, &v, &memory);
	assert_true(vti_flowstate_join(&s, &other, 0x40, false));
	assert_int_equal(s.ncells, 1);
	assert_false(vti_flowstate_join(&s, &other, 0x40, false));
	/* Given up, it is still the same. */
	s.cells[0].value.hi = 5;
	assert_true(vti_flowstate_join(&s, &other, 0x40, true));
	assert_int_equal(s.cells[0].value.sym, 9);
	expect_range(&s.cells[0].value, 0, M64, 1);
	/* Another value in it is none. */
	other.cells[0].value.sym = 10;
	assert_true(vti_flowstate_join(&s, &other, 0x40, false));
	assert_int_equal(s.ncells, 0);
}

/* A fact holds as far as it does on both ways, and not at all if it says nothing. */
static void test_join_facts(void **state)
{
	static const struct {
		uint64_t lo, hi; /* of the other, this one: 10 to 20 of 8 bits */
		bool widen, changed;
		uint64_t want_lo, want_hi; /* 0, 0: forgotten */
	} cases[] = {
		{10, 20, false, false, 10, 20}, {12, 18, false, false, 10, 20},
		{9, 20, false, true, 9, 20},	{10, 21, false, true, 10, 21},
		{1, 255, false, true, 1, 255},	{0, 254, false, true, 0, 254},
		{0, 255, false, true, 0, 0},	{9, 20, true, true, 0, 0},
		{10, 20, true, false, 10, 20},
	};
	struct vti_value v = at(9, 4, 8), w = at(8, 0, 8);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vti_flowstate s = fresh(), other = fresh();
		bool kept = cases[i].want_hi > 0;

		vti_flowstate_learn(&s, &v, 10, 20);
		vti_flowstate_learn(&s, &w, 1, 2);
		vti_flowstate_learn(&other, &w, 1, 2);
		vti_flowstate_learn(&other, &v, cases[i].lo, cases[i].hi);
		assert_int_equal(vti_flowstate_join(&s, &other, 0x40, cases[i].widen),
				 cases[i].changed);
		assert_int_equal(s.nfacts, kept ? 2 : 1);
		if (kept) {
			assert_int_equal(s.facts[0].lo, cases[i].want_lo);
			assert_int_equal(s.facts[0].hi, cases[i].want_hi);
		}
		assert_int_equal(s.facts[kept].sym, 8);
		assert_int_equal(s.facts[kept].lo, 1);
		assert_int_equal(s.facts[kept].hi, 2);
	}
}

/* A comparison stays the last one if it was on both ways, each of its parts. */
static void test_join_compare(void **state)
{
	struct vti_compare c = {true, 32, 5, at(9, 0, 32)}, others[5] = {c, c, c, c, c};
	size_t i;

	(void)state;
	others[1].valid = false;
	others[2].width = 16;
	others[3].with = 6;
	others[4].value.sym = 8;
	for (i = 0; i < 5; i++) {
		struct vti_flowstate s = fresh(), other = fresh();

		s.compare = c;
		other.compare = others[i];
		assert_int_equal(vti_flowstate_join(&s, &other, 0x40, false), i > 0);
		assert_int_equal(s.compare.valid, i == 0);
		assert_false(vti_flowstate_join(&s, &other, 0x40, false));
		/* None here is none. */
		s.compare.valid = false;
		assert_false(vti_flowstate_join(&s, &other, 0x40, false));
		assert_false(s.compare.valid);
	}
}

/* Settled, values are what facts say; the facts may go. */
static void test_settle(void **state)
{
	struct vti_flowstate s = fresh();
	struct vti_value a = at(7, 0, 64), b = at(7, 8, 64), v = at(9, 0, 32);

	(void)state;
	vti_flowstate_store(&s, &a, 8, &v, &memory);
	vti_flowstate_store(&s, &b, 8, &v, &memory);
	s.regs[0] = s.regs[15] = v;
	vti_flowstate_learn(&s, &v, 3, 6);
	vti_flowstate_settle(&s);
	expect_range(&s.regs[0], 3, 6, 1);
	expect_range(&s.regs[15], 3, 6, 1);
	expect_range(&s.regs[1], 0, M64, 1);
	expect_range(&s.cells[0].value, 3, 6, 1);
	expect_range(&s.cells[1].value, 3, 6, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),	       cmocka_unit_test(test_saved_tables),
		cmocka_unit_test(test_no_cells),       cmocka_unit_test(test_many_words),
		cmocka_unit_test(test_loads),	       cmocka_unit_test(test_load_keeps),
		cmocka_unit_test(test_join_registers), cmocka_unit_test(test_join_any_register),
		cmocka_unit_test(test_join_entries),   cmocka_unit_test(test_join_words),
		cmocka_unit_test(test_join_facts),     cmocka_unit_test(test_join_compare),
		cmocka_unit_test(test_settle),	       cmocka_unit_test(test_join_each_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
