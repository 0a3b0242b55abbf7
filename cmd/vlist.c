/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/common/app.h"
#include "cmd/common/cycles.h"
#include "cmd/common/hots.h"
#include "cmd/common/listdiffs.h"
#include "cmd/common/options.h"
#include "cmd/common/profiles.h"
#include "cmd/common/replays.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "culprit/cause.h"
#include "listing/code/listing.h"
#include "listing/json.h"
#include "listing/profile/json.h"
#include "profile/locate.h"

/* --values without a procedure: those with the most samples. */
#define TOP_OF_VALUES 10

struct options {
	bool source;
	bool assembly;
	bool intel;
	bool att;
	bool all;
	uint64_t top;
	struct vt_listing_options listing;
	struct vt_opt_list events;
	struct vt_opt_list dirs;
	struct app_form form;
	const char *input;
	const char *symfs;
	const char *output;
	int color;
	bool with_values;
	bool replay;	   /* --replay: pairs of accesses, no procedures */
	bool value_option; /* one that only --values understands was given */
	const char *what;
	struct vt_list_values values;
	int format;
	struct app_cycles cycles;
	const char *before; /* --diff: the other stream */
};

static const char *const format_words[] = {"auto", "hex", "dec", "float", "char", "symbol", NULL};

/* The profile and what was made of it. */
struct state {
	struct app_profile data;
	struct vt_ranking *ranking; /* only for --all and --top */
	struct vt_event_choice events;
	struct vt_found found;
	struct vt_table *table; /* of all procedures, for programs */
	json_t *procedures;
};

/* ---- which procedures ---- */

/* Hot lists of code that lies in no image are listed as if that were a procedure. */
static bool add_unmapped(struct app *a, struct state *s)
{
	struct vt_found *f = &s->found;

	if (!vt_array_grow(&f->list, &f->cap, f->count + 1, sizeof(*f->list)))
		return app_no_memory(a);
	f->list[f->count++] = (struct vt_procedure){
		.image = VT_UNMAPPED_IMAGE, .name = "", .why = VT_UNKNOWN_NO_MAP};
	return true;
}

static bool has_unmapped(const struct state *s)
{
	size_t n = s->data.lists ? vt_hotprofile_count(s->data.lists) : 0;

	/* They come last in the order of images. */
	return n && vt_hotprofile_at(s->data.lists, n - 1)->key.image == VT_HOT_NO_IMAGE;
}

/* What was not found may be in a file that is gone. */
static void tell_unknown(struct app *a, const struct state *s)
{
	struct vt_buf b = VT_BUF_INIT;

	if (app_unknown_image(&s->data, APP_ANY_EVENT, &b))
		app_say(a, "samples in no procedure are there of %s", vt_buf_str(&b));
	vt_buf_free(&b);
}

static bool locate(struct app *a, struct state *s, const char *what)
{
	struct vt_error err = VT_ERROR_INIT;
	size_t i, first = s->found.count;
	int rc = vt_locate(s->data.profile, s->data.images, what, &s->found, &err);

	if (rc >= 0)
		return true;
	if (rc == -VT_E_NOTFOUND && has_unmapped(s) && strncmp(what, "0x", 2) == 0 &&
	    vt_hotprofile_find(s->data.lists, VT_HOT_NO_IMAGE, strtoull(what, NULL, 16), &i))
		return add_unmapped(a, s);
	if (rc == -VT_E_NOTFOUND && a->incomplete && !app_saw(a, VT_IMAGE))
		return app_lacks(a, what, APP_NO_SAMPLES);
	app_fail(a, &err);
	if (rc == -VT_E_NOTFOUND)
		tell_unknown(a, s);
	if (rc != -VT_E_AMBIGUOUS)
		return false;
	for (i = first; i < s->found.count; i++) {
		const struct vt_procedure *p = &s->found.list[i];
		const struct vt_image *image = vt_images_get(s->data.images, p->image);

		const char *path = image ? image->path : "?";
		unsigned long long samples = p->samples;

		if (p->symbol)
			app_say(a, "  %s:0x%llx  %s, %llu samples", path,
				(unsigned long long)p->start, p->name, samples);
		else
			app_say(a, "  %s:[%s]  %llu samples", path, vt_unknown_text(p->why),
				samples);
	}
	app_say(a, "name one of them so: IMAGE:NAME, IMAGE:0xADDRESS or IMAGE:[CAUSE]");
	return false;
}

static bool add_top(struct app *a, struct state *s, uint64_t top)
{
	struct vt_found *f = &s->found;
	struct vt_error err = VT_ERROR_INIT;
	size_t i, n, first = s->events.count ? s->events.index[0] : 0;

	s->ranking = vt_ranking_new(s->data.profile, s->data.images, VT_LEVEL_PROCEDURE, &err);
	if (!s->ranking || vt_ranking_sort(s->ranking, first, false, &err) < 0)
		return app_fail(a, &err);
	n = vt_ranking_count(s->ranking);
	for (i = 0; i < n && f->count < top; i++) {
		if (!vt_array_grow(&f->list, &f->cap, f->count + 1, sizeof(*f->list)))
			return app_no_memory(a);
		if (vt_procedure_of_rank(s->data.images, vt_ranking_at(s->ranking, i),
					 &f->list[f->count]))
			f->count++;
	}
	return top == UINT64_MAX && has_unmapped(s) ? add_unmapped(a, s) : true;
}

/* ---- output ---- */

static json_t *json_values(const struct vt_list_row *row, const struct vt_value_style *style)
{
	const struct vt_hot *h = row->list;
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < h->nvalues; i++) {
		struct vt_buf b = VT_BUF_INIT;
		json_t *v = json_object();

		vt_list_value_text(row, h->values[i], style, &b);
		json_object_set_new(v, "value", vt_json_hex(h->values[i]));
		json_object_set_new(v, "text", vt_json_text((const char *)b.data, b.size));
		json_object_set_new(v, "count", vt_json_u64(h->counts[i]));
		if (h->errors)
			json_object_set_new(v, "error", vt_json_u64(h->errors[i]));
		if (h->profiled)
			json_object_set_new(
				v, "percent",
				json_real(100 * vt_hot_estimate(h, i) / (double)h->profiled));
		json_array_append_new(list, v);
		vt_buf_free(&b);
	}
	return list;
}

/* How a list was kept, and what else it knows: the columns have the rest. */
static void put_list(json_t *row, const struct vt_list_row *of, const struct vt_value_style *style)
{
	const struct vt_hot *h = of->list;

	json_object_set_new(row, "algo", json_string(vt_algo_name(h->algo)));
	json_object_set_new(row, "capacity", vt_json_u64(h->capacity));
	json_object_set_new(row, "steady", vt_json_u64(h->steady));
	json_object_set_new(row, "factor", json_real(h->factor));
	json_object_set_new(row, "level", vt_json_u64(h->level));
	json_object_set_new(row, "first", vt_json_hex(h->first));
	json_object_set_new(row, "last", vt_json_hex(h->last));
	json_object_set_new(row, "list", json_values(of, style));
}

/* The rows of the table; hot lists with all their values, not only those that people are shown. */
static json_t *json_rows(const struct options *o, const struct vt_listing *l,
			 const struct vt_table *t)
{
	json_t *rows = vt_json_table(t);
	size_t i;

	for (i = 0; rows && i < vt_listing_nrows(l); i++) {
		const struct vt_list_row *row = vt_listing_row(l, i);

		if (row->list)
			put_list(json_array_get(rows, i), row, &o->values.style);
	}
	return rows;
}

static json_t *json_listing(const struct options *o, const struct state *s,
			    const struct vt_listing *l, const struct vt_table *t)
{
	const struct vt_procedure *p = vt_listing_procedure(l);
	const struct vt_image *image = vt_listing_image(l);
	json_t *v = json_object();
	json_t *events = json_array();
	size_t i;

	json_object_set_new(v, "procedure", vt_json_text(p->name, strlen(p->name)));
	if (p->symbol)
		json_object_set_new(v, "symbol", vt_json_text(p->symbol, strlen(p->symbol)));
	if (image) {
		json_object_set_new(v, "image", vt_json_text(image->path, strlen(image->path)));
		json_object_set_new(v, "buildid",
				    vt_json_bytes(image->buildid, image->buildid_size));
	}
	json_object_set_new(v, "start", vt_json_hex(p->start));
	json_object_set_new(v, "end", vt_json_hex(p->end));
	for (i = 0; i < s->events.count; i++) {
		const char *label = s->events.label[i];
		json_t *event = json_object();

		json_object_set_new(event, "name", vt_json_text(label, strlen(label)));
		json_object_set_new(event, "samples",
				    vt_json_u64(vt_listing_total(l, s->events.index[i]).samples));
		json_array_append_new(events, event);
	}
	json_object_set_new(v, "events", events);
	if (vt_listing_missing(l))
		json_object_set_new(v, "missing", json_string(vt_listing_missing(l)));
	json_object_set_new(v, "rows", json_rows(o, l, t));
	return v;
}

static bool print_listing(struct app *a, const struct options *o, struct state *s,
			  const struct vt_listing *l, size_t number, struct vt_output *out)
{
	struct vt_table *t = o->form.csv || o->form.tsv ? s->table : vt_table_new();
	struct vt_error err = VT_ERROR_INIT;
	int rc = 0;

	if (!t)
		return app_no_memory(a);
	if (!vt_table_columns(t))
		vt_listing_columns(t, l, o->listing.view, &s->events);
	vt_listing_rows(t, l, &s->events);
	if (o->form.json) {
		json_array_append_new(s->procedures, json_listing(o, s, l, t));
	} else if (app_form_is_text(&o->form)) {
		bool color = app_color(a, o->color);

		vt_output_text(out, number ? "\n" : "");
		vt_listing_header(l, s->data.profile, &s->events, color, out);
		rc = vt_table_print(t, out, VT_TABLE_TEXT, color, &err);
	}
	if (t != s->table)
		vt_table_free(t);
	return rc < 0 ? app_fail(a, &err) : true;
}

static bool list(struct app *a, const struct options *o, struct state *s, size_t i,
		 struct vt_output *out)
{
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_procedure *p = &s->found.list[i];
	const struct vt_image *image = vt_images_get(s->data.images, p->image);
	struct vt_listing *l =
		vt_listing_new(s->data.profile, s->data.images, p, &o->listing, &err);
	bool ok;

	if (!l)
		return app_fail(a, &err);
	if (vt_listing_missing(l))
		app_say(a, "%s: %s%s", image ? image->path : "?", vt_listing_missing(l),
			o->listing.view == VT_LIST_SOURCE ? ""
			: o->with_values		  ? ": values by address only"
							  : ": samples by address only");
	ok = print_listing(a, o, s, l, i, out);
	vt_listing_free(l);
	return ok;
}

static bool list_all(struct app *a, const struct options *o, struct state *s)
{
	struct vt_output *out = app_text(a, o->output);
	struct vt_error err = VT_ERROR_INIT;
	size_t i;
	bool ok = out != NULL;

	s->table = vt_table_new();
	s->procedures = json_array();
	for (i = 0; i < s->found.count && ok; i++)
		ok = list(a, o, s, i, out);
	if (ok && o->form.json) {
		json_t *doc = vt_json_doc("vlist/1");

		vt_json_profile(doc, s->data.profile, &s->events, s->ranking);
		json_object_set(doc, "procedures", s->procedures);
		vt_json_write(out, doc, true);
	} else if (ok && !app_form_is_text(&o->form) && s->table) {
		ok = vt_table_print(s->table, out, app_table_form(&o->form), false, &err) == 0 ||
		     app_fail(a, &err);
	}
	return ok;
}

/* ---- where cycles went ---- */

static bool check_cycles(struct app *a, struct options *o)
{
	struct app_cycles *c = &o->cycles;

	if (c->calc + c->summary + c->draw + (c->stall != NULL) > 1)
		return app_usage(a, "--calc, --summary, --stall and --cfg exclude each other");
	if (o->with_values || o->replay || o->source || o->events.count || o->listing.partial)
		return app_usage(a,
				 "--calc, --summary, --stall and --cfg go with no other listing");
	if ((o->form.csv || o->form.tsv) && !c->stall)
		return app_usage(a, "--csv and --tsv go with --stall; there is --json");
	if (c->stall && vt_stall_find(c->stall) == VT_NSTALLS)
		return app_usage(a, "--stall %s: no such cause; vlist(1) has them", c->stall);
	if (c->images.count &&
	    (c->calc || c->draw || a->argc || (c->summary && (o->all || o->top))))
		return app_usage(a, "--image goes with --summary and --stall, without procedures");
	if (c->stall && a->argc)
		return app_usage(a, "--stall lists procedures and takes none");
	if ((c->calc || c->draw) && !a->argc && !o->all && !o->top)
		return app_usage(a, "name a procedure, or give --all or --top N");
	c->view = c->calc      ? APP_CYCLES_CALC
		  : c->summary ? APP_CYCLES_SUMMARY
		  : c->stall   ? APP_CYCLES_STALL
			       : APP_CYCLES_GRAPH;
	return true;
}

static bool is_cycles(const struct options *o)
{
	const struct app_cycles *c = &o->cycles;

	return c->calc || c->summary || c->draw || c->stall;
}

static void list_cycles(struct app *a, struct options *o, struct state *s)
{
	struct app_cycles *c = &o->cycles;

	c->top = o->top == UINT64_MAX ? 0 : o->top;
	c->syntax = o->listing.syntax;
	c->sources = o->listing.sources;
	c->form = o->form;
	c->output = o->output;
	c->color = o->color;
	app_cycles_list(a, c, &s->data, &s->found);
}

/* ---- before and after ---- */

static bool check_diff(struct app *a, const struct options *o)
{
	if (is_cycles(o) || o->with_values || o->replay)
		return app_usage(a, "--diff goes with no other listing");
	if (o->listing.partial)
		return app_usage(a, "--context does not go with --diff");
	return true;
}

static void list_diffs(struct app *a, const struct options *o, struct state *s)
{
	struct app_listdiffs d = {.before = o->before,
				  .symfs = o->symfs,
				  .listing = o->listing,
				  .form = o->form,
				  .output = o->output,
				  .color = o->color,
				  .named = a->argc > 0};

	if (!o->source)
		d.listing.view = VT_LIST_ASM;
	app_listdiffs_print(a, &d, &s->data, &s->events, &s->found);
}

/* ---- */

static bool check_options(struct app *a, struct options *o)
{
	if (o->cycles.has_cutoff && (o->cycles.cutoff < 0 || o->cycles.cutoff > 100))
		return app_usage(a, "--cutoff: a percentage is wanted");
	if (o->cycles.has_cutoff && !o->with_values && !is_cycles(o))
		return app_usage(a, "--cutoff goes with --values, --calc and --stall");
	if (app_form_count(&o->form) > 1)
		return app_usage(a, "--json, --csv and --tsv exclude each other");
	if (o->source && o->assembly)
		return app_usage(a, "--source and --asm exclude each other");
	if (o->intel && o->att)
		return app_usage(a, "--intel and --att exclude each other");
	if (o->replay && (a->argc || o->all || o->with_values || o->source || o->events.count))
		return app_usage(a, "--replay lists pairs of accesses, not procedures");
	if (is_cycles(o) && !check_cycles(a, o))
		return false;
	if (o->before && !check_diff(a, o))
		return false;
	if (!a->argc && !o->all && !o->top && !o->with_values && !o->replay && !is_cycles(o))
		return app_usage(a, "name a procedure, or give --all or --top N");
	if ((o->value_option || o->what) && !o->with_values)
		return app_usage(a, "--what, --show and --format go with --values");
	if (!app_what(a, o->what, &o->values.what))
		return false;
	if (o->with_values && o->source)
		return app_usage(a, "--values needs assembly, which --source leaves out");
	if (o->cycles.has_cutoff)
		o->values.cutoff = o->cycles.cutoff;
	if (o->all && !o->top)
		o->top = UINT64_MAX;
	if (!a->argc && !o->top && o->with_values)
		o->top = TOP_OF_VALUES;
	o->listing.view = o->source ? VT_LIST_SOURCE : o->assembly ? VT_LIST_ASM : VT_LIST_MIXED;
	o->listing.syntax = o->intel ? VT_SYNTAX_INTEL : VT_SYNTAX_ATT;
	return true;
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

static bool prepare(struct app *a, struct options *o, struct state *s)
{
	struct vt_error err = VT_ERROR_INIT;
	bool ok;
	int i;

	ok = is_cycles(o) ? app_profile_read_freqs(a, &s->data, o->input, o->symfs, o->cycles.draw)
	     : o->with_values ? app_profile_read_values(a, &s->data, o->input, o->symfs)
			      : app_profile_read(a, &s->data, o->input, o->symfs);
	if (!ok) {
		hint_at_input(a, o);
		return false;
	}
	o->values.lists = s->data.lists;
	o->listing.code = s->data.code;
	o->values.style = (struct vt_value_style){(enum vt_value_format)o->format, s->data.profile,
						  s->data.images};
	o->listing.values = o->with_values ? &o->values : NULL;
	if (vt_event_choice_init(&s->events, s->data.profile, o->events.items, o->events.count,
				 &err) < 0)
		return app_fail(a, &err);
	for (i = 0; i < a->argc; i++)
		if (!locate(a, s, a->argv[i]))
			return false;
	return !o->top || o->cycles.stall || add_top(a, s, o->top);
}

static void run(struct app *a, struct options *o)
{
	struct state s;

	memset(&s, 0, sizeof(s));
	if (!check_options(a, o))
		return;
	if (o->replay) {
		const struct app_replays pairs = {.input = o->input,
						  .symfs = o->symfs,
						  .output = o->output,
						  .top = o->top,
						  .syntax = o->listing.syntax,
						  .form = o->form,
						  .color = o->color};

		app_replays_list(a, &pairs);
		return;
	}
	o->listing.sources = vt_sources_new(o->dirs.items, o->dirs.count);
	if (prepare(a, o, &s)) {
		if (is_cycles(o))
			list_cycles(a, o, &s);
		else if (o->before)
			list_diffs(a, o, &s);
		else
			list_all(a, o, &s);
	}
	vt_sources_free(o->listing.sources);
	json_decref(s.procedures);
	vt_table_free(s.table);
	vt_found_fini(&s.found);
	vt_event_choice_fini(&s.events);
	vt_ranking_free(s.ranking);
	app_profile_end(&s.data);
}

#define FLAG(letter_, name_, variable, text)                                                       \
	{                                                                                          \
		.letter = (letter_), .name = (name_), .type = VT_OPT_FLAG, .value = &(variable),   \
		.help = (text)                                                                     \
	}

#define LIST(letter_, name_, variable, arg_, text)                                                 \
	{                                                                                          \
		.letter = (letter_), .name = (name_), .type = VT_OPT_LIST, .value = &(variable),   \
		.arg = (arg_), .help = (text)                                                      \
	}

#define STRING(letter_, name_, variable, arg_, text)                                               \
	{                                                                                          \
		.letter = (letter_), .name = (name_), .type = VT_OPT_STRING, .value = &(variable), \
		.arg = (arg_), .help = (text)                                                      \
	}

int main(int argc, char **argv)
{
	struct options o = {.values = {.cutoff = 1, .show = 5}};
	struct app app;
	const struct vt_opt opts[] = {
		STRING('i', "input", o.input, "FILE",
		       "read the stream from FILE, not from standard input"),
		FLAG('s', "source", o.source, "source lines with samples, no assembly"),
		FLAG('a', "asm", o.assembly, "assembly only, no source"),
		FLAG(0, "intel", o.intel, "x86 assembly in Intel's syntax"),
		FLAG(0, "att", o.att, "x86 assembly in AT&T's syntax (default)"),
		LIST('e', "event", o.events, "NAME", "show this event only; repeat for more"),
		FLAG(0, "all", o.all, "list all procedures with samples, the hottest first"),
		{.letter = 'n',
		 .name = "top",
		 .type = VT_OPT_U64,
		 .value = &o.top,
		 .arg = "N",
		 .min = 1,
		 .help = "list the N hottest procedures"},
		{.letter = 'c',
		 .name = "context",
		 .type = VT_OPT_U64,
		 .value = &o.listing.context,
		 .arg = "N",
		 .given = &o.listing.partial,
		 .help = "only what lies within N lines or instructions of samples"},
		LIST('I', "source-dir", o.dirs, "DIR",
		     "look for source files in DIR first; repeat for more"),
		FLAG(0, "values", o.with_values, "each instruction's hot lists of values (vhot)"),
		FLAG(0, "replay", o.replay, "pairs of accesses that conflict (vreplay)"),
		APP_OPT_CYCLES(o.cycles),
		STRING(0, "diff", o.before, "FILE",
		       "row by row beside what FILE, a stream of before, has"),
		{.name = "show",
		 .type = VT_OPT_U64,
		 .value = &o.values.show,
		 .arg = "N",
		 .given = &o.value_option,
		 .help = "show the N most frequent values (default 5)"},
		{.name = "format",
		 .type = VT_OPT_CHOICE,
		 .value = &o.format,
		 .arg = "FORM",
		 .choices = format_words,
		 .given = &o.value_option,
		 .help = "auto (default: by type), hex, dec, float, char, symbol"},
		APP_OPT_WHAT(o.what),
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_FORM(o.form),
		APP_OPT_COLOR(o.color),
		APP_OPT_OUTPUT(o.output),
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

	if (app_start(&app, &page, argc, argv))
		run(&app, &o);
	vt_opt_list_fini(&o.events);
	vt_opt_list_fini(&o.dirs);
	vt_opt_list_fini(&o.cycles.images);
	return app_finish(&app);
}
