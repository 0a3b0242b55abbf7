/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_BLOCK_H
#define FORMATS_PT_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/pt/code.h"
#include "stream/kinds.h"

/*
 * The basic blocks of an address space, decoded once.  A block runs from its entry to the first
 * instruction that transfers control, or to a limit of length; all engines divide code alike.
 * Blocks have dense indexes from 0, in the order in which they are first looked up.
 */

#define VT_PT_MAX_INSNS 256 /* of a block: the next instruction begins another one */

/* How a block ends: what is needed from the trace to continue. */
enum vt_pt_end {
	VT_PT_END_FALL, /* nothing: it continues at `next`; a limit of length, or a cut */
	VT_PT_END_JUMP, /* nothing: it continues at `target` */
	VT_PT_END_CALL, /* nothing: it continues at `target`; `next` is where it returns to */
	VT_PT_END_COND, /* a decision: `target` if taken, else `next` */
	VT_PT_END_RET,	/* a decision if the return is compressed, else an address */
	VT_PT_END_JUMP_INDIRECT, /* an address */
	VT_PT_END_CALL_INDIRECT, /* an address; `next` is where it returns to */
	VT_PT_END_FAR_CALL, /* syscall, sysenter, int, far call, vmcall …: an address or an event */
	VT_PT_END_FAR_RET, /* sysret, sysexit, iret, far return, vmlaunch, vmresume, rsm … */
	VT_PT_END_FAR_JUMP,
	VT_PT_END_NO_CODE,  /* the code at `next` is unknown */
	VT_PT_END_BAD_CODE, /* the bytes at `next` are no instruction, or a part of one */
};

/* True if the next block is not known without a packet. */
static inline bool vt_pt_end_needs_packet(unsigned end)
{
	return end == VT_PT_END_COND || (end >= VT_PT_END_RET && end <= VT_PT_END_FAR_JUMP);
}

struct vt_pt_block {
	uint64_t addr;
	uint64_t next;	  /* the address after its last instruction */
	uint64_t target;  /* of a direct branch, jump or call; else 0 */
	uint32_t size;	  /* bytes; 0: the first instruction could not be decoded */
	uint32_t lengths; /* position of the lengths of its instructions: vt_pt_block_lengths() */
	uint16_t insns;
	uint16_t last; /* bytes of the last instruction */
	uint8_t end;   /* enum vt_pt_end */
	uint8_t mode;  /* 16, 32 or 64 */
	uint8_t marks; /* enum vt_pt_mark: its instructions to which events may bind */
	uint8_t unused;
	uint32_t id; /* for the writer of blocks; VT_PT_NO_ID at first */
};

#define VT_PT_NO_ID UINT32_MAX

/* Instructions inside a block to which events may bind. */
enum vt_pt_mark {
	VT_PT_MARK_CR3 = 1, /* mov to cr3 */
	VT_PT_MARK_PTWRITE = 2,
	VT_PT_MARK_VMPTRLD = 4,
};

/* Private to block.c, except for fast readers. */
struct vt_pt_blocks {
	struct vt_pt_block *blocks;
	uint32_t count;
	const uint8_t **bytes; /* of each block */
	uint8_t *lengths;
	size_t nlengths;
	const struct vt_pt_code *code;
	uint64_t generation; /* of the code at the last look-up */
	uint32_t epoch;	     /* how often it has changed */
	struct vti_pt_block_slot *slots;
	size_t mask;
	size_t used;
	struct vti_pt_block_chunk *chunks; /* the bytes of blocks that lie in several sections */
	size_t cap;
	size_t bytes_cap;
	size_t lengths_cap;
};

/* The blocks of `code`, which must outlive them.  Owned by the caller; NULL: no memory. */
struct vt_pt_blocks *vt_pt_blocks_new(const struct vt_pt_code *code);
void vt_pt_blocks_free(struct vt_pt_blocks *b);

/*
 * Finds or decodes the block that is entered at an address in code of `mode` bits.  *index is its
 * index.  0 or -VT_E_NOMEM.  When the code has changed (vt_pt_code_generation()), blocks whose
 * bytes differ get new indexes.  Old indexes stay valid, and so must the bytes of the sections that
 * they were decoded from.
 */
int vt_pt_blocks_at(struct vt_pt_blocks *b, uint64_t ip, unsigned mode, uint32_t *index);

/*
 * Finds or makes the block of the first `insns` instructions of another one, which has more.  It
 * ends in VT_PT_END_FALL.  insns is at least 1.  0 or -VT_E_NOMEM.
 */
int vt_pt_blocks_cut(struct vt_pt_blocks *b, uint32_t index, unsigned insns, uint32_t *cut);

/* The block of an index; borrowed until the next block is added. */
static inline struct vt_pt_block *vt_pt_blocks_get(const struct vt_pt_blocks *b, uint32_t index)
{
	return &b->blocks[index];
}

static inline uint32_t vt_pt_blocks_count(const struct vt_pt_blocks *b)
{
	return b->count;
}

/* The length in bytes of each instruction of a block, and the block's code; borrowed likewise. */
static inline const uint8_t *vt_pt_block_lengths(const struct vt_pt_blocks *b,
						 const struct vt_pt_block *k)
{
	return b->lengths + k->lengths;
}

static inline const uint8_t *vt_pt_block_code(const struct vt_pt_blocks *b,
					      const struct vt_pt_block *k)
{
	return b->bytes[k - b->blocks];
}

/* Converts enum vt_pt_end to the end of a BLOCK record. */
enum vt_block_end vt_pt_end_kind(unsigned end);

/*
 * Classifies an instruction: its end (VT_PT_END_FALL if it transfers no control), target and mark.
 * Returns its length, or 0 if the bytes are no instruction.  The results are those of libipt 2.0.5
 * for the same bytes, even where they are no valid instruction.
 */
unsigned vt_pt_insn_classify(const uint8_t *bytes, size_t size, unsigned mode, uint64_t ip,
			     uint8_t *end, uint64_t *target, uint8_t *mark);

#endif
