/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_BUILD_H
#define VT_MACHINE_LIFT_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libvex_basictypes.h>

#include <libvex_ir.h>

#include "base/buf.h"
#include "machine/insn/insn.h"
#include "machine/lift/flat.h"

/*
 * Flat code in the making.  Private to this folder.
 *
 * Slots are given out freely here; vti_build_finish() throws out what nobody needs, lets
 * temporaries whose lives do not meet share a slot, and packs everything into one block of memory.
 */

/* How many words each operand of an operation has; 0: the field is no slot. */
struct vti_widths {
	uint8_t dst, a, b, c, d;
};

struct vti_build_op {
	struct vti_op op;
	struct vti_widths words;
};

struct vti_build_slot {
	struct vt_word preset;
	uint16_t base; /* first slot of the value that this one belongs to */
	uint8_t words; /* of that value */
	uint8_t bits;  /* if not 0: above them are zeros */
	bool constant;
};

struct vti_build_insn {
	uint32_t offset;
	uint32_t first;
	struct vt_facts facts;
};

struct vti_build {
	uint64_t addr;
	const uint8_t *bytes; /* of the code; borrowed */
	uint32_t capture;
	uint32_t insn;	  /* number of the one at hand */
	uint32_t ninsns;  /* in insns[] */
	uint32_t limit;	  /* where the piece at hand ends, as such a number */
	uint32_t length;  /* of all of them, in bytes */
	uint32_t emitted; /* of them are in ops[] */
	uint32_t nunlifted;
	uint32_t nunknown; /* operators of which the result is always unknown */
	bool bad;
	bool no_code;
	bool request; /* VEX took the next instructions for a request to Valgrind */
	struct vti_build_insn insns[VTI_LIFT_INSNS];
	struct vti_build_op *ops;
	size_t nops;
	size_t ops_cap;
	struct vti_build_slot *slots;
	size_t nslots;
	size_t slots_cap;
	struct vt_buf more; /* structures behind `imm`, which is their offset here */
	/* Registers that the instruction at hand has written so far, for VT_WHAT_RESULT. */
	uint16_t written;
	uint16_t written_vectors;
	uint8_t extent[16]; /* bytes of each vector register, from its lowest */
	/* What results of the instruction at hand were before it, where machine/lift/corrections.c
	 * needs it. */
	uint16_t old[VT_FACT_RESULTS];
	bool failed; /* memory ran out */
	bool full;   /* more slots than a number of 16 bits can tell apart */
};

/* What is dropped at an error is the caller's to see: in failed and full. */
uint16_t vti_build_temp(struct vti_build *b, unsigned words);
/* Notes that a temporary of one word never has more than so many bits. */
void vti_build_narrow(struct vti_build *b, uint16_t slot, unsigned bits);
uint16_t vti_build_const(struct vti_build *b, const struct vt_word *value, unsigned words);
uint16_t vti_build_u64(struct vti_build *b, uint64_t value);
uint16_t vti_build_unknown(struct vti_build *b, unsigned size);
void vti_build_add(struct vti_build *b, struct vti_op op, struct vti_widths words);
/* The same with a copy of a structure behind `imm`. */
void vti_build_add_with(struct vti_build *b, struct vti_op op, struct vti_widths words,
			const void *data, size_t size);
void vti_build_free(struct vti_build *b);

/* Of the instruction at hand. */
static inline const struct vt_facts *vti_at_hand(const struct vti_build *b)
{
	return &b->insns[b->insn].facts;
}

static inline uint64_t vti_address(const struct vti_build *b)
{
	return b->addr + b->insns[b->insn].offset;
}

/* ---- operations ---- */

/* The words that a value of some type takes. */
unsigned vti_type_words(IRType type);

/* VTI_GET8 for VTI_GET1 and 8, and so on: the operation of a family for a size of 1 to 32. */
unsigned vti_sized(unsigned op, unsigned size);

/* An operator's result of type `type`, from slots of so many words; from two of one word. */
uint16_t vti_emit_operator(struct vti_build *b, IROp op, IRType type, const uint16_t *args,
			   const uint8_t *words, unsigned nargs);
uint16_t vti_emit_binary(struct vti_build *b, IROp op, IRType type, uint16_t x, uint16_t y);
uint16_t vti_emit_unknown(struct vti_build *b, IRType type);
/* What holds for both when the condition is unknown. */
uint16_t vti_emit_choice(struct vti_build *b, unsigned words, uint16_t by, uint16_t yes,
			 uint16_t no);
/* `size` bytes of the guest state, read and written. */
uint16_t vti_emit_get(struct vti_build *b, unsigned offset, unsigned size);
void vti_emit_put(struct vti_build *b, unsigned offset, unsigned size, uint16_t slot);
void vti_emit_end(struct vti_build *b, uint16_t to, IRJumpKind kind, bool turn);

/* Starts the instruction that follows, with what is captured in front of it. */
void vti_emit_begin(struct vti_build *b);

/* Where a general or vector register is in the guest state; false: it is another one. */
bool vti_find_register(unsigned reg, unsigned *offset);

/* ---- what is captured ---- */

void vti_capture(struct vti_build *b, enum vt_what what, unsigned reg, uint16_t slot,
		 unsigned size);
/* The same where `guard` is 1 (VTI_NO_SLOT: always); elsewhere it is unknown. */
void vti_capture_if(struct vti_build *b, uint16_t guard, enum vt_what what, uint16_t slot,
		    unsigned size);
/* Notes that the guest state was written. */
void vti_capture_put(struct vti_build *b, unsigned offset, unsigned size, bool is_const);
/* Captures the registers noted so far, and forgets them. */
void vti_capture_results(struct vti_build *b);
void vti_capture_args(struct vti_build *b);

/* What an instruction that VEX does not know leaves. */
void vti_capture_unlifted(struct vti_build *b);

/* ---- machine/lift/finish.c ---- */

/* The block; NULL when memory ran out. */
struct vti_block *vti_build_finish(struct vti_build *b);

#endif
