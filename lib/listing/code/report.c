/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/code/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "listing/code/internal.h"
#include "listing/json.h"
#include "listing/profile/json.h"

/* ---- which procedures ---- */

static int append_found(struct vt_found *f, struct vt_procedure p, struct vt_error *err)
{
	if (!vt_array_grow(&f->list, &f->cap, f->count + 1, sizeof(*f->list)))
		return vt_error_nomem(err);
	f->list[f->count++] = p;
	return 0;
}

static const struct vt_procedure unmapped = {
	.image = VT_UNMAPPED_IMAGE, .name = "", .why = VT_UNKNOWN_NO_MAP};

static bool has_unmapped_lists(const struct vt_listreport *r)
{
	size_t n = r->lists ? vt_hotprofile_count(r->lists) : 0;

	/* They come last in the order of images. */
	return n && vt_hotprofile_at(r->lists, n - 1)->key.image == VT_HOT_NO_IMAGE;
}

int vt_listreport_find(struct vt_listreport *r, const char *what, struct vt_error *err)
{
	int rc = vt_locate(r->profile, r->images, what, &r->found, err);
	size_t i;

	if (rc == -VT_E_NOTFOUND && has_unmapped_lists(r) && strncmp(what, "0x", 2) == 0 &&
	    vt_hotprofile_find(r->lists, VT_HOT_NO_IMAGE, strtoull(what, NULL, 16), &i))
		return append_found(&r->found, unmapped, err);
	return rc;
}

int vt_listreport_find_top(struct vt_listreport *r, uint64_t top, struct vt_error *err)
{
	size_t i, first = r->events->count ? r->events->index[0] : 0;
	struct vt_procedure p;
	int rc;

	r->ranking = vt_ranking_new(r->profile, r->images, VT_LEVEL_PROCEDURE, err);
	rc = r->ranking ? vt_ranking_sort(r->ranking, first, false, err) : -VT_E_NOMEM;
	for (i = 0; rc >= 0 && i < vt_ranking_count(r->ranking) && r->found.count < top; i++)
		if (vt_procedure_of_rank(r->images, vt_ranking_at(r->ranking, i), &p))
			rc = append_found(&r->found, p, err);
	if (rc >= 0 && top == UINT64_MAX && has_unmapped_lists(r))
		rc = append_found(&r->found, unmapped, err);
	return rc;
}

static uint64_t count_all_samples(const struct vt_profile *p)
{
	size_t i, n = vt_profile_nplaces(p);
	uint64_t sum = 0;

	for (i = 0; i < n; i++)
		sum += vt_profile_place(p, i)->samples;
	return sum;
}

/* Appends the i-th candidate's name, in full only if another one has the same without. */
static void put_candidate_name(const struct vt_procedure *list, size_t n, size_t i,
			       struct vt_buf *out)
{
	struct vt_buf name = VT_BUF_INIT, other = VT_BUF_INIT;
	bool same = false;
	size_t k;

	vt_name_shorten(&name, list[i].name, strlen(list[i].name));
	for (k = 0; k < n && !same; k++) {
		other.size = 0;
		vt_name_shorten(&other, list[k].name, strlen(list[k].name));
		same = k != i && strcmp(list[k].name, list[i].name) != 0 &&
		       strcmp(vt_buf_str(&name), vt_buf_str(&other)) == 0;
	}
	vt_buf_printf(out, "%s", same ? list[i].name : vt_buf_str(&name));
	vt_buf_free(&name);
	vt_buf_free(&other);
}

/* Appends the i-th of n candidates; `all` is the number of all samples of all events. */
static void put_candidate(const struct vt_listreport *r, const struct vt_procedure *list, size_t n,
			  size_t i, uint64_t all, struct vt_buf *out)
{
	const struct vt_procedure *p = &list[i];
	const struct vt_image *image = vt_images_get(r->images, p->image);

	vt_buf_printf(out, "%s:", image ? image->path : "?");
	if (p->symbol) {
		vt_buf_printf(out, "0x%" PRIx64 "  ", p->start);
		put_candidate_name(list, n, i, out);
		vt_buf_printf(out, ", ");
	} else {
		vt_buf_printf(out, "[%s]  ", vt_unknown_text(p->why));
	}
	vt_buf_printf(out, "%" PRIu64 " samples", p->samples);
	if (all)
		vt_buf_printf(out, " (%.2f%%)", 100.0 * (double)p->samples / (double)all);
}

/* So many candidates are shown, the rest is counted. */
#define SHOWN_CANDIDATES 20

static void explain_ambiguous(const struct vt_listreport *r, const char *what, size_t first,
			      vt_warn_fn *note, void *arg)
{
	uint64_t all = count_all_samples(r->profile);
	struct vt_buf b = VT_BUF_INIT;
	size_t i, n = r->found.count - first;
	size_t shown = n < SHOWN_CANDIDATES ? n : SHOWN_CANDIDATES;

	for (i = 0; i < shown; i++) {
		b.size = 0;
		vt_buf_printf(&b, "  #%zu  ", i + 1);
		put_candidate(r, r->found.list + first, shown, i, all, &b);
		note(arg, vt_buf_str(&b));
	}
	b.size = 0;
	if (shown < n)
		vt_buf_printf(&b, "  and %zu more; ", n - shown);
	vt_buf_printf(&b,
		      "name one of them so: '%s#2', IMAGE:NAME, IMAGE:0xADDRESS or IMAGE:[CAUSE]",
		      what);
	note(arg, vt_buf_str(&b));
	vt_buf_free(&b);
}

static void explain_unsampled(const struct vt_listreport *r, const char *what, vt_warn_fn *note,
			      void *arg)
{
	struct vt_buf names = VT_BUF_INIT, b = VT_BUF_INIT;

	if (vt_locate_similar(r->profile, r->images, what, &names) && names.size) {
		vt_buf_printf(&b, "%s: has no samples; did you mean %s?", what, vt_buf_str(&names));
		note(arg, vt_buf_str(&b));
	}
	vt_buf_free(&names);
	vt_buf_free(&b);
}

void vt_listreport_explain(const struct vt_listreport *r, const char *what, int code, size_t first,
			   vt_warn_fn *note, void *arg)
{
	struct vt_buf b = VT_BUF_INIT;

	/* What was not found may be in a file that is gone. */
	if (code == -VT_E_NOTFOUND) {
		vt_buf_printf(&b, "samples in no procedure are there of ");
		if (vt_locate_unknown(r->profile, r->images, SIZE_MAX, &b))
			note(arg, vt_buf_str(&b));
	}
	if (code == -VT_E_AMBIGUOUS)
		explain_ambiguous(r, what, first, note, arg);
	if (code == 0 && r->found.count > first && r->found.list[first].symbol &&
	    !r->found.list[first].samples)
		explain_unsampled(r, what, note, arg);
	vt_buf_free(&b);
}

/* ---- JSON ---- */

static json_t *make_hot_values(const struct vt_list_row *row, const struct vt_value_style *style)
{
	const struct vt_hot *h = row->list;
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < h->nvalues; i++) {
		struct vt_buf b = VT_BUF_INIT;
		json_t *v = json_object();

		vt_list_value_text(row, h->values[i], style, &b);
		json_object_set_new(v, "value", vt_json_hex(h->values[i]));
		json_object_set_new(v, "text", vt_json_text((const char *)b.data, b.size));
		json_object_set_new(v, "count", vt_json_u64(h->counts[i]));
		if (h->errors)
			json_object_set_new(v, "error", vt_json_u64(h->errors[i]));
		if (h->profiled)
			json_object_set_new(
				v, "percent",
				json_real(100 * vt_hot_estimate(h, i) / (double)h->profiled));
		json_array_append_new(list, v);
		vt_buf_free(&b);
	}
	return list;
}

/* How a list was kept, and all its values: the columns have the rest. */
static void set_hot_list(json_t *object, const struct vt_list_row *row,
			 const struct vt_value_style *style)
{
	const struct vt_hot *h = row->list;

	json_object_set_new(object, "algo", json_string(vt_algo_name(h->algo)));
	json_object_set_new(object, "capacity", vt_json_u64(h->capacity));
	json_object_set_new(object, "steady", vt_json_u64(h->steady));
	json_object_set_new(object, "factor", json_real(h->factor));
	json_object_set_new(object, "level", vt_json_u64(h->level));
	json_object_set_new(object, "first", vt_json_hex(h->first));
	json_object_set_new(object, "last", vt_json_hex(h->last));
	json_object_set_new(object, "list", make_hot_values(row, style));
}

static json_t *make_listing_rows(const struct vt_listing *l, const struct vt_table *t)
{
	json_t *rows = vt_json_table(t);
	size_t i;

	for (i = 0; rows && i < l->nrows; i++)
		if (l->rows[i].list)
			set_hot_list(json_array_get(rows, i), &l->rows[i], &l->values->style);
	return rows;
}

static json_t *make_event_totals(const struct vt_listreport *r, const struct vt_listing *l)
{
	json_t *events = json_array();
	size_t i;

	for (i = 0; i < r->events->count; i++) {
		const char *label = r->events->label[i];
		json_t *event = json_object();

		json_object_set_new(event, "name", vt_json_text(label, strlen(label)));
		json_object_set_new(event, "samples",
				    vt_json_u64(l->total[r->events->index[i]].samples));
		json_array_append_new(events, event);
	}
	return events;
}

static json_t *make_listing(const struct vt_listreport *r, const struct vt_listing *l,
			    const struct vt_table *t)
{
	const struct vt_procedure *p = &l->proc;
	json_t *v = json_object();

	json_object_set_new(v, "procedure", vt_json_text(p->name, strlen(p->name)));
	if (p->symbol)
		json_object_set_new(v, "symbol", vt_json_text(p->symbol, strlen(p->symbol)));
	if (l->image) {
		const struct vt_image *image = l->image;

		json_object_set_new(v, "image", vt_json_text(image->path, strlen(image->path)));
		json_object_set_new(v, "buildid",
				    vt_json_bytes(image->buildid, image->buildid_size));
	}
	json_object_set_new(v, "start", vt_json_hex(p->start));
	json_object_set_new(v, "end", vt_json_hex(p->end));
	json_object_set_new(v, "events", make_event_totals(r, l));
	if (l->missing)
		json_object_set_new(v, "missing", json_string(l->missing));
	json_object_set_new(v, "rows", make_listing_rows(l, t));
	return v;
}

/* ---- the document ---- */

/* Prints a listing as text, or adds it to the one table or array that programs get. */
static int add_listing(struct vt_listreport *r, const struct vt_listing *l, struct vt_error *err)
{
	struct vt_table *t = r->table ? r->table : vt_table_new();
	int rc = 0;

	if (!t)
		return vt_error_nomem(err);
	if (!vt_table_columns(t))
		vt_listing_columns(t, l, r->view, r->events);
	vt_listing_rows(t, l, r->events);
	if (r->table)
		return 0;
	if (r->json) {
		json_array_append_new(r->procedures, make_listing(r, l, t));
	} else {
		vt_output_text(r->out, r->count++ ? "\n" : "");
		vt_listing_header(l, r->profile, r->events, r->color, r->out);
		rc = vt_table_print(t, r->out, VT_TABLE_TEXT, r->color, err);
	}
	vt_table_free(t);
	return rc;
}

/* Prints the table or array. */
static int finish_report(struct vt_listreport *r, struct vt_error *err)
{
	if (r->json) {
		json_t *doc = vt_json_doc("vlist/1");

		vt_json_profile(doc, r->profile, r->events, r->ranking);
		json_object_set(doc, "procedures", r->procedures);
		vt_json_write(r->out, doc, true);
	}
	return r->table ? vt_table_print(r->table, r->out, r->form, false, err) : 0;
}

/* Reports that code or source is missing, and what is listed nevertheless. */
static void note_missing(const struct vt_listing *l, const struct vt_listing_options *o,
			 const struct vt_image *image, vt_warn_fn *note, void *arg)
{
	struct vt_buf b = VT_BUF_INIT;

	vt_buf_printf(&b, "%s: %s%s", image ? image->path : "?", vt_listing_missing(l),
		      o->view == VT_LIST_SOURCE ? ""
		      : o->values		? ": values by address only"
						: ": samples by address only");
	note(arg, vt_buf_str(&b));
	vt_buf_free(&b);
}

int vt_listreport_list(struct vt_listreport *r, const struct vt_listing_options *o,
		       vt_warn_fn *note, void *arg, struct vt_error *err)
{
	size_t i;
	int code = 0;

	if (r->json)
		r->procedures = json_array();
	else if (r->form != VT_TABLE_TEXT && !(r->table = vt_table_new()))
		return vt_error_nomem(err);
	for (i = 0; i < r->found.count && code == 0; i++) {
		const struct vt_procedure *p = &r->found.list[i];
		struct vt_listing *l = vt_listing_new(r->profile, r->images, p, o, err);

		if (l && vt_listing_missing(l))
			note_missing(l, o, vt_images_get(r->images, p->image), note, arg);
		code = l ? add_listing(r, l, err) : -(int)err->code;
		vt_listing_free(l);
	}
	return code < 0 ? code : finish_report(r, err);
}

void vt_listreport_fini(struct vt_listreport *r)
{
	vt_found_fini(&r->found);
	vt_ranking_free(r->ranking);
	vt_table_free(r->table);
	json_decref(r->procedures);
}
