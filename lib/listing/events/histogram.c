/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "listing/events/internal.h"
#include "listing/json.h"

/* Without a number of rows: each bin has its own, or each power of two. */
#define MOST_ROWS 24

/* The longest bar. */
#define BAR 40

/* A row: the numbers from `low` to `high`. */
struct step {
	double low;
	double high;
	double amount;
};

struct steps {
	struct step *list;
	size_t n;
	double total;
	double most;
};

static bool add_step(struct steps *s, size_t *cap, double low, double high)
{
	if (!vt_array_grow(&s->list, cap, s->n + 1, sizeof(*s->list)))
		return false;
	s->list[s->n++] = (struct step){low, high, 0};
	return true;
}

/* The first and last bin that is not empty; false: there is none. */
static bool find_range(const struct vt_evbins *b, uint32_t *first, uint32_t *last, size_t *used)
{
	uint32_t i;

	*used = 0;
	for (i = 0; i < b->n; i++) {
		if (!(b->count[i] > 0))
			continue;
		if (!(*used)++)
			*first = i;
		*last = i;
	}
	return *used > 0;
}

static bool make_steps(const struct vt_evbins *b, uint64_t rows, struct steps *s)
{
	uint32_t first = 0, last = 0, i;
	size_t used, cap = 0;
	double low, high, width;
	uint64_t row;
	int power;

	if (!find_range(b, &first, &last, &used))
		return true;
	low = (double)vt_evbins_low(first);
	high = (double)vt_evbins_low(last) + (double)(vt_evbins_width(last) - 1);
	if (!rows && used <= MOST_ROWS) {
		for (i = first; i <= last; i++)
			if (b->count[i] > 0 &&
			    !add_step(s, &cap, (double)vt_evbins_low(i),
				      (double)vt_evbins_low(i) + (double)(vt_evbins_width(i) - 1)))
				return false;
		return true;
	}
	if (!rows) {
		/* Powers of two, from that of the least. */
		for (power = low < 1 ? -1 : (int)floor(log2(low)); power < 0 || exp2(power) <= high;
		     power++)
			if (!add_step(s, &cap, power < 0 ? 0 : exp2(power),
				      power < 0 ? 0 : exp2(power + 1) - 1))
				return false;
		return true;
	}
	width = ceil((high - low + 1) / (double)rows);
	for (row = 0; row < rows && low + (double)row * width <= high; row++)
		if (!add_step(s, &cap, low + (double)row * width,
			      low + (double)(row + 1) * width - 1))
			return false;
	return true;
}

static void fill_steps(const struct vt_evbins *b, struct steps *s)
{
	size_t k = 0;
	uint32_t i;

	for (i = 0; i < b->n && s->n; i++) {
		double middle = (double)vt_evbins_low(i) + (double)(vt_evbins_width(i) - 1) / 2;

		if (!(b->count[i] > 0))
			continue;
		while (k + 1 < s->n && s->list[k].high < floor(middle))
			k++;
		s->list[k].amount += b->count[i];
		s->total += b->count[i];
	}
	for (k = 0; k < s->n; k++)
		s->most = fmax(s->most, s->list[k].amount);
}

static struct vt_table *make_table(void)
{
	struct vt_table *t = vt_table_new();

	if (!t)
		return NULL;
	vt_table_column(t, "event", NULL, VT_FORMAT_TEXT);
	vt_table_column(t, "low", "from", VT_FORMAT_NUMBER);
	vt_table_column(t, "high", "to", VT_FORMAT_NUMBER);
	vt_table_column(t, "sum", "instructions", VT_FORMAT_NUMBER);
	vt_table_column(t, "percent", "%", VT_FORMAT_PERCENT);
	vt_table_column(t, NULL, "", VT_FORMAT_TEXT);
	return t;
}

static void fill_table(struct vt_table *t, const char *event, const struct steps *s)
{
	static const char bar[] = "########################################";
	size_t i;

	for (i = 0; i < s->n; i++) {
		const struct step *p = &s->list[i];

		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_str(t, event);
		vt_table_number(t, (uint64_t)p->low);
		vt_table_number(t,
				p->high >= 18446744073709551615.0 ? UINT64_MAX : (uint64_t)p->high);
		vt_table_number(t, p->amount < 1e18 ? (uint64_t)(p->amount + 0.5) : UINT64_MAX);
		vt_table_real(t, s->total > 0 ? 100 * p->amount / s->total : 0);
		vt_table_text(t, bar, s->most > 0 ? (size_t)(BAR * p->amount / s->most + 0.5) : 0);
	}
}

/* "profileme, lat_load: mean 4.2 (4.1 to 4.3), median 3, 95 % at or below 12, 6227 samples" */
static void print_summary(const struct vti_evrows *r, size_t event, struct vt_output *out)
{
	unsigned stat = (unsigned)r->report->histogram;
	const struct vti_evrow *sum = &r->sums[event];
	const struct vt_evtotal *t = &sum->total[stat];
	const struct vt_evbins *bins = &sum->bins[stat - VT_PM_NEVENTS];
	struct vt_evmean m = vt_evtotal_mean(t, t, &r->events[event]);
	struct vt_buf b = VT_BUF_INIT;

	vt_escape_str(&b, r->labels[event]);
	vt_buf_printf(&b, ", %s: mean %.6g", vt_stat_name(vt_evstat_what(stat)), m.mean);
	if (!isnan(m.low))
		vt_buf_printf(&b, " (%.6g to %.6g)", m.low, m.high);
	vt_buf_printf(&b, ", median %g, 95%% are at most %g, %.0f sample%s",
		      vt_evbins_quantile(bins, 0.5), vt_evbins_quantile(bins, 0.95), t->had,
		      t->had == 1 ? "" : "s");
	if (t->least > 0)
		vt_buf_printf(&b, "; the counter had stopped in %.0f: at least", t->least);
	vt_output_printf(out, "%s\n", vt_buf_str(&b));
	vt_buf_free(&b);
}

static json_t *make_json(const struct vti_evrows *r, size_t event, struct vt_table *t)
{
	unsigned stat = (unsigned)r->report->histogram;
	const struct vti_evrow *sum = &r->sums[event];
	const struct vt_evbins *bins = &sum->bins[stat - VT_PM_NEVENTS];
	struct vt_evmean m =
		vt_evtotal_mean(&sum->total[stat], &sum->total[stat], &r->events[event]);
	json_t *v = json_object();

	json_object_set_new(v, "event", vt_json_text(r->labels[event], strlen(r->labels[event])));
	json_object_set_new(v, "samples", vt_json_real(sum->total[stat].had));
	json_object_set_new(v, "at_least", vt_json_real(sum->total[stat].least));
	json_object_set_new(v, "mean", vt_json_real(m.mean));
	json_object_set_new(v, "low", vt_json_real(m.low));
	json_object_set_new(v, "high", vt_json_real(m.high));
	json_object_set_new(v, "median", vt_json_real(vt_evbins_quantile(bins, 0.5)));
	json_object_set_new(v, "p95", vt_json_real(vt_evbins_quantile(bins, 0.95)));
	json_object_set_new(v, "rows", vt_json_table(t));
	return v;
}

static int print_histogram(const struct vti_evrows *r, size_t event, json_t *list,
			   struct vt_table *all, struct vt_output *out, struct vt_error *err)
{
	const struct vt_evbins *bins = &r->sums[event].bins[r->report->histogram - VT_PM_NEVENTS];
	struct steps s = {0};
	struct vt_table *t = all ? all : make_table();
	int code = t && make_steps(bins, r->report->bins, &s) ? 0 : vt_error_nomem(err);

	if (code == 0) {
		fill_steps(bins, &s);
		fill_table(t, r->labels[event], &s);
	}
	if (code == 0 && list) {
		json_array_append_new(list, make_json(r, event, t));
	} else if (code == 0 && !all) {
		print_summary(r, event, out);
		code = vt_table_print(t, out, VT_TABLE_TEXT, r->report->color, err);
	}
	free(s.list);
	if (!all)
		vt_table_free(t);
	return code;
}

int vti_evrows_histogram(const struct vti_evrows *r, struct vt_output *out, struct vt_error *err)
{
	const struct vt_evreport *p = r->report;
	struct vt_table *all = p->json || p->form == VT_TABLE_TEXT ? NULL : make_table();
	json_t *list = p->json ? json_array() : NULL, *doc;
	bool first = true;
	size_t i;
	int code = 0;

	for (i = 0; i < r->nevents && !(r->sums[i].total[p->histogram].had > 0);)
		i++;
	if (i == r->nevents)
		code = vt_error_set(err, VT_E_ABSENT, "no sample tells %s",
				    vt_stat_name(vt_evstat_what((unsigned)p->histogram)));
	if (code == 0 && !p->json && p->form == VT_TABLE_TEXT)
		vti_evrows_header(r, out);
	for (i = 0; i < r->nevents && code == 0; i++) {
		if (!(r->sums[i].total[p->histogram].had > 0))
			continue;
		if (!first && !p->json && !all)
			vt_output_text(out, "\n");
		first = false;
		code = print_histogram(r, i, list, all, out, err);
	}
	if (code == 0 && all)
		code = vt_table_print(all, out, p->form, false, err);
	if (code == 0 && p->json) {
		doc = vt_json_doc("vevent-histogram/1");
		json_object_set_new(doc, "events", vti_evrows_json(r));
		json_object_set_new(
			doc, "of",
			json_string(vt_stat_name(vt_evstat_what((unsigned)p->histogram))));
		json_object_set(doc, "histograms", list);
		vt_json_losses(doc, p->losses);
		vt_json_write(out, doc, true);
	}
	json_decref(list);
	vt_table_free(all);
	return code;
}
