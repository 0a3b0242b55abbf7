/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/interp/teach_internal.h"

#include <string.h>

static void learn(struct vti_lesson *l, unsigned slot, uint64_t value, uint64_t known, unsigned n)
{
	vti_lesson_learn(l, slot, value, known & vt_low_bits(n));
}

void vti_lesson_equal(struct vti_lesson *l, unsigned a, unsigned b, unsigned n, bool equal)
{
	struct vt_word x = vti_lesson_word(l, a), y = vti_lesson_word(l, b);
	uint64_t all = vt_low_bits(n);
	uint64_t both = x.known & y.known & all;
	uint64_t unknown = all & ~both;

	if (equal) {
		learn(l, a, y.value, y.known, n);
		learn(l, b, x.value, x.known, n);
		return;
	}
	if ((x.value ^ y.value) & both || unknown & (unknown - 1))
		return;
	/* They differ, and can only differ in this bit. */
	if (!unknown)
		l->wrong = true;
	else if (x.known & unknown)
		learn(l, b, ~x.value, unknown, n);
	else if (y.known & unknown)
		learn(l, a, ~y.value, unknown, n);
}

/* The number in `slot` is between two others: the bits in front of the first difference are known.
 */
static void learn_range(struct vti_lesson *l, unsigned slot, uint64_t least, uint64_t most,
			uint64_t sign, unsigned n)
{
	uint64_t differ = least ^ most;
	uint64_t known = ~UINT64_C(0);

	if (least > most) {
		l->wrong = true;
		return;
	}
	if (differ)
		known = ~vt_low_bits(64 - (unsigned)__builtin_clzll(differ));
	learn(l, slot, least ^ sign, known, n);
}

void vti_lesson_less(struct vti_lesson *l, unsigned a, unsigned b, unsigned n, bool is_signed,
		     bool or_equal, bool holds)
{
	uint64_t all = vt_low_bits(n), sign = is_signed ? (all >> 1) + 1 : 0;
	/* What is not less is greater or equal. */
	unsigned small = holds ? a : b, large = holds ? b : a;
	uint64_t apart = or_equal == holds ? 0 : 1;
	struct vt_word x = vti_lesson_word(l, small), y = vti_lesson_word(l, large);
	/* With its highest bit inverted, a signed number compares like an unsigned one. */
	uint64_t x_least = (x.value ^ (sign & x.known)) & all, x_most = x_least | (~x.known & all);
	uint64_t y_least = (y.value ^ (sign & y.known)) & all, y_most = y_least | (~y.known & all);

	if (y_most < apart || all - x_least < apart) {
		l->wrong = true;
		return;
	}
	learn_range(l, small, x_least, x_most < y_most - apart ? x_most : y_most - apart, sign, n);
	learn_range(l, large, y_least > x_least + apart ? y_least : x_least + apart, y_most, sign,
		    n);
}

/* A sum's or difference's lowest bits depend on nothing but the operands' lowest bits. */
static uint64_t lowest_ones(uint64_t bits)
{
	return bits & (bits ^ (bits + 1));
}

static void learn_sum(struct vti_lesson *l, const struct vti_op *op, bool sub, unsigned n)
{
	struct vt_word r = l->result[0], a = vti_lesson_word(l, op->a),
		       b = vti_lesson_word(l, op->b);

	learn(l, op->a, sub ? r.value + b.value : r.value - b.value, lowest_ones(r.known & b.known),
	      n);
	learn(l, op->b, sub ? a.value - r.value : r.value - a.value, lowest_ones(r.known & a.known),
	      n);
}

static void learn_bits(struct vti_lesson *l, const struct vti_op *op, enum vti_inverse_rule rule,
		       unsigned n)
{
	struct vt_word r = l->result[0], a = vti_lesson_word(l, op->a),
		       b = vti_lesson_word(l, op->b);
	uint64_t zero = r.known & ~r.value, one = r.value;

	switch (rule) {
	case VTI_INVERSE_AND:
		learn(l, op->a, one, one | (zero & b.value), n);
		learn(l, op->b, one, one | (zero & a.value), n);
		break;
	case VTI_INVERSE_OR:
		learn(l, op->a, one, zero | (one & b.known & ~b.value), n);
		learn(l, op->b, one, zero | (one & a.known & ~a.value), n);
		break;
	default:
		learn(l, op->a, r.value ^ b.value, r.known & b.known, n);
		learn(l, op->b, r.value ^ a.value, r.known & a.known, n);
		break;
	}
}

static void learn_shifted(struct vti_lesson *l, const struct vti_op *op, bool left, unsigned n)
{
	struct vt_word r = l->result[0], by = vti_lesson_word(l, op->b);
	unsigned s = (unsigned)by.value;

	if (!vt_word_is_known(by) || by.value >= n)
		return;
	if (left)
		learn(l, op->a, (r.value & vt_low_bits(n)) >> s, (r.known & vt_low_bits(n)) >> s,
		      n - s);
	else
		learn(l, op->a, r.value << s, (r.known & vt_low_bits(n - s)) << s, n);
}

static void learn_widened(struct vti_lesson *l, const struct vti_op *op, unsigned from, unsigned to)
{
	struct vt_word r = l->result[0];
	uint64_t copies = r.known & vt_low_bits(to) & ~(vt_low_bits(from) >> 1);
	uint64_t sign = vt_low_bits(from) ^ (vt_low_bits(from) >> 1);

	learn(l, op->a, r.value, r.known, from);
	if (copies)
		learn(l, op->a, r.value & copies ? sign : 0, sign, from);
}

static void learn_halves(struct vti_lesson *l, const struct vti_op *op, enum vti_inverse_rule rule,
			 unsigned n)
{
	struct vt_word r = l->result[0];

	switch (rule) {
	case VTI_INVERSE_HIGH:
		learn(l, op->a, r.value << n, (r.known & vt_low_bits(n)) << n, 2 * n);
		break;
	case VTI_INVERSE_JOIN:
		learn(l, op->b, r.value, r.known, n);
		learn(l, op->a, r.value >> n, r.known >> n, n);
		break;
	case VTI_INVERSE_JOIN128:
		learn(l, op->b, r.value, r.known, n);
		r = l->result[1];
		learn(l, op->a, r.value, r.known, n);
		break;
	default:
		learn(l, op->a + (rule == VTI_INVERSE_HIGH128), r.value, r.known, n);
		break;
	}
}

static void learn_compared(struct vti_lesson *l, const struct vti_op *op,
			   enum vti_inverse_rule rule, unsigned n)
{
	struct vt_word r = l->result[0];
	bool holds = r.value & 1;

	if (!(r.known & 1))
		return;
	switch (rule) {
	case VTI_INVERSE_EQ:
	case VTI_INVERSE_NE:
		vti_lesson_equal(l, op->a, op->b, n, holds == (rule == VTI_INVERSE_EQ));
		break;
	case VTI_INVERSE_NEZ:
		vti_lesson_equal(l, op->a, VTI_NO_SLOT, n, !holds);
		break;
	default:
		vti_lesson_less(l, op->a, op->b, n,
				rule == VTI_INVERSE_LTS || rule == VTI_INVERSE_LES,
				rule == VTI_INVERSE_LES || rule == VTI_INVERSE_LEU, holds);
		break;
	}
}

void vti_lesson_operator(struct vti_lesson *l, const struct vti_op *op)
{
	struct vti_inverse how = vti_inverse_of(op->aux);
	enum vti_inverse_rule rule = how.rule;
	struct vt_word r = l->result[0];

	switch (rule) {
	case VTI_INVERSE_NONE:
		break;
	case VTI_INVERSE_LOW:
		learn(l, op->a, r.value, r.known, how.bits);
		break;
	case VTI_INVERSE_NOT:
		learn(l, op->a, ~r.value, r.known, how.bits);
		break;
	case VTI_INVERSE_WIDEN_S:
		learn_widened(l, op, how.bits, how.to);
		break;
	case VTI_INVERSE_AND:
	case VTI_INVERSE_OR:
	case VTI_INVERSE_XOR:
		learn_bits(l, op, rule, how.bits);
		break;
	case VTI_INVERSE_ADD:
	case VTI_INVERSE_SUB:
		learn_sum(l, op, rule == VTI_INVERSE_SUB, how.bits);
		break;
	case VTI_INVERSE_SHL:
	case VTI_INVERSE_SHR:
		learn_shifted(l, op, rule == VTI_INVERSE_SHL, how.bits);
		break;
	case VTI_INVERSE_HIGH:
	case VTI_INVERSE_JOIN:
	case VTI_INVERSE_JOIN128:
	case VTI_INVERSE_LOW128:
	case VTI_INVERSE_HIGH128:
		learn_halves(l, op, rule, how.bits);
		break;
	default:
		learn_compared(l, op, rule, how.bits);
		break;
	}
}

/* ---- conditions of flags that were not computed in the same block ---- */

/*
 * amd64g_calculate_condition(cond, cc_op, dep1, dep2, ndep): conditions are those of the machine's
 * jcc (Intel SDM volume 2, appendix B.1); operations come in groups of four, for 1, 2, 4 and 8
 * bytes, from 1 on: Valgrind's VEX/priv/guest_amd64_defs.h, AMD64G_CC_OP_….
 */
enum group { OP_ADD, OP_SUB, OP_ADC, OP_SBB, OP_LOGIC, OP_INC, OP_DEC };
enum condition { B = 2, Z = 4, BE = 6, S = 8, L = 12, LE = 14 };

static void teach_sub(struct vti_lesson *l, unsigned a, unsigned b, unsigned n, unsigned cond,
		      bool holds)
{
	if (cond == Z)
		vti_lesson_equal(l, a, b, n, holds);
	else if (cond == B || cond == BE)
		vti_lesson_less(l, a, b, n, false, cond == BE, holds);
	else if (cond == L || cond == LE)
		vti_lesson_less(l, a, b, n, true, cond == LE, holds);
}

/* Flags of a result; of logical operations, carry and overflow are 0. */
static void teach_result(struct vti_lesson *l, unsigned r, unsigned n, unsigned cond, bool logic,
			 bool holds)
{
	if (cond == Z || (cond == BE && logic))
		vti_lesson_equal(l, r, VTI_NO_SLOT, n, holds);
	else if (cond == S || (cond == L && logic))
		vti_lesson_less(l, r, VTI_NO_SLOT, n, true, false, holds);
	else if (cond == LE && logic)
		vti_lesson_less(l, r, VTI_NO_SLOT, n, true, true, holds);
}

void vti_lesson_call(struct vti_lesson *l, const struct vti_call *call)
{
	struct vt_word cond, op, r;
	unsigned group, n;
	bool holds;

	if (strcmp(call->name, "amd64g_calculate_condition") != 0 || call->nargs != 5)
		return;
	cond = vti_lesson_word(l, call->args[0]);
	op = vti_lesson_word(l, call->args[1]);
	r = l->result[0];
	if (!vt_word_is_known(cond) || !vt_word_is_known(op) || !(r.known & 1) || op.value == 0)
		return;
	group = (unsigned)((op.value - 1) / 4);
	n = 8u << ((op.value - 1) % 4);
	/* Odd conditions are those before them, negated. */
	holds = (r.value ^ cond.value) & 1;
	cond.value &= 14;
	if (group == OP_SUB)
		teach_sub(l, call->args[2], call->args[3], n, (unsigned)cond.value, holds);
	else if (group == OP_LOGIC || group == OP_INC || group == OP_DEC)
		teach_result(l, call->args[2], n, (unsigned)cond.value, group == OP_LOGIC, holds);
}
