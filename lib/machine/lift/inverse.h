/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_INVERSE_H
#define VT_MACHINE_LIFT_INVERSE_H

#include <stdint.h>

#include "machine/lift/flat.h"

/* Properties of VEX's operators by which operands are inferred from results. */

/* How an operator's operands follow from its result. */
enum vti_inverse_rule {
	VTI_INVERSE_NONE,
	VTI_INVERSE_LOW,     /* operand's lowest `bits` bits are the result's */
	VTI_INVERSE_WIDEN_S, /* and the result's others are all its highest bit */
	VTI_INVERSE_HIGH,    /* operand's bits from `bits` on are the result's */
	VTI_INVERSE_JOIN,    /* of a high and a low half of `bits` bits */
	VTI_INVERSE_JOIN128,
	VTI_INVERSE_LOW128, /* the lower word of two */
	VTI_INVERSE_HIGH128,
	VTI_INVERSE_NOT,
	VTI_INVERSE_AND,
	VTI_INVERSE_OR,
	VTI_INVERSE_XOR,
	VTI_INVERSE_ADD,
	VTI_INVERSE_SUB,
	VTI_INVERSE_SHL,
	VTI_INVERSE_SHR,
	VTI_INVERSE_EQ,
	VTI_INVERSE_NE,
	VTI_INVERSE_NEZ,
	VTI_INVERSE_LTS,
	VTI_INVERSE_LES,
	VTI_INVERSE_LTU,
	VTI_INVERSE_LEU,
};

struct vti_inverse {
	uint8_t rule;
	uint8_t bits;
	uint8_t to; /* bits of the result, of VTI_INVERSE_WIDEN_S */
};

/* Returns the inverse of an IROp. */
struct vti_inverse vti_inverse_of(unsigned irop);

/* Kinds of operators with a result of one bit. */
enum vti_compare {
	VTI_COMPARE_OTHER,
	VTI_COMPARE_BIT, /* copies a bit */
	VTI_COMPARE_NOT,
	VTI_COMPARE_EQUAL,
	VTI_COMPARE_DIFFERENT,
	VTI_COMPARE_ZERO, /* whether the operand is not 0 */
	VTI_COMPARE_ORDER,
};

/* Returns the kind of an operation; *bits becomes the width of its operands. */
enum vti_compare vti_compare_of(const struct vti_op *op, unsigned *bits);

#endif
