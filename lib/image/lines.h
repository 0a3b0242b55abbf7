/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_LINES_H
#define VT_IMAGE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/elf.h"
#include "image/line.h"

/*
 * Source lines and inlined calls of a file with DWARF.  Compilation units are read when first
 * needed.
 */
struct vt_lines;
struct vt_packed;

/*
 * `elf` has the DWARF: the image's file or its separate debug file.  It is borrowed and must stay
 * open.  Owned by the caller.  NULL: VT_E_NOTFOUND (no DWARF), VT_E_DAMAGED, VT_E_NOMEM.
 */
struct vt_lines *vt_lines_new(const struct vt_elf *elf, struct vt_error *err);

/* Source lines that are packed in a stream.  `packed` is borrowed.  NULL: VT_E_NOMEM. */
struct vt_lines *vti_lines_new_packed(struct vt_packed *packed, struct vt_error *err);
void vt_lines_free(struct vt_lines *l);

/* Finds the source line of a vaddr.  Returns false if there is none. */
bool vt_lines_at(struct vt_lines *l, uint64_t vaddr, struct vt_line *line);

/*
 * Stores the functions active at a vaddr, innermost first, at most `max` of them.  Returns their
 * number, 0 if the DWARF has no function there.
 */
size_t vt_lines_frames(struct vt_lines *l, uint64_t vaddr, struct vt_frame *frames, size_t max);

/*
 * Returns the first address after a vaddr at which what the functions above tell may differ; it is
 * not always different there.  UINT64_MAX if nothing is known of the rest.
 */
uint64_t vt_lines_change(struct vt_lines *l, uint64_t vaddr);

/* Finds the declaration of the function, not inlined, that holds a vaddr.  False if unknown. */
bool vt_lines_function(struct vt_lines *l, uint64_t vaddr, struct vt_frame *function);

#endif
