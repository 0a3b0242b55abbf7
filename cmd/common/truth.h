/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_TRUTH_H
#define CMD_COMMON_TRUTH_H

#include "cmd/common/tables.h"

/* How vcmp compares estimated frequencies with what was counted. */
struct app_truth {
	const char *truth;    /* the stream that has counts */
	const char *estimate; /* the one of vfreq; NULL: standard input */
	const char *symfs;
	const struct app_form *form; /* where to, and JSON or text */
};

/* Compares and prints; false after app_fail(). */
bool app_truth(struct app *a, const struct app_truth *o);

#endif
