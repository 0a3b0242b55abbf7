/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_LINES_H
#define VT_IMAGE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/elf.h"

/*
 * Source lines and inlined calls of a file with DWARF.  Compilation units are read when first
 * needed.
 */
struct vt_lines;

/* Maximum depth of inlined calls; outer ones are omitted. */
#define VT_MAX_INLINE 64

/* A place in the source code.  Strings are borrowed from the vt_lines. */
struct vt_line {
	const char *file; /* as given to the compiler, made absolute */
	unsigned line;	  /* 0: no line, according to the compiler */
	unsigned column;
	unsigned discriminator;
	bool is_stmt;
};

/*
 * A function active at an address.  For the innermost one, `file` and `line` are those of the
 * address; for each other one, those of its inlined call of the function before it.
 */
struct vt_frame {
	const char
		*function; /* linkage name if there is one (mangled), else the plain name, or "" */
	const char *file;  /* "" if unknown */
	unsigned line;
	bool inlined; /* into the next frame */
};

/*
 * `elf` has the DWARF: the image's file or its separate debug file.  It is borrowed and must stay
 * open.  Owned by the caller.  NULL: VT_E_NOTFOUND (no DWARF), VT_E_DAMAGED, VT_E_NOMEM.
 */
struct vt_lines *vt_lines_new(const struct vt_elf *elf, struct vt_error *err);
void vt_lines_free(struct vt_lines *l);

/* Finds the source line of a vaddr.  Returns false if there is none. */
bool vt_lines_at(struct vt_lines *l, uint64_t vaddr, struct vt_line *line);

/*
 * Stores the functions active at a vaddr, innermost first, at most `max` of them.  Returns their
 * number, 0 if the DWARF has no function there.
 */
size_t vt_lines_frames(struct vt_lines *l, uint64_t vaddr, struct vt_frame *frames, size_t max);

/* Finds the declaration of the function, not inlined, that holds a vaddr.  False if unknown. */
bool vt_lines_function(struct vt_lines *l, uint64_t vaddr, struct vt_frame *function);

#endif
