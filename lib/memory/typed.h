/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MEMORY_TYPED_H
#define VT_MEMORY_TYPED_H

#include "memory/memory.h"
#include "types/types.h"

/*
 * A memory profile by type and member, where debug information says what is at an address: of
 * variables by their name, of heap objects by what the pointer is assigned to, of stack frames by
 * the variables of the code that accesses them.  Of samples, where the address says nothing, the
 * operand of the sampled instruction may.  What neither says is counted by the reason.
 *
 * Needs a profile with a grain of 0 that is finished.
 */
struct vt_typed;

/* Sums of locations: each access counts once. */
struct vt_typed_sums {
	struct vt_memory_counts counts;
	struct vt_memory_sampled sampled;
	uint64_t top_loads; /* as in struct vt_memory_object */
	uint64_t valued_loads;
	uint64_t objects; /* that have it */
};

struct vt_typed_type {
	const char *name; /* untrusted, borrowed; of unknown ones the reason */
	uint64_t size;	  /* 0: unknown */
	enum vt_untyped why;
	enum vt_object_type of; /* objects that the reason is of */
	struct vt_typed_sums sums;
	size_t first; /* its members: vt_typed_member(t, first) … */
	size_t nmembers;
};

struct vt_typed_member {
	const char *path; /* "" for a type without members; as struct vt_typeplace has it */
	const char *type; /* its own; NULL: padding, or several */
	uint64_t offset;  /* the lowest in the type */
	uint64_t size;	  /* bytes of the largest access */
	struct vt_typed_sums sums;
};

/*
 * `m` and `images` are borrowed.  Owned by the caller; NULL with VT_E_NOMEM.  Images without debug
 * information are no error.
 */
struct vt_typed *vt_typed_new(struct vt_memory *m, struct vt_images *images, struct vt_error *err);
void vt_typed_free(struct vt_typed *t);

/* The types, those with most accesses first; members by offset, then path.  Borrowed. */
size_t vt_typed_count(const struct vt_typed *t);
const struct vt_typed_type *vt_typed_at(const struct vt_typed *t, size_t i);
const struct vt_typed_member *vt_typed_member(const struct vt_typed *t, size_t i);

/* What of the debug information could not be read, of all images. */
const struct vt_types_lost *vt_typed_lost(const struct vt_typed *t);

#endif
