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
 * instruction that transfers control, or to a limit of length; every engine cuts code in the same
 * way.  Blocks are known by dense indexes from 0, given in the order in which they are asked for.
 */

#define VT_PT_MAX_INSNS 256 /* of a block: what follows is another one */

/* How a block ends, in the terms of the trace: what is needed to go on behind it. */
enum vt_pt_end {
	VT_PT_END_FALL, /* nothing: it goes on at `next`; a limit of length, or a cut */
	VT_PT_END_JUMP, /* nothing: it goes on at `target` */
	VT_PT_END_CALL, /* nothing: it goes on at `target`; `next` is where it returns to */
	VT_PT_END_COND, /* a decision: `target` if taken, else `next` */
	VT_PT_END_RET,	/* a decision if the return is compressed, else an address */
	VT_PT_END_JUMP_INDIRECT, /* an address */
	VT_PT_END_CALL_INDIRECT, /* an address; `next` is where it returns to */
	VT_PT_END_FAR_CALL, /* syscall, sysenter, int, far call, vmcall …: an address or an event */
	VT_PT_END_FAR_RET, /* sysret, sysexit, iret, far return, vmlaunch, vmresume, rsm … */
	VT_PT_END_FAR_JUMP,
	VT_PT_END_NO_CODE,  /* nothing is known of the code at `next` */
	VT_PT_END_BAD_CODE, /* the bytes at `next` are no instruction, or not the whole of one */
};

/* True if the next block is not known without a packet. */
static inline bool vt_pt_end_needs_packet(unsigned end)
{
	return end == VT_PT_END_COND || (end >= VT_PT_END_RET && end <= VT_PT_END_FAR_JUMP);
}

struct vt_pt_block {
	uint64_t addr;
	uint64_t next;	  /* the address behind its last instruction */
	uint64_t target;  /* of a direct branch, jump or call; else 0 */
	uint32_t size;	  /* bytes; 0: not even the first instruction could be decoded */
	uint32_t lengths; /* where vt_pt_block_lengths() finds those of its instructions */
	uint16_t insns;
	uint16_t last; /* bytes of the last instruction */
	uint8_t end;   /* enum vt_pt_end */
	uint8_t mode;  /* 16, 32 or 64 */
	uint8_t marks; /* enum vt_pt_mark: what there is in it that events bind to */
	uint8_t unused;
	uint32_t id; /* for whoever writes blocks out; VT_PT_NO_ID at first */
};

#define VT_PT_NO_ID UINT32_MAX

/* Instructions inside a block to which events may bind. */
enum vt_pt_mark {
	VT_PT_MARK_CR3 = 1, /* mov to cr3 */
	VT_PT_MARK_PTWRITE = 2,
	VT_PT_MARK_VMPTRLD = 4,
};

/* Its fields are for the functions here, and for those that must be fast to read. */
struct vt_pt_blocks {
	struct vt_pt_block *blocks;
	uint32_t count;
	const uint8_t **bytes; /* of each block */
	uint8_t *lengths;
	size_t nlengths;
	const struct vt_pt_code *code;
	uint64_t generation; /* of the code, when something was last looked up */
	uint32_t epoch;	     /* how often it has changed */
	struct vti_pt_block_slot *slots;
	size_t mask;
	size_t used;
	struct vti_pt_block_chunk *chunks; /* bytes of blocks that lie in several sections */
	size_t cap;
	size_t bytes_cap;
	size_t lengths_cap;
};

/* The blocks of `code`, which must outlive them.  Owned by the caller; NULL: no memory. */
struct vt_pt_blocks *vt_pt_blocks_new(const struct vt_pt_code *code);
void vt_pt_blocks_free(struct vt_pt_blocks *b);

/*
 * The block that is entered at an address in code of `mode` bits, decoded if it was not yet.
 * *index is its number.  0 or -VT_E_NOMEM.  When the code has changed (vt_pt_code_generation()),
 * blocks with other bytes than before get new numbers; old numbers stay good for looking at, and
 * so must the bytes of the sections that they were decoded from.
 */
int vt_pt_blocks_at(struct vt_pt_blocks *b, uint64_t ip, unsigned mode, uint32_t *index);

/*
 * The block of the first `insns` instructions of another one, which has more: it ends in
 * VT_PT_END_FALL.  insns is at least 1.  0 or -VT_E_NOMEM.
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

/* The length in bytes of each instruction of a block, and its code: borrowed likewise. */
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

/* What enum vt_pt_end is in a BLOCK record. */
enum vt_block_end vt_pt_end_kind(unsigned end);

/*
 * What a single instruction is: its length, end (VT_PT_END_FALL for one that transfers no control),
 * target and mark.  Returns its length, or 0 for what is none.  It is what libipt 2.0.5 makes of
 * the same bytes, even where they are no valid instruction.
 */
unsigned vt_pt_insn_classify(const uint8_t *bytes, size_t size, unsigned mode, uint64_t ip,
			     uint8_t *end, uint64_t *target, uint8_t *mark);

#endif
