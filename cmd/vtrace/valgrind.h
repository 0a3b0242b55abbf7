/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_VALGRIND_H
#define CMD_VTRACE_VALGRIND_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/opt.h"
#include "base/output.h"
#include "cmd/common/app.h"

/* Starts Valgrind with our recorder. */

enum full_values { FULL_NONE, FULL_LOADS, FULL_STORES, FULL_ALL };
extern const char *const full_value_words[];

struct full_options {
	bool full;
	int values; /* enum full_values */
	bool values_given;
	bool blocks;
	bool mem;
	bool args;
	bool follow;
	const char *toggle;
	uint64_t skip;
	uint64_t count;
	bool skip_given;
};

/* The rows for an option table. */
#define FULL_OPTIONS(o)                                                                            \
	{.name = "full",                                                                           \
	 .type = VT_OPT_FLAG,                                                                      \
	 .value = &(o).full,                                                                       \
	 .help = "record all that is executed, under valgrind; with it:"},                         \
		{.name = "values",                                                                 \
		 .type = VT_OPT_CHOICE,                                                            \
		 .value = &(o).values,                                                             \
		 .arg = "WHICH",                                                                   \
		 .choices = full_value_words,                                                      \
		 .given = &(o).values_given,                                                       \
		 .help = "none, loads (default), stores (too), all (results, too)"},               \
		{.name = "blocks",                                                                 \
		 .type = VT_OPT_FLAG,                                                              \
		 .value = &(o).blocks,                                                             \
		 .help = "as --values none"},                                                      \
		{.name = "mem",                                                                    \
		 .type = VT_OPT_FLAG,                                                              \
		 .value = &(o).mem,                                                                \
		 .help = "addresses, and what the kernel writes"},                                 \
		{.name = "args",                                                                   \
		 .type = VT_OPT_FLAG,                                                              \
		 .value = &(o).args,                                                               \
		 .help = "registers that pass arguments, at calls"},                               \
		{.name = "follow",                                                                 \
		 .type = VT_OPT_FLAG,                                                              \
		 .value = &(o).follow,                                                             \
		 .help = "processes that it forks, and programs run by exec"},                     \
		{.name = "skip",                                                                   \
		 .type = VT_OPT_U64,                                                               \
		 .value = &(o).skip,                                                               \
		 .arg = "N",                                                                       \
		 .given = &(o).skip_given,                                                         \
		 .help = "leave out the first N instructions"},                                    \
		{.name = "count",                                                                  \
		 .type = VT_OPT_U64,                                                               \
		 .value = &(o).count,                                                              \
		 .arg = "N",                                                                       \
		 .min = 1,                                                                         \
		 .help = "then record N instructions"},                                            \
	{                                                                                          \
		.name = "toggle", .type = VT_OPT_STRING, .value = &(o).toggle, .arg = "FUNCTION",  \
		.help = "only from its entry to its return"                                        \
	}

/* The first option of these that was given, but for `full`, or NULL. */
const char *full_option_given(const struct full_options *o);

/* Whether the recorder is there; says so if not. */
bool valgrind_check(struct app *a);

/*
 * Starts the operands under the recorder, which talks to the reader in `dir`; with `redirect` their
 * standard output is our standard error.  The signal mask becomes `mask`.  Returns the child, or -1
 * after saying why not.
 */
pid_t valgrind_start(struct app *a, const struct full_options *o, const char *dir, bool redirect,
		     const sigset_t *mask);

/* Prints the command line instead. */
void valgrind_print(struct app *a, const struct full_options *o);

/* Prints one argument of a command line, quoted for a shell. */
void quote_argument(struct vt_output *out, const char *arg);

#endif
