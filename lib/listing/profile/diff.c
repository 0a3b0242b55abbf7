/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "listing/profile/profile.h"
#include "profile/runs.h"
#include "profile/significance.h"

struct profile_diff {
	const struct vt_profdiff_set *sets;
	const struct vt_profdiff_options *opt;
	struct vt_runs *runs; /* those before, then those after */
	size_t nruns;
	const char **label; /* of each event that is shown */
	size_t nshown;
	size_t nevents; /* those, and two that cpi follows from: executions, cycles at the head */
	size_t *event;	/* [run * nevents + e]: the index in the run's profile, or SIZE_MAX */
	bool many;	/* means are shown */
	bool shares;	/* both sets have several runs, whose shares are compared */
};

/* One event of one row. */
struct change {
	double before; /* weighed, of a run on the average */
	double after;
	struct vt_tally tally[2]; /* of all runs */
	double p;		  /* NaN: not tested */
};

struct changed_row {
	double change;
	const char *image, *label;
	size_t row;
};

static const struct vt_proflist_side *diff_run(const struct profile_diff *d, size_t run)
{
	size_t before = d->sets[0].count;

	return run < before ? &d->sets[0].runs[run] : &d->sets[1].runs[run - before];
}

/* ---- events ---- */

/*
 * How long an event's name is without modifiers: "cycles" of "cycles:u", "cpu/event=0x3c/" of
 * "cpu/event=0x3c/pp".  perf adds one by itself where a user may not look into the kernel.
 */
static size_t bare_length(const char *name)
{
	size_t n = strlen(name), end = n;

	while (end && strchr("ukhIGHpPSDeWRb", name[end - 1]))
		end--;
	if (end == n || end < 2)
		return n;
	return name[end - 1] == ':' ? end - 1 : name[end - 1] == '/' ? end : n;
}

bool vti_same_event(const char *a, const char *b)
{
	size_t n = bare_length(a);

	return n == bare_length(b) && memcmp(a, b, n) == 0;
}

/* The only event of a run with this name but for modifiers; SIZE_MAX: none or several. */
static size_t find_bare(const struct vt_profile *p, const char *label)
{
	size_t i, found = SIZE_MAX;

	for (i = 0; i < vt_profile_nevents(p); i++) {
		if (!vti_same_event(vt_profile_event(p, i)->name, label))
			continue;
		if (found != SIZE_MAX)
			return SIZE_MAX;
		found = i;
	}
	return found;
}

/* The event of a run with this label, else with this name, else with other modifiers. */
static size_t find_label(const struct vt_proflist_side *run, const char *label)
{
	const struct vt_event_choice *c = run->events;
	size_t i;

	for (i = 0; i < c->count; i++)
		if (strcmp(c->label[i], label) == 0)
			return c->index[i];
	for (i = 0; i < vt_profile_nevents(run->profile); i++)
		if (strcmp(vt_profile_event(run->profile, i)->name, label) == 0)
			return i;
	return find_bare(run->profile, label);
}

/* Whether a run of either set has the event, and no event of that run is shown as another. */
static bool is_common(const struct profile_diff *d, const char *label)
{
	bool has[2] = {false, false};
	size_t run;

	for (run = 0; run < d->nruns; run++)
		if (find_label(diff_run(d, run), label) != SIZE_MAX)
			has[run >= d->sets[0].count] = true;
	return has[0] && has[1];
}

static bool knows_event(const struct profile_diff *d, size_t run, const char *label)
{
	size_t index = find_label(diff_run(d, run), label), i;

	for (i = 0; i < d->nshown; i++)
		if (strcmp(d->label[i], label) == 0 ||
		    find_label(diff_run(d, run), d->label[i]) == index)
			return true;
	return false;
}

/* Lists the events that both sets have: those of the first run, then those of later ones. */
static bool match_run_events(struct profile_diff *d, struct vt_profdiff_result *result)
{
	size_t run, e, max = 2;

	for (run = 0; run < d->nruns; run++)
		max += diff_run(d, run)->events->count;
	d->label = calloc(max, sizeof(*d->label));
	d->event = calloc(d->nruns, max * sizeof(*d->event));
	if (!d->label || !d->event)
		return false;
	for (run = 0; run < d->nruns; run++) {
		const struct vt_event_choice *c = diff_run(d, run)->events;

		for (e = 0; e < c->count; e++) {
			if (knows_event(d, run, c->label[e]))
				continue;
			if (is_common(d, c->label[e]))
				d->label[d->nshown++] = c->label[e];
			else
				vt_buf_printf(&result->alone, "%s%s",
					      result->alone.size ? ", " : "", c->label[e]);
		}
	}
	d->nevents = d->nshown + 2;
	for (run = 0; run < d->nruns; run++) {
		const struct vt_profile *p = diff_run(d, run)->profile;
		size_t *event = d->event + run * d->nevents;

		for (e = 0; e < d->nshown; e++)
			event[e] = find_label(diff_run(d, run), d->label[e]);
		event[e] = vt_profile_estimate_event(p, VT_ESTIMATE_EXECUTIONS);
		event[e + 1] = vt_profile_estimate_event(p, VT_ESTIMATE_CYCLES);
	}
	return true;
}

static bool collect_runs(struct profile_diff *d, struct vt_error *err)
{
	size_t run;

	d->runs = vt_runs_new(d->nevents);
	if (!d->runs)
		return false;
	for (run = 0; run < d->nruns; run++)
		if (vt_runs_add(d->runs, diff_run(d, run)->ranking, d->event + run * d->nevents,
				err) < 0)
			return false;
	return true;
}

static struct vt_tally run_total(const struct profile_diff *d, size_t run, size_t event)
{
	size_t index = d->event[run * d->nevents + event];

	if (index == SIZE_MAX)
		return (struct vt_tally){0};
	return vti_event_total(diff_run(d, run)->profile, index);
}

/* ---- changes ---- */

/* The expected share of the samples in the set before if nothing changed. */
static double exposure_before(const struct profile_diff *d, const struct vt_tally total[2])
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

/* Estimates are no counts: they are not tested. */
static bool is_estimate(const struct profile_diff *d, size_t event)
{
	size_t run;

	for (run = 0; run < d->nruns; run++) {
		size_t index = d->event[run * d->nevents + event];

		if (index != SIZE_MAX)
			return vt_profile_event(diff_run(d, run)->profile, index)->estimate;
	}
	return false;
}

/* The samples of a row in all runs; if `row` is SIZE_MAX, of all rows together. */
struct gathered {
	struct vt_moments weight[2]; /* of each run */
	struct vt_share_set set[2];
	struct vt_tally row[2];
	struct vt_tally total[2];
};

static void gather_diff_run(const struct profile_diff *d, size_t row, size_t event, size_t run,
			    struct gathered *g)
{
	bool by_period = d->opt->list.by_period;
	int side = run >= d->sets[0].count;
	struct vt_tally all = run_total(d, run, event);
	struct vt_tally t = row == SIZE_MAX ? all : vt_runs_tally(d->runs, row, run, event);
	uint64_t whole = vti_weigh(all, by_period);

	vt_moments_add(&g->weight[side], (double)vti_weigh(t, by_period));
	vt_moments_add(&g->set[side].shares,
		       whole ? (double)vti_weigh(t, by_period) / (double)whole : 0);
	g->set[side].count += t.samples;
	g->set[side].total += all.samples;
	g->row[side].samples += t.samples;
	g->total[side].samples += all.samples;
	g->total[side].period += all.period;
}

/* The probability that a difference is due to chance; NaN if it is not tested. */
static double test_change(const struct profile_diff *d, size_t row, size_t event,
			  const struct gathered *g)
{
	double by_count;

	if (is_estimate(d, event) || (row != SIZE_MAX && vt_runs_unknown(d->runs, row)))
		return NAN;
	if (d->shares && row != SIZE_MAX)
		return vt_share_test(&g->set[0], &g->set[1]);
	by_count =
		vt_count_test(g->row[0].samples, g->row[1].samples, exposure_before(d, g->total));
	return d->shares ? fmax(by_count, vt_mean_test(&g->weight[0], &g->weight[1])) : by_count;
}

static struct change gather_change(const struct profile_diff *d, size_t row, size_t event)
{
	struct gathered g = {.weight = {{0}}};
	size_t run;

	for (run = 0; run < d->nruns; run++)
		gather_diff_run(d, row, event, run, &g);
	return (struct change){g.weight[0].mean,
			       g.weight[1].mean,
			       {g.row[0], g.row[1]},
			       test_change(d, row, event, &g)};
}

/*
 * Finds the greatest significant probability among the changes of an event's rows.  The total is a
 * question of its own, that was there before the data: it is not one of the rows that are searched.
 */
static bool find_change_threshold(const struct profile_diff *d, size_t event, double *threshold)
{
	size_t rows = vt_runs_rows(d->runs), i, count = 0;
	double *p = calloc(rows + 1, sizeof(*p));

	if (!p)
		return false;
	for (i = 0; i < rows; i++) {
		p[count] = gather_change(d, i, event).p;
		count += !isnan(p[count]);
	}
	*threshold = vt_discovery_threshold(p, count, d->opt->rate);
	free(p);
	return true;
}

static double share_percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* ---- order and rows ---- */

static int compare_changes(const void *pa, const void *pb)
{
	const struct changed_row *a = pa;
	const struct changed_row *b = pb;
	int c;

	if (a->change != b->change)
		return a->change > b->change ? -1 : 1;
	c = strcmp(a->image, b->image);
	return c ? c : strcmp(a->label, b->label);
}

static struct changed_row *order_changes(const struct profile_diff *d)
{
	size_t rows = vt_runs_rows(d->runs), i;
	struct changed_row *order = calloc(rows + 1, sizeof(*order));
	struct change c;

	for (i = 0; order && i < rows; i++) {
		order[i].row = i;
		order[i].image = vt_runs_image(d->runs, i);
		order[i].label = vt_runs_label(d->runs, i);
		c = gather_change(d, i, 0);
		order[i].change = fabs(c.after - c.before);
	}
	if (order)
		qsort(order, rows, sizeof(*order), compare_changes);
	return order;
}

static bool diff_has_cpi(const struct profile_diff *d)
{
	return is_estimate(d, d->nshown) && is_estimate(d, d->nshown + 1);
}

static void cpi_cells(struct vt_table *t, const struct profile_diff *d, size_t row)
{
	struct change executions = gather_change(d, row, d->nshown);
	struct change cycles = gather_change(d, row, d->nshown + 1);

	vti_cpi_cell(t, cycles.tally[0], executions.tally[0]);
	vti_cpi_cell(t, cycles.tally[1], executions.tally[1]);
}

static void add_diff_columns(struct vt_table *t, const struct profile_diff *d)
{
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
	if (diff_has_cpi(d)) {
		vt_table_column(t, "cpi.before", "cpi before", VT_FORMAT_REAL);
		vt_table_column(t, "cpi.after", "after", VT_FORMAT_REAL);
	}
	vti_name_columns(t, vt_ranking_level(diff_run(d, 0)->ranking));
}

void vti_put_chance(struct vt_buf *out, double p)
{
	if (p >= 0.1)
		vt_buf_printf(out, "%.0f%%", 100 * p);
	else if (p >= 0.0001)
		vt_buf_printf(out, "%.2f%%", 100 * p);
	else
		vt_buf_printf(out, "<0.01%%");
}

/* "12%", "0.3% *": the star stands for what is significant. */
static void chance_cell(struct vt_table *t, double p, bool significant)
{
	struct vt_buf text = VT_BUF_INIT;

	if (isnan(p)) {
		vt_table_empty(t);
		return;
	}
	vti_put_chance(&text, p);
	vt_table_printf(t, "%s%s", vt_buf_str(&text), significant ? " *" : "  ");
	vt_buf_free(&text);
}

static void change_cells(struct vt_table *t, const struct profile_diff *d, const struct change *c,
			 const struct change *all, bool significant)
{
	double was = share_percent(c->before, all->before);
	double is = share_percent(c->after, all->after);

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

/* ---- the check ---- */

static struct vt_profdiff_moved *moved_side(struct vt_profdiff_result *result, double by)
{
	return by > 0 ? &result->grown : &result->shrunk;
}

void vti_put_change(struct vt_buf *out, double by)
{
	vt_buf_printf(out, fabs(by) < 100 ? "%+.3g%%" : "%+.0f%%", by);
}

static void name_change(struct vt_profdiff_moved *m, const char *label, const char *image,
			double by)
{
	if (m->count++ >= VT_PROFDIFF_NAMED)
		return;
	/* A whole image is called by its name alone, and so is the total. */
	vt_buf_printf(&m->names, "%s%s%s%s (", m->names.size ? ", " : "", label,
		      *label && *image ? " in " : "", image);
	vti_put_change(&m->names, by);
	vt_buf_printf(&m->names, ")");
}

/* Whether a change is significant, and as great as was asked for: a share of all before. */
static bool is_checked(const struct profile_diff *d, const struct change *c, double by,
		       double threshold)
{
	return !isnan(d->opt->check) && c->p <= threshold &&
	       (by >= d->opt->check || by <= -d->opt->check);
}

static void check_row(const struct profile_diff *d, size_t row, const struct change *c,
		      const struct change *all, double threshold, struct vt_profdiff_result *result)
{
	double by = share_percent(c->after - c->before, all->before);

	if (is_checked(d, c, by, threshold))
		name_change(moved_side(result, by), vt_runs_label(d->runs, row),
			    vt_runs_image(d->runs, row), by);
}

/* Names a change of the total, and the row with the greatest change in the same direction. */
static void check_total(const struct profile_diff *d, const struct changed_row *order,
			const struct change *all, struct vt_profdiff_result *result)
{
	double by = share_percent(all->after - all->before, all->before);
	struct vt_profdiff_moved *m = moved_side(result, by);
	struct change c;

	if (!is_checked(d, all, by, d->opt->rate))
		return;
	name_change(m, "the total", "", by);
	result->total_grown = by > 0;
	if (m->count > VT_PROFDIFF_NAMED || !vt_runs_rows(d->runs))
		return;
	c = gather_change(d, order->row, 0);
	if ((c.after - c.before) * by <= 0)
		return;
	vt_buf_printf(&m->names, ", of that ");
	vti_put_change(&m->names, share_percent(c.after - c.before, all->before));
	vt_buf_printf(&m->names, " in %s", *order->label ? order->label : order->image);
}

/*
 * With what procedures called, a sample is in several rows.  Below unknown callers, rows have names
 * of their own: only the samples' own places count.  Of an image whose rows cannot match, all that
 * was called from it is unknown: at least what its greatest row has.
 */
static uint64_t count_unknown_children(const struct profile_diff *d, size_t run)
{
	bool by_period = d->opt->list.by_period;
	uint64_t n, most = vti_weigh(vt_ranking_unknown(diff_run(d, run)->ranking,
							d->event[run * d->nevents]),
				     by_period);
	size_t row;

	for (row = 0; row < vt_runs_rows(d->runs); row++) {
		if (!vt_runs_half_stripped(d->runs, row))
			continue;
		n = vti_weigh(vt_runs_tally(d->runs, row, run, 0), by_period);
		most = n > most ? n : most;
	}
	return most;
}

/* The samples of a run's first event in unknown rows. */
static uint64_t count_unknown(const struct profile_diff *d, size_t run)
{
	uint64_t sum = 0;
	size_t row;

	for (row = 0; row < vt_runs_rows(d->runs); row++)
		if (vt_runs_unknown(d->runs, row))
			sum += vti_weigh(vt_runs_tally(d->runs, row, run, 0),
					 d->opt->list.by_period);
	return sum;
}

/* Finds the greatest share of a run's first event in unknown rows. */
static void find_unknown(const struct profile_diff *d, struct vt_profdiff_result *result)
{
	size_t run;

	for (run = 0; run < d->nruns; run++) {
		uint64_t n =
			d->opt->children ? count_unknown_children(d, run) : count_unknown(d, run);
		double share = share_percent(
			(double)n, (double)vti_weigh(run_total(d, run, 0), d->opt->list.by_period));

		if (share > result->unknown) {
			result->unknown = share;
			result->unknown_run = run;
			result->unknown_event = d->event[run * d->nevents];
		}
	}
}

/* Names the images whose rows cannot match since some runs lack their symbols. */
static void find_stripped(const struct profile_diff *d, struct vt_profdiff_result *result)
{
	size_t i, run;

	for (i = 0; i < vt_runs_images(d->runs); i++) {
		const char *name = vt_runs_misnamed(d->runs, i, &run);

		if (name)
			vt_buf_printf(&result->stripped, "%s%s (%s)",
				      result->stripped.size ? ", " : "", name,
				      run < d->sets[0].count ? "before" : "after");
	}
}

static void fill_diff_rows(struct vt_table *t, const struct profile_diff *d,
			   const struct changed_row *order, const struct change *all,
			   const double *threshold, struct vt_profdiff_result *result)
{
	size_t i, e;

	for (i = 0; i < vt_runs_rows(d->runs); i++) {
		struct change first = gather_change(d, order[i].row, 0);
		double share = share_percent(order[i].change, all[0].before + all[0].after);
		bool shown = (!d->opt->list.top || i < d->opt->list.top) &&
			     share >= d->opt->list.min_percent;

		result->significant += first.p <= threshold[0];
		check_row(d, order[i].row, &first, &all[0], threshold[0], result);
		result->left_out += !shown;
		if (!shown)
			continue;
		vt_table_row(t, VT_STYLE_PLAIN);
		for (e = 0; e < d->nshown; e++) {
			struct change c = gather_change(d, order[i].row, e);

			change_cells(t, d, &c, &all[e], c.p <= threshold[e]);
		}
		if (diff_has_cpi(d))
			cpi_cells(t, d, order[i].row);
		vti_name_cells(t, vt_ranking_level(diff_run(d, 0)->ranking), d->runs, order[i].row);
	}
	check_total(d, order, &all[0], result);
	find_unknown(d, result);
	find_stripped(d, result);
}

/* The least change of an event's total that would be significant; NaN: not told by the runs. */
static double find_least_change(const struct profile_diff *d, size_t event)
{
	struct gathered g = {.weight = {{0}}};
	size_t run;

	if (!d->shares || is_estimate(d, event))
		return NAN;
	for (run = 0; run < d->nruns; run++)
		gather_diff_run(d, SIZE_MAX, event, run, &g);
	return share_percent(vt_mean_least(&g.weight[0], &g.weight[1], d->opt->rate),
			     g.weight[0].mean);
}

/* The totals of the events: all[e]. */
static bool fill_totals(const struct profile_diff *d, const struct change *all,
			struct vt_profdiff_result *result)
{
	double n[2] = {(double)d->sets[0].count, (double)d->sets[1].count};
	size_t e;

	result->total = calloc(d->nshown, sizeof(*result->total));
	if (!result->total)
		return false;
	result->ntotals = d->nshown;
	for (e = 0; e < d->nshown; e++)
		result->total[e] = (struct vt_profdiff_total){
			.label = d->label[e],
			.before = (double)all[e].tally[0].samples / n[0],
			.after = (double)all[e].tally[1].samples / n[1],
			.by = all[e].before > 0
				      ? share_percent(all[e].after - all[e].before, all[e].before)
				      : NAN,
			.p = all[e].p,
			.significant = all[e].p <= d->opt->rate,
			.least = find_least_change(d, e),
		};
	return true;
}

static bool list_changes(struct vt_table *t, const struct profile_diff *d,
			 struct vt_profdiff_result *result)
{
	struct change *all = calloc(d->nshown + 1, sizeof(*all));
	double *threshold = calloc(d->nshown + 1, sizeof(*threshold));
	struct changed_row *order = order_changes(d);
	bool ok = all && threshold && order;
	size_t e;

	for (e = 0; e < d->nshown && ok; e++) {
		all[e] = gather_change(d, SIZE_MAX, e);
		ok = find_change_threshold(d, e, &threshold[e]);
	}
	ok = ok && fill_totals(d, all, result);
	if (ok) {
		add_diff_columns(t, d);
		fill_diff_rows(t, d, order, all, threshold, result);
	}
	free(order);
	free(threshold);
	free(all);
	return ok;
}

/* Reports that the sets have no event in common, with the events that they have. */
static int no_common_event(const struct vt_profdiff_result *result, struct vt_error *err)
{
	struct vt_buf names = VT_BUF_INIT;

	vt_buf_put(&names, result->alone.data, result->alone.size);
	vt_error_set(err, VT_E_FORMAT, "nothing to compare: %s%s",
		     names.size ? "no event is both before and after: " : "there are no samples",
		     vt_buf_str(&names));
	vt_buf_free(&names);
	return -VT_E_FORMAT;
}

int vt_proflist_diff(struct vt_table *t, const struct vt_profdiff_set sets[2],
		     const struct vt_profdiff_options *opt, struct vt_profdiff_result *result,
		     struct vt_error *err)
{
	struct profile_diff d = {.sets = sets,
				 .opt = opt,
				 .nruns = sets[0].count + sets[1].count,
				 .many = sets[0].count > 1 || sets[1].count > 1,
				 .shares = sets[0].count > 1 && sets[1].count > 1};
	int code = 0;

	*result = (struct vt_profdiff_result){.left_out = 0};
	if (!match_run_events(&d, result))
		code = vt_error_nomem(err);
	else if (!d.nshown)
		code = no_common_event(result, err);
	else if (!collect_runs(&d, err) || !list_changes(t, &d, result))
		code = vt_error_nomem(err);
	vt_runs_free(d.runs);
	free(d.label);
	free(d.event);
	return code;
}

void vt_profdiff_result_fini(struct vt_profdiff_result *r)
{
	vt_buf_free(&r->grown.names);
	vt_buf_free(&r->shrunk.names);
	vt_buf_free(&r->alone);
	vt_buf_free(&r->stripped);
	free(r->total);
	r->total = NULL;
}
