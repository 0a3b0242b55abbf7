/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <libvex.h>
#include <libvex_ir.h>

#include "machine/lift/irop.h"
#include "tests/unit/common/iroperators.h"
#include "tests/unit/machine/lift/irops.h"

/* Of each operator: its shape is what VEX says, and what it calls known is so. */

struct shape {
	IRType result;
	IRType args[4];
};

static struct shape shape_of(unsigned irop)
{
	struct shape s;

	typeOfPrimop((IROp)irop, &s.result, &s.args[0], &s.args[1], &s.args[2], &s.args[3]);
	return s;
}

static void test_shapes(void **state)
{
	unsigned found = 0;

	(void)state;
	for (unsigned irop = Iop_INVALID + 1; irop < Iop_LAST; irop++) {
		const struct vti_irop *op = irops_find(irop);

		if (op == NULL)
			continue;
		const struct shape s = shape_of(irop);
		unsigned nargs = 0;

		while (nargs < 4 && s.args[nargs] != Ity_INVALID)
			nargs++;
		if (op->nargs != nargs || op->words != (irops_bits(s.result) + 63) / 64)
			fail_msg("operator %u has %u operands, %u words", irop - Iop_INVALID, nargs,
				 (irops_bits(s.result) + 63) / 64);
		/* The x87's own have the same shape. */
		if (vti_irop_find(irop) != NULL) {
			assert_int_equal(vti_irop_find_x87(irop)->nargs, nargs);
			assert_int_equal(vti_irop_find_x87(irop)->words, op->words);
		}
		found++;
	}
	assert_true(found > 350);
	assert_null(irops_find(Iop_INVALID));
	assert_null(irops_find(Iop_LAST));
	assert_null(irops_find(0));
	/* VEX computes these with 64 bits, the machine with 80, or an estimate of its own. */
	assert_null(irops_find(Iop_AddF64));
	assert_null(irops_find(Iop_SinF64));
	assert_null(irops_find(Iop_RecipEst32Fx4));
}

static void evaluate(const struct vti_irop *op, const struct vti_fpmode *mode,
		     struct vt_word *result, struct vt_word args[4][IROPS_WORDS])
{
	const struct vt_word *const pointers[4] = {args[0], args[1], args[2], args[3]};

	/* What was there before must not shine through. */
	for (unsigned i = 0; i < IROPS_WORDS; i++)
		result[i] = (struct vt_word){0xa5a5a5a5a5a5a5a5, 0x5a5a5a5a5a5a5a5a};
	op->fn(mode, result, pointers);
}

static void check_form(unsigned irop, const struct vt_word *result, unsigned bits)
{
	for (unsigned i = 0; i < (bits + 63) / 64; i++) {
		if ((result[i].value & ~result[i].known) != 0)
			fail_msg("operator %u: an unknown bit is set", irop - Iop_INVALID);
	}
	if (bits < 64 && ((result->known | vt_low_bits(bits)) != ~UINT64_C(0) ||
			  (result->value & ~vt_low_bits(bits)) != 0))
		fail_msg("operator %u: no known zeros above the result", irop - Iop_INVALID);
}

/* Makes bits of some operands unknown: here and there, a byte, or all of them. */
static void blur(struct vt_rng *rng, const struct shape *s, unsigned nargs,
		 struct vt_word args[4][IROPS_WORDS])
{
	for (unsigned k = 0; k < nargs; k++) {
		const unsigned bits = irops_bits(s->args[k]);
		const uint64_t how = vt_rng_below(rng, 6);

		for (unsigned i = 0; i < (bits + 63) / 64; i++) {
			uint64_t hide = 0;

			if (how == 0)
				hide = ~UINT64_C(0);
			else if (how == 1)
				hide = vt_rng_next(rng);
			else if (how == 2) {
				hide = vt_rng_next(rng);
				hide &= vt_rng_next(rng);
				hide &= vt_rng_next(rng);
			} else if (how == 3)
				hide = UINT64_C(0xff) << 8 * vt_rng_below(rng, 8);
			if (bits < 64)
				hide &= vt_low_bits(bits);
			args[k][i].known &= ~hide;
			args[k][i].value &= ~hide;
		}
	}
}

static void fill(struct vt_rng *rng, struct vt_word filled[4][IROPS_WORDS],
		 struct vt_word args[4][IROPS_WORDS])
{
	for (unsigned k = 0; k < 4; k++) {
		for (unsigned i = 0; i < IROPS_WORDS; i++) {
			uint64_t any = vt_rng_next(rng);

			/* The ends of the range find what random numbers do not. */
			if (vt_rng_below(rng, 4) == 0)
				any = vt_rng_below(rng, 2) ? ~UINT64_C(0) : 0;
			filled[k][i] = vt_word_of(args[k][i].value | (any & ~args[k][i].known));
		}
	}
}

static void check_once(struct vt_rng *rng, unsigned irop, const struct vti_irop *op,
		       const struct shape *s)
{
	struct vt_word args[4][IROPS_WORDS] = {{{0}}};
	struct vt_word filled[4][IROPS_WORDS];
	static const int zeroes[5] = {-1, 0, VTI_MXCSR_DAZ, VTI_MXCSR_FTZ,
				      VTI_MXCSR_DAZ | VTI_MXCSR_FTZ};
	struct vt_word partly[IROPS_WORDS];
	struct vt_word fully[IROPS_WORDS];
	const struct vti_fpmode partial_mode = {(int)vt_rng_below(rng, 5) - 1,
						zeroes[vt_rng_below(rng, 5)]};

	for (unsigned k = 0; k < op->nargs; k++)
		irops_random(rng, s->args[k], args[k]);
	/* A first operand of 32 bits may be a rounding mode. */
	if (s->args[0] == Ity_I32 && vt_rng_below(rng, 2))
		args[0][0].value &= 3;
	blur(rng, s, op->nargs, args);
	evaluate(op, &partial_mode, partly, args);
	check_form(irop, partly, irops_bits(s->result));
	for (unsigned n = 0; n < 4; n++) {
		const struct vti_fpmode mode = {
			partial_mode.rounding < 0 ? (int)n : partial_mode.rounding,
			partial_mode.zeroes < 0 ? zeroes[1 + n] : partial_mode.zeroes};

		fill(rng, filled, args);
		evaluate(op, &mode, fully, filled);
		check_form(irop, fully, irops_bits(s->result));
		/* VEX leaves it undefined: a shift by too much. */
		if (op->words == 1 && fully->known == ~vt_low_bits(irops_bits(s->result)))
			continue;
		for (unsigned i = 0; i < op->words; i++) {
			if ((partly[i].known & ~fully[i].known) != 0 ||
			    ((partly[i].value ^ fully[i].value) & partly[i].known) != 0)
				fail_msg("operator %u: word %u is 0x%llx, not 0x%llx (0x%llx)",
					 irop - Iop_INVALID, i, (unsigned long long)fully[i].value,
					 (unsigned long long)partly[i].value,
					 (unsigned long long)partly[i].known);
		}
	}
}

static void test_soundness(void **state)
{
	(void)state;
	for (unsigned irop = Iop_INVALID + 1; irop < Iop_LAST; irop++) {
		const struct vti_irop *op = irops_find(irop);
		struct vt_rng rng;

		if (op == NULL)
			continue;
		const struct shape s = shape_of(irop);

		vt_rng_init(&rng, irop);
		for (unsigned n = 0; n < 1000; n++)
			check_once(&rng, irop, op, &s);
	}
}

/* To 16 bits, of which 10 are a fraction's: nearest, down, up, to zero (Intel SDM, VCVTPS2PH). */
static void test_halves(void **state)
{
	static const struct {
		uint32_t from;
		uint16_t to[4];
	} cases[] = {
		{0x3f800000, {0x3c00, 0x3c00, 0x3c00, 0x3c00}}, /* 1 */
		{0x3f800001, {0x3c00, 0x3c00, 0x3c01, 0x3c00}}, /* a little more */
		{0xbf800001, {0xbc00, 0xbc01, 0xbc00, 0xbc00}},
		{0x3f801000, {0x3c00, 0x3c00, 0x3c01, 0x3c00}}, /* between two: to the even one */
		{0x3f803000, {0x3c02, 0x3c01, 0x3c02, 0x3c01}},
		{0x477fe000, {0x7bff, 0x7bff, 0x7bff, 0x7bff}}, /* the greatest */
		{0x477fefff, {0x7bff, 0x7bff, 0x7c00, 0x7bff}},
		{0x477ff000, {0x7c00, 0x7bff, 0x7c00, 0x7bff}},
		{0xc77ff000, {0xfc00, 0xfc00, 0xfbff, 0xfbff}},
		{0x7f800000, {0x7c00, 0x7c00, 0x7c00, 0x7c00}},
		{0x38800000, {0x0400, 0x0400, 0x0400, 0x0400}}, /* the least that is normal */
		{0x387fc000, {0x03ff, 0x03ff, 0x03ff, 0x03ff}},
		{0x33800000, {0x0001, 0x0001, 0x0001, 0x0001}}, /* 2^-24 */
		{0x33c00000, {0x0002, 0x0001, 0x0002, 0x0001}},
		{0x33000000, {0x0000, 0x0000, 0x0001, 0x0000}}, /* half of it */
		{0x33000001, {0x0001, 0x0000, 0x0001, 0x0000}},
		{0x00000001, {0x0000, 0x0000, 0x0001, 0x0000}},
		{0x80000001, {0x8000, 0x8001, 0x8000, 0x8000}},
		{0x80000000, {0x8000, 0x8000, 0x8000, 0x8000}},
		{0x40000001, {0x4000, 0x4000, 0x4001, 0x4000}},
		{0xc0000001, {0xc000, 0xc001, 0xc000, 0xc000}},
	};
	const struct vti_irop *op = vti_irop_find(Iop_F32toF16x4);
	const struct vti_fpmode mode = {0, 0}, daz = {0, VTI_MXCSR_DAZ}, any = {0, -1};

	(void)state;
	assert_non_null(op);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct vt_word in[2] = {vt_word_of(cases[i].from), vt_word_of(0)};
		const uint16_t *to = cases[i].to;
		const bool exact = to[0] == to[1] && to[0] == to[2] && to[0] == to[3];
		struct vt_word dst;

		for (unsigned rounding = 0; rounding < 4; rounding++) {
			const struct vt_word by = vt_word_of(rounding);

			op->fn(&mode, &dst, (const struct vt_word *const[]){&by, in});
			assert_int_equal(dst.known, UINT64_MAX);
			assert_int_equal(dst.value, to[rounding]);
			/* Denormal numbers that are taken as zeros, or nobody knows how */
			const uint32_t sign = cases[i].from & 0x80000000;
			const bool denormal = (cases[i].from ^ sign) - 1 < 0x007fffff;

			op->fn(&daz, &dst, (const struct vt_word *const[]){&by, in});
			assert_int_equal(dst.known, UINT64_MAX);
			assert_int_equal(dst.value, denormal ? sign >> 16 : to[rounding]);
			op->fn(&any, &dst, (const struct vt_word *const[]){&by, in});
			assert_int_equal(dst.known, denormal ? ~UINT64_C(0xffff) : UINT64_MAX);
		}
		const struct vt_word unknown = {0, ~UINT64_C(3)};

		op->fn(&mode, &dst, (const struct vt_word *const[]){&unknown, in});
		assert_int_equal(dst.known, exact ? UINT64_MAX : ~UINT64_C(0xffff));
		assert_int_equal(dst.value, exact ? to[0] : 0);
	}
}

/*
 * Undefined for some operands: places that are none, roots of negative numbers, quotients without
 * room, zero bits of zero; halves that are no numbers; and a conversion that x87 does not round.
 */
static const unsigned undefined[] = {
	Iop_Perm8x8,	   Iop_Perm8x16,       Iop_Perm32x4,	   Iop_Perm32x8,
	Iop_PermOrZero8x8, Iop_PermOrZero8x16, Iop_Sqrt32Fx4,	   Iop_Sqrt32Fx8,
	Iop_Sqrt32F0x4,	   Iop_Sqrt64Fx2,      Iop_Sqrt64Fx4,	   Iop_Sqrt64F0x2,
	Iop_DivModU64to32, Iop_DivModS64to32,  Iop_DivModU128to64, Iop_DivModS128to64,
	Iop_Clz32,	   Iop_Ctz32,	       Iop_F16toF32x4,	   Iop_F16toF32x8,
	Iop_I64StoF64,
};

static bool is_undefined(unsigned irop)
{
	for (size_t i = 0; i < sizeof(undefined) / sizeof(*undefined); i++)
		if (undefined[i] == irop)
			return true;
	return false;
}

/* Of numbers that are known, and a rounding that is, so is the result. */
static void test_known_results(void **state)
{
	const struct vti_fpmode mode = {0, 0};

	(void)state;
	for (unsigned irop = Iop_INVALID + 1; irop < Iop_LAST; irop++) {
		const struct vti_irop *op = irops_find(irop);
		struct vt_rng rng;

		if (op == NULL || is_undefined(irop))
			continue;
		const struct shape s = shape_of(irop);

		vt_rng_init(&rng, irop);
		for (unsigned n = 0; n < 100; n++) {
			struct vt_word args[4][IROPS_WORDS], result[IROPS_WORDS];

			for (unsigned k = 0; k < 4; k++)
				for (unsigned i = 0; i < IROPS_WORDS; i++)
					args[k][i] = vt_word_of(
						(vt_rng_next(&rng) & 0x83ffffff83ffffff) |
						0x3c0000003c000000);
			for (unsigned k = 0; k < op->nargs; k++) {
				const unsigned bits = irops_bits(s.args[k]);

				if (s.args[k] == Ity_I8 && k == 1)
					args[k][0].value &= 7;
				else if (s.args[k] == Ity_I32 && k == 0)
					args[k][0].value &= 3;
				else if (bits < 64)
					args[k][0].value &= vt_low_bits(bits);
			}
			evaluate(op, &mode, result, args);
			for (unsigned i = 0; i < op->words; i++)
				if (result[i].known != UINT64_MAX) {
					fail_msg("operator %u: %jx of word %u", irop - Iop_INVALID,
						 (uintmax_t)result[i].known, i);
				}
		}
	}
}

/* Bits of a number of so many, of which up to four are not known. */
static struct vt_word some_hidden(struct vt_rng *rng, unsigned bits)
{
	uint64_t value = vt_rng_next(rng) >> vt_rng_below(rng, 64), hidden = 0;
	unsigned i;

	for (i = (unsigned)vt_rng_below(rng, 5); i; i--)
		hidden |= UINT64_C(1) << vt_rng_below(rng, bits);
	return (struct vt_word){value & ~hidden & vt_low_bits(bits), ~hidden};
}

/* The n-th way to fill what is not known. */
static uint64_t filled_with(struct vt_word w, unsigned n)
{
	uint64_t hidden = ~w.known, v = w.value;

	for (; hidden; hidden &= hidden - 1, n >>= 1)
		if (n & 1)
			v |= hidden & -hidden;
	return v;
}

/* What all ways to fill operands have in common. */
static struct vt_word in_common(const struct operator* o, struct vt_word a, struct vt_word b)
{
	uint64_t ones = UINT64_MAX, zeros = UINT64_MAX;
	unsigned x, y;

	for (x = 0; x < 16; x++)
		for (y = 0; y < 16; y++) {
			uint64_t v = iroperator_compute(o, filled_with(a, x), filled_with(b, y));

			ones &= v & vt_low_bits(o->to);
			zeros &= ~(v & vt_low_bits(o->to));
		}
	/* Of products, the bits below the first that is not the same. */
	if (o->how == '*' && !(vt_word_is_known(a) && vt_word_is_known(b))) {
		const uint64_t differ = ~(ones | zeros), below = (differ & -differ) - 1;

		zeros &= below | ~vt_low_bits(o->to);
		ones &= below;
	}
	return (struct vt_word){ones, ones | zeros};
}

/* All that is the same whatever is not known is known; by how much is shifted is known here. */
static void test_exactness(void **state)
{
	const struct vti_fpmode mode = {0, 0};
	unsigned i, n;

	(void)state;
	for (i = 0; i < IROPERATORS; i++) {
		const struct operator* o = & iroperators[i];
		const struct vti_irop *op = irops_find(o->irop);
		struct vt_rng rng;

		assert_non_null(op);
		vt_rng_init(&rng, i);
		for (n = 0; n < 200; n++) {
			struct vt_word args[4][IROPS_WORDS] = {{{0}}}, result[IROPS_WORDS], want;

			args[0][0] = some_hidden(&rng, o->a);
			args[1][0] = some_hidden(&rng, o->b ? o->b : 1);
			if (strchr("lra", o->how))
				args[1][0] = vt_word_of(vt_rng_below(&rng, o->a));
			want = in_common(o, args[0][0], args[1][0]);
			evaluate(op, &mode, result, args);
			if (result[0].known != want.known || result[0].value != want.value)
				fail_msg("operator %u: %jx of %jx, not %jx of %jx",
					 o->irop - Iop_INVALID, (uintmax_t)result[0].value,
					 (uintmax_t)result[0].known, (uintmax_t)want.value,
					 (uintmax_t)want.known);
		}
	}
}

static struct vt_word compute(unsigned irop, struct vt_word a, struct vt_word b)
{
	struct vt_word args[4][IROPS_WORDS] = {{a}, {b}}, result[IROPS_WORDS];
	const struct vti_fpmode mode = {0, 0};

	evaluate(irops_find(irop), &mode, result, args);
	return result[0];
}

static void expect(struct vt_word w, uint64_t value, uint64_t known)
{
	assert_int_equal(w.value, value);
	assert_int_equal(w.known, known);
}

/* By a number that is not known, by the width, and by a little less. */
static void test_shifts(void **state)
{
	const struct vt_word count = {1, ~UINT64_C(6)}; /* 1, 3, 5 or 7 */
	const struct vt_word ends = vt_word_of(0x8001);

	(void)state;
	expect(compute(Iop_Shl16, ends, count), 0, ~UINT64_C(0xffff));
	expect(compute(Iop_Shr16, ends, count), 0, ~UINT64_C(0xffff));
	expect(compute(Iop_Sar16, ends, count), 0, ~UINT64_C(0xffff));
	expect(compute(Iop_Shl16, ends, vt_word_of(15)), 0x8000, UINT64_MAX);
	expect(compute(Iop_Shl16, ends, vt_word_of(16)), 0, ~UINT64_C(0xffff));
	expect(compute(Iop_Shr16, ends, vt_word_of(15)), 1, UINT64_MAX);
	expect(compute(Iop_Shr16, ends, vt_word_of(16)), 0, ~UINT64_C(0xffff));
	expect(compute(Iop_Sar16, ends, vt_word_of(15)), 0xffff, UINT64_MAX);
	expect(compute(Iop_Sar16, ends, vt_word_of(16)), 0, ~UINT64_C(0xffff));
}

/* Where the first bit is, and the last, if a bit that may be there does not matter. */
static void test_bit_counts(void **state)
{
	static const struct {
		unsigned irop;
		struct vt_word a;
		uint64_t value, known;
	} cases[] = {
		{Iop_ClzNat32, {0x00010000, ~UINT64_C(0xffff)}, 15, UINT64_MAX},
		{Iop_ClzNat32, {0x00010000, ~UINT64_C(0x20000)}, 0, ~UINT64_C(0xffffffff)},
		{Iop_ClzNat32, {0, ~UINT64_C(1)}, 0, ~UINT64_C(0xffffffff)},
		{Iop_ClzNat32, {0, UINT64_MAX}, 32, UINT64_MAX},
		{Iop_ClzNat64, {1, UINT64_MAX}, 63, UINT64_MAX},
		{Iop_ClzNat64, {0, UINT64_MAX}, 64, UINT64_MAX},
		{Iop_CtzNat32, {0x00010000, ~UINT64_C(0xfffe0000)}, 16, UINT64_MAX},
		{Iop_CtzNat32, {0x00010000, ~UINT64_C(0x8000)}, 0, ~UINT64_C(0xffffffff)},
		{Iop_CtzNat32, {0, ~UINT64_C(1)}, 0, ~UINT64_C(0xffffffff)},
		{Iop_CtzNat32, {0, UINT64_MAX}, 32, UINT64_MAX},
		{Iop_CtzNat64, {UINT64_C(1) << 63, UINT64_MAX}, 63, UINT64_MAX},
		{Iop_CtzNat64, {0, UINT64_MAX}, 64, UINT64_MAX},
		{Iop_Clz64, {UINT64_C(1) << 62, UINT64_C(3) << 62}, 1, UINT64_MAX},
		{Iop_Clz64, {0, UINT64_MAX}, 0, 0},
		{Iop_Ctz64, {4, 7}, 2, UINT64_MAX},
		{Iop_Ctz64, {0, UINT64_MAX}, 0, 0},
		{Iop_PopCount32, {0xf0f00001, UINT64_MAX}, 9, UINT64_MAX},
		{Iop_PopCount64, {0xf0f0000100000000, UINT64_MAX}, 9, UINT64_MAX},
		{Iop_PopCount64, {1, ~UINT64_C(2)}, 0, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect(compute(cases[i].irop, cases[i].a, vt_word_of(0)), cases[i].value,
		       cases[i].known);
}

/* Quotient low, remainder high, up to where there is room for no more. */
static void test_quotients(void **state)
{
	static const struct {
		unsigned irop;
		uint64_t a, b, want;
		bool fits;
	} cases[] = {
		{Iop_DivModU64to32, 100, 7, UINT64_C(2) << 32 | 14, true},
		{Iop_DivModU64to32, 0xffffffff, 1, 0xffffffff, true},
		{Iop_DivModU64to32, 0x100000000, 1, 0, false},
		{Iop_DivModU64to32, 100, 0, 0, false},
		{Iop_DivModS64to32, (uint64_t)-100, 7, UINT64_C(0xfffffffe) << 32 | 0xfffffff2,
		 true},
		{Iop_DivModS64to32, 100, 0xfffffff9, UINT64_C(2) << 32 | 0xfffffff2, true},
		{Iop_DivModS64to32, 0x7fffffff, 1, 0x7fffffff, true},
		{Iop_DivModS64to32, 0x80000000, 1, 0, false},
		{Iop_DivModS64to32, (uint64_t)INT32_MIN, 1, 0x80000000, true},
		{Iop_DivModS64to32, (uint64_t)INT32_MIN - 1, 1, 0, false},
		{Iop_DivModS64to32, 1, 0, 0, false},
		{Iop_DivModS64to32, UINT64_C(1) << 63, 0xffffffff, 0, false},
	};
	const struct vt_word unknown = {100, ~UINT64_C(1)};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect(compute(cases[i].irop, vt_word_of(cases[i].a), vt_word_of(cases[i].b)),
		       cases[i].want, cases[i].fits ? UINT64_MAX : 0);
	for (i = 0; i < 2; i++) {
		unsigned irop = i ? Iop_DivModS64to32 : Iop_DivModU64to32;

		expect(compute(irop, unknown, vt_word_of(7)), 0, 0);
		expect(compute(irop, vt_word_of(7), unknown), 0, 0);
	}
}

/* To integers: nearest, down, up, to zero, of numbers next to 0 and next to 2. */
static void test_integers(void **state)
{
	static const struct {
		unsigned irop, from, to; /* bits */
	} ops[] = {
		{Iop_F64toI32S, 64, 32},
		{Iop_F64toI64S, 64, 64},
		{Iop_F32toI32Sx4, 32, 32},
		{Iop_F32toI32Sx8, 32, 32},
	};
	static const struct {
		uint64_t of_64, of_32;
		int to[4];
		bool denormal;
	} cases[] = {
		{1, 1, {0, 0, 1, 0}, true},
		{0x8000000000000001, 0x80000001, {0, -1, 0, 0}, true},
		{0x4000000000000001, 0x40000001, {2, 2, 3, 2}, false},
		{0xc000000000000001, 0xc0000001, {-2, -3, -2, -2}, false},
		{0x3ff8000000000000, 0x3fc00000, {2, 1, 2, 1}, false},	   /* 1.5 */
		{0xc004000000000000, 0xc0200000, {-2, -3, -2, -2}, false}, /* -2.5 */
		{0xc00c000000000000, 0xc0600000, {-4, -4, -3, -3}, false}, /* -3.5 */
	};
	static const int zeroes[] = {0, VTI_MXCSR_DAZ, -1};
	unsigned i, n;

	(void)state;
	for (i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		for (n = 0; n < 7 * 3 * 4; n++) {
			const unsigned k = n / 12, rounding = n % 4;
			const struct vti_fpmode mode = {0, zeroes[n / 4 % 3]};
			const uint64_t mask = vt_low_bits(ops[i].to);
			const bool flushed = cases[k].denormal && mode.zeroes > 0;
			const bool known = !cases[k].denormal || mode.zeroes >= 0;
			struct vt_word args[4][IROPS_WORDS] = {{vt_word_of(rounding)}};
			struct vt_word result[IROPS_WORDS];

			args[1][0] =
				vt_word_of(ops[i].from == 64 ? cases[k].of_64 : cases[k].of_32);
			args[1][1] = args[1][2] = args[1][3] = vt_word_of(0);
			evaluate(irops_find(ops[i].irop), &mode, result, args);
			assert_int_equal(result[0].known & mask, known ? mask : 0);
			assert_int_equal(result[0].value,
					 known && !flushed ? (uint64_t)cases[k].to[rounding] & mask
							   : 0);
			if (ops[i].from == 32)
				continue;
			/* MXCSR has no say in what the x87 does. */
			evaluate(vti_irop_find_x87(ops[i].irop), &mode, result, args);
			expect(result[0], (uint64_t)cases[k].to[rounding] & mask, UINT64_MAX);
		}
}

/* Of the least number and 0, which are equal (0x40) where it is taken as 0, else not (0). */
static void test_comparisons(void **state)
{
	static const struct {
		int zeroes;
		uint64_t value, known;
	} cases[] = {
		{0, 0, UINT64_MAX},
		{VTI_MXCSR_FTZ, 0, UINT64_MAX},
		{VTI_MXCSR_DAZ, 0x40, UINT64_MAX},
		{-1, 0, ~UINT64_C(0xffffffff)},
	};
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct vt_word args[4][IROPS_WORDS] = {{vt_word_of(1)}, {vt_word_of(0)}};
		const struct vti_fpmode mode = {0, cases[i].zeroes};
		struct vt_word result[IROPS_WORDS];

		evaluate(irops_find(Iop_CmpF64), &mode, result, args);
		expect(result[0], cases[i].value, cases[i].known);
		evaluate(vti_irop_find_x87(Iop_CmpF64), &mode, result, args);
		expect(result[0], 0, UINT64_MAX);
	}
}

/* Words that are moved, the lowest first; the first operand is the high one (libvex_ir.h). */
static void test_words(void **state)
{
#define A(n) (UINT64_C(0xa0a1a2a3a4a5a6a0) + (n))
#define B(n) (UINT64_C(0xb0b1b2b3b4b5b6b0) + (n))
	static const struct {
		unsigned irop, words;
		uint64_t want[4];
	} cases[] = {
		{Iop_V128to64, 1, {A(0)}},
		{Iop_V128HIto64, 1, {A(1)}},
		{Iop_128to64, 1, {A(0)}},
		{Iop_128HIto64, 1, {A(1)}},
		{Iop_V128to32, 1, {0xa4a5a6a0}},
		{Iop_64UtoV128, 2, {A(0), 0}},
		{Iop_ZeroHI64ofV128, 2, {A(0), 0}},
		{Iop_ZeroHI96ofV128, 2, {0xa4a5a6a0, 0}},
		{Iop_ZeroHI112ofV128, 2, {0xa6a0, 0}},
		{Iop_ZeroHI120ofV128, 2, {0xa0, 0}},
		{Iop_64HLtoV128, 2, {B(0), A(0)}},
		{Iop_64HLto128, 2, {B(0), A(0)}},
		{Iop_SetV128lo64, 2, {B(0), A(1)}},
		{Iop_SetV128lo32, 2, {0xa0a1a2a3b4b5b6b0, A(1)}},
		{Iop_V256to64_0, 1, {A(0)}},
		{Iop_V256to64_1, 1, {A(1)}},
		{Iop_V256to64_2, 1, {A(2)}},
		{Iop_V256to64_3, 1, {A(3)}},
		{Iop_V256toV128_0, 2, {A(0), A(1)}},
		{Iop_V256toV128_1, 2, {A(2), A(3)}},
		{Iop_V128HLtoV256, 4, {B(0), B(1), A(0), A(1)}},
	};
	const struct vti_fpmode mode = {0, 0};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct vt_word args[4][IROPS_WORDS], result[IROPS_WORDS];

		for (k = 0; k < 4; k++) {
			args[0][k] = vt_word_of(A(k));
			args[1][k] = vt_word_of(B(k));
			args[2][k] = args[3][k] = vt_word_of(0);
		}
		/* Of 32 bits, nothing is above. */
		if (cases[i].irop == Iop_SetV128lo32)
			args[1][0].value &= UINT32_MAX;
		evaluate(irops_find(cases[i].irop), &mode, result, args);
		for (k = 0; k < cases[i].words; k++)
			expect(result[k], cases[i].want[k], UINT64_MAX);
	}
#undef A
#undef B
}

/* Wide products and quotients: the low word and the high one. */
static void test_wide(void **state)
{
#define MOST  UINT64_MAX
#define LEAST (UINT64_C(1) << 63)
	static const struct {
		unsigned irop;
		uint64_t a[2], b, want[2];
		bool fits;
	} cases[] = {
		{Iop_MullU64, {MOST, 0}, MOST, {1, MOST - 1}, true},
		{Iop_MullS64, {MOST, 0}, MOST, {1, 0}, true},
		{Iop_MullS64, {MOST, 0}, 5, {MOST - 4, MOST}, true},
		{Iop_DivModU128to64, {5, 2}, 3, {UINT64_C(0xaaaaaaaaaaaaaaac), 1}, true},
		{Iop_DivModU128to64, {MOST, 2}, 3, {MOST, 2}, true},
		{Iop_DivModU128to64, {0, 3}, 3, {0, 0}, false},
		{Iop_DivModU128to64, {1, 0}, 0, {0, 0}, false},
		{Iop_DivModS128to64,
		 {(uint64_t)-100, MOST},
		 7,
		 {(uint64_t)-14, (uint64_t)-2},
		 true},
		{Iop_DivModS128to64, {LEAST - 1, 0}, 1, {LEAST - 1, 0}, true},
		{Iop_DivModS128to64, {LEAST, 0}, 1, {0, 0}, false},
		{Iop_DivModS128to64, {LEAST, MOST}, 1, {LEAST, 0}, true},
		{Iop_DivModS128to64, {LEAST - 1, MOST}, 1, {0, 0}, false},
		{Iop_DivModS128to64, {0, LEAST}, MOST, {0, 0}, false},
		{Iop_DivModS128to64, {1, 0}, 0, {0, 0}, false},
		{Iop_DivModU64to64, {MOST, 0}, 2, {MOST >> 1, 1}, true},
		{Iop_DivModS64to64, {(uint64_t)-7, 0}, 2, {(uint64_t)-3, MOST}, true},
		{Iop_DivModS64to64, {7, 0}, 2, {3, 1}, true},
		{Iop_DivModS64to64, {LEAST, 0}, MOST, {0, 0}, false},
	};
	const struct vti_fpmode mode = {0, 0};
	size_t i, k, hidden;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (hidden = 0; hidden < 4; hidden++) {
			struct vt_word args[4][IROPS_WORDS] = {
				{vt_word_of(cases[i].a[0]), vt_word_of(cases[i].a[1])},
				{vt_word_of(cases[i].b)}};
			const bool wide = cases[i].irop == Iop_DivModU128to64 ||
					  cases[i].irop == Iop_DivModS128to64;
			/* 0: nothing; else a bit of an operand's word */
			struct vt_word *w = hidden == 3 ? args[1] : &args[0][hidden == 2];
			struct vt_word result[IROPS_WORDS];

			if (hidden == 2 && !wide)
				continue;
			if (hidden)
				*w = (struct vt_word){w->value & ~UINT64_C(1), ~UINT64_C(1)};
			evaluate(irops_find(cases[i].irop), &mode, result, args);
			for (k = 0; k < 2; k++) {
				const bool known = cases[i].fits && !hidden;

				expect(result[k], known ? cases[i].want[k] : 0, known ? MOST : 0);
			}
		}
#undef MOST
#undef LEAST
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),	    cmocka_unit_test(test_exactness),
		cmocka_unit_test(test_shifts),	    cmocka_unit_test(test_bit_counts),
		cmocka_unit_test(test_quotients),   cmocka_unit_test(test_wide),
		cmocka_unit_test(test_integers),    cmocka_unit_test(test_words),
		cmocka_unit_test(test_comparisons), cmocka_unit_test(test_known_results),
		cmocka_unit_test(test_halves),	    cmocka_unit_test(test_soundness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
