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
 * Builds flat code.  Private to this folder.
 *
 * Here, each temporary gets its own slot.  vti_build_finish() removes unused operations, lets
 * temporaries with disjoint lifetimes share slots, and copies everything to one block of memory.
 */

/* The number of words of each operand of an operation; 0: the field is no slot. */
struct vti_widths {
	uint8_t dst, a, b, c, d;
};

struct vti_build_op {
	struct vti_op op;
	struct vti_widths words;
};

struct vti_build_slot {
	struct vt_word preset;
	uint16_t base; /* first slot of its value */
	uint8_t words; /* of that value */
	uint8_t bits;  /* if not 0: the bits above are zeros */
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
	uint32_t insn;	  /* number of the current instruction */
	uint32_t ninsns;  /* in insns[] */
	uint32_t limit;	  /* number of the instruction at which the current piece ends */
	uint32_t length;  /* bytes of all instructions */
	uint32_t emitted; /* instructions in ops[] */
	uint32_t nunlifted;
	uint32_t nunknown; /* operators whose result is always unknown */
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
	/* Registers that the current instruction has written so far, for VT_WHAT_RESULT. */
	uint16_t written;
	uint16_t written_vectors;
	uint8_t extent[16]; /* bytes of each vector register, from its lowest */
	uint16_t cleared;   /* bit n: the block has cleared the upper half of zmm<n> */
	/* Previous values of the current instruction's results, where corrections.c needs them. */
	uint16_t old[VT_FACT_RESULTS];
	bool failed; /* memory ran out */
	bool full;   /* more slots than a number of 16 bits can identify */
};

/* On errors, these functions set b->failed or b->full, and what they add is incomplete. */
uint16_t vti_build_temp(struct vti_build *b, unsigned words);
/* Notes that a temporary of one word has zeros above its lowest `bits` bits. */
void vti_build_narrow(struct vti_build *b, uint16_t slot, unsigned bits);
uint16_t vti_build_const(struct vti_build *b, const struct vt_word *value, unsigned words);
uint16_t vti_build_u64(struct vti_build *b, uint64_t value);
uint16_t vti_build_unknown(struct vti_build *b, unsigned size);
void vti_build_add(struct vti_build *b, struct vti_op op, struct vti_widths words);
/* Does the same with a copy of a structure as `imm`. */
void vti_build_add_with(struct vti_build *b, struct vti_op op, struct vti_widths words,
			const void *data, size_t size);
void vti_build_free(struct vti_build *b);

/* Return data of the current instruction. */
static inline const struct vt_facts *vti_at_hand(const struct vti_build *b)
{
	return &b->insns[b->insn].facts;
}

static inline uint64_t vti_address(const struct vti_build *b)
{
	return b->addr + b->insns[b->insn].offset;
}

/* ---- operations ---- */

/* Returns the number of words of a type. */
unsigned vti_type_words(IRType type);

/* Returns the operation of a family for a size of 1 to 32: VTI_GET8 for VTI_GET1 and 8. */
unsigned vti_sized(unsigned op, unsigned size);

/* Emit an operator with a result of `type`, from slots of words[i] words; from two of one word. */
uint16_t vti_emit_operator(struct vti_build *b, IROp op, IRType type, const uint16_t *args,
			   const uint8_t *words, unsigned nargs);
uint16_t vti_emit_binary(struct vti_build *b, IROp op, IRType type, uint16_t x, uint16_t y);
uint16_t vti_emit_unknown(struct vti_build *b, IRType type);
/* Emits a choice; if the condition is unknown, only bits that are equal in both are known. */
uint16_t vti_emit_choice(struct vti_build *b, unsigned words, uint16_t by, uint16_t yes,
			 uint16_t no);
/* Emit a read and a write of `size` bytes of the guest state. */
uint16_t vti_emit_get(struct vti_build *b, unsigned offset, unsigned size);
void vti_emit_put(struct vti_build *b, unsigned offset, unsigned size, uint16_t slot);
void vti_emit_end(struct vti_build *b, uint16_t to, IRJumpKind kind, bool transfer);

/* Begins the next instruction, with the captures before it. */
void vti_emit_begin(struct vti_build *b);

/* Sets *offset to the place of a general or vector register in the guest state, or returns false.
 */
bool vti_find_register(unsigned reg, unsigned *offset);

/* ---- what is captured ---- */

void vti_capture(struct vti_build *b, enum vt_what what, unsigned reg, uint16_t slot,
		 unsigned size);
/* Does the same if `guard` is 1 (VTI_NO_SLOT: always); otherwise the value is unknown. */
void vti_capture_if(struct vti_build *b, uint16_t guard, enum vt_what what, uint16_t slot,
		    unsigned size);
/* Notes that the guest state was written. */
void vti_capture_put(struct vti_build *b, unsigned offset, unsigned size, bool is_const);
/* Captures the registers that were written so far, and clears their list. */
void vti_capture_results(struct vti_build *b);
void vti_capture_args(struct vti_build *b);

/* Captures the results of an instruction that VEX does not support. */
void vti_capture_unlifted(struct vti_build *b);

/* ---- machine/lift/finish.c ---- */

/* Returns the block, or NULL when memory runs out. */
struct vti_block *vti_build_finish(struct vti_build *b);

#endif
