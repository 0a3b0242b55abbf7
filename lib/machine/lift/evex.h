/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_EVEX_H
#define VT_MACHINE_LIFT_EVEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libvex_guest_amd64.h>

#include "machine/lift/word.h"

/*
 * AVX-512, which VEX does not know: integer and moving instructions with the EVEX prefix, and those
 * on mask registers.  One operation of flat code, VTI_EVEX, does what such an instruction computes;
 * addresses, loads, plain stores and flags are flat code around it.  What is not decoded here stays
 * unlifted.  Manual: Intel SDM volume 2.  Private to lib/machine and its tests.
 */

/* ---- the state behind VEX's guest state, with one word for each 8 bytes like it ---- */

/* VEX's state, and what wide reads may extend behind it. */
#define VTI_MASKS_AT	(sizeof(VexGuestAMD64State) + 32) /* k0 to k7 */
#define VTI_HIGH_AT	(VTI_MASKS_AT + 8 * 8)		  /* upper halves of zmm0 to zmm15 */
#define VTI_UPPER_AT	(VTI_HIGH_AT + 16 * 32)		  /* zmm16 to zmm31 */
#define VTI_STATE_BYTES (VTI_UPPER_AT + 16 * 64)

#define VTI_ZMM_WORDS 8

/* Returns the place of 8 bytes, number 0 to 7, of vector register 0 to 31. */
static inline unsigned vti_vector_at(unsigned reg, unsigned word)
{
	size_t at = reg >= 16  ? VTI_UPPER_AT + 64 * (size_t)(reg - 16)
		    : word < 4 ? offsetof(VexGuestAMD64State, guest_YMM0) + 32 * (size_t)reg
			       : VTI_HIGH_AT + 32 * (size_t)reg - 32;

	return (unsigned)(at + 8 * (size_t)word);
}

static inline unsigned vti_mask_at(unsigned mask)
{
	return (unsigned)(VTI_MASKS_AT + 8 * (size_t)mask);
}

/* ---- an instruction ---- */

/* What it computes, of sources 0, 1, 2 in the order of the assembly, without the mask. */
enum vti_evex_family {
	VTI_EVEX_NONE,
	VTI_EVEX_MOVE,	      /* source 0; narrower ones are extended with zeros */
	VTI_EVEX_SCALAR,      /* the lowest element of source 1, the rest of 16 bytes of source 0 */
	VTI_EVEX_BINARY,      /* enum vti_evex_binary of each element */
	VTI_EVEX_UNARY,	      /* enum vti_evex_unary of each element of source 0 */
	VTI_EVEX_COMPARE,     /* a bit for each element; predicate in imm */
	VTI_EVEX_TEST,	      /* likewise: source 0 and source 1 is not zero; op 1: is zero */
	VTI_EVEX_TERNARY,     /* imm is the truth table; of the destination and two sources */
	VTI_EVEX_BROADCAST,   /* the lowest `part` bytes of source 0, over and over */
	VTI_EVEX_SHUFFLE,     /* bytes within 16: vpshufb */
	VTI_EVEX_SHUFFLE_D,   /* four of 4 bytes within 16, by imm */
	VTI_EVEX_SHUFFLE_128, /* of 16 bytes, by imm, lower half of source 0, upper of source 1 */
	VTI_EVEX_UNPACK,      /* interleaves the lower (op 1: upper) halves of 16 bytes */
	VTI_EVEX_ALIGN,	      /* elements of source 0:source 1 from imm on, within `part` bytes */
	VTI_EVEX_PERMUTE,     /* elements of source 1 by indices in source 0 */
	VTI_EVEX_PERMUTE_2,   /* of two tables; sources: indices, tables */
	VTI_EVEX_PERMUTE_Q,   /* four of 8 bytes within 32, by imm */
	VTI_EVEX_SHIFT_BYTES, /* within 16, by imm; op 1: right */
	VTI_EVEX_SHIFT,	      /* enum vti_evex_shift by imm */
	VTI_EVEX_SHIFT_COUNT, /* by the lowest 8 bytes of source 1 */
	VTI_EVEX_SHIFT_EACH,  /* by the elements of source 1 */
	VTI_EVEX_EXTRACT,     /* part number imm of `part` bytes of source 0 */
	VTI_EVEX_INSERT,      /* source 0, part number imm of `part` bytes from source 1 */
	VTI_EVEX_EXTEND,      /* elements of `part` bytes to `element`; op 1: signed */
	VTI_EVEX_TRUNCATE,    /* elements of `part` bytes to `element` */
	VTI_EVEX_BLEND,	      /* source 1 where the mask says so, else source 0 */
	VTI_EVEX_COMPRESS,  /* elements of source 0 where the mask says so, to the lowest places */
	VTI_EVEX_EXPAND,    /* back */
	VTI_EVEX_FROM_MASK, /* elements of ones or zeros */
	VTI_EVEX_TO_MASK,   /* the sign of each element */
	VTI_EVEX_MASKS,	    /* enum vti_evex_masks of mask registers, of 8 * element bits */
};

enum vti_evex_binary {
	VTI_BINARY_AND,
	VTI_BINARY_ANDN,
	VTI_BINARY_OR,
	VTI_BINARY_XOR,
	VTI_BINARY_ADD,
	VTI_BINARY_SUB,
	VTI_BINARY_MUL,
	VTI_BINARY_MINU,
	VTI_BINARY_MAXU,
	VTI_BINARY_MINS,
	VTI_BINARY_MAXS,
	VTI_BINARY_ADDUS, /* saturated */
	VTI_BINARY_SUBUS,
};

enum vti_evex_unary { VTI_UNARY_ABS, VTI_UNARY_LEADING, VTI_UNARY_COUNT };

enum vti_evex_shift {
	VTI_SHIFT_LEFT,
	VTI_SHIFT_RIGHT,
	VTI_SHIFT_SIGNED,
	VTI_ROTATE_LEFT,
	VTI_ROTATE_RIGHT
};

enum vti_evex_masks {
	VTI_MASKS_MOVE,
	VTI_MASKS_NOT,
	VTI_MASKS_AND,
	VTI_MASKS_ANDN,
	VTI_MASKS_OR,
	VTI_MASKS_XOR,
	VTI_MASKS_XNOR,
	VTI_MASKS_ADD,
	VTI_MASKS_UNPACK, /* the lower half of `element` bytes of each */
	VTI_MASKS_LEFT,
	VTI_MASKS_RIGHT,
	VTI_MASKS_ORTEST, /* result: the flags */
	VTI_MASKS_TEST,
};

/* Where an operand is. */
enum vti_evex_where {
	VTI_EVEX_NOWHERE,
	VTI_EVEX_VECTOR,
	VTI_EVEX_MASK,
	VTI_EVEX_GENERAL, /* in flat code's slot */
	VTI_EVEX_MEMORY,  /* in the slot, too */
	VTI_EVEX_FLAGS,
};

struct vti_evex_operand {
	uint8_t where;
	uint8_t reg;  /* of a vector or mask: 0 to 31; general: enum vt_reg */
	uint8_t size; /* bytes */
};

#define VTI_EVEX_SOURCES 3

struct vti_evex {
	uint8_t family;
	uint8_t op;
	uint8_t element; /* bytes of an element of the result, by which it is masked */
	uint8_t part;
	uint8_t size; /* bytes of the result's elements; above them are zeros */
	uint8_t imm;
	uint8_t mask; /* mask register; 0: all elements */
	bool zeroing; /* masked elements become 0; else they stay */
	bool repeats; /* what is in memory is one element, for all of them */
	uint8_t nsources;
	struct vti_evex_operand to;
	struct vti_evex_operand sources[VTI_EVEX_SOURCES];
};

/*
 * Decodes an instruction that VEX does not know.  Returns false if it is none of these.
 */
bool vti_evex_decode(const uint8_t *bytes, size_t size, struct vti_evex *e);

/* Returns which mask registers an instruction writes, bit n for k<n>. */
unsigned vti_evex_masks_written(const uint8_t *bytes, size_t size);

/*
 * Computes the result without the mask's effect on it, from sources of 8 words each.  A result in
 * a mask or general register, or the flags, is out[0].
 */
void vti_evex_compute(const struct vti_evex *e, const struct vt_word in[][VTI_ZMM_WORDS],
		      struct vt_word mask, struct vt_word out[VTI_ZMM_WORDS]);

/* Replaces elements that the mask leaves out by those of `old`, or 0. */
void vti_evex_merge(const struct vti_evex *e, struct vt_word mask,
		    const struct vt_word old[VTI_ZMM_WORDS], struct vt_word out[VTI_ZMM_WORDS]);

#endif
