/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_WRITTEN_H
#define VT_IMAGE_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "image/fileident.h"
#include "image/image.h"
#include "stream/record.h"

struct vti_range {
	uint64_t first;
	uint64_t end;
};

/* Stretches of a file by offset, in no order.  All zero: none. */
struct vti_ranges {
	struct vti_range *list;
	size_t count;
	size_t cap;
};

/* How many stretches are told apart; further ones widen the last. */
#define VTI_MAX_RANGES 64

void vti_ranges_fini(struct vti_ranges *r);

/* True if that changed anything.  Without room or memory, rather too much is added than too little.
 */
bool vti_ranges_add(struct vti_ranges *r, uint64_t offset, uint64_t length);
bool vti_ranges_has(const struct vti_ranges *r, uint64_t offset);

/*
 * Files of a stream that a process could write to by a shared mapping.  Whoever else maps the file
 * sees that, at any address and under any name (hard links): a file is known by its image, by its
 * device and inode, and by its build-id, which is all that perf record --buildid-mmap tells.
 */
struct vti_written {
	struct vt_hash files;
	bool any;
	uint64_t code_changes; /* how often more of a file with code became known as written */
};

void vti_written_init(struct vti_written *w);
void vti_written_fini(struct vti_written *w);

/* Takes a MAP record of an image.  0 or -VT_E_NOMEM. */
int vti_written_feed(struct vti_written *w, const struct vt_image *image,
		     const struct vti_inode *inode, const struct vt_record *rec,
		     struct vt_error *err);

/* True if a process could write to an offset of the image's file. */
bool vti_written_has(const struct vti_written *w, const struct vt_image *image,
		     const struct vti_inode *inode, uint64_t offset);

#endif
