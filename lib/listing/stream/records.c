/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/stream/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/spelling.h"
#include "listing/json.h"
#include "listing/stream/columns.h"
#include "listing/stream/resolved.h"
#include "summary/names.h"

/* A field, or what a resolver tells. */
struct line_column {
	const char *name; /* in JSON; borrowed */
	struct vt_dump_column field;
	enum vt_resolved resolved; /* VT_RESOLVED_NONE: it is a field */
};

/* How records of one kind are printed. */
struct kind_layout {
	bool shown;
	bool lacking;		     /* it would be shown, but has no field that `where` asks for */
	struct vt_where_expr *where; /* NULL: all of them */
	size_t ncolumns;
	struct line_column *columns;
};

struct vt_record_dump {
	struct vt_output *out;
	char *fields; /* words that follow each other, each zero-terminated; NULL: not given */
	size_t nfields;
	char *kinds; /* likewise */
	size_t nkinds;
	char *where; /* NULL: not given */
	struct vt_picked picked;
	uint64_t lacking;	  /* records */
	struct vt_places *places; /* for `where`; NULL: it does not need it */
	bool json;
	uint64_t limit;
	uint64_t printed;
	struct vt_names names;
	struct vt_resolver *resolver; /* NULL: no column needs it */
	struct kind_layout *layouts;  /* one for each kind of the schema */
	uint32_t nlayouts;
	struct vt_buf line;
};

/* ---- choosing ---- */

/* Copies a comma-separated list as *count strings that follow each other. */
static char *split_words(const char *list, size_t *count)
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

static int unknown_word(struct vt_error *err, const char *option, const char *word,
			const char *known)
{
	return vt_error_set(err, VT_E_USAGE, "%s: '%s' is not one of: %s", option, word, known);
}

static int choose_kinds(struct vt_record_dump *d, const struct vt_schema *s, struct vt_error *err)
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

static int add_layout_column(struct kind_layout *l, const struct line_column *c,
			     struct vt_error *err)
{
	struct line_column *more = realloc(l->columns, (l->ncolumns + 1) * sizeof(*more));

	if (!more)
		return vt_error_nomem(err);
	l->columns = more;
	l->columns[l->ncolumns++] = *c;
	return 0;
}

/* The fields of a kind go before what is made of them. */
static bool find_column(const struct vt_kind_desc *desc, uint32_t kind, const char *name,
			struct line_column *c)
{
	*c = (struct line_column){.name = name};
	if (vt_dump_column_find(desc, kind, name, &c->field))
		return true;
	if (kind == VT_SAMPLE)
		c->resolved = vt_resolved_find(name);
	return c->resolved != VT_RESOLVED_NONE;
}

static int lay_out_kind(struct vt_record_dump *d, struct kind_layout *l, const struct vt_schema *s,
			uint32_t kind, struct vt_error *err)
{
	const struct vt_kind_desc *desc = &s->kinds[kind];
	const char *word = d->fields;
	struct line_column c;
	int rc = 0;
	size_t i;

	if (!d->fields) {
		for (i = 0; i < desc->nfields && rc == 0; i++) {
			c = (struct line_column){
				.name = desc->fields[i].name,
				.field = vt_dump_column_of(desc, kind, (unsigned)i)};
			rc = add_layout_column(l, &c, err);
		}
		return rc;
	}
	for (i = 0; i < d->nfields && rc == 0; i++, word = next_word(word)) {
		if (find_column(desc, kind, word, &c)) {
			if (d->resolver && !vt_resolver_want(d->resolver, c.resolved))
				return vt_error_nomem(err);
			rc = add_layout_column(l, &c, err);
		} else {
			l->shown = false;
			return 0;
		}
	}
	return rc;
}

static void put_known_word(struct vt_record_dump *d, struct vt_spelling *near, const char *word)
{
	vt_buf_printf(&d->line, "%s%s", d->line.size ? " " : "", word);
	vt_spelling_try(near, word);
}

static void put_sample_words(struct vt_record_dump *d, struct vt_spelling *near)
{
	int i;

	for (i = VT_RESOLVED_NONE + 1; i < VT_NRESOLVED; i++)
		put_known_word(d, near, vt_resolved_name((enum vt_resolved)i));
	put_known_word(d, near, "brstack");
}

/* No kind has all the fields: reports the first wrong one, and those that there are. */
static int refuse_fields(struct vt_record_dump *d, const struct vt_schema *s, struct vt_error *err)
{
	int kind = d->kinds ? vt_schema_find(s, d->kinds) : VT_SAMPLE;
	const struct vt_kind_desc *desc = &s->kinds[kind];
	const char *word = d->fields;
	struct vt_spelling near;
	struct line_column c;
	size_t i;

	for (i = 1; i < d->nfields && find_column(desc, (uint32_t)kind, word, &c); i++)
		word = next_word(word);
	near = vt_spelling_start(word);
	d->line.size = 0;
	for (i = 0; i < desc->nfields; i++)
		put_known_word(d, &near, desc->fields[i].name);
	if (kind == VT_SAMPLE)
		put_sample_words(d, &near);
	put_known_word(d, &near, "kind");
	if (near.best)
		return vt_error_set(err, VT_E_USAGE, "--fields: no field '%s'; did you mean '%s'?",
				    word, near.best);
	return unknown_word(err, "--fields", word, vt_buf_str(&d->line));
}

static int start_resolver(struct vt_record_dump *d, struct vt_context *context,
			  struct vt_error *err)
{
	vt_resolver_free(d->resolver);
	d->resolver = context ? vt_resolver_new(context) : NULL;
	return d->resolver || !context ? 0 : vt_error_nomem(err);
}

static void free_layouts(struct vt_record_dump *d)
{
	uint32_t k;

	for (k = 0; k < d->nlayouts; k++) {
		free(d->layouts[k].columns);
		vt_where_free(d->layouts[k].where);
	}
	free(d->layouts);
	d->layouts = NULL;
	d->nlayouts = 0;
}

bool vt_record_dump_resolves(const struct vt_record_dump *d)
{
	const char *word = d->fields;
	size_t i;

	if (d->where && vt_where_asks_places(d->where))
		return true;
	for (i = 0; i < d->nfields; i++, word = next_word(word))
		if (vt_resolved_find(word) != VT_RESOLVED_NONE)
			return true;
	return false;
}

/* The column of an error of vt_where_compile(). */
static unsigned long column_of(const struct vt_error *e)
{
	return strtoul(e->text + strlen("column "), NULL, 10);
}

/*
 * Whether the error of a kind says more than another one: that the expression is wrong rather than
 * that a field is missing; else what comes after fields that the kind has; else that of SAMPLE.
 */
static bool tells_more(const struct vt_error *e, uint32_t kind, const struct vt_error *than)
{
	if (!than->code || e->code == VT_E_NOMEM)
		return true;
	if (e->code != than->code)
		return than->code == VT_E_ABSENT;
	return column_of(e) > column_of(than) ||
	       (column_of(e) == column_of(than) && kind == VT_SAMPLE);
}

/*
 * Compiles `where` for each kind that is shown.  A kind for which it makes no sense is not; if
 * there is no other, the error is that which tells most.
 */
static int choose_records(struct vt_record_dump *d, const struct vt_schema *s,
			  struct vt_context *context, struct vt_error *err)
{
	struct vt_where_names names = {.in = context ? vt_places_in : NULL,
				       .is_event = vt_names_is_event,
				       .event_arg = &d->names};
	struct vt_error worst = VT_ERROR_INIT, e = VT_ERROR_INIT;
	bool any = false;
	uint32_t k;

	vt_places_free(d->places);
	d->places = context ? vt_places_new(context) : NULL;
	if (context && !d->places)
		return vt_error_nomem(err);
	names.arg = d->places;
	for (k = 0; k < s->nkinds; k++) {
		struct kind_layout *l = &d->layouts[k];

		if (!l->shown)
			continue;
		l->where = vt_where_compile(d->where, s, k, &names, &e);
		l->shown = l->where != NULL;
		l->lacking = !l->shown;
		any |= l->shown;
		if (!l->shown && tells_more(&e, k, &worst))
			worst = e;
	}
	if (any)
		return 0;
	return vt_error_set(err, worst.code == VT_E_NOMEM ? VT_E_NOMEM : VT_E_USAGE, "--where: %s",
			    worst.text);
}

int vt_record_dump_begin(struct vt_record_dump *d, const struct vt_schema *s,
			 struct vt_context *context, struct vt_error *err)
{
	bool any = false;
	uint32_t k;
	int rc;

	free_layouts(d);
	vt_names_fini(&d->names);
	d->layouts = calloc(s->nkinds, sizeof(*d->layouts));
	if (!vt_names_init(&d->names) || !d->layouts)
		return vt_error_nomem(err);
	d->nlayouts = s->nkinds;
	rc = start_resolver(d, context, err);
	if (rc == 0)
		rc = choose_kinds(d, s, err);
	for (k = 0; k < s->nkinds && rc == 0; k++) {
		if (d->layouts[k].shown)
			rc = lay_out_kind(d, &d->layouts[k], s, k, err);
		any |= d->layouts[k].shown;
	}
	if (rc == 0 && !any)
		return refuse_fields(d, s, err);
	return rc == 0 && d->where ? choose_records(d, s, context, err) : rc;
}

struct vt_record_dump *vt_record_dump_new(struct vt_output *out,
					  const struct vt_record_dump_options *opt)
{
	struct vt_record_dump *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->out = out;
	d->json = opt->json;
	d->limit = opt->limit;
	d->fields = split_words(opt->fields, &d->nfields);
	d->kinds = split_words(opt->kinds, &d->nkinds);
	d->where = opt->where ? strdup(opt->where) : NULL;
	if ((d->fields || !opt->fields) && (d->kinds || !opt->kinds) && (d->where || !opt->where))
		return d;
	vt_record_dump_free(d);
	return NULL;
}

void vt_record_dump_free(struct vt_record_dump *d)
{
	if (!d)
		return;
	free_layouts(d);
	vt_names_fini(&d->names);
	vt_resolver_free(d->resolver);
	vt_buf_free(&d->line);
	free(d->fields);
	free(d->kinds);
	free(d->where);
	vt_places_free(d->places);
	free(d);
}

/* ---- printing ---- */

static void put_column(struct vt_record_dump *d, const struct line_column *c,
		       const struct vt_record *rec)
{
	if (c->resolved)
		vt_resolver_text(d->resolver, c->resolved, rec, &d->line);
	else
		vt_dump_column_text(&d->line, &c->field, rec, &d->names);
}

static json_t *column_json(struct vt_record_dump *d, const struct line_column *c,
			   const struct vt_record *rec)
{
	if (c->resolved)
		return vt_resolver_json(d->resolver, c->resolved, rec);
	return vt_dump_column_json(&c->field, rec, &d->names);
}

static void put_fields(struct vt_record_dump *d, const struct kind_layout *l,
		       const struct vt_record *rec)
{
	size_t i;

	for (i = 0; i < l->ncolumns; i++) {
		if (i)
			vt_buf_put_u8(&d->line, '\t');
		put_column(d, &l->columns[i], rec);
	}
}

static void put_named_fields(struct vt_record_dump *d, const struct kind_layout *l,
			     const struct vt_record *rec)
{
	size_t i;

	vt_escape_str(&d->line, rec->block->desc->name);
	for (i = 0; i < l->ncolumns; i++) {
		const struct line_column *c = &l->columns[i];

		if (!vt_dump_column_present(&c->field, rec))
			continue;
		vt_buf_put_u8(&d->line, '\t');
		vt_escape_str(&d->line, c->name);
		vt_buf_put_u8(&d->line, '=');
		put_column(d, c, rec);
	}
}

static void put_json(struct vt_record_dump *d, const struct kind_layout *l,
		     const struct vt_record *rec)
{
	json_t *o = vt_json_doc("vtrace-dump/1");
	size_t i;

	if (!d->fields)
		json_object_set_new(o, "kind", json_string(rec->block->desc->name));
	for (i = 0; i < l->ncolumns; i++) {
		const struct line_column *c = &l->columns[i];

		if (d->fields || vt_dump_column_present(&c->field, rec))
			vt_json_set(o, c->name, column_json(d, c, rec));
	}
	vt_json_write(d->out, o, false);
}

/* Whether a record passes `where`, which is counted. */
static bool picks(struct vt_record_dump *d, struct vt_where_expr *where,
		  const struct vt_record *rec)
{
	enum vt_truth truth = vt_where_test(where, rec);

	d->picked.seen++;
	d->picked.passed += truth == VT_TRUE;
	d->picked.unknown += truth == VT_UNKNOWN;
	return truth == VT_TRUE;
}

const struct vt_picked *vt_record_dump_picked(const struct vt_record_dump *d)
{
	return &d->picked;
}

uint64_t vt_record_dump_lacking(const struct vt_record_dump *d)
{
	return d->lacking;
}

int vt_record_dump_feed(struct vt_record_dump *d, const struct vt_record *rec, struct vt_error *err)
{
	const struct kind_layout *l = &d->layouts[rec->kind];

	if (!vt_names_feed(&d->names, rec))
		return vt_error_nomem(err);
	if (d->resolver && vt_resolver_feed(d->resolver, rec, err) < 0)
		return -(int)err->code;
	if (d->places)
		vt_places_feed(d->places, rec);
	d->lacking += l->lacking;
	if (!l->shown)
		return 0;
	if (d->limit && d->printed == d->limit)
		return 1;
	if (l->where && !picks(d, l->where, rec))
		return 0;
	d->printed++;
	if (d->json) {
		put_json(d, l, rec);
	} else {
		d->line.size = 0;
		if (d->fields)
			put_fields(d, l, rec);
		else
			put_named_fields(d, l, rec);
		vt_buf_put_u8(&d->line, '\n');
		vt_output_put(d->out, d->line.data, d->line.size);
	}
	if (d->line.failed)
		return vt_error_nomem(err);
	/* Closing the output reports the error. */
	return d->out->err.code != VT_OK;
}

void vt_record_dump_header(struct vt_record_dump *d)
{
	const char *word = d->fields;
	size_t i;

	vt_output_text(d->out, "# ");
	for (i = 0; i < d->nfields; i++, word = next_word(word))
		vt_output_printf(d->out, "%s%s", i ? "\t" : "", word);
	vt_output_text(d->out, "\n");
}

/* ---- help ---- */

/* Columns that are more than the field of their name, or made of several. */
static const struct {
	const char *name;
	const char *help;
} made_columns[] = {
	{"event", "the event, by name"},
	{"uregs", "the user's registers, by perf's names"},
	{"iregs", "the registers at the interrupt, by perf's names"},
	{"brstack", "the branch stack, newest branch first, in perf's notation"},
	{"kind", "the kind of the record: SAMPLE"},
};

#define MADE_COLUMNS (sizeof(made_columns) / sizeof(made_columns[0]))

static bool is_made(const char *name)
{
	size_t i;

	for (i = 0; i < MADE_COLUMNS; i++)
		if (strcmp(made_columns[i].name, name) == 0)
			return true;
	return false;
}

static void put_help(struct vt_output *out, const char *name, const char *help)
{
	vt_output_printf(out, "%-15s %s\n", name, help);
}

void vt_record_dump_help(struct vt_output *out, const struct vt_schema *s)
{
	const struct vt_kind_desc *desc = &s->kinds[VT_SAMPLE];
	size_t i;

	for (i = VT_RESOLVED_NONE + 1; i < VT_NRESOLVED; i++)
		put_help(out, vt_resolved_name((enum vt_resolved)i),
			 vt_resolved_help((enum vt_resolved)i));
	for (i = 0; i < MADE_COLUMNS; i++)
		put_help(out, made_columns[i].name, made_columns[i].help);
	for (i = 0; i < desc->nfields; i++) {
		const struct vt_field_desc *f = &desc->fields[i];
		bool in_unit = strcmp(f->unit, "ns") == 0 || strcmp(f->unit, "cycles") == 0 ||
			       strcmp(f->unit, "bytes") == 0;
		char help[VT_MAX_NAME + 20];

		if (is_made(f->name))
			continue;
		snprintf(help, sizeof(help), "as recorded%s%s", in_unit ? ", in " : "",
			 in_unit ? f->unit : "");
		put_help(out, f->name, help);
	}
}
