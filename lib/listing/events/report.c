/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "listing/events/internal.h"
#include "listing/json.h"

/* Without --what people see these, of what happened. */
#define SHOWN                                                                                      \
	(VT_PM_EVENT(RETIRED) | VT_PM_EVENT(ABORTED) | VT_PM_EVENT(ICACHE_MISS) |                  \
	 VT_PM_EVENT(DCACHE_MISS) | VT_PM_EVENT(L2_MISS) | VT_PM_EVENT(L3_MISS) |                  \
	 VT_PM_EVENT(DTLB_MISS) | VT_PM_EVENT(MISPREDICTED))

#define LATENCY(field) (VT_PM_NEVENTS + VT_SAMPLE_##field - VT_SAMPLE_LAT_FETCH)

unsigned vt_evstat_named(const char *name, size_t size)
{
	unsigned i;

	for (i = 0; i < VT_EV_STATS; i++) {
		const char *own = vt_stat_name(vt_evstat_what(i));

		if (strlen(own) == size && memcmp(own, name, size) == 0)
			return i;
	}
	return VT_EV_STATS;
}

/* The totals in a list of names, in its order. */
static int parse_what(const char *what, unsigned *stats, unsigned *n, struct vt_error *err)
{
	uint64_t seen = 0;

	for (*n = 0;; what++) {
		size_t size = strcspn(what, ",");
		unsigned stat = vt_evstat_named(what, size);

		if (stat == VT_EV_STATS)
			return vt_error_set(err, VT_E_USAGE,
					    "--what: '%.*s' is no event and no latency: see "
					    "vevent(1)",
					    (int)size, what);
		if (!(seen >> stat & 1))
			stats[(*n)++] = stat;
		seen |= UINT64_C(1) << stat;
		what += size;
		if (!*what)
			return 0;
	}
}

/* What a table has columns of. */
struct layout {
	const struct vti_evrows *rows;
	unsigned stats[VT_EV_STATS];
	unsigned n;
	uint64_t shown; /* to people */
	unsigned first; /* that the rows are sorted by; VT_EV_STATS: samples */
	bool more;	/* people see quantiles, too */
};

static bool happened(const struct vti_evrows *r, unsigned stat)
{
	size_t i;

	for (i = 0; i < r->nevents; i++)
		if (r->sums[i].total[stat].had > 0)
			return true;
	return false;
}

static int choose_stats(struct layout *l, struct vt_error *err)
{
	const char *what = l->rows->report->what;
	uint64_t shown = SHOWN | UINT64_C(1) << LATENCY(LAT_LOAD);
	unsigned i;

	l->first = VT_EV_STATS;
	if (what) {
		if (parse_what(what, l->stats, &l->n, err) < 0)
			return -VT_E_USAGE;
		l->shown = UINT64_MAX;
		l->first = l->stats[0];
		l->more = true;
		return 0;
	}
	shown |= UINT64_C(1) << (happened(l->rows, LATENCY(LAT_TOTAL)) ? LATENCY(LAT_TOTAL)
								       : LATENCY(LAT_DISPATCH));
	for (i = 0; i < VT_EV_STATS; i++)
		if (happened(l->rows, i))
			l->stats[l->n++] = i;
	l->shown = shown;
	return 0;
}

/* ---- columns ---- */

static void add_column(struct vt_table *t, const char *stat, const char *member,
		       const char *heading, enum vt_format format)
{
	char key[64];

	snprintf(key, sizeof(key), "%s_%s", stat, member);
	vt_table_column_of(t, "totals", stat, member, key, heading, format);
}

static void add_event_columns(struct vt_table *t, const char *name, bool shown)
{
	add_column(t, name, "sum", shown ? name : NULL, VT_FORMAT_NUMBER);
	add_column(t, name, "error", shown ? "±%" : NULL, VT_FORMAT_NUMBER);
	add_column(t, name, "low", NULL, VT_FORMAT_REAL);
	add_column(t, name, "high", NULL, VT_FORMAT_REAL);
	add_column(t, name, "told", NULL, VT_FORMAT_NUMBER);
	add_column(t, name, "samples", NULL, VT_FORMAT_NUMBER);
	add_column(t, name, "rate", NULL, VT_FORMAT_REAL);
}

static void add_latency_columns(struct vt_table *t, const char *name, bool shown, bool more)
{
	add_column(t, name, "mean", shown ? name : NULL, VT_FORMAT_REAL);
	add_column(t, name, "low", shown ? "from" : NULL, VT_FORMAT_REAL);
	add_column(t, name, "high", shown ? "to" : NULL, VT_FORMAT_REAL);
	add_column(t, name, "median", shown && more ? "median" : NULL, VT_FORMAT_REAL);
	add_column(t, name, "p95", shown && more ? "95%" : NULL, VT_FORMAT_REAL);
	add_column(t, name, "samples", NULL, VT_FORMAT_NUMBER);
	add_column(t, name, "at_least", NULL, VT_FORMAT_NUMBER);
	add_column(t, name, "sum", NULL, VT_FORMAT_REAL);
}

static void add_name_columns(struct vt_table *t, const struct vti_evrows *r)
{
	bool instruction = r->ranking && r->report->level == VT_LEVEL_INSTRUCTION;

	vt_table_column(t, "event", r->nevents > 1 ? "event" : NULL, VT_FORMAT_TEXT);
	if (!r->ranking) {
		static const char *const words[] = {"", "source", "page", "addr"};
		const char *word = words[r->report->by];

		vt_table_column(t, word, word, VT_FORMAT_TEXT);
		return;
	}
	vt_table_column(t, "address", instruction ? "address" : NULL, VT_FORMAT_HEX);
	vt_table_column(t, "place",
			r->report->level == VT_LEVEL_IMAGE  ? NULL
			: r->report->level == VT_LEVEL_LINE ? "line"
							    : "procedure",
			VT_FORMAT_NAME);
	vt_table_column(t, "image", "image", VT_FORMAT_PATH);
}

static void add_columns(struct vt_table *t, const struct layout *l)
{
	unsigned i;

	vt_table_column(t, "samples", "samples", VT_FORMAT_NUMBER);
	vt_table_column(t, "percent", "%", VT_FORMAT_PERCENT);
	for (i = 0; i < l->n; i++) {
		const char *name = vt_stat_name(vt_evstat_what(l->stats[i]));
		bool shown = l->shown >> l->stats[i] & 1;

		if (vt_evstat_is_latency(l->stats[i]))
			add_latency_columns(t, name, shown, l->more);
		else
			add_event_columns(t, name, shown);
	}
	add_name_columns(t, l->rows);
}

/* ---- cells ---- */

static void put_count(struct vt_table *t, double v)
{
	if (v >= 0 && v < 1.8e19)
		vt_table_number(t, (uint64_t)(v + 0.5));
	else
		vt_table_empty(t);
}

static void put_real(struct vt_table *t, double v)
{
	if (isfinite(v))
		vt_table_real(t, v);
	else
		vt_table_empty(t);
}

static void put_empty(struct vt_table *t, unsigned n)
{
	while (n--)
		vt_table_empty(t);
}

static void put_event(struct vt_table *t, const struct vt_evtotal *total,
		      const struct vt_evevent *e)
{
	double low, high;

	if (!(total->samples > 0)) {
		put_empty(t, 7);
		return;
	}
	vt_evtotal_interval(total, e, &low, &high);
	put_count(t, total->sum);
	if (total->sum > 0 && isfinite(high))
		put_count(t, 100 * fmax(high - total->sum, total->sum - low) / total->sum);
	else
		vt_table_empty(t);
	put_real(t, isfinite(high) ? low : NAN);
	put_real(t, high);
	put_count(t, total->samples);
	put_count(t, total->had);
	put_real(t, total->k > 0 ? total->sum / total->k : NAN);
}

static void put_latency(struct vt_table *t, const struct vti_evrows *r, const struct vti_evrow *row,
			unsigned stat)
{
	const struct vt_evtotal *total = &row->total[stat];
	const struct vt_evbins *bins = &row->bins[stat - VT_PM_NEVENTS];
	struct vt_evmean m;

	if (!(total->had > 0)) {
		put_empty(t, 8);
		return;
	}
	m = vt_evtotal_mean(total, &r->sums[row->event].total[stat], &r->events[row->event]);
	put_real(t, m.mean);
	put_real(t, m.low);
	put_real(t, m.high);
	put_real(t, vt_evbins_quantile(bins, 0.5));
	put_real(t, vt_evbins_quantile(bins, 0.95));
	put_count(t, total->had);
	put_count(t, total->least);
	put_real(t, total->sum);
}

static void put_group(struct vt_table *t, const struct vti_evrows *r, const struct vti_evrow *row)
{
	const struct vti_evgroup *g = vt_hash_at(&r->groups, row->name);

	if (g->known == VT_EVGROUP_UNTOLD)
		vt_table_str(t, "[not told]");
	else if (g->known == VT_EVGROUP_MORE)
		vt_table_str(t, "[more]");
	else if (r->report->by == VT_EVBY_SOURCE)
		vt_table_str(t, vt_pm_source_name(g->value));
	else
		vt_table_printf(t, "%" PRIx64, g->value);
}

static void put_place(struct vt_table *t, const struct vti_evrows *r, const struct vti_evrow *row)
{
	const struct vt_rank *k = vt_ranking_at(r->ranking, row->name);
	struct vt_buf label = VT_BUF_INIT;

	if (r->report->level == VT_LEVEL_INSTRUCTION)
		vt_table_number(t, k->address);
	else
		vt_table_empty(t);
	vt_rank_label(k, r->report->level, &label);
	vt_table_text(t, label.data, label.size);
	vt_buf_free(&label);
	vt_table_str(t, k->path);
}

static void put_row(struct vt_table *t, const struct layout *l, const struct vti_evrow *row)
{
	const struct vti_evrows *r = l->rows;
	double all = r->sums[row->event].all.samples;
	unsigned i;

	vt_table_row(t, VT_STYLE_PLAIN);
	put_count(t, row->all.samples);
	put_real(t, all > 0 ? 100 * row->all.samples / all : NAN);
	for (i = 0; i < l->n; i++)
		if (vt_evstat_is_latency(l->stats[i]))
			put_latency(t, r, row, l->stats[i]);
		else
			put_event(t, &row->total[l->stats[i]], &r->events[row->event]);
	vt_table_str(t, r->labels[row->event]);
	if (r->ranking)
		put_place(t, r, row);
	else
		put_group(t, r, row);
}

/* ---- the whole ---- */

static json_t *make_doc(const struct layout *l, const struct vt_table *t, uint64_t left_out)
{
	static const char *const words[] = {NULL, "source", "page", "addr"};
	const struct vt_evreport *p = l->rows->report;
	json_t *doc = vt_json_doc("vevent/1");

	json_object_set_new(doc, "events", vti_evrows_json(l->rows));
	json_object_set_new(
		doc, "by",
		json_string(p->by == VT_EVBY_PLACE ? vt_level_words[p->level] : words[p->by]));
	json_object_set_new(doc, "rows", vt_json_table(t));
	json_object_set_new(doc, "rows_left_out", json_integer((json_int_t)left_out));
	vt_json_losses(doc, p->losses);
	return doc;
}

static int print_rows(struct vti_evrows *r, struct vt_output *out, struct vt_error *err)
{
	const struct vt_evreport *p = r->report;
	struct vt_table *t = vt_table_new();
	struct layout l = {.rows = r};
	uint64_t i, n = r->rows.count;
	int code = t ? choose_stats(&l, err) : vt_error_nomem(err);

	if (code == 0)
		code = vti_evrows_sort(r, l.first, err);
	if (p->top && n > p->top)
		n = p->top;
	if (code == 0)
		add_columns(t, &l);
	for (i = 0; i < n && code == 0; i++)
		put_row(t, &l, r->order[i]);
	if (code == 0 && p->json) {
		vt_json_write(out, make_doc(&l, t, r->rows.count - n), true);
	} else if (code == 0) {
		if (p->form == VT_TABLE_TEXT)
			vti_evrows_header(r, out);
		code = vt_table_print(t, out, p->form, p->color, err);
		if (code == 0 && p->form == VT_TABLE_TEXT)
			vt_table_print_left_out(out, r->rows.count - n);
	}
	vt_table_free(t);
	return code;
}

int vt_evreport_print(const struct vt_evreport *p, struct vt_output *out, struct vt_error *err)
{
	struct vti_evrows r;
	int code = vti_evrows_init(&r, p, err);

	if (code == 0)
		code = p->histogram >= 0 ? vti_evrows_histogram(&r, out, err)
					 : print_rows(&r, out, err);
	vti_evrows_fini(&r);
	return code;
}
