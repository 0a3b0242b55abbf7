/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <float.h>
#include <math.h>
#include <stddef.h>

#include <libvex.h>
#include <libvex_ir.h>

#include "machine/lift/irop_fp.h"

/*
 * A result is known where each machine on which the operands may have met computes it: where the
 * rounding mode is not known, only what is exact; where it is not known whether denormal numbers
 * count as zero, nothing that has to do with one.  Results that are NaN are not known, for which
 * operand's bits survive depends on how the code generator ordered them.
 */

/* MXCSR: Intel SDM volume 1, 10.2.3. */
#define CSR_DEFAULT   0x1f80u /* exceptions masked, to nearest, denormals honoured */
#define CSR_UNDERFLOW 0x10u
#define CSR_INEXACT   0x20u
#define CSR_ROUNDING  13

/* ---- operations ---- */

/*
 * The instructions themselves, in assembly: compilers do not know that they depend on MXCSR and
 * would compute them beforehand, or move them to where it holds something else.
 */
#define OPERATION(name, insn, type, bits)                                                          \
	static uint64_t run_##name(const uint64_t *in)                                             \
	{                                                                                          \
		type a = vti_fp_to_##type(in[0]);                                                  \
		const type b = vti_fp_to_##type(in[1]);                                            \
                                                                                                   \
		__asm__ volatile(insn " %1, %0" : "+x"(a) : "x"(b));                               \
		return vti_fp_from_##type(a);                                                      \
	}                                                                                          \
	static const struct vti_fp_operation name = {run_##name, 2, bits, bits, false};

OPERATION(add_32, "addss", float, 32)
OPERATION(add_64, "addsd", double, 64)
OPERATION(subtract_32, "subss", float, 32)
OPERATION(subtract_64, "subsd", double, 64)
OPERATION(multiply_32, "mulss", float, 32)
OPERATION(multiply_64, "mulsd", double, 64)
OPERATION(divide_32, "divss", float, 32)
OPERATION(divide_64, "divsd", double, 64)

#define ROOT(name, insn, type, bits)                                                               \
	static uint64_t run_##name(const uint64_t *in)                                             \
	{                                                                                          \
		const type a = vti_fp_to_##type(in[0]);                                            \
		type root;                                                                         \
                                                                                                   \
		__asm__ volatile(insn " %1, %0" : "=x"(root) : "x"(a));                            \
		return vti_fp_from_##type(root);                                                   \
	}                                                                                          \
	static const struct vti_fp_operation name = {run_##name, 1, bits, bits, false};

ROOT(root_32, "sqrtss", float, 32)
ROOT(root_64, "sqrtsd", double, 64)

/* Through volatile variables, so that the call stays between the accesses to MXCSR. */
static uint64_t run_fused_32(const uint64_t *in)
{
	volatile float a = vti_fp_to_float(in[0]);
	volatile float result = fmaf(a, vti_fp_to_float(in[1]), vti_fp_to_float(in[2]));

	return vti_fp_from_float(result);
}
static const struct vti_fp_operation fused_32 = {run_fused_32, 3, 32, 32, true};

static uint64_t run_fused_64(const uint64_t *in)
{
	volatile double a = vti_fp_to_double(in[0]);
	volatile double result = fma(a, vti_fp_to_double(in[1]), vti_fp_to_double(in[2]));

	return vti_fp_from_double(result);
}
static const struct vti_fp_operation fused_64 = {run_fused_64, 3, 64, 64, true};

static inline void set_csr(uint32_t csr)
{
	__asm__ volatile("ldmxcsr %0" : : "m"(csr) : "memory");
}

static inline uint32_t get_csr(void)
{
	uint32_t csr;

	__asm__ volatile("stmxcsr %0" : "=m"(csr) : : "memory");
	return csr;
}

static uint64_t run_csr(const struct vti_fp_operation *op, const uint64_t *in, unsigned rounding,
			int zeroes, uint32_t *flags)
{
	set_csr(CSR_DEFAULT | rounding << CSR_ROUNDING | (uint32_t)zeroes);
	const uint64_t result = op->run(in);

	*flags = get_csr();
	set_csr(CSR_DEFAULT);
	return result;
}

/*
 * Whether a result that was computed honouring denormal numbers might be flushed to zero.  What was
 * tiny may have been rounded to the smallest number that is not denormal: an instruction says so.
 */
static bool may_be_flushed(const struct vti_fp_operation *op, uint64_t result, uint32_t flags)
{
	const uint64_t magnitude = vti_fp_magnitude(result, op->out_bits);

	return (flags & CSR_UNDERFLOW) != 0 || vti_fp_is_denormal(result, op->out_bits) ||
	       (op->library && magnitude == vti_fp_fraction_mask(op->out_bits) + 1);
}

/* Operands as they are taken. False: that is not known. */
static bool take_fp_operands(const struct vti_fpmode *mode, const struct vti_fp_operation *op,
			     const uint64_t *in, uint64_t taken[3])
{
	for (unsigned i = 0; i < op->count; i++) {
		taken[i] = in[i];
		if (op->in_bits != 0 && !vti_fp_take(mode, &taken[i], op->in_bits))
			return false;
	}
	return true;
}

struct vt_word vti_fp_compute(const struct vti_fpmode *mode, int rounding,
			      const struct vti_fp_operation *op, const uint64_t *in)
{
	const struct vt_word unknown = vt_word_unknown(op->out_bits);
	const int zeroes = mode->zeroes < 0 || op->library ? 0 : mode->zeroes;
	const unsigned round = rounding < 0 ? 0 : (unsigned)rounding;
	uint64_t taken[3] = {0};
	uint32_t flags = 0;
	uint64_t result;

	if (!take_fp_operands(mode, op, in, taken))
		return unknown;
	if (round == 0 && mode->zeroes == 0 && rounding >= 0)
		result = op->run(taken);
	else
		result = run_csr(op, taken, round, zeroes, &flags);
	if (vti_fp_is_nan(result, op->out_bits))
		return unknown;
	if (mode->zeroes != zeroes && (mode->zeroes & VTI_MXCSR_FTZ) != 0 &&
	    may_be_flushed(op, result, flags))
		return unknown;
	if (rounding < 0) {
		if ((flags & CSR_INEXACT) != 0)
			return unknown;
		/* x - x is -0 if rounded down, though nothing is lost. */
		if (vti_fp_magnitude(result, op->out_bits) == 0 &&
		    run_csr(op, taken, VTI_ROUND_DOWN, zeroes, &flags) != result)
			return unknown;
	}
	return vt_word_of(result);
}

/* Lane i of what `op` makes of vectors. */
void vti_fp_lane(const struct vti_fpmode *mode, int rounding, const struct vti_fp_operation *op,
		 struct vt_word *dst, const struct vt_word *const *args, unsigned i)
{
	const unsigned in_bits = op->in_bits == 0 ? 32 : op->in_bits;
	struct vt_word result = vt_word_unknown(op->out_bits);
	uint64_t in[3] = {0};
	bool known = true;

	for (unsigned k = 0; k < op->count; k++) {
		const struct vt_word x = vti_fp_get_lane(args[k], i, in_bits);

		known = known && vt_word_is_known(x);
		in[k] = x.value;
	}
	if (known)
		result = vti_fp_compute(mode, rounding, op, in);
	vti_fp_put_lane(dst, i, op->out_bits, result);
}

/*
 * VEX's front end gives these operators "to nearest" whatever MXCSR says, so it is not their first
 * operand that decides.
 */
#define ARITHMETIC(op, operation, lanes, words)                                                    \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		for (unsigned i = 0; i < (lanes); i++)                                             \
			vti_fp_lane(mode, mode->rounding, &(operation), dst, args + 1, i);         \
	}
#define SQUARE_ROOT(op, operation, lanes, words) ARITHMETIC(op, operation, lanes, words)
#define SQUARE_ROOT_ALONE(op, operation, lanes, words)                                             \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		for (unsigned i = 0; i < (lanes); i++)                                             \
			vti_fp_lane(mode, mode->rounding, &(operation), dst, args, i);             \
	}
#define LOWEST(op, operation)                                                                      \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		dst[0] = args[0][0];                                                               \
		dst[1] = args[0][1];                                                               \
		vti_fp_lane(mode, mode->rounding, &(operation), dst, args, 0);                     \
	}
#define LOWEST_ROOT(op, operation) LOWEST(op, operation)

/* ---- comparisons ---- */

enum {
	LESS = 1,
	EQUAL = 2,
	GREATER = 4,
	UNORDERED = 8,
};

static uint64_t flush_denormal(uint64_t x, unsigned bits)
{
	static const struct vti_fpmode zero = {0, VTI_MXCSR_DAZ};

	vti_fp_take(&zero, &x, bits);
	return x;
}

static unsigned relate_numbers(uint64_t a, uint64_t b, unsigned bits)
{
	if (vti_fp_is_nan(a, bits) || vti_fp_is_nan(b, bits))
		return UNORDERED;
	const double x = bits == 32 ? (double)vti_fp_to_float(a) : vti_fp_to_double(a);
	const double y = bits == 32 ? (double)vti_fp_to_float(b) : vti_fp_to_double(b);

	return x < y ? LESS : x > y ? GREATER : EQUAL;
}

/* One of the relations, or 0: not known. */
static unsigned relate_words(const struct vti_fpmode *mode, struct vt_word a, struct vt_word b,
			     unsigned bits)
{
	if (!vt_word_is_known(a) || !vt_word_is_known(b))
		return 0;
	const unsigned honoured = relate_numbers(a.value, b.value, bits);
	const unsigned flushed =
		relate_numbers(flush_denormal(a.value, bits), flush_denormal(b.value, bits), bits);

	if (mode->zeroes < 0)
		return honoured == flushed ? honoured : 0;
	return (mode->zeroes & VTI_MXCSR_DAZ) ? flushed : honoured;
}

#define COMPARE(op, bits, lanes, relations)                                                        \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		dst[0] = args[0][0];                                                               \
		dst[1] = args[0][1];                                                               \
		for (unsigned i = 0; i < (lanes); i++) {                                           \
			const unsigned how =                                                       \
				relate_words(mode, vti_fp_get_lane(args[0], i, bits),              \
					     vti_fp_get_lane(args[1], i, bits), bits);             \
			const uint64_t holds = how & (relations) ? vt_low_bits(bits) : 0;          \
                                                                                                   \
			vti_fp_put_lane(dst, i, bits,                                              \
					how == 0 ? vt_word_unknown(bits) : vt_word_of(holds));     \
		}                                                                                  \
	}

/*
 * As the machine chooses: the second operand unless the first is surely the better one.  Whether
 * what was taken as zero is given back as zero, no manual says.
 */
static struct vt_word choose_operand(const struct vti_fpmode *mode, struct vt_word a,
				     struct vt_word b, unsigned bits, unsigned better)
{
	const unsigned how = relate_words(mode, a, b, bits);

	if (how == 0 || ((mode->zeroes & VTI_MXCSR_DAZ) != 0 &&
			 (vti_fp_is_denormal(a.value, bits) || vti_fp_is_denormal(b.value, bits))))
		return vt_word_unknown(bits);
	return how == better ? a : b;
}

#define CHOICE(op, bits, lanes, words, better)                                                     \
	VTI_OPERATOR(op)                                                                           \
	{                                                                                          \
		memcpy(dst, args[0], (words) * sizeof(*dst));                                      \
		for (unsigned i = 0; i < (lanes); i++)                                             \
			vti_fp_put_lane(dst, i, bits,                                              \
					choose_operand(mode, vti_fp_get_lane(args[0], i, bits),    \
						       vti_fp_get_lane(args[1], i, bits), bits,    \
						       better));                                   \
	}

#include "machine/lift/irop_float.def"
#undef ARITHMETIC
#undef SQUARE_ROOT
#undef SQUARE_ROOT_ALONE
#undef LOWEST
#undef LOWEST_ROOT
#undef CHOICE
#undef COMPARE

VTI_OPERATOR(CmpF64)
{
	const unsigned how = relate_words(mode, *args[0], *args[1], 64);

	*dst = how == 0 ? vt_word_unknown(32)
			: vt_word_of(how == UNORDERED ? Ircr_UN
				     : how == LESS    ? Ircr_LT
				     : how == EQUAL   ? Ircr_EQ
						      : Ircr_GT);
}

/* ---- signs ---- */

VTI_OPERATOR(NegF64)
{
	*dst = vti_word_make(args[0]->value ^ UINT64_C(1) << 63, args[0]->known, 64);
}

VTI_OPERATOR(NegF32)
{
	*dst = vti_word_make(args[0]->value ^ UINT64_C(1) << 31, args[0]->known, 32);
}

VTI_OPERATOR(AbsF64)
{
	*dst = vti_word_make(args[0]->value & INT64_MAX, args[0]->known | UINT64_C(1) << 63, 64);
}

/*
 * ---- fused multiplication and addition ----
 *
 * How to round is told as by ARITHMETIC, but that an operand that is unknown asks for what holds
 * however it is rounded.
 */

static int fused_rounding(const struct vti_fpmode *mode, struct vt_word operand)
{
	return vt_word_is_known(operand) ? mode->rounding : -1;
}

VTI_OPERATOR(MAddF32)
{
	vti_fp_lane(mode, fused_rounding(mode, *args[0]), &fused_32, dst, args + 1, 0);
	dst[0] = vti_word_make(dst[0].value, dst[0].known, 32);
}

VTI_OPERATOR(MAddF64)
{
	vti_fp_lane(mode, fused_rounding(mode, *args[0]), &fused_64, dst, args + 1, 0);
}

#define ARITHMETIC(op, operation, lanes, words)	       VTI_IROP_SLOT(op) = {op_##op, 3, words},
#define SQUARE_ROOT(op, operation, lanes, words)       VTI_IROP_SLOT(op) = {op_##op, 2, words},
#define SQUARE_ROOT_ALONE(op, operation, lanes, words) VTI_IROP_SLOT(op) = {op_##op, 1, words},
#define LOWEST(op, operation)			       VTI_IROP_SLOT(op) = {op_##op, 2, 2},
#define LOWEST_ROOT(op, operation)		       VTI_IROP_SLOT(op) = {op_##op, 1, 2},
#define CHOICE(op, bits, lanes, words, better)	       VTI_IROP_SLOT(op) = {op_##op, 2, words},
#define COMPARE(op, bits, lanes, relations)	       VTI_IROP_SLOT(op) = {op_##op, 2, 2},

const struct vti_irop vti_irop_floats[VTI_IROP_COUNT] = {
#include "machine/lift/irop_float.def"
	VTI_IROP_SLOT(CmpF64) = {op_CmpF64, 2, 1},   VTI_IROP_SLOT(NegF32) = {op_NegF32, 1, 1},
	VTI_IROP_SLOT(NegF64) = {op_NegF64, 1, 1},   VTI_IROP_SLOT(AbsF64) = {op_AbsF64, 1, 1},
	VTI_IROP_SLOT(MAddF32) = {op_MAddF32, 4, 1}, VTI_IROP_SLOT(MAddF64) = {op_MAddF64, 4, 1},
};

VTI_X87_OPERATOR(CmpF64)

const struct vti_irop vti_irop_x87_compare = {x87_CmpF64, 2, 1};
