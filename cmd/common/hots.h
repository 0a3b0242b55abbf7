/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_HOTS_H
#define CMD_COMMON_HOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/common/images.h"
#include "value/hot_profile.h"

/* A stream's hot lists and the images that their places are in. */
struct app_hots {
	struct app_context in;
	struct vt_hotprofile *profile;
	const char *name; /* the path, or "standard input" */
};

/*
 * Reads all hot lists of a stream ("-" or NULL is standard input); `seed` is for lists of one
 * place, which are joined.  Images as app_images_open() finds them.  Lists that contradict
 * themselves are reported, and set APP_LOSSY.  False after app_fail(); a stream without any hot
 * list is an error.  End with app_hots_end() in either case.
 */
bool app_hots_read(struct app *a, struct app_hots *h, const char *path, const char *symfs,
		   uint64_t seed);
void app_hots_end(struct app_hots *h);

/* Tells the lists of a stream that were left out, if there are any, and sets APP_LOSSY. */
void app_tell_hots(struct app *a, const char *name, const struct vt_hot_damage *d);

/*
 * Tells which lists of a stream (`name`: its path) were left out, and sets APP_LOSSY.  False, after
 * app_lacks(), when there is no list at all; `made`: though vhot was there.
 */
bool app_hots_check(struct app *a, const struct vt_hotprofile *p, const char *name, bool made);

#endif
