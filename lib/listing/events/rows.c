/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "listing/events/internal.h"

static void fini_row(struct vti_evrow *row)
{
	unsigned i;

	for (i = 0; i < VT_EV_LATENCIES; i++)
		vt_evbins_fini(&row->bins[i]);
}

void vti_evrows_fini(struct vti_evrows *r)
{
	size_t i;

	for (i = 0; i < r->rows.count; i++)
		fini_row(vt_hash_at(&r->rows, i));
	for (i = 0; i < r->nevents && r->sums; i++)
		fini_row(&r->sums[i]);
	for (i = 0; i < r->nevents && r->labels; i++)
		free(r->labels[i]);
	vt_hash_fini(&r->rows);
	vt_hash_fini(&r->groups);
	vt_ranking_free(r->ranking);
	free(r->sums);
	free(r->events);
	free(r->labels);
	free(r->order);
}

/* Bins weigh as their samples do. */
static bool add_counts(struct vti_evrow *row, const struct vt_evstats *s,
		       const struct vt_evkey *key, const struct vt_evcounts *c)
{
	struct vt_evtotal t;
	unsigned i;

	vt_evcounts_all(c, &t);
	vt_evtotal_add(&row->all, &t);
	for (i = 0; i < VT_EV_STATS; i++) {
		vt_evstats_total(s, key, c, i, &t);
		vt_evtotal_add(&row->total[i], &t);
		if (vt_evstat_is_latency(i) && t.had > 0 &&
		    !vt_evbins_join(&row->bins[i - VT_PM_NEVENTS],
				    &c->latency[i - VT_PM_NEVENTS].bins, t.k / t.had))
			return false;
	}
	return true;
}

/* ---- events ---- */

static char *copy_label(const char *name)
{
	size_t size = strlen(name) + 1;
	char *copy = malloc(size);

	if (copy)
		memcpy(copy, name, size);
	return copy;
}

static bool is_listed(const struct vt_evreport *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->nevents; i++)
		if (strcmp(p->events[i], name) == 0)
			return true;
	return !p->nevents;
}

/* Whether an event has this name; else the error. */
static bool is_event(const struct vti_evrows *r, const char *name, struct vt_error *err)
{
	const struct vt_evstats *s = vt_evgather_stats(r->report->gather);
	size_t i, n = vt_evstats_nevents(s);

	for (i = 0; i < n; i++) {
		const struct vt_event *e =
			vt_context_event(r->report->context, vt_evstats_event_at(s, i)->id, err);

		if (!e)
			return false;
		if (strcmp(e->name, name) == 0)
			return true;
	}
	vt_error_set(err, VT_E_NOTFOUND, "no event of single instructions is '%s'", name);
	return false;
}

/* The number of each event of the totals among those that are listed; SIZE_MAX: it is not. */
static int choose_events(struct vti_evrows *r, size_t *number, struct vt_error *err)
{
	const struct vt_evstats *s = vt_evgather_stats(r->report->gather);
	size_t i, n = vt_evstats_nevents(s);

	for (i = 0; i < n; i++) {
		const struct vt_evevent *e = vt_evstats_event_at(s, i);
		const struct vt_event *declared = vt_context_event(r->report->context, e->id, err);
		bool joins = r->report->together && r->nevents;

		if (!declared)
			return -VT_E_NOMEM;
		number[i] = SIZE_MAX;
		if (!is_listed(r->report, declared->name))
			continue;
		number[i] = joins ? 0 : r->nevents;
		if (joins) {
			vt_evmeta_join(&r->events[0], e);
			continue;
		}
		r->events[r->nevents] = *e;
		r->events[r->nevents].joined = true;
		r->labels[r->nevents] =
			copy_label(r->report->together ? "all events" : declared->name);
		if (!r->labels[r->nevents++])
			return vt_error_nomem(err);
	}
	for (i = 0; i < r->report->nevents; i++)
		if (!is_event(r, r->report->events[i], err))
			return -(int)err->code;
	return 0;
}

/* Whether there are samples of each event that was asked for. */
static int check_samples(const struct vti_evrows *r, struct vt_error *err)
{
	size_t i;

	for (i = 0; i < r->nevents && r->report->nevents; i++)
		if (!(r->sums[i].all.samples > 0))
			return vt_error_set(
				err, VT_E_ABSENT, "no sample of '%s' follows an instruction",
				r->report->together ? r->report->events[0] : r->labels[i]);
	return 0;
}

/* ---- rows ---- */

static int add_place(struct vti_evrows *r, const struct vt_evstats *s, size_t i,
		     const size_t *number, struct vt_error *err)
{
	struct vti_evrow key = {.name = i}, *row;
	struct vt_evkey at;
	const struct vt_evcounts *c = vt_evstats_place(s, i, &at);
	size_t name = i;

	if (!c || number[at.event] == SIZE_MAX)
		return 0;
	if (r->ranking) {
		const struct vt_place place = {
			.offset = at.offset, .image = at.image, .pid = at.pid};

		if (vt_ranking_row(r->ranking, &place, &name, err) < 0)
			return -VT_E_NOMEM;
	}
	key.name = name;
	key.event = number[at.event];
	row = vt_hash_add(&r->rows, &key, NULL);
	if (!row || !add_counts(row, s, &at, c) || !add_counts(&r->sums[key.event], s, &at, c))
		return vt_error_nomem(err);
	return 0;
}

static int add_group(struct vti_evrows *r, const struct vt_evstats *s, size_t i,
		     const size_t *number, struct vt_error *err)
{
	struct vti_evrow key = {0}, *row;
	struct vt_evkey at;
	const struct vt_evcounts *c = vt_evstats_place(s, i, &at);
	struct vti_evgroup value = {at.offset, at.image}, *group;

	if (!c || number[at.event] == SIZE_MAX)
		return 0;
	group = vt_hash_add(&r->groups, &value, NULL);
	if (!group)
		return vt_error_nomem(err);
	key.name = vt_hash_index(&r->groups, group);
	key.event = number[at.event];
	row = vt_hash_add(&r->rows, &key, NULL);
	if (!row || !add_counts(row, s, &at, c) || !add_counts(&r->sums[key.event], s, &at, c))
		return vt_error_nomem(err);
	return 0;
}

int vti_evrows_init(struct vti_evrows *r, const struct vt_evreport *report, struct vt_error *err)
{
	const struct vt_evstats *places = vt_evgather_stats(report->gather);
	const struct vt_evstats *groups = vt_evgather_groups(report->gather);
	const struct vt_evstats *s = groups ? groups : places;
	size_t i, n = vt_evstats_nevents(places) + 1;
	size_t *number = calloc(n, sizeof(*number));
	int code = 0;

	*r = (struct vti_evrows){.report = report};
	vt_hash_init(&r->rows, sizeof(struct vti_evrow), offsetof(struct vti_evrow, all));
	vt_hash_init(&r->groups, sizeof(struct vti_evgroup), sizeof(struct vti_evgroup));
	r->sums = calloc(n, sizeof(*r->sums));
	r->events = calloc(n, sizeof(*r->events));
	r->labels = calloc(n, sizeof(*r->labels));
	if (!groups)
		r->ranking = vt_ranking_new_empty(report->images, report->level, err);
	if (!number || !r->sums || !r->events || !r->labels || (!groups && !r->ranking))
		code = vt_error_nomem(err);
	if (code == 0)
		code = choose_events(r, number, err);
	for (i = 0; i < vt_evstats_nplaces(s) && code == 0; i++)
		code = groups ? add_group(r, s, i, number, err) : add_place(r, s, i, number, err);
	free(number);
	if (code == 0)
		code = check_samples(r, err);
	return code;
}

/* ---- order ---- */

struct ordered {
	double weight;
	const struct vti_evrow *row;
	const struct vt_rank *rank;	 /* NULL: of a group */
	const struct vti_evgroup *group; /* NULL: of a rank */
};

static int compare_names(const struct ordered *a, const struct ordered *b)
{
	if (a->rank)
		return vt_rank_compare(a->rank, b->rank);
	if (a->group->known != b->group->known)
		return a->group->known < b->group->known ? -1 : 1;
	return a->group->value < b->group->value ? -1 : a->group->value > b->group->value;
}

static int compare_ordered(const void *pa, const void *pb)
{
	const struct ordered *a = pa, *b = pb;
	int c;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	c = compare_names(a, b);
	if (c)
		return c;
	return a->row->event < b->row->event ? -1 : a->row->event > b->row->event;
}

int vti_evrows_sort(struct vti_evrows *r, unsigned stat, struct vt_error *err)
{
	struct ordered *order = calloc(r->rows.count + 1, sizeof(*order));
	size_t i;

	free(r->order);
	r->order = calloc(r->rows.count + 1, sizeof(const struct vti_evrow *));
	if (!order || !r->order) {
		free(order);
		return vt_error_nomem(err);
	}
	for (i = 0; i < r->rows.count; i++) {
		const struct vti_evrow *row = vt_hash_at(&r->rows, i);

		order[i].weight = stat < VT_EV_STATS ? row->total[stat].sum : row->all.sum;
		order[i].row = row;
		if (r->ranking)
			order[i].rank = vt_ranking_at(r->ranking, row->name);
		else
			order[i].group = vt_hash_at(&r->groups, row->name);
	}
	qsort(order, r->rows.count, sizeof(*order), compare_ordered);
	for (i = 0; i < r->rows.count; i++)
		r->order[i] = order[i].row;
	free(order);
	return 0;
}
