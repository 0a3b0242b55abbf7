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

#include "irops.h"
#include "machine/irop.h"

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
		const struct vti_irop *op = vti_irop_find(irop);

		if (op == NULL)
			continue;
		const struct shape s = shape_of(irop);
		unsigned nargs = 0;

		while (nargs < 4 && s.args[nargs] != Ity_INVALID)
			nargs++;
		if (op->nargs != nargs || op->words != (irops_bits(s.result) + 63) / 64)
			fail_msg("operator %u has %u operands, %u words", irop - Iop_INVALID, nargs,
				 (irops_bits(s.result) + 63) / 64);
		found++;
	}
	assert_true(found > 350);
	assert_null(vti_irop_find(Iop_INVALID));
	assert_null(vti_irop_find(Iop_LAST));
	assert_null(vti_irop_find(0));
	/* VEX computes these with 64 bits, the machine with 80, or an estimate of its own. */
	assert_null(vti_irop_find(Iop_AddF64));
	assert_null(vti_irop_find(Iop_SinF64));
	assert_null(vti_irop_find(Iop_RecipEst32Fx4));
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
		const struct vti_irop *op = vti_irop_find(irop);
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
	};
	const struct vti_irop *op = vti_irop_find(Iop_F32toF16x4);
	const struct vti_fpmode mode = {0, 0};

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
		const struct vti_irop *op = vti_irop_find(irop);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_known_results),
		cmocka_unit_test(test_halves),
		cmocka_unit_test(test_soundness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
