/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/values/invariance.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "listing/json.h"
#include "stream/kinds.h"

void vt_image_place(struct vt_images *im, uint32_t id, uint64_t offset, struct vt_hot_place *place)
{
	const struct vt_image *image = vt_images_get(im, id);
	struct vt_location loc;

	if (image)
		place->image = image->name;
	vt_images_symbol(im, id, 0, offset, &loc);
	place->why = vt_unknown_text(loc.why);
	place->address = loc.vaddr;
	place->symbol = loc.symbol ? vt_images_display(im, id, 0, loc.symbol) : NULL;
	place->start = loc.symbol ? loc.symbol->start : 0;
}

void vt_hot_place(const struct vt_hotprofile *p, struct vt_images *im, const struct vt_hot_key *key,
		  struct vt_hot_place *place)
{
	const struct vt_hot_image *i = vt_hotprofile_image(p, key->image);

	*place = (struct vt_hot_place){.image = i ? i->name : "[unmapped]",
				       .address = key->offset,
				       .why = vt_unknown_text(VT_UNKNOWN_NO_MAP)};
	if (i)
		vt_image_place(im, i->id, key->offset, place);
}

/* ---- all of a profile ---- */

static const struct {
	const char *key;
	const char *heading;
} metric_columns[VT_NINVMETRICS] = {
	[VT_INV_TOP] = {"inv_top", "Inv-Top"},	[VT_INV_ALL] = {"inv_all", "Inv-All"},
	[VT_INV_LVP] = {"lvp", "LVP"},		[VT_INV_ZERO] = {"zero", "Zero"},
	[VT_INV_STRIDE] = {"stride", "Stride"},
};

static void add_metric_columns(struct vt_table *t)
{
	int m;

	for (m = 0; m < VT_NINVMETRICS; m++)
		vt_table_column(t, metric_columns[m].key, metric_columns[m].heading,
				VT_FORMAT_PERCENT);
}

static void fill_overall(struct vt_table *t, const char *name, const struct vt_inv_overall *sum)
{
	int m;

	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_str(t, name);
	vt_table_number(t, sum->lists);
	vt_table_number(t, sum->executions);
	vt_table_percent(t, sum->profiled, sum->executions);
	for (m = 0; m < VT_NINVMETRICS; m++)
		vt_table_real(t, 100 * sum->value[m]);
}

void vt_invlist_overall(struct vt_table *t, const struct vt_hotprofile *p, uint32_t what)
{
	struct vt_inv_overall sum;
	uint32_t w, kinds = 0;

	vt_table_column(t, "what", "Values", VT_FORMAT_TEXT);
	vt_table_column(t, "lists", "Lists", VT_FORMAT_NUMBER);
	vt_table_column(t, "executions", "Executions", VT_FORMAT_NUMBER);
	vt_table_column(t, "profiled", "Profiled", VT_FORMAT_PERCENT);
	add_metric_columns(t);
	for (w = 0; w < VT_NWHATS; w++) {
		if (!vt_inv_is_of(w, what))
			continue;
		vt_inv_sum(p, 1u << w, &sum);
		if (sum.lists == 0 && what != 1u << w)
			continue;
		fill_overall(t, vt_what_name(w), &sum);
		kinds++;
	}
	vt_inv_sum(p, what, &sum);
	if (kinds != 1)
		fill_overall(t, "all", &sum);
}

/* ---- its rows ---- */

/* What the lists of a row have in common.  No padding: it is compared as bytes. */
struct inv_row_key {
	uint64_t place; /* the list, or where the procedure starts; or why there is none */
	uint32_t image;
	uint32_t what;
	uint32_t known;
	uint32_t zero;
};

struct inv_row {
	struct inv_row_key key;
	uint64_t lists;
	uint64_t executions;
	double weight;
	double value[VT_NINVMETRICS];
	const char *image;
	const char *name; /* of the procedure, or NULL */
	const char *why;
	size_t first; /* list */
};

static struct inv_row_key make_invlist_key(const struct vt_hot *h, size_t i,
					   const struct vt_hot_place *place, enum vt_invlist_by by)
{
	struct inv_row_key k = {.image = h->key.image, .what = h->key.what};

	if (by == VT_INVLIST_INSTRUCTION) {
		k.place = i;
	} else if (by == VT_INVLIST_PROCEDURE) {
		k.known = place->symbol != NULL;
		k.place = place->symbol ? place->start : 0;
	}
	return k;
}

static int add_list_to_row(struct vt_hash *rows, const struct vt_hotprofile *p,
			   struct vt_images *im, size_t i, enum vt_invlist_by by,
			   struct vt_error *err)
{
	const struct vt_hot *h = vt_hotprofile_at(p, i);
	struct vt_hot_place place = {.image = ""};
	struct inv_row_key key;
	struct inv_row *r;
	bool added;
	int m;

	if (by != VT_INVLIST_INSTRUCTION)
		vt_hot_place(p, im, &h->key, &place);
	key = make_invlist_key(h, i, &place, by);
	r = vt_hash_add(rows, &key, &added);
	if (!r)
		return vt_error_nomem(err);
	if (added) {
		r->first = i;
		r->image = place.image;
		r->name = place.symbol;
		r->why = place.why;
	}
	r->lists++;
	r->executions =
		h->total > UINT64_MAX - r->executions ? UINT64_MAX : r->executions + h->total;
	r->weight += (double)h->total;
	for (m = 0; m < VT_NINVMETRICS; m++)
		r->value[m] += (double)h->total * vt_inv_value(h, (enum vt_inv_metric)m);
	return 0;
}

static int compare_row_executions(const void *a, const void *b)
{
	const struct inv_row *x = a, *y = b;

	if (x->executions != y->executions)
		return x->executions > y->executions ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static void add_invlist_columns(struct vt_table *t, enum vt_invlist_by by)
{
	vt_table_column(t, "executions", "Executions", VT_FORMAT_NUMBER);
	vt_table_column(t, "share", "%", VT_FORMAT_PERCENT);
	add_metric_columns(t);
	vt_table_column(t, "what", "Values", VT_FORMAT_TEXT);
	if (by != VT_INVLIST_INSTRUCTION) {
		vt_table_column(t, "lists", "Lists", VT_FORMAT_NUMBER);
	} else {
		vt_table_column(t, "size", "Size", VT_FORMAT_NUMBER);
		vt_table_column(t, "top", "Top value", VT_FORMAT_HEX);
		vt_table_column(t, "address", "Address", VT_FORMAT_HEX);
	}
	vt_table_column_max(t, "image", "Image", VT_FORMAT_PATH, 30);
	if (by != VT_INVLIST_IMAGE)
		vt_table_column(t, "procedure", by == VT_INVLIST_PROCEDURE ? "Procedure" : "Place",
				VT_FORMAT_NAME);
	if (by == VT_INVLIST_INSTRUCTION) {
		vt_table_column(t, "offset", NULL, VT_FORMAT_HEX);
		vt_table_column(t, "reg", NULL, VT_FORMAT_NUMBER);
		vt_table_column(t, "lane", NULL, VT_FORMAT_NUMBER);
		vt_table_column(t, "profiled", NULL, VT_FORMAT_NUMBER);
		vt_table_column(t, "caller", NULL, VT_FORMAT_HEX);
		vt_table_column(t, "caller_image", NULL, VT_FORMAT_TEXT);
	}
}

void vt_invlist_place(struct vt_table *t, const struct vt_hot_place *place, uint32_t lane)
{
	char text[32] = "";

	if (lane)
		snprintf(text, sizeof(text), " lane %" PRIu32, lane);
	if (!place->symbol)
		vt_table_printf(t, "[%s]%s", place->why, text);
	else if (place->address == place->start)
		vt_table_printf(t, "%s%s", place->symbol, text);
	else
		vt_table_printf(t, "%s+%" PRIx64 "%s", place->symbol, place->address - place->start,
				text);
}

static void fill_caller(struct vt_table *t, const struct vt_hotprofile *p,
			const struct vt_hot_key *key)
{
	const struct vt_hot_image *image = vt_hotprofile_image(p, key->caller_image);

	if (!key->caller)
		return;
	vt_table_number(t, key->caller);
	vt_table_str(t, image ? image->name : "[unmapped]");
}

/* A plugin names its own kinds of values. */
static void fill_what(struct vt_table *t, const struct vt_hotprofile *p,
		      const struct vt_hot_key *key)
{
	vt_table_str(t, key->what == VT_WHAT_MODULE
				? vt_plugin_name(vt_hotprofile_plugins(p), key->reg)
				: vt_what_name(key->what));
}

static void fill_top(struct vt_table *t, const struct vt_hot *h)
{
	if (h->nvalues)
		vt_table_number(t, h->values[0]);
	else
		vt_table_empty(t);
}

static void fill_instruction(struct vt_table *t, const struct vt_hotprofile *p,
			     struct vt_images *im, const struct vt_hot *h)
{
	struct vt_hot_place place;

	vt_hot_place(p, im, &h->key, &place);
	vt_table_number(t, h->size);
	fill_top(t, h);
	vt_table_number(t, place.address);
	vt_table_str(t, place.image);
	vt_invlist_place(t, &place, h->key.lane);
	vt_table_number(t, h->key.offset);
	vt_table_number(t, h->key.reg);
	vt_table_number(t, h->key.lane);
	vt_table_number(t, h->profiled);
	fill_caller(t, p, &h->key);
}

static void fill_inv_row(struct vt_table *t, const struct vt_hotprofile *p, struct vt_images *im,
			 const struct inv_row *r, enum vt_invlist_by by, uint64_t all)
{
	int m;

	vt_table_row(t, VT_STYLE_PLAIN);
	vt_table_number(t, r->executions);
	vt_table_percent(t, r->executions, all);
	for (m = 0; m < VT_NINVMETRICS; m++)
		vt_table_real(t, 100 * r->value[m] / r->weight);
	if (by == VT_INVLIST_INSTRUCTION)
		fill_what(t, p, &vt_hotprofile_at(p, r->first)->key);
	else
		vt_table_str(t, vt_what_name(r->key.what));
	if (by == VT_INVLIST_INSTRUCTION) {
		fill_instruction(t, p, im, vt_hotprofile_at(p, r->first));
		return;
	}
	vt_table_number(t, r->lists);
	vt_table_str(t, r->image);
	if (by == VT_INVLIST_PROCEDURE && r->name)
		vt_table_str(t, r->name);
	else if (by == VT_INVLIST_PROCEDURE)
		vt_table_printf(t, "[%s]", r->why);
}

int64_t vt_invlist_fill(struct vt_table *t, const struct vt_hotprofile *p, struct vt_images *im,
			const struct vt_invlist_options *o, struct vt_error *err)
{
	struct vt_inv_overall sum;
	struct vt_hash rows;
	size_t i, shown;
	int64_t left;
	int code = 0;

	vt_hash_init(&rows, sizeof(struct inv_row), sizeof(struct inv_row_key));
	vt_inv_sum(p, o->what, &sum);
	add_invlist_columns(t, o->by);
	for (i = 0; i < vt_hotprofile_count(p) && code == 0; i++)
		if (vt_inv_counts(vt_hotprofile_at(p, i), o->what))
			code = add_list_to_row(&rows, p, im, i, o->by, err);
	if (code < 0) {
		vt_hash_fini(&rows);
		return code;
	}
	if (rows.count)
		qsort(rows.entries, rows.count, sizeof(struct inv_row), compare_row_executions);
	shown = o->top && o->top < rows.count ? (size_t)o->top : rows.count;
	for (i = 0; i < shown; i++)
		fill_inv_row(t, p, im, vt_hash_at(&rows, i), o->by, sum.executions);
	left = (int64_t)(rows.count - shown);
	vt_hash_fini(&rows);
	return left;
}

/* ---- both ---- */

static const char *const by_words[] = {
	[VT_INVLIST_INSTRUCTION] = "instruction",
	[VT_INVLIST_PROCEDURE] = "procedure",
	[VT_INVLIST_IMAGE] = "image",
};

static void write_invlist_json(const struct vt_table *overall, const struct vt_table *rows,
			       int64_t left_out, enum vt_invlist_by by,
			       const struct vt_invlist_form *form, struct vt_output *out)
{
	json_t *doc = vt_json_doc("vinv/1");

	vt_json_losses(doc, form->losses);
	json_object_set_new(doc, "overall", vt_json_table(overall));
	if (!form->summary) {
		json_object_set_new(doc, "by", json_string(by_words[by]));
		json_object_set_new(doc, "rows", vt_json_table(rows));
		json_object_set_new(doc, "rows_left_out", json_integer(left_out));
	}
	vt_json_write(out, doc, true);
}

/* Programs get one table: the rows, or the means over all lists if only these are wanted. */
static int print_invlist_tables(const struct vt_table *overall, const struct vt_table *rows,
				int64_t left_out, const struct vt_invlist_form *form,
				struct vt_output *out, struct vt_error *err)
{
	bool text = form->table == VT_TABLE_TEXT;
	int code = 0;

	if (text || form->summary)
		code = vt_table_print(overall, out, form->table, form->color, err);
	if (code < 0 || form->summary)
		return code;
	if (text)
		vt_output_text(out, "\n");
	code = vt_table_print(rows, out, form->table, form->color, err);
	if (code == 0 && left_out && text)
		vt_table_print_left_out(out, (uint64_t)left_out);
	return code;
}

int vt_invlist_print(const struct vt_hotprofile *p, struct vt_images *im,
		     const struct vt_invlist_options *o, const struct vt_invlist_form *form,
		     struct vt_output *out, struct vt_error *err)
{
	struct vt_table *overall = vt_table_new(), *rows = vt_table_new();
	int64_t left_out = 0;
	int code = 0;

	if (!overall || !rows) {
		code = vt_error_nomem(err);
	} else {
		vt_invlist_overall(overall, p, o->what);
		if (!form->summary)
			left_out = vt_invlist_fill(rows, p, im, o, err);
		if (left_out < 0)
			code = (int)left_out;
		else if (form->json)
			write_invlist_json(overall, rows, left_out, o->by, form, out);
		else
			code = print_invlist_tables(overall, rows, left_out, form, out, err);
	}
	vt_table_free(overall);
	vt_table_free(rows);
	return code;
}

/* ---- comparisons ---- */

static void put_share(struct vt_table *t, double v)
{
	vt_table_real(t, 100 * v);
}

void vt_invlist_comparison(struct vt_table *t)
{
	vt_table_column(t, "find_top", "Find-Top", VT_FORMAT_PERCENT);
	vt_table_column(t, "diff_top", "Diff-Top", VT_FORMAT_PERCENT);
	vt_table_column(t, "diff_all", "Diff-All", VT_FORMAT_PERCENT);
	vt_table_column(t, "rms", "RMS", VT_FORMAT_PERCENT);
	vt_table_column(t, "instructions", "Instructions", VT_FORMAT_NUMBER);
	vt_table_column(t, "covered", "Covered", VT_FORMAT_PERCENT);
	vt_table_column(t, "profiled", "Profiled", VT_FORMAT_PERCENT);
	vt_table_column(t, "m", "M", VT_FORMAT_NUMBER);
	vt_table_column(t, "candidates", NULL, VT_FORMAT_NUMBER);
	vt_table_column(t, "only_first", NULL, VT_FORMAT_NUMBER);
	vt_table_column(t, "only_second", NULL, VT_FORMAT_NUMBER);
	vt_table_column(t, "second", "Second profile", VT_FORMAT_TEXT);
}

void vt_invlist_compared(struct vt_table *t, const char *name, const struct vt_inv_comparison *c)
{
	vt_table_row(t, VT_STYLE_PLAIN);
	if (c->candidates)
		put_share(t, c->find_top);
	else
		vt_table_empty(t);
	put_share(t, c->diff_top);
	put_share(t, c->diff_all);
	put_share(t, c->rms);
	vt_table_number(t, c->lists);
	vt_table_percent(t, c->executions, c->of);
	put_share(t, c->profiled);
	if (c->m == UINT32_MAX)
		vt_table_empty(t);
	else
		vt_table_number(t, c->m);
	vt_table_number(t, c->candidates);
	vt_table_number(t, c->only_first);
	vt_table_number(t, c->only_second);
	vt_table_str(t, name);
}

void vt_invlist_inputs(struct vt_table *t)
{
	vt_table_column(t, "lvp_first", "LVP 1st", VT_FORMAT_PERCENT);
	vt_table_column(t, "lvp_second", "2nd", VT_FORMAT_PERCENT);
	vt_table_column(t, "diff_lvp", "Diff", VT_FORMAT_PERCENT);
	vt_table_column(t, "zero_first", "Zero 1st", VT_FORMAT_PERCENT);
	vt_table_column(t, "zero_second", "2nd", VT_FORMAT_PERCENT);
	vt_table_column(t, "diff_zero", "Diff", VT_FORMAT_PERCENT);
	vt_table_column(t, "inv_first", "Inv-Top 1st", VT_FORMAT_PERCENT);
	vt_table_column(t, "inv_second", "2nd", VT_FORMAT_PERCENT);
	vt_table_column(t, "diff_inv", "Diff-Top", VT_FORMAT_PERCENT);
	vt_table_column(t, "input", "Second profile", VT_FORMAT_TEXT);
}

void vt_invlist_inputs_compared(struct vt_table *t, const char *name,
				const struct vt_inv_comparison *c)
{
	vt_table_row(t, VT_STYLE_PLAIN);
	put_share(t, c->first.value[VT_INV_LVP]);
	put_share(t, c->second.value[VT_INV_LVP]);
	put_share(t, c->diff_lvp);
	put_share(t, c->first.value[VT_INV_ZERO]);
	put_share(t, c->second.value[VT_INV_ZERO]);
	put_share(t, c->diff_zero);
	put_share(t, c->first.value[VT_INV_TOP]);
	put_share(t, c->second.value[VT_INV_TOP]);
	put_share(t, c->diff_top);
	vt_table_str(t, name);
}

/* ---- where two profiles differ ---- */

struct difference {
	double weight;
	struct vt_inv_pair pair;
};

static int compare_difference_weights(const void *a, const void *b)
{
	const struct difference *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->pair.a > y->pair.a) - (x->pair.a < y->pair.a);
}

static void add_worst_columns(struct vt_table *t)
{
	vt_table_column(t, "adds", "Adds", VT_FORMAT_PERCENT);
	vt_table_column(t, "executions", "Executions", VT_FORMAT_NUMBER);
	vt_table_column(t, "inv_top_first", "Inv-Top 1st", VT_FORMAT_PERCENT);
	vt_table_column(t, "inv_top_second", "2nd", VT_FORMAT_PERCENT);
	vt_table_column(t, "inv_m_first", "Inv-M 1st", VT_FORMAT_PERCENT);
	vt_table_column(t, "inv_m_second", "2nd", VT_FORMAT_PERCENT);
	vt_table_column(t, "top_first", "Top value 1st", VT_FORMAT_HEX);
	vt_table_column(t, "top_second", "2nd", VT_FORMAT_HEX);
	vt_table_column(t, "what", "Values", VT_FORMAT_TEXT);
	vt_table_column(t, "address", "Address", VT_FORMAT_HEX);
	vt_table_column_max(t, "image", "Image", VT_FORMAT_PATH, 30);
	vt_table_column(t, "procedure", "Place", VT_FORMAT_NAME);
}

int64_t vt_invlist_worst(struct vt_table *t, const struct vt_hotprofile *a, struct vt_images *im,
			 const struct vt_hotprofile *b, const struct vt_inv_pair *pairs, size_t n,
			 uint32_t m, uint64_t top, struct vt_error *err)
{
	struct difference *all = malloc((n + 1) * sizeof(*all));
	size_t i, shown = top < n ? (size_t)top : n;
	double weights = 0;

	if (!all)
		return vt_error_nomem(err);
	add_worst_columns(t);
	for (i = 0; i < n; i++) {
		const struct vt_hot *x = vt_hotprofile_at(a, pairs[i].a);
		double d = fabs(vt_inv_m(x, 1) - vt_inv_m(vt_hotprofile_at(b, pairs[i].b), 1));

		all[i] = (struct difference){(double)x->total * d, pairs[i]};
		weights += (double)x->total;
	}
	qsort(all, n, sizeof(*all), compare_difference_weights);
	for (i = 0; i < shown; i++) {
		const struct vt_hot *x = vt_hotprofile_at(a, all[i].pair.a);
		const struct vt_hot *y = vt_hotprofile_at(b, all[i].pair.b);
		struct vt_hot_place place;

		vt_hot_place(a, im, &x->key, &place);
		vt_table_row(t, VT_STYLE_PLAIN);
		put_share(t, all[i].weight / weights);
		vt_table_number(t, x->total);
		put_share(t, vt_inv_m(x, 1));
		put_share(t, vt_inv_m(y, 1));
		put_share(t, vt_inv_m(x, m));
		put_share(t, vt_inv_m(y, m));
		fill_top(t, x);
		fill_top(t, y);
		fill_what(t, a, &x->key);
		vt_table_number(t, place.address);
		vt_table_str(t, place.image);
		vt_invlist_place(t, &place, x->key.lane);
	}
	free(all);
	return (int64_t)(n - shown);
}

json_t *vt_invlist_compared_json(const struct vt_table *rows, const struct vt_table *inputs,
				 struct vt_table *const *worst, const int64_t *left_out, size_t n)
{
	json_t *list = vt_json_table(rows), *more = vt_json_table(inputs), *all = json_array();
	size_t i;

	for (i = 0; i < n; i++) {
		json_t *row = json_array_get(list, i), *v = json_object();

		if (!json_object_get(row, "find_top"))
			json_object_set_new(v, "find_top", json_null());
		json_object_update(v, row);
		json_object_update(v, json_array_get(more, i));
		json_object_del(v, "input");
		if (worst[i]) {
			json_object_set_new(v, "worst", vt_json_table(worst[i]));
			json_object_set_new(v, "worst_left_out", json_integer(left_out[i]));
		}
		json_array_append_new(all, v);
	}
	json_decref(list);
	json_decref(more);
	return all;
}
