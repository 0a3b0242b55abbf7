/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/pairs/listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/hash.h"
#include "base/intern.h"
#include "listing/json.h"

/* What a group of columns is of; texts are numbers of the pool. */
struct pair_column {
	uint32_t metric;
	uint32_t split;
	uint32_t counted; /* 1: of executed code, not of samples */
};

/* More columns than this tell nobody anything. */
#define MAX_COLUMNS 16

struct listed_sum {
	uint64_t offset;
	uint32_t image;
	uint32_t column;
	struct vt_pairsum sum;
};

struct vt_pairlist {
	struct vt_profile *profile;
	struct vt_images *images;
	struct vt_intern *texts;
	struct vt_hash columns; /* struct pair_column */
	struct vt_hash sums;	/* struct listed_sum */
	const char *name;	/* of the event that is wanted; NULL: any */
	uint64_t event;		/* of the first record of samples */
	bool has_event;
	uint64_t others;
	uint64_t bad;
};

struct vt_pairlist *vt_pairlist_new(struct vt_profile *p, struct vt_images *images)
{
	struct vt_pairlist *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->profile = p;
	l->images = images;
	l->texts = vt_intern_new();
	vt_hash_init(&l->columns, sizeof(struct pair_column), sizeof(struct pair_column));
	vt_hash_init(&l->sums, sizeof(struct listed_sum), offsetof(struct listed_sum, sum));
	if (l->texts)
		return l;
	vt_pairlist_free(l);
	return NULL;
}

void vt_pairlist_free(struct vt_pairlist *l)
{
	if (!l)
		return;
	vt_intern_free(l->texts);
	vt_hash_fini(&l->columns);
	vt_hash_fini(&l->sums);
	free(l);
}

uint64_t vt_pairlist_bad(const struct vt_pairlist *l)
{
	return l->bad;
}

void vt_pairlist_choose(struct vt_pairlist *l, const char *event)
{
	l->name = event;
}

uint64_t vt_pairlist_others(const struct vt_pairlist *l)
{
	return l->others;
}

bool vt_pairlist_has_any(const struct vt_pairlist *l)
{
	return l->columns.count || l->bad;
}

/* ---- records ---- */

static int find_pair_column(struct vt_pairlist *l, const struct vt_pairstat *s, uint32_t *column,
			    struct vt_error *err)
{
	const struct pair_column key = {
		.metric = vt_intern_add(l->texts, s->metric.data, s->metric.size),
		.split = vt_intern_add(l->texts, s->split.data, s->split.size),
		.counted = s->method == VT_METHOD_COUNTED,
	};
	const struct pair_column *found;

	if (key.metric == UINT32_MAX || key.split == UINT32_MAX)
		return vt_error_nomem(err);
	found = vt_hash_find(&l->columns, &key);
	if (!found && l->columns.count == MAX_COLUMNS)
		return vt_error_set(err, VT_E_LIMIT, "more than %d metrics and conditions",
				    MAX_COLUMNS);
	if (!found)
		found = vt_hash_add(&l->columns, &key, NULL);
	if (!found)
		return vt_error_nomem(err);
	*column = (uint32_t)vt_hash_index(&l->columns, found);
	return 0;
}

/* 1: a record is of the event that is wanted; 0: it is not; -VT_E_NOMEM. */
static int is_wanted(const struct vt_pairlist *l, const struct vt_pairstat *s, struct vt_error *err)
{
	const struct vt_event *event;

	if (!l->name)
		return 1;
	if (s->method == VT_METHOD_COUNTED)
		return 0;
	event = vt_context_event(vt_profile_context(l->profile), s->event, err);
	return event ? strcmp(l->name, event->name) == 0 : -VT_E_NOMEM;
}

/* Samples are of one event; executed code is of none. */
static bool check_event(struct vt_pairlist *l, const struct vt_pairstat *s)
{
	if (s->method == VT_METHOD_COUNTED)
		return true;
	if (l->has_event)
		return l->event == s->event;
	l->has_event = true;
	l->event = s->event;
	return true;
}

int vt_pairlist_feed(void *list, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_pairlist *l = list;
	struct listed_sum key = {0}, *sum;
	struct vt_pairstat s;
	int code;

	if (rec->kind != VT_PAIRSTAT)
		return 0;
	if (!vt_pairstat_read(rec, &s)) {
		l->bad++;
		return 0;
	}
	code = is_wanted(l, &s, err);
	l->others += code == 0;
	if (code <= 0)
		return code;
	if (!check_event(l, &s))
		return vt_error_set(err, VT_E_MISMATCH,
				    "pairs of more than one event: --event names one");
	key.offset = s.offset;
	key.image = s.image;
	code = find_pair_column(l, &s, &key.column, err);
	if (code < 0)
		return code;
	sum = vt_hash_add(&l->sums, &key, NULL);
	if (!sum)
		return vt_error_nomem(err);
	vt_pairsum_join(&sum->sum, &s.sum);
	return vt_profile_count(l->profile, VT_PROFILE_LISTED, s.image, s.offset,
				s.sum.pairs + s.sum.missing, err);
}

/* ---- the table ---- */

static const struct pair_column *column_at(const struct vt_pairlist *l, size_t i)
{
	return vt_hash_at(&l->columns, i);
}

static bool is_total(const struct vt_pairlist *l, size_t i)
{
	return vt_pairmetric_is_total(vt_intern_get(l->texts, column_at(l, i)->metric));
}

/* What a column is called: its metric, and its condition or where it comes from. */
static void put_column_name(const struct vt_pairlist *l, size_t i, struct vt_buf *out)
{
	const struct pair_column *c = column_at(l, i);
	const char *split = vt_intern_get(l->texts, c->split);

	vt_buf_printf(out, "%s%s%s%s", vt_intern_get(l->texts, c->metric), *split ? ", " : "",
		      split, c->counted ? ", executed" : "");
}

/* What programs get of a column, and people see under a heading. */
static const struct {
	const char *member;
	enum vt_format format;
	const char *heading; /* "": the column's name; NULL: hidden */
} members[] = {
	{"value", VT_FORMAT_REAL, ""},	      {"error", VT_FORMAT_REAL, "error"},
	{"low", VT_FORMAT_REAL, NULL},	      {"high", VT_FORMAT_REAL, NULL},
	{"pairs", VT_FORMAT_NUMBER, "pairs"}, {"missing", VT_FORMAT_NUMBER, "missing"},
	{"confidence", VT_FORMAT_TEXT, NULL},
};

enum { PAIRS = 4, MISSING, NMEMBERS = sizeof(members) / sizeof(members[0]) };

/* Of totals, people see whole numbers, in columns of their own. */
static void add_number_columns(const struct vt_pairlist *l, size_t i, struct vt_table *t)
{
	bool total = is_total(l, i), counted = column_at(l, i)->counted;
	struct vt_buf name = VT_BUF_INIT;
	size_t k;

	put_column_name(l, i, &name);
	for (k = 0; k < NMEMBERS; k++) {
		const char *heading = members[k].heading;
		struct vt_buf key = VT_BUF_INIT;

		if (heading && !*heading)
			heading = vt_buf_str(&name);
		if (k == PAIRS && counted)
			heading = "instructions";
		if (k == MISSING && !counted)
			heading = NULL;
		vt_buf_printf(&key, "%s.%s", vt_buf_str(&name), members[k].member);
		vt_table_column_of(t, "metrics", vt_buf_str(&name), members[k].member,
				   vt_buf_str(&key), total ? NULL : heading, members[k].format);
		vt_buf_free(&key);
	}
	if (total) {
		vt_table_column(t, NULL, vt_buf_str(&name), VT_FORMAT_SIGNED);
		vt_table_column(t, NULL, "error", VT_FORMAT_SIGNED);
		vt_table_column(t, NULL, "pairs", VT_FORMAT_NUMBER);
	}
	vt_buf_free(&name);
}

static void add_list_columns(const struct vt_pairlist *l, enum vt_list_view view,
			     struct vt_table *t)
{
	bool mixed = view == VT_LIST_MIXED;
	size_t i;

	for (i = 0; i < l->columns.count; i++)
		add_number_columns(l, i, t);
	vt_table_column(t, "address", "address", VT_FORMAT_HEX);
	vt_table_column(t, "shown_line", mixed ? "line" : NULL, VT_FORMAT_NUMBER);
	vt_table_column(t, "code", "code", VT_FORMAT_TEXT);
	vt_table_column(t, "file", NULL, VT_FORMAT_TEXT);
	vt_table_column(t, "line", NULL, VT_FORMAT_NUMBER);
	vt_table_column(t, "procedure", NULL, VT_FORMAT_TEXT);
	vt_table_column(t, "image", NULL, VT_FORMAT_TEXT);
}

static void put_sum(const struct vt_pairlist *l, size_t column, const struct listed_sum *s,
		    struct vt_table *t)
{
	bool total = is_total(l, column);
	struct vt_pairvalue v;
	size_t i, cells = NMEMBERS + (total ? 3 : 0);

	for (i = 0; i < cells && !s; i++)
		vt_table_empty(t);
	if (!s)
		return;
	v = vt_pairsum_value(&s->sum, total);
	vt_table_finite(t, v.value);
	vt_table_finite(t, v.error);
	vt_table_finite(t, v.low);
	vt_table_finite(t, v.high);
	vt_table_number(t, s->sum.pairs);
	vt_table_number(t, s->sum.missing);
	vt_table_str(t, vt_confidence_name(v.confidence));
	if (!total)
		return;
	vt_table_whole(t, v.value);
	vt_table_whole(t, v.error);
	vt_table_number(t, s->sum.pairs);
}

static void put_sums(const struct vt_pairlist *l, const struct vt_procedure *proc,
		     const struct vt_list_row *row, struct vt_table *t)
{
	struct listed_sum key = {.image = proc->image};
	bool known = vt_list_row_is_code(row);

	/* Code without a file is known by its offsets. */
	if (known && !vt_images_offset(l->images, proc->image, row->address, &key.offset))
		key.offset = row->address;
	for (; key.column < l->columns.count; key.column++)
		put_sum(l, key.column, known ? vt_hash_find(&l->sums, &key) : NULL, t);
}

static void put_number_if(struct vt_table *t, bool known, uint64_t number)
{
	if (known)
		vt_table_number(t, number);
	else
		vt_table_empty(t);
}

static void put_list_row(const struct vt_pairlist *l, const struct vt_procedure *proc,
			 const struct vt_list_row *row, struct vt_table *t)
{
	const struct vt_image *image = vt_images_get(l->images, proc->image);
	bool source = row->kind == VT_ROW_LINE;

	vt_table_row(t, row->kind == VT_ROW_PLACE || row->kind == VT_ROW_CUT ? VT_STYLE_FAINT
									     : VT_STYLE_PLAIN);
	put_sums(l, proc, row, t);
	put_number_if(t, vt_list_row_is_code(row), row->address);
	put_number_if(t, source && row->line, row->line);
	vt_table_text(t, row->text, row->text_size);
	if (source)
		vt_table_cell_style(t, VT_STYLE_SOURCE);
	vt_table_str(t, row->file);
	put_number_if(t, row->line, row->line);
	vt_table_str(t, proc->name);
	vt_table_str(t, image ? image->path : "");
}

/* ---- printing ---- */

static void put_escaped(struct vt_output *out, const char *text)
{
	struct vt_buf b = VT_BUF_INIT;

	vt_escape_str(&b, text);
	vt_output_text(out, vt_buf_str(&b));
	vt_buf_free(&b);
}

static void print_list_header(const struct vt_pairlist *l, const struct vt_procedure *proc,
			      bool again, struct vt_output *out)
{
	const struct vt_image *image = vt_images_get(l->images, proc->image);
	size_t i;

	vt_output_text(out, again ? "\n" : "");
	if (proc->symbol)
		put_escaped(out, proc->name);
	else
		vt_output_printf(out, "[%s]", vt_unknown_text(proc->why));
	vt_output_text(out, " in ");
	put_escaped(out, image ? image->path : "[unknown image]");
	vt_output_text(out, "\n");
	for (i = 0; i < l->columns.count; i++) {
		struct vt_buf name = VT_BUF_INIT;

		put_column_name(l, i, &name);
		put_escaped(out, vt_buf_str(&name));
		vt_output_printf(
			out, ": in %s\n",
			vt_pairmetric_unit(vt_intern_get(l->texts, column_at(l, i)->metric)));
		vt_buf_free(&name);
	}
	vt_output_text(out, "\n");
}

static void note_missing_code(const struct vt_pairlist *l, const struct vt_procedure *proc,
			      const char *missing, vt_warn_fn *note, void *arg)
{
	const struct vt_image *image = vt_images_get(l->images, proc->image);
	struct vt_buf b = VT_BUF_INIT;

	vt_buf_printf(&b, "%s: %s: pairs by address only", image ? image->path : "?", missing);
	note(arg, vt_buf_str(&b));
	vt_buf_free(&b);
}

/* Fills an empty table, or appends to one that has columns. */
static int fill_list(const struct vt_pairlist *l, const struct vt_procedure *proc,
		     const struct vt_pairlist_options *o, struct vt_table *t, vt_warn_fn *note,
		     void *arg, struct vt_error *err)
{
	struct vt_listing *code = vt_listing_new(l->profile, l->images, proc, o->listing, err);
	size_t i;

	if (!code)
		return -VT_E_NOMEM;
	if (vt_listing_missing(code))
		note_missing_code(l, proc, vt_listing_missing(code), note, arg);
	if (!vt_table_columns(t))
		add_list_columns(l, o->listing->view, t);
	for (i = 0; i < vt_listing_nrows(code); i++)
		put_list_row(l, proc, vt_listing_row(code, i), t);
	vt_listing_free(code);
	return 0;
}

static int print_text(const struct vt_pairlist *l, const struct vt_found *found,
		      const struct vt_pairlist_options *o, struct vt_output *out, vt_warn_fn *note,
		      void *arg, struct vt_error *err)
{
	size_t i;
	int code = 0;

	for (i = 0; i < found->count && code == 0; i++) {
		struct vt_table *t = vt_table_new();

		code = t ? fill_list(l, &found->list[i], o, t, note, arg, err)
			 : vt_error_nomem(err);
		if (code == 0) {
			print_list_header(l, &found->list[i], i > 0, out);
			code = vt_table_print(t, out, VT_TABLE_TEXT, o->color, err);
		}
		vt_table_free(t);
	}
	return code;
}

int vt_pairlist_print(struct vt_pairlist *l, const struct vt_found *found,
		      const struct vt_pairlist_options *o, struct vt_output *out, vt_warn_fn *note,
		      void *arg, struct vt_error *err)
{
	struct vt_table *t;
	size_t i;
	int code = 0;

	if (!o->json && o->form == VT_TABLE_TEXT)
		return print_text(l, found, o, out, note, arg, err);
	t = vt_table_new();
	if (!t)
		return vt_error_nomem(err);
	for (i = 0; i < found->count && code == 0; i++)
		code = fill_list(l, &found->list[i], o, t, note, arg, err);
	if (code == 0 && o->json) {
		json_t *doc = vt_json_doc("vlist-pairs/1");

		vt_json_losses(doc, o->losses);
		json_object_set_new(doc, "rows", vt_json_table(t));
		vt_json_write(out, doc, true);
	} else if (code == 0) {
		code = vt_table_print(t, out, o->form, false, err);
	}
	vt_table_free(t);
	return code;
}
