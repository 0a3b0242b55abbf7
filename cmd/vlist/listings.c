/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vlist/listings.h"

#include <sys/stat.h>

#include "base/buf.h"
#include "cmd/common/options.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "listing/code/diff.h"
#include "listing/code/report.h"
#include "listing/events/code.h"
#include "listing/values/conflicts.h"

/* ---- what is listed ---- */

bool vlist_find_procedure(struct app *a, struct vt_listreport *r, const char *what, bool several)
{
	struct vt_error err = VT_ERROR_INIT;
	size_t first = r->found.count;
	int rc = vt_listreport_find(r, what, &err);

	if (several && rc == -VT_E_AMBIGUOUS)
		return true;
	if (rc == -VT_E_NOTFOUND && a->incomplete && !app_saw(a, VT_IMAGE))
		return app_lacks(a, what, APP_NO_SAMPLES);
	if (rc < 0)
		app_fail(a, &err);
	vt_listreport_explain(r, what, rc, first, app_note, a);
	return rc >= 0;
}

bool vlist_lacks_event(struct app *a, const struct vlist_options *o, const char *sums)
{
	struct vt_error err = VT_ERROR_INIT;

	vt_error_set(&err, VT_E_NOTFOUND, "no event of %s is '%s'", sums, o->events.items[0]);
	return app_fail(a, &err);
}

/* None of the operands is a file, and standard input has nothing, which nobody else has told. */
static void hint_at_names(struct app *a)
{
	struct vt_buf names = VT_BUF_INIT;
	int i;

	for (i = 0; i < a->argc; i++)
		vt_buf_printf(&names, "%s%s", i ? ", " : "", a->argv[i]);
	app_say(a,
		"no operand is a file with a stream or a trace: procedures of standard input were "
		"looked for: %s",
		vt_buf_str(&names));
	vt_buf_free(&names);
}

void vlist_hint_at_input(struct app *a, const struct vlist_options *o)
{
	struct stat st;
	int i;

	for (i = 0; i < a->argc && !o->input; i++) {
		if (stat(a->argv[i], &st) < 0 || !S_ISREG(st.st_mode))
			continue;
		/* Other programs take files where this one takes procedures. */
		app_say(a, "%s is a file: vlist %s PROCEDURE lists what it has", a->argv[i],
			a->argv[i]);
		return;
	}
	if (a->argc && !o->input && !a->kinds && !a->incomplete)
		hint_at_names(a);
}

static bool read_listed_profile(struct app *a, struct vlist_options *o, struct app_profile *data,
				struct app_events *followed)
{
	bool ok = o->with_events   ? app_profile_read_events(a, data, o->input, o->symfs, followed)
		  : o->cycles.view ? app_profile_read_freqs(a, data, o->input, o->symfs,
							    o->cycles.view == VT_CYCLES_GRAPH)
		  : o->with_values ? app_profile_read_values(a, data, o->input, o->symfs)
				   : app_profile_read(a, data, o->input, o->symfs);

	if (!ok)
		vlist_hint_at_input(a, o);
	o->listing.code = data->code;
	o->values.lists = data->lists;
	o->values.style = (struct vt_value_style){(enum vt_value_format)o->format, data->profile,
						  data->in.images.store};
	o->listing.values = o->with_values ? &o->values : NULL;
	return ok;
}

static bool choose_listed(struct app *a, const struct vlist_options *o,
			  const struct app_profile *data, struct vt_listreport *r,
			  struct vt_event_choice *events)
{
	struct vt_error err = VT_ERROR_INIT;
	int i;

	if (vt_event_choice_init(events, data->profile, o->events.items,
				 o->with_events ? 0 : o->events.count, &err) < 0)
		return app_fail(a, &err);
	*r = (struct vt_listreport){.profile = data->profile,
				    .images = data->in.images.store,
				    .lists = data->lists,
				    .events = events,
				    .view = o->listing.view,
				    .form = app_table_form(&o->form),
				    .json = o->form.json};
	for (i = 0; i < a->argc; i++)
		if (!vlist_find_procedure(a, r, a->argv[i], false))
			return false;
	return !o->top || o->cycles.view == VT_CYCLES_STALL ||
	       vt_listreport_find_top(r, o->top, &err) >= 0 || app_fail(a, &err);
}

/* ---- listing it ---- */

static void list_procedures(struct app *a, const struct vlist_options *o, struct vt_listreport *r)
{
	struct vt_error err = VT_ERROR_INIT;

	r->out = app_text(a, o->form.output);
	r->color = r->out && app_form_color(a, &o->form);
	if (r->out && vt_listreport_list(r, &o->listing, app_note, a, &err) < 0)
		app_fail(a, &err);
}

/* Where the user named no procedure, those that cannot be compared are left out. */
static bool diff_procedures(struct app *a, const struct vt_found *found, struct vt_diffreport *d)
{
	struct app_warnings left_out = {a, "procedures that are not compared", 0};
	struct vt_error err = VT_ERROR_INIT;
	int code = vt_diffreport_list(d, found, a->argc ? NULL : app_warn, &left_out, &err);

	app_warnings_end(&left_out);
	return code == 0 || app_fail(a, &err);
}

static void list_diffs(struct app *a, const struct vlist_options *o, const struct app_profile *data,
		       const struct vt_listreport *r)
{
	struct app_profile before = {0};
	struct vt_diffreport d = {.events = r->events,
				  .options = &o->listing,
				  .form = r->form,
				  .json = r->json,
				  .warn = app_note,
				  .arg = a};

	if (app_profile_read(a, &before, o->before, o->symfs))
		d.out = app_text(a, o->form.output);
	d.color = d.out && app_form_color(a, &o->form);
	d.side[0] = (struct vt_diffreport_side){before.profile, before.in.images.store, before.code,
						o->before};
	d.side[1] = (struct vt_diffreport_side){data->profile, data->in.images.store, data->code,
						data->name};
	if (d.out)
		diff_procedures(a, &r->found, &d);
	vt_diffreport_fini(&d);
	app_profile_end(&before);
}

static void list_cycles(struct app *a, struct vlist_options *o, const struct app_profile *data,
			const struct vt_found *found)
{
	struct app_cycles *c = &o->cycles;

	c->top = o->top == UINT64_MAX ? 0 : o->top;
	c->syntax = o->listing.syntax;
	c->sources = o->listing.sources;
	app_cycles_list(a, c, data, found);
}

static void list_events(struct app *a, const struct vlist_options *o,
			const struct app_profile *data, const struct app_events *followed,
			const struct vt_found *found)
{
	const struct vt_evlisting l = {.profile = data->profile,
				       .images = data->in.images.store,
				       .gather = followed->gather,
				       .event = o->events.count ? o->events.items[0] : NULL,
				       .options = &o->listing,
				       .losses = &a->losses,
				       .json = o->form.json,
				       .form = app_table_form(&o->form),
				       .out = app_text(a, o->form.output),
				       .color = app_form_color(a, &o->form),
				       .note = app_note,
				       .arg = a};
	struct vt_error err = VT_ERROR_INIT;

	if (l.out && vt_evlisting_print(&l, found, &err) < 0)
		app_fail(a, &err);
}

/* False, after app_lacks(): there are samples, and none of them is where a procedure is known. */
static bool need_procedures(struct app *a, const struct vlist_options *o,
			    const struct app_profile *data, const struct vt_listreport *r)
{
	if (r->found.count || o->cycles.view || o->before)
		return true;
	if (o->with_events)
		return app_lacks(a, data->name,
				 "no procedure is known where its samples are (vevent --by "
				 "instruction lists what they tell)");
	return !vt_profile_nplaces(data->profile) ||
	       app_lacks(a, data->name,
			 "no procedure is known where its samples are (vprof --by instruction "
			 "lists them, vevent --by instruction what they tell if they follow "
			 "single instructions)");
}

void vlist_list_procedures(struct app *a, struct vlist_options *o)
{
	struct app_profile data = {0};
	struct app_events followed = {0};
	struct vt_event_choice events = {0};
	struct vt_listreport r = {0};

	o->listing.sources = vt_sources_new(o->dirs.items, o->dirs.count);
	if (!read_listed_profile(a, o, &data, &followed)) {
		/* The reason has been told. */
	} else if (data.locations) {
		vlist_list_locations(a, o, &data);
	} else if (choose_listed(a, o, &data, &r, &events) && need_procedures(a, o, &data, &r)) {
		if (o->with_events)
			list_events(a, o, &data, &followed, &r.found);
		else if (o->cycles.view)
			list_cycles(a, o, &data, &r.found);
		else if (o->before)
			list_diffs(a, o, &data, &r);
		else
			list_procedures(a, o, &r);
	}
	vt_sources_free(o->listing.sources);
	vt_listreport_fini(&r);
	vt_event_choice_fini(&events);
	app_events_close(&followed);
	app_profile_end(&data);
}

/* ---- pairs of accesses ---- */

static bool print_replays(struct app *a, const struct vlist_options *o, struct vt_listreplay *list)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_output *out;

	if (!vt_listreplay_replayed(list))
		return app_lacks(a, app_input_name(o->input),
				 "no pairs of conflicting accesses (vreplay finds them)");
	out = app_text(a, o->form.output);
	return out && (vt_listreplay_print(list, o->top, o->form.json ? &a->losses : NULL,
					   app_table_form(&o->form), app_form_color(a, &o->form),
					   out, &err) == 0 ||
		       app_fail(a, &err));
}

void vlist_list_replays(struct app *a, const struct vlist_options *o)
{
	const uint64_t kinds = VT_KIND(VT_CONFLICT) | VT_KIND(VT_META);
	struct app_context in = {0};
	bool ready = app_context_open(a, &in, o->symfs);
	struct vt_listreplay *list =
		ready ? vt_listreplay_new(in.images.store, o->listing.syntax) : NULL;

	if (list) {
		vt_context_add(in.context, &(struct vt_consumer){.record = vt_listreplay_feed,
								 .arg = list,
								 .kinds = kinds});
		if (app_read_stream(a, o->input, vt_context_feed, in.context))
			print_replays(a, o, list);
	} else if (ready) {
		app_no_memory(a);
	}
	vt_listreplay_free(list);
	app_context_close(&in);
}
