/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_PROFILES_H
#define CMD_COMMON_PROFILES_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/hash.h"
#include "chains/gather.h"
#include "cmd/common/app.h"
#include "cmd/common/images.h"
#include "freq/profile.h"
#include "listing/profile/profile.h"
#include "machine/pipeline/core.h"
#include "profile/block_code.h"
#include "profile/profile.h"
#include "profile/ranking.h"
#include "value/hot_profile.h"

struct vt_memory;

/* A stream's profile and the images that its places are in. */
struct app_profile {
	const char *name; /* the path, or "standard input" */
	struct app_context in;
	struct vt_profile *profile;
	struct vt_hotprofile *lists;  /* NULL unless asked for */
	struct vt_memory *locations;  /* of LOCATION records, if there are no lists */
	struct vt_callgather *chains; /* NULL unless asked for */
	struct vt_blockcode *code;
	struct vt_freqprofile *freqs;	   /* NULL unless asked for */
	const struct vt_hash *freq_images; /* uint32_t: the images that they are of */
	struct vt_hash seen_images;	   /* those, and then others with samples */
	bool stalls;			   /* the stream has STALL records */
	bool explained;			   /* vculprit was here, */
	bool listed;			   /* vhot was, */
	bool estimated; /* vfreq was here, whether or not there was something to estimate from */
	bool assumed;	/* without a clock, it took a nanosecond for a cycle */
	bool untold;	/* its counts are of another run, by a factor that nothing told */
};

/* Prepares an empty *p for a stream: a context with images, whose consumers are profile and code.
 */
bool app_profile_open(struct app *a, struct app_profile *p, const char *symfs);

/* The same with frequencies, edges and stalls; *p need not be empty.  End with app_profile_end().
 */
bool app_profile_open_freqs(struct app *a, struct app_profile *p, const char *symfs);

/* What vfreq said of its numbers, to who reads only what came of them. */
void app_profile_tell_doubts(struct app *a, const struct app_profile *p, const char *name);

/*
 * Reads all of a stream ("-" or NULL is standard input) into a profile.  Images as above; warnings
 * about them appear on standard error.  False after app_fail().  End with app_profile_end() in
 * either case.
 */
bool app_profile_read(struct app *a, struct app_profile *p, const char *path, const char *symfs);

/* The same, with the samples of each group apart: borrowed, NULL for none. */
bool app_profile_read_groups(struct app *a, struct app_profile *p, const char *path,
			     const char *symfs, struct vt_groups *groups);

/* The same, and gathers the samples' call chains in `chains`, which the caller is to finish. */
bool app_profile_read_chains(struct app *a, struct app_profile *p, const char *path,
			     const char *symfs, struct vt_groups *groups);

/*
 * The same, and keeps the stream's hot lists, and the code of its blocks, in `lists` and `code`; in
 * `locations` the profile of memory of a stream without hot lists.  A stream that has neither is an
 * error.
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

/* Says which CHAIN records of an input were left out. */
void app_tell_chains(struct app *a, const char *name, const struct vt_calldamage *damage);

struct vt_evgather;

/* What a stream's samples of followed instructions tell, or its EVSTAT records. */
struct app_events {
	struct vt_evgather *gather;
	struct vt_cpu cpu;
	struct vt_core core;
	const char *divisor; /* name of the core that divided samples; NULL: none did */
};

/* Becomes a consumer of a context; `by`: enum vt_evby.  False after app_fail(); end with
 * app_events_close(). */
bool app_events_open(struct app *a, struct app_events *e, struct vt_context *context, int by);

/*
 * After the last record of the stream `name`: checks the samples against the code.  `model` is a
 * name of a machine, or "auto".  False after app_fail(), also of a stream without such samples.
 */
bool app_events_finish(struct app *a, struct app_events *e, const char *name, const char *model,
		       struct vt_images *images, const struct vt_blockcode *code);
void app_events_close(struct app_events *e);

/*
 * Reads all of a stream into a profile as app_profile_read() does, and what its samples of followed
 * instructions tell into *e.  Where there are only estimates, what these rest on stands for
 * samples.
 */
bool app_profile_read_events(struct app *a, struct app_profile *p, const char *path,
			     const char *symfs, struct app_events *e);

#endif
