/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/profile/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "listing/json.h"
#include "listing/profile/json.h"

int vt_profreport_fill(struct vt_profreport *r, struct vt_error *err)
{
	const struct vt_profdiff_set sets[2] = {{r->runs, r->before},
						{r->runs + r->before, r->count - r->before}};

	r->table = vt_table_new();
	if (!r->table)
		return vt_error_nomem(err);
	if (r->before)
		return vt_proflist_diff(r->table, sets, &r->how, &r->result, err);
	r->result.left_out = vt_proflist_fill(r->table, &r->runs[0], &r->how.list);
	return 0;
}

void vt_profreport_fini(struct vt_profreport *r)
{
	vt_table_free(r->table);
	vt_profdiff_result_fini(&r->result);
}

/* An object for each run of a set. */
static json_t *make_set(const struct vt_profreport *r, size_t first, size_t end)
{
	json_t *runs = json_array();
	size_t i;

	for (i = first; i < end; i++) {
		json_t *run = json_object();

		vt_json_profile(run, r->runs[i].profile, r->runs[i].events, r->runs[i].ranking);
		json_array_append_new(runs, run);
	}
	return runs;
}

/* "image", "comm,thread", "comm,procedure" */
static json_t *make_by(const struct vt_proflist_side *run)
{
	const struct vt_groups *g = vt_profile_groups(run->profile);
	enum vt_level level = vt_ranking_level(run->ranking);
	struct vt_buf b = VT_BUF_INIT;
	json_t *by;
	size_t i;

	for (i = 0; g && i < vt_groups_nkeys(g); i++)
		vt_buf_printf(&b, "%s%s", i ? "," : "", vt_group_words[vt_groups_key(g, i)]);
	if (level != VT_LEVEL_ALL)
		vt_buf_printf(&b, "%s%s", b.size ? "," : "", vt_level_words[level]);
	by = json_string(vt_buf_str(&b));
	vt_buf_free(&b);
	return by;
}

/* A member that is null if it is not known. */
static void set_real(json_t *object, const char *key, double v)
{
	json_object_set_new(object, key, isnan(v) ? json_null() : json_real(v));
}

/* The totals, one object for each event. */
static json_t *make_totals(const struct vt_profdiff_result *r)
{
	json_t *events = json_array();
	size_t i;

	for (i = 0; i < r->ntotals; i++) {
		const struct vt_profdiff_total *t = &r->total[i];
		json_t *v = json_object();

		json_object_set_new(v, "name", vt_json_text(t->label, strlen(t->label)));
		set_real(v, "before", t->before);
		set_real(v, "after", t->after);
		set_real(v, "delta", t->after - t->before);
		set_real(v, "percent", t->by);
		set_real(v, "p", t->p);
		json_object_set_new(v, "significant", json_integer(t->significant));
		set_real(v, "least_percent", t->least);
		json_array_append_new(events, v);
	}
	return json_pack("{s:o}", "events", events);
}

json_t *vt_profreport_json(const struct vt_profreport *r)
{
	const struct vt_proflist_side *run = &r->runs[0];
	json_t *doc = vt_json_doc(r->before ? "vprof-diff/1" : "vprof/1");

	if (!r->before) {
		vt_json_profile(doc, run->profile, run->events, run->ranking);
	} else {
		json_object_set_new(doc, "before", make_set(r, 0, r->before));
		json_object_set_new(doc, "after", make_set(r, r->before, r->count));
		json_object_set_new(doc, "total", make_totals(&r->result));
		json_object_set_new(doc, "children", json_boolean(r->how.children));
		json_object_set_new(doc, "significant",
				    json_integer((json_int_t)r->result.significant));
		if (!isnan(r->how.check))
			json_object_set_new(doc, "grown", vt_json_u64(r->result.grown.count));
	}
	json_object_set_new(doc, "by", make_by(run));
	json_object_set_new(doc, "rows", vt_json_table(r->table));
	json_object_set_new(doc, "rows_left_out", json_integer((json_int_t)r->result.left_out));
	return doc;
}

static uint64_t first_samples(const struct vt_proflist_side *side)
{
	return vt_profile_event(side->profile, side->events->index[0])->samples;
}

/* By more than the least digits: the samples are worth less than 95 % of as many equal ones. */
static bool has_unequal_periods(const struct vt_proflist_side *side)
{
	size_t i;

	for (i = 0; i < side->events->count; i++) {
		const struct vt_profile_event *e =
			vt_profile_event(side->profile, side->events->index[i]);
		double period = (double)e->period;

		if (period * period < 0.95 * (double)e->samples * e->squares)
			return true;
	}
	return false;
}

static void print_headers(const struct vt_profreport *r, struct vt_output *out)
{
	struct vt_share first = {.known = false};
	bool unequal = false;
	size_t i;

	for (i = 0; i < r->count; i++) {
		if (r->before)
			vt_output_text(out, i < r->before ? "Before:\n" : "After:\n");
		vt_proflist_header(r->runs[i].profile, r->runs[i].ranking, r->runs[i].events, out);
		unequal = unequal || has_unequal_periods(&r->runs[i]);
	}
	if (!r->before)
		first = vt_proflist_first(&r->runs[0], r->how.list.by_period);
	if (first.known)
		vt_proflist_enough(&first, first_samples(&r->runs[0]), out);
	vt_proflist_legend(&(struct vt_proflist_legend){r->how.list.by_period, r->before > 0,
							r->how.children, first.known, unequal},
			   out);
}

/* "Total of cycles: 100 before, 250 after (+150%), chance 0.30% *" */
static void print_total(const struct vt_profdiff_total *t, const struct vt_profreport *r,
			struct vt_output *out)
{
	struct vt_buf line = VT_BUF_INIT;

	vt_buf_printf(&line, "Total of ");
	vt_escape_str(&line, t->label);
	vt_buf_printf(&line,
		      r->count > 2 ? ": %.1f before, %.1f after" : ": %.0f before, %.0f after",
		      t->before, t->after);
	if (!isnan(t->by)) {
		vt_buf_printf(&line, " (");
		vti_put_change(&line, t->by);
		vt_buf_printf(&line, r->how.list.by_period ? " by period)" : ")");
	}
	if (!isnan(t->p)) {
		vt_buf_printf(&line, ", chance ");
		vti_put_chance(&line, t->p);
		vt_buf_printf(&line, t->significant ? " *" : ", not significant");
	}
	if (!isnan(t->least))
		vt_buf_printf(&line,
			      "; with runs that vary so much, no change below %.3g%% would be",
			      t->least);
	vt_output_printf(out, "%s\n", vt_buf_str(&line));
	vt_buf_free(&line);
}

static void print_footers(const struct vt_profreport *r, struct vt_output *out)
{
	struct vt_buf name = VT_BUF_INIT;
	size_t i;

	vt_table_print_left_out(out, r->result.left_out);
	for (i = 0; i < r->result.ntotals; i++)
		print_total(&r->result.total[i], r, out);
	if (!r->before || !r->runs[0].events->count)
		return;
	vt_escape_str(&name, r->runs[0].events->label[0]);
	vt_output_printf(out, "%" PRIu64 " changes of %s are significant (*)\n",
			 r->result.significant, vt_buf_str(&name));
	vt_buf_free(&name);
}

int vt_profreport_print(const struct vt_profreport *r, enum vt_table_form form, bool color,
			struct vt_output *out, struct vt_error *err)
{
	int code;

	if (form == VT_TABLE_TEXT)
		print_headers(r, out);
	code = vt_table_print(r->table, out, form, color, err);
	if (code == 0 && form == VT_TABLE_TEXT)
		print_footers(r, out);
	return code;
}
