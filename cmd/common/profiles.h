/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_PROFILES_H
#define CMD_COMMON_PROFILES_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/hash.h"
#include "cmd/common/app.h"
#include "cmd/common/find.h"
#include "freq/profile.h"
#include "image/images.h"
#include "listing/profile/profile.h"
#include "profile/block_code.h"
#include "profile/profile.h"
#include "profile/ranking.h"
#include "value/hot_profile.h"

/*
 * A store of images, which are looked for below `symfs` if that is not NULL, in perf's build-id
 * cache
 * (~/.debug), and where they were recorded.  `warnings`, which is about them, and `cache`, a path,
 * live as long as the store.  NULL after app_fail(); in either case: app_images_close().
 */
struct vt_images *app_images_open(struct app *a, struct app_warnings *warnings, char **cache,
				  const char *symfs);

/*
 * Frees all that.  If files of images were asked for and not found, it says, once in the life of
 * the program, how to have them found.  `images` may be NULL, and `warnings` all zero.
 */
void app_images_close(struct vt_images *images, struct app_warnings *warnings, char *cache);

/* Says of which images there was no file when it was asked for, and how to have them found. */
void app_images_tell_missing(struct app_warnings *w, const struct vt_images *images);

/* Says of which images a file was found that nothing shows to be the recorded one. */
void app_images_tell_unverified(struct app_warnings *w, struct vt_images *images);

/* A stream's profile and the images that its places are in. */
struct app_profile {
	const char *name; /* the path, or "standard input" */
	struct app_warnings warnings;
	char *cache; /* perf's build-id cache */
	struct vt_images *images;
	struct vt_context *context;
	struct vt_profile *profile;
	struct vt_hotprofile *lists; /* NULL unless asked for */
	struct vt_blockcode *code;
	struct vt_freqprofile *freqs;	   /* NULL unless asked for */
	const struct vt_hash *freq_images; /* uint32_t: the images that they are of */
	struct vt_hash seen_images;	   /* those, and then others with samples */
	bool stalls;			   /* the stream has STALL records */
	bool explained;			   /* vculprit was here, */
	bool listed;			   /* vhot was, */
	bool estimated; /* vfreq was here, whether or not there was something to estimate from */
};

/* Prepares an empty *p for a stream: a context with images, whose consumers are profile and code.
 */
bool app_profile_open(struct app *a, struct app_profile *p, const char *symfs);

/* The same with frequencies, edges and stalls; *p need not be empty.  End with app_profile_end().
 */
bool app_profile_open_freqs(struct app *a, struct app_profile *p, const char *symfs);

/*
 * Reads all of a stream ("-" or NULL is standard input) into a profile.  Images as above; warnings
 * about them appear on standard error.  False after app_fail().  End with app_profile_end() in
 * either case.
 */
bool app_profile_read(struct app *a, struct app_profile *p, const char *path, const char *symfs);

/*
 * The same, and keeps the stream's hot lists, and the code of its blocks, in `lists` and `code`.  A
 * stream without hot lists is an error.
 */
bool app_profile_read_values(struct app *a, struct app_profile *p, const char *path,
			     const char *symfs);

/*
 * The same, and keeps the stream's frequencies, edges and stalls in `freqs`, and the code of its
 * blocks.  A stream without
 * frequencies is an error, unless `none` allows it.  Where there are no samples, as in what a
 * simulator knows, cycles stand for them in `profile`.
 */
bool app_profile_read_freqs(struct app *a, struct app_profile *p, const char *path,
			    const char *symfs, bool none);
void app_profile_end(struct app_profile *p);

#endif
