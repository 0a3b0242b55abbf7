/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/pairs/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "listing/chart.h"
#include "listing/code/source.h"
#include "listing/json.h"

/* A row of the ranking, for an event. */
struct pair_row {
	uint64_t rank;
	uint64_t event;
};

struct vt_pairrows {
	struct vt_ranking *ranking;
	struct vt_hash rows; /* struct pair_row */
};

struct vt_pairrows *vt_pairrows_new(struct vt_images *images, enum vt_level level,
				    struct vt_error *err)
{
	struct vt_pairrows *r = calloc(1, sizeof(*r));

	if (!r) {
		vt_error_nomem(err);
		return NULL;
	}
	vt_hash_init(&r->rows, sizeof(struct pair_row), sizeof(struct pair_row));
	r->ranking = vt_ranking_new_empty(images, level, err);
	if (r->ranking)
		return r;
	vt_pairrows_free(r);
	return NULL;
}

void vt_pairrows_free(struct vt_pairrows *r)
{
	if (!r)
		return;
	vt_ranking_free(r->ranking);
	vt_hash_fini(&r->rows);
	free(r);
}

int vt_pairrows_find(void *arg, const struct vt_place *place, uint64_t event, uint32_t *row,
		     struct vt_error *err)
{
	struct vt_pairrows *r = arg;
	struct pair_row key = {.event = event}, *found;
	size_t rank = 0;
	int code = vt_ranking_row(r->ranking, place, &rank, err);

	if (code < 0)
		return code;
	key.rank = rank;
	found = vt_hash_add(&r->rows, &key, NULL);
	if (!found)
		return vt_error_nomem(err);
	*row = (uint32_t)vt_hash_index(&r->rows, found);
	return 0;
}

/* ---- order ---- */

/* A line of the table. */
struct pair_line {
	uint32_t row;
	enum vt_split side;
	const struct vt_pairsum *sum;
	struct vt_pairvalue v;
	double key; /* by which it is ranked */
};

static int compare_pair_lines(const void *pa, const void *pb)
{
	const struct pair_line *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return (int)a->side - (int)b->side;
}

/* All lines in order; owned by the caller.  NULL: out of memory. */
static struct pair_line *make_lines(const struct vt_pairrows *r,
				    const struct vt_pairrows_options *o, size_t *count)
{
	size_t i, n = 0, sides = o->split ? VT_NSPLITS : 1;
	struct pair_line *lines = calloc(r->rows.count * sides + 1, sizeof(*lines));
	bool total = vt_pairmetric_is_total(o->metric);

	for (i = 0; lines && i < r->rows.count * sides; i++) {
		struct pair_line *l = &lines[n];

		l->row = (uint32_t)(i / sides);
		l->side = (enum vt_split)(i % sides);
		l->sum = vt_pairs_sum(o->pairs, l->row, l->side);
		l->v = vt_pairsum_value(l->sum, total);
		/* The largest ratios are those of the fewest pairs. */
		l->key = total ? l->v.value : (double)(l->sum->pairs + l->sum->missing);
		n += vt_pairs_has_sum(o->pairs, l->sum);
	}
	if (lines)
		qsort(lines, n, sizeof(*lines), compare_pair_lines);
	*count = n;
	return lines;
}

/* ---- the table ---- */

/* What values are of. */
static const char *name_units(const struct vt_pairrows_options *o)
{
	if (vt_pairmetric_is_single(o->metric))
		return "samples";
	return vt_pairs_totals(o->pairs)->windows ? "instructions" : "pairs";
}

static void add_pair_columns(struct vt_table *t, enum vt_level level,
			     const struct vt_pairrows_options *o)
{
	const char *metric = o->metric;
	bool split = o->split != NULL;
	bool total = vt_pairmetric_is_total(metric);
	bool place = level == VT_LEVEL_INSTRUCTION || level == VT_LEVEL_LINE;
	const char *heading = level == VT_LEVEL_IMAGE ? NULL : "procedure";

	vt_table_column(t, "value", total ? NULL : "value", VT_FORMAT_REAL);
	vt_table_column(t, "error", total ? NULL : "error", VT_FORMAT_REAL);
	vt_table_column(t, "low", total ? NULL : "low", VT_FORMAT_REAL);
	vt_table_column(t, "high", total ? NULL : "high", VT_FORMAT_REAL);
	if (total) {
		vt_table_column(t, NULL, "value", VT_FORMAT_SIGNED);
		vt_table_column(t, NULL, "error", VT_FORMAT_SIGNED);
		vt_table_column(t, NULL, "low", VT_FORMAT_SIGNED);
		vt_table_column(t, NULL, "high", VT_FORMAT_SIGNED);
	}
	vt_table_column(t, "cycles", NULL, VT_FORMAT_REAL);
	vt_table_column(t, "pairs", name_units(o), VT_FORMAT_NUMBER);
	vt_table_column(t, "missing", vt_pairs_totals(o->pairs)->windows ? "missing" : NULL,
			VT_FORMAT_NUMBER);
	vt_table_column(t, "confidence", "confidence", VT_FORMAT_TEXT);
	vt_table_column(t, "split", split ? "split" : NULL, VT_FORMAT_TEXT);
	vt_table_column(t, "address", level == VT_LEVEL_INSTRUCTION ? "address" : NULL,
			VT_FORMAT_HEX);
	vt_table_column(t, "procedure", level == VT_LEVEL_LINE ? NULL : heading, VT_FORMAT_NAME);
	vt_table_column(t, "line", place ? "line" : NULL, VT_FORMAT_PATH);
	vt_table_column(t, "image", "image", VT_FORMAT_PATH);
}

static void put_value_cells(struct vt_table *t, const struct pair_line *l, bool total)
{
	const double values[] = {l->v.value, l->v.error, l->v.low, l->v.high};
	size_t i;

	for (i = 0; i < 4; i++)
		vt_table_finite(t, values[i]);
	for (i = 0; i < 4 && total; i++)
		vt_table_whole(t, values[i]);
	if (total)
		vt_table_finite(t, l->sum->cycles);
	else
		vt_table_empty(t);
	vt_table_number(t, l->sum->pairs);
	vt_table_number(t, l->sum->missing);
	vt_table_str(t, vt_confidence_name(l->v.confidence));
}

static void put_place_cells(struct vt_table *t, const struct vt_rank *k, enum vt_level level,
			    struct vt_images *images)
{
	if (level == VT_LEVEL_INSTRUCTION)
		vt_table_number(t, k->address);
	else
		vt_table_empty(t);
	if (k->cause[0])
		vt_table_printf(t, "[%s]", k->cause);
	else
		vt_table_str(t, k->procedure);
	if (level == VT_LEVEL_LINE && k->file[0])
		vt_table_printf(t, "%s:%u", vt_source_name(k->file), k->line);
	else if (level == VT_LEVEL_INSTRUCTION)
		vt_source_cell(t, vt_images_lines(images, k->image), k->address);
	else
		vt_table_empty(t);
	vt_table_str(t, k->path);
}

static void put_pair_line(const struct vt_pairrows *r, const struct vt_pairrows_options *o,
			  const struct pair_line *l, struct vt_table *t)
{
	const struct pair_row *row = vt_hash_at(&r->rows, l->row);
	struct vt_buf split = VT_BUF_INIT;

	vt_pairs_split_text(o->split, l->side, &split);
	vt_table_row(t, VT_STYLE_PLAIN);
	put_value_cells(t, l, vt_pairmetric_is_total(o->metric));
	if (split.size)
		vt_table_text(t, split.data, split.size);
	else
		vt_table_empty(t);
	put_place_cells(t, vt_ranking_at(r->ranking, row->rank), vt_ranking_level(r->ranking),
			o->images);
	vt_buf_free(&split);
}

/* ---- printing ---- */

static json_t *make_pairs_json(const struct vt_pairrows_options *o)
{
	const struct vt_pairs_totals *t = vt_pairs_totals(o->pairs);
	json_t *doc = vt_json_doc("vpair/1");

	vt_json_losses(doc, o->losses);
	json_object_set_new(doc, "metric", vt_json_text(o->metric, strlen(o->metric)));
	json_object_set_new(doc, "unit", json_string(vt_pairmetric_unit(o->metric)));
	if (o->split)
		json_object_set_new(doc, "split", vt_json_text(o->split, strlen(o->split)));
	if (o->core)
		json_object_set_new(doc, "cpu", vt_json_text(o->core, strlen(o->core)));
	json_object_set_new(doc, "window", vt_json_u64(vt_pairs_window(o->pairs)));
	json_object_set_new(doc, "samples", vt_json_u64(t->samples));
	json_object_set_new(doc, "pairs", vt_json_u64(t->pairs));
	json_object_set_new(doc, "unpaired", vt_json_u64(t->unpaired));
	json_object_set_new(doc, "cut", vt_json_u64(t->cut));
	json_object_set_new(doc, "alone", vt_json_u64(t->alone));
	json_object_set_new(doc, "orphans", vt_json_u64(t->orphans));
	json_object_set_new(doc, "beyond", vt_json_u64(t->beyond));
	json_object_set_new(doc, "foreign", vt_json_u64(t->foreign));
	json_object_set_new(doc, "bad_distance", vt_json_u64(t->distance));
	json_object_set_new(doc, "bad_weight", vt_json_u64(t->weight));
	json_object_set_new(doc, "bad_period", vt_json_u64(t->period));
	json_object_set_new(doc, "measured", vt_json_u64(t->measured));
	json_object_set_new(doc, "apart", vt_json_u64(t->apart));
	json_object_set_new(doc, "unknown", vt_json_u64(t->unknown));
	json_object_set_new(doc, "stopped", vt_json_u64(t->stopped));
	json_object_set_new(doc, "executed", vt_json_u64(t->windows));
	json_object_set_new(doc, "untimed", vt_json_u64(t->untimed));
	return doc;
}

/* Of all lines. */
struct line_counts {
	size_t left;	 /* beyond those that are shown */
	size_t withheld; /* without a value */
};

static struct line_counts count_lines(const struct pair_line *lines, size_t n, size_t shown)
{
	struct line_counts c = {.left = n - shown};
	size_t i;

	for (i = 0; i < n; i++)
		c.withheld += lines[i].v.confidence == VT_CONFIDENCE_NONE;
	return c;
}

static void print_pairs_header(const struct vt_pairrows_options *o, const struct line_counts *c,
			       struct vt_output *out)
{
	const struct vt_pairs_totals *t = vt_pairs_totals(o->pairs);
	const char *per = vt_pairmetric_per(o->metric);

	vt_output_printf(out, "%s, in %s", o->metric, vt_pairmetric_unit(o->metric));
	if (o->core)
		vt_output_printf(out, " of %s", o->core);
	if (vt_pairmetric_is_single(o->metric))
		vt_output_printf(out, "; %" PRIu64 " samples", t->pairs);
	else if (t->windows)
		vt_output_printf(out, "; %" PRIu64 " executed instructions", t->windows);
	else
		vt_output_printf(out,
				 "; %" PRIu64 " pairs, up to %" PRIu64
				 " instructions apart, each counted twice",
				 t->pairs, vt_pairs_window(o->pairs));
	vt_output_printf(
		out,
		"\nError is the standard error; the value is between low and high with 95%% "
		"confidence\n%s%s%s",
		*per ? "A value is for " : "", per, *per ? "\n" : "");
	if (c->withheld)
		vt_output_printf(out,
				 "%zu row%s no value: less than half of %s instructions could be "
				 "measured\n",
				 c->withheld, c->withheld == 1 ? " has" : "s have",
				 c->withheld == 1 ? "its" : "their");
	vt_output_text(out, "\n");
}

static int print_pair_table(const struct vt_pairrows *r, const struct vt_pairrows_options *o,
			    struct vt_table *t, const struct line_counts *c, struct vt_output *out,
			    struct vt_error *err)
{
	int code;

	if (o->json) {
		json_t *doc = make_pairs_json(o);

		json_object_set_new(doc, "by",
				    json_string(vt_level_words[vt_ranking_level(r->ranking)]));
		json_object_set_new(doc, "rows", vt_json_table(t));
		json_object_set_new(doc, "rows_left_out", vt_json_u64(c->left));
		json_object_set_new(doc, "rows_without_value", vt_json_u64(c->withheld));
		vt_json_write(out, doc, true);
		return 0;
	}
	if (o->form == VT_TABLE_TEXT)
		print_pairs_header(o, c, out);
	code = vt_table_print(t, out, o->form, o->color, err);
	if (code == 0 && o->form == VT_TABLE_TEXT)
		vt_table_print_left_out(out, c->left);
	return code;
}

int vt_pairrows_print(struct vt_pairrows *r, const struct vt_pairrows_options *o,
		      struct vt_output *out, struct vt_error *err)
{
	size_t i, n = 0, shown;
	struct pair_line *lines = make_lines(r, o, &n);
	struct vt_table *t = lines ? vt_table_new() : NULL;
	struct line_counts counts;
	int code = t ? 0 : vt_error_nomem(err);

	shown = o->top && o->top < n ? (size_t)o->top : n;
	if (t)
		add_pair_columns(t, vt_ranking_level(r->ranking), o);
	for (i = 0; t && i < shown; i++)
		put_pair_line(r, o, &lines[i], t);
	if (t) {
		counts = count_lines(lines, n, shown);
		code = print_pair_table(r, o, t, &counts, out, err);
	}
	vt_table_free(t);
	free(lines);
	return code;
}

/* ---- the picture ---- */

/* The dots of one side of the split; false: out of memory. */
static bool fill_dots(const struct pair_line *lines, size_t n, enum vt_split side,
		      struct vt_chart_series *s, struct vt_chart *c)
{
	double *x = calloc(n + 1, sizeof(*x)), *y = calloc(n + 1, sizeof(*y));
	size_t i;

	s->x = x;
	s->y = y;
	for (i = 0; x && y && i < n; i++) {
		if (lines[i].side != side)
			continue;
		x[s->n] = lines[i].sum->cycles;
		y[s->n] = lines[i].v.value;
		c->x_max = fmax(c->x_max, x[s->n]);
		c->y_max = fmax(c->y_max, y[s->n++]);
	}
	return x && y;
}

static int write_chart(const struct vt_chart *c, const char *path, struct vt_error *err)
{
	struct vt_output out;
	int code = vt_output_open(&out, path, err);

	if (code < 0)
		return code;
	vt_chart_write(c, &out);
	return vt_output_close(&out, err);
}

int vt_pairrows_draw(const struct vt_pairrows *r, const struct vt_pairrows_options *o,
		     const char *path, struct vt_error *err)
{
	struct vt_chart_series series[VT_NSPLITS] = {{.n = 0}};
	struct vt_buf texts[VT_NSPLITS] = {VT_BUF_INIT, VT_BUF_INIT, VT_BUF_INIT};
	struct vt_chart c = {.title = "Cycles in progress and wasted issue slots",
			     .x_label = "cycles in progress",
			     .y_label = "wasted issue slots",
			     .dots = true,
			     .series = series,
			     .nseries = o->split ? VT_NSPLITS : 1};
	size_t i, n = 0;
	struct pair_line *lines = make_lines(r, o, &n);
	bool ok = lines != NULL;
	int code;

	for (i = 0; i < c.nseries; i++) {
		ok = ok && fill_dots(lines, n, (enum vt_split)i, &series[i], &c);
		vt_pairs_split_text(o->split, (enum vt_split)i, &texts[i]);
		series[i].label = vt_buf_str(&texts[i]);
	}
	c.x_max = c.x_max > 0 ? c.x_max : 1;
	c.y_max = c.y_max > 0 ? c.y_max : 1;
	code = ok ? write_chart(&c, path, err) : vt_error_nomem(err);
	for (i = 0; i < VT_NSPLITS; i++) {
		free((void *)series[i].x);
		free((void *)series[i].y);
		vt_buf_free(&texts[i]);
	}
	free(lines);
	return code;
}
