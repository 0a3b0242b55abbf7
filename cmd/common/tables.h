/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_TABLES_H
#define CMD_COMMON_TABLES_H

#include <jansson.h>
#include <stdbool.h>

#include "base/output.h"
#include "base/table.h"
#include "cmd/common/app.h"
#include "cmd/common/stream.h"

enum app_color { APP_COLOR_AUTO, APP_COLOR_ALWAYS, APP_COLOR_NEVER };
extern const char *const app_color_words[];

/*
 * How and where a listing is printed: the options --json, --csv, --tsv, --full-names, --color and
 * --output.
 */
struct app_form {
	bool json;
	bool csv;
	bool tsv;
	bool full_names;    /* see app_text() */
	int color;	    /* enum app_color */
	const char *output; /* NULL: standard output */
};

/* The six rows of an option table. */
/* clang-format off */
#define APP_OPT_FORM(form)                                                                         \
	{.name = "json", .type = VT_OPT_FLAG, .value = &(form).json, .help = "print JSON"},        \
	{.name = "csv", .type = VT_OPT_FLAG, .value = &(form).csv,                                 \
	 .help = "print comma-separated values"},                                                  \
	{.name = "tsv", .type = VT_OPT_FLAG, .value = &(form).tsv,                                 \
	 .help = "print tab-separated values"},                                                    \
	{.name = "full-names", .type = VT_OPT_FLAG, .value = &(form).full_names,                   \
	 .unrecorded = true, .help = "names with their template arguments, and none cut short"},   \
	{.name = "color", .type = VT_OPT_CHOICE, .value = &(form).color, .arg = "WHEN",            \
	 .choices = app_color_words, .unrecorded = true,                                           \
	 .help = "auto (default: on a terminal, unless NO_COLOR is set), always, never"},          \
	APP_OPT_OUTPUT((form).output)
/* clang-format on */

/* Whether the listing is plain text. */
static inline bool app_form_is_text(const struct app_form *form)
{
	return !form->json && !form->csv && !form->tsv;
}

/* The number of forms asked for: more than one is a usage error. */
static inline int app_form_count(const struct app_form *form)
{
	return form->json + form->csv + form->tsv;
}

static inline enum vt_table_form app_table_form(const struct app_form *form)
{
	return form->csv ? VT_TABLE_CSV : form->tsv ? VT_TABLE_TSV : VT_TABLE_TEXT;
}

/*
 * Returns whether the text written to app_text() is to be coloured.  `auto` colours on a terminal,
 * unless TERM is "dumb" or NO_COLOR (no-color.org) is set.
 */
bool app_form_color(const struct app *a, const struct app_form *form);

/* Prints a table as text, CSV or TSV to an open output.  Returns false after app_fail(). */
bool app_print_table(struct app *a, const struct vt_table *t, const struct app_form *form,
		     struct vt_output *out);

/*
 * Opens the form's output and prints a table to it; as JSON, the table becomes "rows" of `doc`.
 * Takes ownership of both.  `t` is NULL if memory ran out.  Returns false after app_fail().
 */
bool app_print_rows(struct app *a, struct vt_table *t, json_t *doc, const struct app_form *form);

#endif
