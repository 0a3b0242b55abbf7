/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>

#include "cmd/common/app.h"
#include "cmd/common/images.h"
#include "cmd/common/options.h"
#include "cmd/common/slice.h"
#include "cmd/common/stream.h"
#include "cmd/programs.h"
#include "conflict/replay.h"
#include "listing/values/conflicts.h"

#define DEFAULT_LENGTH 128 /* instructions: those in flight, and some */
#define MAX_LENGTH     1000000

static const char *const model_words[] = {"generic", "skylake", "zen4", "alpha", NULL};

struct options {
	int model;
	bool distance_given, loads_given, stores_given;
	uint64_t distance, length, loads, stores, crossing;
	bool dependent, summary, json;
	const char *cache, *image, *symfs, *trust, *output, *compress;
	struct vt_opt_list events;
	struct app_slice slice;
};

struct job {
	struct app *app;
	const struct options *o;
	struct vt_conflict_model model;
	unsigned trust; /* VT_TRUST_ */
	struct app_images images;
	struct vt_reader *reader;
	struct vt_writer *writer; /* NULL for a summary */
	struct vt_replay *replay;
};

/* ---- options ---- */

static bool make_model(struct app *a, const struct options *o, struct vt_conflict_model *m)
{
	struct vt_error err = VT_ERROR_INIT;

	*m = *vt_conflict_model(model_words[o->model]);
	if (o->distance_given)
		m->distance = (uint32_t)o->distance;
	if (o->stores_given)
		m->stores = (uint32_t)o->stores;
	if (o->loads_given && m->loads_distance)
		m->loads_distance = (uint32_t)o->loads;
	m->crossing = (uint32_t)o->crossing;
	if (!o->cache || vt_conflict_model_cache(m, o->cache, &err) == 0)
		return true;
	vt_error_prefix(&err, "--cache");
	return app_fail(a, &err);
}

/* ---- reading ---- */

/* The records that name the places of pairs, and those that describe the recording. */
#define PASSED_ON                                                                                  \
	(VT_KIND(VT_IMAGE) | VT_KIND(VT_MAP) | VT_KIND(VT_THREAD) | VT_KIND(VT_KSYMBOL) |          \
	 VT_KIND(VT_EVENT) | VT_KIND(VT_META) | VT_KIND(VT_LOST) | VT_KIND(VT_GAP) |               \
	 VT_KIND(VT_FILE) | VT_KIND(VT_SYMBOL) | VT_KIND(VT_LINE))

static int feed_replay_run(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
			   struct vt_error *err)
{
	struct job *j = arg;
	struct vt_record rec = {block, block->kind, first};
	bool passed_on = j->writer && block->kind < VT_NKINDS && VT_KIND(block->kind) & PASSED_ON;
	int code = vt_replay_feed(j->replay, block, first, count, err);

	for (; passed_on && rec.row - first < count; rec.row++)
		vt_writer_copy(j->writer, &rec);
	return code == 0 && j->writer ? vt_writer_error(j->writer, err) : code;
}

/* Whether anything could be looked at; says why not. */
static bool report_unusable_accesses(struct job *j)
{
	const struct vt_replay_totals *t = vt_replay_totals(j->replay);
	const char *name = vt_reader_name(j->reader);
	uint64_t known = t->of.known + t->of.relative;

	if (t->ignored)
		app_say(j->app,
			"%s: %" PRIu64 " pieces of executed code are not looked at, as "
			"samples with registers came first",
			name, t->ignored);
	if (!known && app_saw_no_sample(j->app))
		app_say(j->app, "%s: no samples", name);
	else if (!known)
		return app_lacks(j->app, name, vt_replay_remedy(vt_replay_source(j->replay)));
	if (known < t->of.accesses)
		app_say(j->app, "%s: %" PRIu64 " of %" PRIu64 " accesses have no known address%s",
			name, t->of.accesses - known, t->of.accesses,
			vt_replay_source(j->replay) == VT_REPLAY_PATH
				? " (vtrace record --full --mem records them)"
				: "");
	return true;
}

static bool replay(struct job *j)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_output *out;

	if (!app_each_run(j->app, j->reader, feed_replay_run, j))
		return false;
	if (vt_replay_finish(j->replay, &err) < 0)
		return app_fail(j->app, &err);
	app_images_tell_missing(&j->images);
	app_images_tell_unverified(&j->images);
	if (!report_unusable_accesses(j))
		return false;
	if (j->writer) {
		vt_replay_write(j->replay, j->writer);
		return true;
	}
	out = app_text(j->app, j->o->output);
	return out && (vt_replay_summarize(j->replay, &j->model,
					   j->o->json ? &j->app->losses : NULL, out, &err) == 0 ||
		       app_fail(j->app, &err));
}

static void run_vreplay(struct app *a, const struct options *o)
{
	struct job j = {.app = a, .o = o};
	struct vt_replay_options ro = {.model = &j.model,
				       .dependent = o->dependent,
				       .image = o->image,
				       .length = (uint32_t)o->length,
				       .events = o->events.items,
				       .nevents = o->events.count,
				       .warn = app_bad_record,
				       .warn_arg = a};
	struct vt_error err = VT_ERROR_INIT;

	if (o->json && !o->summary) {
		app_usage(a, "--json goes with --summary; of pairs, vlist --replay prints JSON");
		return;
	}
	if (!o->summary)
		app_make_stream(a, o->output);
	if (!make_model(a, o, &j.model) || !app_parse_trust(a, o->trust, &j.trust))
		return;
	ro.trust = j.trust;
	ro.images = app_images_open(a, &j.images, o->symfs);
	j.replay = ro.images ? vt_replay_new(&ro, &err) : NULL;
	if (ro.images && !j.replay)
		app_fail(a, &err);
	if (j.replay)
		j.reader = app_open_reader(a, a->argc ? a->argv[0] : NULL);
	if (j.reader && !o->summary)
		j.writer = app_open_writer(a, o->output, o->compress, &j.reader, 1);
	if (j.reader && (j.writer || o->summary))
		replay(&j);
	app_close_writer(a, j.writer);
	app_close_reader(a, j.reader);
	vt_replay_free(j.replay);
	app_images_close(&j.images);
}

int cmd_replay(int argc, char **argv)
{
	struct options o = {.length = DEFAULT_LENGTH};
	struct app app;
	const struct vt_opt opts[] = {
		{'m', "model", VT_OPT_CHOICE, &o.model, .arg = "CORE", .choices = model_words,
		 .help = "generic (default), skylake, zen4, or alpha, the 21264"},
		{0, "distance", VT_OPT_U64, &o.distance, .arg = "N", .min = 1,
		 .max = VT_CONFLICT_MAX_DISTANCE, .given = &o.distance_given,
		 .help = "instructions that a pair is apart at most (default: the core's)"},
		{'l', "length", VT_OPT_U64, &o.length, .arg = "N", .min = 1, .max = MAX_LENGTH,
		 .help = "interpret N instructions from each sample on (default 128)"},
		{0, "loads", VT_OPT_U64, &o.loads, .arg = "N", .min = 1,
		 .max = VT_CONFLICT_MAX_DISTANCE, .given = &o.loads_given,
		 .help = "alpha: instructions that two loads are apart at most (default 128)"},
		{0, "stores", VT_OPT_U64, &o.stores, .arg = "N", .max = VT_CONFLICT_MAX_DISTANCE,
		 .given = &o.stores_given,
		 .help = "stores that wait to be written at most, 0 for no bound"},
		{0, "crossing", VT_OPT_U64, &o.crossing, .arg = "BYTES", .max = 1u << 30,
		 .help = "what crosses a multiple of this, a line or page, is not forwarded"},
		{0, "cache", VT_OPT_STRING, &o.cache, .arg = "SIZE:WAYS:LINE",
		 .help = "alpha: the cache, in bytes (default 64k:2:64)"},
		{0, "dependent", VT_OPT_FLAG, &o.dependent,
		 .help = "also pairs of which one depends on the other"},
		{0, "image", VT_OPT_STRING, &o.image, .arg = "NAME",
		 .help = "only pairs whose later instruction lies in this image"},
		{'e', "event", VT_OPT_LIST, &o.events, .arg = "NAME",
		 .help = "rank by samples of this event; repeat for more (default: events\n"
			 "that are known to count such conflicts)"},
		{0, "summary", VT_OPT_FLAG, &o.summary,
		 .help = "print how much was looked at and found, no stream"},
		{0, "json", VT_OPT_FLAG, &o.json, .help = "print the summary as JSON"},
		APP_OPT_SLICE_ONLY(o.slice),
		APP_OPT_SLICE_CPU(o.slice),
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_TRUST(o.trust),
		APP_OPT_OUTPUT(o.output),
		APP_OPT_COMPRESS(o.compress),
		{0},
	};
	const struct vt_opt_page page = {
		.program = "vreplay",
		.usage = "[-m CORE] [-d N] [-e NAME] [options] [FILE]",
		.about = "Finds pairs of instructions whose memory accesses may conflict in a "
			 "processor\nthat runs them out of order: CONFLICT records.",
		.opts = opts,
		.max_operands = 1,
	};

	if (app_start(&app, &page, argc, argv) && app_slice_start(&app, &o.slice, o.symfs))
		run_vreplay(&app, &o);
	app_slice_end(&o.slice);
	vt_opt_list_fini(&o.events);
	return app_finish(&app);
}
