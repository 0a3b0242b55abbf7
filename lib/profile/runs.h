/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_RUNS_H
#define VT_PROFILE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/ranking.h"

/*
 * The rows of several runs' rankings side by side.  Rows match if their labels and the file names
 * of their images are equal; recordings may have been made in different folders.
 *
 * Memory: one name for each distinct row, one number for each row, run and event.
 */
struct vt_runs;

/* Owned by the caller; NULL when memory runs out. */
struct vt_runs *vt_runs_new(size_t nevents);
void vt_runs_free(struct vt_runs *r);

/*
 * Adds a run; copies the ranking.  events[e] is the index of event e in the run's profile, or
 * SIZE_MAX if the profile lacks it.  -VT_E_NOMEM.
 */
int vt_runs_add(struct vt_runs *r, const struct vt_ranking *ranking, const size_t *events,
		struct vt_error *err);

size_t vt_runs_count(const struct vt_runs *r);
size_t vt_runs_rows(const struct vt_runs *r);

/* The label of a row; its image's file name; the image's path in the last run.  Borrowed. */
const char *vt_runs_label(const struct vt_runs *r, size_t row);
const char *vt_runs_image(const struct vt_runs *r, size_t row);
const char *vt_runs_path(const struct vt_runs *r, size_t row);

/*
 * The images by file name.  vt_runs_misnamed() returns the name of an image that has symbols in
 * some runs and is stripped in others, so that its rows cannot match, and sets *run to the last run
 * that has it stripped; NULL for other images.
 */
size_t vt_runs_images(const struct vt_runs *r);
const char *vt_runs_misnamed(const struct vt_runs *r, size_t image, size_t *run);

/* Whether a row's image has symbols only in some runs. */
bool vt_runs_half_stripped(const struct vt_runs *r, size_t row);

/*
 * Whether a row's label may stand for different code in different runs: it names a cause, or its
 * image has symbols only in some runs.
 */
bool vt_runs_unknown(const struct vt_runs *r, size_t row);

struct vt_tally vt_runs_tally(const struct vt_runs *r, size_t row, size_t run, size_t event);

#endif
