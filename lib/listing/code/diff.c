/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/code/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "listing/profile/profile_internal.h"
#include "profile/align.h"
#include "profile/significance.h"

/* The rows of a side that are compared. */
struct rows {
	const struct vt_list_row **row;
	uint64_t *key;
	size_t count;
};

/* A row of the one, of the other, or of both. */
struct pair {
	const struct vt_list_row *row[2];
};

struct listdiff {
	const struct vt_listdiff_side *sides;
	const struct vt_event_choice *events;
	size_t *event; /* [2 * i + side]: the index in the side's profile, or SIZE_MAX */
	struct pair *pairs;
	size_t npairs;
};

/* ---- what a row says ---- */

/* Distances to data move when code does. */
static size_t skip_distance(const char *s, size_t at, size_t size)
{
	size_t end = at;

	if (size - at < 3 || s[at] != '0' || s[at + 1] != 'x')
		return at;
	for (end = at + 2; end < size && strchr("0123456789abcdef", s[end]); end++)
		;
	return size - end >= 6 && memcmp(s + end, "(%rip)", 6) == 0 ? end : at;
}

/* The name in "<name+0x10>", all of a call's operand that stays; a jump's target does not. */
static void put_target(const struct vt_list_row *row, struct vt_buf *out)
{
	const char *open = memchr(row->text, '<', row->text_size);
	const char *end = row->text + row->text_size;

	if (row->type != VT_INSN_CALL || !open)
		return;
	for (; open < end && *open != '+' && *open != '>'; open++)
		vt_buf_put_u8(out, (uint8_t)*open);
}

static uint64_t key_of(const struct vt_list_row *row, struct vt_buf *b)
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
	return row->kind == VT_ROW_INSTRUCTION || row->kind == VT_ROW_INSIDE ||
	       row->kind == VT_ROW_RAW;
}

static bool gather(struct rows *r, const struct vt_listing *l, enum vt_list_view view)
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
		r->key[r->count] = key_of(row, &b);
		r->row[r->count++] = row;
		ok = !b.failed;
	}
	vt_buf_free(&b);
	return ok;
}

/* ---- pairs ---- */

/* What only one has comes before the next match: first that of before, then that of after. */
static void merge(struct listdiff *d, const struct rows sides[2], const uint32_t *match)
{
	size_t i, k = 0;

	for (i = 0; i <= sides[0].count; i++) {
		size_t until = sides[1].count;

		if (i < sides[0].count && match[i] == VT_ALIGN_NONE) {
			d->pairs[d->npairs++] = (struct pair){{sides[0].row[i], NULL}};
			continue;
		}
		if (i < sides[0].count)
			until = match[i];
		for (; k < until; k++)
			d->pairs[d->npairs++] = (struct pair){{NULL, sides[1].row[k]}};
		if (i < sides[0].count)
			d->pairs[d->npairs++] = (struct pair){{sides[0].row[i], sides[1].row[k++]}};
	}
}

static int make_pairs(struct listdiff *d, enum vt_list_view view, struct vt_listdiff_result *result,
		      struct vt_error *err)
{
	struct rows r[2] = {{0}, {0}};
	uint32_t *match = NULL;
	int code = -VT_E_NOMEM;

	if (gather(&r[0], d->sides[0].listing, view) && gather(&r[1], d->sides[1].listing, view)) {
		match = calloc(r[0].count + 1, sizeof(*match));
		d->pairs = calloc(r[0].count + r[1].count + 1, sizeof(*d->pairs));
	}
	if (match && d->pairs)
		code = vt_align(r[0].key, r[0].count, r[1].key, r[1].count, match, err);
	if (code >= 0) {
		result->rough = code > 0;
		merge(d, r, match);
	}
	free(match);
	free(r[0].row);
	free(r[0].key);
	free(r[1].row);
	free(r[1].key);
	return code < 0 ? vt_error_nomem(err) : 0;
}

/* ---- events ---- */

static size_t find_event(const struct vt_profile *p, const struct vt_profile_event *like)
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

static bool match_events(struct listdiff *d)
{
	size_t i;

	d->event = calloc(d->events->count + 1, 2 * sizeof(*d->event));
	for (i = 0; i < d->events->count && d->event; i++) {
		size_t index = d->events->index[i];

		d->event[2 * i] = find_event(d->sides[0].profile,
					     vt_profile_event(d->sides[1].profile, index));
		d->event[2 * i + 1] = index;
	}
	return d->event != NULL;
}

static uint64_t samples_of(const struct vt_list_row *row, size_t event)
{
	return row && row->tallies && event != SIZE_MAX ? row->tallies[event].samples : 0;
}

static double chance(const struct listdiff *d, const struct pair *p, size_t i)
{
	if (vt_profile_event(d->sides[1].profile, d->event[2 * i + 1])->estimate)
		return NAN;
	return vt_count_test(samples_of(p->row[0], d->event[2 * i]),
			     samples_of(p->row[1], d->event[2 * i + 1]), 0.5);
}

static bool find_threshold(const struct listdiff *d, size_t event, double rate, double *threshold)
{
	double *p = calloc(d->npairs + 1, sizeof(*p));
	size_t i, count = 0;

	if (!p)
		return false;
	for (i = 0; i < d->npairs; i++) {
		p[count] = chance(d, &d->pairs[i], event);
		count += !isnan(p[count]);
	}
	*threshold = vt_discovery_threshold(p, count, rate);
	free(p);
	return true;
}

/* ---- the table ---- */

static bool has_cpi(const struct vt_listdiff_side sides[2])
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
	if (has_cpi(sides)) {
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

static void event_cells(struct vt_table *t, const struct listdiff *d, const struct pair *p,
			size_t i, double threshold, uint64_t *significant)
{
	uint64_t before = samples_of(p->row[0], d->event[2 * i]);
	uint64_t after = samples_of(p->row[1], d->event[2 * i + 1]);
	double by_chance = chance(d, p, i);
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

static void cpi_cell(struct vt_table *t, const struct vt_profile *p, const struct vt_list_row *row)
{
	struct vt_tally none = {0, 0};
	size_t executions = vt_profile_estimate_event(p, VT_ESTIMATE_EXECUTIONS);
	size_t cycles = vt_profile_estimate_event(p, VT_ESTIMATE_CYCLES);
	bool known = row && row->tallies && executions != SIZE_MAX && cycles != SIZE_MAX;

	vti_cpi_cell(t, known ? row->tallies[cycles] : none,
		     known ? row->tallies[executions] : none);
}

static void place_cells(struct vt_table *t, const struct pair *p, enum vt_list_view view)
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

static void fill(struct vt_table *t, const struct listdiff *d, enum vt_list_view view,
		 const double *threshold, struct vt_listdiff_result *result)
{
	size_t i, e;

	for (i = 0; i < d->npairs; i++) {
		const struct pair *p = &d->pairs[i];

		result->only[0] += !p->row[1];
		result->only[1] += !p->row[0];
		vt_table_row(t, VT_STYLE_PLAIN);
		for (e = 0; e < d->events->count; e++)
			event_cells(t, d, p, e, threshold[e], &result->significant);
		if (has_cpi(d->sides)) {
			cpi_cell(t, d->sides[0].profile, p->row[0]);
			cpi_cell(t, d->sides[1].profile, p->row[1]);
		}
		place_cells(t, p, view);
	}
}

int vt_listdiff_rows(struct vt_table *t, const struct vt_listdiff_side sides[2],
		     const struct vt_event_choice *events, enum vt_list_view view, double rate,
		     struct vt_listdiff_result *result, struct vt_error *err)
{
	struct listdiff d = {.sides = sides, .events = events};
	double *threshold = calloc(events->count + 1, sizeof(*threshold));
	bool ok = threshold && match_events(&d);
	size_t e;

	*result = (struct vt_listdiff_result){{0, 0}, 0, false};
	ok = ok && make_pairs(&d, view, result, err) == 0;
	for (e = 0; e < events->count && ok; e++)
		ok = find_threshold(&d, e, rate, &threshold[e]);
	if (ok)
		fill(t, &d, view, threshold, result);
	free(threshold);
	free(d.event);
	free(d.pairs);
	return ok ? 0 : vt_error_nomem(err);
}
