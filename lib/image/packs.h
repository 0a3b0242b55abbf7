/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_PACKS_H
#define VT_IMAGE_PACKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/record.h"
#include "stream/writer.h"

/*
 * The packed images (packed.h) of streams that are summed up, so that the sum has them, too.
 * Images are the same that have the same build-id, or without one the same type and path.
 * Generated code is left out: processes of several runs may have the same number.  So are kernels
 * and modules at several addresses, and images of a stream that is not packed: what another one
 * packed of them has not all that was hit.
 */
struct vt_packs;

/* Owned by the caller; NULL when memory runs out. */
struct vt_packs *vt_packs_new(void);
void vt_packs_free(struct vt_packs *p);

/*
 * Takes a run of records of the current stream: IMAGE, FILE, SYMBOL and LINE; others are ignored.
 * -VT_E_NOMEM; -VT_E_LIMIT and -VT_E_FORMAT as vt_images_feed(): the rest is taken.
 */
int vt_packs_feed(struct vt_packs *p, const struct vt_block *b, uint32_t first, uint32_t count,
		  struct vt_error *err);

/* Ends the current stream: ids of images mean others from now on. */
void vt_packs_end_stream(struct vt_packs *p);

/* Writes what is packed of an image, with another id.  Errors stick to the writer. */
void vt_packs_write(const struct vt_packs *p, unsigned type, const void *path, size_t path_size,
		    const void *buildid, size_t buildid_size, uint32_t id, struct vt_writer *w);

#endif
