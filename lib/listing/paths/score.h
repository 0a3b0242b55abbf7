/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_PATHS_SCORE_H
#define VT_LISTING_PATHS_SCORE_H

#include <jansson.h>

#include "base/error.h"
#include "base/output.h"
#include "paths/paths.h"
#include "profile/losses.h"

/* How often each way to find a path is right: ProfileMe (Dean et al., MICRO 1997), figure 6. */
struct vt_pathscores {
	const struct vt_pathscore *list; /* by branches: the n-th of n + 1, or all of `branches` */
	uint32_t first;			 /* branches of the first */
	uint32_t count;
	bool across;
	const struct vt_pathsamples *samples;
};

/* Sets members with the numbers of samples, and of those that tell of no path. */
void vt_pathsamples_json(json_t *doc, const struct vt_pathsamples *s);

/* Prints the scores, or JSON if `losses` is not NULL.  0, -VT_E_NOMEM. */
int vt_pathscores_print(const struct vt_pathscores *s, const struct vt_losses *losses,
			struct vt_output *out, struct vt_error *err);

/* Draws success by branches into a file: Scalable Vector Graphics.  0, or an error of writing. */
int vt_pathscores_draw(const struct vt_pathscores *s, const char *path, struct vt_error *err);

#endif
