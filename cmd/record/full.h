/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_FULL_H
#define CMD_RECORD_FULL_H

#include "cmd/common/app.h"
#include "cmd/record/valgrind.h"

/* `vtrace record --full`: everything that a program executes, by a recorder inside Valgrind. */

/*
 * Runs the program that the operands name, and writes `output` (NULL: standard output if that is a
 * pipe, else vtrace.vt).  Returns the program's exit status, 128 + the signal that ended it; what
 * went wrong with the recording is in the app's status.
 */
int record_full(struct app *a, const struct full_options *o, const char *output,
		const char *compress);

#endif
