/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_IMAGEDATA_H
#define VT_IMAGE_IMAGEDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/elf.h"

/*
 * The bytes of an x86-64 image that do not change while it is mapped, computed from its file:
 *
 *   - the file's bytes in segments that are not writable: code, constants, unwind tables;
 *   - data that the dynamic linker protects after relocation (PT_GNU_RELRO): the file's bytes, or
 *     load bias + addend for relocations R_X86_64_RELATIVE and DT_RELR.  Unknown are words with
 *     other relocations, _DYNAMIC and the first words of the global offset table, to which the
 *     linker writes, and a last page that is only partly in the range.
 *
 * The second kind is unknown in images that no dynamic linker loads (static programs, and the
 * linker itself), because their own code may write to it at startup.  In images with IFUNC
 * resolvers (STT_GNU_IFUNC), which run before protection, only its relocated words are known.  Text
 * with relocations is unknown.  Nothing is known of an image that contradicts itself.
 */
struct vt_imagedata;

#define VT_IMAGEDATA_LINE 64

/* `e` is borrowed and must outlive the result.  NULL: VT_E_NOMEM. */
struct vt_imagedata *vt_imagedata_new(const struct vt_elf *e, struct vt_error *err);
void vt_imagedata_free(struct vt_imagedata *d);

/*
 * Computes the load bias of an image in a process, address - vaddr modulo 2^64, from the address
 * and file offset of any page of a mapping of its code.  Returns false if the file has no code
 * there.
 */
bool vt_imagedata_bias(const struct vt_imagedata *d, uint64_t address, uint64_t offset,
		       uint64_t *bias);

/*
 * Returns true if the dynamic linker writes to the page of `vaddr` and then protects it: data that
 * is protected after relocation, and text with relocations.
 */
bool vt_imagedata_is_relocated(const struct vt_imagedata *d, uint64_t vaddr);

/* Returns the range of vaddrs, in whole pages, of all segments: [*first, *end). */
void vt_imagedata_span(const struct vt_imagedata *d, uint64_t *first, uint64_t *end);

/*
 * Stores the bytes of the line at `address`, a multiple of 64.  Bit i of the result tells whether
 * byte i is known; unknown bytes are 0.  With `relro` false, data that the linker protects is
 * unknown, because the linker may not have finished.
 */
uint64_t vt_imagedata_line(const struct vt_imagedata *d, uint64_t bias, uint64_t address,
			   bool relro, uint8_t bytes[VT_IMAGEDATA_LINE]);

/* Copies at most `size` known bytes of code from `vaddr` on.  Returns their number. */
size_t vt_imagedata_code(const struct vt_imagedata *d, uint64_t vaddr, uint8_t *bytes, size_t size);

#endif
