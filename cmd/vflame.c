/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/buf.h"
#include "cmd/common/app.h"
#include "cmd/common/find.h"
#include "cmd/common/options.h"
#include "cmd/common/slice.h"
#include "cmd/common/stacks.h"
#include "cmd/common/stream.h"
#include "cmd/programs.h"
#include "listing/flame/flame.h"

struct options {
	struct vt_flame_options how;
	struct vt_opt_list events;
	uint64_t width;
	bool by_period, inlined, diff;
	struct app_slice slice;
	const char *symfs, *before_symfs, *output;
};

static bool read_side(struct app *a, const struct options *o, const char *path, const char *symfs,
		      struct app_stacks *s)
{
	const struct app_stacks_how how = {.path = path,
					   .symfs = symfs,
					   .events = &o->events,
					   .both = true,
					   .by_period = o->by_period,
					   .inlined = o->inlined};

	return app_stacks_read(a, &how, s);
}

static void draw_flame(struct app *a, const struct options *o, const struct app_stacks *before,
		       const struct app_stacks *after)
{
	const struct vt_flame_side sides[] = {
		{before ? before->stacks : NULL, o->by_period, 0},
		{after->stacks, o->by_period, 0},
	};
	struct vt_flame_options how = o->how;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf unit = VT_BUF_INIT, source = VT_BUF_INIT;
	struct vt_output *out = NULL;
	struct vt_flame f;

	vt_buf_printf(&unit, "%s%s",
		      o->by_period     ? "periods of "
		      : after->sampled ? "samples of "
				       : "",
		      after->stacks->values[0].name);
	if (o->by_period)
		vt_buf_printf(&unit, ", in %s", after->stacks->values[1].unit);
	if (before)
		vt_buf_printf(&source, "before: %s, after: ", before->name);
	vt_buf_printf(&source, "%s", after->name);
	how.unit = vt_buf_str(&unit);
	how.source = vt_buf_str(&source);
	how.width = (unsigned)o->width;
	how.sampled = after->sampled;
	how.lost = a->losses.lost;
	if (vt_flame_init(&f, &how, before ? &sides[0] : NULL, &sides[1], &err) < 0)
		app_fail(a, &err);
	else
		out = app_text(a, o->output);
	if (out && vt_flame_print(&f, out, &err) < 0)
		app_fail(a, &err);
	vt_flame_fini(&f);
	vt_buf_free(&unit);
	vt_buf_free(&source);
}

static void run_vflame(struct app *a, const struct options *o)
{
	const struct app_rule rules[] = {
		{!o->diff && a->argc > 1, "one stream at a time; vtrace merge adds several"},
		{o->diff && a->argc != 2, "--diff needs two streams, before and after"},
		{!o->diff && o->before_symfs, "--before-symfs belongs to --diff"},
		{o->events.count > 1, "a flame graph is of one event"},
		{!(o->how.min_percent >= 0 && o->how.min_percent <= 100),
		 "--min takes a percentage"},
	};
	struct app_stacks before = {0}, after = {0};
	const char *first = a->argc ? a->argv[0] : NULL;
	bool ok;

	if (!APP_CHECK_RULES(a, rules))
		return;
	ok = !o->diff ||
	     read_side(a, o, first, o->before_symfs ? o->before_symfs : o->symfs, &before);
	ok = ok && read_side(a, o, o->diff ? a->argv[1] : first, o->symfs, &after);
	if (ok)
		draw_flame(a, o, o->diff ? &before : NULL, &after);
	app_stacks_end(&before);
	app_stacks_end(&after);
}

int cmd_flame(int argc, char **argv)
{
	struct options o = {.how = {.title = "Flame graph", .min_percent = 0.1},
			    .width = VT_FLAME_WIDTH};
	struct app app;
	const struct vt_opt opts[] = {
		APP_LIST('e', "event", o.events, "NAME",
			 "draw this event; default: the first one with call chains"),
		APP_FLAG(0, "period", o.by_period, "weigh each sample by its period"),
		APP_FLAG(0, "inline", o.inlined, "show inlined functions as frames"),
		APP_FLAG(0, "icicle", o.how.icicle, "the outermost frames at the top"),
		APP_FLAG(0, "diff", o.diff,
			 "draw AFTER; colours tell where its shares differ from those of BEFORE"),
		APP_STRING(0, "before-symfs", o.before_symfs, "DIR",
			   "look for the images of BEFORE below DIR"),
		APP_F64(0, "min", o.how.min_percent, "PCT",
			"leave out frames with less than PCT percent (default 0.1)"),
		APP_STRING(0, "title", o.how.title, "TEXT", "what stands above the picture"),
		{.name = "width",
		 .type = VT_OPT_U64,
		 .value = &o.width,
		 .arg = "PIXELS",
		 .min = VT_FLAME_WIDTH_MIN,
		 .max = VT_FLAME_WIDTH_MAX,
		 .help = "of the picture (default 1200)"},
		APP_OPT_SLICE(o.slice),
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_OUTPUT(o.output),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vflame",
		.usage = "[options] [FILE]\n--diff [options] BEFORE AFTER",
		.about = "Draws the samples of a stream, with their call chains, as a flame graph "
			 "in SVG.",
		.opts = opts,
		.max_operands = 2,
	};

	if (app_start(&app, &page, argc, argv) && app_slice_start(&app, &o.slice, o.symfs))
		run_vflame(&app, &o);
	app_slice_end(&o.slice);
	vt_opt_list_fini(&o.events);
	return app_finish(&app);
}
