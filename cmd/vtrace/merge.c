/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <limits.h>

#include "cmd/common/find.h"
#include "cmd/common/hots.h"
#include "cmd/common/images.h"
#include "cmd/common/options.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "cmd/programs.h"
#include "memory/records.h"
#include "merge/merge.h"

struct merge {
	struct app *app;
	const char *output;
	const char *compress;
	const char *symfs;
	bool chains;
	struct app_inputs in;
	struct vt_merge *merge;
};

static bool fail_at(struct merge *m, size_t i, struct vt_error *err)
{
	vt_error_prefix(err, "%s", vt_reader_name(m->in.readers[i]));
	return app_fail(m->app, err);
}

static bool feed_input(struct merge *m, size_t i)
{
	const char *name = vt_reader_name(m->in.readers[i]);
	struct vt_error err = VT_ERROR_INIT;

	if (!app_each_run(m->app, m->in.readers[i], vt_merge_feed, m->merge))
		return false;
	if (vt_merge_end_stream(m->merge, name, &err) < 0)
		return fail_at(m, i, &err);
	app_tell_hots(m->app, name, vt_merge_damage(m->merge));
	if (vt_merge_raised(m->merge))
		app_say_lossy(m->app, "%s: " VT_MEMRECORDS_RAISED, name);
	return true;
}

/* With its call chains: copies of stacks are unwound with the files of its images. */
static bool feed_chains(struct merge *m, size_t i)
{
	struct vt_error err = VT_ERROR_INIT;
	struct app_images images = {.quiet = false};
	bool ok = app_images_open(m->app, &images, m->symfs) != NULL;

	ok = ok &&
	     (vt_merge_start_chains(m->merge, images.store, &err) == 0 || fail_at(m, i, &err));
	ok = ok && feed_input(m, i);
	if (ok)
		app_tell_chains(m->app, vt_reader_name(m->in.readers[i]),
				vt_merge_chain_damage(m->merge));
	app_images_close(&images);
	return ok;
}

static bool add_inputs(struct merge *m)
{
	size_t i;

	for (i = 0; i < m->in.count; i++)
		if (!(m->chains ? feed_chains(m, i) : feed_input(m, i)))
			return false;
	return true;
}

static void write_merged_sum(struct merge *m)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer *w =
		app_open_writer(m->app, m->output, m->compress, m->in.readers, m->in.count);

	if (!w)
		return;
	if (vt_merge_write(m->merge, w, &err) < 0)
		app_fail(m->app, &err);
	app_close_writer(m->app, w);
}

static void merge_inputs(struct merge *m)
{
	app_make_stream(m->app, m->output);
	m->merge = vt_merge_new(m->app->seed);
	if (m->merge)
		vt_merge_warn(m->merge, app_bad_record, m->app);
	if (!m->merge)
		app_no_memory(m->app);
	else if (app_open_inputs(m->app, &m->in) && add_inputs(m))
		write_merged_sum(m);
	app_close_inputs(&m->in);
	vt_merge_free(m->merge);
}

int cmd_merge(int argc, char **argv)
{
	struct app app;
	struct merge m = {.app = &app};
	const struct vt_opt opts[] = {
		APP_FLAG(0, "chains", m.chains, "keep call chains, as CHAIN records"),
		APP_OPT_OUTPUT(m.output),
		APP_OPT_COMPRESS(m.compress),
		APP_OPT_SEED(app),
		APP_OPT_SYMFS(m.symfs),
		{0},
	};
	const struct vt_opt_page page = {
		.program = "vtrace merge",
		.usage = "[--chains] [-o FILE] [-z HOW] [-s SEED] [--symfs DIR] [FILE]...",
		.about = "Adds up the profiles of several runs or machines: COUNT records as they "
			 "are,\n"
			 "samples by image, offset and event, hot lists (HOT) by place and kind of "
			 "value,\n"
			 "estimates (EVSTAT) by image, offset, event and what they are of, memory\n"
			 "profiles by object and location.\n"
			 "With --chains, call chains are added up, too: chains with equal places.",
		.opts = opts,
		.max_operands = UINT_MAX,
	};

	if (app_start(&app, &page, argc, argv))
		merge_inputs(&m);
	return app_finish(&app);
}
