/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_INTERPRETED_H
#define CMD_COMMON_INTERPRETED_H

#include <stdbool.h>

#include "analysis/interpret.h"
#include "cmd/common/app.h"
#include "cmd/common/tables.h"
#include "stream/writer.h"

/*
 * What came of interpreting: how much was run, what of it is known, why runs ended.  `path`: it
 * went along a path, not from samples.
 */

/* Prints it, as tables or as JSON, to `output` (NULL: standard output).  False when that failed. */
bool app_interpreted_print(struct app *a, const struct vt_interpret_totals *t, bool path,
			   const struct app_form *form, const char *output);

/* Writes it as META records, "vinterp.runs" and so on. */
void app_interpreted_write(const struct vt_interpret_totals *t, bool path, struct vt_writer *w);

#endif
