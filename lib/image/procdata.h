/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_PROCDATA_H
#define VT_IMAGE_PROCDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/addrspace.h"
#include "image/imagedata.h"
#include "image/images.h"
#include "image/unwind.h"

/*
 * What is known of a process's memory from its images' files.  Where an image lies is told by a
 * mapping of its code: recorders tell of that, and not all of them of anything else; and a file
 * that is mapped without being run (by a debugger, say) is not laid out as its segments want. Which
 * files are taken for the images is decided by vt_images.
 */

/* As vt_imagedata_line() tells it of an image. */
uint64_t vt_procdata_line(struct vt_images *im, struct vt_addrspace *as, int32_t pid,
			  uint64_t address, bool relro, uint8_t bytes[VT_IMAGEDATA_LINE]);

/*
 * The image at an address, and where it lies: address - vaddr.  False when there is none, or its
 * file is not there.
 */
bool vt_procdata_find(struct vt_images *im, struct vt_addrspace *as, int32_t pid, uint64_t address,
		      uint32_t *image, uint64_t *bias);

/*
 * Where the procedure returns to that has the instruction at `pc`, which comes next (unwind.h);
 * `entry` is an address.  False: unknown.
 */
bool vt_procdata_return(struct vt_images *im, struct vt_addrspace *as, int32_t pid, uint64_t pc,
			const struct vt_unwind_state *s, struct vt_return *f);

#endif
