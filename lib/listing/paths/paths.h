/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_PATHS_PATHS_H
#define VT_LISTING_PATHS_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "base/table.h"
#include "image/images.h"
#include "paths/paths.h"
#include "profile/locate.h"
#include "profile/losses.h"
#include "profile/profile.h"
#include "stream/record.h"

/* Lists paths, the most executed first: those of PATH records, or of an analysis. */
struct vt_listpaths;

/*
 * `images` is borrowed; the caller feeds it the same stream.  `schema` is that of JSON: "vpath/1".
 * NULL when memory runs out.
 */
struct vt_listpaths *vt_listpaths_new(struct vt_images *images, const char *schema);
void vt_listpaths_free(struct vt_listpaths *l);

/*
 * A vt_consume_record_fn; `list` is the struct vt_listpaths.  Takes PATH records and the names of
 * events, ignores others.
 * A record that contradicts itself is counted: see vt_listpaths_bad().  0 or -VT_E_NOMEM.
 */
int vt_listpaths_feed(void *list, const struct vt_record *rec, struct vt_error *err);
uint64_t vt_listpaths_bad(const struct vt_listpaths *l);

/*
 * Takes all paths of an analysis, which is borrowed: JSON tells what became of its samples.  0 or
 * -VT_E_NOMEM.
 */
int vt_listpaths_take(struct vt_listpaths *l, const struct vt_paths *p, struct vt_error *err);

/* Takes only PATH records of events with this name from then on.  Borrowed. */
void vt_listpaths_choose(struct vt_listpaths *l, const char *event);

/* The number of paths, and of those of other events. */
uint64_t vt_listpaths_others(const struct vt_listpaths *l);
size_t vt_listpaths_count(const struct vt_listpaths *l);

/*
 * Counts the samples of what vt_listpaths_feed() takes from then on where each path ends, at least
 * one for each: procedures are found by them.  `p` is borrowed.
 */
void vt_listpaths_count_ends(struct vt_listpaths *l, struct vt_profile *p);

/* Keeps the paths that lead to these procedures; returns how many there are. */
size_t vt_listpaths_pick(struct vt_listpaths *l, const struct vt_found *found);

/*
 * Prints at most `top` paths (0: all) as a table, with a row for each block, and below what part of
 * the executions and samples is of other paths.  With `losses`, prints
 * a JSON document that includes them.  -VT_E_NOMEM.
 */
int vt_listpaths_print(struct vt_listpaths *l, uint64_t top, const struct vt_losses *losses,
		       enum vt_table_form form, bool color, struct vt_output *out,
		       struct vt_error *err);

#endif
