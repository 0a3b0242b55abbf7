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
 * The machine code of a procedure: from its image's file, or put together of a stream's blocks,
 * where no file has it, as blocks show that differ from the file.  What was never executed is then
 * int3.
 */
struct vt_proccode {
	const uint8_t *bytes;
	size_t size;
	uint8_t *owned; /* NULL: borrowed from the images */
};

/*
 * `blocks` may be NULL.  *c, which has to be all zero, is to be ended in either case.
 * -VT_E_NOTFOUND: there is none, or none for x86-64; -VT_E_LIMIT, -VT_E_NOMEM.
 */
int vt_proccode_find(struct vt_images *images, const struct vt_blockcode *blocks,
		     const struct vt_procedure *proc, struct vt_proccode *c, struct vt_error *err);
void vt_proccode_fini(struct vt_proccode *c);

#endif
