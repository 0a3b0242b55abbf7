/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_LINES_H
#define VT_IMAGE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/elf.h"

/*
 * Source lines and inlined calls of one file with DWARF.  Nothing is read before it is asked for,
 * and then only the compilation unit that holds the address.
 */
struct vt_lines;

/* A deeper nest of inlined calls is cut off. */
#define VT_MAX_INLINE 64

/* A place in the source.  Strings are borrowed from the vt_lines. */
struct vt_line {
	const char *file; /* as the compiler was given it, made absolute with its directory */
	unsigned line;	  /* 0: the compiler says that no line is responsible */
	unsigned column;
	unsigned discriminator;
	bool is_stmt;
};

/*
 * A function active at an address.  The innermost one is at `file`:`line` itself; every other one
 * is there calling the one before it.
 */
struct vt_frame {
	const char
		*function; /* linkage name if there is one (mangled), else the plain name, or "" */
	const char *file;  /* "" if unknown */
	unsigned line;
	bool inlined; /* into the next frame */
};

/*
 * The file that holds the DWARF: the image's own or its separate debug file; it must stay open.
 * Owned by the caller.  NULL with VT_E_NOTFOUND if it has none, VT_E_DAMAGED, VT_E_NOMEM.
 */
struct vt_lines *vt_lines_new(const struct vt_elf *elf, struct vt_error *err);
void vt_lines_free(struct vt_lines *l);

/* The line of the instruction at a vaddr; false if there is none. */
bool vt_lines_at(struct vt_lines *l, uint64_t vaddr, struct vt_line *line);

/*
 * The functions active at a vaddr, innermost first, at most `max` of them.  Returns how many; 0 if
 * the DWARF knows no function there.
 */
size_t vt_lines_frames(struct vt_lines *l, uint64_t vaddr, struct vt_frame *frames, size_t max);

/* Where the function that holds a vaddr (not an inlined one) is declared; false if unknown. */
bool vt_lines_function(struct vt_lines *l, uint64_t vaddr, struct vt_frame *function);

#endif
