/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "cmd/common/app.h"
#include "cmd/common/collect.h"
#include "cmd/common/find.h"
#include "cmd/common/options.h"
#include "cmd/common/stream.h"
#include "cmd/common/where.h"
#include "cmd/programs.h"
#include "formats/pt/sideband/files.h"
#include "interpret/output.h"
#include "value/carried_code.h"

/* By enum vt_algo. */
static const char *const algo_words[] = {"exact",      "gm",	 "tnv",		 "lru",
					 "convergent", "random", "space-saving", NULL};

/* The index of "caller" is true: lists are kept by caller. */
static const char *const context_words[] = {"none", "caller", NULL};

struct options {
	int algo, by_caller;
	uint64_t entries, steady, clear, interval;
	bool clear_given;
	double factor;
	const char *what, *output, *compress;
	struct app_where where;
};

struct hot {
	struct app *app;
	struct app_inputs in;
	struct vt_writer *writer;
	struct app_collect collect;
	struct vt_pt_files *files; /* of the stream at hand */
	char *cache;
	struct vt_carried_code carried;
	bool asked;	   /* for certain kinds of values */
	bool values;	   /* there are single ones, of whatever kind, */
	bool executed;	   /* executed code */
	struct vt_buf why; /* a plugin has made no values, if one says so */
};

/* ---- what to do ---- */

static bool check_vhot_options(struct app *a, const struct options *o)
{
	bool table = o->algo == VT_ALGO_TNV || o->algo == VT_ALGO_CONVERGENT ||
		     o->algo == VT_ALGO_RANDOM;
	const char *stray = o->clear_given && !table		      ? "--clear"
			    : o->interval && !table		      ? "--interval"
			    : o->factor != 0 && o->algo != VT_ALGO_GM ? "--factor"
								      : NULL;
	const struct app_rule rules[] = {
		{o->entries && table,
		 "--entries: of these lists, --steady and --clear are the size"},
		{o->entries && o->algo == VT_ALGO_EXACT, "--entries: exact lists have no limit"},
	};

	if (!APP_CHECK_RULES(a, rules))
		return false;
	return !stray || app_usage(a, "%s is not for %s", stray, algo_words[o->algo]);
}

/* Whether a block's code can be listed from a file, and the program has not written to it. */
static bool file_has_code(void *arg, const struct vt_bblock *b)
{
	const struct hot *h = arg;
	const struct vt_map *m = vt_addrspace_find(vt_context_space(h->collect.context),
						   (int32_t)b->pid, b->addr, 0);

	return m && m->type != VT_IMAGE_ANON && !m->writes &&
	       !vt_pt_files_differ(h->files, m, b->addr, b->code, b->size);
}

static bool open_lists(struct hot *h, const struct options *o)
{
	const struct vt_hotlist_options lists = {
		.algo = (enum vt_algo)o->algo,
		.entries = (uint32_t)o->entries,
		.factor = o->factor,
		.steady = (uint32_t)o->steady,
		.clear = (uint32_t)o->clear,
		.no_clear = o->clear_given && !o->clear,
		.interval = o->interval,
		.seed = h->app->seed,
	};
	uint32_t what;

	h->asked = o->what != NULL;
	h->cache = app_buildid_cache();
	if (!check_vhot_options(h->app, o) ||
	    !app_parse_what(h->app, o->what, VT_COLLECT_WHAT, &what) ||
	    !app_collect_open(&h->collect, h->app, &lists, what, o->by_caller))
		return false;
	h->carried = (struct vt_carried_code){
		.sites = h->collect.sites, .file_has = file_has_code, .arg = h};
	return true;
}

/* ---- reading ---- */

/* Keeps what the stream says of why a plugin has made no values. */
static void note_silent_plugin(struct hot *h, const struct vt_record *rec)
{
	struct vt_bytes value = vt_record_bytes(rec, VT_META_VALUE);

	if (!h->why.size && vt_record_is_meta(rec, VT_SILENT_PLUGIN))
		vt_buf_put(&h->why, value.data, value.size);
}

static int pass_vhot_record(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	struct hot *h = arg;

	if (rec->kind == VT_IMAGE)
		return vt_pt_files_image(h->files, rec, err);
	if (rec->kind == VT_LOST)
		vt_sites_write_loss(h->writer, rec);
	else
		vt_writer_copy(h->writer, rec);
	if (rec->kind == VT_META)
		note_silent_plugin(h, rec);
	return 0;
}

static bool read_hot_stream(struct hot *h, struct vt_reader *r)
{
	const struct vt_find_options find = {.buildid_cache = h->cache};
	const uint64_t kinds =
		VT_KIND(VT_IMAGE) | VT_KIND(VT_META) | VT_KIND(VT_GAP) | VT_KIND(VT_LOST);

	vt_pt_files_free(h->files);
	h->files = vt_pt_files_new(&find, NULL, NULL);
	if (!h->files)
		return app_no_memory(h->app);
	if (!app_collect_begin(&h->collect, NULL))
		return false;
	vt_context_add(h->collect.context,
		       &(struct vt_consumer){.record = pass_vhot_record, .arg = h, .kinds = kinds});
	vt_carried_code_begin(&h->carried, h->collect.context);
	if (!app_each_run(h->app, r, vt_context_feed, h->collect.context))
		return false;
	h->values = h->values || app_saw(h->app, VT_VALUE);
	h->executed = h->executed || app_saw(h->app, VT_EXEC);
	return app_collect_end(&h->collect);
}

static void explain_result(struct hot *h)
{
	const char *name = vt_reader_name(h->in.readers[h->in.count - 1]);
	uint64_t lists = vt_collect_stats(h->collect.collect)->lists;
	size_t nlists = vt_sites_nlists(h->collect.sites);
	const char *why = NULL;

	app_collect_tell(&h->collect);
	/* Nothing to make lists of, whatever --what left of it, or to count. */
	if (!nlists && !h->executed && !(h->asked && h->values))
		why = h->why.size ? vt_buf_str(&h->why)
		      : lists	  ? "hot lists, and no values to make them of "
				    "(vtrace merge adds hot lists)"
				  : APP_NO_VALUES;
	else if (!nlists)
		app_say(h->app, "%s: no values%s", name, h->asked ? " of these kinds" : "");
	if (why)
		app_lacks(h->app, name, why);
	else if (lists)
		app_say(h->app,
			"%" PRIu64 " hot lists of the input are left out: vtrace merge adds such",
			lists);
}

static void make_hot_lists(struct hot *h, const struct options *o)
{
	struct vt_error err = VT_ERROR_INIT;
	size_t i;

	app_make_stream(h->app, o->output);
	if (!open_lists(h, o) || !app_open_inputs(h->app, &h->in))
		return;
	h->writer = app_open_writer(h->app, o->output, o->compress, h->in.readers, h->in.count);
	if (!h->writer)
		return;
	for (i = 0; i < h->in.count; i++)
		if (!read_hot_stream(h, h->in.readers[i]))
			return;
	explain_result(h);
	if (vt_sites_write(h->collect.sites, h->writer, &err) < 0)
		app_fail(h->app, &err);
}

static void close_hot(struct hot *h)
{
	app_close_writer(h->app, h->writer);
	app_close_inputs(&h->in);
	app_collect_close(&h->collect);
	vt_pt_files_free(h->files);
	free(h->cache);
	vt_carried_code_fini(&h->carried);
	vt_buf_free(&h->why);
}

int cmd_hot(int argc, char **argv)
{
	struct options o = {
		.algo = VT_ALGO_SPACE_SAVING,
		.where = {.kind = VT_VALUE, .what = "values", .alone = true},
	};
	struct app app;
	struct hot h = {.app = &app};
	const struct vt_opt opts[] = {
		{0, "algo", VT_OPT_CHOICE, &o.algo, .arg = "HOW", .choices = algo_words,
		 .help = "space-saving (default), gm, tnv, lru, convergent, random, exact"},
		{'N', "entries", VT_OPT_U64, &o.entries, .arg = "N", .min = 1,
		 .max = VT_HOTLIST_MAX_ENTRIES,
		 .help = "values in a list (gm, space-saving: 16, lru: 6)"},
		{0, "factor", VT_OPT_F64, &o.factor, .arg = "F",
		 .help = "gm: thin by this factor (default N/(N-1))"},
		{0, "steady", VT_OPT_U64, &o.steady, .arg = "N", .min = 1,
		 .max = VT_HOTLIST_MAX_ENTRIES,
		 .help = "values that profiles are compared by; tnv, convergent, random: those\n"
			 "that are never cleared (default 3)"},
		{0, "clear", VT_OPT_U64, &o.clear, .arg = "N", .max = VT_HOTLIST_MAX_ENTRIES,
		 .given = &o.clear_given,
		 .help = "tnv, convergent, random: values that are cleared (default 3)"},
		{0, "interval", VT_OPT_U64, &o.interval, .arg = "N", .min = 1, .max = 1000000000,
		 .help = "tnv: clear after N values at least; convergent: look every N values;\n"
			 "random: N values at a time (default 2000)"},
		{0, "context", VT_OPT_CHOICE, &o.by_caller, .arg = "WHAT", .choices = context_words,
		 .help = "none (default), or caller: a list for each return address as well"},
		{'w', "what", VT_OPT_STRING, &o.what, .arg = "LIST",
		 .help = "kinds of values, as in loads,args,callers (default: all that were\n"
			 "captured, and targets)"},
		APP_OPT_WHERE(o.where.text),
		APP_OPT_SEED(app),
		APP_OPT_OUTPUT(o.output),
		APP_OPT_COMPRESS(o.compress),
		{0},
	};
	const struct vt_opt_page page = {
		.program = "vhot",
		.usage = "[-a HOW] [-N N] [-w LIST] [--context caller] [-o FILE] [-z HOW] "
			 "[FILE]...",
		.about = "Lists the most frequent values of each instruction, in constant space\n"
			 "for each: HOT records, and COUNT records of what was executed.",
		.opts = opts,
		.max_operands = UINT_MAX,
	};

	if (app_start(&app, &page, argc, argv)) {
		app_where_start(&app, &o.where, NULL);
		make_hot_lists(&h, &o);
	}
	close_hot(&h);
	app_where_end(&o.where);
	return app_finish(&app);
}
