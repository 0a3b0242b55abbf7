/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_TABLES_H
#define CMD_COMMON_TABLES_H

#include <jansson.h>
#include <stdbool.h>

#include "base/output.h"
#include "base/table.h"
#include "cmd/common/app.h"

/* How a listing is printed: the programs' options --json, --csv, --tsv. */
struct app_form {
	bool json;
	bool csv;
	bool tsv;
};

/* The rows for an option table. */
#define APP_OPT_FORM(form)                                                                         \
	{.name = "json", .type = VT_OPT_FLAG, .value = &(form).json, .help = "print JSON"},        \
		{.name = "csv",                                                                    \
		 .type = VT_OPT_FLAG,                                                              \
		 .value = &(form).csv,                                                             \
		 .help = "print comma-separated values"},                                          \
	{                                                                                          \
		.name = "tsv", .type = VT_OPT_FLAG, .value = &(form).tsv,                          \
		.help = "print tab-separated values"                                               \
	}

/* True for plain text; JSON is told apart by form->json. */
static inline bool app_form_is_text(const struct app_form *form)
{
	return !form->json && !form->csv && !form->tsv;
}

/* How many of the forms were asked for: more than one is a usage error. */
static inline int app_form_count(const struct app_form *form)
{
	return form->json + form->csv + form->tsv;
}

static inline enum vt_table_form app_table_form(const struct app_form *form)
{
	return form->csv ? VT_TABLE_CSV : form->tsv ? VT_TABLE_TSV : VT_TABLE_TEXT;
}

/*
 * Prints a table in the form asked for, which is not JSON; `color` is the program's option
 * (APP_OPT_COLOR).  False after app_fail().
 */
bool app_print_table(struct app *a, const struct vt_table *t, const struct app_form *form,
		     int color, struct vt_output *out);

/*
 * Prints a table to a file (NULL: standard output) in the form asked for, which is "rows" of the
 * document if it is JSON.  Takes over both; `t` is NULL when memory ran out.  False after
 * app_fail().
 */
bool app_print_rows(struct app *a, struct vt_table *t, json_t *doc, const struct app_form *form,
		    int color, const char *output);

#endif
