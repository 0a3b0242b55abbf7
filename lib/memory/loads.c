/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "memory/loads.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#define VALUES 16 /* of a static load: so many are kept, by space-saving */

struct place_entry {
	struct vti_load_place place;
	uint64_t load;
};

/* What a static load loaded from.  Those of locations end before `value`. */
struct pair {
	uint64_t where;
	uint32_t of; /* the address's space, or the location's object */
	uint32_t load;
	uint64_t value;	   /* of an address: what it gave last, */
	uint64_t location; /* and which location was there, and is counted */
	uint64_t object;
};

int vti_loads_init(struct vti_loads *l, uint64_t limit, size_t max, struct vt_error *err)
{
	const struct vt_hotlist_options options = {
		.algo = VT_ALGO_SPACE_SAVING, .entries = VALUES, .seed = 1};

	*l = (struct vti_loads){.limit = limit,
				.max = max,
				.recent = calloc(VTI_RECENT_LOADS, sizeof(*l->recent)),
				.values = vt_hotlists_new(&options, err)};
	vt_hash_init(&l->places, sizeof(struct place_entry), sizeof(struct vti_load_place));
	vt_hash_init(&l->pairs[VT_DISTINCT_ADDRESSES], sizeof(struct pair),
		     offsetof(struct pair, value));
	vt_hash_init(&l->pairs[VT_DISTINCT_LOCATIONS], offsetof(struct pair, value),
		     offsetof(struct pair, value));
	if (!l->values)
		return -(int)err->code;
	return l->recent ? 0 : vt_error_nomem(err);
}

void vti_loads_fini(struct vti_loads *l)
{
	unsigned i;

	vt_hash_fini(&l->places);
	for (i = 0; i < VT_NDISTINCT; i++)
		vt_hash_fini(&l->pairs[i]);
	vt_hotlists_free(l->values);
	free(l->recent);
	free(l->list);
}

static bool append_load(struct vti_loads *l, uint32_t image, uint64_t offset)
{
	struct vt_hotlist *values;

	if (!vt_array_grow(&l->list, &l->cap, l->count + 1, sizeof(*l->list)))
		return false;
	values = vt_hotlists_add(l->values);
	if (values)
		l->list[l->count++] =
			(struct vt_memory_load){.offset = offset, .image = image, .values = values};
	return values != NULL;
}

bool vti_loads_find(struct vti_loads *l, uint32_t image, uint64_t offset, uint32_t *load)
{
	const struct vti_load_place key = {.offset = offset, .image = image};
	const struct place_entry *had = vt_hash_find(&l->places, &key);
	struct place_entry *e;

	*load = VTI_NO_LOAD;
	if (!had && l->count >= l->max)
		return true;
	if (!had) {
		e = append_load(l, image, offset) ? vt_hash_add(&l->places, &key, NULL) : NULL;
		if (!e)
			return false;
		e->load = l->count - 1;
		had = e;
	}
	*load = (uint32_t)had->load;
	return true;
}

/* ---- pairs ---- */

struct ranked {
	uint64_t pairs;
	uint32_t load;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->pairs != y->pairs)
		return x->pairs > y->pairs ? -1 : 1;
	return (x->load > y->load) - (x->load < y->load);
}

/* Marks the static loads with most pairs, until half of all pairs are theirs. */
static bool mark_largest(struct vti_loads *l, unsigned distinct)
{
	struct ranked *list = malloc((l->count + 1) * sizeof(*list));
	uint64_t sum = 0;
	size_t n = 0, i;

	if (!list)
		return false;
	for (i = 0; i < l->count; i++) {
		const struct vt_memory_distinct *d = &l->list[i].distinct[distinct];

		if (!d->at_least)
			list[n++] = (struct ranked){d->count, (uint32_t)i};
	}
	qsort(list, n, sizeof(*list), compare_ranked);
	for (i = 0; i < n && 2 * sum < l->pairs[distinct].count; i++) {
		sum += list[i].pairs;
		l->list[list[i].load].distinct[distinct].at_least = true;
	}
	free(list);
	return true;
}

static bool drop_largest(struct vti_loads *l, unsigned distinct)
{
	struct vt_hash *pairs = &l->pairs[distinct], old = *pairs;
	size_t i;
	bool ok = mark_largest(l, distinct);

	if (!ok)
		return false;
	vt_hash_init(pairs, old.entry_size, old.key_size);
	for (i = 0; i < old.count && ok; i++) {
		const struct pair *p = vt_hash_at(&old, i);
		struct pair *kept;

		if (l->list[p->load].distinct[distinct].at_least)
			continue;
		kept = vt_hash_add(pairs, p, NULL);
		ok = kept != NULL;
		if (ok)
			memcpy(kept, p, old.entry_size);
	}
	vt_hash_fini(&old);
	return ok;
}

/*
 * Sets *pair to that of a static load, which is added and counted; or to NULL if the load's pairs
 * are dropped.  Returns false when memory runs out.
 */
static bool find_pair(struct vti_loads *l, unsigned distinct, const struct pair *key,
		      struct pair **pair, bool *added)
{
	struct vt_memory_distinct *d = &l->list[key->load].distinct[distinct];
	struct vt_hash *pairs = &l->pairs[distinct];

	*pair = NULL;
	if (!d->at_least && pairs->count >= l->limit && !vt_hash_find(pairs, key) &&
	    !drop_largest(l, distinct))
		return false;
	if (d->at_least)
		return true;
	*pair = vt_hash_add(pairs, key, added);
	if (*pair)
		d->count += *added;
	return *pair != NULL;
}

static bool add_location(struct vti_loads *l, uint32_t load, const struct vti_load *a)
{
	const struct pair key = {.where = a->location, .of = a->object, .load = load};
	struct pair *pair;
	bool added;

	return find_pair(l, VT_DISTINCT_LOCATIONS, &key, &pair, &added);
}

static bool add_address(struct vti_loads *l, uint32_t load, const struct vti_load *a)
{
	const struct pair key = {.where = a->address, .of = a->space, .load = load};
	struct vt_memory_load *n = &l->list[load];
	struct pair *pair;
	bool added;

	if (!find_pair(l, VT_DISTINCT_ADDRESSES, &key, &pair, &added))
		return false;
	if (!pair)
		return add_location(l, load, a);
	n->followed++;
	n->repeated += !added && pair->value == a->value;
	pair->value = a->value;
	if (!added && pair->location == a->location && pair->object == a->object)
		return true;
	pair->location = a->location;
	pair->object = a->object;
	return add_location(l, load, a);
}

bool vti_loads_add(struct vti_loads *l, uint32_t load, const struct vti_load *a)
{
	struct vt_memory_load *n;

	if (load == VTI_NO_LOAD) {
		l->left_out++;
		return true;
	}
	n = &l->list[load];
	n->loads++;
	n->size = a->size > n->size ? a->size : n->size;
	n->zero += a->zero;
	n->redundant += a->redundant;
	n->types[a->type]++;
	vt_hotlist_put(l->values, n->values, a->value);
	return add_address(l, load, a);
}

/* ---- the end ---- */

static int read_values(struct vti_loads *l, struct vt_memory_load *n, struct vt_hot *h,
		       struct vt_error *err)
{
	if (vt_hotlist_read(l->values, n->values, h, err) < 0)
		return -(int)err->code;
	n->same = h->same;
	n->top = h->nvalues ? h->counts[0] - (h->errors ? h->errors[0] : 0) : 0;
	n->value = h->nvalues ? h->values[0] : 0;
	/* Zeros are counted one by one. */
	if (n->zero && n->zero >= n->top) {
		n->top = n->zero;
		n->value = 0;
	}
	return 0;
}

/* The most executed first; then by place. */
static int compare_loads(const void *a, const void *b)
{
	const struct vt_memory_load *x = a, *y = b;

	if (x->loads != y->loads)
		return x->loads > y->loads ? -1 : 1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

int vti_loads_finish(struct vti_loads *l, struct vt_error *err)
{
	struct vt_hot h = {.size = 0};
	size_t i;
	int code = 0;

	for (i = 0; i < l->count && code == 0; i++)
		code = read_values(l, &l->list[i], &h, err);
	vt_hot_fini(&h);
	if (code == 0 && l->count)
		qsort(l->list, l->count, sizeof(*l->list), compare_loads);
	return code;
}

void vti_loads_classes(const struct vti_loads *l, unsigned distinct,
		       struct vt_load_class classes[VT_LOAD_CLASSES])
{
	uint64_t to = 1;
	unsigned k;
	size_t i;

	for (k = 0; k < VT_LOAD_CLASSES; k++, to *= 10)
		classes[k] = (struct vt_load_class){
			.from = k ? to / 10 + 1 : 1,
			.to = k + 1 < VT_LOAD_CLASSES ? to : UINT64_MAX,
		};
	for (i = 0; i < l->count; i++) {
		const struct vt_memory_distinct *d = &l->list[i].distinct[distinct];

		for (k = 0; d->count > classes[k].to; k++)
			;
		classes[k].static_loads++;
		classes[k].loads += l->list[i].loads;
		classes[k].at_least += d->at_least;
	}
}
