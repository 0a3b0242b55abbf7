/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_HASH_H
#define VT_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A hash table with open addressing.  Entries have a fixed size and lie in one array in insertion
 * order, so iteration is deterministic.  The key is the first `key_size` bytes of an entry and is
 * compared with memcmp(): it must be an integer or a struct without padding.  Single entries cannot
 * be removed.
 *
 * Pointers to entries are valid until the next vt_hash_add().
 */
struct vt_hash {
	uint8_t *entries;
	size_t count;
	size_t cap;
	size_t entry_size;
	size_t key_size;
	uint32_t *index; /* entry number + 1, or 0 for a free slot */
	size_t mask;
};

/* Initializes an empty table without allocating memory. */
void vt_hash_init(struct vt_hash *h, size_t entry_size, size_t key_size);

/* Frees the table's memory.  A table of all zero bytes may be passed, too. */
void vt_hash_fini(struct vt_hash *h);

/* Removes all entries and keeps the memory. */
void vt_hash_clear(struct vt_hash *h);

/* Returns the entry with this key, or NULL. */
void *vt_hash_find(const struct vt_hash *h, const void *key);

/*
 * Returns the entry with this key.  If there is none, adds one: a copy of the key, followed by
 * zeros.  `*added`, unless NULL, tells whether the entry is new.  Returns NULL when memory runs
 * out.
 */
void *vt_hash_add(struct vt_hash *h, const void *key, bool *added);

/* Returns the i-th entry in insertion order; i < h->count. */
static inline void *vt_hash_at(const struct vt_hash *h, size_t i)
{
	return h->entries + i * h->entry_size;
}

/* Returns the index of an entry of the table, which vt_hash_find() or vt_hash_add() returned. */
static inline size_t vt_hash_index(const struct vt_hash *h, const void *entry)
{
	return (size_t)((const uint8_t *)entry - h->entries) / h->entry_size;
}

/* Returns a 64-bit hash of bytes that is the same on every machine and in every run. */
uint64_t vt_hash_bytes(const void *data, size_t size);

#ifdef __cplusplus
}
#endif
#endif
