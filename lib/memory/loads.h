/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MEMORY_LOADS_H
#define VT_MEMORY_LOADS_H

#include "base/hash.h"
#include "memory/memory.h"
#include "value/hot_list.h"

/*
 * Static loads, and how many distinct addresses and locations each loads from (value profiling 6.4,
 * table 5).
 *
 * A set of pairs, of a static load and what it loaded from, is exact.  When it reaches its limit,
 * the pairs of the static loads that have most are dropped, until half are gone: the numbers of
 * these are lower bounds from then on, and all others stay exact.
 */

/* What identifies a static load.  No padding. */
struct vti_load_place {
	uint64_t offset; /* in its image; without image, the address */
	uint32_t image;	 /* id, or VT_UNMAPPED_IMAGE */
	uint32_t zero;
};

/* An executed load. */
struct vti_load {
	uint64_t value;	   /* of more than 8 bytes, a hash of them */
	uint64_t address;  /* with `space`: where it begins */
	uint64_t location; /* with `object`: the location there */
	uint32_t space;
	uint32_t object;
	uint32_t size; /* bytes */
	enum vt_object_type type;
	bool zero;
	bool redundant;
};

/* The static load at an address of a process, as long as the address space has not changed. */
struct vti_recent_load {
	uint64_t ip;
	uint64_t changes; /* of the address space; 0: none */
	uint32_t process;
	uint32_t load;
};

#define VTI_RECENT_LOADS 4096

struct vti_loads {
	struct vt_hash places; /* of struct vti_load_place */
	struct vt_memory_load *list;
	size_t count;
	size_t cap;
	size_t max;			/* static loads */
	uint64_t limit;			/* pairs of each set */
	struct vti_recent_load *recent; /* VTI_RECENT_LOADS */
	struct vt_hash pairs[VT_NDISTINCT];
	struct vt_hotlists *values;
	uint64_t left_out; /* executed loads of further static loads */
};

#define VTI_NO_LOAD UINT32_MAX

/* Returns 0 or -VT_E_NOMEM.  vti_loads_fini() is for a struct of zeros, too. */
int vti_loads_init(struct vti_loads *l, uint64_t limit, size_t max, struct vt_error *err);
void vti_loads_fini(struct vti_loads *l);

/* Where to look for the static load at an address first, and to keep what was found. */
static inline struct vti_recent_load *vti_loads_recent(struct vti_loads *l, uint64_t ip)
{
	return &l->recent[(ip ^ ip >> 12) % VTI_RECENT_LOADS];
}

/*
 * Sets *load to the number of a static load, which is added, or to VTI_NO_LOAD if there are too
 * many.  Returns false when memory runs out.
 */
bool vti_loads_find(struct vti_loads *l, uint32_t image, uint64_t offset, uint32_t *load);

/* Counts an executed load of a static one.  Returns false when memory runs out. */
bool vti_loads_add(struct vti_loads *l, uint32_t load, const struct vti_load *a);

/* After the last one: reads the values, and sorts.  Returns 0 or -VT_E_NOMEM. */
int vti_loads_finish(struct vti_loads *l, struct vt_error *err);

/* Adds up how many static loads have how many addresses or locations (enum vt_distinct). */
void vti_loads_classes(const struct vti_loads *l, unsigned distinct,
		       struct vt_load_class classes[VT_LOAD_CLASSES]);

#endif
