/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/common/app.h"
#include "cmd/common/images.h"
#include "cmd/common/options.h"
#include "cmd/common/slice.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "cmd/common/values.h"
#include "cmd/programs.h"
#include "interpret/output.h"
#include "listing/values/interpreted.h"

#define BIT(what) (1u << VT_WHAT_##what)

/* The values that --what can choose. */
#define ALL_WHAT                                                                                   \
	(BIT(LOAD) | BIT(STORE) | BIT(LOAD_ADDRESS) | BIT(STORE_ADDRESS) | BIT(RESULT) |           \
	 BIT(ARG) | BIT(TARGET) | BIT(OPERAND) | BIT(LATENCY) | BIT(RETURN))

struct options {
	bool path, skip_given, keep, summary;
	uint64_t length;
	int skip;
	const char *frequency, *what, *mxcsr, *symfs, *trust, *output, *compress;
	struct vt_opt_list plugins;
	struct app_form form;
	struct app_slice slice;
};

static const char *const skip_words[] = {"random", NULL};

struct interp {
	struct app *app;
	struct options *o;
	struct app_context in;
	struct vt_interpret_output *output;
	struct vt_plugins *plugins;
};

/* ---- what to do ---- */

static bool check_vinterp_options(struct app *a, const struct options *o)
{
	const struct app_rule rules[] = {
		{o->form.json && !o->summary, "--json is for --summary"},
		{o->path && (o->frequency || o->skip_given),
		 "--frequency and --skip are of samples, not of a path"},
		{o->plugins.count && o->summary,
		 "--plugin makes values, and --summary writes none"},
	};

	return APP_CHECK_RULES(a, rules);
}

static bool load_plugins(struct interp *p, const struct vt_opt_list *names)
{
	struct vt_plugin_path where = {.dirs = getenv("VTRACE_PLUGINS")};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf own = VT_BUF_INIT;
	size_t i;
	bool ok;

	if (app_beside_program("../lib/vtrace", &own))
		where.own = vt_buf_str(&own);
	p->plugins = vt_plugins_new();
	ok = p->plugins || app_no_memory(p->app);
	for (i = 0; i < names->count && ok; i++)
		ok = vt_plugins_load(p->plugins, names->items[i], &where, &err) == 0 ||
		     app_fail(p->app, &err);
	vt_buf_free(&own);
	return ok;
}

static bool prepare_vinterp(struct interp *p)
{
	const struct options *o = p->o;
	struct vt_interpret_output_options out = {
		.interpret = {.path = o->path,
			      .length = (uint32_t)o->length,
			      .skip_random = o->skip_given,
			      .callers = !o->summary,
			      .seed = p->app->seed},
		.keep = o->keep,
		.warn = app_bad_record,
		.note = app_note,
		.warn_arg = p->app,
	};
	struct vt_error err = VT_ERROR_INIT;
	uint64_t frequency;

	if (!check_vinterp_options(p->app, o) ||
	    !app_parse_what(p->app, o->what, APP_INTERPRETED_WHAT, &out.what) ||
	    !app_parse_fraction(p->app, "--frequency", o->frequency, &frequency))
		return false;
	out.interpret.frequency = (uint32_t)frequency;
	if (o->mxcsr && vt_interpret_set_mxcsr(&out.interpret, o->mxcsr, &err) < 0) {
		vt_error_prefix(&err, "--mxcsr");
		return app_fail(p->app, &err);
	}
	if (!app_parse_trust(p->app, o->trust, &out.interpret.trust) ||
	    !load_plugins(p, &o->plugins))
		return false;
	/* Plugins take the place of the default kinds of values. */
	out.what &= o->plugins.count && !o->what ? 0 : ALL_WHAT;
	if (!out.what && !o->plugins.count)
		return app_usage(p->app, "--what: interpreting finds no values of that kind");
	out.plugins = p->plugins;
	/* The summary says how many results were known, whatever --what asks for. */
	out.interpret.capture =
		(out.what & ~BIT(RETURN)) | BIT(RESULT) | vt_plugins_capture(out.plugins);
	out.interpret.registers = vt_plugins_want_registers(out.plugins);
	if (!app_context_open(p->app, &p->in, o->symfs))
		return false;
	p->output = vt_interpret_output_new(&out, p->in.context, &err);
	return p->output || app_fail(p->app, &err);
}

/* Says why nothing was interpreted, or no value written. */
static bool check_totals(struct interp *p, const char *name, const struct vt_interpret_totals *t,
			 uint64_t values)
{
	struct vt_error err = VT_ERROR_INIT;

	if (t->runs || t->left_out || vt_plugins_totals(p->plugins)->values || values)
		return true;
	if (p->o->path)
		return app_lacks(p->app, name, APP_NO_CODE);
	if (!t->samples && app_saw_no_sample(p->app)) {
		app_say(p->app, "%s: no samples", name);
		return true;
	}
	if (t->samples && t->samples == t->no_registers && t->late) {
		vt_error_set(&err, VT_E_FORMAT,
			     "%s: %" PRIu64 " of %" PRIu64 " samples are precise with only the "
			     "user's registers, which are of the interrupt, a later moment: they "
			     "are refused (perf record --intr-regs has those of the sample)",
			     name, t->late, t->samples);
		return app_fail(p->app, &err);
	}
	if (t->samples == t->no_registers)
		return app_lacks(p->app, name, APP_NO_REGISTERS);
	app_say(p->app, "%s: nothing could be interpreted: vinterp --summary says why", name);
	return true;
}

/* Interprets a whole stream, into `out`; NULL for a summary. */
static bool interpret_input(struct interp *p, struct vt_reader *r, struct vt_writer *out)
{
	struct vt_error err = VT_ERROR_INIT;
	const struct vt_interpret_totals *t;
	struct vt_output *text;
	uint64_t values;

	if (out && vt_interpret_output_begin(p->output, out, r, &err) < 0)
		return app_fail(p->app, &err);
	if (!app_each_run(p->app, r, vt_context_feed, p->in.context))
		return false;
	t = vt_interpret_output_end(p->output, &values);
	app_images_tell_missing(&p->in.images);
	app_images_tell_unverified(&p->in.images);
	vt_interpretlist_withheld(t, app_note, p->app);
	if (!check_totals(p, vt_reader_name(r), t, values))
		return false;
	if (out) {
		if (vt_interpret_output_finish(p->output, &err) < 0)
			return app_fail(p->app, &err);
		vt_interpretlist_write(t, p->o->path, out);
		return true;
	}
	text = app_text(p->app, p->o->output);
	return text &&
	       (vt_interpretlist_print(t, p->o->path, p->o->form.json ? &p->app->losses : NULL,
				       text, &err) == 0 ||
		app_fail(p->app, &err));
}

static void run_vinterp(struct interp *p)
{
	struct vt_writer *out = NULL;
	struct vt_reader *r = NULL;

	if (!p->o->summary)
		app_make_stream(p->app, p->o->output);
	if (prepare_vinterp(p))
		r = app_open_reader(p->app, p->app->argc ? p->app->argv[0] : NULL);
	if (r && !p->o->summary)
		out = app_open_writer(p->app, p->o->output, p->o->compress, &r, 1);
	if (r && (out || p->o->summary))
		interpret_input(p, r, out);
	app_close_writer(p->app, out);
	app_close_reader(p->app, r);
	vt_interpret_output_free(p->output);
	vt_plugins_free(p->plugins);
	app_context_close(&p->in);
}

int cmd_interp(int argc, char **argv)
{
	struct options o = {.length = 4}; /* value sampling 2.1 */
	struct app app;
	struct interp p = {.app = &app, .o = &o};
	const struct vt_opt opts[] = {
		{'l', "length", VT_OPT_U64, &o.length, .arg = "N", .min = 1, .max = 1000000,
		 .help = "interpret N instructions from each sample on (default 4)"},
		{0, "path", VT_OPT_FLAG, &o.path,
		 .help = "interpret what was executed: a decoded trace, a full recording"},
		{0, "frequency", VT_OPT_STRING, &o.frequency, .arg = "1/K",
		 .help = "interpret one in K samples, chosen at random"},
		{0, "skip", VT_OPT_CHOICE, &o.skip, .arg = "random", .choices = skip_words,
		 .given = &o.skip_given,
		 .help = "run 0 to N-1 instructions before those whose values count"},
		{'w', "what", VT_OPT_STRING, &o.what, .arg = "LIST",
		 .help = "kinds of values, as in loads,results (default: loads, stores, results,\n"
			 "arguments, targets)"},
		{0, "mxcsr", VT_OPT_STRING, &o.mxcsr, .arg = "default|HEX",
		 .help = "what MXCSR is where the stream does not say (1f80 is the default):\n"
			 "without it, results that depend on it are unknown"},
		{0, "plugin", VT_OPT_LIST, &o.plugins, .arg = "PLUGIN[:OPTIONS]",
		 .help = "load a plugin: vtrace-plugin(5); repeat for more"},
		{0, "keep", VT_OPT_FLAG, &o.keep,
		 .help = "keep what was interpreted from: registers, stacks, recorded values"},
		{0, "summary", VT_OPT_FLAG, &o.summary,
		 .help = "print what was interpreted, how much of it is known, why runs ended"},
		{0, "json", VT_OPT_FLAG, &o.form.json, .help = "print the summary as JSON"},
		APP_OPT_SLICE(o.slice),
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_TRUST(o.trust),
		APP_OPT_SEED(app),
		APP_OPT_OUTPUT(o.output),
		APP_OPT_COMPRESS(o.compress),
		{0},
	};
	const struct vt_opt_page page = {
		.program = "vinterp",
		.usage = "[-l N] [-f 1/K] [--skip random] [-w LIST] [-p PLUGIN]... [options] "
			 "[FILE]",
		.about = "Interprets the instructions that follow each sample, from its registers "
			 "and stack,\nor that were executed, and writes the values that it finds.",
		.opts = opts,
		.max_operands = 1,
	};

	if (app_start(&app, &page, argc, argv) && app_slice_start(&app, &o.slice, o.symfs))
		run_vinterp(&p);
	app_slice_end(&o.slice);
	vt_opt_list_fini(&o.plugins);
	return app_finish(&app);
}
