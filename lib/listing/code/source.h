/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CODE_SOURCE_H
#define VT_LISTING_CODE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

/* The text of source files, each read when it is first asked for. */
struct vt_sources;

/* A larger file is treated as absent. */
#define VT_MAX_SOURCE 67108864

/*
 * A file is looked for as DIR/path and DIR/name for each of the directories (borrowed), then as the
 * path itself.  Owned by the caller; NULL when memory runs out.
 */
struct vt_sources *vt_sources_new(const char *const *dirs, size_t ndirs);
void vt_sources_free(struct vt_sources *s);

/*
 * The text of a line, counted from 1, without its end; NULL if the file cannot be read or is
 * shorter.  Not zero-terminated, borrowed until the sources are freed.
 */
const char *vt_sources_line(struct vt_sources *s, const char *file, unsigned line, size_t *size);

#endif
