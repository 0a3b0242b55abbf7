/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/code/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/hash.h"
#include "base/intern.h"
#include "image/elf.h"
#include "listing/json.h"
#include "listing/profile/json.h"
#include "listing/profile/profile.h"
#include "profile/align.h"
#include "profile/significance.h"

/* The rate of false discoveries among the changes that are called significant. */
#define FALSE_RATE 0.05

/* The rows of a side that are compared. */
struct diff_rows {
	const struct vt_list_row **row;
	uint64_t *key;
	size_t count;
};

/* An aligned pair; one row is NULL where only the other side has it. */
struct row_pair {
	const struct vt_list_row *row[2];
};

struct listdiff {
	const struct vt_listdiff_side *sides;
	const struct vt_event_choice *events;
	size_t *event; /* [2 * i + side]: the index in the side's profile, or SIZE_MAX */
	struct row_pair *pairs;
	size_t npairs;
};

/* ---- what a row says ---- */

/* Skips "0x..." before "(%rip)": distances to data change when code moves. */
static size_t skip_distance(const char *s, size_t at, size_t size)
{
	size_t end = at;

	if (size - at < 3 || s[at] != '0' || s[at + 1] != 'x')
		return at;
	for (end = at + 2; end < size && strchr("0123456789abcdef", s[end]); end++)
		;
	return size - end >= 6 && memcmp(s + end, "(%rip)", 6) == 0 ? end : at;
}

/* Keeps only the name of a call's target, "<name"; targets of jumps move with the code. */
static void put_target(const struct vt_list_row *row, struct vt_buf *out)
{
	const char *open = memchr(row->text, '<', row->text_size);
	const char *end = row->text + row->text_size;

	if (row->type != VT_INSN_CALL || !open)
		return;
	for (; open < end && *open != '+' && *open != '>'; open++)
		vt_buf_put_u8(out, (uint8_t)*open);
}

static uint64_t hash_row(const struct vt_list_row *row, struct vt_buf *b)
{
	bool jumps = row->type == VT_INSN_BRANCH || row->type == VT_INSN_CONDITIONAL ||
		     row->type == VT_INSN_CALL;
	size_t i;

	b->size = 0;
	for (i = 0; i < row->text_size; i++) {
		size_t behind = skip_distance(row->text, i, row->text_size);

		if (row->text[i] == '#' || (jumps && row->text[i] == ' '))
			break;
		if (behind > i)
			i = behind - 1;
		else
			vt_buf_put_u8(b, (uint8_t)row->text[i]);
	}
	if (jumps)
		put_target(row, b);
	return vt_hash_bytes(b->data, b->size);
}

static bool is_compared(const struct vt_list_row *row, enum vt_list_view view)
{
	if (view == VT_LIST_SOURCE)
		return row->kind == VT_ROW_LINE && row->tallies;
	return vt_list_row_is_code(row);
}

static bool gather_compared_rows(struct diff_rows *r, const struct vt_listing *l,
				 enum vt_list_view view)
{
	size_t i, n = vt_listing_nrows(l);
	struct vt_buf b = VT_BUF_INIT;
	bool ok;

	r->row = calloc(n + 1, sizeof(const struct vt_list_row *));
	r->key = calloc(n + 1, sizeof(*r->key));
	ok = r->row && r->key;
	for (i = 0; i < n && ok; i++) {
		const struct vt_list_row *row = vt_listing_row(l, i);

		if (!is_compared(row, view))
			continue;
		r->key[r->count] = hash_row(row, &b);
		r->row[r->count++] = row;
		ok = !b.failed;
	}
	vt_buf_free(&b);
	return ok;
}

/* ---- pairs ---- */

/* Unmatched rows come before the next match: those of before first, then those of after. */
static void merge_rows(struct listdiff *d, const struct diff_rows sides[2], const uint32_t *match)
{
	size_t i, k = 0;

	for (i = 0; i <= sides[0].count; i++) {
		size_t until = sides[1].count;

		if (i < sides[0].count && match[i] == VT_ALIGN_NONE) {
			d->pairs[d->npairs++] = (struct row_pair){{sides[0].row[i], NULL}};
			continue;
		}
		if (i < sides[0].count)
			until = match[i];
		for (; k < until; k++)
			d->pairs[d->npairs++] = (struct row_pair){{NULL, sides[1].row[k]}};
		if (i < sides[0].count)
			d->pairs[d->npairs++] =
				(struct row_pair){{sides[0].row[i], sides[1].row[k++]}};
	}
}

static int make_pairs(struct listdiff *d, enum vt_list_view view, struct vt_listdiff_result *result,
		      struct vt_error *err)
{
	struct diff_rows r[2] = {{0}, {0}};
	uint32_t *match = NULL;
	int code = -VT_E_NOMEM;

	if (gather_compared_rows(&r[0], d->sides[0].listing, view) &&
	    gather_compared_rows(&r[1], d->sides[1].listing, view)) {
		match = calloc(r[0].count + 1, sizeof(*match));
		d->pairs = calloc(r[0].count + r[1].count + 1, sizeof(*d->pairs));
	}
	if (match && d->pairs)
		code = vt_align(r[0].key, r[0].count, r[1].key, r[1].count, match, err);
	if (code >= 0) {
		result->rough = code > 0;
		merge_rows(d, r, match);
	}
	free(match);
	free(r[0].row);
	free(r[0].key);
	free(r[1].row);
	free(r[1].key);
	return code < 0 ? vt_error_nomem(err) : 0;
}

/* ---- events ---- */

static size_t find_event_before(const struct vt_profile *p, const struct vt_profile_event *like)
{
	size_t i;

	for (i = 0; i < vt_profile_nevents(p); i++) {
		const struct vt_profile_event *e = vt_profile_event(p, i);

		if (e->name && strcmp(e->name, like->name) == 0 && e->policy == like->policy)
			return i;
	}
	for (i = 0; i < vt_profile_nevents(p); i++) {
		const struct vt_profile_event *e = vt_profile_event(p, i);

		if (e->name && vti_same_event(e->name, like->name) && e->policy == like->policy)
			return i;
	}
	return SIZE_MAX;
}

static bool match_event_choice(struct listdiff *d)
{
	size_t i;

	d->event = calloc(d->events->count + 1, 2 * sizeof(*d->event));
	for (i = 0; i < d->events->count && d->event; i++) {
		size_t index = d->events->index[i];

		d->event[2 * i] = find_event_before(d->sides[0].profile,
						    vt_profile_event(d->sides[1].profile, index));
		d->event[2 * i + 1] = index;
	}
	return d->event != NULL;
}

static uint64_t count_row_samples(const struct vt_list_row *row, size_t event)
{
	return row && row->tallies && event != SIZE_MAX ? row->tallies[event].samples : 0;
}

static double compute_chance(const struct listdiff *d, const struct row_pair *p, size_t i)
{
	if (vt_profile_event(d->sides[1].profile, d->event[2 * i + 1])->estimate)
		return NAN;
	return vt_count_test(count_row_samples(p->row[0], d->event[2 * i]),
			     count_row_samples(p->row[1], d->event[2 * i + 1]), 0.5);
}

static bool find_event_threshold(const struct listdiff *d, size_t event, double rate,
				 double *threshold)
{
	double *p = calloc(d->npairs + 1, sizeof(*p));
	size_t i, count = 0;

	if (!p)
		return false;
	for (i = 0; i < d->npairs; i++) {
		p[count] = compute_chance(d, &d->pairs[i], event);
		count += !isnan(p[count]);
	}
	*threshold = vt_discovery_threshold(p, count, rate);
	free(p);
	return true;
}

/* ---- the table ---- */

static bool both_have_cpi(const struct vt_listdiff_side sides[2])
{
	int side;

	for (side = 0; side < 2; side++)
		if (vt_profile_estimate_event(sides[side].profile, VT_ESTIMATE_CYCLES) == SIZE_MAX)
			return false;
	return true;
}

void vt_listdiff_columns(struct vt_table *t, const struct vt_listdiff_side sides[2],
			 const struct vt_event_choice *events, enum vt_list_view view)
{
	size_t i;

	for (i = 0; i < events->count; i++) {
		vti_event_column(t, events->label[i], "before", "before", VT_FORMAT_NUMBER);
		vti_event_column(t, events->label[i], "after", "after", VT_FORMAT_NUMBER);
		vti_event_column(t, events->label[i], "delta", events->label[i], VT_FORMAT_SIGNED);
		vti_event_column(t, events->label[i], "p", NULL, VT_FORMAT_REAL);
		vti_event_column(t, events->label[i], "significant", NULL, VT_FORMAT_NUMBER);
		vt_table_column(t, NULL, " ", VT_FORMAT_TEXT);
	}
	if (both_have_cpi(sides)) {
		vt_table_column(t, "cpi.before", "cpi before", VT_FORMAT_REAL);
		vt_table_column(t, "cpi.after", "after", VT_FORMAT_REAL);
	}
	vt_table_column(t, "only", " ", VT_FORMAT_TEXT);
	if (view == VT_LIST_SOURCE) {
		vt_table_column(t, "line.before", "before", VT_FORMAT_NUMBER);
		vt_table_column(t, "line.after", "after", VT_FORMAT_NUMBER);
		vt_table_column(t, "code", "source", VT_FORMAT_TEXT);
	} else {
		vt_table_column(t, "address.before", "before", VT_FORMAT_HEX);
		vt_table_column(t, "address.after", "after", VT_FORMAT_HEX);
		vt_table_column(t, "code", "instruction", VT_FORMAT_TEXT);
	}
}

static void put_change_cells(struct vt_table *t, const struct listdiff *d, const struct row_pair *p,
			     size_t i, double threshold, uint64_t *significant)
{
	uint64_t before = count_row_samples(p->row[0], d->event[2 * i]);
	uint64_t after = count_row_samples(p->row[1], d->event[2 * i + 1]);
	double by_chance = compute_chance(d, p, i);
	bool star = by_chance <= threshold;

	*significant += star && i == 0;
	vt_table_number(t, before);
	vt_table_cell_style(t, before ? VT_STYLE_PLAIN : VT_STYLE_FAINT);
	vt_table_number(t, after);
	vt_table_cell_style(t, after ? VT_STYLE_PLAIN : VT_STYLE_FAINT);
	vt_table_signed(t, (int64_t)(after - before));
	vt_table_cell_style(t, !star		? VT_STYLE_FAINT
			       : after > before ? VT_STYLE_HOT
						: VT_STYLE_SOURCE);
	if (isnan(by_chance))
		vt_table_empty(t);
	else
		vt_table_real(t, by_chance);
	vt_table_number(t, star);
	vt_table_str(t, star ? "*" : "");
}

static void put_cpi_cell(struct vt_table *t, const struct vt_profile *p,
			 const struct vt_list_row *row)
{
	struct vt_tally none = {0};
	size_t executions = vt_profile_estimate_event(p, VT_ESTIMATE_EXECUTIONS);
	size_t cycles = vt_profile_estimate_event(p, VT_ESTIMATE_CYCLES);
	bool known = row && row->tallies && executions != SIZE_MAX && cycles != SIZE_MAX;

	vti_cpi_cell(t, known ? row->tallies[cycles] : none,
		     known ? row->tallies[executions] : none);
}

static void put_place_cells(struct vt_table *t, const struct row_pair *p, enum vt_list_view view)
{
	const struct vt_list_row *any = p->row[1] ? p->row[1] : p->row[0];
	int side;

	vt_table_str(t, !p->row[1] ? "<" : !p->row[0] ? ">" : "");
	for (side = 0; side < 2; side++) {
		if (!p->row[side])
			vt_table_empty(t);
		else
			vt_table_number(t, view == VT_LIST_SOURCE ? p->row[side]->line
								  : p->row[side]->address);
	}
	vt_table_text(t, any->text, any->text_size);
}

static void fill_diff_table(struct vt_table *t, const struct listdiff *d, enum vt_list_view view,
			    const double *threshold, struct vt_listdiff_result *result)
{
	size_t i, e;

	for (i = 0; i < d->npairs; i++) {
		const struct row_pair *p = &d->pairs[i];

		result->only[0] += !p->row[1];
		result->only[1] += !p->row[0];
		vt_table_row(t, VT_STYLE_PLAIN);
		for (e = 0; e < d->events->count; e++)
			put_change_cells(t, d, p, e, threshold[e], &result->significant);
		if (both_have_cpi(d->sides)) {
			put_cpi_cell(t, d->sides[0].profile, p->row[0]);
			put_cpi_cell(t, d->sides[1].profile, p->row[1]);
		}
		put_place_cells(t, p, view);
	}
}

int vt_listdiff_rows(struct vt_table *t, const struct vt_listdiff_side sides[2],
		     const struct vt_event_choice *events, enum vt_list_view view, double rate,
		     struct vt_listdiff_result *result, struct vt_error *err)
{
	struct listdiff d = {.sides = sides, .events = events};
	double *threshold = calloc(events->count + 1, sizeof(*threshold));
	bool ok = threshold && match_event_choice(&d);
	size_t e;

	*result = (struct vt_listdiff_result){{0, 0}, 0, false};
	ok = ok && make_pairs(&d, view, result, err) == 0;
	for (e = 0; e < events->count && ok; e++)
		ok = find_event_threshold(&d, e, rate, &threshold[e]);
	if (ok)
		fill_diff_table(t, &d, view, threshold, result);
	free(threshold);
	free(d.event);
	free(d.pairs);
	return ok ? 0 : vt_error_nomem(err);
}

/* ---- which procedure it was before ---- */

/* A procedure with samples before; its name is ambiguous if `count` is more than 1. */
struct named_procedure {
	struct vt_procedure procedure;
	size_t count;
};

/* Index of the procedures before by name; without it, each lookup would search all places. */
struct vt_counterparts {
	struct vt_ranking *ranking; /* owns what the procedures borrow */
	struct vt_intern *names;    /* IMAGE:SYMBOL; an id is the index below */
	struct named_procedure *named;
	size_t count;
	size_t cap;
};

static void put_full_name(struct vt_buf *b, struct vt_images *images, const struct vt_procedure *p)
{
	const struct vt_image *image = vt_images_get(images, p->image);

	b->size = 0;
	vt_buf_printf(b, "%s:%s", image ? image->name : "", p->symbol);
}

static bool add_named_procedure(struct vt_counterparts *c, struct vt_images *images,
				struct vt_buf *b, const struct vt_procedure *p)
{
	uint32_t id;

	put_full_name(b, images, p);
	id = vt_intern_add(c->names, b->data, b->size);
	if (id == UINT32_MAX || !vt_array_grow(&c->named, &c->cap, id + 1, sizeof(*c->named)))
		return false;
	if (id >= c->count) {
		c->count = id + 1;
		c->named[id] = (struct named_procedure){.procedure = *p};
	}
	c->named[id].count++;
	return true;
}

static int index_names_before(struct vt_diffreport *r, struct vt_error *err)
{
	struct vt_counterparts *c = calloc(1, sizeof(*c));
	struct vt_buf b = VT_BUF_INIT;
	struct vt_procedure p;
	size_t i;
	bool ok;

	r->counterparts = c;
	if (c) {
		c->names = vt_intern_new();
		c->ranking = vt_ranking_new(r->side[0].profile, r->side[0].images,
					    VT_LEVEL_PROCEDURE, err);
	}
	ok = c && c->names && c->ranking;
	for (i = 0; ok && i < vt_ranking_count(c->ranking); i++)
		if (vt_procedure_of_rank(r->side[0].images, vt_ranking_at(c->ranking, i), &p) &&
		    p.symbol)
			ok = add_named_procedure(c, r->side[0].images, &b, &p);
	vt_buf_free(&b);
	return ok ? 0 : vt_error_nomem(err);
}

/* Chooses the candidate of the same build at the same address, and makes it the first. */
static bool choose_same_address(const struct vt_diffreport *r, const struct vt_procedure *after,
				struct vt_found *found)
{
	const struct vt_image *image = vt_images_get(r->side[1].images, after->image);
	size_t i;

	for (i = 0; i < found->count; i++) {
		const struct vt_procedure *p = &found->list[i];
		const struct vt_image *other = vt_images_get(r->side[0].images, p->image);

		if (image && other && image->buildid_size && p->start == after->start &&
		    vt_buildid_equal(image->buildid, image->buildid_size, other->buildid,
				     other->buildid_size)) {
			found->list[0] = *p;
			return true;
		}
	}
	return false;
}

static int find_procedure_before(const struct vt_diffreport *r, const struct vt_procedure *after,
				 struct vt_procedure *before, struct vt_error *err)
{
	const struct vt_image *image = vt_images_get(r->side[1].images, after->image);
	struct vt_found found = {0};
	struct vt_buf what = VT_BUF_INIT;
	uint32_t id;
	int rc = 0;

	if (!after->symbol)
		return vt_error_set(err, VT_E_NOTFOUND,
				    "%s: what lies in no procedure is not compared",
				    image ? image->path : "?");
	put_full_name(&what, r->side[1].images, after);
	id = vt_intern_find(r->counterparts->names, what.data, what.size);
	if (id != UINT32_MAX && r->counterparts->named[id].count == 1) {
		*before = r->counterparts->named[id].procedure;
	} else {
		rc = vt_locate_name(r->side[0].profile, r->side[0].images, vt_buf_str(&what),
				    &found, err);
		if (rc == -VT_E_AMBIGUOUS && choose_same_address(r, after, &found))
			rc = 0;
		if (rc == 0)
			*before = found.list[0];
		else
			rc = vt_error_prefix(err, "%s", r->side[0].name);
	}
	vt_buf_free(&what);
	vt_found_fini(&found);
	return rc;
}

/* ---- the document ---- */

static json_t *make_diff(const struct vt_procedure *p, const struct vt_table *t,
			 const struct vt_listdiff_result *result)
{
	json_t *doc = json_object();

	json_object_set_new(doc, "procedure", vt_json_text(p->name, strlen(p->name)));
	json_object_set_new(doc, "rows", vt_json_table(t));
	json_object_set_new(doc, "only_before", vt_json_u64(result->only[0]));
	json_object_set_new(doc, "only_after", vt_json_u64(result->only[1]));
	json_object_set_new(doc, "significant", vt_json_u64(result->significant));
	json_object_set_new(doc, "aligned", json_boolean(!result->rough));
	return doc;
}

static void print_diff_header(const struct vt_diffreport *r, const struct vt_procedure *p,
			      const struct vt_listdiff_side sides[2])
{
	static const char *const names[2] = {"Before:", "After:"};
	struct vt_buf b = VT_BUF_INIT;
	size_t i;
	int side;

	vt_escape_str(&b, p->name);
	vt_output_printf(r->out, "%s%s\n", r->count ? "\n" : "", vt_buf_str(&b));
	for (side = 0; side < 2; side++) {
		vt_output_printf(r->out, "%-7s", names[side]);
		for (i = 0; i < vt_profile_nevents(sides[side].profile); i++) {
			const struct vt_profile_event *e = vt_profile_event(sides[side].profile, i);
			uint64_t samples = vt_listing_total(sides[side].listing, i).samples;

			b.size = 0;
			vt_escape_str(&b, e->name ? e->name : "?");
			if (samples)
				vt_output_printf(r->out, "  %s %" PRIu64, vt_buf_str(&b), samples);
		}
		vt_output_text(r->out, "\n");
	}
	vt_buf_free(&b);
}

static void print_diff_footer(const struct vt_diffreport *r,
			      const struct vt_listdiff_result *result)
{
	vt_output_printf(r->out,
			 "%" PRIu64 " changes are significant (*); %" PRIu64
			 " rows only before (<), %" PRIu64 " only after (>)\n",
			 result->significant, result->only[0], result->only[1]);
	if (result->rough)
		vt_output_text(r->out, "The code differs in so much that only its beginning and "
				       "end were compared.\n");
}

/* Prints a comparison as text, or adds it to the one table or array that programs get. */
static int add_comparison(struct vt_diffreport *r, const struct vt_procedure *after,
			  const struct vt_listdiff_side sides[2], struct vt_error *err)
{
	struct vt_table *t = r->table ? r->table : vt_table_new();
	struct vt_listdiff_result result;
	int rc;

	if (!t)
		return vt_error_nomem(err);
	if (!vt_table_columns(t))
		vt_listdiff_columns(t, sides, r->events, r->options->view);
	rc = vt_listdiff_rows(t, sides, r->events, r->options->view, FALSE_RATE, &result, err);
	if (rc == 0 && r->json) {
		json_array_append_new(r->list, make_diff(after, t, &result));
	} else if (rc == 0 && !r->table) {
		print_diff_header(r, after, sides);
		rc = vt_table_print(t, r->out, VT_TABLE_TEXT, r->color, err);
		print_diff_footer(r, &result);
	}
	if (!r->table)
		vt_table_free(t);
	r->count++;
	return rc;
}

static void warn_missing_code(const struct vt_diffreport *r, const struct vt_procedure *p,
			      const struct vt_listing *l)
{
	struct vt_buf b = VT_BUF_INIT;

	if (vt_listing_missing(l)) {
		vt_buf_printf(&b, "%s: %s", p->name, vt_listing_missing(l));
		r->warn(r->arg, vt_buf_str(&b));
	}
	vt_buf_free(&b);
}

static int compare_procedure(struct vt_diffreport *r, const struct vt_procedure *after,
			     struct vt_error *err)
{
	struct vt_listdiff_side sides[2] = {{r->side[0].profile, NULL}, {r->side[1].profile, NULL}};
	struct vt_listing *listings[2] = {NULL, NULL};
	struct vt_procedure p[2] = {*after, *after};
	int side, rc = r->counterparts ? 0 : index_names_before(r, err);

	if (rc == 0)
		rc = find_procedure_before(r, after, &p[0], err);
	for (side = 0; side < 2 && rc == 0; side++) {
		struct vt_listing_options o = *r->options;

		o.code = r->side[side].code;
		listings[side] = vt_listing_new(r->side[side].profile, r->side[side].images,
						&p[side], &o, err);
		sides[side].listing = listings[side];
		if (listings[side])
			warn_missing_code(r, &p[side], listings[side]);
		else
			rc = -VT_E_NOMEM;
	}
	if (rc == 0)
		rc = add_comparison(r, after, sides, err);
	vt_listing_free(listings[0]);
	vt_listing_free(listings[1]);
	return rc;
}

/* Prints the table or array. */
static int finish_diff(struct vt_diffreport *r, struct vt_error *err)
{
	json_t *doc;
	int side;

	if (r->json) {
		doc = vt_json_doc("vlist-diff/1");
		for (side = 0; side < 2; side++) {
			json_t *v = json_object();

			vt_json_losses(
				v, vt_context_losses(vt_profile_context(r->side[side].profile)));
			json_object_set_new(doc, side ? "after" : "before", v);
		}
		json_object_set(doc, "procedures", r->list);
		vt_json_write(r->out, doc, true);
	}
	return r->table ? vt_table_print(r->table, r->out, r->form, false, err) : 0;
}

int vt_diffreport_list(struct vt_diffreport *r, const struct vt_found *after, vt_warn_fn *left_out,
		       void *arg, struct vt_error *err)
{
	size_t i;

	if (r->json)
		r->list = json_array();
	else if (r->form != VT_TABLE_TEXT && !(r->table = vt_table_new()))
		return vt_error_nomem(err);
	for (i = 0; i < after->count; i++) {
		int rc = compare_procedure(r, &after->list[i], err);

		if (rc < 0 && (!left_out || (rc != -VT_E_NOTFOUND && rc != -VT_E_AMBIGUOUS)))
			return rc;
		if (rc < 0)
			left_out(arg, err->text);
	}
	if (after->count && !r->count)
		return vt_error_set(err, VT_E_ABSENT,
				    "nothing to compare: no procedure is both before and after");
	return finish_diff(r, err);
}

void vt_diffreport_fini(struct vt_diffreport *r)
{
	struct vt_counterparts *c = r->counterparts;

	if (c) {
		vt_ranking_free(c->ranking);
		vt_intern_free(c->names);
		free(c->named);
	}
	free(c);
	vt_table_free(r->table);
	json_decref(r->list);
}
