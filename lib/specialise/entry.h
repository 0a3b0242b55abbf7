/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SPECIALISE_ENTRY_H
#define VT_SPECIALISE_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/images.h"

/* The beginnings of procedures in images without symbols. */
struct vti_entry {
	uint64_t offset;
	uint32_t image;
};

struct vti_entries {
	struct vti_entry *list;
	size_t count;
	size_t cap;
};

void vti_entries_fini(struct vti_entries *e);

/* Add one place, or all that are in an image's call frames.  Return 0 or -VT_E_NOMEM. */
int vti_entries_add(struct vti_entries *e, uint32_t image, uint64_t offset, struct vt_error *err);
int vti_entries_add_image(struct vti_entries *e, struct vt_images *images, uint32_t image,
			  struct vt_error *err);

/* Sorts the places.  Call it after the last addition and before vti_entries_before(). */
void vti_entries_sort(struct vti_entries *e);

/*
 * Returns the last place at or before an offset, or NULL.  *end becomes the offset of the next
 * place, or 0 if there is none in the image.
 */
const struct vti_entry *vti_entries_before(const struct vti_entries *e, uint32_t image,
					   uint64_t offset, uint64_t *end);

#endif
