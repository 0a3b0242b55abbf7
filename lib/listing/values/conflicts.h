/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_VALUES_CONFLICTS_H
#define VT_LISTING_VALUES_CONFLICTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "base/table.h"
#include "image/disasm.h"
#include "image/images.h"
#include "stream/record.h"

/* A stream's CONFLICT records as a table: the pairs that vreplay found, the worst first. */
struct vt_listreplay;

/* `images` is borrowed, and fed by the caller with the same stream.  NULL when memory runs out. */
struct vt_listreplay *vt_listreplay_new(struct vt_images *images, enum vt_syntax syntax);
void vt_listreplay_free(struct vt_listreplay *l);

/* Takes a CONFLICT record, or META of vreplay; ignores others.  0 or -VT_E_NOMEM. */
int vt_listreplay_feed(struct vt_listreplay *l, const struct vt_record *rec, struct vt_error *err);

/*
 * Adds columns and rows to an empty table: by samples, then by how often the pair met; at most
 * `top` pairs, 0: all.  For programs a row has all that is known of a pair; for people it has two
 * rows, which fit a terminal.  Returns how many pairs were left out; want of memory shows when the
 * table is printed.
 */
size_t vt_listreplay_fill(struct vt_listreplay *l, struct vt_table *t, uint64_t top, bool people);

/* What was looked at: the lines above the table. */
void vt_listreplay_header(const struct vt_listreplay *l, struct vt_output *out);

#endif
