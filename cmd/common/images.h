/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_IMAGES_H
#define CMD_COMMON_IMAGES_H

#include "cmd/common/app.h"
#include "cmd/common/find.h"
#include "image/images.h"
#include "profile/context.h"

/*
 * A store of images.  Their files are looked for below `symfs` if that is not NULL, in perf's
 * build-id cache (~/.debug), and where they were recorded.  Warnings go to standard error.
 */
struct app_images {
	struct vt_images *store; /* NULL: not open */
	struct app_warnings warnings;
	char *cache; /* perf's build-id cache */
	bool quiet;  /* set before opening: another store of the program has the same images */
};

/* Returns the store, or NULL after app_fail(); end with app_images_close() in either case. */
struct vt_images *app_images_open(struct app *a, struct app_images *i, const char *symfs);

/*
 * Frees the store; one that was never opened may be all zero.  If files of images were asked for
 * and not found, it says, once in the life of the program, how to have them found.
 */
void app_images_close(struct app_images *i);

/* Says of which images a file was asked for and not found, and how to have them found. */
void app_images_tell_missing(struct app_images *i);

/* Says of which images a file was found that nothing shows to be the recorded one. */
void app_images_tell_unverified(struct app_images *i);

/* The context in which a stream is read, and the images that its places are in. */
struct app_context {
	struct app_images images;
	struct vt_context *context;
};

/* Returns false after app_fail(); end with app_context_close() in either case. */
bool app_context_open(struct app *a, struct app_context *c, const char *symfs);
void app_context_close(struct app_context *c);

#endif
