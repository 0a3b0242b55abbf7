/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_SAME_IMAGE_H
#define VT_PROFILE_SAME_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "image/images.h"

/*
 * Which image of `to` is the image `id` of `from`, of another stream: the one with the same
 * build-id, or, where either has none, with the same path.  False if none is.
 */
bool vt_same_image(const struct vt_images *from, uint32_t id, const struct vt_images *to,
		   uint32_t *same);

#endif
