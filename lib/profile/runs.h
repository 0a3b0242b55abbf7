/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_RUNS_H
#define VT_PROFILE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/ranking.h"

/*
 * The rows of several runs' rankings, side by side: they match by the image's file name (the
 * recordings may have been made in different folders) and by what they are called.
 *
 * Memory: one name for each distinct row, one number for each row, run and event.
 */
struct vt_runs;

/* Owned by the caller; NULL when memory runs out. */
struct vt_runs *vt_runs_new(size_t nevents);
void vt_runs_free(struct vt_runs *r);

/*
 * Adds a run, of which all that matters is copied: events[e] is the index, in its profile, of event
 * number e, or SIZE_MAX if it has none.  -VT_E_NOMEM.
 */
int vt_runs_add(struct vt_runs *r, const struct vt_ranking *ranking, const size_t *events,
		struct vt_error *err);

size_t vt_runs_count(const struct vt_runs *r);
size_t vt_runs_rows(const struct vt_runs *r);

/* What a row is called; its image's file name, and its path in the last run that has it. Borrowed.
 */
const char *vt_runs_label(const struct vt_runs *r, size_t row);
const char *vt_runs_image(const struct vt_runs *r, size_t row);
const char *vt_runs_path(const struct vt_runs *r, size_t row);

/*
 * Images, by file name: NULL, or what an image is called whose procedures have names in some runs
 * and, as it was stripped of symbols, addresses in others.  *run: the last such one.
 */
size_t vt_runs_images(const struct vt_runs *r);
const char *vt_runs_misnamed(const struct vt_runs *r, size_t image, size_t *run);

/*
 * Whether what a row is called does not tell what it is in each run: it is named by why its samples
 * have no name, or lies in an image whose procedures have names in some runs only.
 */
bool vt_runs_unknown(const struct vt_runs *r, size_t row);

struct vt_tally vt_runs_tally(const struct vt_runs *r, size_t row, size_t run, size_t event);

#endif
