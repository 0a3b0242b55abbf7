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
 * The content of a process's memory that is known from the files of its images; vt_images selects
 * these.  The load bias of an image comes from a mapping of its code: all recorders write those,
 * and some write no others; and a file that is mapped but not executed, by a debugger for example,
 * is not laid out by its segments.
 */

/* Like vt_imagedata_line(), for the image at an address of a process. */
uint64_t vt_procdata_line(struct vt_images *im, struct vt_addrspace *as, int32_t pid,
			  uint64_t address, bool relro, uint8_t bytes[VT_IMAGEDATA_LINE]);

/*
 * Finds the image at an address and its load bias, address - vaddr.  Returns false if there is no
 * image, or its file was not found.
 */
bool vt_procdata_find(struct vt_images *im, struct vt_addrspace *as, int32_t pid, uint64_t address,
		      uint32_t *image, uint64_t *bias);

/*
 * Finds the load bias of what a mapping maps of an image, by its code: the image's content.  NULL,
 * if the file was not found, or the mapping is of no code that it has.
 */
const struct vt_imagedata *vt_procdata_code(struct vt_images *im, const struct vt_map *map,
					    uint64_t *bias);

/*
 * Finds the load bias by a mapping of any segment of the image `elf`, its data for example.  One
 * page of the file may be of several segments: then it is that by which most segments are mapped
 * where they should be.  Returns false if the mapping is of no segment.
 */
bool vt_procdata_bias(const struct vt_elf *elf, struct vt_addrspace *as, int32_t pid,
		      const struct vt_map *map, uint64_t *bias);

/*
 * Like vt_unwind_find(), for the procedure with the instruction at `pc`, which is executed next;
 * f->entry is an address.
 */
bool vt_procdata_return(struct vt_images *im, struct vt_addrspace *as, int32_t pid, uint64_t pc,
			const struct vt_unwind_state *s, struct vt_return *f);

/*
 * Whether call frame information covers the instruction at an address.  True where that is unknown:
 * there is no image, or its file was not found.
 */
bool vt_procdata_has_frame(struct vt_images *im, struct vt_addrspace *as, int32_t pid,
			   uint64_t address);

/* Like vt_unwind_step(), for the procedure with the instruction at an address. */
bool vt_procdata_step(struct vt_images *im, struct vt_addrspace *as, int32_t pid, uint64_t address,
		      struct vt_unwind_regs *regs,
		      bool (*load)(void *arg, uint64_t address, unsigned size, uint64_t *value),
		      void *arg);

#endif
