/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "memory/cells.h"

#include <stdlib.h>
#include <string.h>

struct entry {
	uint64_t key;
	struct vti_memory_chunk *chunk;
};

void vti_cells_init(struct vti_cells *c, bool by_byte)
{
	c->by_byte = by_byte;
	memset(c->recent, 0, sizeof(c->recent));
	vt_hash_init(&c->index, sizeof(struct entry), sizeof(uint64_t));
}

void vti_cells_clear(struct vti_cells *c)
{
	size_t i;

	for (i = 0; i < c->index.count; i++) {
		struct vti_memory_chunk *chunk = vti_cells_chunk(c, i);

		free(chunk->stored);
		free(chunk);
	}
	vt_hash_clear(&c->index);
	memset(c->recent, 0, sizeof(c->recent));
}

void vti_cells_fini(struct vti_cells *c)
{
	vti_cells_clear(c);
	vt_hash_fini(&c->index);
}

struct vti_memory_chunk *vti_cells_add(struct vti_cells *c, uint64_t key)
{
	struct entry *e = vt_hash_find(&c->index, &key);
	struct vti_memory_chunk *chunk;
	unsigned i;

	if (e)
		return c->recent[key % VTI_RECENT] = e->chunk;
	chunk = calloc(1, sizeof(*chunk));
	if (chunk && c->by_byte)
		chunk->stored = calloc((size_t)8 * VTI_CHUNK_CELLS, sizeof(*chunk->stored));
	e = chunk && (chunk->stored || !c->by_byte) ? vt_hash_add(&c->index, &key, NULL) : NULL;
	if (!e) {
		if (chunk)
			free(chunk->stored);
		free(chunk);
		return NULL;
	}
	chunk->key = key;
	for (i = 0; i < VTI_CHUNK_CELLS; i++)
		chunk->cells[i].location = VTI_NO_LOCATION;
	e->chunk = chunk;
	return c->recent[key % VTI_RECENT] = chunk;
}

const struct vti_memory_cell *vti_cells_find(const struct vti_cells *c, uint64_t address)
{
	uint64_t key = address >> VTI_CHUNK_SHIFT;
	const struct entry *e = vt_hash_find(&c->index, &key);

	return e ? &e->chunk->cells[address >> 3 & (VTI_CHUNK_CELLS - 1)] : NULL;
}

struct vti_memory_chunk *vti_cells_chunk(const struct vti_cells *c, size_t i)
{
	return ((const struct entry *)vt_hash_at(&c->index, i))->chunk;
}

uint8_t vti_mask_within(uint64_t cell, uint64_t start, uint64_t last)
{
	unsigned low = cell < start ? (unsigned)(start - cell) : 0;
	unsigned high = last - cell < 7 ? (unsigned)(last - cell) : 7;

	return (uint8_t)((0xffu << low) & (0xffu >> (7 - high)));
}

static void visit_chunk(struct vti_memory_chunk *chunk, uint64_t start, uint64_t end,
			vti_cell_fn *fn, void *arg)
{
	uint64_t base = chunk->key << VTI_CHUNK_SHIFT;
	unsigned i;

	for (i = 0; i < VTI_CHUNK_CELLS; i++, base += 8)
		if (base + 7 >= start && base <= end)
			fn(arg, &chunk->cells[i], chunk->stored ? &chunk->stored[8 * i] : NULL,
			   vti_mask_within(base, start, end));
}

void vti_cells_each(struct vti_cells *c, uint64_t start, uint64_t size, vti_cell_fn *fn, void *arg)
{
	uint64_t end = start + size - 1 < start ? UINT64_MAX : start + size - 1;
	uint64_t first = start >> VTI_CHUNK_SHIFT, last = end >> VTI_CHUNK_SHIFT;
	uint64_t key;
	size_t i;

	if (!size)
		return;
	/* Of two ways, the shorter: over the range, or over all chunks. */
	if (last - first < c->index.count) {
		for (key = first; key <= last; key++) {
			struct entry *e = vt_hash_find(&c->index, &key);

			if (e)
				visit_chunk(e->chunk, start, end, fn, arg);
		}
		return;
	}
	for (i = 0; i < c->index.count; i++) {
		struct entry *e = vt_hash_at(&c->index, i);

		if (e->key >= first && e->key <= last)
			visit_chunk(e->chunk, start, end, fn, arg);
	}
}
