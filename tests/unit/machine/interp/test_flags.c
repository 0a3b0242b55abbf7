/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flags and conditions of operands that are known in part: by trying all choices of the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "machine/interp/flags.h"

/* VEX's own, of operands that are known: what no header of it declares. */
unsigned long amd64g_calculate_rflags_all(unsigned long op, unsigned long dep1, unsigned long dep2,
					  unsigned long ndep);

#define C VTI_FLAG_C
#define P VTI_FLAG_P
#define A VTI_FLAG_A
#define Z VTI_FLAG_Z
#define S VTI_FLAG_S
#define O VTI_FLAG_O

#define NOPS 65 /* operations of VEX's thunk */

/* First operations of each kind (guest_amd64_defs.h), and what Intel's SDM calls undefined. */
static const struct {
	unsigned first;
	uint64_t undefined;
} kinds[] = {
	{0, 0},		     /* the flags themselves */
	{1, 0},		     /* add, sub, adc, sbb */
	{17, A},	     /* and, or, xor, test */
	{21, 0},	     /* inc, dec */
	{29, A | O},	     /* shl, shr: O but for shifts by one */
	{37, O},	     /* rol, ror: likewise */
	{45, S | Z | A | P}, /* mul, imul */
	{53, A | P},	     /* andn, blsi, blsmsk, blsr */
	{61, 0},	     /* adcx, adox */
};

static uint64_t undefined(unsigned op)
{
	size_t i = sizeof(kinds) / sizeof(*kinds);

	while (kinds[i - 1].first > op)
		i--;
	return kinds[i - 1].undefined;
}

static bool flag(uint64_t flags, uint64_t which)
{
	return flags & which;
}

/* Intel SDM volume 1, appendix B: conditions by their number in opcodes. */
static bool condition_of(unsigned condition, uint64_t flags)
{
	const bool less = flag(flags, S) != flag(flags, O);
	const bool yes[8] = {
		flag(flags, O), flag(flags, C), flag(flags, Z), flag(flags, C | Z),
		flag(flags, S), flag(flags, P), less,		less || flag(flags, Z)};

	return yes[condition / 2] != condition % 2;
}

/* The n-th choice of the bits that are not known. */
static uint64_t choose(struct vt_word w, unsigned n)
{
	uint64_t value = w.value, left;

	for (left = ~w.known; left; left &= left - 1, n /= 2)
		if (n % 2)
			value |= left & -left;
	return value;
}

struct thunk {
	unsigned op;
	struct vt_word dep1, dep2, ndep;
};

static unsigned count_choices(struct vt_word w)
{
	return 1u << __builtin_popcountll(~w.known);
}

/* What all choices agree on: flags, and conditions as bits of *conditions, both with what they are.
 */
static void try_all(const struct thunk *t, struct vt_word *flags, struct vt_word *conditions)
{
	uint64_t some = 0, all = ~UINT64_C(0), some_yes = 0, all_yes = ~UINT64_C(0);
	const uint64_t no = undefined(t->op);
	unsigned i, k, n, c;
	uint64_t left;

	for (i = 0; i < count_choices(t->dep1); i++)
		for (k = 0; k < count_choices(t->dep2); k++)
			for (n = 0; n < count_choices(t->ndep); n++) {
				uint64_t f = amd64g_calculate_rflags_all(t->op, choose(t->dep1, i),
									 choose(t->dep2, k),
									 choose(t->ndep, n));

				for (left = no;; left = (left - 1) & no) {
					uint64_t one = (f & VTI_FLAGS & ~no) | left, yes = 0;

					for (c = 0; c < 16; c++)
						yes |= (uint64_t)condition_of(c, one) << c;
					some |= one;
					all &= one;
					some_yes |= yes;
					all_yes &= yes;
					if (!left)
						break;
				}
			}
	*flags = (struct vt_word){all, ~(some ^ all)};
	*conditions = (struct vt_word){all_yes, ~(some_yes ^ all_yes)};
}

static struct vt_word condition(const struct thunk *t, unsigned c)
{
	return vti_flags_condition(vt_word_of(c), vt_word_of(t->op), t->dep1, t->dep2, t->ndep);
}

/* Whatever is said to be known is; of the conditions of `exact`, and of flags, all there is. */
static void check(const struct thunk *t, uint64_t exact_flags, unsigned exact)
{
	struct vt_word want, conditions,
		got = vti_flags_all(vt_word_of(t->op), t->dep1, t->dep2, t->ndep);
	unsigned c;

	try_all(t, &want, &conditions);
	if (got.known & ~want.known || (got.value ^ want.value) & got.known)
		fail_msg("operation %u: flags %jx of %jx", t->op, (uintmax_t)got.value,
			 (uintmax_t)got.known);
	assert_int_equal(got.value & ~got.known, 0);
	if ((got.known ^ want.known) & exact_flags)
		fail_msg("operation %u: %jx known, not %jx", t->op, (uintmax_t)got.known,
			 (uintmax_t)want.known);
	for (c = 0; c < 16; c++) {
		const bool known = conditions.known >> c & 1;

		got = condition(t, c);
		if (vt_word_is_known(got) ? !known || got.value != (conditions.value >> c & 1)
					  : known && exact >> c & 1)
			fail_msg("operation %u: condition %u is %jx of %jx", t->op, c,
				 (uintmax_t)got.value, (uintmax_t)got.known);
	}
}

static void known_operands_tell_all(void **state)
{
	struct vt_rng rng;
	unsigned op, i;

	(void)state;
	vt_rng_init(&rng, 11);
	for (op = 0; op < NOPS; op++)
		for (i = 0; i < 40; i++) {
			struct thunk t = {op, vt_word_of(vt_rng_next(&rng)),
					  vt_word_of(vt_rng_next(&rng)),
					  vt_word_of(vt_rng_next(&rng) & VTI_FLAGS)};

			if (i % 4 == 0)
				t.dep1 = t.dep2;
			if (i % 5 == 0)
				t.dep1 = vt_word_of(i % 2 ? UINT64_C(1) << (i + 3) : 0);
			check(&t, VTI_FLAGS, 0xffff);
		}
}

static struct vt_word forget_some(struct vt_rng *rng, uint64_t value)
{
	struct vt_word w = vt_word_of(value);
	unsigned n;

	for (n = (unsigned)(vt_rng_next(rng) % 3); n; n--)
		w.known &= ~(UINT64_C(1) << vt_rng_next(rng) % 64 % (n == 1 ? 8 : 64));
	w.value &= w.known;
	return w;
}

static void what_is_known_holds_for_all_choices(void **state)
{
	struct vt_rng rng;
	unsigned op, i;

	(void)state;
	vt_rng_init(&rng, 12);
	for (op = 0; op < NOPS; op++)
		for (i = 0; i < 60; i++) {
			uint64_t a = vt_rng_next(&rng) >> vt_rng_next(&rng) % 64;
			uint64_t b = i % 3 ? vt_rng_next(&rng) : a;
			struct thunk t = {op, forget_some(&rng, a), forget_some(&rng, b),
					  forget_some(&rng, vt_rng_next(&rng) & VTI_FLAGS)};

			check(&t, 0, 0);
		}
}

/* Numbers with bits that are not known. */
#define PART(value, unknown)                                                                       \
	{                                                                                          \
		value, ~UINT64_C(unknown)                                                          \
	}
#define FULL(value) PART(value, 0)

static void examples_tell_all_there_is(void **state)
{
	static const struct {
		struct thunk t;
		uint64_t flags;	     /* of which all is told */
		unsigned conditions; /* likewise, bit n: condition n */
	} cases[] = {
		/* the flags themselves */
		{{0, PART(C, 0x40), FULL(0), FULL(0)}, VTI_FLAGS, 0xffff},
		{{0, PART(S, 0x801), FULL(0), PART(0, 1)}, VTI_FLAGS, 0xffff},
		/* add: 0x10 to 0x1f; a carry always; an overflow always; of 32 bits */
		{{1, FULL(0x10), PART(0, 0xf), FULL(0)}, VTI_FLAGS, 0xffff},
		{{1, FULL(0xf8), PART(0x08, 0x7), FULL(0)}, VTI_FLAGS, 0xffff},
		{{2, FULL(0x7fff), PART(0x0001, 0x2), FULL(0)}, VTI_FLAGS, 0xffff},
		{{3, FULL(0xffffffff), FULL(1), PART(0, 0xff)}, VTI_FLAGS, 0xffff},
		{{3, PART(0x7fffffff, 0x700000000), FULL(1), FULL(0)}, VTI_FLAGS, 0xffff},
		{{4, FULL(0x8000000000000000), PART(0x8000000000000000, 1), FULL(0)},
		 VTI_FLAGS,
		 0xffff},
		/* cmp: below, above, equal or not, by signs */
		{{5, FULL(0x05), PART(0x06, 0x10), FULL(0)}, VTI_FLAGS & ~A, 0xffff},
		{{5, PART(0x01, 0x0e), FULL(0x10), FULL(0)}, C | Z | S, 0xfcfc},
		{{5, PART(0x20, 0x0e), FULL(0x10), FULL(0)}, C | Z | S, 0xfcfc},
		{{6, PART(0x8000, 0x7), FULL(0x0007), FULL(0)}, C | Z, 0xf0fc},
		{{6, PART(0x0000, 0x7), FULL(0x0007), FULL(0)}, C, 0xf0cc},
		{{6, FULL(0x0007), PART(0x0000, 0x7), FULL(0)}, C, 0xf0cc},
		{{7, PART(0xfffffff0, 0xf), FULL(0xffffffff), FULL(0)}, C, 0xf0cc},
		{{8, PART(0x8000000000000000, 3), FULL(0x4000000000000000), FULL(0)},
		 VTI_FLAGS & ~P,
		 0xf0ff},
		{{8, FULL(7), FULL(7), PART(0, 0xff)}, VTI_FLAGS, 0xffff},
		/* test */
		{{17, PART(0x80, 0x0f), FULL(0), FULL(0)}, VTI_FLAGS, 0xffff},
		{{18, PART(0x0100, 0x8000), FULL(0), PART(0, 1)}, VTI_FLAGS, 0xffff},
		{{19, PART(0, 0x700000000), FULL(0), FULL(0)}, VTI_FLAGS, 0xffff},
		{{20, PART(0, 0x8000000000000000), FULL(0), FULL(0)}, VTI_FLAGS, 0x33ff},
		/* inc and dec, of which the carry stays */
		{{21, PART(0x80, 0), FULL(0), PART(0, 1)}, VTI_FLAGS, 0xffff},
		{{21, PART(0x00, 0xf0), FULL(0), FULL(1)}, C | P | A | Z | S, 0x3f},
		{{22, PART(0x8000, 0x10), FULL(0), FULL(1)}, VTI_FLAGS, 0x3f},
		{{24, PART(0x8000000000000000, 0x1), FULL(0), FULL(0)}, VTI_FLAGS, 0x3f},
		{{25, PART(0x7f, 0), FULL(0), PART(0, 1)}, VTI_FLAGS, 0xffff},
		{{25, PART(0x0f, 0xf0), FULL(0), FULL(1)}, C | A | Z, 0x3c},
		{{26, PART(0x7fff, 0x10), FULL(0), FULL(1)}, C | A | Z | S, 0x3c},
		{{28, PART(0x7ffffffffffffffe, 0x1), FULL(0), FULL(0)}, VTI_FLAGS, 0x3f},
		/* shl and shr: the last bit that leaves */
		{{29, PART(0x02, 0x04), FULL(0x81), FULL(0)}, C | Z | S, 0x33c},
		{{29, PART(0x02, 0), PART(0x01, 0x80), FULL(0)}, VTI_FLAGS, 0x33c},
		{{30, FULL(0), PART(0x8000, 0x1), FULL(0)}, VTI_FLAGS, 0x33c},
		{{33, PART(0x01, 0x40), FULL(0x03), FULL(0)}, C | Z | S, 0x33c},
		{{36, PART(0x01, 0x40), PART(0x02, 0x80), FULL(0)}, C | Z | S, 0x33c},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check(&cases[i].t, cases[i].flags, cases[i].conditions);
}

static void nothing_is_known_of_what_is_none(void **state)
{
	const struct vt_word zero = vt_word_of(0), one = vt_word_of(1);
	struct vt_word w = vti_flags_all(vt_word_of(NOPS), zero, zero, zero);

	(void)state;
	assert_int_equal(w.known, ~(uint64_t)VTI_FLAGS);
	w = vti_flags_all((struct vt_word){1, ~UINT64_C(2)}, zero, zero, zero);
	assert_int_equal(w.known, ~(uint64_t)VTI_FLAGS);
	assert_int_equal(vti_flags_condition(vt_word_of(16), one, zero, zero, zero).known,
			 ~UINT64_C(1));
	assert_int_equal(
		vti_flags_condition((struct vt_word){0, ~UINT64_C(1)}, one, zero, zero, zero).known,
		~UINT64_C(1));
	assert_int_equal(
		vti_flags_condition(one, (struct vt_word){1, ~UINT64_C(2)}, zero, zero, zero).known,
		~UINT64_C(1));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_operands_tell_all),
		cmocka_unit_test(what_is_known_holds_for_all_choices),
		cmocka_unit_test(examples_tell_all_there_is),
		cmocka_unit_test(nothing_is_known_of_what_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
