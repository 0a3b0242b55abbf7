/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MEMORY_OBJECTS_H
#define VT_MEMORY_OBJECTS_H

#include "base/hash.h"
#include "base/intern.h"
#include "memory/memory.h"
#include "value/hot_list.h"

/* The objects by what identifies them, and their locations by index. */

#define VTI_NO_OBJECT UINT32_MAX

/* Locations with lower indexes are found in an array, others in a hash table. */
#define VTI_NEAR_LOCATIONS 4096

/* No padding. */
struct vti_object_key {
	uint32_t type;
	uint32_t nplaces;
	uint64_t offsets[VT_MEMORY_DEPTH];
	uint32_t images[VT_MEMORY_DEPTH];
	uint64_t name; /* hash of the name that a record gives it; 0: none */
};

struct vti_near {
	uint32_t *list; /* by index: the location, or VTI_NO_LOCATION */
	size_t cap;
};

struct vti_objects {
	struct vt_hash keys;
	struct vt_memory_object *list;
	struct vti_near *near; /* as many */
	size_t count;
	size_t cap;
	size_t near_cap;
	struct vt_hash far;
	struct vt_memory_location *locations;
	size_t nlocations;
	size_t locations_cap;
	struct vt_hotlists *values;
	bool exact;		   /* these keep all, and are not used again */
	struct vt_hotlist **spare; /* lists of dropped locations, empty */
	size_t nspare;
	size_t spare_cap;
	struct vt_intern *names; /* of objects that records name */
	/* After vti_objects_rank(). */
	uint32_t *order; /* of objects */
	uint32_t *rank;	 /* of each object */
};

/* With `exact`, locations keep all their values.  Returns 0 or -VT_E_NOMEM. */
int vti_objects_init(struct vti_objects *o, bool exact, struct vt_error *err);
void vti_objects_fini(struct vti_objects *o);

/* Sets a key to a type without places; the caller adds places. */
void vti_object_key_init(struct vti_object_key *key, enum vt_object_type type);
void vti_object_key_add(struct vti_object_key *key, uint32_t image, uint64_t offset);

/* Returns the number of an object, which is added; VTI_NO_OBJECT when memory runs out. */
uint32_t vti_objects_get(struct vti_objects *o, const struct vti_object_key *key);

/*
 * Returns the number of the location of an object, which is added with this offset; VTI_NO_LOCATION
 * when memory runs out.
 */
uint32_t vti_objects_location(struct vti_objects *o, uint32_t object, uint64_t index,
			      int64_t offset);

/*
 * Names an object as a record does, if it has no name yet; of two, the first in the alphabet stays.
 * False when memory runs out.
 */
bool vti_objects_name(struct vti_objects *o, uint32_t object, const char *text, size_t size);

/*
 * Sorts the objects, those with most misses, then accesses first, into `order`, and the locations
 * by object and offset; their `object` is its rank from now on.  -VT_E_NOMEM.
 */
int vti_objects_rank(struct vti_objects *o, struct vt_error *err);

/*
 * Whether a location has values of loads, and these: as vt_hotlist_read() gives them, but those
 * that are known to be most frequent first.
 */
bool vti_location_has_values(const struct vt_memory_location *l);
int vti_location_values(struct vti_objects *o, const struct vt_memory_location *l,
			struct vt_hot *found, struct vt_error *err);

/* Copies a list, whose arrays are freed first.  -VT_E_NOMEM. */
int vti_hot_copy(struct vt_hot *to, const struct vt_hot *from, struct vt_error *err);

/* Adds a loaded value.  False when memory runs out. */
bool vti_location_value(struct vti_objects *o, struct vt_memory_location *l, uint64_t value);

/*
 * Drops the half of the locations that has fewer accesses; their objects keep the sums.  Returns
 * an array, which the caller frees, of each location's new number or VTI_NO_LOCATION; NULL when
 * memory runs out.
 */
uint32_t *vti_objects_drop(struct vti_objects *o);

#endif
