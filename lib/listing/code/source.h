/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CODE_SOURCE_H
#define VT_LISTING_CODE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "image/lines.h"

/* The text of source files.  Each file is read when its first line is asked for. */
struct vt_sources;

/* Larger files, in bytes, are treated as missing. */
#define VT_MAX_SOURCE 67108864

/*
 * Files are searched as DIR/path and DIR/name in each of the directories, which are borrowed, then
 * at the path itself.  Owned by the caller; NULL when memory runs out.
 */
struct vt_sources *vt_sources_new(const char *const *dirs, size_t ndirs);
void vt_sources_free(struct vt_sources *s);

/*
 * The text of a line, counted from 1, without its newline.  Not zero-terminated, of *size bytes,
 * borrowed until vt_sources_free().  NULL if the file cannot be read or has fewer lines.
 */
const char *vt_sources_line(struct vt_sources *s, const char *file, unsigned line, size_t *size);

/* The last component of a path.  Borrowed from it. */
const char *vt_source_name(const char *path);

/*
 * Fills a cell with the source line of a vaddr, as in "smooth.c:41".  It stays empty if the line is
 * unknown, or `lines` is NULL.
 */
void vt_source_cell(struct vt_table *t, struct vt_lines *lines, uint64_t vaddr);

#endif
