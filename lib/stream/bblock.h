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
 * The dictionary of basic blocks, built from the BLOCK records of a stream read so far
 * (formats/vt.md, "Executed code").  Its memory grows with the program's code, not with the stream.
 */

/* Limits of the format. */
#define VT_MAX_BLOCK_INSNS 1024
#define VT_MAX_BLOCK_SLOTS 1024
#define VT_MAX_BLOCK_DATA  65535  /* bytes of values per execution */
#define VT_MAX_BLOCK_LEAP  262144 /* a new id minus the number of blocks so far */

/* A value that is captured at each execution of a block. */
struct vt_slot {
	uint16_t insn; /* index in the block */
	uint8_t what;  /* enum vt_what */
	uint16_t size; /* bytes, at least 1 */
	uint16_t reg;
	uint32_t offset; /* of its bytes within the block's values */
};

struct vt_bblock {
	uint64_t id;
	uint64_t addr;
	uint64_t target; /* of the direct branch, jump or call at its end; else 0 */
	int64_t pid;
	uint32_t size; /* bytes of code */
	uint32_t ninsns;
	uint32_t nslots;
	uint32_t data_size; /* bytes of values per execution */
	enum vt_block_end end;
	uint8_t mode;		/* processor mode of the code: 16, 32 or 64 bits */
	const uint8_t *lengths; /* of each instruction, in bytes */
	const uint8_t *code;	/* `size` bytes, or NULL if not recorded */
	const struct vt_slot *slots;
};

struct vt_bblocks;

/* Packs a slot for BLOCK's field `slots`, without its `offset`. */
static inline uint64_t vt_slot_pack(const struct vt_slot *s)
{
	return s->insn | (uint64_t)s->what << 16 | (uint64_t)s->size << 32 | (uint64_t)s->reg << 48;
}

/* Returns an empty dictionary, owned by the caller, or NULL when memory runs out. */
struct vt_bblocks *vt_bblocks_new(void);
void vt_bblocks_free(struct vt_bblocks *d);

/*
 * Adds a BLOCK record.  Returns 0; -VT_E_FORMAT if the record contradicts itself, exceeds a limit,
 * or reuses an id, and is therefore not added; or -VT_E_NOMEM.
 */
int vt_bblocks_add(struct vt_bblocks *d, const struct vt_record *rec, struct vt_error *err);

/*
 * Returns the block with this id, or NULL.  Borrowed: valid and unchanged until the dictionary is
 * freed.
 */
const struct vt_bblock *vt_bblocks_get(const struct vt_bblocks *d, uint64_t id);

/* Returns the largest id so far plus 1: the size of a table indexed by id. */
uint64_t vt_bblocks_end(const struct vt_bblocks *d);

/* Returns the address of instruction i of a block; for i == ninsns, the block's end. */
uint64_t vt_bblock_insn_addr(const struct vt_bblock *b, uint32_t i);

struct vt_writer;

/* Writes the block as a BLOCK record with this id; without its slots if `slots` is false. */
void vt_bblock_write(const struct vt_bblock *b, uint64_t id, bool slots, struct vt_writer *w);

#ifdef __cplusplus
}
#endif
#endif
