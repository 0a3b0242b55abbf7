/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <sys/stat.h>

#include "cmd/common/app.h"
#include "cmd/common/cycles.h"
#include "cmd/common/options.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "listing/code/diff.h"
#include "listing/code/report.h"
#include "listing/values/conflicts.h"

/* --values without a procedure: those with the most samples. */
#define TOP_OF_VALUES 10

struct options {
	bool source, assembly, intel, att, all;
	bool with_values, replay;
	bool value_option; /* one that only --values understands was given */
	uint64_t top;
	struct vt_opt_list events, dirs;
	struct app_form form;
	const char *input, *symfs, *what;
	const char *before; /* --diff: the other stream */
	int format;
	struct vt_list_values values;
	struct app_cycles cycles;
	struct vt_listing_options listing;
};

static const char *const format_words[] = {"auto", "hex", "dec", "float", "char", "symbol", NULL};

/* ---- what is listed ---- */

static bool find_procedure(struct app *a, struct vt_listreport *r, const char *what)
{
	struct vt_error err = VT_ERROR_INIT;
	size_t first = r->found.count;
	int rc = vt_listreport_find(r, what, &err);

	if (rc >= 0)
		return true;
	if (rc == -VT_E_NOTFOUND && a->incomplete && !app_saw(a, VT_IMAGE))
		return app_lacks(a, what, APP_NO_SAMPLES);
	app_fail(a, &err);
	vt_listreport_explain(r, rc, first, app_note, a);
	return false;
}

/* Other programs take files where this one takes procedures. */
static void hint_at_input(struct app *a, const struct options *o)
{
	struct stat st;
	int i;

	for (i = 0; i < a->argc && !o->input; i++) {
		if (stat(a->argv[i], &st) < 0 || !S_ISREG(st.st_mode))
			continue;
		app_say(a, "%s is a file: vlist -i %s PROCEDURE lists what it has", a->argv[i],
			a->argv[i]);
		return;
	}
}

static bool read_profile(struct app *a, struct options *o, struct app_profile *data)
{
	bool ok = o->cycles.view   ? app_profile_read_freqs(a, data, o->input, o->symfs,
							    o->cycles.view == VT_CYCLES_GRAPH)
		  : o->with_values ? app_profile_read_values(a, data, o->input, o->symfs)
				   : app_profile_read(a, data, o->input, o->symfs);

	if (!ok)
		hint_at_input(a, o);
	o->listing.code = data->code;
	o->values.lists = data->lists;
	o->values.style = (struct vt_value_style){(enum vt_value_format)o->format, data->profile,
						  data->in.images.store};
	o->listing.values = o->with_values ? &o->values : NULL;
	return ok;
}

static bool choose_procedures(struct app *a, const struct options *o,
			      const struct app_profile *data, struct vt_listreport *r,
			      struct vt_event_choice *events)
{
	struct vt_error err = VT_ERROR_INIT;
	int i;

	if (vt_event_choice_init(events, data->profile, o->events.items, o->events.count, &err) < 0)
		return app_fail(a, &err);
	*r = (struct vt_listreport){.profile = data->profile,
				    .images = data->in.images.store,
				    .lists = data->lists,
				    .events = events,
				    .view = o->listing.view,
				    .form = app_table_form(&o->form),
				    .json = o->form.json};
	for (i = 0; i < a->argc; i++)
		if (!find_procedure(a, r, a->argv[i]))
			return false;
	return !o->top || o->cycles.view == VT_CYCLES_STALL ||
	       vt_listreport_find_top(r, o->top, &err) >= 0 || app_fail(a, &err);
}

/* ---- listing it ---- */

static void list_procedures(struct app *a, const struct options *o, struct vt_listreport *r)
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

static void list_diffs(struct app *a, const struct options *o, const struct app_profile *data,
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

static void list_cycles(struct app *a, struct options *o, const struct app_profile *data,
			const struct vt_found *found)
{
	struct app_cycles *c = &o->cycles;

	c->top = o->top == UINT64_MAX ? 0 : o->top;
	c->syntax = o->listing.syntax;
	c->sources = o->listing.sources;
	app_cycles_list(a, c, data, found);
}

/* ---- pairs of accesses ---- */

static bool print_replays(struct app *a, const struct options *o, struct vt_listreplay *list)
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

static void list_replays(struct app *a, const struct options *o)
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

/* ---- options ---- */

static bool check_options(struct app *a, struct options *o)
{
	const struct app_cycles *c = &o->cycles;
	bool cycles = app_cycles_asked(c);
	const struct app_rule rules[] = {
		{c->has_cutoff && (c->cutoff < 0 || c->cutoff > 100),
		 "--cutoff: a percentage is wanted"},
		{c->has_cutoff && !o->with_values && !cycles,
		 "--cutoff goes with --values, --calc and --stall"},
		{app_form_count(&o->form) > 1, "--json, --csv and --tsv exclude each other"},
		{o->source && o->assembly, "--source and --asm exclude each other"},
		{o->intel && o->att, "--intel and --att exclude each other"},
		{o->replay && (a->argc || o->all || o->with_values || o->source || o->events.count),
		 "--replay lists pairs of accesses, not procedures"},
	};
	const struct app_rule more[] = {
		{o->before && (cycles || o->with_values || o->replay),
		 "--diff goes with no other listing"},
		{o->before && o->listing.partial, "--context does not go with --diff"},
		{!a->argc && !o->all && !o->top && !o->with_values && !o->replay && !cycles,
		 "name a procedure, or give --all or --top N"},
		{(o->value_option || o->what) && !o->with_values,
		 "--what, --show and --format go with --values"},
	};

	o->cycles.form = o->form;
	if (!APP_CHECK_RULES(a, rules) ||
	    (cycles && !app_cycles_check(a, &o->cycles,
					 o->with_values || o->replay || o->source ||
						 o->events.count || o->listing.partial,
					 o->all || o->top)) ||
	    !APP_CHECK_RULES(a, more) || !app_what(a, o->what, &o->values.what))
		return false;
	if (o->with_values && o->source)
		return app_usage(a, "--values needs assembly, which --source leaves out");
	if (c->has_cutoff)
		o->values.cutoff = c->cutoff;
	if (o->all && !o->top)
		o->top = UINT64_MAX;
	if (!a->argc && !o->top && o->with_values)
		o->top = TOP_OF_VALUES;
	o->listing.view = o->source		     ? VT_LIST_SOURCE
			  : o->assembly || o->before ? VT_LIST_ASM
						     : VT_LIST_MIXED;
	o->listing.syntax = o->intel ? VT_SYNTAX_INTEL : VT_SYNTAX_ATT;
	return true;
}

static void run_vlist(struct app *a, struct options *o)
{
	struct app_profile data = {0};
	struct vt_event_choice events = {0};
	struct vt_listreport r = {0};

	o->listing.sources = vt_sources_new(o->dirs.items, o->dirs.count);
	if (read_profile(a, o, &data) && choose_procedures(a, o, &data, &r, &events)) {
		if (o->cycles.view)
			list_cycles(a, o, &data, &r.found);
		else if (o->before)
			list_diffs(a, o, &data, &r);
		else
			list_procedures(a, o, &r);
	}
	vt_sources_free(o->listing.sources);
	vt_listreport_fini(&r);
	vt_event_choice_fini(&events);
	app_profile_end(&data);
}

int main(int argc, char **argv)
{
	struct options o = {.values = {.cutoff = 1, .show = 5}};
	struct app app;
	const struct vt_opt opts[] = {
		APP_STRING('i', "input", o.input, "FILE",
			   "read the stream from FILE, not from standard input"),
		APP_FLAG('s', "source", o.source, "source lines with samples, no assembly"),
		APP_FLAG('a', "asm", o.assembly, "assembly only, no source"),
		APP_FLAG(0, "intel", o.intel, "x86 assembly in Intel's syntax"),
		APP_FLAG(0, "att", o.att, "x86 assembly in AT&T's syntax (default)"),
		APP_LIST('e', "event", o.events, "NAME", "show this event only; repeat for more"),
		APP_FLAG(0, "all", o.all, "list all procedures with samples, the hottest first"),
		{'n', "top", VT_OPT_U64, &o.top, .arg = "N", .min = 1,
		 .help = "list the N hottest procedures"},
		{'c', "context", VT_OPT_U64, &o.listing.context, .arg = "N",
		 .given = &o.listing.partial,
		 .help = "only what lies within N lines or instructions of samples"},
		APP_LIST('I', "source-dir", o.dirs, "DIR",
			 "look for source files in DIR first; repeat for more"),
		APP_FLAG(0, "values", o.with_values,
			 "each instruction's hot lists of values (vhot)"),
		APP_FLAG(0, "replay", o.replay, "pairs of accesses that conflict (vreplay)"),
		APP_OPT_CYCLES(o.cycles),
		APP_STRING(0, "diff", o.before, "FILE",
			   "row by row beside what FILE, a stream of before, has"),
		{0, "show", VT_OPT_U64, &o.values.show, .arg = "N", .given = &o.value_option,
		 .help = "show the N most frequent values (default 5)"},
		{0, "format", VT_OPT_CHOICE, &o.format, .arg = "FORM", .choices = format_words,
		 .given = &o.value_option,
		 .help = "auto (default: by type), hex, dec, float, char, symbol"},
		APP_OPT_WHAT(o.what),
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_FORM(o.form),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vlist",
		.usage = "[options] PROCEDURE...\n[options] --all | --top N\n[options] --values\n"
			 "[options] --diff FILE PROCEDURE...\n"
			 "[options] --replay\n[options] --calc|--summary|--cfg PROCEDURE...\n"
			 "[options] --summary|--stall KIND [--image FILE]",
		.about = "Lists procedures of a stream: assembly and source, samples of each "
			 "instruction.\n"
			 "A PROCEDURE is NAME, IMAGE:NAME, 0xADDRESS or IMAGE:0xADDRESS, or as "
			 "vprof\n"
			 "names what lies in none, [CAUSE] or IMAGE:[CAUSE].",
		.opts = opts,
		.max_operands = UINT_MAX,
	};

	if (app_start(&app, &page, argc, argv) && check_options(&app, &o)) {
		if (o.replay)
			list_replays(&app, &o);
		else
			run_vlist(&app, &o);
	}
	vt_opt_list_fini(&o.events);
	vt_opt_list_fini(&o.dirs);
	vt_opt_list_fini(&o.cycles.images);
	return app_finish(&app);
}
