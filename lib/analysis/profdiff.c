/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/proflist.h"
#include "analysis/proflist_internal.h"
#include "analysis/runs.h"
#include "analysis/significance.h"
#include "base/buf.h"

struct diff {
	const struct vt_profdiff_set *sets;
	const struct vt_profdiff_options *opt;
	struct vt_runs *runs; /* those before, then those after */
	size_t nruns;
	const char **label; /* of each event that is shown */
	size_t nshown;
	size_t nevents; /* those, and two that cpi follows from: executions, cycles at the head */
	size_t *event;	/* [run * nevents + e]: the index in the run's profile, or SIZE_MAX */
	bool many;	/* means are shown */
};

/* One event of one row. */
struct change {
	double before; /* weighed, of a run on the average */
	double after;
	struct vt_tally tally[2]; /* of all runs */
	double p;
};

struct order {
	double change;
	const char *image, *label;
	size_t row;
};

static const struct vt_proflist_side *run_of(const struct diff *d, size_t run)
{
	size_t before = d->sets[0].count;

	return run < before ? &d->sets[0].runs[run] : &d->sets[1].runs[run - before];
}

static size_t find_label(const struct vt_event_choice *c, const char *label)
{
	size_t i;

	for (i = 0; i < c->count; i++)
		if (strcmp(c->label[i], label) == 0)
			return i;
	return SIZE_MAX;
}

static bool knows_label(const struct diff *d, const char *label)
{
	size_t i;

	for (i = 0; i < d->nshown; i++)
		if (strcmp(d->label[i], label) == 0)
			return true;
	return false;
}

/* The events of all runs: those of the first, then what only later ones have. */
static bool match_events(struct diff *d)
{
	size_t run, e, at, max = 2;

	for (run = 0; run < d->nruns; run++)
		max += run_of(d, run)->events->count;
	d->label = calloc(max, sizeof(*d->label));
	d->event = calloc(d->nruns, max * sizeof(*d->event));
	if (!d->label || !d->event)
		return false;
	for (run = 0; run < d->nruns; run++) {
		const struct vt_event_choice *c = run_of(d, run)->events;

		for (e = 0; e < c->count; e++)
			if (!knows_label(d, c->label[e]))
				d->label[d->nshown++] = c->label[e];
	}
	d->nevents = d->nshown + 2;
	for (run = 0; run < d->nruns; run++) {
		const struct vt_event_choice *c = run_of(d, run)->events;

		for (e = 0; e < d->nshown; e++) {
			at = find_label(c, d->label[e]);
			d->event[run * d->nevents + e] = at == SIZE_MAX ? SIZE_MAX : c->index[at];
		}
		d->event[run * d->nevents + e] =
			vt_profile_estimate_event(run_of(d, run)->profile, VT_ESTIMATE_EXECUTIONS);
		d->event[run * d->nevents + e + 1] =
			vt_profile_estimate_event(run_of(d, run)->profile, VT_ESTIMATE_CYCLES);
	}
	return true;
}

static bool add_runs(struct diff *d, struct vt_error *err)
{
	size_t run;

	d->runs = vt_runs_new(d->nevents);
	if (!d->runs)
		return false;
	for (run = 0; run < d->nruns; run++)
		if (vt_runs_add(d->runs, run_of(d, run)->ranking, d->event + run * d->nevents,
				err) < 0)
			return false;
	return true;
}

static struct vt_tally total_of(const struct diff *d, size_t run, size_t event)
{
	size_t index = d->event[run * d->nevents + event];
	struct vt_tally t = {0, 0};

	if (index != SIZE_MAX) {
		t.samples = vt_profile_event(run_of(d, run)->profile, index)->samples;
		t.period = vt_profile_event(run_of(d, run)->profile, index)->period;
	}
	return t;
}

/* ---- changes ---- */

/* The share of the samples that would be before if nothing had changed. */
static double exposure_before(const struct diff *d, const struct vt_tally total[2])
{
	double each[2] = {1, 1};
	int side;

	for (side = 0; side < 2 && d->opt->list.by_period; side++)
		if (total[side].period && total[side].samples)
			each[side] = (double)total[side].samples / (double)total[side].period;
	each[0] *= (double)d->sets[0].count;
	each[1] *= (double)d->sets[1].count;
	return each[0] / (each[0] + each[1]);
}

/* Numbers of executions that follow from samples are no counts of anything. */
static bool is_estimate(const struct diff *d, size_t event)
{
	size_t run;

	for (run = 0; run < d->nruns; run++) {
		size_t index = d->event[run * d->nevents + event];

		if (index != SIZE_MAX)
			return vt_profile_event(run_of(d, run)->profile, index)->estimate;
	}
	return false;
}

/* What tells of a run's row, or with `row` SIZE_MAX of the run, to gather the change from. */
static struct change gather(const struct diff *d, size_t row, size_t event)
{
	struct vt_moments set[2] = {{0}, {0}};
	struct vt_tally total[2] = {{0, 0}, {0, 0}};
	struct change c = {0};
	size_t run;

	for (run = 0; run < d->nruns; run++) {
		int side = run >= d->sets[0].count;
		struct vt_tally all = total_of(d, run, event);
		struct vt_tally t = row == SIZE_MAX ? all : vt_runs_tally(d->runs, row, run, event);

		vt_moments_add(&set[side], (double)vti_weigh(t, d->opt->list.by_period));
		c.tally[side].samples += t.samples;
		c.tally[side].period += t.period;
		total[side].samples += all.samples;
		total[side].period += all.period;
	}
	c.before = set[0].mean;
	c.after = set[1].mean;
	if (set[0].count > 1 && set[1].count > 1)
		c.p = vt_mean_test(&set[0], &set[1]);
	else if (is_estimate(d, event))
		c.p = NAN;
	else
		c.p = vt_count_test(c.tally[0].samples, c.tally[1].samples,
				    exposure_before(d, total));
	return c;
}

/* Up to which probability the changes of an event are significant. */
static bool find_threshold(const struct diff *d, size_t event, double *threshold)
{
	size_t rows = vt_runs_rows(d->runs), i, count = 0;
	double *p = calloc(rows + 1, sizeof(*p));

	if (!p)
		return false;
	for (i = 0; i < rows; i++) {
		p[count] = gather(d, i, event).p;
		count += !isnan(p[count]);
	}
	*threshold = vt_discovery_threshold(p, count, d->opt->rate);
	free(p);
	return true;
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* ---- order and rows ---- */

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
	size_t rows = vt_runs_rows(d->runs), i;
	struct order *order = calloc(rows + 1, sizeof(*order));

	for (i = 0; order && i < rows; i++) {
		order[i].row = i;
		order[i].image = vt_runs_image(d->runs, i);
		order[i].label = vt_runs_label(d->runs, i);
		if (d->nshown) {
			struct change c = gather(d, i, 0);

			order[i].change = fabs(c.after - c.before);
		}
	}
	if (order)
		qsort(order, rows, sizeof(*order), compare);
	return order;
}

static bool has_cpi(const struct diff *d)
{
	return is_estimate(d, d->nshown) && is_estimate(d, d->nshown + 1);
}

static void cpi_cells(struct vt_table *t, const struct diff *d, size_t row)
{
	struct change executions = gather(d, row, d->nshown);
	struct change cycles = gather(d, row, d->nshown + 1);

	vti_cpi_cell(t, cycles.tally[0], executions.tally[0]);
	vti_cpi_cell(t, cycles.tally[1], executions.tally[1]);
}

static void columns(struct vt_table *t, const struct diff *d)
{
	enum vt_level level = vt_ranking_level(run_of(d, 0)->ranking);
	enum vt_format count = d->many ? VT_FORMAT_REAL : VT_FORMAT_NUMBER;
	enum vt_format delta = d->many ? VT_FORMAT_REAL : VT_FORMAT_SIGNED;
	size_t e;

	for (e = 0; e < d->nshown; e++) {
		vti_event_column(t, d->label[e], "before", "before", count);
		vti_event_column(t, d->label[e], "before_percent", "%", VT_FORMAT_PERCENT);
		vti_event_column(t, d->label[e], "after", "after", count);
		vti_event_column(t, d->label[e], "after_percent", "%", VT_FORMAT_PERCENT);
		vti_event_column(t, d->label[e], "delta", d->label[e], delta);
		vti_event_column(t, d->label[e], "points", "points", VT_FORMAT_POINTS);
		vti_event_column(t, d->label[e], "p", NULL, VT_FORMAT_REAL);
		vti_event_column(t, d->label[e], "significant", NULL, VT_FORMAT_NUMBER);
		vt_table_column(t, NULL, "chance", VT_FORMAT_RIGHT_TEXT);
	}
	if (has_cpi(d)) {
		vt_table_column(t, "cpi.before", "cpi before", VT_FORMAT_REAL);
		vt_table_column(t, "cpi.after", "after", VT_FORMAT_REAL);
	}
	if (level == VT_LEVEL_LINE)
		vt_table_column_max(t, "line", "line", VT_FORMAT_TEXT, VTI_NAME_WIDTH);
	else if (level != VT_LEVEL_IMAGE)
		vt_table_column_max(t, "procedure", "procedure", VT_FORMAT_TEXT, VTI_NAME_WIDTH);
	vt_table_column(t, "image", "image", VT_FORMAT_TEXT);
}

/* "12%", "0.3% *": the star stands for what is significant. */
static void chance_cell(struct vt_table *t, double p, bool significant)
{
	const char *star = significant ? " *" : "  ";

	if (isnan(p))
		vt_table_empty(t);
	else if (p >= 0.1)
		vt_table_printf(t, "%.0f%%%s", 100 * p, star);
	else if (p >= 0.0001)
		vt_table_printf(t, "%.2f%%%s", 100 * p, star);
	else
		vt_table_printf(t, "<0.01%%%s", star);
}

static void event_cells(struct vt_table *t, const struct diff *d, const struct change *c,
			const struct change *all, bool significant)
{
	double was = percent(c->before, all->before);
	double is = percent(c->after, all->after);

	if (d->many) {
		double n[2] = {(double)d->sets[0].count, (double)d->sets[1].count};
		double before = (double)c->tally[0].samples / n[0];
		double after = (double)c->tally[1].samples / n[1];

		vt_table_real(t, before);
		vt_table_real(t, was);
		vt_table_real(t, after);
		vt_table_real(t, is);
		vt_table_real(t, after - before);
	} else {
		vt_table_number(t, c->tally[0].samples);
		vt_table_real(t, was);
		vt_table_number(t, c->tally[1].samples);
		vt_table_real(t, is);
		vt_table_signed(t, (int64_t)(c->tally[1].samples - c->tally[0].samples));
	}
	vt_table_real(t, is - was);
	vt_table_cell_style(t, is - was >= 1	? VT_STYLE_HOT
			       : is - was <= -1 ? VT_STYLE_SOURCE
						: VT_STYLE_PLAIN);
	if (isnan(c->p))
		vt_table_empty(t);
	else
		vt_table_real(t, c->p);
	vt_table_number(t, significant);
	chance_cell(t, c->p, significant);
}

static void name_cells(struct vt_table *t, const struct diff *d, const struct order *o)
{
	bool images = vt_ranking_level(run_of(d, 0)->ranking) == VT_LEVEL_IMAGE;

	if (!images)
		vt_table_str(t, o->label);
	vt_table_str(t, images && *o->label ? o->label : vt_runs_path(d->runs, o->row));
}

/* Whether what was asked to be checked has grown: by a share of what all was before. */
static bool has_grown(const struct diff *d, const struct change *c, const struct change *all)
{
	return !isnan(d->opt->check) && percent(c->after - c->before, all->before) >= d->opt->check;
}

static void fill(struct vt_table *t, const struct diff *d, const struct order *order,
		 const struct change *all, const double *threshold,
		 struct vt_profdiff_result *result)
{
	size_t i, e;

	if (d->nshown && all[0].p <= d->opt->rate && has_grown(d, &all[0], &all[0]))
		result->grown++;
	for (i = 0; i < vt_runs_rows(d->runs); i++) {
		double share =
			d->nshown ? percent(order[i].change, all[0].before + all[0].after) : 0;
		struct change first = {0};
		bool shown;

		if (d->nshown)
			first = gather(d, order[i].row, 0);
		if (d->nshown && first.p <= threshold[0]) {
			result->significant++;
			result->grown += has_grown(d, &first, &all[0]);
		}
		shown = (!d->opt->list.top || i - result->left_out < d->opt->list.top) &&
			share >= d->opt->list.min_percent;
		result->left_out += !shown;
		if (!shown)
			continue;
		vt_table_row(t, VT_STYLE_PLAIN);
		for (e = 0; e < d->nshown; e++) {
			struct change c = gather(d, order[i].row, e);

			event_cells(t, d, &c, &all[e], c.p <= threshold[e]);
		}
		if (has_cpi(d))
			cpi_cells(t, d, order[i].row);
		name_cells(t, d, &order[i]);
	}
}

static bool list(struct vt_table *t, const struct diff *d, struct vt_profdiff_result *result)
{
	struct change *all = calloc(d->nshown + 1, sizeof(*all));
	double *threshold = calloc(d->nshown + 1, sizeof(*threshold));
	struct order *order = put_in_order(d);
	bool ok = all && threshold && order;
	size_t e;

	for (e = 0; e < d->nshown && ok; e++) {
		all[e] = gather(d, SIZE_MAX, e);
		ok = find_threshold(d, e, &threshold[e]);
	}
	if (ok) {
		columns(t, d);
		fill(t, d, order, all, threshold, result);
	}
	free(order);
	free(threshold);
	free(all);
	return ok;
}

int vt_proflist_diff(struct vt_table *t, const struct vt_profdiff_set sets[2],
		     const struct vt_profdiff_options *opt, struct vt_profdiff_result *result,
		     struct vt_error *err)
{
	struct diff d = {.sets = sets,
			 .opt = opt,
			 .nruns = sets[0].count + sets[1].count,
			 .many = sets[0].count > 1 || sets[1].count > 1};
	bool ok;

	*result = (struct vt_profdiff_result){0};
	ok = match_events(&d) && add_runs(&d, err) && list(t, &d, result);
	vt_runs_free(d.runs);
	free(d.label);
	free(d.event);
	return ok ? 0 : vt_error_nomem(err);
}
