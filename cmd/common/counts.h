/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_COUNTS_H
#define CMD_COMMON_COUNTS_H

#include "cmd/common/images.h"
#include "cmd/common/profiles.h"
#include "freq/counted.h"

/* What a stream has counted exactly, and the images that it is in. */
struct app_counts {
	struct app_context in;
	struct vt_flowcount *counts;
};

/*
 * Reads all of a stream: a recording, a simulator's truth, or counts.  A stream without any is an
 * error.  False after app_fail().  End with app_counts_end() in either case.
 */
bool app_counts_read(struct app *a, struct app_counts *c, const char *path, const char *symfs);

/*
 * Says so if the image with most samples of an event, by its column, has no counts: those are of
 * another program, or of another build of it.  `name` is that of the stream of counts.
 */
void app_counts_tell_missing(struct app *a, const struct app_counts *c, const char *name,
			     const struct app_profile *in, size_t event);

void app_counts_end(struct app_counts *c);

#endif
