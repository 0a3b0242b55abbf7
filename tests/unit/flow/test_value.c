/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Values on the way to an indirect jump: arithmetic on ranges, against all the numbers that they
 * stand for; the names of results; entries of tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flow/value.h"
#include "tests/unit/flow/values.h"

#define BYTE 0xff
#define M64  UINT64_MAX

/* Some ranges of bytes, and how many there are. */
static size_t make_ranges(struct vti_value *to)
{
	static const unsigned los[] = {0, 1, 7, 64, 100, 127, 128, 200, 240, 255};
	static const unsigned strides[] = {1, 2, 3, 8}, counts[] = {1, 2, 5, 16, 256};
	size_t a, b, c, n = 0;

	for (a = 0; a < 10; a++)
		for (b = 0; b < 4; b++)
			for (c = 0; c < 5; c++) {
				struct vti_value v = vti_value_range(9, BYTE);

				v.width = 8;
				v.lo = los[a];
				v.stride = strides[b];
				v.hi = v.lo + (counts[c] - 1) * v.stride;
				if (v.hi > BYTE || (counts[c] == 1 && b))
					continue;
				if (v.lo == v.hi)
					v.stride = 0;
				to[n++] = v;
			}
	return n;
}

#define MAX_RANGES (10 * 4 * 5)

static bool holds(const struct vti_value *v, uint64_t n)
{
	return n >= v->lo && n <= v->hi &&
	       (n == v->lo || (v->stride && (n - v->lo) % v->stride == 0));
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	return b ? common_divisor(b, a % b) : a;
}

/* A result is these numbers, or all that `width` bits can be. */
static void expect(const struct vti_value *r, bool known, uint64_t lo, uint64_t hi, uint64_t stride,
		   uint64_t mask)
{
	assert_false(r->entry);
	assert_int_equal(r->lo, known ? lo : 0);
	assert_int_equal(r->hi, known ? hi : mask);
	assert_int_equal(r->stride, known ? stride : 1);
}

static void check_one(const struct vti_value *v)
{
	struct vti_value r, k;
	uint64_t n, x;

	for (n = 0; n <= BYTE; n++) {
		uint64_t low = n & (~n + 1), most = v->hi < n ? v->hi : n;

		k = vti_value_constant(n);
		r = vti_value_add(v, &k, 8, 5);
		expect(&r, v->lo == v->hi || (v->lo + n) >> 8 == (v->hi + n) >> 8,
		       (v->lo + n) & BYTE, (v->hi + n) & BYTE, v->stride, BYTE);
		r = vti_value_add(&k, v, 8, 5);
		expect(&r, v->lo == v->hi || (v->lo + n) >> 8 == (v->hi + n) >> 8,
		       (v->lo + n) & BYTE, (v->hi + n) & BYTE, v->stride, BYTE);
		r = vti_value_times(v, n, 8, 5);
		expect(&r, n && v->hi * n <= BYTE, v->lo * n, v->hi * n, v->stride * n, BYTE);
		r = vti_value_and(v, n, 8, 5);
		for (x = v->lo; x <= v->hi; x += v->stride ? v->stride : 1)
			assert_true(holds(&r, x & n));
		if (v->lo == v->hi)
			expect(&r, true, v->lo & n, v->lo & n, 0, 0);
		else if (n == BYTE)
			expect(&r, true, v->lo, v->hi, v->stride, 0);
		else
			expect(&r, true, 0, most, !most ? 0 : most == n ? low : 1, 0);
	}
	for (n = 0; n <= 9; n++) {
		r = vti_value_shift_right(v, (unsigned)n, 8, 5);
		expect(&r, n < 8, v->lo >> n, v->hi >> n, v->lo >> n != v->hi >> n, BYTE);
	}
	r = vti_value_sign_extend(v, 8, 64, 5);
	assert_int_equal(r.sext, v->lo != v->hi && v->hi > 127);
	expect(&r, v->lo == v->hi || v->hi <= 127, (uint64_t)(int8_t)v->lo, (uint64_t)(int8_t)v->hi,
	       v->stride, M64);
	r = vti_value_sign_extend(v, 8, 16, 5);
	expect(&r, v->lo == v->hi || v->hi <= 127, (uint16_t)(int8_t)v->lo, (uint16_t)(int8_t)v->hi,
	       v->stride, 0xffff);
	r = vti_value_low(v, 4);
	expect(&r, v->lo == v->hi || v->hi <= 15, v->lo & 15, v->hi & 15, v->stride, 15);
}

static void check_two(const struct vti_value *a, const struct vti_value *b)
{
	struct vti_value other = *b, r;
	uint64_t apart = a->lo > b->lo ? a->lo - b->lo : b->lo - a->lo;
	uint64_t stride = common_divisor(a->stride, b->stride);

	other.sym = 10;
	r = vti_value_add(a, &other, 8, 5);
	if (a->lo != a->hi && b->lo != b->hi)
		expect(&r, a->hi + b->hi <= BYTE, a->lo + b->lo, a->hi + b->hi, stride, BYTE);
	r = vti_value_join(a, &other, 5);
	expect(&r, true, a->lo < b->lo ? a->lo : b->lo, a->hi > b->hi ? a->hi : b->hi,
	       common_divisor(stride, apart), 0);
}

static void test_arithmetic(void **state)
{
	struct vti_value v[MAX_RANGES];
	size_t n = make_ranges(v), i, k;

	(void)state;
	for (i = 0; i < n; i++) {
		check_one(&v[i]);
		for (k = 0; k < n; k++)
			check_two(&v[i], &v[k]);
	}
}

static void expect_all(const struct vti_value *v, uint64_t sym, uint64_t hi)
{
	assert_false(v->entry);
	assert_true(v->computed);
	assert_int_equal(v->sym, sym);
	assert_int_equal(v->lo, 0);
	assert_int_equal(v->hi, hi);
	assert_int_equal(v->stride, 1);
	assert_int_equal(v->width, 64);
}

/* Which sums are the same number whatever it is. */
static void test_names(void **state)
{
	struct vti_value x = vti_value_unknown(9), y = vti_value_unknown(10), e, f;
	struct vti_value none = vti_value_unknown(0), three = vti_value_constant(3);
	struct vti_value minus3 = vti_value_constant(-UINT64_C(3));
	struct vti_value up = vti_value_add(&x, &three, 64, 5), low = vti_value_low(&x, 32);
	struct vti_value back = vti_value_add(&up, &minus3, 64, 5);
	struct vti_value carried = vti_value_add(&low, &three, 64, 5);
	struct vti_value wide = vti_value_sign_extend(&low, 32, 64, 5);

	(void)state;
	assert_true(vti_value_same(&x, &back));
	assert_false(vti_value_same(&x, &up));
	assert_false(vti_value_same(&x, &y));
	assert_false(vti_value_same(&x, &low));
	assert_false(vti_value_same(&low, &wide));
	assert_false(vti_value_same(&none, &none));
	assert_true(vti_value_same(&three, &three));
	assert_false(vti_value_same(&three, &minus3));
	/* 3 + 32 bits may carry: it has a name of its own. */
	assert_true(carried.sym == 5 && carried.off == 0 && carried.width == 64);
	assert_true(up.sym == 9 && up.off == 3);
	e = vti_value_range(0, 56);
	e.entry = true;
	e.size = 8;
	e.stride = 8;
	assert_true(vti_value_same(&e, &e));
	f = e, f.size = 4;
	assert_false(vti_value_same(&e, &f));
	f = e, f.add = 1;
	assert_false(vti_value_same(&e, &f));
	f = e, f.is_signed = true;
	assert_false(vti_value_same(&e, &f));
	f = e, f.stride = 4;
	assert_false(vti_value_same(&e, &f));
	f = e, f.lo = 8;
	assert_false(vti_value_same(&e, &f));
	f = e, f.entry = false;
	assert_false(vti_value_same(&e, &f));
	f = e, f.width = 32;
	assert_false(vti_value_same(&e, &f));
	/* A longer part of the same table is the same; joined, it is the longer. */
	f = e, f.hi = 80;
	assert_true(vti_value_same(&e, &f));
	assert_int_equal(vti_value_join(&e, &f, 5).hi, 80);
	assert_int_equal(vti_value_join(&f, &e, 5).hi, 80);
	f = vti_value_join(&e, &x, 5);
	expect_all(&f, 5, M64);
	f = vti_value_join(&x, &e, 5);
	expect_all(&f, 5, M64);
	/* What is computed on one way only is no pointer as it was in memory. */
	assert_false(vti_value_join(&x, &y, 5).computed);
	y.computed = true;
	assert_true(vti_value_join(&x, &y, 5).computed);
	assert_true(vti_value_join(&y, &x, 5).computed);
	/* A constant is no range that begins with it, nor an entry there. */
	f = x, f.lo = 3;
	assert_false(vti_value_same(&three, &f));
	assert_false(vti_value_same(&f, &three));
	assert_false(is_number(&f, 3));
	f = e, f.hi = f.lo;
	assert_false(is_number(&f, f.lo));
	assert_true(is_number(&three, 3));
	assert_false(is_number(&three, 4));
}

static struct vti_value entry_of(unsigned size, bool is_signed, uint64_t add)
{
	struct vti_value v = vti_value_range(0, 0x38);

	v.entry = true;
	v.size = (uint8_t)size;
	v.is_signed = is_signed;
	v.add = add;
	return v;
}

/* An entry is still one when it is cut down to no less than its size, before anything is added. */
static void test_entries(void **state)
{
	static const struct {
		unsigned size, width;
		bool is_signed;
		uint64_t add;
		bool entry, still_signed;
	} cases[] = {
		{2, 32, true, 0, true, true},	 {2, 32, false, 0, true, false},
		{2, 16, true, 0, true, false},	 {2, 16, false, 0, true, false},
		{2, 8, false, 0, false, false},	 {2, 32, true, 1, false, false},
		{4, 32, true, 0, true, false},	 {4, 16, true, 0, false, false},
		{8, 32, false, 0, false, false}, {1, 16, true, 0, true, true},
		{1, 8, true, 0, true, false},	 {4, 31, true, 0, false, false},
		{2, 17, true, 0, true, true},
	};
	struct vti_value e, r, x = vti_value_unknown(9), n = vti_value_constant(5);
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		e = entry_of(cases[i].size, cases[i].is_signed, cases[i].add);
		r = vti_value_low(&e, cases[i].width);
		if (!cases[i].entry) {
			expect_all(&r, 0, vti_mask(cases[i].width));
			continue;
		}
		assert_true(r.entry);
		assert_int_equal(r.width, cases[i].width);
		assert_int_equal(r.is_signed, cases[i].still_signed);
		assert_int_equal(r.hi, 0x38);
		/* Cut again to as much, it is the same, whatever was added in between. */
		r = vti_value_add(&r, &n, 64, 7);
		r = vti_value_low(&r, cases[i].width);
		assert_true(r.entry);
		assert_int_equal(r.add, 5);
		r = vti_value_low(&e, 64);
		assert_int_equal(r.is_signed, cases[i].is_signed);
	}
	/* Sums of them, of 64 bits. */
	e = entry_of(8, false, 4);
	r = vti_value_add(&e, &n, 64, 7);
	assert_true(r.entry);
	assert_int_equal(r.add, 9);
	r = vti_value_add(&n, &e, 64, 7);
	assert_int_equal(r.add, 9);
	r = vti_value_add(&e, &n, 32, 7);
	expect_all(&r, 7, UINT32_MAX);
	x.hi = 7;
	r = vti_value_add(&e, &x, 64, 7);
	expect_all(&r, 7, M64);
	r = vti_value_add(&x, &e, 64, 7);
	expect_all(&r, 7, M64);
	/* Nothing else is known of. */
	r = vti_value_times(&e, 2, 64, 7);
	expect_all(&r, 7, M64);
	r = vti_value_shift_right(&e, 1, 64, 7);
	expect_all(&r, 7, M64);
}

/* Sign-extended, it must have been loaded at its full size. */
static void test_signed_entries(void **state)
{
	struct vti_value e = entry_of(4, false, 0), r = vti_value_sign_extend(&e, 32, 64, 7);

	(void)state;
	assert_true(r.entry && r.is_signed);
	assert_int_equal(r.width, 64);
	e = entry_of(4, false, 1);
	e.width = 32;
	r = vti_value_sign_extend(&e, 32, 64, 7);
	expect_all(&r, 7, M64);
	e = entry_of(2, false, 0);
	r = vti_value_sign_extend(&e, 32, 64, 7);
	expect_all(&r, 7, M64);
	r = vti_value_sign_extend(&e, 16, 32, 7);
	assert_true(r.entry && r.is_signed);
	assert_int_equal(r.width, 32);
}

/* So many low bits of as many, fewer and more, with and without a sign. */
static void test_low(void **state)
{
	static const struct {
		unsigned from;
		bool sext;
		unsigned width, want;
		bool want_sext, known;
	} cases[] = {
		{16, false, 64, 16, false, true}, {16, false, 32, 16, false, true},
		{16, false, 16, 16, false, true}, {16, false, 8, 8, false, true},
		{16, true, 64, 16, true, true},	  {16, true, 32, 64, false, false},
		{16, true, 16, 16, false, true},  {16, true, 8, 8, false, true},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vti_value v = vti_value_range(9, 0xffff), r;

		v.off = 2;
		v.width = (uint8_t)cases[i].from;
		if (cases[i].sext)
			v = vti_value_sign_extend(&v, 16, 64, 5);
		assert_int_equal(v.sext, cases[i].sext);
		r = vti_value_low(&v, cases[i].width);
		assert_int_equal(r.width, cases[i].want);
		assert_int_equal(r.sext, cases[i].want_sext);
		assert_int_equal(r.computed, !cases[i].known);
		assert_int_equal(r.sym, cases[i].known ? 9 : 0);
		assert_int_equal(r.off, cases[i].known ? 2 : 0);
		assert_int_equal(r.lo, 0);
		assert_int_equal(r.hi, cases[i].want_sext ? M64
				       : cases[i].known	  ? vti_mask(cases[i].want)
							  : UINT32_MAX);
		assert_int_equal(r.stride, 1);
	}
}

/* Results that keep a name, and what none of the bits of is known. */
static void test_kept_names(void **state)
{
	struct vti_value x = vti_value_unknown(9), r, sum, three = vti_value_constant(3);
	struct vti_value low = vti_value_low(&x, 32), wide = vti_value_sign_extend(&low, 32, 64, 5);
	static const unsigned widths[] = {8, 16, 32};
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++) {
		r = vti_value_and(&x, vti_mask(widths[i]), 64, 5);
		assert_int_equal(r.sym, 9);
		assert_int_equal(r.width, widths[i]);
		assert_false(r.computed);
		assert_int_equal(r.hi, vti_mask(widths[i]));
	}
	r = vti_value_and(&x, M64, 32, 5);
	assert_true(r.sym == 9 && r.width == 32 && !r.computed);
	r = vti_value_times(&low, 1, 64, 5);
	assert_true(vti_value_same(&r, &low));
	r = vti_value_add(&low, &three, 32, 5);
	assert_true(r.sym == 9 && r.off == 3 && r.width == 32);
	/* What may carry has a name of its own, and is no distance from it. */
	r = vti_value_add(&r, &three, 64, 5);
	assert_true(r.sym == 5 && r.off == 0 && r.width == 64);
	/* No sum of a value with a sign is told of. */
	sum = vti_value_add(&wide, &three, 64, 5);
	expect_all(&sum, 5, M64);
	sum = vti_value_add(&wide, &wide, 64, 5);
	expect_all(&sum, 5, M64);
	/* Given up, a value of 32 bits may be told to be any of 64: that is no range of 32. */
	low.hi = M64;
	sum = vti_value_add(&low, &three, 32, 5);
	assert_int_equal(sum.lo, 0);
	assert_int_equal(sum.hi, UINT32_MAX);
	/* A table's entries, of which bits are cut off. */
	x = entry_of(8, false, 0);
	r = vti_value_and(&x, 0x18, 64, 5);
	assert_false(r.entry);
	assert_true(r.lo == 0 && r.hi == 0x18 && r.stride == 8 && r.computed && r.sym == 5);
}

/* Twice the same is even more regular than the sum of two. */
static void test_doubled(void **state)
{
	struct vti_value x = vti_value_range(9, 56), r;

	(void)state;
	x.stride = 8;
	r = vti_value_add(&x, &x, 64, 5);
	assert_true(r.lo == 0 && r.hi == 112 && r.stride == 16);
	/* As far as the sum fits. */
	x.hi = 120;
	r = vti_value_add(&x, &x, 8, 5);
	assert_true(r.lo == 0 && r.hi == 240 && r.stride == 16);
	x.hi = 128;
	r = vti_value_add(&x, &x, 8, 5);
	expect_all(&r, 5, BYTE);
}

static void test_ranges(void **state)
{
	struct vti_value v = vti_value_range(9, 0);
	unsigned i;
	uint64_t mask = 0;

	(void)state;
	for (i = 0; i <= 64; i++) {
		assert_int_equal(vti_mask(i), mask);
		mask = 2 * mask + 1;
	}
	assert_true(v.lo == 0 && v.hi == 0 && v.stride == 0 && v.sym == 9 && v.width == 64);
	v = vti_value_range(9, 1);
	assert_true(v.lo == 0 && v.hi == 1 && v.stride == 1 && v.sym == 9 && !v.computed);
	v = vti_value_constant(7);
	assert_true(v.lo == 7 && v.hi == 7 && v.stride == 0 && v.sym == 0 && v.width == 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic), cmocka_unit_test(test_names),
		cmocka_unit_test(test_entries),	   cmocka_unit_test(test_signed_entries),
		cmocka_unit_test(test_low),	   cmocka_unit_test(test_kept_names),
		cmocka_unit_test(test_doubled),	   cmocka_unit_test(test_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
