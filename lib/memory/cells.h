/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MEMORY_CELLS_H
#define VT_MEMORY_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

/*
 * What is known of a process's memory: a cell for each 8 bytes that an access touched, in chunks.
 * A bit of a mask stands for a byte, the lowest for the lowest address.
 */
#define VTI_NO_LOCATION UINT32_MAX

struct vti_memory_cell {
	uint64_t content;
	uint64_t loaded;    /* as they were when last loaded */
	uint32_t location;  /* of the last access, or VTI_NO_LOCATION */
	uint8_t owned;	    /* bytes that belong to `location` */
	uint8_t known;	    /* bytes of `content` */
	uint8_t was_loaded; /* bytes of `loaded` */
	uint8_t unread;	    /* bytes that were stored and not loaded since */
};

#define VTI_CHUNK_SHIFT 8 /* 256 bytes */
#define VTI_CHUNK_CELLS 32
#define VTI_RECENT	1024

struct vti_memory_chunk {
	uint64_t key;	  /* address >> VTI_CHUNK_SHIFT */
	uint32_t *stored; /* of each byte, the location that stored it; NULL: that of its cell */
	struct vti_memory_cell cells[VTI_CHUNK_CELLS];
};

struct vti_cells {
	bool by_byte;	      /* chunks have `stored`: a cell may be part of several locations */
	struct vt_hash index; /* of chunks by key */
	struct vti_memory_chunk *recent[VTI_RECENT];
};

void vti_cells_init(struct vti_cells *c, bool by_byte);
void vti_cells_fini(struct vti_cells *c);

/* Forgets all chunks. */
void vti_cells_clear(struct vti_cells *c);

/* Adds a chunk; NULL when memory runs out. */
struct vti_memory_chunk *vti_cells_add(struct vti_cells *c, uint64_t key);

/*
 * Returns the cell of an address, which is added if it does not exist; NULL without memory.
 * *stored becomes what `stored` has of its 8 bytes, or NULL.
 */
static inline struct vti_memory_cell *vti_cells_at(struct vti_cells *c, uint64_t address,
						   uint32_t **stored)
{
	uint64_t key = address >> VTI_CHUNK_SHIFT;
	struct vti_memory_chunk *chunk = c->recent[key % VTI_RECENT];

	if (!chunk || chunk->key != key) {
		chunk = vti_cells_add(c, key);
		if (!chunk)
			return NULL;
	}
	*stored = chunk->stored ? &chunk->stored[address & (8 * VTI_CHUNK_CELLS - 8)] : NULL;
	return &chunk->cells[address >> 3 & (VTI_CHUNK_CELLS - 1)];
}

/* The cell of an address, or NULL if there is none. */
const struct vti_memory_cell *vti_cells_find(const struct vti_cells *c, uint64_t address);

/*
 * Calls `fn` for each existing cell that [start, start + size) touches, in no certain order, with
 * the mask of the bytes of the cell that lie in the range.
 */
typedef void vti_cell_fn(void *arg, struct vti_memory_cell *cell, uint32_t *stored, uint8_t mask);
void vti_cells_each(struct vti_cells *c, uint64_t start, uint64_t size, vti_cell_fn *fn, void *arg);

/* The number of chunks, and the i-th of them. */
static inline size_t vti_cells_count(const struct vti_cells *c)
{
	return c->index.count;
}
struct vti_memory_chunk *vti_cells_chunk(const struct vti_cells *c, size_t i);

/* The mask of those of the 8 bytes from `cell` on that lie in [start, last], which touches them. */
uint8_t vti_mask_within(uint64_t cell, uint64_t start, uint64_t last);

/* The bits of a mask as bytes: 0x05 becomes 0xff00ff. */
static inline uint64_t vti_mask_bytes(uint8_t mask)
{
	/* Bit i goes to byte i; then each byte that has a bit becomes 0xff. */
	uint64_t bits = mask * UINT64_C(0x0101010101010101) & UINT64_C(0x8040201008040201);
	uint64_t low =
		(((bits & UINT64_C(0x7f7f7f7f7f7f7f7f)) + UINT64_C(0x7f7f7f7f7f7f7f7f)) | bits) >>
			7 &
		UINT64_C(0x0101010101010101);

	return low * 0xff;
}

#endif
