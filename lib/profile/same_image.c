/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/same_image.h"

#include <string.h>

static bool is_same(const struct vt_image *a, const struct vt_image *b)
{
	if (a->buildid_size && b->buildid_size)
		return vt_buildid_equal(a->buildid, a->buildid_size, b->buildid, b->buildid_size);
	return a->type == b->type && strcmp(a->path, b->path) == 0;
}

bool vt_same_image(const struct vt_images *from, uint32_t id, const struct vt_images *to,
		   uint32_t *same)
{
	const struct vt_image *image = vt_images_get(from, id);
	size_t i;

	for (i = 0; image && i < vt_images_count(to); i++) {
		const struct vt_image *other = vt_images_at(to, i);

		if (is_same(image, other)) {
			*same = other->id;
			return true;
		}
	}
	return false;
}
