/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cmd/common/stream.h"
#include "cmd/vtrace/columns.h"
#include "cmd/vtrace/expand.h"
#include "cmd/vtrace/names.h"
#include "cmd/vtrace/subcommands.h"
#include "listing/json.h"

/* How records of one kind are printed. */
struct layout {
	bool shown;
	size_t ncolumns;
	struct column *columns;
};

struct dump {
	struct app *app;
	struct vt_output *out;
	char *fields; /* of -F and -k, the commas made zeros; NULL: not given */
	size_t nfields;
	char *kinds;
	size_t nkinds;
	uint64_t limit;
	uint64_t printed;
	bool header;
	bool json;
	struct names names;
	struct layout *layouts; /* one for each kind of the schema */
	uint32_t nlayouts;
	struct vt_buf line;
	struct expander expander;
};

/* ---- what is to be printed ---- */

/* A copy of a comma-separated list as *count strings that follow each other. */
static char *split(const char *list, size_t *count)
{
	char *copy = list ? strdup(list) : NULL;
	char *p;

	*count = copy ? 1 : 0;
	for (p = copy; p && *p; p++) {
		if (*p == ',') {
			*p = '\0';
			++*count;
		}
	}
	return copy;
}

static const char *next_word(const char *word)
{
	return word + strlen(word) + 1;
}

/* Says which words would have been right. */
static int unknown_word(struct vt_error *err, const char *option, const char *word,
			const char *known)
{
	return vt_error_set(err, VT_E_USAGE, "%s: '%s' is not one of: %s", option, word, known);
}

static int choose_kinds(struct dump *d, const struct vt_schema *s, struct vt_error *err)
{
	const char *word = d->kinds;
	uint32_t k;
	size_t i;

	if (!d->kinds) {
		for (k = 0; k < s->nkinds; k++)
			d->layouts[k].shown = !d->fields || k == VT_SAMPLE;
		return 0;
	}
	for (i = 0; i < d->nkinds; i++, word = next_word(word)) {
		int kind = vt_schema_find(s, word);

		if (kind >= 0) {
			d->layouts[kind].shown = true;
			continue;
		}
		d->line.size = 0;
		for (k = 0; k < s->nkinds; k++)
			vt_buf_printf(&d->line, " %s", s->kinds[k].name);
		return unknown_word(err, "--kinds", word, vt_buf_str(&d->line));
	}
	return 0;
}

static int add_column(struct layout *l, const struct column *c, struct vt_error *err)
{
	struct column *more = realloc(l->columns, (l->ncolumns + 1) * sizeof(*more));

	if (!more)
		return vt_error_nomem(err);
	l->columns = more;
	l->columns[l->ncolumns++] = *c;
	return 0;
}

static int lay_out_kind(struct dump *d, struct layout *l, const struct vt_schema *s, uint32_t kind,
			struct vt_error *err)
{
	const struct vt_kind_desc *desc = &s->kinds[kind];
	const char *word = d->fields;
	struct column c;
	int rc = 0;
	size_t i;

	if (!d->fields) {
		for (i = 0; i < desc->nfields && rc == 0; i++) {
			c = column_short(desc, kind, (unsigned)i);
			rc = add_column(l, &c, err);
		}
		return rc;
	}
	for (i = 0; i < d->nfields && rc == 0; i++, word = next_word(word)) {
		if (column_find(desc, kind, word, &c)) {
			rc = add_column(l, &c, err);
		} else {
			l->shown = false;
			return 0;
		}
	}
	return rc;
}

/* No kind has all the fields: says which field is wrong, and what there is. */
static int complain_fields(struct dump *d, const struct vt_schema *s, struct vt_error *err)
{
	int kind = d->kinds ? vt_schema_find(s, d->kinds) : VT_SAMPLE;
	const struct vt_kind_desc *desc = &s->kinds[kind];
	const char *word = d->fields;
	struct column c;
	size_t i;

	for (i = 1; i < d->nfields && column_find(desc, (uint32_t)kind, word, &c); i++)
		word = next_word(word);
	d->line.size = 0;
	for (i = 0; i < desc->nfields; i++)
		vt_buf_printf(&d->line, "%s ", desc->fields[i].name);
	vt_buf_printf(&d->line, "kind%s", kind == VT_SAMPLE ? " brstack" : "");
	return unknown_word(err, "--fields", word, vt_buf_str(&d->line));
}

static void free_layouts(struct dump *d)
{
	uint32_t k;

	for (k = 0; k < d->nlayouts; k++)
		free(d->layouts[k].columns);
	free(d->layouts);
	d->layouts = NULL;
	d->nlayouts = 0;
}

static int begin(void *arg, const struct vt_reader *r, struct vt_error *err)
{
	struct dump *d = arg;
	const struct vt_schema *s = vt_reader_schema(r);
	bool any = false;
	uint32_t k;
	int rc;

	if (d->expander.what != EXPAND_NOTHING)
		return expander_begin(&d->expander, err);
	free_layouts(d);
	names_fini(&d->names);
	d->layouts = calloc(s->nkinds, sizeof(*d->layouts));
	if (!names_init(&d->names) || !d->layouts)
		return vt_error_nomem(err);
	d->nlayouts = s->nkinds;
	rc = choose_kinds(d, s, err);
	for (k = 0; k < s->nkinds && rc == 0; k++) {
		if (d->layouts[k].shown)
			rc = lay_out_kind(d, &d->layouts[k], s, k, err);
		any |= d->layouts[k].shown;
	}
	return rc == 0 && !any ? complain_fields(d, s, err) : rc;
}

/* ---- printing ---- */

static void print_fields(struct dump *d, const struct layout *l, const struct vt_record *rec)
{
	size_t i;

	for (i = 0; i < l->ncolumns; i++) {
		if (i)
			vt_buf_put_u8(&d->line, '\t');
		column_print(&d->line, &l->columns[i], rec, &d->names);
	}
}

static void print_whole(struct dump *d, const struct layout *l, const struct vt_record *rec)
{
	size_t i;

	vt_escape_str(&d->line, rec->block->desc->name);
	for (i = 0; i < l->ncolumns; i++) {
		const struct column *c = &l->columns[i];

		if (!column_present(c, rec))
			continue;
		vt_buf_put_u8(&d->line, '\t');
		vt_escape_str(&d->line, c->name);
		vt_buf_put_u8(&d->line, '=');
		column_print(&d->line, c, rec, &d->names);
	}
}

static void print_json(struct dump *d, const struct layout *l, const struct vt_record *rec)
{
	json_t *o = vt_json_doc("vtrace-dump/1");
	size_t i;

	if (!d->fields)
		json_object_set_new(o, "kind", json_string(rec->block->desc->name));
	for (i = 0; i < l->ncolumns; i++) {
		const struct column *c = &l->columns[i];

		if (d->fields || column_present(c, rec))
			vt_json_set(o, c->name, column_json(c, rec, &d->names));
	}
	vt_json_write(d->out, o, false);
}

static int print_record(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	struct dump *d = arg;
	const struct layout *l;

	if (d->expander.what != EXPAND_NOTHING)
		return expander_record(&d->expander, rec, err);
	l = &d->layouts[rec->kind];
	if (!names_feed(&d->names, rec))
		return vt_error_nomem(err);
	if (!l->shown)
		return 0;
	if (d->limit && d->printed == d->limit)
		return 1;
	d->printed++;
	if (d->json) {
		print_json(d, l, rec);
	} else {
		d->line.size = 0;
		if (d->fields)
			print_fields(d, l, rec);
		else
			print_whole(d, l, rec);
		vt_buf_put_u8(&d->line, '\n');
		vt_output_put(d->out, d->line.data, d->line.size);
	}
	/* The error itself is told when the output is closed. */
	return d->out->err.code != VT_OK || d->line.failed;
}

static void print_header(struct dump *d)
{
	const char *word = d->fields;
	size_t i;

	if (d->expander.what != EXPAND_NOTHING) {
		vt_output_printf(d->out, "# %s\n", expander_header(d->expander.what));
		return;
	}
	vt_output_text(d->out, "# ");
	for (i = 0; i < d->nfields; i++, word = next_word(word))
		vt_output_printf(d->out, "%s%s", i ? "\t" : "", word);
	vt_output_text(d->out, "\n");
}

static void dump_all(struct dump *d, const char *output)
{
	d->out = app_text(d->app, output);
	if (!d->out)
		return;
	d->expander.app = d->app;
	d->expander.out = d->out;
	d->expander.limit = d->limit;
	d->expander.json = d->json;
	if (d->header)
		print_header(d);
	app_each_input(d->app, begin, print_record, d);
	expander_fini(&d->expander);
}

int cmd_dump(int argc, char **argv)
{
	const char *fields = NULL, *kinds = NULL, *output = NULL;
	bool values = false, blocks = false;
	struct dump d = {.printed = 0};
	struct app app;
	const struct vt_opt opts[] = {
		{'F', "fields", VT_OPT_STRING, &fields, .arg = "FIELDS",
		 .help = "one tab-separated line of these fields (pid,tid,time...)\n"
			 "for each SAMPLE, or each record of the kinds of -k"},
		{'k', "kinds", VT_OPT_STRING, &kinds, .arg = "KINDS",
		 .help = "only records of these kinds (SAMPLE,MAP,...)"},
		{'n', "count", VT_OPT_U64, &d.limit, .arg = "N", .min = 1,
		 .help = "stop after N records"},
		{0, "values", VT_OPT_FLAG, &values,
		 .help = "one tab-separated line for each value that was captured"},
		{0, "blocks", VT_OPT_FLAG, &blocks,
		 .help = "one tab-separated line for each block that was executed"},
		{0, "header", VT_OPT_FLAG, &d.header,
		 .help = "print the names of the fields first"},
		{'j', "json", VT_OPT_FLAG, &d.json,
		 .help = "print one JSON object for each record"},
		APP_OPT_OUTPUT(output),
		{0},
	};
	const struct vt_opt_page page = {
		.program = "vtrace dump",
		.usage = "[-F FIELDS] [-k KINDS] [-n N] [options] [FILE]...\n"
			 "--values | --blocks [-n N] [options] [FILE]...",
		.about = "Prints the records of a stream, one a line.",
		.opts = opts,
		.max_operands = UINT_MAX,
	};

	if (!app_start(&app, &page, argc, argv))
		return app_finish(&app);
	d.app = &app;
	d.fields = split(fields, &d.nfields);
	d.kinds = split(kinds, &d.nkinds);
	d.expander.what = values ? EXPAND_VALUES : blocks ? EXPAND_BLOCKS : EXPAND_NOTHING;
	if (values + blocks + (fields || kinds) > 1)
		app_usage(&app, "--values, --blocks, and --fields or --kinds exclude each other");
	else if (d.header && !fields && !values && !blocks)
		app_usage(&app, "--header: goes with --fields, --values or --blocks");
	else
		dump_all(&d, output);
	free_layouts(&d);
	names_fini(&d.names);
	vt_buf_free(&d.line);
	free(d.fields);
	free(d.kinds);
	return app_finish(&app);
}
