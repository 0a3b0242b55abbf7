/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/events/code.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/escape.h"
#include "listing/events/internal.h"
#include "listing/json.h"

struct printer {
	const struct vt_evlisting *l;
	const struct vt_evstats *stats;
	uint32_t event;
	const struct vt_evevent *known;
	const char *name;
	struct vt_evtotal all;		      /* samples of the event */
	struct vt_evtotal whole[VT_EV_STATS]; /* its totals in all places */
	struct vt_table *table;		      /* of all procedures, for programs */
	json_t *procedures;
	size_t count;
};

/* ---- which event ---- */

static void sum_event(struct printer *p, uint32_t event)
{
	struct vt_evtotal t;
	struct vt_evkey key;
	size_t i;
	unsigned stat;

	p->event = event;
	p->all = (struct vt_evtotal){0};
	memset(p->whole, 0, sizeof(p->whole));
	for (i = 0; i < vt_evstats_nplaces(p->stats); i++) {
		const struct vt_evcounts *c = vt_evstats_place(p->stats, i, &key);

		if (key.event != event)
			continue;
		vt_evcounts_all(c, &t);
		vt_evtotal_add(&p->all, &t);
		for (stat = 0; stat < VT_EV_STATS; stat++) {
			vt_evstats_total(p->stats, &key, c, stat, &t);
			vt_evtotal_add(&p->whole[stat], &t);
		}
	}
}

static int choose_event(struct printer *p, struct vt_error *err)
{
	struct vt_context *context = vt_profile_context(p->l->profile);
	size_t i, n = vt_evstats_nevents(p->stats), best = SIZE_MAX;
	double most = -1;

	for (i = 0; i < n; i++) {
		const struct vt_event *e =
			vt_context_event(context, vt_evstats_event_at(p->stats, i)->id, err);

		if (!e)
			return -VT_E_NOMEM;
		if (p->l->event && strcmp(p->l->event, e->name) != 0)
			continue;
		sum_event(p, (uint32_t)i);
		if (p->all.samples <= most)
			continue;
		most = p->all.samples;
		best = i;
		p->name = e->name;
	}
	if (best == SIZE_MAX)
		return vt_error_set(err, VT_E_NOTFOUND, "no event of single instructions is '%s'",
				    p->l->event ? p->l->event : "");
	sum_event(p, (uint32_t)best);
	if (!(p->all.samples > 0))
		return vt_error_set(err, VT_E_ABSENT, "no sample of '%s' follows an instruction",
				    p->name);
	p->known = vt_evstats_event_at(p->stats, best);
	return 0;
}

/* ---- one procedure ---- */

static bool find_row_key(const struct printer *p, const struct vt_procedure *proc,
			 const struct vt_list_row *row, struct vt_evkey *key)
{
	*key = (struct vt_evkey){.image = proc->image, .event = p->event, .pid = proc->pid};
	if (!vt_list_row_is_code(row))
		return false;
	if (!vt_images_offset(p->l->images, proc->image, row->address, &key->offset))
		key->offset = row->address;
	return true;
}

/* The totals of a row; NULL: no sample. */
static const struct vt_evcounts *find_row(const struct printer *p, const struct vt_procedure *proc,
					  const struct vt_list_row *row, struct vt_evkey *key)
{
	const struct vt_evcounts *c;

	if (!find_row_key(p, proc, row, key))
		return NULL;
	c = vt_evstats_find(p->stats, key);
	/* Records do not tell the process of anonymous code. */
	if (!c && key->pid) {
		key->pid = 0;
		c = vt_evstats_find(p->stats, key);
	}
	return c;
}

/* What happened in a procedure: bits of totals. */
static uint64_t find_happened(const struct printer *p, const struct vt_listing *list,
			      const struct vt_procedure *proc)
{
	uint64_t happened = 0;
	struct vt_evtotal t;
	struct vt_evkey key;
	size_t i;
	unsigned stat;

	for (i = 0; i < vt_listing_nrows(list); i++) {
		const struct vt_evcounts *c = find_row(p, proc, vt_listing_row(list, i), &key);

		for (stat = 0; c && stat < VT_EV_STATS; stat++) {
			vt_evstats_total(p->stats, &key, c, stat, &t);
			if (t.had > 0)
				happened |= UINT64_C(1) << stat;
		}
	}
	return happened;
}

/* What an instruction is, its code says. */
#define PLAIN                                                                                      \
	(VT_PM_EVENT(BRANCH) | VT_PM_EVENT(LOAD) | VT_PM_EVENT(STORE) | VT_PM_EVENT(LOCKED) |      \
	 VT_PM_EVENT(PREFETCH) | VT_PM_EVENT(MICROCODE))

static void add_columns(struct vt_table *t, uint64_t happened, enum vt_list_view view)
{
	unsigned stat;

	vt_table_column(t, "samples", "samples", VT_FORMAT_NUMBER);
	for (stat = 0; stat < VT_EV_STATS; stat++) {
		const char *name = vt_stat_name(vt_evstat_what(stat));
		bool shown = (happened & ~PLAIN) >> stat & 1;
		bool latency = vt_evstat_is_latency(stat);
		static const char *const members[] = {"low", "high"};
		char key[64];
		size_t i;

		snprintf(key, sizeof(key), "%s_%s", name, latency ? "mean" : "sum");
		vt_table_column_of(t, "totals", name, latency ? "mean" : "sum", key,
				   shown ? name : NULL,
				   latency ? VT_FORMAT_REAL : VT_FORMAT_NUMBER);
		for (i = 0; i < 2; i++) {
			snprintf(key, sizeof(key), "%s_%s", name, members[i]);
			vt_table_column_of(t, "totals", name, members[i], key, NULL,
					   VT_FORMAT_REAL);
		}
	}
	vt_table_column(t, "address", "address", VT_FORMAT_HEX);
	vt_table_column(t, "line", view == VT_LIST_MIXED ? "line" : NULL, VT_FORMAT_NUMBER);
	vt_table_column(t, "code", "code", VT_FORMAT_TEXT);
	vt_table_column(t, "file", NULL, VT_FORMAT_TEXT);
	vt_table_column(t, "procedure", NULL, VT_FORMAT_TEXT);
	vt_table_column(t, "image", NULL, VT_FORMAT_TEXT);
}

static void put_total(struct vt_table *t, const struct printer *p, const struct vt_evkey *key,
		      const struct vt_evcounts *c, unsigned stat)
{
	struct vt_evtotal total = {0};
	double low, high;

	if (c)
		vt_evstats_total(p->stats, key, c, stat, &total);
	if (!(total.had > 0)) {
		vt_table_empty(t);
		vt_table_empty(t);
		vt_table_empty(t);
	} else if (vt_evstat_is_latency(stat)) {
		struct vt_evmean m = vt_evtotal_mean(&total, &p->whole[stat], p->known);

		vt_table_finite(t, m.mean);
		vt_table_finite(t, m.low);
		vt_table_finite(t, m.high);
	} else {
		vt_evtotal_interval(&total, p->known, &low, &high);
		vt_table_number(t, total.sum < 1.8e19 ? (uint64_t)(total.sum + 0.5) : UINT64_MAX);
		vt_table_finite(t, isfinite(high) ? low : NAN);
		vt_table_finite(t, high);
	}
}

static void put_row(struct vt_table *t, const struct printer *p, const struct vt_procedure *proc,
		    const struct vt_list_row *row)
{
	const struct vt_image *image = vt_images_get(p->l->images, proc->image);
	struct vt_evkey key;
	const struct vt_evcounts *c = find_row(p, proc, row, &key);
	struct vt_evtotal all = {0};
	bool code = vt_list_row_is_code(row);
	unsigned stat;

	if (c)
		vt_evcounts_all(c, &all);
	vt_table_row(t, row->kind == VT_ROW_LINE ? VT_STYLE_SOURCE
			: code ? vt_heat((uint64_t)all.samples, (uint64_t)p->all.samples)
			       : VT_STYLE_FAINT);
	if (all.samples >= 1)
		vt_table_number(t, (uint64_t)all.samples);
	else
		vt_table_empty(t);
	for (stat = 0; stat < VT_EV_STATS; stat++)
		put_total(t, p, &key, c, stat);
	if (code)
		vt_table_number(t, row->address);
	else
		vt_table_empty(t);
	if (row->line && row->kind == VT_ROW_LINE)
		vt_table_number(t, row->line);
	else
		vt_table_empty(t);
	vt_table_text(t, row->text, row->text_size);
	vt_table_str(t, row->file);
	vt_table_str(t, proc->name);
	vt_table_str(t, image ? image->path : "");
}

/* ---- the whole ---- */

static void print_heading(const struct printer *p, const struct vt_procedure *proc)
{
	const struct vt_image *image = vt_images_get(p->l->images, proc->image);
	struct vt_buf b = VT_BUF_INIT;

	vt_escape_str(&b, proc->symbol ? proc->name : vt_unknown_text(proc->why));
	vt_buf_printf(&b, " in ");
	vt_escape_str(&b, image ? image->path : "[unknown image]");
	vt_output_printf(p->l->out, "%s%s%s\n", p->l->color ? vt_style_start(VT_STYLE_HEADING) : "",
			 vt_buf_str(&b), p->l->color ? VT_STYLE_END : "");
	vt_buf_free(&b);
	vti_event_header(p->name, p->known, &p->all, p->l->out);
	vt_output_text(p->l->out, "\n");
}

static void add_json(struct printer *p, const struct vt_procedure *proc, const struct vt_table *t)
{
	const struct vt_image *image = vt_images_get(p->l->images, proc->image);
	const char *path = image ? image->path : "";
	json_t *v = json_object();

	json_object_set_new(v, "procedure", vt_json_text(proc->name, strlen(proc->name)));
	json_object_set_new(v, "image", vt_json_text(path, strlen(path)));
	json_object_set_new(v, "start", vt_json_hex(proc->start));
	json_object_set_new(v, "end", vt_json_hex(proc->end));
	json_object_set_new(v, "rows", vt_json_table(t));
	json_array_append_new(p->procedures, v);
}

static int list_procedure(struct printer *p, const struct vt_procedure *proc, struct vt_error *err)
{
	struct vt_listing *list =
		vt_listing_new(p->l->profile, p->l->images, proc, p->l->options, err);
	struct vt_table *t = p->table ? p->table : vt_table_new();
	size_t i;
	int code = 0;

	if (!list || !t) {
		vt_listing_free(list);
		if (!p->table)
			vt_table_free(t);
		return vt_error_nomem(err);
	}
	if (vt_listing_missing(list))
		p->l->note(p->l->arg, vt_listing_missing(list));
	if (!vt_table_columns(t))
		add_columns(t, find_happened(p, list, proc), p->l->options->view);
	for (i = 0; i < vt_listing_nrows(list); i++)
		put_row(t, p, proc, vt_listing_row(list, i));
	if (p->procedures) {
		add_json(p, proc, t);
	} else if (!p->table) {
		vt_output_text(p->l->out, p->count++ ? "\n" : "");
		print_heading(p, proc);
		code = vt_table_print(t, p->l->out, VT_TABLE_TEXT, p->l->color, err);
	}
	if (!p->table)
		vt_table_free(t);
	vt_listing_free(list);
	return code;
}

static int end_list(struct printer *p, struct vt_error *err)
{
	json_t *doc;

	if (p->table)
		return vt_table_print(p->table, p->l->out, p->l->form, false, err);
	if (!p->procedures)
		return 0;
	doc = vt_json_doc("vlist-events/1");
	json_object_set_new(doc, "event", vt_json_text(p->name, strlen(p->name)));
	json_object_set_new(doc, "samples", vt_json_real(p->all.samples));
	json_object_set_new(doc, "checked", json_boolean(vt_evcheck_known(&p->known->check)));
	if (vt_evcheck_known(&p->known->check))
		json_object_set_new(doc, "factor",
				    vt_json_real(vt_evcheck_factor(&p->known->check)));
	json_object_set(doc, "procedures", p->procedures);
	vt_json_losses(doc, p->l->losses);
	vt_json_write(p->l->out, doc, true);
	return 0;
}

int vt_evlisting_print(const struct vt_evlisting *l, const struct vt_found *found,
		       struct vt_error *err)
{
	struct printer p = {.l = l, .stats = vt_evgather_stats(l->gather)};
	int code = choose_event(&p, err);
	size_t i;

	if (l->json)
		p.procedures = json_array();
	else if (l->form != VT_TABLE_TEXT && !(p.table = vt_table_new()))
		code = vt_error_nomem(err);
	for (i = 0; i < found->count && code == 0; i++)
		code = list_procedure(&p, &found->list[i], err);
	if (code == 0)
		code = end_list(&p, err);
	json_decref(p.procedures);
	vt_table_free(p.table);
	return code;
}
