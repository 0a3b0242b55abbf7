/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/maps.h"

#include <stddef.h>

#define PROT_EXEC 4u /* of sys/mman.h, on every Linux */

/* The latest mapping of a stretch of an image. */
struct stretch {
	uint64_t offset; /* with `image`, the key */
	uint64_t image;
	uint64_t start;
	uint64_t length;
	uint64_t age; /* later mappings have greater numbers */
	bool data;    /* it never was executable */
};

void vti_profmaps_init(struct vti_profmaps *m)
{
	*m = (struct vti_profmaps){0};
	vt_hash_init(&m->stretches, sizeof(struct stretch), offsetof(struct stretch, start));
}

void vti_profmaps_fini(struct vti_profmaps *m)
{
	vt_hash_fini(&m->stretches);
}

int vti_profmaps_take(struct vti_profmaps *m, const struct vt_record *rec,
		      const struct vt_images *images, struct vt_error *err)
{
	const uint64_t id = vt_record_u64(rec, VT_MAP_IMAGE);
	const struct vt_image *image = images ? vt_images_get(images, (uint32_t)id) : NULL;
	/* As vt_map_offset() has it, an offset of anonymous code is an address. */
	bool anonymous = image && image->type == VT_IMAGE_ANON;
	struct stretch key = {.offset =
				      vt_record_u64(rec, anonymous ? VT_MAP_START : VT_MAP_OFFSET),
			      .image = id};
	uint64_t prot = vt_record_u64(rec, VT_MAP_PROT);
	bool added;
	struct stretch *s = vt_hash_add(&m->stretches, &key, &added);

	if (!s)
		return vt_error_nomem(err);
	s->data = (added || s->data) && prot && !(prot & PROT_EXEC);
	s->start = vt_record_u64(rec, VT_MAP_START);
	s->length = vt_record_u64(rec, VT_MAP_LENGTH);
	s->age = ++m->nmaps;
	return 0;
}

/* Where an address is in the image of a stretch, of which there may be none (NULL). */
static bool place_in(const struct stretch *s, uint64_t address, uint32_t *image, uint64_t *offset)
{
	if (!s)
		return false;
	*image = (uint32_t)s->image;
	*offset = address - s->start + s->offset;
	return true;
}

bool vti_profmaps_find(const struct vti_profmaps *m, uint64_t address, uint32_t *image,
		       uint64_t *offset)
{
	const struct stretch *best = NULL;
	size_t i;

	for (i = 0; i < m->stretches.count; i++) {
		const struct stretch *s = vt_hash_at(&m->stretches, i);

		if (address - s->start < s->length && (!best || s->age > best->age))
			best = s;
	}
	return place_in(best, address, image, offset);
}

bool vti_profmaps_has_code(const struct vti_profmaps *m, uint32_t image)
{
	size_t i;

	for (i = 0; i < m->stretches.count; i++) {
		const struct stretch *s = vt_hash_at(&m->stretches, i);

		if (s->image == image && !s->data)
			return true;
	}
	return false;
}

bool vti_profmaps_find_before(const struct vti_profmaps *m, uint64_t address, uint32_t *image,
			      uint64_t *offset)
{
	const struct stretch *best = NULL;
	size_t i;

	for (i = 0; i < m->stretches.count; i++) {
		const struct stretch *s = vt_hash_at(&m->stretches, i);

		if (s->start > address || !vti_profmaps_has_code(m, (uint32_t)s->image))
			continue;
		if (!best || s->start > best->start ||
		    (s->start == best->start && s->age > best->age))
			best = s;
	}
	return place_in(best, address, image, offset);
}
