/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_PROGRESS_H
#define CMD_COMMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * One line on standard error, if it is a terminal, that shows how far a long read, or a recording,
 * has come: only after two seconds.
 */
struct progress {
	const char *name; /* of the program */
	bool active;
	bool shown;
	double start;	 /* seconds of the monotonic clock */
	double next;	 /* when the line is to be written again */
	uint64_t length; /* of the input in bytes; 0: not known */
	uint64_t insns;	 /* of a recording, set by the caller; 0: not shown */
};

/*
 * `alone`: until progress_end(), nothing else writes to a terminal that is standard output, too.
 * Otherwise no line is shown there.
 */
void progress_start(struct progress *p, const char *name, const char *input, bool alone);

/* Cheap enough to be called for every block. */
void progress_update(struct progress *p, uint64_t bytes);

/* Wipes the line. */
void progress_end(struct progress *p);

#endif
