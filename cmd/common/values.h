/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_VALUES_H
#define CMD_COMMON_VALUES_H

#include <stdbool.h>

#include "cmd/common/app.h"
#include "cmd/common/profiles.h"
#include "value/hot_profile.h"

/* A stream's values and its time. */
struct app_values {
	struct app_profile base;
	const char *name; /* of the stream, for messages; borrowed */
	bool collected; /* the lists were kept here: the stream is a recording, not made by vhot */
};

/*
 * Reads all of a stream ("-" or NULL is standard input).  Of one that holds hot lists, those and
 * its counts; of any other, its values are brought to hot lists, as vhot does by default; with
 * `callers`, also who calls, and lists are told apart by caller.  Images as app_images_open() finds
 * them.  False after app_fail().  End with app_values_end() in either case.
 */
bool app_values_read(struct app *a, struct app_values *v, const char *path, const char *symfs,
		     bool callers);
void app_values_end(struct app_values *v);

#endif
