/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/values/advice.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "listing/code/source.h"
#include "listing/json.h"
#include "listing/profile/json.h"
#include "listing/profile/profile.h"
#include "listing/values/advice_internal.h"
#include "profile/value_text.h"

struct scored_value {
	const struct vt_spec_row *row;
	double score;
	size_t index; /* the order of the rows breaks ties */
};

void vti_speclist_share(struct vt_table *t, double share)
{
	/* Rounds down: only what is always so reads as 100 %. */
	vt_table_real(t, share < 1 ? (double)(uint64_t)(share * 10000) / 100 : 100);
}

void vti_speclist_time(struct vt_table *t, double share)
{
	vt_table_real(t, share * 100);
	vt_table_cell_style(t, vt_heat((uint64_t)(share * 1e6), 1000000));
}

void vti_speclist_place_columns(struct vt_table *t, const char *key, const char *heading)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.image", key);
	vt_table_column(t, name, NULL, VT_FORMAT_TEXT);
	snprintf(name, sizeof(name), "%s.address", key);
	vt_table_column(t, name, NULL, VT_FORMAT_HEX);
	vt_table_column_max(t, key, heading, VT_FORMAT_NAME, 40);
	snprintf(name, sizeof(name), "%s.line", key);
	vt_table_column_max(t, name, "line", VT_FORMAT_PATH, 24);
}

void vti_speclist_place(struct vt_table *t, const struct vt_spec_view *view, uint32_t image,
			uint64_t offset, unsigned back)
{
	const struct vt_image *im = vt_images_get(view->images, image);
	uint64_t vaddr = vt_spec_vaddr(view->images, image, offset);
	struct vt_lines *lines = vt_images_lines(view->images, image);
	struct vt_buf b = VT_BUF_INIT;

	vt_table_str(t, im && im->path ? im->path : "");
	vt_table_number(t, vaddr);
	if (!vt_place_name(&b, image, offset, view->images))
		vt_buf_printf(&b, "0x%llx", (unsigned long long)offset);
	vt_table_text(t, b.data, b.size);
	vt_source_cell(t, lines, vaddr - back);
	vt_buf_free(&b);
}

void vti_speclist_value(struct vt_buf *out, const struct vt_spec_view *view,
			const struct vt_spec_value *v)
{
	struct vt_value_style style = {VT_VALUE_AUTO, view->profile, view->images};
	struct vt_number_type type = v->uses.type;
	unsigned size = v->hot->size;

	if (type.number == VT_NUMBER_RAW && size <= 8)
		type = (struct vt_number_type){VT_NUMBER_INT, (uint8_t)size, 1, false};
	if (v->hot->key.what != VT_WHAT_TARGET && v->pointer)
		vt_buf_put_u8(out, '&');
	if (v->hot->key.what == VT_WHAT_TARGET || v->pointer) {
		style.format = VT_VALUE_SYMBOL;
		type.number = VT_NUMBER_ADDRESS;
	}
	/* A byte may be a number or a character: show both. */
	if (size == 1 && style.format == VT_VALUE_AUTO &&
	    isprint((int)(v->hot->values[0] & 0xff))) {
		vt_buf_printf(out, "%u (", (unsigned)v->hot->values[0] & 0xff);
		style.format = VT_VALUE_CHAR;
	}
	vt_value_text(out, v->hot->values[0], size, type, &style);
	if (style.format == VT_VALUE_CHAR)
		vt_buf_printf(out, ")");
}

static void add_value_columns(struct vt_table *t)
{
	vt_table_column(t, "time", "time", VT_FORMAT_PERCENT);
	vt_table_column(t, "own_time", NULL, VT_FORMAT_PERCENT);
	vt_table_column(t, "invariance", "invar", VT_FORMAT_PERCENT);
	vt_table_column(t, "invariance.low", NULL, VT_FORMAT_PERCENT);
	vt_table_column(t, "stake", NULL, VT_FORMAT_PERCENT);
	vt_table_column(t, "score", NULL, VT_FORMAT_PERCENT);
	vt_table_column(t, "executions", "executions", VT_FORMAT_NUMBER);
	vt_table_column(t, "procedure", NULL, VT_FORMAT_TEXT);
	vti_speclist_place_columns(t, "place", "place");
	vt_table_column(t, "what", NULL, VT_FORMAT_TEXT);
	vt_table_column(t, "register", NULL, VT_FORMAT_TEXT);
	vt_table_column(t, "value", NULL, VT_FORMAT_TEXT);
	vt_table_column(t, "value.hex", NULL, VT_FORMAT_HEX);
	vt_table_column(t, "kind", NULL, VT_FORMAT_TEXT);
	vt_table_column(t, "use.address", NULL, VT_FORMAT_HEX);
	vt_table_column(t, "advice", "advice", VT_FORMAT_TEXT);
}

/* Appends the name of the variable that a load always reads, if its address is fixed and has one.
 */
static bool name_variable(const struct vt_spec_view *view, const struct vt_spec_row *r,
			  struct vt_buf *out)
{
	uint32_t image = vt_spec_image(view->spec, r->value.hot->key.image);
	struct vt_code code;
	uint64_t vaddr, offset;

	return r->value.source == VT_SOURCE_FIXED && vt_spec_code(view->images, image, &code) &&
	       vt_load_vaddr(&code, r->vaddr, &vaddr) &&
	       vt_images_offset(view->images, image, vaddr, &offset) &&
	       vt_place_name(out, image, offset, view->images);
}

static void put_advice(struct vt_table *t, const struct vt_spec_view *view,
		       const struct vt_spec_row *r)
{
	struct vt_buf value = VT_BUF_INIT, advice = VT_BUF_INIT, variable = VT_BUF_INIT;
	const struct vt_hot *h = r->value.hot;
	struct vt_spec_value v = r->value;

	if (name_variable(view, r, &variable))
		v.variable = vt_buf_str(&variable);
	vti_speclist_value(&value, view, &r->value);
	vt_spec_advice(&v, &r->verdict, vt_buf_str(&value), &advice);
	vt_buf_free(&variable);
	if (h->key.caller) {
		vt_buf_printf(&advice, ", for the caller ");
		vt_place_name(&advice, vt_spec_image(view->spec, h->key.caller_image),
			      h->key.caller, view->images);
	}
	vt_table_text(t, value.data, value.size);
	vt_table_number(t, r->verdict.value);
	vt_table_str(t, vt_spec_name(r->verdict.kind));
	if (r->value.uses.where)
		vt_table_number(t, r->value.uses.where);
	else
		vt_table_empty(t);
	vt_table_text(t, advice.data, advice.size);
	vt_buf_free(&value);
	vt_buf_free(&advice);
}

static void add_value_row(struct vt_table *t, const struct vt_spec_view *view,
			  const struct vt_spec_row *r, bool own_time)
{
	const struct vt_spec_procedure *p = vt_spec_procedure(view->spec, r->procedure);
	const struct vt_hot *h = r->value.hot;
	uint64_t total = vt_spec_total(view->spec);
	double own = total ? (double)r->samples / (double)total : 0;

	vt_table_row(t, VT_STYLE_PLAIN);
	vti_speclist_time(t, own_time ? own : p->time);
	vt_table_real(t, own * 100);
	vti_speclist_share(t, r->verdict.share);
	vti_speclist_share(t, r->verdict.low);
	vti_speclist_share(t, r->stake);
	vt_table_real(t, r->score * 100);
	vt_table_number(t, h->total);
	vt_table_str(t, p->name);
	vti_speclist_place(t, view, vt_spec_image(view->spec, h->key.image), h->key.offset, 0);
	vt_table_str(t, vt_what_name(h->key.what));
	if (h->key.what == VT_WHAT_ARG || h->key.what == VT_WHAT_RESULT)
		vt_table_str(t, vt_reg_name(h->key.reg, 8));
	else
		vt_table_empty(t);
	put_advice(t, view, r);
}

int64_t vt_speclist_procedures(struct vt_table *t, const struct vt_spec_view *view,
			       const struct vt_speclist_options *opt, struct vt_error *err)
{
	size_t i, n = vt_spec_nrows(view->spec), last = SIZE_MAX;
	uint64_t procedures = 0, rows = 0;

	(void)err;
	add_value_columns(t);
	for (i = 0; i < n; i++) {
		const struct vt_spec_row *r = vt_spec_row(view->spec, i);

		if (r->procedure != last) {
			last = r->procedure;
			procedures++;
			rows = 0;
		}
		if ((!opt->top || procedures <= opt->top) && (!opt->each || rows++ < opt->each))
			add_value_row(t, view, r, false);
	}
	return opt->top && procedures > opt->top ? (int64_t)(procedures - opt->top) : 0;
}

static int compare_value_scores(const void *a, const void *b)
{
	const struct scored_value *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/*
 * Lists values of one kind, the highest product of time and invariance first.  The time is the
 * procedure's or, of loads, the instruction's own.
 */
static int64_t list_values_of_kind(struct vt_table *t, const struct vt_spec_view *view,
				   const struct vt_speclist_options *opt, enum vt_what what,
				   struct vt_error *err)
{
	bool own_time = what == VT_WHAT_LOAD;
	size_t i, n = vt_spec_nrows(view->spec), count = 0;
	struct scored_value *list = calloc(n + 1, sizeof(*list));

	if (!list)
		return vt_error_nomem(err);
	for (i = 0; i < n; i++) {
		const struct vt_spec_row *r = vt_spec_row(view->spec, i);
		double time = own_time ? (double)r->samples
				       : vt_spec_procedure(view->spec, r->procedure)->time;

		if (r->value.hot->key.what == what)
			list[count++] = (struct scored_value){r, time * r->verdict.low, i};
	}
	qsort(list, count, sizeof(*list), compare_value_scores);
	add_value_columns(t);
	for (i = 0; i < count && (!opt->top || i < opt->top); i++)
		add_value_row(t, view, list[i].row, own_time);
	free(list);
	return (int64_t)(count - i);
}

int64_t vt_speclist_arguments(struct vt_table *t, const struct vt_spec_view *view,
			      const struct vt_speclist_options *opt, struct vt_error *err)
{
	return list_values_of_kind(t, view, opt, VT_WHAT_ARG, err);
}

int64_t vt_speclist_loads(struct vt_table *t, const struct vt_spec_view *view,
			  const struct vt_speclist_options *opt, struct vt_error *err)
{
	return list_values_of_kind(t, view, opt, VT_WHAT_LOAD, err);
}

/* ---- what goes with a listing ---- */

static bool has_callers(const struct vt_spec_view *view)
{
	size_t i, n = vt_hotprofile_count(view->hot);

	for (i = 0; i < n; i++)
		if (vt_hotprofile_at(view->hot, i)->key.caller)
			return true;
	return false;
}

static void put_left_out(struct vt_output *out, uint64_t n, const char *why)
{
	if (n)
		vt_output_printf(out, "; %s: %" PRIu64 " list%s", why, n, n == 1 ? "" : "s");
}

/* Why the table is empty. */
static void put_no_rows(const struct vt_spec_view *view, struct vt_output *out)
{
	uint64_t rare = vt_spec_rare(view->spec), cold = vt_spec_cold(view->spec);

	vt_output_printf(out, "No value is known to be %g %% invariant",
			 100 * view->opt.min_invariance);
	put_left_out(out, rare, "seen too rarely to be sure");
	put_left_out(out, cold, "in procedures with too little time (--min-time)");
	vt_output_text(out, "\n");
}

void vt_speclist_header(const struct vt_spec_view *view, enum vt_speclist what, const char *time,
			struct vt_output *out)
{
	const struct vt_profile_event *e = vt_profile_event(view->profile, view->opt.event);
	static const char *const whose[VT_NSPECLISTS] = {
		[VT_SPECLIST_PROCEDURES] = "the procedure's",
		[VT_SPECLIST_ARGUMENTS] = "the procedure's",
		[VT_SPECLIST_CALLERS] = "the procedure's",
		[VT_SPECLIST_BLOCKS] = "the block's",
		[VT_SPECLIST_LOADS] = "the load's own",
	};
	struct vt_buf b = VT_BUF_INIT;

	vt_escape_str(&b, time);
	vt_output_printf(out, "Time: %s share of %" PRIu64 " %s %s\n", whose[what], e->samples,
			 vt_spec_is_counted(e) ? "counted" : "samples of", vt_buf_str(&b));
	vt_output_printf(out,
			 "Values: lists of loads %" PRIu64 ", arguments %" PRIu64
			 ", targets %" PRIu64 ", results %" PRIu64 "\n",
			 vt_spec_lists(view->spec, VT_WHAT_LOAD),
			 vt_spec_lists(view->spec, VT_WHAT_ARG),
			 vt_spec_lists(view->spec, VT_WHAT_TARGET),
			 vt_spec_lists(view->spec, VT_WHAT_RESULT));
	if (what == VT_SPECLIST_CALLERS && !has_callers(view))
		vt_output_text(out, "Arguments are not told apart by caller: vhot --context caller "
				    "does that\n");
	if (vt_spec_blind(view->spec))
		vt_output_printf(out,
				 "In images whose code is not there, %" PRIu64
				 " lists: what becomes of their values is not known\n",
				 vt_spec_blind(view->spec));
	if (vt_spec_of_run(view->spec))
		vt_output_printf(out,
				 "Left out: %" PRIu64
				 " values that are addresses of this run (stack, heap)\n",
				 vt_spec_of_run(view->spec));
	if (!vt_spec_nrows(view->spec))
		put_no_rows(view, out);
	vt_output_text(out, "\n");
	vt_buf_free(&b);
}

void vt_speclist_json(const struct vt_spec_view *view, enum vt_speclist what,
		      const struct vt_event_choice *events, const char *time,
		      const struct vt_table *t, int64_t left_out, struct vt_output *out)
{
	static const enum vt_what kinds[] = {VT_WHAT_LOAD, VT_WHAT_ARG, VT_WHAT_TARGET,
					     VT_WHAT_RETURN, VT_WHAT_RESULT};
	static const char *const names[VT_NSPECLISTS] = {"procedures", "args", "callers", "blocks",
							 "loads"};
	json_t *doc = vt_json_doc("vspec/1");
	json_t *lists = json_object();
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		json_object_set_new(lists, vt_what_name(kinds[i]),
				    vt_json_u64(vt_spec_lists(view->spec, kinds[i])));
	vt_json_profile(doc, view->profile, events, NULL);
	json_object_set_new(doc, "time", vt_json_text(time, strlen(time)));
	json_object_set_new(doc, "lists", lists);
	json_object_set_new(doc, "lists_without_code", vt_json_u64(vt_spec_blind(view->spec)));
	json_object_set_new(doc, "addresses_left_out", vt_json_u64(vt_spec_of_run(view->spec)));
	json_object_set_new(doc, "rare_left_out", vt_json_u64(vt_spec_rare(view->spec)));
	json_object_set_new(doc, "cold_left_out", vt_json_u64(vt_spec_cold(view->spec)));
	json_object_set_new(doc, "listing", json_string(names[what]));
	json_object_set_new(doc, "rows", vt_json_table(t));
	json_object_set_new(doc, "rows_left_out", json_integer(left_out));
	vt_json_write(out, doc, true);
}
