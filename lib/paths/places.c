/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "paths/places.h"

#include <stddef.h>

#include "profile/same_image.h"

void vt_pathplaces_init(struct vt_pathplaces *p)
{
	vt_hash_init(&p->places, sizeof(struct vt_pathplace), sizeof(struct vt_pathplace));
	vt_hash_init(&p->transfers, sizeof(struct vt_pathtransfer),
		     offsetof(struct vt_pathtransfer, count));
}

void vt_pathplaces_fini(struct vt_pathplaces *p)
{
	vt_hash_fini(&p->places);
	vt_hash_fini(&p->transfers);
}

bool vt_pathplaces_at(struct vt_pathplaces *p, const struct vt_context *c, int64_t pid,
		      uint64_t address, uint64_t misc, uint32_t *place)
{
	const struct vt_map *m =
		vt_addrspace_find(vt_context_space(c), (int32_t)pid, address, misc);
	struct vt_pathplace key = {.offset = 0};
	void *entry;

	*place = VT_PATHPLACE_NONE;
	if (!m)
		return true;
	key.offset = vt_map_offset(m, address);
	key.image = m->image;
	key.pid = m->type == VT_IMAGE_ANON ? (int32_t)pid : 0;
	if (p->places.count >= VT_PATHPLACES_MAX && !vt_hash_find(&p->places, &key))
		return true;
	entry = vt_hash_add(&p->places, &key, NULL);
	if (entry)
		*place = (uint32_t)vt_hash_index(&p->places, entry);
	return entry != NULL;
}

const struct vt_pathplace *vt_pathplaces_get(const struct vt_pathplaces *p, uint32_t place)
{
	return vt_hash_at(&p->places, place);
}

bool vt_pathplaces_went(struct vt_pathplaces *p, uint32_t from, uint32_t to, uint64_t count)
{
	const struct vt_pathtransfer key = {.from = from, .to = to};
	struct vt_pathtransfer *t;

	if (from == VT_PATHPLACE_NONE || to == VT_PATHPLACE_NONE ||
	    (p->transfers.count >= VT_PATHPLACES_MAX && !vt_hash_find(&p->transfers, &key)))
		return true;
	t = vt_hash_add(&p->transfers, &key, NULL);
	if (t)
		t->count = count < UINT64_MAX - t->count ? t->count + count : UINT64_MAX;
	return t != NULL;
}

/* The number of a place of another stream's images; VT_PATHPLACE_NONE.  False: out of memory. */
static bool join_place(struct vt_pathplaces *p, const struct vt_images *images,
		       const struct vt_pathplace *other, const struct vt_images *others,
		       uint32_t *place)
{
	struct vt_pathplace key = *other;
	void *entry;

	*place = VT_PATHPLACE_NONE;
	if (!vt_same_image(others, other->image, images, &key.image))
		return true;
	entry = vt_hash_add(&p->places, &key, NULL);
	if (entry)
		*place = (uint32_t)vt_hash_index(&p->places, entry);
	return entry != NULL;
}

bool vt_pathplaces_join(struct vt_pathplaces *p, const struct vt_images *images,
			const struct vt_pathplaces *other, const struct vt_images *others)
{
	size_t i;

	for (i = 0; i < other->transfers.count; i++) {
		const struct vt_pathtransfer *t = vt_hash_at(&other->transfers, i);
		uint32_t from, to;

		if (!join_place(p, images, vt_pathplaces_get(other, t->from), others, &from) ||
		    !join_place(p, images, vt_pathplaces_get(other, t->to), others, &to) ||
		    !vt_pathplaces_went(p, from, to, t->count))
			return false;
	}
	return true;
}
