/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_IMAGEDATA_H
#define VT_IMAGE_IMAGEDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/elf.h"

/*
 * The bytes of an x86-64 image that stay what they are for as long as it is mapped, from its file:
 *
 *   - what its segments that are not writable have in the file: code, constants, unwind tables;
 *   - what the dynamic linker protects once it has relocated it (PT_GNU_RELRO): the file's bytes,
 *     and load bias + addend where a relocation asks for that (R_X86_64_RELATIVE, DT_RELR).  Not
 *     known is what other relocations fill in, _DYNAMIC and the first words of the global offset
 *     table, which the linker writes to, and a last page that is not all in the range.
 *
 * Of an image that has no dynamic linker before it (static programs, and the linker itself), which
 * may write to such data while it starts, the second kind is unknown.  Of one with procedures that
 * choose others (STT_GNU_IFUNC), which the linker calls before it protects, and which may write to
 * such data as well, only the words are known that relocations fill in.  Unknown is also text where
 * relocations change it.  An image that contradicts itself has nothing that is known.
 */
struct vt_imagedata;

#define VT_IMAGEDATA_LINE 64

/* `e` is borrowed and must stay.  NULL when memory runs out: VT_E_NOMEM. */
struct vt_imagedata *vt_imagedata_new(const struct vt_elf *e, struct vt_error *err);
void vt_imagedata_free(struct vt_imagedata *d);

/*
 * Where an image lies in a process, address - vaddr, modulo 2^64, from a mapping of its code:
 * address and offset in the file of any page of it.  False when the file has no code there.
 */
bool vt_imagedata_bias(const struct vt_imagedata *d, uint64_t address, uint64_t offset,
		       uint64_t *bias);

/*
 * True if the dynamic linker writes to the page of a vaddr before it protects it, once: to what it
 * relocates and then protects, and to text with relocations.
 */
bool vt_imagedata_is_relocated(const struct vt_imagedata *d, uint64_t vaddr);

/* The vaddrs of all its segments, whole pages: from *first, up to but without *end. */
void vt_imagedata_span(const struct vt_imagedata *d, uint64_t *first, uint64_t *end);

/*
 * The bytes of the line at `address`, a multiple of 64: bit i of the result says that byte i is
 * known; the others are 0.  With `relro` false, of data that the linker protects nothing is known:
 * for when the linker may still be at work.
 */
uint64_t vt_imagedata_line(const struct vt_imagedata *d, uint64_t bias, uint64_t address,
			   bool relro, uint8_t bytes[VT_IMAGEDATA_LINE]);

/* Copies at most `size` bytes of code from `vaddr` on and says how many there were. */
size_t vt_imagedata_code(const struct vt_imagedata *d, uint64_t vaddr, uint8_t *bytes, size_t size);

#endif
