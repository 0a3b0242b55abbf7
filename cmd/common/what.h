/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_WHAT_H
#define CMD_COMMON_WHAT_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/common/app.h"

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

#define APP_OPT_WHAT(variable)                                                                     \
	{                                                                                          \
		.letter = 'w', .name = "what", .type = VT_OPT_STRING, .value = &(variable),        \
		.arg = "WHAT", .help = "only these kinds of values, as in loads,args"              \
	}

#endif
