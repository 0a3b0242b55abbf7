/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "specialise/judge.h"

#include <math.h>
#include <string.h>

/* Name for programs, cost (struct vt_spec_verdict), what to do, and what the value is called. */
static const struct {
	const char *name;
	double cost;
	const char *action;
	const char *role; /* NULL: what it is says enough */
} specs[VT_NSPECS] = {
	[VT_SPEC_NONE] = {"none", 0, "", NULL},
	[VT_SPEC_CALL] = {"call", 15, "devirtualise", NULL},
	[VT_SPEC_JUMP] = {"jump", 15, "test for one case first", NULL},
	[VT_SPEC_DIVISOR_ONE] = {"divisor-one", 20, "leave out the division", "divisor"},
	[VT_SPEC_DIVISOR_POWER] = {"divisor-power", 20, "shift instead of dividing", "divisor"},
	[VT_SPEC_DIVISOR_POWERS] = {"divisor-powers", 20, "shift instead of dividing", "divisor"},
	[VT_SPEC_DIVISOR] = {"divisor", 15, "divide by a constant", "divisor"},
	[VT_SPEC_FACTOR_ZERO] = {"factor-zero", 5, "leave out the multiplication", "factor"},
	[VT_SPEC_FACTOR_ONE] = {"factor-one", 4, "leave out the multiplication", "factor"},
	[VT_SPEC_FACTOR_POWER] = {"factor-power", 3, "shift instead of multiplying", "factor"},
	[VT_SPEC_FACTOR] = {"factor", 2, "multiply by a constant", "factor"},
	[VT_SPEC_BOUND] = {"bound", 6, "unroll the loop", "bound"},
	[VT_SPEC_ARGUMENT] = {"argument", 5, "specialise the procedure", NULL},
	[VT_SPEC_ARGUMENT_POINTER] = {"argument-pointer", 1, "refer to it directly", NULL},
	[VT_SPEC_ZERO] = {"zero", 5, "test for 0 first", NULL},
	[VT_SPEC_NUMBER] = {"number", 4, "make it a constant", NULL},
	[VT_SPEC_POINTER] = {"pointer", 2, "refer to it directly", NULL},
	[VT_SPEC_RESULT] = {"result", 1, "compute it once", NULL},
};

/* Loops that are longer have nothing of being unrolled for their bound. */
#define MAX_BOUND UINT16_MAX

/* A variable of the frame is as fast as can be, and its value came from somewhere else. */
#define STACK_DISCOUNT 0.25

const char *vt_spec_name(enum vt_spec_kind kind)
{
	return (unsigned)kind < VT_NSPECS ? specs[kind].name : "?";
}

double vt_share_low(double share, double n)
{
	const double z = 1.96; /* of the normal distribution, 95 % */
	double low;

	if (n <= 0)
		return 0;
	low = (share + z * z / (2 * n) - z * sqrt((share * (1 - share) + z * z / (4 * n)) / n)) /
	      (1 + z * z / n);
	return low > 0 ? low : 0;
}

unsigned vt_argument_number(unsigned reg)
{
	static const uint8_t order[] = {VT_REG_DI, VT_REG_SI, VT_REG_DX,
					VT_REG_CX, VT_REG_R8, VT_REG_R8 + 1};
	unsigned i;

	for (i = 0; i < sizeof(order); i++)
		if (order[i] == reg)
			return i + 1;
	return 0;
}

static double as_float(uint64_t value, unsigned size)
{
	uint32_t bits = (uint32_t)value;
	float f;
	double d;

	if (size == sizeof(f)) {
		memcpy(&f, &bits, sizeof(f));
		return f;
	}
	memcpy(&d, &value, sizeof(d));
	return d;
}

static bool is_float_type(const struct vt_number_type *t)
{
	return t->number == VT_NUMBER_FLOAT && (t->size == 4 || t->size == 8);
}

static bool is_one(uint64_t value, const struct vt_number_type *t)
{
	return is_float_type(t) ? as_float(value, t->size) == 1 : value == 1;
}

static bool is_power_of_two(uint64_t value)
{
	return value && !(value & (value - 1));
}

/* The share of the profiled executions that had the i-th value. */
static double share_of(const struct vt_hot *h, uint32_t i)
{
	double share = h->profiled ? vt_hot_estimate(h, i) / (double)h->profiled : 0;

	return share < 1 ? share : 1;
}

static double share_of_powers(const struct vt_hot *h)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < h->nvalues; i++)
		if (is_power_of_two(h->values[i]))
			sum += share_of(h, i);
	return sum < 1 ? sum : 1;
}

/* A divisor that is a power of two, though not always the same, is found by all of its values. */
static enum vt_spec_kind judge_divisor(const struct vt_spec_value *v, double min, double *share)
{
	const struct vt_number_type *t = &v->uses.type;
	double powers;

	if (*share >= min && is_one(v->hot->values[0], t))
		return VT_SPEC_DIVISOR_ONE;
	if (*share >= min && !is_float_type(t) && is_power_of_two(v->hot->values[0]))
		return VT_SPEC_DIVISOR_POWER;
	if (is_float_type(t) || *share >= min)
		return VT_SPEC_DIVISOR;
	powers = share_of_powers(v->hot);
	if (powers < min)
		return VT_SPEC_NONE;
	*share = powers;
	return VT_SPEC_DIVISOR_POWERS;
}

static enum vt_spec_kind judge_factor(const struct vt_spec_value *v)
{
	const struct vt_number_type *t = &v->uses.type;
	uint64_t value = v->hot->values[0];

	if (!value)
		return VT_SPEC_FACTOR_ZERO;
	if (is_one(value, t))
		return VT_SPEC_FACTOR_ONE;
	return !is_float_type(t) && is_power_of_two(value) ? VT_SPEC_FACTOR_POWER : VT_SPEC_FACTOR;
}

static enum vt_spec_kind judge_plain(const struct vt_spec_value *v)
{
	uint64_t value = v->hot->values[0];

	switch (v->hot->key.what) {
	case VT_WHAT_TARGET:
		return v->uses.uses & VT_USE_TARGET ? VT_SPEC_CALL : VT_SPEC_JUMP;
	case VT_WHAT_ARG:
		return v->pointer ? VT_SPEC_ARGUMENT_POINTER : VT_SPEC_ARGUMENT;
	case VT_WHAT_LOAD:
		if (!value)
			return VT_SPEC_ZERO;
		return v->pointer ? VT_SPEC_POINTER : VT_SPEC_NUMBER;
	case VT_WHAT_RESULT:
		return v->pointer ? VT_SPEC_NONE : VT_SPEC_RESULT;
	default:
		return VT_SPEC_NONE;
	}
}

/* Values that the compiler knew, or that only travel. */
static bool is_beyond_reach(const struct vt_spec_value *v)
{
	switch (v->hot->key.what) {
	case VT_WHAT_LOAD:
		/* Where an indirect call reads its target, its list of targets says more. */
		return v->fixed || v->source == VT_SOURCE_RESTORED ||
		       v->source == VT_SOURCE_UNKNOWN || (v->uses.uses & VT_USE_TARGET);
	case VT_WHAT_ARG:
		return !vt_argument_number(v->hot->key.reg) || !(v->uses.uses & VT_USE_READ);
	case VT_WHAT_TARGET:
		return v->fixed;
	case VT_WHAT_RESULT:
		return v->fixed || !(v->uses.uses & (VT_USE_DIVISOR | VT_USE_FACTOR |
						     VT_USE_BRANCH | VT_USE_BOUND));
	default:
		return true;
	}
}

bool vt_spec_judge(const struct vt_spec_value *v, double min, struct vt_spec_verdict *out)
{
	const struct vt_hot *h = v->hot;
	double share;

	if (!h->nvalues || is_beyond_reach(v))
		return false;
	if (min < VT_SPEC_MIN_SHARE)
		min = VT_SPEC_MIN_SHARE;
	share = share_of(h, 0);
	if (share > v->others)
		share = v->others;
	if (v->uses.uses & VT_USE_DIVISOR)
		out->kind = judge_divisor(v, min, &share);
	else if ((v->uses.uses & VT_USE_FACTOR) && !v->pointer)
		out->kind = judge_factor(v);
	else if ((v->uses.uses & VT_USE_BOUND) && h->values[0] && h->values[0] <= MAX_BOUND &&
		 !v->pointer)
		out->kind = VT_SPEC_BOUND;
	else
		out->kind = judge_plain(v);
	out->share = share;
	out->low = vt_share_low(share, (double)h->profiled);
	out->value = h->values[0];
	out->cost = specs[out->kind].cost;
	if (h->key.what == VT_WHAT_LOAD && v->source == VT_SOURCE_STACK)
		out->cost *= STACK_DISCOUNT;
	out->whole = h->key.what == VT_WHAT_ARG && out->kind != VT_SPEC_ARGUMENT_POINTER;
	return out->kind != VT_SPEC_NONE && out->low >= min;
}

/* "the load", "the variable x", "argument 2 (rsi)", "the result (rax)". */
static void put_subject(const struct vt_spec_value *v, struct vt_buf *out)
{
	const struct vt_hot *h = v->hot;

	if (h->key.what == VT_WHAT_ARG)
		vt_buf_printf(out, "argument %u (%s)%s", vt_argument_number(h->key.reg),
			      vt_reg_name(h->key.reg, 8), v->at_call ? " of this call" : "");
	else if (h->key.what == VT_WHAT_RESULT)
		vt_buf_printf(out, "the result (%s)", vt_reg_name(h->key.reg, h->size));
	else if (v->source == VT_SOURCE_FIXED && v->variable)
		vt_buf_printf(out, "the variable %s", v->variable);
	else
		vt_buf_printf(out, "the load");
}

/* Rounded down to a tenth: what is not always so never reads as 100 %. */
static double round_percent(double share)
{
	return floor(share * 1000) / 10;
}

/* "always 8"; "8 in 99.8 %". */
static void put_frequent_value(double share, const char *value, struct vt_buf *out)
{
	if (share >= 1)
		vt_buf_printf(out, "always %s", value);
	else
		vt_buf_printf(out, "%s in %.1f %%", value, round_percent(share));
}

/* " is always 8". */
static void put_fact(const struct vt_spec_verdict *verdict, const char *value, struct vt_buf *out)
{
	vt_buf_printf(out, " is ");
	if (verdict->kind == VT_SPEC_DIVISOR_POWERS) {
		put_frequent_value(verdict->share, "a power of two", out);
		vt_buf_printf(out, ", mostly %s", value);
	} else {
		put_frequent_value(verdict->share, value, out);
	}
}

void vt_spec_fact(const struct vt_spec_value *v, const struct vt_spec_verdict *verdict,
		  const char *value, struct vt_buf *out)
{
	put_subject(v, out);
	put_fact(verdict, value, out);
}

void vt_spec_advice(const struct vt_spec_value *v, const struct vt_spec_verdict *verdict,
		    const char *value, struct vt_buf *out)
{
	enum vt_spec_kind kind = verdict->kind;

	vt_buf_printf(out, "%s: ", specs[kind].action);
	if (kind == VT_SPEC_CALL || kind == VT_SPEC_JUMP) {
		if (verdict->share >= 1)
			vt_buf_printf(out, "always to %s", value);
		else
			vt_buf_printf(out, "%.1f %% to %s", round_percent(verdict->share), value);
		return;
	}
	if (!specs[kind].role) {
		vt_spec_fact(v, verdict, value, out);
		return;
	}
	vt_buf_printf(out, "the %s", specs[kind].role);
	if (v->hot->key.what != VT_WHAT_LOAD || v->variable) {
		vt_buf_printf(out, ", ");
		put_subject(v, out);
		vt_buf_printf(out, ",");
	}
	put_fact(verdict, value, out);
}
