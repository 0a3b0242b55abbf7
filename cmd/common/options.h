/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_OPTIONS_H
#define CMD_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/opt.h"
#include "base/ordered.h"
#include "cmd/common/app.h"
#include "profile/ranking.h"

/* What a command line must not ask for, and the message if it does. */
struct app_rule {
	bool broken;
	const char *text;
};

/* True if no rule is broken; otherwise app_usage() with the text of the first that is. */
bool app_check_rules(struct app *a, const struct app_rule *rules, size_t count);
#define APP_CHECK_RULES(a, rules) app_check_rules(a, rules, sizeof(rules) / sizeof((rules)[0]))

/* Rows of an option table; letter 0: only a long name. */

#define APP_OPTION(kind, letter_, name_, variable, arg_, text)                                     \
	{                                                                                          \
		.letter = (letter_), .name = (name_), .type = (kind), .value = &(variable),        \
		.arg = (arg_), .help = (text)                                                      \
	}

#define APP_FLAG(letter_, name_, variable, text)                                                   \
	APP_OPTION(VT_OPT_FLAG, letter_, name_, variable, NULL, text)
#define APP_STRING(letter_, name_, variable, arg_, text)                                           \
	APP_OPTION(VT_OPT_STRING, letter_, name_, variable, arg_, text)
#define APP_LIST(letter_, name_, variable, arg_, text)                                             \
	APP_OPTION(VT_OPT_LIST, letter_, name_, variable, arg_, text)
#define APP_U64(letter_, name_, variable, arg_, text)                                              \
	APP_OPTION(VT_OPT_U64, letter_, name_, variable, arg_, text)
#define APP_F64(letter_, name_, variable, arg_, text)                                              \
	APP_OPTION(VT_OPT_F64, letter_, name_, variable, arg_, text)

#define APP_CHOICE(letter_, name_, variable, arg_, words, text)                                    \
	{                                                                                          \
		.letter = (letter_), .name = (name_), .type = VT_OPT_CHOICE, .value = &(variable), \
		.arg = (arg_), .choices = (words), .help = (text)                                  \
	}

/* Threads, on which no result depends; `variable` begins as vt_ordered_processors(). */
#define APP_OPT_JOBS(variable)                                                                     \
	{                                                                                          \
		.letter = 'j', .name = "jobs", .type = VT_OPT_U64, .value = &(variable),           \
		.arg = "N", .help = "threads (default: one for each processor)", .min = 1,         \
		.max = VT_ORDERED_THREADS, .unrecorded = true                                      \
	}

/* What the rows of a profile's listing are: the index is an enum vt_level. */
#define APP_OPT_LEVEL(variable)                                                                    \
	APP_CHOICE('b', "by", variable, "WHAT", vt_level_words,                                    \
		   "one row for each procedure (default), image, line, instruction or\n"           \
		   "inlined function")

/*
 * The argument of an option --what: kinds of values (enum vt_what), with commas, each by its name,
 * perhaps in the plural, or by a name for several: caller, address, default, all.  *what gets a bit
 * for each; those of `defaults` when `list` is NULL.  False after app_usage().
 */
bool app_parse_what(struct app *a, const char *list, uint32_t defaults, uint32_t *what);

/*
 * The same for an option that picks from hot lists: all kinds (VT_INV_EVERY of value/invariance.h)
 * when `list` is NULL.
 */
bool app_what(struct app *a, const char *list, uint32_t *what);

/* "1/K", of K up to a million; 1 when `text` is NULL.  `name` is the option's.  False after
 * app_usage(). */
bool app_parse_fraction(struct app *a, const char *name, const char *text, uint64_t *k);

#define APP_OPT_WHAT(variable)                                                                     \
	APP_STRING('w', "what", variable, "WHAT", "only these kinds of values, as in loads,args")

/*
 * What to take for granted that a recording does not show: a list of "images" and "constants", or
 * NULL.  *trust gets VT_TRUST_ bits.  False after app_usage().
 */
#define APP_OPT_TRUST(variable)                                                                    \
	{                                                                                          \
		.name = "trust", .type = VT_OPT_STRING, .value = &(variable), .arg = "LIST",       \
		.help = "take for granted: that files without build-id are the recorded images\n"  \
			"('images'), that programs do not write to 'constants'"                    \
	}
bool app_parse_trust(struct app *a, const char *list, unsigned *trust);

#endif
