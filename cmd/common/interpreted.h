/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_INTERPRETED_H
#define CMD_COMMON_INTERPRETED_H

#include <stdbool.h>

#include "cmd/common/app.h"
#include "cmd/common/tables.h"
#include "interpret/interpret.h"
#include "stream/writer.h"

/*
 * What came of interpreting: how much was run, what of it is known, why runs ended.  `path`: it
 * went along a path, not from samples.
 */

/* Prints it, as tables or as JSON, to `output` (NULL: standard output).  False when that failed. */
bool app_interpreted_print(struct app *a, const struct vt_interpret_totals *t, bool path,
			   const struct app_form *form, const char *output);

/*
 * The option that takes for granted what a recording does not show, a list of "images" and
 * "constants"; NULL: nothing.  False: a usage error was told.
 */
#define APP_OPT_TRUST(variable)                                                                    \
	{                                                                                          \
		.name = "trust", .type = VT_OPT_STRING, .value = &(variable), .arg = "LIST",       \
		.help = "take for granted: that files without build-id are the recorded images\n"  \
			"('images'), that programs do not write to 'constants'"                    \
	}
bool app_parse_trust(struct app *a, const char *list, unsigned *trust);

/* Says what was withheld, if anything, and how to have it. */
void app_interpreted_tell(struct app *a, const struct vt_interpret_totals *t);

/* Writes it as META records, "vinterp.runs" and so on. */
void app_interpreted_write(const struct vt_interpret_totals *t, bool path, struct vt_writer *w);

#endif
