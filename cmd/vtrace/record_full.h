/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_RECORD_FULL_H
#define CMD_VTRACE_RECORD_FULL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "cmd/common/app.h"

/* `vtrace record --full`: everything that a program executes, by a recorder inside Valgrind. */

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

/*
 * Runs the program that the operands name, and writes `output` (NULL: standard output if that is a
 * pipe, else vtrace.vt).  Returns the program's exit status, 128 + the signal that ended it; what
 * went wrong with the recording is in the app's status.
 */
int record_full(struct app *a, const struct full_options *o, const char *output,
		const char *compress);

/* Prints the command line instead. */
void print_full(struct app *a, const struct full_options *o);

/* One argument of a command line, quoted for a shell; record.c has it. */
struct vt_output;
void record_quote(struct vt_output *out, const char *arg);

#endif
