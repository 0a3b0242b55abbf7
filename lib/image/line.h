/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_LINE_H
#define VT_IMAGE_LINE_H

#include <stdbool.h>

/* Maximum depth of inlined calls; outer ones are omitted. */
#define VT_MAX_INLINE 64

/* A place in the source code.  Strings are borrowed from what found it. */
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

#endif
