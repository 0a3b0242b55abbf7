/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_VALGRIND_H
#define CMD_RECORD_VALGRIND_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "cmd/common/app.h"

/* Starts Valgrind with vtrace's recorder. */

enum full_values { FULL_NONE, FULL_LOADS, FULL_STORES, FULL_ALL };
extern const char *const full_value_words[];

struct full_options {
	bool full;
	int values; /* enum full_values */
	bool values_given;
	bool blocks;
	bool mem;
	bool args;
	bool heap;
	const char *alloc;
	bool follow;
	const char *toggle;
	uint64_t skip;
	uint64_t count;
	bool skip_given;
};

/* The first of these options that was given, except `full`; or NULL. */
const char *full_option_given(const struct full_options *o);

/* True if --alloc can be this: up to 32 of NAME, NAME/N or NAME/-N, with N from 1 to 3. */
bool full_alloc_valid(const char *list);

/* True if Valgrind and the recorder are installed; else puts what is missing. */
bool valgrind_find(struct vt_buf *missing);

/* Checks that the recorder is installed, and reports if it is not. */
bool valgrind_check(struct app *a);

/*
 * Starts the operands under the recorder, whose reader is in `dir`.  With `redirect` their standard
 * output goes to standard error.  The signal mask becomes `mask`.  Returns the child, or -1 after a
 * message.
 */
pid_t valgrind_start(struct app *a, const struct full_options *o, const char *dir, bool redirect,
		     const sigset_t *mask);

/* Prints the command line instead. */
void valgrind_print(struct app *a, const struct full_options *o);

#endif
