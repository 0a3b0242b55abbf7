/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "analysis/proflist.h"
#include "analysis/proflist_internal.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/intern.h"

/* What a row is called, which is how the two sides match. */
struct pair_key {
	uint32_t image; /* ids of the texts */
	uint32_t label;
};

struct pair {
	struct pair_key key;
	size_t row[2]; /* in its ranking, plus 1; 0: not there */
	uint64_t change;
};

struct diff {
	const struct vt_proflist_side *side[2];
	const struct vt_proflist_options *opt;
	struct vt_hash pairs;
	struct vt_intern *texts;
	struct vt_tally *sums; /* of each pair, side and event: several rows may share a name */
	size_t sums_cap;
	size_t *event[2]; /* of each shown event, the index in the side's profile, or SIZE_MAX */
	size_t nevents;
	const char **label;
};

static int no_memory(struct vt_error *err)
{
	return vt_error_set(err, VT_E_NOMEM, "out of memory");
}

static size_t find_label(const struct vt_event_choice *c, const char *label)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		if (strcmp(c->label[i], label) == 0)
			return i;
	return SIZE_MAX;
}

/* The events of both sides: those of the first, then what only the second has. */
static bool match_events(struct diff *d)
{
	const struct vt_event_choice *a = d->side[0]->events;
	const struct vt_event_choice *b = d->side[1]->events;
	size_t i, at, max = a->count + b->count + 1;

	d->event[0] = calloc(max, sizeof(size_t));
	d->event[1] = calloc(max, sizeof(size_t));
	d->label = calloc(max, sizeof(*d->label));
	if (!d->event[0] || !d->event[1] || !d->label)
		return false;
	for (i = 0; i < a->count; i++) {
		at = find_label(b, a->label[i]);
		d->label[d->nevents] = a->label[i];
		d->event[0][d->nevents] = a->index[i];
		d->event[1][d->nevents++] = at == SIZE_MAX ? SIZE_MAX : b->index[at];
	}
	for (i = 0; i < b->count; i++) {
		if (find_label(a, b->label[i]) != SIZE_MAX)
			continue;
		d->label[d->nevents] = b->label[i];
		d->event[0][d->nevents] = SIZE_MAX;
		d->event[1][d->nevents++] = b->index[i];
	}
	return true;
}

static struct vt_tally *sum_at(const struct diff *d, size_t pair, int side, size_t event)
{
	return &d->sums[(pair * 2 + (size_t)side) * d->nevents + event];
}

static struct vt_tally total_of(const struct diff *d, int side, size_t event)
{
	size_t index = d->event[side][event];
	struct vt_tally none = {0, 0};

	if (index == SIZE_MAX)
		return none;
	none.samples = vt_profile_event(d->side[side]->profile, index)->samples;
	none.period = vt_profile_event(d->side[side]->profile, index)->period;
	return none;
}

/* The two recordings may have been made in different folders. */
static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool add_row(struct diff *d, int side, size_t row, struct vt_buf *label)
{
	const struct vt_ranking *r = d->side[side]->ranking;
	const struct vt_rank *k = vt_ranking_at(r, row);
	struct pair_key key;
	struct pair *pair;
	size_t index, e;
	bool added;

	label->size = 0;
	vt_rank_label(k, vt_ranking_level(r), label);
	key.image = vt_intern_str(d->texts, file_name(k->path));
	key.label = vt_intern_add(d->texts, label->data, label->size);
	pair = vt_hash_add(&d->pairs, &key, &added);
	if (!pair || label->failed || key.image == UINT32_MAX || key.label == UINT32_MAX ||
	    !vt_array_grow(&d->sums, &d->sums_cap, d->pairs.count * 2 * (d->nevents + 1),
			   sizeof(*d->sums)))
		return false;
	index = (size_t)((uint8_t *)pair - d->pairs.entries) / sizeof(*pair);
	if (added)
		memset(sum_at(d, index, 0, 0), 0, 2 * d->nevents * sizeof(*d->sums));
	if (!pair->row[side])
		pair->row[side] = row + 1;
	for (e = 0; e < d->nevents; e++) {
		struct vt_tally t, *sum = sum_at(d, index, side, e);

		if (d->event[side][e] == SIZE_MAX)
			continue;
		t = vt_ranking_tally(r, row, d->event[side][e]);
		sum->samples += t.samples;
		sum->period += t.period;
	}
	return true;
}

static bool add_rows(struct diff *d, int side)
{
	struct vt_buf label = VT_BUF_INIT;
	bool ok = true;
	size_t i;

	for (i = 0; i < vt_ranking_count(d->side[side]->ranking) && ok; i++)
		ok = add_row(d, side, i, &label);
	vt_buf_free(&label);
	return ok;
}

/* ---- order and rows ---- */

struct order {
	uint64_t change;
	const char *image, *label;
	size_t pair;
};

static int compare(const void *pa, const void *pb)
{
	const struct order *a = pa;
	const struct order *b = pb;
	int c;

	if (a->change != b->change)
		return a->change > b->change ? -1 : 1;
	c = strcmp(a->image, b->image);
	return c ? c : strcmp(a->label, b->label);
}

static struct order *put_in_order(const struct diff *d)
{
	struct order *order = calloc(d->pairs.count + 1, sizeof(*order));
	size_t i;

	for (i = 0; order && i < d->pairs.count; i++) {
		const struct pair *p = vt_hash_at(&d->pairs, i);
		uint64_t a = 0, b = 0;

		if (d->nevents) {
			a = vti_weigh(*sum_at(d, i, 0, 0), d->opt->by_period);
			b = vti_weigh(*sum_at(d, i, 1, 0), d->opt->by_period);
		}
		order[i].change = a > b ? a - b : b - a;
		order[i].image = vt_intern_get(d->texts, p->key.image);
		order[i].label = vt_intern_get(d->texts, p->key.label);
		order[i].pair = i;
	}
	if (order)
		qsort(order, d->pairs.count, sizeof(*order), compare);
	return order;
}

static const struct vt_rank *rank_of(const struct diff *d, const struct pair *p)
{
	int side = p->row[1] ? 1 : 0;

	return vt_ranking_at(d->side[side]->ranking, p->row[side] - 1);
}

static void columns(struct vt_table *t, const struct diff *d)
{
	enum vt_level level = vt_ranking_level(d->side[0]->ranking);
	size_t e;

	for (e = 0; e < d->nevents; e++) {
		vti_event_column(t, d->label[e], ".before", "before", VT_FORMAT_NUMBER);
		vti_event_column(t, d->label[e], ".before_percent", "%", VT_FORMAT_PERCENT);
		vti_event_column(t, d->label[e], ".after", "after", VT_FORMAT_NUMBER);
		vti_event_column(t, d->label[e], ".after_percent", "%", VT_FORMAT_PERCENT);
		vti_event_column(t, d->label[e], ".delta", d->label[e], VT_FORMAT_SIGNED);
		vti_event_column(t, d->label[e], ".points", "points", VT_FORMAT_POINTS);
	}
	if (level == VT_LEVEL_LINE)
		vt_table_column_max(t, "line", "line", VT_FORMAT_TEXT, VTI_NAME_WIDTH);
	else if (level != VT_LEVEL_IMAGE)
		vt_table_column_max(t, "procedure", "procedure", VT_FORMAT_TEXT, VTI_NAME_WIDTH);
	vt_table_column(t, "image", "image", VT_FORMAT_TEXT);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void event_cells(struct vt_table *t, const struct diff *d, size_t pair, size_t event)
{
	struct vt_tally before = *sum_at(d, pair, 0, event);
	struct vt_tally after = *sum_at(d, pair, 1, event);
	double was = percent(vti_weigh(before, d->opt->by_period),
			     vti_weigh(total_of(d, 0, event), d->opt->by_period));
	double is = percent(vti_weigh(after, d->opt->by_period),
			    vti_weigh(total_of(d, 1, event), d->opt->by_period));

	vt_table_number(t, before.samples);
	vt_table_real(t, was);
	vt_table_number(t, after.samples);
	vt_table_real(t, is);
	vt_table_signed(t, (int64_t)(after.samples - before.samples));
	vt_table_real(t, is - was);
	vt_table_cell_style(t, is - was >= 1	? VT_STYLE_HOT
			       : is - was <= -1 ? VT_STYLE_SOURCE
						: VT_STYLE_PLAIN);
}

static int64_t fill(struct vt_table *t, const struct diff *d, const struct order *order)
{
	enum vt_level level = vt_ranking_level(d->side[0]->ranking);
	uint64_t left_out = 0, all = 0;
	size_t i, e;

	if (d->nevents)
		all = vti_weigh(total_of(d, 0, 0), d->opt->by_period) +
		      vti_weigh(total_of(d, 1, 0), d->opt->by_period);
	for (i = 0; i < d->pairs.count; i++) {
		if ((d->opt->top && i >= d->opt->top) ||
		    percent(order[i].change, all) < d->opt->min_percent) {
			left_out++;
			continue;
		}
		vt_table_row(t, VT_STYLE_PLAIN);
		for (e = 0; e < d->nevents; e++)
			event_cells(t, d, order[i].pair, e);
		if (level != VT_LEVEL_IMAGE)
			vt_table_str(t, order[i].label);
		if (level == VT_LEVEL_IMAGE && *order[i].label)
			vt_table_str(t, order[i].label);
		else
			vt_table_str(t, rank_of(d, vt_hash_at(&d->pairs, order[i].pair))->path);
	}
	return (int64_t)left_out;
}

int64_t vt_proflist_diff(struct vt_table *t, const struct vt_proflist_side *before,
			 const struct vt_proflist_side *after,
			 const struct vt_proflist_options *opt, struct vt_error *err)
{
	struct diff d = {.side = {before, after}, .opt = opt};
	struct order *order = NULL;
	int64_t left_out = -1;

	vt_hash_init(&d.pairs, sizeof(struct pair), sizeof(struct pair_key));
	d.texts = vt_intern_new();
	if (d.texts && match_events(&d) && add_rows(&d, 0) && add_rows(&d, 1))
		order = put_in_order(&d);
	if (order) {
		columns(t, &d);
		left_out = fill(t, &d, order);
	}
	free(order);
	free(d.sums);
	free(d.event[0]);
	free(d.event[1]);
	free(d.label);
	vt_hash_fini(&d.pairs);
	vt_intern_free(d.texts);
	return left_out < 0 ? no_memory(err) : left_out;
}
