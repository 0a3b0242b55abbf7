/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/version.h"
#include "cmd/common/app.h"
#include "cmd/common/images.h"
#include "cmd/common/options.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "cmd/common/where.h"
#include "cmd/programs.h"
#include "listing/events/report.h"
#include "merge/merge.h"
#include "profile/block_code.h"

struct options {
	const char *by, *what, *histogram, *bins, *cpu, *symfs, *compress;
	struct vt_opt_list events;
	struct app_form form;
	struct app_where where;
	uint64_t top;
	bool top_given, together;
};

struct job {
	struct app *app;
	const struct options *o;
	struct vt_evreport report;
	/* Of the stream at hand. */
	struct app_context in;
	struct app_events events;
	struct vt_blockcode *code;
	struct vt_buf divisor; /* the model that its estimates say they were divided by */
	struct app_inputs inputs;
	struct vt_writer *writer; /* NULL for a listing */
	/* Of several streams, else NULL. */
	struct vt_merge *merge;
	FILE *sum; /* the stream that is listed */
	struct vt_evseen seen;
};

/* What a stream of estimates keeps of its input: what places and code are, and what is missing. */
#define KEPT                                                                                       \
	(VT_KIND(VT_EVENT) | VT_KIND(VT_IMAGE) | VT_KIND(VT_MAP) | VT_KIND(VT_THREAD) |            \
	 VT_KIND(VT_KSYMBOL) | VT_KIND(VT_META) | VT_KIND(VT_BLOCK) | VT_KIND(VT_LOST) |           \
	 VT_KIND(VT_GAP) | VT_KIND(VT_FILE) | VT_KIND(VT_SYMBOL) | VT_KIND(VT_LINE) |              \
	 VT_KIND(VT_TIMECONV))

/* What the sum of several keeps: it names images by ids of its own. */
#define SUMMED                                                                                     \
	(VT_KIND(VT_EVENT) | VT_KIND(VT_IMAGE) | VT_KIND(VT_META) | VT_KIND(VT_LOST) |             \
	 VT_KIND(VT_GAP) | VT_KIND(VT_FILE) | VT_KIND(VT_SYMBOL) | VT_KIND(VT_LINE))

static int take_record(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	struct job *j = arg;

	if (vt_record_is_meta(rec, VT_EV_META))
		return 0;
	if (vt_record_is_meta(rec, VT_EV_META_MODEL)) {
		const struct vt_bytes model = vt_record_bytes(rec, VT_META_VALUE);

		j->divisor.size = 0;
		vt_buf_put(&j->divisor, model.data, model.size);
		return j->divisor.failed ? vt_error_nomem(err) : 0;
	}
	if (j->merge && SUMMED >> rec->kind & 1 &&
	    vt_merge_feed(j->merge, rec->block, rec->row, 1, err) < 0)
		return -(int)err->code;
	if (!j->writer || j->merge)
		return 0;
	vt_writer_copy(j->writer, rec);
	return vt_writer_error(j->writer, err);
}

/* ---- options ---- */

static bool parse_by(struct job *j)
{
	static const char *const words[] = {NULL, "source", "page", "addr"};
	const char *by = j->o->by;
	unsigned i;

	j->report.level = VT_LEVEL_PROCEDURE;
	if (!by)
		return true;
	for (i = 0; vt_level_words[i]; i++)
		if (strcmp(by, vt_level_words[i]) == 0) {
			j->report.level = (enum vt_level)i;
			return true;
		}
	for (i = VT_EVBY_SOURCE; i <= VT_EVBY_ADDR; i++)
		if (strcmp(by, words[i]) == 0) {
			j->report.by = (enum vt_evby)i;
			return true;
		}
	return app_usage(j->app,
			 "--by: '%s' is none of procedure, image, line, instruction, inlined, "
			 "source, page, addr",
			 by);
}

static bool parse_histogram(struct job *j)
{
	const struct options *o = j->o;
	struct vt_error err = VT_ERROR_INIT;
	unsigned stat;

	j->report.histogram = -1;
	if (!o->histogram)
		return !o->bins || app_usage(j->app, "--bins goes with --histogram");
	stat = vt_evstat_named(o->histogram, strlen(o->histogram));
	if (stat == VT_EV_STATS || !vt_evstat_is_latency(stat))
		return app_usage(j->app, "--histogram: '%s' is no latency, such as lat_load",
				 o->histogram);
	j->report.histogram = (int)stat;
	if (!o->bins || strcmp(o->bins, "auto") == 0)
		return true;
	if (vt_parse_u64(o->bins, "--bins", &j->report.bins, &err) < 0)
		return app_fail(j->app, &err);
	return (j->report.bins >= 1 && j->report.bins <= 1000) ||
	       app_usage(j->app, "--bins: auto, or from 1 to 1000");
}

static bool lists(const struct options *o)
{
	return o->top_given || o->by || o->histogram || o->what || o->together || o->events.count ||
	       app_form_count(&o->form);
}

static bool check_usage(struct job *j)
{
	const struct options *o = j->o;
	const struct app_rule rules[] = {
		{app_form_count(&o->form) > 1, "--json, --csv and --tsv exclude each other"},
		{o->histogram && (o->by || o->what || o->top_given),
		 "--histogram is of all places: it goes with none of --by, --what and --top"},
		{o->compress && lists(o), "--compress goes with no listing"},
	};

	return APP_CHECK_RULES(j->app, rules) && parse_by(j) && parse_histogram(j);
}

/* ---- reading ---- */

static bool begin_stream(struct job *j)
{
	struct app *a = j->app;

	if (!app_context_open(a, &j->in, j->o->symfs))
		return false;
	j->code = vt_blockcode_new(j->in.context);
	if (!j->code)
		return app_no_memory(a);
	if (!app_events_open(a, &j->events, j->in.context, j->report.by))
		return false;
	vt_context_add(j->in.context, &(struct vt_consumer){.take = vt_blockcode_feed,
							    .arg = j->code,
							    .kinds = VT_KIND(VT_BLOCK)});
	vt_context_add(j->in.context,
		       &(struct vt_consumer){.record = take_record, .arg = j, .kinds = KEPT});
	return true;
}

static void end_stream(struct job *j)
{
	app_events_close(&j->events);
	vt_blockcode_free(j->code);
	vt_buf_free(&j->divisor);
	j->divisor = (struct vt_buf)VT_BUF_INIT;
	j->code = NULL;
	app_context_close(&j->in);
	j->events = (struct app_events){0};
	j->in = (struct app_context){.images.quiet = j->in.images.quiet};
}

/* The model whose micro-operations divided estimates of the stream; NULL: none did. */
static const char *divisor_of(struct job *j)
{
	return j->events.divisor ? j->events.divisor
	       : j->divisor.size ? vt_buf_str(&j->divisor)
				 : NULL;
}

static bool check_divisor(struct job *j, const char *name)
{
	struct vt_error err = VT_ERROR_INIT;

	if (!j->events.divisor || !j->divisor.size ||
	    strcmp(j->events.divisor, vt_buf_str(&j->divisor)) == 0)
		return true;
	vt_error_set(&err, VT_E_MISMATCH,
		     "%s: its samples are to be divided by the micro-operations of %s, but its "
		     "estimates were by those of %s (META " VT_EV_META_MODEL ")",
		     name, j->events.divisor, vt_buf_str(&j->divisor));
	return app_fail(j->app, &err);
}

static bool read_stream(struct job *j, struct vt_reader *r)
{
	struct vt_error err = VT_ERROR_INIT;

	if (!begin_stream(j) || !app_each_run(j->app, r, vt_context_feed, j->in.context))
		return false;
	if (vt_blockcode_finish(j->code, &err) < 0)
		return app_fail(j->app, &err);
	return app_events_finish(j->app, &j->events, vt_reader_name(r), j->o->cpu,
				 j->in.images.store, j->code) &&
	       check_divisor(j, vt_reader_name(r));
}

static bool open_writer(struct job *j)
{
	j->writer = app_open_writer(j->app, j->o->form.output, j->o->compress, j->inputs.readers,
				    j->inputs.count);
	return j->writer != NULL;
}

/* ---- several streams ---- */

static bool add_stream(struct job *j, struct vt_reader *r)
{
	const struct vt_evgather *g;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_evseen seen;

	if (!read_stream(j, r))
		return false;
	g = j->events.gather;
	seen = vt_evgather_seen(g);
	j->seen.others += seen.others;
	j->seen.seconds += seen.seconds;
	if (vt_merge_add_estimates(j->merge, vt_evgather_stats(g), vt_evgather_groups(g),
				   divisor_of(j), &err) < 0 ||
	    vt_merge_end_stream(j->merge, vt_reader_name(r), &err) < 0) {
		vt_error_prefix(&err, "%s", vt_reader_name(r));
		return app_fail(j->app, &err);
	}
	end_stream(j);
	return true;
}

/* Writes the sum to a temporary stream, so that several streams are listed as one is. */
static bool write_sum(struct job *j)
{
	char program[] = "vevent", version[] = VT_VERSION;
	struct vt_stage stage = {.program = program, .version = version};
	const struct vt_writer_options o = {.compression = VT_COMPRESS_NONE, .stage = &stage};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer *w;

	j->sum = tmpfile();
	if (!j->sum) {
		vt_error_set(&err, VT_E_SYSTEM, "no temporary file");
		return app_fail(j->app, &err);
	}
	w = vt_writer_open_fd(fileno(j->sum), "temporary file", &o, &err);
	if (!w)
		return app_fail(j->app, &err);
	if (vt_merge_write(j->merge, w, &err) < 0) {
		vt_writer_abandon(w);
		return app_fail(j->app, &err);
	}
	return (vt_writer_close(w, VT_STATUS_COMPLETE, &err) == 0 &&
		lseek(fileno(j->sum), 0, SEEK_SET) == 0) ||
	       app_fail(j->app, &err);
}

static bool read_sum(struct job *j)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r = vt_reader_open_fd(fileno(j->sum), "temporary file", &err);
	const struct vt_block *block;
	uint32_t first, count;
	int code = r ? 1 : -1;

	while (code > 0) {
		code = vt_reader_next_run(r, &block, &first, &count, &err);
		if (code > 0 && vt_context_feed(j->in.context, block, first, count, &err) < 0)
			code = -1;
	}
	vt_reader_close(r);
	return code == 0 || app_fail(j->app, &err);
}

static bool sum_streams(struct job *j)
{
	struct vt_evstats *groups;
	struct vt_error err = VT_ERROR_INIT;
	size_t i;

	j->merge = vt_merge_new(1);
	if (!j->merge)
		return app_no_memory(j->app);
	for (i = 0; i < j->inputs.count; i++)
		if (!add_stream(j, j->inputs.readers[i]))
			return false;
	if (!lists(j->o))
		return open_writer(j) &&
		       (vt_merge_write(j->merge, j->writer, &err) == 0 || app_fail(j->app, &err));
	/* Those before have the same images. */
	j->in.images.quiet = true;
	if (!write_sum(j) || !begin_stream(j) || !read_sum(j))
		return false;
	vt_evgather_note(j->events.gather, &j->seen);
	groups = vt_evgather_groups(j->events.gather);
	return !groups || vt_merge_groups(j->merge, groups, &err) == 0 || app_fail(j->app, &err);
}

static void print(struct job *j)
{
	const struct options *o = j->o;
	struct vt_output *out = app_text(j->app, o->form.output);
	struct vt_error err = VT_ERROR_INIT;

	j->report.gather = j->events.gather;
	j->report.context = j->in.context;
	j->report.images = j->in.images.store;
	j->report.events = o->events.items;
	j->report.nevents = o->events.count;
	j->report.what = o->what;
	j->report.together = o->together;
	j->report.top = o->top;
	j->report.json = o->form.json;
	j->report.form = app_table_form(&o->form);
	j->report.color = out && app_form_color(j->app, &o->form);
	j->report.losses = &j->app->losses;
	if (out && vt_evreport_print(&j->report, out, &err) < 0)
		app_fail(j->app, &err);
}

static bool open_streams(struct job *j)
{
	struct app *a = j->app;

	if (!lists(j->o))
		app_make_stream(a, j->o->form.output);
	if (!app_open_inputs(a, &j->inputs))
		return false;
	/* Several may not add up: nothing is written before that is known. */
	return lists(j->o) || j->inputs.count > 1 || open_writer(j);
}

static bool read_one(struct job *j)
{
	struct vt_error err = VT_ERROR_INIT;

	if (!read_stream(j, j->inputs.readers[0]))
		return false;
	if (!j->writer)
		return true;
	if (divisor_of(j))
		vt_writer_meta(j->writer, VT_EV_META_MODEL, divisor_of(j));
	return vt_evstats_write(vt_evgather_stats(j->events.gather), j->writer, &err) == 0 ||
	       app_fail(j->app, &err);
}

static void run_vevent(struct app *a, const struct options *o)
{
	struct job j = {.app = a, .o = o};

	if (check_usage(&j) && open_streams(&j) &&
	    (j.inputs.count > 1 ? sum_streams(&j) : read_one(&j)) && lists(o))
		print(&j);
	app_close_writer(a, j.writer);
	end_stream(&j);
	app_close_inputs(&j.inputs);
	vt_merge_free(j.merge);
	if (j.sum)
		fclose(j.sum);
}

int cmd_event(int argc, char **argv)
{
	struct options o = {
		.top = 20, .cpu = "auto", .where = {.kind = VT_SAMPLE, .what = "samples"}};
	struct app app;
	const struct vt_opt opts[] = {
		APP_STRING('b', "by", o.by, "WHAT",
			   "one row for each procedure (default), image, line, instruction,\n"
			   "inlined function, source (which level of memory answered), page or\n"
			   "addr of data"),
		{'n', "top", VT_OPT_U64, &o.top, .arg = "N", .given = &o.top_given,
		 .help = "the N first rows (default 20); 0: all"},
		APP_LIST('e', "event", o.events, "NAME",
			 "the samples of this event only; repeat for more"),
		APP_STRING('w', "what", o.what, "WHAT",
			   "only these, as in dcache_miss,lat_load; the first sorts"),
		APP_FLAG(0, "together", o.together,
			 "add up the samples of several events, each by its own periods"),
		APP_STRING(0, "histogram", o.histogram, "LATENCY",
			   "the distribution of one, as in lat_load"),
		APP_STRING(0, "bins", o.bins, "N", "its rows: auto (default), or N of equal width"),
		APP_STRING('m', "model", o.cpu, "NAME",
			   "the machine whose micro-operations divide samples of these: a name\n"
			   "or a file, as in vsim --model; auto (default): by what the stream\n"
			   "says of its processor"),
		APP_OPT_WHERE(o.where.text),
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_FORM(o.form),
		APP_OPT_COMPRESS(o.compress),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vevent",
		.usage = "[options] [FILE]...",
		.about = "Estimates from samples of single instructions how often each event "
			 "happened, and how\nlong each stage took, at each place; of several "
			 "FILEs of all together.",
		.opts = opts,
		.max_operands = UINT_MAX,
	};

	if (app_start(&app, &page, argc, argv)) {
		app_where_start(&app, &o.where, o.symfs);
		run_vevent(&app, &o);
	}
	app_where_end(&o.where);
	vt_opt_list_fini(&o.events);
	return app_finish(&app);
}
