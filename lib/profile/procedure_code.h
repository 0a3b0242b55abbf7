/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_PROCEDURE_CODE_H
#define VT_PROFILE_PROCEDURE_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/images.h"
#include "profile/block_code.h"
#include "profile/locate.h"

/*
 * The machine code of a procedure: from its image's file, or assembled from a stream's blocks if
 * there is no file or the blocks differ from it.  Code that no block has is then int3.
 */
struct vt_proccode {
	const uint8_t *bytes;
	size_t size;
	uint8_t *owned; /* NULL: borrowed from the images */
};

/*
 * *c must be all zero; call vt_proccode_fini() also after an error.  `blocks` may be NULL.
 * -VT_E_NOTFOUND: no code, or not for x86-64; -VT_E_LIMIT: the procedure is too large; -VT_E_NOMEM.
 */
int vt_proccode_find(struct vt_images *images, const struct vt_blockcode *blocks,
		     const struct vt_procedure *proc, struct vt_proccode *c, struct vt_error *err);
void vt_proccode_fini(struct vt_proccode *c);

#endif
