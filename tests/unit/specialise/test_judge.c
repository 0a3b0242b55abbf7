/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "specialise/judge.h"

#define MIN 0.9

/* A list of up to three values and a value made from it, for one test to alter. */
struct list {
	uint64_t values[3];
	uint64_t counts[3];
	struct vt_hot hot;
	struct vt_spec_value value;
};

static struct list *list_of(struct list *l, enum vt_what what, unsigned uses, uint64_t total,
			    uint64_t value, uint64_t count)
{
	memset(l, 0, sizeof(*l));
	l->values[0] = value;
	l->counts[0] = count;
	l->hot = (struct vt_hot){.key = {.what = what},
				 .size = 8,
				 .nvalues = 1,
				 .scale = 1,
				 .factor = 1,
				 .total = total,
				 .profiled = total,
				 .values = l->values,
				 .counts = l->counts};
	l->value = (struct vt_spec_value){.hot = &l->hot, .others = 1};
	l->value.uses.uses = uses | VT_USE_READ;
	if (what == VT_WHAT_ARG)
		l->hot.key.reg = VT_REG_SI;
	return l;
}

static void also(struct list *l, uint64_t value, uint64_t count)
{
	l->values[l->hot.nvalues] = value;
	l->counts[l->hot.nvalues++] = count;
}

static enum vt_spec_kind judged(const struct list *l)
{
	struct vt_spec_verdict v;

	return vt_spec_judge(&l->value, MIN, &v) ? v.kind : VT_SPEC_NONE;
}

static void assert_advice(const struct list *l, const char *value, const char *text)
{
	struct vt_buf b = VT_BUF_INIT;
	struct vt_spec_verdict v;

	assert_true(vt_spec_judge(&l->value, MIN, &v));
	vt_spec_advice(&l->value, &v, value, &b);
	assert_string_equal(vt_buf_str(&b), text);
	vt_buf_free(&b);
}

/* The costs are the latencies that specialise/judge.h speaks of. */
static void test_kinds(void **state)
{
	static const struct {
		enum vt_what what;
		unsigned uses;
		uint64_t value;
		enum vt_spec_kind kind;
		double cost;
	} cases[] = {
		{VT_WHAT_LOAD, 0, 0, VT_SPEC_ZERO, 5},
		{VT_WHAT_LOAD, 0, 4, VT_SPEC_NUMBER, 4},
		{VT_WHAT_LOAD, VT_USE_BRANCH, 4, VT_SPEC_NUMBER, 4},
		{VT_WHAT_LOAD, VT_USE_BOUND, 16, VT_SPEC_BOUND, 6},
		{VT_WHAT_LOAD, VT_USE_BOUND, 0, VT_SPEC_ZERO, 5},
		{VT_WHAT_LOAD, VT_USE_BOUND, 65535, VT_SPEC_BOUND, 6},
		{VT_WHAT_LOAD, VT_USE_BOUND, 65536, VT_SPEC_NUMBER, 4},
		{VT_WHAT_LOAD, VT_USE_DIVISOR, 1, VT_SPEC_DIVISOR_ONE, 20},
		{VT_WHAT_LOAD, VT_USE_DIVISOR, 8, VT_SPEC_DIVISOR_POWER, 20},
		{VT_WHAT_LOAD, VT_USE_DIVISOR | VT_USE_FACTOR, 10, VT_SPEC_DIVISOR, 15},
		{VT_WHAT_LOAD, VT_USE_FACTOR, 0, VT_SPEC_FACTOR_ZERO, 5},
		{VT_WHAT_LOAD, VT_USE_FACTOR, 1, VT_SPEC_FACTOR_ONE, 4},
		{VT_WHAT_LOAD, VT_USE_FACTOR, 8, VT_SPEC_FACTOR_POWER, 3},
		{VT_WHAT_LOAD, VT_USE_FACTOR, 9, VT_SPEC_FACTOR, 2},
		/* The targets of the call say the same with a name. */
		{VT_WHAT_LOAD, VT_USE_TARGET, 0x400000, VT_SPEC_NONE, 0},
		{VT_WHAT_TARGET, VT_USE_TARGET, 0x400000, VT_SPEC_CALL, 15},
		{VT_WHAT_TARGET, 0, 0x400000, VT_SPEC_JUMP, 15},
		{VT_WHAT_ARG, 0, 1, VT_SPEC_ARGUMENT, 5},
		{VT_WHAT_ARG, VT_USE_DIVISOR, 8, VT_SPEC_DIVISOR_POWER, 20},
		{VT_WHAT_ARG, VT_USE_BOUND, 64, VT_SPEC_BOUND, 6},
		{VT_WHAT_RESULT, VT_USE_BRANCH, 3, VT_SPEC_RESULT, 1},
		{VT_WHAT_RESULT, 0, 3, VT_SPEC_NONE, 0},
		{VT_WHAT_RESULT, VT_USE_ADDRESS, 3, VT_SPEC_NONE, 0},
		{VT_WHAT_RESULT, VT_USE_BOUND, 3, VT_SPEC_BOUND, 6},
		{VT_WHAT_RESULT, VT_USE_FACTOR, 3, VT_SPEC_FACTOR, 2},
		{VT_WHAT_RESULT, VT_USE_DIVISOR, 3, VT_SPEC_DIVISOR, 15},
		{VT_WHAT_ARG, VT_USE_TARGET, 3, VT_SPEC_ARGUMENT, 5},
		{VT_WHAT_STORE, 0, 0, VT_SPEC_NONE, 0},
		{VT_WHAT_LOAD_ADDRESS, 0, 0, VT_SPEC_NONE, 0},
		{VT_WHAT_RETURN, 0, 0x400000, VT_SPEC_NONE, 0},
	};
	struct vt_spec_verdict v;
	struct list l;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		list_of(&l, cases[i].what, cases[i].uses, 1000, cases[i].value, 1000);
		if (judged(&l) != cases[i].kind)
			fail_msg("case %zu: %s", i, vt_spec_name(judged(&l)));
		if (!vt_spec_judge(&l.value, MIN, &v))
			continue;
		assert_true(v.value == cases[i].value);
		assert_true(v.cost == cases[i].cost);
		assert_int_equal(v.whole, cases[i].what == VT_WHAT_ARG);
		/* What lies in the frame costs a quarter to load. */
		l.value.source = VT_SOURCE_STACK;
		assert_true(vt_spec_judge(&l.value, MIN, &v));
		assert_true(v.cost == (cases[i].what == VT_WHAT_LOAD ? 0.25 : 1) * cases[i].cost);
	}
}

static void test_pointers(void **state)
{
	struct vt_spec_verdict v;
	struct list l;

	(void)state;
	list_of(&l, VT_WHAT_LOAD, VT_USE_BOUND, 1000, 0x7f0000001000, 1000)->value.pointer = true;
	assert_true(vt_spec_judge(&l.value, MIN, &v));
	assert_int_equal(v.kind, VT_SPEC_POINTER);
	assert_true(v.cost == 2);
	list_of(&l, VT_WHAT_ARG, 0, 1000, 0x7f0000001000, 1000)->value.pointer = true;
	assert_true(vt_spec_judge(&l.value, MIN, &v));
	assert_int_equal(v.kind, VT_SPEC_ARGUMENT_POINTER);
	assert_true(v.cost == 1);
	assert_false(v.whole);
	/* What multiplies or ends a loop is none; what divides is judged as a number. */
	list_of(&l, VT_WHAT_LOAD, VT_USE_FACTOR, 1000, 8, 1000)->value.pointer = true;
	assert_int_equal(judged(&l), VT_SPEC_POINTER);
	list_of(&l, VT_WHAT_LOAD, VT_USE_BOUND, 1000, 64, 1000)->value.pointer = true;
	assert_int_equal(judged(&l), VT_SPEC_POINTER);
	list_of(&l, VT_WHAT_LOAD, VT_USE_DIVISOR, 1000, 8, 1000)->value.pointer = true;
	assert_int_equal(judged(&l), VT_SPEC_DIVISOR_POWER);
	list_of(&l, VT_WHAT_RESULT, VT_USE_BRANCH, 1000, 0x7f0000001000, 1000)->value.pointer =
		true;
	assert_int_equal(judged(&l), VT_SPEC_NONE);
}

/* What no source code has a hold on. */
static void test_beyond_reach(void **state)
{
	struct list l;

	(void)state;
	list_of(&l, VT_WHAT_LOAD, 0, 1000, 5, 1000)->value.fixed = true;
	assert_int_equal(judged(&l), VT_SPEC_NONE);
	list_of(&l, VT_WHAT_LOAD, 0, 1000, 5, 1000)->value.source = VT_SOURCE_RESTORED;
	assert_int_equal(judged(&l), VT_SPEC_NONE);
	list_of(&l, VT_WHAT_TARGET, VT_USE_TARGET, 1000, 5, 1000)->value.fixed = true;
	assert_int_equal(judged(&l), VT_SPEC_NONE);
	list_of(&l, VT_WHAT_LOAD, 0, 1000, 5, 1000)->value.source = VT_SOURCE_UNKNOWN;
	assert_int_equal(judged(&l), VT_SPEC_NONE);
	list_of(&l, VT_WHAT_RESULT, VT_USE_BRANCH, 1000, 5, 1000)->value.fixed = true;
	assert_int_equal(judged(&l), VT_SPEC_NONE);
	/* A register that no argument is passed in, and one that the procedure does not look at. */
	list_of(&l, VT_WHAT_ARG, 0, 1000, 5, 1000)->hot.key.reg = VT_REG_AX;
	assert_int_equal(judged(&l), VT_SPEC_NONE);
	list_of(&l, VT_WHAT_ARG, 0, 1000, 5, 1000)->value.uses.uses = 0;
	assert_int_equal(judged(&l), VT_SPEC_NONE);
	list_of(&l, VT_WHAT_LOAD, 0, 1000, 5, 1000)->hot.nvalues = 0;
	assert_int_equal(judged(&l), VT_SPEC_NONE);
}

static void test_threshold(void **state)
{
	struct vt_spec_verdict v;
	struct list l;

	(void)state;
	list_of(&l, VT_WHAT_LOAD, 0, 1000, 5, 890);
	assert_int_equal(judged(&l), VT_SPEC_NONE);
	list_of(&l, VT_WHAT_LOAD, 0, 1000, 5, 950);
	assert_true(vt_spec_judge(&l.value, MIN, &v));
	assert_float_equal(v.share, 0.95, 1e-9);
	/* 95 % of 20 may be 76 % of all; of 1000, 93.5 %: Wilson's interval, by hand. */
	assert_float_equal(v.low, 0.9346, 1e-4);
	list_of(&l, VT_WHAT_LOAD, 0, 20, 5, 19);
	assert_int_equal(judged(&l), VT_SPEC_NONE);
	assert_float_equal(vt_share_low(0.95, 20), 0.7639, 1e-4);
	assert_float_equal(vt_share_low(1, 0), 0, 0);
	/* A further lane that varies; an estimate above the total; another list's scale. */
	list_of(&l, VT_WHAT_LOAD, 0, 1000, 5, 1000)->value.others = 0.5;
	assert_int_equal(judged(&l), VT_SPEC_NONE);
	list_of(&l, VT_WHAT_LOAD, 0, 1000, 5, 900)->hot.scale = 1.2;
	assert_true(vt_spec_judge(&l.value, MIN, &v));
	assert_float_equal(v.share, 1, 0);
	assert_float_equal(v.low, vt_share_low(1, 1000), 0);
	list_of(&l, VT_WHAT_LOAD, 0, 1000, 5, 980)->value.others = 0.96;
	assert_true(vt_spec_judge(&l.value, MIN, &v));
	assert_float_equal(v.share, 0.96, 0);
	l.value.others = 0.99;
	assert_true(vt_spec_judge(&l.value, MIN, &v));
	assert_float_equal(v.share, 0.98, 0);
	/* Of 1000, no fewer than 30 %: with 327 the interval begins at 29.9 %, with 329 at 30.1 %.
	 */
	list_of(&l, VT_WHAT_LOAD, 0, 1000, 5, 327);
	assert_false(vt_spec_judge(&l.value, 0.1, &v));
	list_of(&l, VT_WHAT_LOAD, 0, 1000, 5, 330);
	assert_true(vt_spec_judge(&l.value, 0.1, &v));
	assert_float_equal(v.share, 0.33, 1e-9);
	assert_false(vt_spec_judge(&l.value, 0.31, &v));
	/* Whatever is asked for, a value of one execution in ten is no invariant one. */
	list_of(&l, VT_WHAT_LOAD, 0, 1000, 5, 100);
	assert_false(vt_spec_judge(&l.value, 0, &v));
}

static void test_powers(void **state)
{
	struct vt_spec_verdict v;
	struct list l;

	(void)state;
	list_of(&l, VT_WHAT_LOAD, VT_USE_DIVISOR, 1000, 8, 500);
	also(&l, 16, 480);
	also(&l, 7, 20);
	assert_true(vt_spec_judge(&l.value, MIN, &v));
	assert_int_equal(v.kind, VT_SPEC_DIVISOR_POWERS);
	assert_float_equal(v.share, 0.98, 1e-9);
	assert_true(v.cost == 20);
	assert_int_equal(v.value, 8);
	assert_advice(&l, "8",
		      "shift instead of dividing: the divisor is a power of two in "
		      "98.0 %, mostly 8");
	l.values[1] = 24;
	assert_false(vt_spec_judge(&l.value, MIN, &v));
	/* 0 is none, 1 is one; all together are not more than always. */
	l.values[1] = 0;
	assert_false(vt_spec_judge(&l.value, MIN, &v));
	l.values[1] = 1;
	assert_true(vt_spec_judge(&l.value, MIN, &v));
	assert_float_equal(v.share, 0.98, 1e-9);
	l.hot.scale = 1.1;
	assert_true(vt_spec_judge(&l.value, MIN, &v));
	assert_float_equal(v.share, 1, 0);
	assert_advice(&l, "8",
		      "shift instead of dividing: the divisor is always a power of two, mostly 8");
	/* One power nearly always, and 0 always, which is no power. */
	list_of(&l, VT_WHAT_LOAD, VT_USE_DIVISOR, 1000, 8, 950);
	also(&l, 16, 50);
	assert_true(vt_spec_judge(&l.value, MIN, &v));
	assert_int_equal(v.kind, VT_SPEC_DIVISOR_POWER);
	assert_float_equal(v.share, 0.95, 1e-9);
	list_of(&l, VT_WHAT_LOAD, VT_USE_DIVISOR, 1000, 0, 1000);
	assert_int_equal(judged(&l), VT_SPEC_DIVISOR);
	/* 1, but seldom. */
	list_of(&l, VT_WHAT_LOAD, VT_USE_DIVISOR, 1000, 1, 500);
	also(&l, 16, 500);
	assert_int_equal(judged(&l), VT_SPEC_DIVISOR_POWERS);
	/* Not for other uses. */
	list_of(&l, VT_WHAT_LOAD, VT_USE_FACTOR, 1000, 8, 500);
	also(&l, 16, 480);
	assert_false(vt_spec_judge(&l.value, MIN, &v));
}

static void test_floats(void **state)
{
	const struct vt_number_type type = {VT_NUMBER_FLOAT, 8, 1, false};
	/* The bits of the last one are those of an integer that is a power of two. */
	const double values[] = {0, 1, 0.5, 3, 2};
	const enum vt_spec_kind divisors[] = {VT_SPEC_DIVISOR, VT_SPEC_DIVISOR_ONE, VT_SPEC_DIVISOR,
					      VT_SPEC_DIVISOR, VT_SPEC_DIVISOR};
	const enum vt_spec_kind factors[] = {VT_SPEC_FACTOR_ZERO, VT_SPEC_FACTOR_ONE,
					     VT_SPEC_FACTOR, VT_SPEC_FACTOR, VT_SPEC_FACTOR};
	struct list l;
	uint64_t bits;
	uint32_t half;
	float single;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		memcpy(&bits, &values[i], sizeof(bits));
		list_of(&l, VT_WHAT_LOAD, VT_USE_DIVISOR, 1000, bits, 1000)->value.uses.type = type;
		assert_int_equal(judged(&l), divisors[i]);
		list_of(&l, VT_WHAT_LOAD, VT_USE_FACTOR, 1000, bits, 1000)->value.uses.type = type;
		assert_int_equal(judged(&l), factors[i]);
		single = (float)values[i];
		memcpy(&half, &single, sizeof(half));
		list_of(&l, VT_WHAT_LOAD, VT_USE_DIVISOR, 1000, half, 1000)->value.uses.type = type;
		l.value.uses.type.size = 4;
		assert_int_equal(judged(&l), divisors[i]);
		l.value.uses.uses = VT_USE_FACTOR;
		assert_int_equal(judged(&l), factors[i]);
	}
	/* Of x87's ten bytes the bits do not tell; of no float at all they do. */
	list_of(&l, VT_WHAT_LOAD, VT_USE_FACTOR, 1000, 1, 1000)->value.uses.type = type;
	assert_int_equal(judged(&l), VT_SPEC_FACTOR);
	l.value.uses.type.size = 10;
	assert_int_equal(judged(&l), VT_SPEC_FACTOR_ONE);
	l.value.uses.type = (struct vt_number_type){VT_NUMBER_SIGNED, 8, 1, false};
	assert_int_equal(judged(&l), VT_SPEC_FACTOR_ONE);
	/* No power of two is a float's: its bits may be one. */
	list_of(&l, VT_WHAT_LOAD, VT_USE_DIVISOR, 1000, 8, 500)->value.uses.type = type;
	also(&l, 16, 500);
	assert_int_equal(judged(&l), VT_SPEC_NONE);
	l.values[0] = 8;
	l.counts[0] = 1000;
	l.value.uses.uses = VT_USE_FACTOR;
	assert_int_equal(judged(&l), VT_SPEC_FACTOR);
}

static void test_advice(void **state)
{
	struct list l;

	(void)state;
	list_of(&l, VT_WHAT_LOAD, 0, 1000, 0, 1000);
	assert_advice(&l, "0", "test for 0 first: the load is always 0");
	list_of(&l, VT_WHAT_LOAD, 0, 100000, 0, 99999);
	assert_advice(&l, "0", "test for 0 first: the load is 0 in 99.9 %");
	list_of(&l, VT_WHAT_ARG, 0, 1000, 1, 1000);
	assert_advice(&l, "1", "specialise the procedure: argument 2 (rsi) is always 1");
	list_of(&l, VT_WHAT_ARG, VT_USE_DIVISOR, 1000, 8, 1000);
	assert_advice(&l, "8",
		      "shift instead of dividing: the divisor, argument 2 (rsi), is always 8");
	list_of(&l, VT_WHAT_TARGET, VT_USE_TARGET, 1000, 8, 998);
	assert_advice(&l, "foo", "devirtualise: 99.8 % to foo");
	list_of(&l, VT_WHAT_TARGET, VT_USE_TARGET, 1000, 8, 1000);
	assert_advice(&l, "foo", "devirtualise: always to foo");
	list_of(&l, VT_WHAT_RESULT, VT_USE_FACTOR, 1000, 1, 1000);
	assert_advice(&l, "1",
		      "leave out the multiplication: the factor, the result (rax), is always 1");
}

/* What the value is called: of what is a role, and of what a register or variable. */
static void test_subjects(void **state)
{
	struct list l;

	(void)state;
	list_of(&l, VT_WHAT_LOAD, 0, 1000, 5, 1000)->value.variable = "limit";
	l.value.source = VT_SOURCE_FIXED;
	assert_advice(&l, "5", "make it a constant: the variable limit is always 5");
	l.value.source = VT_SOURCE_MEMORY;
	assert_advice(&l, "5", "make it a constant: the load is always 5");
	l.value.source = VT_SOURCE_FIXED;
	l.value.variable = NULL;
	assert_advice(&l, "5", "make it a constant: the load is always 5");
	list_of(&l, VT_WHAT_LOAD, VT_USE_DIVISOR, 1000, 10, 1000)->value.source = VT_SOURCE_FIXED;
	assert_advice(&l, "10", "divide by a constant: the divisor is always 10");
	l.value.variable = "base";
	assert_advice(&l, "10",
		      "divide by a constant: the divisor, the variable base, is always 10");
	list_of(&l, VT_WHAT_RESULT, VT_USE_BRANCH, 1000, 1, 1000)->hot.size = 4;
	assert_advice(&l, "1", "compute it once: the result (eax) is always 1");
	l.hot.key.reg = VT_REG_CX;
	assert_advice(&l, "1", "compute it once: the result (ecx) is always 1");
	list_of(&l, VT_WHAT_ARG, 0, 1000, 5, 1000)->hot.size = 4;
	assert_advice(&l, "5", "specialise the procedure: argument 2 (rsi) is always 5");
}

/* The name for programs and the advice of each kind. */
static void test_words(void **state)
{
	static const struct {
		const char *name, *advice;
	} want[VT_NSPECS] = {
		[VT_SPEC_NONE] = {"none", ": the load is always 6"},
		[VT_SPEC_CALL] = {"call", "devirtualise: always to 6"},
		[VT_SPEC_JUMP] = {"jump", "test for one case first: always to 6"},
		[VT_SPEC_DIVISOR_ONE] = {"divisor-one",
					 "leave out the division: the divisor is always 6"},
		[VT_SPEC_DIVISOR_POWER] = {"divisor-power",
					   "shift instead of dividing: the divisor is always 6"},
		[VT_SPEC_DIVISOR_POWERS] = {"divisor-powers",
					    "shift instead of dividing: the divisor is always a "
					    "power of two, mostly 6"},
		[VT_SPEC_DIVISOR] = {"divisor", "divide by a constant: the divisor is always 6"},
		[VT_SPEC_FACTOR_ZERO] = {"factor-zero",
					 "leave out the multiplication: the factor is always 6"},
		[VT_SPEC_FACTOR_ONE] = {"factor-one",
					"leave out the multiplication: the factor is always 6"},
		[VT_SPEC_FACTOR_POWER] = {"factor-power",
					  "shift instead of multiplying: the factor is always 6"},
		[VT_SPEC_FACTOR] = {"factor", "multiply by a constant: the factor is always 6"},
		[VT_SPEC_BOUND] = {"bound", "unroll the loop: the bound is always 6"},
		[VT_SPEC_ARGUMENT] = {"argument", "specialise the procedure: the load is always 6"},
		[VT_SPEC_ARGUMENT_POINTER] = {"argument-pointer",
					      "refer to it directly: the load is always 6"},
		[VT_SPEC_ZERO] = {"zero", "test for 0 first: the load is always 6"},
		[VT_SPEC_NUMBER] = {"number", "make it a constant: the load is always 6"},
		[VT_SPEC_POINTER] = {"pointer", "refer to it directly: the load is always 6"},
		[VT_SPEC_RESULT] = {"result", "compute it once: the load is always 6"},
	};
	struct list l;
	unsigned i;

	(void)state;
	list_of(&l, VT_WHAT_LOAD, 0, 1000, 6, 1000);
	for (i = 0; i < VT_NSPECS; i++) {
		const struct vt_spec_verdict v = {.kind = i, .share = 1};
		struct vt_buf b = VT_BUF_INIT;

		assert_string_equal(vt_spec_name(i), want[i].name);
		vt_spec_advice(&l.value, &v, "6", &b);
		assert_string_equal(vt_buf_str(&b), want[i].advice);
		vt_buf_free(&b);
	}
	assert_string_equal(vt_spec_name(VT_NSPECS), "?");
}

static void test_argument_numbers(void **state)
{
	static const unsigned regs[] = {VT_REG_DI, VT_REG_SI, VT_REG_DX,
					VT_REG_CX, VT_REG_R8, VT_REG_R8 + 1};
	unsigned reg, i;

	(void)state;
	for (reg = 0; reg < 256; reg++) {
		unsigned number = 0;

		for (i = 0; i < 6; i++)
			if (regs[i] == reg)
				number = i + 1;
		assert_int_equal(vt_argument_number(reg), number);
	}
}

/* The least of the shares under which what was seen is within 1.96 standard deviations. */
static void test_intervals(void **state)
{
	static const double trials[] = {1, 2, 10, 1000};
	unsigned i, j;

	(void)state;
	for (i = 0; i < 4; i++)
		for (j = 1; j <= 20; j++) {
			double share = j / 20.0, low = 0, high = share, mid;

			while (high - low > 1e-12) {
				mid = (low + high) / 2;
				if ((share - mid) * (share - mid) * trials[i] >
				    1.96 * 1.96 * mid * (1 - mid))
					low = mid;
				else
					high = mid;
			}
			assert_float_equal(vt_share_low(share, trials[i]), low, 1e-9);
		}
	assert_float_equal(vt_share_low(0, 10), 0, 1e-12);
	for (i = 1; i < 100; i++)
		assert_true(vt_share_low(0, i) >= 0);
	assert_float_equal(vt_share_low(1, -1), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),	     cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_beyond_reach), cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_powers),	     cmocka_unit_test(test_floats),
		cmocka_unit_test(test_advice),	     cmocka_unit_test(test_subjects),
		cmocka_unit_test(test_words),	     cmocka_unit_test(test_argument_numbers),
		cmocka_unit_test(test_intervals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
