/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/common/options.h"
#include "cmd/common/trace.h"
#include "cmd/programs.h"
#include "cmd/vlist/listings.h"

/* --values without a procedure: those with the most samples. */
#define TOP_OF_VALUES 10

/* --paths without a procedure. */
#define TOP_OF_PATHS 10

static const char *const format_words[] = {"auto", "hex", "dec", "float", "char", "symbol", NULL};

static bool check_vlist_options(struct app *a, struct vlist_options *o)
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
		{o->with_events + o->pairs + o->paths +
				 (cycles || o->with_values || o->replay || o->before || o->source) >
			 1,
		 "--events, --pairs and --paths go with no other listing"},
		{(o->with_events || o->pairs || o->paths) && o->events.count > 1,
		 "--events, --pairs and --paths show one event"},
		{o->paths &&
			 (o->assembly || o->listing.partial || o->intel || o->att || o->dirs.count),
		 "--paths shows no code: it goes with none of --asm, --context, --intel, --att and "
		 "--source-dir"},
		{o->before && (cycles || o->with_values || o->replay),
		 "--diff goes with no other listing"},
		{o->before && o->listing.partial, "--context does not go with --diff"},
		{o->cycles.images.count && !cycles, "--image goes with --summary and --stall"},
		{(o->value_option || o->what) && !o->with_values,
		 "--what, --show and --format go with --values"},
	};

	o->cycles.form = o->form;
	if (o->top_given && !o->top && !o->replay)
		o->all = true;
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
	if (!a->argc && !o->top && !o->replay && !cycles)
		o->top = o->paths ? TOP_OF_PATHS : o->with_values ? TOP_OF_VALUES : 1;
	o->listing.view = o->source		     ? VT_LIST_SOURCE
			  : o->assembly || o->before ? VT_LIST_ASM
						     : VT_LIST_MIXED;
	o->listing.syntax = o->intel ? VT_SYNTAX_INTEL : VT_SYNTAX_ATT;
	return true;
}

/* Whether an operand is written as a path, which is no name, glob or /expression/ of procedures. */
static bool is_path(const char *operand)
{
	size_t n = strlen(operand);

	return (*operand == '/' && operand[n - 1] != '/' && !strchr(operand, ':')) ||
	       strncmp(operand, "./", 2) == 0 || strncmp(operand, "../", 3) == 0;
}

/* What is empty is no name of a procedure, if there is another one. */
static bool is_empty_input(const struct app *a, const char *operand)
{
	struct stat st;

	return a->argc > 1 && stat(operand, &st) == 0 && S_ISREG(st.st_mode) && !st.st_size;
}

/*
 * `vlist FILE PROCEDURE...`: the first operand is the input if it is one, or else the last; then
 * one that is a path, so that what is wrong with it is told.
 */
static void take_input(struct app *a, struct vlist_options *o)
{
	const char *first = a->argc ? a->argv[0] : "", *last = a->argc ? a->argv[a->argc - 1] : "";

	if (o->input || !a->argc)
		return;
	if (app_is_input(first) ||
	    (!app_is_input(last) && (is_path(first) || is_empty_input(a, first)))) {
		o->input = *a->argv++;
		a->argc--;
	} else if (app_is_input(last) || is_path(last)) {
		o->input = a->argv[--a->argc];
	}
}

static void run_vlist(struct app *a, struct vlist_options *o)
{
	take_input(a, o);
	if (!check_vlist_options(a, o))
		return;
	if (o->replay)
		vlist_list_replays(a, o);
	else if (o->paths)
		vlist_list_paths(a, o);
	else if (o->pairs)
		vlist_list_pairs(a, o);
	else
		vlist_list_procedures(a, o);
}

int cmd_list(int argc, char **argv)
{
	struct vlist_options o = {.values = {.cutoff = 1, .show = 5}};
	struct app app;
	const struct vt_opt opts[] = {
		APP_STRING('i', "input", o.input, "FILE", "read FILE, whatever the operands are"),
		APP_FLAG(0, "source", o.source, "source lines with samples, no assembly"),
		APP_FLAG(0, "asm", o.assembly, "assembly only, no source"),
		APP_FLAG(0, "intel", o.intel, "x86 assembly in Intel's syntax"),
		APP_FLAG(0, "att", o.att, "x86 assembly in AT&T's syntax (default)"),
		APP_LIST('e', "event", o.events, "NAME", "show this event only; repeat for more"),
		APP_FLAG(0, "all", o.all, "list all procedures with samples, the hottest first"),
		{'n', "top", VT_OPT_U64, &o.top, .arg = "N", .given = &o.top_given,
		 .help = "list the N hottest procedures; 0: all"},
		{0, "context", VT_OPT_U64, &o.listing.context, .arg = "N",
		 .given = &o.listing.partial,
		 .help = "only what lies within N lines or instructions of samples"},
		APP_LIST('I', "source-dir", o.dirs, "DIR",
			 "look for source files in DIR first; repeat for more"),
		APP_FLAG(0, "values", o.with_values,
			 "each instruction's hot lists of values (vhot)"),
		APP_FLAG(0, "events", o.with_events,
			 "events and latencies of each instruction (vevent)"),
		APP_FLAG(0, "replay", o.replay, "pairs of accesses that conflict (vreplay)"),
		APP_FLAG(0, "pairs", o.pairs,
			 "each instruction's sums of pairs of samples (vpair)"),
		APP_FLAG(0, "paths", o.paths, "paths that led to samples (vpath)"),
		APP_OPT_CYCLES(o.cycles),
		APP_STRING(0, "diff", o.before, "FILE",
			   "row by row beside what FILE, a stream of before, has"),
		{0, "show", VT_OPT_U64, &o.values.show, .arg = "N", .given = &o.value_option,
		 .help = "show the N most frequent values (default 5)"},
		{0, "format", VT_OPT_CHOICE, &o.format, .arg = "FORM", .choices = format_words,
		 .given = &o.value_option,
		 .help = "auto (default: by type), hex, dec, float, char, symbol"},
		APP_OPT_WHAT(o.what),
		APP_OPT_SLICE_ONLY(o.slice),
		APP_OPT_SLICE_CPU(o.slice),
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_FORM(o.form),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vlist",
		.usage = "[options] [FILE] [PROCEDURE...]\n[options] --all | --top N [FILE]\n"
			 "[options] --values [FILE]\n"
			 "[options] --events [FILE] [PROCEDURE...]\n"
			 "[options] --diff BEFORE [FILE] PROCEDURE...\n"
			 "[options] --replay [FILE]\n"
			 "[options] --pairs [FILE] [PROCEDURE...]\n"
			 "[options] --paths [FILE] [PROCEDURE...]\n"
			 "[options] --calc|--summary|--cfg [FILE] PROCEDURE...\n"
			 "[options] --summary|--stall KIND [--image FILE] [FILE]",
		.about = "Lists procedures of a stream or a trace: assembly and source, samples of "
			 "each\n"
			 "instruction.  A PROCEDURE is NAME, GLOB, /EXPRESSION/ or 0xADDRESS, "
			 "or as vprof\n"
			 "names what lies in none, [CAUSE]; IMAGE: before it tells the image, "
			 "and #N behind\n"
			 "it takes the N-th of several.  Without one it is that with the most "
			 "samples.",
		.opts = opts,
		.max_operands = UINT_MAX,
	};

	if (app_start(&app, &page, argc, argv) && app_slice_start(&app, &o.slice, o.symfs))
		run_vlist(&app, &o);
	app_slice_end(&o.slice);
	vt_opt_list_fini(&o.events);
	vt_opt_list_fini(&o.dirs);
	vt_opt_list_fini(&o.cycles.images);
	return app_finish(&app);
}
