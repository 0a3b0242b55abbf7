/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"

/* A smaller index is always cleared, never freed. */
#define SPARSE 4096

/* Multiplies by an odd constant and folds, so that every input bit reaches the low bits. */
static uint64_t mix_hash(uint64_t x)
{
	x *= 0x9e3779b97f4a7c15u;
	return x ^ (x >> 32);
}

uint64_t vt_hash_bytes(const void *data, size_t size)
{
	const uint8_t *p = data;
	uint64_t h = size;
	uint64_t last = 0;
	size_t i;

	for (; size >= 8; p += 8, size -= 8)
		h = mix_hash(h ^ vt_le64(p));
	for (i = 0; i < size; i++)
		last |= (uint64_t)p[i] << (8 * i);
	return mix_hash(h ^ last);
}

void vt_hash_init(struct vt_hash *h, size_t entry_size, size_t key_size)
{
	assert(key_size > 0 && key_size <= entry_size);
	*h = (struct vt_hash){.entry_size = entry_size, .key_size = key_size};
}

void vt_hash_fini(struct vt_hash *h)
{
	free(h->entries);
	free(h->index);
	*h = (struct vt_hash){.entry_size = h->entry_size, .key_size = h->key_size};
}

void vt_hash_clear(struct vt_hash *h)
{
	bool sparse = h->mask >= SPARSE && h->count < h->mask / 8;

	h->count = 0;
	/* Clearing a large index for a few entries each time would be slow. */
	if (sparse) {
		free(h->index);
		h->index = NULL;
		h->mask = 0;
	} else if (h->index) {
		memset(h->index, 0, (h->mask + 1) * sizeof(*h->index));
	}
}

/* Returns the index slot that holds the key, or the free slot where it belongs. */
static size_t find_hash_slot(const struct vt_hash *h, const void *key)
{
	size_t i = vt_hash_bytes(key, h->key_size) & h->mask;

	while (h->index[i] && memcmp(vt_hash_at(h, h->index[i] - 1), key, h->key_size) != 0)
		i = (i + 1) & h->mask;
	return i;
}

void *vt_hash_find(const struct vt_hash *h, const void *key)
{
	size_t i;

	if (!h->count)
		return NULL;
	i = find_hash_slot(h, key);
	return h->index[i] ? vt_hash_at(h, h->index[i] - 1) : NULL;
}

/* Doubles the index when it would become more than half full.  Entry numbers do not change. */
static bool grow_hash_index(struct vt_hash *h)
{
	size_t slots = h->index ? (h->mask + 1) * 2 : 32;
	uint32_t *old = h->index;
	size_t e;

	if (h->index && (h->count + 1) * 2 <= h->mask + 1)
		return true;
	if (h->count >= UINT32_MAX - 1)
		return false;
	h->index = calloc(slots, sizeof(*h->index));
	if (!h->index) {
		h->index = old;
		return false;
	}
	free(old);
	h->mask = slots - 1;
	/* Searches rely on a free slot and on a size that is a power of two. */
	assert((slots & h->mask) == 0 && h->count < slots);
	for (e = 0; e < h->count; e++)
		h->index[find_hash_slot(h, vt_hash_at(h, e))] = (uint32_t)e + 1;
	return true;
}

void *vt_hash_add(struct vt_hash *h, const void *key, bool *added)
{
	uint8_t *entry;
	size_t i;

	if (!grow_hash_index(h))
		return NULL;
	i = find_hash_slot(h, key);
	if (added)
		*added = h->index[i] == 0;
	if (h->index[i])
		return vt_hash_at(h, h->index[i] - 1);
	if (!vt_array_grow(&h->entries, &h->cap, h->count + 1, h->entry_size))
		return NULL;
	assert(h->count < h->cap);
	entry = vt_hash_at(h, h->count);
	memcpy(entry, key, h->key_size);
	memset(entry + h->key_size, 0, h->entry_size - h->key_size);
	h->index[i] = (uint32_t)++h->count;
	return entry;
}
