/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_VALUES_H
#define CMD_COMMON_VALUES_H

#include <stdbool.h>

#include "cmd/common/app.h"
#include "cmd/common/profiles.h"
#include "value/hot_profile.h"

/* The kinds of values that interpreting finds if the user asks for none. */
#define APP_INTERPRETED_WHAT                                                                       \
	(1u << VT_WHAT_LOAD | 1u << VT_WHAT_STORE | 1u << VT_WHAT_RESULT | 1u << VT_WHAT_ARG |     \
	 1u << VT_WHAT_TARGET | 1u << VT_WHAT_LATENCY)

/* A stream's values and its time. */
struct app_values {
	struct app_profile base;
	const char *name; /* of the stream, for messages; borrowed */
	bool collected; /* the lists were kept here: the stream is a recording, not made by vhot */
	bool sampled;	/* the values are of samples: some instructions behind each */
};

/*
 * Reads all of a stream ("-" or NULL is standard input).  Of one that holds hot lists, those and
 * its counts; of any other, its values are brought to hot lists, as vhot does by default; with
 * `callers`, also who calls, and lists are told apart by caller.  Samples with memory are
 * interpreted first, as vinterp does, for as many instructions as their memory was recorded for.
 * Images as app_images_open() finds them.  False after app_fail().  End with app_values_end() in
 * either case.
 */
bool app_values_read(struct app *a, struct app_values *v, const char *path, const char *symfs,
		     bool callers);
void app_values_end(struct app_values *v);

#endif
