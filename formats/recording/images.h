/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_RECORDING_IMAGES_H
#define FORMATS_RECORDING_IMAGES_H

#include <stdint.h>

#include "base/hash.h"
#include "base/intern.h"
#include "stream/writer.h"

/*
 * The images of a recording: each file once, whichever processes map it, with the build-id of the
 * file at its path now.
 */
struct rc_images {
	struct vt_intern *paths;
	struct vt_hash table;
};

/* The most images; code of further ones counts as anonymous. */
#define RC_MAX_IMAGES 65536

/* 0 or -VT_E_NOMEM. */
int vti_rc_images_init(struct rc_images *t, struct vt_error *err);
void vti_rc_images_fini(struct rc_images *t);

/*
 * The id of the image of a mapping; writes an IMAGE record for a new one.  An empty path is memory
 * without a file, "[vdso]" the kernel's library.  UINT32_MAX: no memory.
 */
uint32_t vti_rc_image(struct rc_images *t, struct vt_writer *w, const char *path, size_t size,
		      uint64_t dev, uint64_t ino);

#endif
