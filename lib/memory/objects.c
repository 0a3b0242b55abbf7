/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "memory/objects.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "memory/cells.h"

/* Values of a location: so many are kept, by space-saving. */
#define VALUES 8

struct object_entry {
	struct vti_object_key key;
	uint64_t object;
};

struct far_entry {
	uint64_t index; /* with `object`, the key */
	uint64_t object;
	uint64_t location;
};

int vti_objects_init(struct vti_objects *o, bool exact, struct vt_error *err)
{
	const struct vt_hotlist_options options = {.algo = exact ? VT_ALGO_EXACT
								 : VT_ALGO_SPACE_SAVING,
						   .entries = exact ? 0 : VALUES,
						   .seed = 1};

	*o = (struct vti_objects){.values = vt_hotlists_new(&options, err), .exact = exact};
	vt_hash_init(&o->keys, sizeof(struct object_entry), sizeof(struct vti_object_key));
	vt_hash_init(&o->far, sizeof(struct far_entry), offsetof(struct far_entry, location));
	return o->values ? 0 : -(int)err->code;
}

static void free_location(struct vt_memory_location *l)
{
	if (l->known)
		vt_hot_fini(l->known);
	free(l->known);
	free(l->sampled);
}

void vti_objects_fini(struct vti_objects *o)
{
	size_t i;

	for (i = 0; i < o->count; i++)
		free(o->near[i].list);
	for (i = 0; i < o->nlocations; i++)
		free_location(&o->locations[i]);
	free(o->near);
	free(o->list);
	free(o->locations);
	free(o->spare);
	free(o->order);
	free(o->rank);
	vt_intern_free(o->names);
	vt_hash_fini(&o->keys);
	vt_hash_fini(&o->far);
	vt_hotlists_free(o->values);
}

void vti_object_key_init(struct vti_object_key *key, enum vt_object_type type)
{
	memset(key, 0, sizeof(*key));
	key->type = type;
}

void vti_object_key_add(struct vti_object_key *key, uint32_t image, uint64_t offset)
{
	key->images[key->nplaces] = image;
	key->offsets[key->nplaces++] = offset;
}

static bool append_object(struct vti_objects *o, const struct vti_object_key *key)
{
	struct vt_memory_object *n;
	uint32_t i;

	if (!vt_array_grow(&o->list, &o->cap, o->count + 1, sizeof(*o->list)) ||
	    !vt_array_grow(&o->near, &o->near_cap, o->count + 1, sizeof(*o->near)))
		return false;
	o->near[o->count] = (struct vti_near){.list = NULL};
	n = &o->list[o->count++];
	*n = (struct vt_memory_object){.type = (enum vt_object_type)key->type,
				       .nplaces = key->nplaces};
	for (i = 0; i < key->nplaces; i++)
		n->places[i] = (struct vt_memory_place){key->offsets[i], key->images[i]};
	return true;
}

uint32_t vti_objects_get(struct vti_objects *o, const struct vti_object_key *key)
{
	struct vti_object_key other;
	struct object_entry *e;
	bool added = false;

	if (o->count >= VT_MEMORY_OBJECTS && !vt_hash_find(&o->keys, key)) {
		vti_object_key_init(&other, VT_OBJECT_OTHER);
		key = &other;
	}
	e = vt_hash_add(&o->keys, key, &added);
	if (!e || (added && !append_object(o, key)))
		return VTI_NO_OBJECT;
	if (added)
		e->object = o->count - 1;
	return (uint32_t)e->object;
}

const char *vt_memory_raw_name(const struct vt_memory_object *o)
{
	return o->symbol ? o->symbol->name : o->section ? o->section : o->name ? o->name : "";
}

bool vti_objects_name(struct vti_objects *o, uint32_t object, const char *text, size_t size)
{
	struct vt_memory_object *of = &o->list[object];
	const char *name;

	if (!size)
		return true;
	if (!o->names)
		o->names = vt_intern_new();
	name = o->names ? vt_intern_copy(o->names, text, size) : NULL;
	if (name && (!of->name || strcmp(name, of->name) < 0))
		of->name = name;
	return name != NULL;
}

/* ---- locations ---- */

static bool grow_near(struct vti_near *n, uint64_t index)
{
	size_t had = n->cap;

	if (index < had)
		return true;
	if (!vt_array_grow(&n->list, &n->cap, index + 1, sizeof(*n->list)))
		return false;
	memset(n->list + had, 0xff, (n->cap - had) * sizeof(*n->list));
	return true;
}

static uint32_t append_location(struct vti_objects *o, uint32_t object, int64_t offset)
{
	if (o->nlocations >= VTI_NO_LOCATION ||
	    !vt_array_grow(&o->locations, &o->locations_cap, o->nlocations + 1,
			   sizeof(*o->locations)))
		return VTI_NO_LOCATION;
	o->locations[o->nlocations] =
		(struct vt_memory_location){.offset = offset, .object = object};
	return (uint32_t)o->nlocations++;
}

uint32_t vti_objects_location(struct vti_objects *o, uint32_t object, uint64_t index,
			      int64_t offset)
{
	struct far_entry key = {.index = index, .object = object};
	struct far_entry *e;
	bool added;

	if (index < VTI_NEAR_LOCATIONS) {
		struct vti_near *near = &o->near[object];

		if (!grow_near(near, index))
			return VTI_NO_LOCATION;
		if (near->list[index] == VTI_NO_LOCATION)
			near->list[index] = append_location(o, object, offset);
		return near->list[index];
	}
	e = vt_hash_add(&o->far, &key, &added);
	if (!e)
		return VTI_NO_LOCATION;
	if (added)
		e->location = append_location(o, object, offset);
	return (uint32_t)e->location;
}

bool vti_location_value(struct vti_objects *o, struct vt_memory_location *l, uint64_t value)
{
	if (!l->values)
		l->values = o->nspare ? o->spare[--o->nspare] : vt_hotlists_add(o->values);
	if (!l->values)
		return false;
	vt_hotlist_put(o->values, l->values, value);
	return true;
}

bool vti_location_has_values(const struct vt_memory_location *l)
{
	return l->values || l->known;
}

int vti_hot_copy(struct vt_hot *to, const struct vt_hot *from, struct vt_error *err)
{
	struct vt_hot copy = *from;
	size_t size = from->nvalues * sizeof(*from->values);

	vt_hot_fini(to);
	if (vt_hot_alloc(&copy, from->nvalues, from->errors != NULL, err) < 0) {
		*to = (struct vt_hot){.size = 0};
		return -(int)err->code;
	}
	if (size) {
		memcpy(copy.values, from->values, size);
		memcpy(copy.counts, from->counts, size);
		if (copy.errors)
			memcpy(copy.errors, from->errors, size);
	}
	*to = copy;
	return 0;
}

int vti_location_values(struct vti_objects *o, const struct vt_memory_location *l,
			struct vt_hot *found, struct vt_error *err)
{
	if (l->known)
		return vti_hot_copy(found, l->known, err);
	if (vt_hotlist_read(o->values, l->values, found, err) < 0)
		return -(int)err->code;
	return vt_hot_sort(found, err);
}

/* ---- the order ---- */

static uint64_t location_accesses(const struct vt_memory_location *l)
{
	return l->counts.loads + l->counts.stores;
}

struct ranked {
	const struct vt_memory_object *of;
	uint32_t object;
};

static int compare_places(const struct vt_memory_object *x, const struct vt_memory_object *y)
{
	uint32_t i;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	for (i = 0; i < x->nplaces && i < y->nplaces; i++) {
		if (x->places[i].image != y->places[i].image)
			return x->places[i].image < y->places[i].image ? -1 : 1;
		if (x->places[i].offset != y->places[i].offset)
			return x->places[i].offset < y->places[i].offset ? -1 : 1;
	}
	if (x->nplaces != y->nplaces)
		return x->nplaces < y->nplaces ? -1 : 1;
	return strcmp(vt_memory_raw_name(x), vt_memory_raw_name(y));
}

/* Most misses, then accesses first; of equal ones, what identifies them decides. */
static int compare_ranked(const void *a, const void *b)
{
	const struct vt_memory_object *x = ((const struct ranked *)a)->of;
	const struct vt_memory_object *y = ((const struct ranked *)b)->of;
	uint64_t n = x->counts.loads + x->counts.stores, k = y->counts.loads + y->counts.stores;

	if (x->counts.misses != y->counts.misses)
		return x->counts.misses > y->counts.misses ? -1 : 1;
	if (n != k)
		return n > k ? -1 : 1;
	return compare_places(x, y);
}

static int rank_list(struct vti_objects *o, struct vt_error *err)
{
	struct ranked *list = calloc(o->count + 1, sizeof(*list));
	size_t i;

	o->order = calloc(o->count + 1, sizeof(*o->order));
	o->rank = calloc(o->count + 1, sizeof(*o->rank));
	if (!list || !o->order || !o->rank) {
		free(list);
		return vt_error_nomem(err);
	}
	for (i = 0; i < o->count; i++)
		list[i] = (struct ranked){&o->list[i], (uint32_t)i};
	qsort(list, o->count, sizeof(*list), compare_ranked);
	for (i = 0; i < o->count; i++) {
		o->order[i] = list[i].object;
		o->rank[list[i].object] = (uint32_t)i;
	}
	free(list);
	return 0;
}

/* By rank of the object, offset and size, the largest first: all are in the location once its
 * object is replaced by its rank.
 */
static int compare_locations(const void *a, const void *b)
{
	const struct vt_memory_location *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return (x->size < y->size) - (x->size > y->size);
}

static int compare_by_accesses(const void *a, const void *b)
{
	const struct vt_memory_location *x = *(const struct vt_memory_location *const *)a;
	const struct vt_memory_location *y = *(const struct vt_memory_location *const *)b;
	uint64_t n = location_accesses(x), k = location_accesses(y);

	if (x->counts.misses != y->counts.misses)
		return x->counts.misses > y->counts.misses ? -1 : 1;
	if (n != k)
		return n > k ? -1 : 1;
	return (x > y) - (x < y);
}

void vt_memory_sort_locations(const struct vt_memory_location **list, size_t n)
{
	qsort(list, n, sizeof(struct vt_memory_location *), compare_by_accesses);
}

int vti_objects_rank(struct vti_objects *o, struct vt_error *err)
{
	size_t i;

	if (rank_list(o, err) < 0)
		return -(int)err->code;
	for (i = 0; i < o->nlocations; i++)
		o->locations[i].object = o->rank[o->locations[i].object];
	if (o->nlocations)
		qsort(o->locations, o->nlocations, sizeof(*o->locations), compare_locations);
	return 0;
}

/* ---- the limit ---- */

static int compare_counts(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool find_median(const struct vti_objects *o, uint64_t *median)
{
	uint64_t *counts = malloc((o->nlocations + 1) * sizeof(*counts));
	size_t i;

	if (!counts)
		return false;
	for (i = 0; i < o->nlocations; i++)
		counts[i] = location_accesses(&o->locations[i]);
	qsort(counts, o->nlocations, sizeof(*counts), compare_counts);
	*median = counts[o->nlocations / 2];
	free(counts);
	return true;
}

static bool drop_location(struct vti_objects *o, struct vt_memory_location *l)
{
	struct vt_memory_object *of = &o->list[l->object];

	of->left_out++;
	of->left_out_accesses += location_accesses(l);
	free_location(l);
	if (!l->values || o->exact)
		return true;
	if (!vt_array_grow(&o->spare, &o->spare_cap, o->nspare + 1, sizeof(struct vt_hotlist *)))
		return false;
	vt_hotlist_clear(o->values, l->values);
	o->spare[o->nspare++] = l->values;
	return true;
}

static void renumber_near(struct vti_near *n, const uint32_t *now)
{
	size_t i;

	for (i = 0; i < n->cap; i++)
		if (n->list[i] != VTI_NO_LOCATION)
			n->list[i] = now[n->list[i]];
}

static bool renumber_far(struct vti_objects *o, const uint32_t *now)
{
	struct vt_hash old = o->far;
	size_t i;
	bool ok = true;

	vt_hash_init(&o->far, sizeof(struct far_entry), offsetof(struct far_entry, location));
	for (i = 0; i < old.count && ok; i++) {
		const struct far_entry *e = vt_hash_at(&old, i);
		struct far_entry *n;

		if (now[e->location] == VTI_NO_LOCATION)
			continue;
		n = vt_hash_add(&o->far, e, NULL);
		ok = n != NULL;
		if (ok)
			n->location = now[e->location];
	}
	vt_hash_fini(&old);
	return ok;
}

uint32_t *vti_objects_drop(struct vti_objects *o)
{
	uint32_t *now = calloc(o->nlocations + 1, sizeof(*now));
	size_t half = o->nlocations / 2, dropped = 0, kept = 0, i;
	uint64_t median;
	bool ok = now && find_median(o, &median);

	/* Of those with just the median, the older ones go. */
	for (i = 0; ok && i < o->nlocations; i++) {
		struct vt_memory_location *l = &o->locations[i];

		if (location_accesses(l) <= median && dropped < half) {
			now[i] = VTI_NO_LOCATION;
			dropped++;
			ok = drop_location(o, l);
		} else {
			now[i] = (uint32_t)kept;
			o->locations[kept++] = *l;
		}
	}
	o->nlocations = kept;
	for (i = 0; ok && i < o->count; i++)
		renumber_near(&o->near[i], now);
	if (ok && renumber_far(o, now))
		return now;
	free(now);
	return NULL;
}
