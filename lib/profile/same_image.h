/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_SAME_IMAGE_H
#define VT_PROFILE_SAME_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "image/images.h"

/*
 * Finds the image of `to` that is the same as image `id` of another stream's `from`: with the same
 * build-id, or, if either has none, the same type and path.  False if there is none.
 */
bool vt_same_image(const struct vt_images *from, uint32_t id, const struct vt_images *to,
		   uint32_t *same);

#endif
