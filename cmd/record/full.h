/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_FULL_H
#define CMD_RECORD_FULL_H

#include "cmd/common/app.h"
#include "cmd/record/valgrind.h"

/* `vtrace record --full`: records all executed code of a program, by a recorder inside Valgrind. */

/*
 * Runs the program of the operands, and writes `output` (NULL: standard output if that is a pipe,
 * else vtrace.vt).  Returns the program's exit status, or 128 + the signal that ended it; errors of
 * the recording are in the app's status.
 */
int record_full(struct app *a, const struct full_options *o, const char *output,
		const char *compress);

#endif
