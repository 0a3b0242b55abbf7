/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_BBLOCK_H
#define VT_STREAM_BBLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/kinds.h"
#include "stream/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The dictionary of basic blocks: what the BLOCK records of a stream have said so far
 * (formats/vt.md, "Executed code").  Its memory grows with the program's code, not with the stream.
 */

/* Limits of the format. */
#define VT_MAX_BLOCK_INSNS 1024
#define VT_MAX_BLOCK_SLOTS 1024
#define VT_MAX_BLOCK_DATA  65535  /* bytes of values each time it runs */
#define VT_MAX_BLOCK_LEAP  262144 /* a new id's distance from the number of blocks so far */

/* A value that is captured each time a block runs. */
struct vt_slot {
	uint16_t insn; /* index in the block */
	uint8_t what;  /* enum vt_what */
	uint16_t size; /* bytes, at least 1 */
	uint16_t reg;
	uint32_t offset; /* of its bytes in the values of the block */
};

struct vt_bblock {
	uint64_t id;
	uint64_t addr;
	uint64_t target; /* of a direct branch, jump or call; else 0 */
	int64_t pid;
	uint32_t size; /* bytes of code */
	uint32_t ninsns;
	uint32_t nslots;
	uint32_t data_size; /* bytes of values each time it runs */
	enum vt_block_end end;
	uint8_t mode;		/* bits of the code: 16, 32 or 64 */
	const uint8_t *lengths; /* of each instruction */
	const uint8_t *code;	/* `size` bytes, or NULL if they were not recorded */
	const struct vt_slot *slots;
};

struct vt_bblocks;

/* Packs a slot as BLOCK's field `slots` has it; `offset` is not part of it. */
static inline uint64_t vt_slot_pack(const struct vt_slot *s)
{
	return s->insn | (uint64_t)s->what << 16 | (uint64_t)s->size << 32 | (uint64_t)s->reg << 48;
}

/* An empty dictionary; NULL when memory ran out.  Owned by the caller. */
struct vt_bblocks *vt_bblocks_new(void);
void vt_bblocks_free(struct vt_bblocks *d);

/*
 * Adds a BLOCK record.  Negative: -VT_E_FORMAT, the record contradicts itself or the limits, or
 * gives away an id for the second time; it is not added.  -VT_E_NOMEM.
 */
int vt_bblocks_add(struct vt_bblocks *d, const struct vt_record *rec, struct vt_error *err);

/*
 * The block of this id, or NULL.  Borrowed: the pointer stays good, and its contents as they are,
 * until the dictionary is freed.
 */
const struct vt_bblock *vt_bblocks_get(const struct vt_bblocks *d, uint64_t id);

/* One more than the largest id so far: the size for tables that are indexed by id. */
uint64_t vt_bblocks_end(const struct vt_bblocks *d);

/* The address of an instruction of a block, and of the one behind its last (i == ninsns). */
uint64_t vt_bblock_insn_addr(const struct vt_bblock *b, uint32_t i);

struct vt_writer;

/* Writes a BLOCK record of this id, with the slots or without. */
void vt_bblock_write(const struct vt_bblock *b, uint64_t id, bool slots, struct vt_writer *w);

#ifdef __cplusplus
}
#endif
#endif
