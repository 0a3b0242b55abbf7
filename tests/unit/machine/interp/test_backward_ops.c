/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What follows for operands from a result: all of it, as trying all choices of what is hidden
 * shows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <libvex_ir.h>

#include "base/rng.h"
#include "machine/interp/backward.h"
#include "machine/interp/backward_internal.h"
#include "tests/unit/common/iroperators.h"

static unsigned count_bits(uint64_t bits)
{
	return (unsigned)__builtin_popcountll(bits);
}

/* ---- how much is inferred from one operator ---- */

/* The n-th choice of the bits that are not known. */
static uint64_t choose(struct vt_word w, unsigned n)
{
	uint64_t value = w.value, left;

	for (left = ~w.known; left; left &= left - 1, n /= 2)
		if (n % 2)
			value |= left & -left;
	return value;
}

/* Hides up to four bits, or with `low` up to as many of the lowest. */
static struct vt_word hide_few(struct vt_rng *rng, uint64_t truth, unsigned bits, unsigned low)
{
	struct vt_word w = vt_word_of(truth);
	unsigned n = (unsigned)vt_rng_below(rng, (low ? low : bits < 4 ? bits : 4) + 1);

	if (low)
		w.known = n ? ~vt_low_bits(n) : UINT64_MAX;
	else
		for (; n; n--)
			w.known &= ~(UINT64_C(1) << vt_rng_below(rng, bits));
	w.value &= w.known;
	return w;
}

static struct vt_word hide_most(struct vt_rng *rng, uint64_t truth, unsigned bits)
{
	const uint64_t known = vt_rng_next(rng) | ~vt_low_bits(bits);

	return (struct vt_word){truth & known, known};
}

/* What is known of the operands when all of their choices are tried. */
static void try_all(const struct operator* o, const struct vt_word in[2], struct vt_word result,
		    struct vt_word out[2])
{
	uint64_t some[2] = {0, 0}, all[2] = {UINT64_MAX, UINT64_MAX}, v[2];
	const unsigned na = 1u << count_bits(~in[0].known), nb = 1u << count_bits(~in[1].known);
	unsigned i, k, n;

	for (i = 0; i < na; i++)
		for (k = 0; k < nb; k++) {
			v[0] = choose(in[0], i);
			v[1] = choose(in[1], k);
			if ((iroperator_compute(o, v[0], v[1]) ^ result.value) & result.known)
				continue;
			for (n = 0; n < 2; n++) {
				some[n] |= v[n];
				all[n] &= v[n];
			}
		}
	for (n = 0; n < 2; n++)
		out[n] = (struct vt_word){all[n], ~(some[n] ^ all[n])};
}

/* A block of two operands, and a walk that is at what computes with them. */
static void begin_walk(struct vti_backward *l, struct vti_block *b, struct vt_word *slots)
{
	memset(l, 0, sizeof(*l));
	*b = (struct vti_block){.slots = slots, .nslots = 2};
	l->block = b;
}

static void check_operator_inference(const struct operator* o, const struct vt_word before[2],
				     struct vt_word result)
{
	static struct vti_backward l;
	struct vt_word slots[2] = {before[0], before[1]}, want[2];
	const struct vti_op op = {.op = VTI_IROP, .a = 0, .b = 1, .aux = o->irop};
	struct vti_block b;
	unsigned i;

	begin_walk(&l, &b, slots);
	l.result[0] = result;
	vti_infer_operands(&l, &op);
	assert_false(l.wrong);
	try_all(o, before, result, want);
	for (i = 0; i < (o->b ? 2u : 1u); i++) {
		if (strchr("*", o->how))
			want[i] = before[i];
		if (slots[i].known != want[i].known || slots[i].value != want[i].value)
			fail_msg("operator %c of %u bits: operand %u is %jx of %jx, not %jx of %jx",
				 o->how, o->a, i, (uintmax_t)slots[i].value,
				 (uintmax_t)slots[i].known, (uintmax_t)want[i].value,
				 (uintmax_t)want[i].known);
	}
}

/* Nothing that follows for one operand is missed where these are hidden. */
static void test_all_that_follows(void **unused)
{
	struct vt_rng rng;
	unsigned i, round;

	(void)unused;
	vt_rng_init(&rng, 9);
	for (i = 0; i < IROPERATORS; i++)
		for (round = 0; round < 150; round++) {
			const struct operator* o = & iroperators[i];
			const bool order = strchr("<{uU", o->how), shift = strchr("lra", o->how);
			const bool sum = strchr("+-", o->how);
			uint64_t a = vt_rng_next(&rng), b = round % 3 ? vt_rng_next(&rng) : a;
			struct vt_word before[2], result;

			a &= vt_low_bits(o->a);
			b = shift ? b % o->a : o->b ? b & vt_low_bits(o->b) : 0;
			if (round % 5 == 0)
				a = order ? b ^ round % 2 : 0;
			before[0] = hide_few(&rng, a, o->a, order ? 4 : 0);
			before[1] = shift || !o->b || (sum && round % 2)
					    ? vt_word_of(b)
					    : hide_few(&rng, b, o->b, order ? 4 : 0);
			if (sum && !(round % 2))
				before[0] = vt_word_of(a);
			result = vt_word_of(iroperator_compute(o, a, b));
			if (round % 2 && !sum && o->how != 'a' && o->to > 1)
				result = hide_most(&rng, result.value, o->to);
			check_operator_inference(o, before, result);
		}
}

#define LOW5                                                                                       \
	{                                                                                          \
		0x13, ~UINT64_C(0xe0)                                                              \
	}
#define LOW3                                                                                       \
	{                                                                                          \
		0x06, ~UINT64_C(0xf8)                                                              \
	}
#define GAP                                                                                        \
	{                                                                                          \
		0x05, ~UINT64_C(0x08)                                                              \
	}
#define ANY                                                                                        \
	{                                                                                          \
		0, ~UINT64_C(0xff)                                                                 \
	}

/* The lowest bits of a sum determine those of its operands, and no others. */
static void test_lowest_bits_of_sums(void **unused)
{
	static const struct {
		unsigned irop;
		struct vt_word a, b, result, a_then, b_then;
	} cases[] = {
		{Iop_Add8, ANY, LOW5, LOW3, {3, ~UINT64_C(0xf8)}, LOW5},
		{Iop_Add8, LOW5, ANY, LOW3, LOW5, {3, ~UINT64_C(0xf8)}},
		{Iop_Sub8, ANY, LOW5, LOW3, {1, ~UINT64_C(0xf8)}, LOW5},
		{Iop_Sub8, LOW5, ANY, LOW3, LOW5, {5, ~UINT64_C(0xf8)}},
		{Iop_Add8, ANY, GAP, LOW5, {6, ~UINT64_C(0xf8)}, GAP},
		{Iop_Add8, ANY, LOW5, ANY, ANY, LOW5},
	};
	static struct vti_backward l;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct vt_word slots[2] = {cases[i].a, cases[i].b};
		const struct vti_op op = {.op = VTI_IROP, .b = 1, .aux = (uint16_t)cases[i].irop};
		struct vti_block b;

		begin_walk(&l, &b, slots);
		l.result[0] = cases[i].result;
		vti_infer_operands(&l, &op);
		assert_memory_equal(&slots[0], &cases[i].a_then, sizeof(*slots));
		assert_memory_equal(&slots[1], &cases[i].b_then, sizeof(*slots));
	}
}

/* Halves of 128 bits, and numbers that are taken for others. */
static void test_wide_operators(void **unused)
{
	static const struct {
		unsigned irop, slot; /* which slot becomes all of the first word of the result */
		uint64_t known;
	} cases[] = {
		{Iop_64HLto128, 2, UINT64_MAX},	       {Iop_64HLtoV128, 2, UINT64_MAX},
		{Iop_128to64, 0, UINT64_MAX},	       {Iop_V128to64, 0, UINT64_MAX},
		{Iop_128HIto64, 1, UINT64_MAX},	       {Iop_V128HIto64, 1, UINT64_MAX},
		{Iop_ReinterpF64asI64, 0, UINT64_MAX}, {Iop_ReinterpI64asF64, 0, UINT64_MAX},
		{Iop_ReinterpF32asI32, 0, UINT32_MAX}, {Iop_ReinterpI32asF32, 0, UINT32_MAX},
	};
	static struct vti_backward l;
	size_t i;
	unsigned k;

	(void)unused;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct vt_word slots[3] = {{0, 0}, {0, 0}, {0, 0}};
		const struct vti_op op = {.op = VTI_IROP, .b = 2, .aux = (uint16_t)cases[i].irop};
		struct vti_block b;

		begin_walk(&l, &b, slots);
		b.nslots = 3;
		l.result[0] = vt_word_of(0x1122334455667788);
		l.result[1] = vt_word_of(0x99aabbccddeeff00);
		vti_infer_operands(&l, &op);
		for (k = 0; k < 3; k++) {
			const bool low = k == cases[i].slot, high = i < 2 && k == 0;

			assert_int_equal(slots[k].known, low	? cases[i].known
							 : high ? UINT64_MAX
								: 0);
			assert_int_equal(slots[k].value,
					 (high ? 0x99aabbccddeeff00 : 0x1122334455667788) &
						 slots[k].known);
		}
	}
}

static void test_comparisons_are_inferred_from(void **unused)
{
	unsigned i;

	(void)unused;
	for (i = 0; i < IROPERATORS; i++) {
		const struct operator* o = & iroperators[i];
		const struct vti_op op = {.aux = o->irop};
		const bool bit = o->a == 1 || o->to == 1;
		enum vti_compare want = VTI_COMPARE_OTHER;
		unsigned bits;

		if (o->how == '=')
			want = VTI_COMPARE_EQUAL;
		else if (o->how == '!')
			want = VTI_COMPARE_DIFFERENT;
		else if (o->how == 'z')
			want = VTI_COMPARE_ZERO;
		else if (strchr("<{uU", o->how))
			want = VTI_COMPARE_ORDER;
		else if (o->how == '~' && bit)
			want = VTI_COMPARE_NOT;
		else if (o->how == 'c' && bit)
			want = VTI_COMPARE_BIT;
		assert_int_equal(vti_compare_of(&op, &bits), want);
		if (want != VTI_COMPARE_OTHER)
			assert_int_equal(bits, bit && strchr("~c", o->how) ? 1 : o->a);
	}
}

/* ---- conditions ---- */

static bool condition_holds(unsigned cond, uint64_t a, uint64_t b, unsigned bits)
{
	const int64_t x = iroperator_signed(a, bits), y = iroperator_signed(b, bits);
	const bool yes[8] = {false, a < b, a == b, a <= b, iroperator_signed(a - b, bits) < 0,
			     false, x < y, x <= y};

	return yes[cond / 2] != cond % 2;
}

/*
 * Conditions of a comparison, and of a result, which is compared with 0: for operation groups of
 * VEX's thunk, those that are expected of (bit n: n of Intel's numbers, the even ones).
 */
static const struct {
	unsigned group; /* of the thunk */
	unsigned conditions;
} inferable[] = {
	{0, 0},
	{1, 1 << 2 | 1 << 4 | 1 << 6 | 1 << 12 | 1 << 14},
	{2, 0},
	{3, 0},
	{4, 1 << 4 | 1 << 6 | 1 << 8 | 1 << 12 | 1 << 14},
	{5, 1 << 4 | 1 << 8},
	{6, 1 << 4 | 1 << 8},
	{7, 0},
};

/* A number of which the lowest bits are not known; below or equal to `b`, or not. */
static void check_condition(unsigned group, unsigned width, unsigned cond, struct vt_word a,
			    uint64_t b, bool holds)
{
	static const struct vti_call call = {
		.name = "amd64g_calculate_condition", .nargs = 5, .args = {0, 1, 2, 3, 4}};
	static struct vti_backward l;
	const unsigned bits = 8u << width, n = 1u << count_bits(~a.known);
	struct vt_word slots[5] = {vt_word_of(cond), vt_word_of(4 * group + 1 + width), a,
				   vt_word_of(b), vt_word_of(0)};
	uint64_t some = 0, all = UINT64_MAX, to = group == 1 ? b : 0;
	const bool expected = inferable[group].conditions >> (cond & 14) & 1;
	struct vti_block block;
	unsigned i;

	begin_walk(&l, &block, slots);
	block.nslots = 5;
	l.result[0] = vt_word_of(holds);
	for (i = 0; i < n; i++) {
		const uint64_t v = choose(a, i);

		if (expected && condition_holds(cond, v, to, bits) != holds)
			continue;
		some |= v;
		all &= v;
	}
	vti_infer_condition_operands(&l, &call);
	assert_int_equal(l.wrong, !some && all == UINT64_MAX);
	if (l.wrong)
		return;
	if (slots[2].value != all || slots[2].known != ~(some ^ all))
		fail_msg("condition %u of %u bits, group %u: %jx of %jx, not %jx of %jx", cond,
			 bits, group, (uintmax_t)slots[2].value, (uintmax_t)slots[2].known,
			 (uintmax_t)all, (uintmax_t) ~(some ^ all));
	assert_int_equal(slots[3].value, b);
}

static void test_conditions(void **unused)
{
	struct vt_rng rng;
	unsigned group, width, cond, round;

	(void)unused;
	vt_rng_init(&rng, 21);
	for (group = 0; group < 8; group++)
		for (width = 0; width < 4; width++)
			for (cond = 0; cond < 16; cond++)
				for (round = 0; round < 40; round++) {
					const uint64_t mask = vt_low_bits(8u << width);
					uint64_t b = vt_rng_next(&rng) & mask;
					uint64_t a = round % 2 ? vt_rng_next(&rng) & mask : b;
					struct vt_word w;

					if (round % 4 == 3)
						a = 0;
					w = hide_few(&rng, a, 8, width ? 4 : 8);
					check_condition(group, width, cond, w, b, round % 3 == 0);
				}
}

/* Nothing is inferred from calls that are not known themselves. */
static void test_calls_that_show_nothing(void **unused)
{
	static const struct {
		const char *name;
		uint8_t nargs;
		struct vt_word cond, op, result;
	} cases[] = {
		{"amd64g_calculate_rflags_c", 5, {4, UINT64_MAX}, {8, UINT64_MAX}, {1, UINT64_MAX}},
		{"amd64g_calculate_condition",
		 4,
		 {4, UINT64_MAX},
		 {8, UINT64_MAX},
		 {1, UINT64_MAX}},
		{"amd64g_calculate_condition",
		 5,
		 {4, ~UINT64_C(2)},
		 {8, UINT64_MAX},
		 {1, UINT64_MAX}},
		{"amd64g_calculate_condition",
		 5,
		 {4, UINT64_MAX},
		 {8, ~UINT64_C(1)},
		 {1, UINT64_MAX}},
		{"amd64g_calculate_condition",
		 5,
		 {4, UINT64_MAX},
		 {8, UINT64_MAX},
		 {0, ~UINT64_C(1)}},
		{"amd64g_calculate_condition",
		 5,
		 {4, UINT64_MAX},
		 {0, UINT64_MAX},
		 {1, UINT64_MAX}},
		/* the only one that does */
		{"amd64g_calculate_condition", 5, {4, UINT64_MAX}, {8, UINT64_MAX}, {1, 1}},
	};
	static struct vti_backward l;
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct vti_call call = {
			.name = cases[i].name, .nargs = cases[i].nargs, .args = {0, 1, 2, 3, 4}};
		struct vt_word slots[5] = {
			cases[i].cond, cases[i].op, {0, 0}, vt_word_of(77), vt_word_of(0)};
		struct vti_block block;

		begin_walk(&l, &block, slots);
		block.nslots = 5;
		l.result[0] = cases[i].result;
		vti_infer_condition_operands(&l, &call);
		assert_int_equal(slots[2].known, i == 6 ? UINT64_MAX : 0);
		assert_int_equal(slots[2].value, i == 6 ? 77 : 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_that_follows),
		cmocka_unit_test(test_lowest_bits_of_sums),
		cmocka_unit_test(test_wide_operators),
		cmocka_unit_test(test_comparisons_are_inferred_from),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_calls_that_show_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
