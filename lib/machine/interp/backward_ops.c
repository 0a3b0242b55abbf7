/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/interp/backward_internal.h"

#include <string.h>

static void refine_low_bits(struct vti_backward *bw, unsigned slot, uint64_t value, uint64_t known,
			    unsigned n)
{
	vti_refine_slot(bw, slot, value, known & vt_low_bits(n));
}

/* Refines two slots of n-bit numbers that are equal or not. */
static void infer_equal(struct vti_backward *bw, unsigned a, unsigned b, unsigned n, bool equal)
{
	struct vt_word x = vti_backward_word(bw, a), y = vti_backward_word(bw, b);
	uint64_t all = vt_low_bits(n);
	uint64_t both = x.known & y.known & all;
	uint64_t unknown = all & ~both;

	if (equal) {
		refine_low_bits(bw, a, y.value, y.known, n);
		refine_low_bits(bw, b, x.value, x.known, n);
		return;
	}
	if ((x.value ^ y.value) & both || unknown & (unknown - 1))
		return;
	/* They differ, and only this bit can differ. */
	if (!unknown)
		bw->wrong = true;
	else if (x.known & unknown)
		refine_low_bits(bw, b, ~x.value, unknown, n);
	else if (y.known & unknown)
		refine_low_bits(bw, a, ~y.value, unknown, n);
}

/* The number in `slot` lies between two others: it has the highest bits that both share. */
static void refine_to_range(struct vti_backward *bw, unsigned slot, uint64_t least, uint64_t most,
			    uint64_t sign, unsigned n)
{
	uint64_t differ = least ^ most;
	uint64_t known = ~UINT64_C(0);

	if (least > most) {
		bw->wrong = true;
		return;
	}
	if (differ)
		known = ~vt_low_bits(64 - (unsigned)__builtin_clzll(differ));
	refine_low_bits(bw, slot, least ^ sign, known, n);
}

/* Refines two slots of n-bit numbers of which the first is less (or equal), or not. */
static void infer_less(struct vti_backward *bw, unsigned a, unsigned b, unsigned n, bool is_signed,
		       bool or_equal, bool holds)
{
	uint64_t all = vt_low_bits(n), sign = is_signed ? (all >> 1) + 1 : 0;
	/* What is not less is greater or equal. */
	unsigned small = holds ? a : b, large = holds ? b : a;
	uint64_t apart = or_equal == holds ? 0 : 1;
	struct vt_word x = vti_backward_word(bw, small), y = vti_backward_word(bw, large);
	/* With its highest bit inverted, a signed number compares like an unsigned one. */
	uint64_t x_least = (x.value ^ (sign & x.known)) & all, x_most = x_least | (~x.known & all);
	uint64_t y_least = (y.value ^ (sign & y.known)) & all, y_most = y_least | (~y.known & all);

	if (y_most < apart || all - x_least < apart) {
		bw->wrong = true;
		return;
	}
	refine_to_range(bw, small, x_least, x_most < y_most - apart ? x_most : y_most - apart, sign,
			n);
	refine_to_range(bw, large, y_least > x_least + apart ? y_least : x_least + apart, y_most,
			sign, n);
}

/* The lowest bits of a sum or difference depend on the operands' lowest bits alone. */
static uint64_t lowest_ones(uint64_t bits)
{
	return bits & (bits ^ (bits + 1));
}

static void infer_sum(struct vti_backward *bw, const struct vti_op *op, bool sub, unsigned n)
{
	struct vt_word r = bw->result[0], a = vti_backward_word(bw, op->a),
		       b = vti_backward_word(bw, op->b);

	refine_low_bits(bw, op->a, sub ? r.value + b.value : r.value - b.value,
			lowest_ones(r.known & b.known), n);
	refine_low_bits(bw, op->b, sub ? a.value - r.value : r.value - a.value,
			lowest_ones(r.known & a.known), n);
}

static void infer_bitwise(struct vti_backward *bw, const struct vti_op *op,
			  enum vti_inverse_rule rule, unsigned n)
{
	struct vt_word r = bw->result[0], a = vti_backward_word(bw, op->a),
		       b = vti_backward_word(bw, op->b);
	uint64_t zero = r.known & ~r.value, one = r.value;

	switch (rule) {
	case VTI_INVERSE_AND:
		refine_low_bits(bw, op->a, one, one | (zero & b.value), n);
		refine_low_bits(bw, op->b, one, one | (zero & a.value), n);
		break;
	case VTI_INVERSE_OR:
		refine_low_bits(bw, op->a, one, zero | (one & b.known & ~b.value), n);
		refine_low_bits(bw, op->b, one, zero | (one & a.known & ~a.value), n);
		break;
	default:
		refine_low_bits(bw, op->a, r.value ^ b.value, r.known & b.known, n);
		refine_low_bits(bw, op->b, r.value ^ a.value, r.known & a.known, n);
		break;
	}
}

static void infer_shifted(struct vti_backward *bw, const struct vti_op *op, bool left, unsigned n)
{
	struct vt_word r = bw->result[0], by = vti_backward_word(bw, op->b);
	unsigned s = (unsigned)by.value;

	if (!vt_word_is_known(by) || by.value >= n)
		return;
	if (left)
		refine_low_bits(bw, op->a, (r.value & vt_low_bits(n)) >> s,
				(r.known & vt_low_bits(n)) >> s, n - s);
	else
		refine_low_bits(bw, op->a, r.value << s, (r.known & vt_low_bits(n - s)) << s, n);
}

static void infer_widened(struct vti_backward *bw, const struct vti_op *op, unsigned from,
			  unsigned to)
{
	struct vt_word r = bw->result[0];
	uint64_t copies = r.known & vt_low_bits(to) & ~(vt_low_bits(from) >> 1);
	uint64_t sign = vt_low_bits(from) ^ (vt_low_bits(from) >> 1);

	refine_low_bits(bw, op->a, r.value, r.known, from);
	if (copies)
		refine_low_bits(bw, op->a, r.value & copies ? sign : 0, sign, from);
}

static void infer_halves(struct vti_backward *bw, const struct vti_op *op,
			 enum vti_inverse_rule rule, unsigned n)
{
	struct vt_word r = bw->result[0];

	switch (rule) {
	case VTI_INVERSE_HIGH:
		refine_low_bits(bw, op->a, r.value << n, (r.known & vt_low_bits(n)) << n, 2 * n);
		break;
	case VTI_INVERSE_JOIN:
		refine_low_bits(bw, op->b, r.value, r.known, n);
		refine_low_bits(bw, op->a, r.value >> n, r.known >> n, n);
		break;
	case VTI_INVERSE_JOIN128:
		refine_low_bits(bw, op->b, r.value, r.known, n);
		r = bw->result[1];
		refine_low_bits(bw, op->a, r.value, r.known, n);
		break;
	default:
		refine_low_bits(bw, op->a + (rule == VTI_INVERSE_HIGH128), r.value, r.known, n);
		break;
	}
}

static void infer_compared(struct vti_backward *bw, const struct vti_op *op,
			   enum vti_inverse_rule rule, unsigned n)
{
	struct vt_word r = bw->result[0];
	bool holds = r.value & 1;

	if (!(r.known & 1))
		return;
	switch (rule) {
	case VTI_INVERSE_EQ:
	case VTI_INVERSE_NE:
		infer_equal(bw, op->a, op->b, n, holds == (rule == VTI_INVERSE_EQ));
		break;
	case VTI_INVERSE_NEZ:
		infer_equal(bw, op->a, VTI_NO_SLOT, n, !holds);
		break;
	default:
		infer_less(bw, op->a, op->b, n, rule == VTI_INVERSE_LTS || rule == VTI_INVERSE_LES,
			   rule == VTI_INVERSE_LES || rule == VTI_INVERSE_LEU, holds);
		break;
	}
}

void vti_infer_operands(struct vti_backward *bw, const struct vti_op *op)
{
	struct vti_inverse how = vti_inverse_of(op->aux);
	enum vti_inverse_rule rule = how.rule;
	struct vt_word r = bw->result[0];

	switch (rule) {
	case VTI_INVERSE_NONE:
		break;
	case VTI_INVERSE_LOW:
		refine_low_bits(bw, op->a, r.value, r.known, how.bits);
		break;
	case VTI_INVERSE_NOT:
		refine_low_bits(bw, op->a, ~r.value, r.known, how.bits);
		break;
	case VTI_INVERSE_WIDEN_S:
		infer_widened(bw, op, how.bits, how.to);
		break;
	case VTI_INVERSE_AND:
	case VTI_INVERSE_OR:
	case VTI_INVERSE_XOR:
		infer_bitwise(bw, op, rule, how.bits);
		break;
	case VTI_INVERSE_ADD:
	case VTI_INVERSE_SUB:
		infer_sum(bw, op, rule == VTI_INVERSE_SUB, how.bits);
		break;
	case VTI_INVERSE_SHL:
	case VTI_INVERSE_SHR:
		infer_shifted(bw, op, rule == VTI_INVERSE_SHL, how.bits);
		break;
	case VTI_INVERSE_HIGH:
	case VTI_INVERSE_JOIN:
	case VTI_INVERSE_JOIN128:
	case VTI_INVERSE_LOW128:
	case VTI_INVERSE_HIGH128:
		infer_halves(bw, op, rule, how.bits);
		break;
	default:
		infer_compared(bw, op, rule, how.bits);
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

static void infer_from_difference(struct vti_backward *bw, unsigned a, unsigned b, unsigned n,
				  unsigned cond, bool holds)
{
	if (cond == Z)
		infer_equal(bw, a, b, n, holds);
	else if (cond == B || cond == BE)
		infer_less(bw, a, b, n, false, cond == BE, holds);
	else if (cond == L || cond == LE)
		infer_less(bw, a, b, n, true, cond == LE, holds);
}

/* Flags of a result; of logical operations, carry and overflow are 0. */
static void infer_from_result(struct vti_backward *bw, unsigned r, unsigned n, unsigned cond,
			      bool logic, bool holds)
{
	if (cond == Z || (cond == BE && logic))
		infer_equal(bw, r, VTI_NO_SLOT, n, holds);
	else if (cond == S || (cond == L && logic))
		infer_less(bw, r, VTI_NO_SLOT, n, true, false, holds);
	else if (cond == LE && logic)
		infer_less(bw, r, VTI_NO_SLOT, n, true, true, holds);
}

void vti_infer_condition_operands(struct vti_backward *bw, const struct vti_call *call)
{
	struct vt_word cond, op, r;
	unsigned group, n;
	bool holds;

	if (strcmp(call->name, "amd64g_calculate_condition") != 0 || call->nargs != 5)
		return;
	cond = vti_backward_word(bw, call->args[0]);
	op = vti_backward_word(bw, call->args[1]);
	r = bw->result[0];
	if (!vt_word_is_known(cond) || !vt_word_is_known(op) || !(r.known & 1) || op.value == 0)
		return;
	group = (unsigned)((op.value - 1) / 4);
	n = 8u << ((op.value - 1) % 4);
	/* Odd conditions are those before them, negated. */
	holds = (r.value ^ cond.value) & 1;
	cond.value &= 14;
	if (group == OP_SUB)
		infer_from_difference(bw, call->args[2], call->args[3], n, (unsigned)cond.value,
				      holds);
	else if (group == OP_LOGIC || group == OP_INC || group == OP_DEC)
		infer_from_result(bw, call->args[2], n, (unsigned)cond.value, group == OP_LOGIC,
				  holds);
}
