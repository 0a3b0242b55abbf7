/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/app.h"
#include "cmd/common/find.h"
#include "cmd/common/options.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "conflict/replay.h"
#include "listing/json.h"

#define DEFAULT_LENGTH 128 /* instructions: those in flight, and some */
#define MAX_LENGTH     1000000

static const char *const model_words[] = {"generic", "skylake", "zen4", "alpha", NULL};

struct options {
	int model;
	uint64_t distance;
	bool distance_given;
	uint64_t length;
	uint64_t loads;
	bool loads_given;
	uint64_t stores;
	bool stores_given;
	uint64_t crossing;
	const char *cache;
	bool dependent;
	const char *image;
	const char *symfs;
	const char *trust;
	struct vt_opt_list events;
	bool summary;
	bool json;
	const char *output;
	const char *compress;
};

struct job {
	struct app *app;
	const struct options *o;
	struct vt_conflict_model model;
	unsigned trust; /* VT_TRUST_ */
	struct app_warnings warnings;
	char *cache; /* perf's build-id cache */
	struct vt_images *images;
	struct vt_reader *reader;
	struct vt_writer *writer; /* NULL for a summary */
	struct vt_replay *replay;
};

/* ---- options ---- */

/* "SIZE:WAYS:LINE", SIZE in bytes or with k for 1024 of them. */
static bool parse_cache(struct app *a, const char *text, struct vt_conflict_model *m)
{
	uint32_t *const parts[] = {&m->cache_size, &m->cache_ways, &m->cache_line};
	uint64_t way;
	size_t i;

	for (i = 0; i < 3; i++) {
		char *end;
		unsigned long v = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;

		if (!v || v > 1u << 30)
			return app_usage(a, "--cache: SIZE:WAYS:LINE is wanted, as in 64k:2:64");
		if (i == 0 && (*end == 'k' || *end == 'K') && v <= 1u << 20) {
			v *= 1024;
			end++;
		}
		if (*end != (i < 2 ? ':' : '\0'))
			return app_usage(a, "--cache: SIZE:WAYS:LINE is wanted, as in 64k:2:64");
		*parts[i] = (uint32_t)v;
		text = end + 1;
	}
	way = m->cache_size / m->cache_ways;
	if ((m->cache_line & (m->cache_line - 1)) || way < m->cache_line || way % m->cache_line)
		return app_usage(a, "--cache: lines of %u bytes do not make ways of %llu",
				 m->cache_line, (unsigned long long)way);
	return true;
}

static bool make_model(struct app *a, const struct options *o, struct vt_conflict_model *m)
{
	*m = *vt_conflict_model(model_words[o->model]);
	if (o->distance_given)
		m->distance = (uint32_t)o->distance;
	if (o->stores_given)
		m->stores = (uint32_t)o->stores;
	if (o->loads_given && m->loads_distance)
		m->loads_distance = (uint32_t)o->loads;
	m->crossing = (uint32_t)o->crossing;
	if (o->cache && !(m->types & 1u << VT_CONFLICT_SYNONYM))
		return app_usage(a, "--cache: the model %s has no conflicts of its cache", m->name);
	return !o->cache || parse_cache(a, o->cache, m);
}

/* ---- reading ---- */

/* What names the places of pairs, and what tells of the recording. */
static bool is_passed_on(uint32_t kind)
{
	switch (kind) {
	case VT_IMAGE:
	case VT_MAP:
	case VT_THREAD:
	case VT_KSYMBOL:
	case VT_EVENT:
	case VT_META:
	case VT_LOST:
	case VT_GAP:
		return true;
	default:
		return false;
	}
}

static int take_run(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
		    struct vt_error *err)
{
	struct job *j = arg;
	struct vt_record rec = {block, block->kind, first};
	int code = vt_replay_feed(j->replay, block, first, count, err);

	for (; j->writer && is_passed_on(block->kind) && rec.row - first < count; rec.row++)
		vt_writer_copy(j->writer, &rec);
	return code == 0 && j->writer ? vt_writer_error(j->writer, err) : code;
}

/* What to do about a source of which no access is known. */
static const char *remedy(enum vt_replay_source source)
{
	switch (source) {
	case VT_REPLAY_NOTHING:
		return "neither executed code (vtrace record --full --mem) nor samples with "
		       "registers (vtrace record --regs)";
	case VT_REPLAY_SAMPLES:
		return "no address of any access is known behind the samples: vinterp --summary "
		       "says how far they were interpreted";
	case VT_REPLAY_PATH:
		return "no address of any access is known along the path: vtrace record --full "
		       "--mem records them";
	default:
		return "no address of any access of memory is known: vtrace record --full --mem "
		       "records them";
	}
}

/* Whether anything could be looked at; says why not. */
static bool check(struct job *j)
{
	const struct vt_replay_totals *t = vt_replay_totals(j->replay);
	const char *name = vt_reader_name(j->reader);
	uint64_t told = t->of.known + t->of.relative;

	if (t->ignored)
		app_say(j->app,
			"%s: %" PRIu64 " pieces of executed code are not looked at, as "
			"samples with registers came first",
			name, t->ignored);
	if (!told && app_saw_no_sample(j->app))
		app_say(j->app, "%s: no samples", name);
	else if (!told)
		return app_lacks(j->app, name, remedy(vt_replay_source(j->replay)));
	if (told < t->of.accesses)
		app_say(j->app, "%s: %" PRIu64 " of %" PRIu64 " accesses have no known address%s",
			name, t->of.accesses - told, t->of.accesses,
			vt_replay_source(j->replay) == VT_REPLAY_PATH
				? " (vtrace record --full --mem records them)"
				: "");
	return true;
}

/* ---- the summary ---- */

static const char *source_name(const struct job *j)
{
	static const char *const names[] = {
		[VT_REPLAY_NOTHING] = "nothing",
		[VT_REPLAY_RECORDED] = "recorded addresses",
		[VT_REPLAY_PATH] = "the path, interpreted",
		[VT_REPLAY_SAMPLES] = "samples, interpreted",
	};

	return names[vt_replay_source(j->replay)];
}

static json_t *json_totals(const struct job *j)
{
	const struct vt_replay_totals *t = vt_replay_totals(j->replay);
	json_t *v = vt_json_doc("vreplay/1");

	vt_json_losses(v, &j->app->losses);
	json_object_set_new(v, "from", json_string(source_name(j)));
	json_object_set_new(v, "model", json_string(j->model.name));
	json_object_set_new(v, "distance", vt_json_u64(j->model.distance));
	json_object_set_new(v, "runs", vt_json_u64(t->of.runs));
	json_object_set_new(v, "instructions", vt_json_u64(t->of.insns));
	json_object_set_new(v, "accesses", vt_json_u64(t->of.accesses));
	json_object_set_new(v, "known", vt_json_u64(t->of.known));
	json_object_set_new(v, "relative", vt_json_u64(t->of.relative));
	json_object_set_new(v, "apart", vt_json_u64(t->of.apart));
	json_object_set_new(v, "dependent", vt_json_u64(t->of.ruled_out));
	json_object_set_new(v, "samples", vt_json_u64(t->samples));
	return v;
}

static void print_totals(const struct job *j, struct vt_output *out)
{
	const struct vt_replay_totals *t = vt_replay_totals(j->replay);

	vt_output_printf(out, "from          %s\n", source_name(j));
	vt_output_printf(out, "model         %s, %u instructions apart at most\n", j->model.name,
			 j->model.distance);
	vt_output_printf(out, "instructions  %" PRIu64 " in %" PRIu64 " runs\n", t->of.insns,
			 t->of.runs);
	vt_output_printf(out, "accesses      %" PRIu64, t->of.accesses);
	if (t->of.accesses)
		vt_output_printf(out, ", %.2f%% of them with known addresses",
				 100.0 * (double)t->of.known / (double)t->of.accesses);
	if (t->of.relative)
		vt_output_printf(out, ",\n              %.2f%% relative to an unknown register",
				 100.0 * (double)t->of.relative / (double)t->of.accesses);
	vt_output_printf(out, "\nleft out      %" PRIu64 " repeated, wide or locked accesses\n",
			 t->of.apart);
	vt_output_printf(out, "ruled out     %" PRIu64 " times, as one depends on the other\n",
			 t->of.ruled_out);
	vt_output_printf(out, "samples       %" PRIu64 "\n\n", t->samples);
}

static struct vt_table *tabulate(const struct job *j)
{
	const struct vt_replay_totals *t = vt_replay_totals(j->replay);
	struct vt_table *table = vt_table_new();
	uint32_t type;

	if (!table)
		return NULL;
	vt_table_column(table, "type", "type", VT_FORMAT_TEXT);
	vt_table_column(table, "pairs", "pairs", VT_FORMAT_NUMBER);
	vt_table_column(table, "count", "times met", VT_FORMAT_NUMBER);
	for (type = 1; type < VT_NCONFLICTS; type++) {
		if (!(j->model.types & 1u << type))
			continue;
		vt_table_row(table, VT_STYLE_PLAIN);
		vt_table_str(table, vt_conflict_name(type));
		vt_table_number(table, t->pairs[type]);
		vt_table_number(table, t->met[type]);
	}
	return table;
}

static bool summarize(struct job *j)
{
	struct vt_output *out = app_text(j->app, j->o->output);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_table *table = out ? tabulate(j) : NULL;
	bool ok = true;

	if (!out)
		return false;
	if (!table)
		return app_no_memory(j->app);
	if (j->o->json) {
		json_t *v = json_totals(j);

		json_object_set_new(v, "types", vt_json_table(table));
		vt_json_write(out, v, true);
	} else {
		print_totals(j, out);
		ok = vt_table_print(table, out, VT_TABLE_TEXT, false, &err) == 0 ||
		     app_fail(j->app, &err);
	}
	vt_table_free(table);
	return ok;
}

/* ---- */

static bool replay(struct job *j)
{
	struct vt_error err = VT_ERROR_INIT;

	if (!app_each_run(j->app, j->reader, take_run, j))
		return false;
	if (vt_replay_finish(j->replay, &err) < 0)
		return app_fail(j->app, &err);
	app_images_tell_missing(&j->warnings, j->images);
	app_images_tell_unverified(&j->warnings, j->images);
	if (!check(j))
		return false;
	if (!j->writer)
		return summarize(j);
	vt_replay_write(j->replay, j->writer);
	return true;
}

static void run(struct app *a, const struct options *o)
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
	ro.images = j.images = app_images_open(a, &j.warnings, &j.cache, o->symfs);
	j.replay = j.images ? vt_replay_new(&ro, &err) : NULL;
	if (j.images && !j.replay)
		app_fail(a, &err);
	if (j.replay)
		j.reader = app_open_reader(a, a->argc ? a->argv[0] : NULL);
	if (j.reader && !o->summary)
		j.writer = app_open_writer(a, o->output, o->compress, &j.reader, 1);
	if (j.reader && (j.writer || o->summary))
		replay(&j);
	app_close_writer(a, j.writer);
	vt_reader_close(j.reader);
	vt_replay_free(j.replay);
	app_images_close(j.images, &j.warnings, j.cache);
}

int main(int argc, char **argv)
{
	struct options o = {.length = DEFAULT_LENGTH};
	struct app app;
	const struct vt_opt opts[] = {
		{'m', "model", VT_OPT_CHOICE, &o.model, .arg = "CORE", .choices = model_words,
		 .help = "generic (default), skylake, zen4, or alpha, the 21264"},
		{'d', "distance", VT_OPT_U64, &o.distance, .arg = "N", .min = 1,
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

	if (app_start(&app, &page, argc, argv))
		run(&app, &o);
	vt_opt_list_fini(&o.events);
	return app_finish(&app);
}
