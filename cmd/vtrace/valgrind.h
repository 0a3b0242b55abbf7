/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_VALGRIND_H
#define CMD_VTRACE_VALGRIND_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "cmd/common/app.h"
#include "cmd/vtrace/record_full.h"

/* Starting Valgrind with our recorder. */

/* Whether the recorder is there; says so if not. */
bool valgrind_check(struct app *a);

/*
 * Starts the operands under the recorder, which talks to the reader in `dir`; with `redirect` their
 * standard output is our standard error.  The signal mask becomes `mask`.  Returns the child, or -1
 * after saying why not.
 */
pid_t valgrind_start(struct app *a, const struct full_options *o, const char *dir, bool redirect,
		     const sigset_t *mask);

#endif
