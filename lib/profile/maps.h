/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_MAPS_H
#define VT_PROFILE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "image/images.h"
#include "stream/record.h"

/*
 * What a profile keeps of the mappings of all processes together: of each stretch of an image, the
 * latest.
 */
struct vti_profmaps {
	struct vt_hash stretches;
	uint64_t nmaps;
};

void vti_profmaps_init(struct vti_profmaps *m);
void vti_profmaps_fini(struct vti_profmaps *m);

/* Takes a MAP record; `images` knows the types of images, and may be NULL.  -VT_E_NOMEM. */
int vti_profmaps_take(struct vti_profmaps *m, const struct vt_record *rec,
		      const struct vt_images *images, struct vt_error *err);

/* As vt_profile_find(), vt_profile_find_before() and vt_profile_has_code(). */
bool vti_profmaps_find(const struct vti_profmaps *m, uint64_t address, uint32_t *image,
		       uint64_t *offset);
bool vti_profmaps_find_before(const struct vti_profmaps *m, uint64_t address, uint32_t *image,
			      uint64_t *offset);
bool vti_profmaps_has_code(const struct vti_profmaps *m, uint32_t image);

#endif
