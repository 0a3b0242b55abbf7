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
 * The one hash table.  Entries of a fixed size lie in one array in the order in which they were
 * added, so that walking `entries` is deterministic; an index of open addressing finds them.  The
 * key is the first `key_size` bytes of an entry, compared with memcmp(): keys are structs without
 * padding, or plain integers.  Entries are never removed one by one.
 *
 * A pointer to an entry holds until the next vt_hash_add().
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

/* Prepares an empty table; allocates nothing. */
void vt_hash_init(struct vt_hash *h, size_t entry_size, size_t key_size);
void vt_hash_fini(struct vt_hash *h);

/* Forgets all entries, keeps the memory. */
void vt_hash_clear(struct vt_hash *h);

/* The entry with this key, or NULL. */
void *vt_hash_find(const struct vt_hash *h, const void *key);

/*
 * The entry with this key; a new one has the key copied in and all its other bytes zero.  `*added`
 * (if not NULL) tells which.  NULL when memory runs out.
 */
void *vt_hash_add(struct vt_hash *h, const void *key, bool *added);

/* The i-th entry in order of insertion, i < h->count. */
static inline void *vt_hash_at(const struct vt_hash *h, size_t i)
{
	return h->entries + i * h->entry_size;
}

/* A 64-bit hash of bytes, the same on every machine and in every run. */
uint64_t vt_hash_bytes(const void *data, size_t size);

#ifdef __cplusplus
}
#endif
#endif
