/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VDB_SOURCE_H
#define CMD_VDB_SOURCE_H

#include <stdbool.h>

#include "cmd/common/app.h"
#include "stream/reader.h"

/* A stream, or a recorded trace that is made into one on the way. */
struct source;

/* "-" is standard input.  NULL after app_fail(). */
struct source *source_open(struct app *a, const char *path);

/* Borrowed. */
struct vt_reader *source_reader(const struct source *s);

/* Whether it is made from a trace of another format. */
bool source_is_converted(const struct source *s);

/* False after app_fail(): it could not be decoded to its end. */
bool source_close(struct source *s);

#endif
