/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What of a profile belongs to one procedure. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "listing/code/internal.h"

/* Where the samples of an address are in `tallies`, and its hot lists in the value profile. */
struct point_entry {
	uint64_t vaddr;
	uint64_t offset;
	uint64_t index;
	size_t list;
	size_t nlists;
};

static bool is_listed_offset(struct vt_listing *l, uint64_t offset, uint64_t *vaddr)
{
	struct vt_location loc;

	*vaddr = offset;
	if (l->proc.image == VT_UNMAPPED_IMAGE)
		return true;
	vt_images_symbol(l->images, l->proc.image, l->proc.pid, offset, &loc);
	*vaddr = loc.vaddr;
	if (!l->proc.symbol)
		return !loc.symbol;
	return loc.symbol && loc.symbol->start == l->proc.start;
}

/* The entry of an address, which may be new. */
static struct point_entry *add_point_entry(struct vt_listing *l, struct vt_hash *addresses,
					   size_t *cap, uint64_t vaddr, uint64_t offset)
{
	bool added;
	struct point_entry *a = vt_hash_add(addresses, &vaddr, &added);

	if (!a || !vt_array_grow(&l->tallies, cap, addresses->count * l->nevents + 1,
				 sizeof(*l->tallies)))
		return NULL;
	if (added) {
		a->index = addresses->count - 1;
		a->offset = offset;
		if (l->nevents)
			memset(l->tallies + a->index * l->nevents, 0,
			       l->nevents * sizeof(*l->tallies));
	}
	return a;
}

/* The offsets of the image between which the procedure lies; all of it if they are unknown. */
static void find_offset_range(struct vt_listing *l, uint64_t *first, uint64_t *last)
{
	if (l->proc.symbol && vt_images_offset(l->images, l->proc.image, l->proc.start, first) &&
	    vt_images_offset(l->images, l->proc.image, l->proc.end - 1, last) && *first <= *last)
		return;
	*first = 0;
	*last = UINT64_MAX;
}

static bool gather_place_samples(struct vt_listing *l, const struct vt_profile *p,
				 struct vt_hash *addresses, size_t *cap)
{
	const struct vt_place *const *places;
	uint64_t first, last;
	size_t i, n;

	/* What lies in no image has a cause for an offset. */
	if (l->proc.image == VT_UNMAPPED_IMAGE)
		return true;
	find_offset_range(l, &first, &last);
	if (!vt_profile_find_places(p, l->proc.image, l->proc.pid, first, last, &places, &n))
		return false;
	for (i = 0; i < n; i++) {
		const struct vt_place *place = places[i];
		struct point_entry *a;
		struct vt_tally *t;
		uint64_t vaddr;

		if (!is_listed_offset(l, place->offset, &vaddr))
			continue;
		a = add_point_entry(l, addresses, cap, vaddr, place->offset);
		if (!a)
			return false;
		t = &l->tallies[a->index * l->nevents + place->event];
		t->samples += place->samples;
		t->period += place->period;
		l->total[place->event].samples += place->samples;
		l->total[place->event].period += place->period;
	}
	return true;
}

static bool gather_hot_lists(struct vt_listing *l, struct vt_hash *addresses, size_t *cap)
{
	const struct vt_hotprofile *lists = l->values->lists;
	uint32_t image = VT_HOT_NO_IMAGE;
	uint64_t start, last;
	size_t i, n;

	if (l->proc.image != VT_UNMAPPED_IMAGE) {
		image = vt_hotprofile_image_of(lists, l->proc.image);
		if (image == VT_HOT_NO_IMAGE)
			return true;
	}
	find_offset_range(l, &start, &last);
	vt_hotprofile_find(lists, image, start, &i);
	for (; i < vt_hotprofile_count(lists); i += n) {
		const struct vt_hot_key *key = &vt_hotprofile_at(lists, i)->key;
		struct point_entry *a;
		uint64_t vaddr;

		if (key->image != image || key->offset > last)
			break;
		n = vt_hotprofile_find(lists, image, key->offset, &i);
		if (!is_listed_offset(l, key->offset, &vaddr))
			continue;
		a = add_point_entry(l, addresses, cap, vaddr, key->offset);
		if (!a)
			return false;
		a->list = i;
		a->nlists = n;
	}
	return true;
}

static int compare_point_addresses(const void *pa, const void *pb)
{
	const struct vti_point *a = pa;
	const struct vti_point *b = pb;

	return a->vaddr < b->vaddr ? -1 : a->vaddr > b->vaddr;
}

bool vti_listing_gather(struct vt_listing *l, const struct vt_profile *p)
{
	struct vt_hash addresses;
	size_t i, cap = 0;
	bool ok;

	vt_hash_init(&addresses, sizeof(struct point_entry), sizeof(uint64_t));
	ok = gather_place_samples(l, p, &addresses, &cap);
	ok = ok && (!l->values || gather_hot_lists(l, &addresses, &cap));
	l->points = calloc(addresses.count + 1, sizeof(*l->points));
	ok = ok && l->points;
	for (i = 0; ok && i < addresses.count; i++) {
		const struct point_entry *a = vt_hash_at(&addresses, i);

		l->points[i] = (struct vti_point){.vaddr = a->vaddr,
						  .offset = a->offset,
						  .tallies = l->tallies + a->index * l->nevents,
						  .list = a->list,
						  .nlists = a->nlists};
	}
	l->npoints = ok ? addresses.count : 0;
	if (ok)
		qsort(l->points, l->npoints, sizeof(*l->points), compare_point_addresses);
	vt_hash_fini(&addresses);
	return ok;
}
