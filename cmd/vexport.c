/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/app.h"
#include "cmd/common/find.h"
#include "cmd/common/options.h"
#include "cmd/common/slice.h"
#include "cmd/common/stacks.h"
#include "cmd/common/stream.h"
#include "cmd/programs.h"
#include "formats/export/export.h"

struct options {
	int format; /* index, or -1: not given */
	struct vt_opt_list events;
	bool by_period, inlined;
	struct app_slice slice;
	const char *symfs, *output;
};

static void write_stacks(struct app *a, const struct options *o, const struct app_stacks *s)
{
	const struct vt_export_format *f = vt_export_formats[o->format];
	struct vt_output *out = app_text(a, o->output);
	struct vt_error err = VT_ERROR_INIT;

	if (!out)
		return;
	if (f->binary && out->tty)
		app_usage(a, "%s is not for a terminal; -o FILE writes a file", f->name);
	else if (f->write(s->stacks, s->name, out, &err) < 0)
		app_fail(a, &err);
}

static void run_vexport(struct app *a, const struct options *o)
{
	const struct vt_export_format *f = o->format < 0 ? NULL : vt_export_formats[o->format];
	const struct app_rule rules[] = {
		{!f, "--to FORMAT is missing: pprof, folded or speedscope"},
		{f && f->all && o->by_period, "this format has the periods beside the samples"},
		{f && !f->all && o->events.count > 1, "this format has one event"},
	};
	const struct app_stacks_how how = {.path = a->argc ? a->argv[0] : NULL,
					   .symfs = o->symfs,
					   .events = &o->events,
					   .all = f && f->all,
					   .both = f && f->all,
					   .by_period = o->by_period,
					   .inlined = o->inlined || (f && f->inlined),
					   .lines = true,
					   .labels = f && f->labels};
	struct app_stacks s;

	if (!APP_CHECK_RULES(a, rules))
		return;
	if (app_stacks_read(a, &how, &s))
		write_stacks(a, o, &s);
	app_stacks_end(&s);
}

int cmd_export(int argc, char **argv)
{
	struct options o = {.format = -1};
	struct app app;
	const struct vt_opt opts[] = {
		APP_CHOICE(0, "to", o.format, "FORMAT", vt_export_words,
			   "pprof (for go tool pprof), folded (stacks for flame graph\n"
			   "programs), speedscope (for its web page)"),
		APP_LIST('e', "event", o.events, "NAME",
			 "export this event; repeat for more with pprof; default: all\n"
			 "with pprof, else the first one with call chains"),
		APP_FLAG(0, "period", o.by_period, "count periods, not samples"),
		APP_FLAG(0, "inline", o.inlined, "show inlined functions as frames"),
		APP_OPT_SLICE(o.slice),
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_OUTPUT(o.output),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vexport",
		.usage = "--to FORMAT [options] [FILE]",
		.about = "Writes the samples of a stream, with their call chains, for other tools.",
		.opts = opts,
		.max_operands = 1,
	};

	if (app_start(&app, &page, argc, argv) && app_slice_start(&app, &o.slice, o.symfs))
		run_vexport(&app, &o);
	app_slice_end(&o.slice);
	vt_opt_list_fini(&o.events);
	return app_finish(&app);
}
