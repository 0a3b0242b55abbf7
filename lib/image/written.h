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

/* Ranges of offsets in a file, unordered.  Initialize with zeros. */
struct vti_ranges {
	struct vti_range *list;
	size_t count;
	size_t cap;
};

/* Maximum number of ranges; further ones extend the last. */
#define VTI_MAX_RANGES 64

void vti_ranges_fini(struct vti_ranges *r);

/* Adds a range.  Returns true if that changed anything.  At the limit, or when memory runs out, it
 * adds too much rather than too little. */
bool vti_ranges_add(struct vti_ranges *r, uint64_t offset, uint64_t length);
bool vti_ranges_has(const struct vti_ranges *r, uint64_t offset);

/*
 * The files of a stream that a process could write to through a shared mapping.  The writes are
 * visible in all mappings of the file, under any name (hard links).  So a file is identified by its
 * image, by device and inode, and by its build-id, the only one that perf record --buildid-mmap
 * writes.
 */
struct vti_written {
	struct vt_hash files;
	bool any;
	uint64_t code_changes; /* rises when more of a file with code becomes written */
};

void vti_written_init(struct vti_written *w);
void vti_written_fini(struct vti_written *w);

/* Processes a MAP record of an image.  Returns 0 or -VT_E_NOMEM. */
int vti_written_feed(struct vti_written *w, const struct vt_image *image,
		     const struct vti_inode *inode, const struct vt_record *rec,
		     struct vt_error *err);

/* Returns true if a process could write to an offset of the image's file. */
bool vti_written_has(const struct vti_written *w, const struct vt_image *image,
		     const struct vti_inode *inode, uint64_t offset);

#endif
