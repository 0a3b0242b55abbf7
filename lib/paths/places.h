/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PATHS_PLACES_H
#define VT_PATHS_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "profile/context.h"

/* Numbers for the instructions that a stream names, and how often control went between them. */

struct vt_pathplace {
	uint64_t offset;
	uint32_t image;
	int32_t pid; /* of anonymous code, else 0 */
};

struct vt_pathtransfer {
	uint32_t from; /* places */
	uint32_t to;
	uint64_t count;
};

/* Initialize with vt_pathplaces_init(), free with vt_pathplaces_fini(). */
struct vt_pathplaces {
	struct vt_hash places;	  /* struct vt_pathplace */
	struct vt_hash transfers; /* struct vt_pathtransfer */
};

#define VT_PATHPLACE_NONE UINT32_MAX

/* The most places and transfers that are kept: more than there are instructions in a program. */
#define VT_PATHPLACES_MAX (UINT32_C(1) << 26)

void vt_pathplaces_init(struct vt_pathplaces *p);
void vt_pathplaces_fini(struct vt_pathplaces *p);

/*
 * The number of the place at an address of a process, as the context maps it now; `misc` as in
 * vt_addrspace_find().  *place is VT_PATHPLACE_NONE if nothing is mapped there or there are too
 * many places.  False: out of memory.
 */
bool vt_pathplaces_at(struct vt_pathplaces *p, const struct vt_context *c, int64_t pid,
		      uint64_t address, uint64_t misc, uint32_t *place);

/* The place with a number. */
const struct vt_pathplace *vt_pathplaces_get(const struct vt_pathplaces *p, uint32_t place);

/* Control went `count` times from one place to another.  False: out of memory. */
bool vt_pathplaces_went(struct vt_pathplaces *p, uint32_t from, uint32_t to, uint64_t count);

/* Adds the transfers of another stream, where it has the same images.  False: out of memory. */
bool vt_pathplaces_join(struct vt_pathplaces *p, const struct vt_images *images,
			const struct vt_pathplaces *other, const struct vt_images *others);

#endif
