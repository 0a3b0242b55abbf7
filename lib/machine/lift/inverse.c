/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/lift/inverse.h"

#include <libvex_ir.h>

#define WIDEN(op, bits, to)                                                                        \
	case Iop_##op:                                                                             \
		return (struct vti_inverse)                                                        \
		{                                                                                  \
			VTI_INVERSE_WIDEN_S, bits, to                                              \
		}
#define ONE(op, rule, bits)                                                                        \
	case Iop_##op:                                                                             \
		return (struct vti_inverse)                                                        \
		{                                                                                  \
			VTI_INVERSE_##rule, bits, 0                                                \
		}
#define FOUR(op, rule)                                                                             \
	ONE(op##8, rule, 8);                                                                       \
	ONE(op##16, rule, 16);                                                                     \
	ONE(op##32, rule, 32);                                                                     \
	ONE(op##64, rule, 64)

struct vti_inverse vti_inverse_of(unsigned irop)
{
	switch (irop) {
		FOUR(Add, ADD);
		FOUR(Sub, SUB);
		FOUR(Or, OR);
		FOUR(And, AND);
		FOUR(Xor, XOR);
		FOUR(Not, NOT);
		FOUR(Shl, SHL);
		FOUR(Shr, SHR);
		FOUR(Sar, SHR);
		FOUR(CmpEQ, EQ);
		FOUR(CmpNE, NE);
		FOUR(CasCmpEQ, EQ);
		FOUR(CasCmpNE, NE);
		FOUR(ExpCmpNE, NE);
		FOUR(CmpNEZ, NEZ);
		WIDEN(1Sto8, 1, 8);
		WIDEN(1Sto16, 1, 16);
		WIDEN(1Sto32, 1, 32);
		WIDEN(1Sto64, 1, 64);
		ONE(Not1, NOT, 1);
		ONE(And1, AND, 1);
		ONE(Or1, OR, 1);
		ONE(CmpLT32S, LTS, 32);
		ONE(CmpLT64S, LTS, 64);
		ONE(CmpLE32S, LES, 32);
		ONE(CmpLE64S, LES, 64);
		ONE(CmpLT32U, LTU, 32);
		ONE(CmpLT64U, LTU, 64);
		ONE(CmpLE32U, LEU, 32);
		ONE(CmpLE64U, LEU, 64);
		ONE(1Uto8, LOW, 1);
		ONE(1Uto32, LOW, 1);
		ONE(1Uto64, LOW, 1);
		ONE(32to1, LOW, 1);
		ONE(64to1, LOW, 1);
		ONE(8Uto16, LOW, 8);
		ONE(8Uto32, LOW, 8);
		ONE(8Uto64, LOW, 8);
		ONE(16Uto32, LOW, 16);
		ONE(16Uto64, LOW, 16);
		ONE(32Uto64, LOW, 32);
		WIDEN(8Sto16, 8, 16);
		WIDEN(8Sto32, 8, 32);
		WIDEN(8Sto64, 8, 64);
		WIDEN(16Sto32, 16, 32);
		WIDEN(16Sto64, 16, 64);
		WIDEN(32Sto64, 32, 64);
		ONE(16to8, LOW, 8);
		ONE(32to8, LOW, 8);
		ONE(64to8, LOW, 8);
		ONE(32to16, LOW, 16);
		ONE(64to16, LOW, 16);
		ONE(64to32, LOW, 32);
		ONE(16HIto8, HIGH, 8);
		ONE(32HIto16, HIGH, 16);
		ONE(64HIto32, HIGH, 32);
		ONE(8HLto16, JOIN, 8);
		ONE(16HLto32, JOIN, 16);
		ONE(32HLto64, JOIN, 32);
		ONE(64HLto128, JOIN128, 64);
		ONE(64HLtoV128, JOIN128, 64);
		ONE(128to64, LOW128, 64);
		ONE(V128to64, LOW128, 64);
		ONE(128HIto64, HIGH128, 64);
		ONE(V128HIto64, HIGH128, 64);
		ONE(ReinterpF64asI64, LOW, 64);
		ONE(ReinterpI64asF64, LOW, 64);
		ONE(ReinterpF32asI32, LOW, 32);
		ONE(ReinterpI32asF32, LOW, 32);
	default:
		return (struct vti_inverse){VTI_INVERSE_NONE, 0, 0};
	}
}

enum vti_compare vti_compare_of(const struct vti_op *op, unsigned *bits)
{
	struct vti_inverse how = vti_inverse_of(op->aux);

	*bits = how.bits;
	switch (how.rule) {
	case VTI_INVERSE_LOW:
		return how.bits == 1 ? VTI_COMPARE_BIT : VTI_COMPARE_OTHER;
	case VTI_INVERSE_NOT:
		return how.bits == 1 ? VTI_COMPARE_NOT : VTI_COMPARE_OTHER;
	case VTI_INVERSE_EQ:
		return VTI_COMPARE_EQUAL;
	case VTI_INVERSE_NE:
		return VTI_COMPARE_DIFFERENT;
	case VTI_INVERSE_NEZ:
		return VTI_COMPARE_ZERO;
	case VTI_INVERSE_LTS:
	case VTI_INVERSE_LES:
	case VTI_INVERSE_LTU:
	case VTI_INVERSE_LEU:
		return VTI_COMPARE_ORDER;
	default:
		return VTI_COMPARE_OTHER;
	}
}
