/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "base/plural.h"
#include "cmd/common/app.h"
#include "cmd/common/images.h"
#include "cmd/common/options.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "cmd/programs.h"
#include "listing/memory/print.h"
#include "memory/memory.h"
#include "memory/records.h"

#define DEFAULT_LIMIT (UINT64_C(1) << 21) /* some 700 MB of locations */
#define DEFAULT_DEPTH 3

#define NO_ADDRESSES                                                                               \
	"no addresses of loads and stores (vtrace record --full --mem --values stores records "    \
	"them, vtrace record --sample-values --latency those of some loads)"

#define NO_ACCESSES                                                                                \
	"neither executed code (vtrace record --full --mem --values stores --heap records it) "    \
	"nor samples with data addresses (vtrace record --sample-values --latency, perf mem "      \
	"record, vsim --profileme)"

static const char *const by_words[] = {"object", "location", NULL};
static const char *const grain_words[] = {"8", "4", "2", "1", NULL};

struct options {
	int by; /* of by_words */
	bool layout, loads, sharing, type, records, exact;
	bool each_given, grain_given, depth_given, top_given;
	int grain; /* of grain_words */
	uint64_t top, each, depth, limit;
	const char *object, *in, *symfs, *compress;
	struct app_form form;
};

struct job {
	struct app *app;
	const struct options *o;
	struct app_context in;
	struct vt_reader *reader;
	struct vt_writer *writer; /* of --records */
	struct vt_memory *memory;
	uint32_t types; /* bits 1 << enum vt_object_type */
};

/* ---- options ---- */

static bool parse_types(struct app *a, const char *text, uint32_t *types)
{
	const char *p = text, *end;
	unsigned type;

	*types = text ? 0 : UINT32_MAX;
	for (; p; p = *end ? end + 1 : NULL) {
		end = p + strcspn(p, ",");
		for (type = 0; type < VT_NOBJECTTYPES; type++)
			if (strlen(vt_object_type_name(type)) == (size_t)(end - p) &&
			    strncmp(vt_object_type_name(type), p, (size_t)(end - p)) == 0)
				break;
		if (type == VT_NOBJECTTYPES)
			return app_usage(a, "--in: no type of objects: '%.*s'", (int)(end - p), p);
		*types |= 1u << type;
	}
	return true;
}

static bool check_vmem_options(struct app *a, const struct options *o, uint32_t *types)
{
	const struct app_rule rules[] = {
		{app_form_count(&o->form) > 1, "--json, --csv and --tsv exclude each other"},
		{o->layout && o->by, "--layout lists objects: it goes not with --by location"},
		{o->sharing && (o->layout || o->by), "--sharing lists cache lines: it goes with "
						     "neither --layout nor --by location"},
		{o->type && (o->sharing || o->by),
		 "--type lists types: it goes with neither --sharing nor --by location"},
		{o->type && (o->in || o->grain_given),
		 "--type lists types: it goes with neither --in nor --grain"},
		{o->loads && (o->layout || o->by || o->sharing || o->type),
		 "--loads lists loads: it goes with none of --layout, --by location, --sharing and "
		 "--type"},
		{o->loads && o->object, "--loads lists loads: it goes not with --object"},
		{o->each_given && !o->layout, "--each goes with --layout"},
		{o->records && (o->layout || o->type || o->sharing || o->loads),
		 "--records writes objects and locations: it goes with none of --layout, --type, "
		 "--sharing and --loads"},
		{o->records && app_form_count(&o->form),
		 "--records writes a stream: it goes with none of --json, --csv and --tsv"},
		{o->exact && (o->records || o->sharing || o->loads),
		 "--exact lists values of locations: it goes with none of --records, --sharing and "
		 "--loads"},
		{o->compress && !o->records, "--compress goes with --records"},
	};

	return APP_CHECK_RULES(a, rules) && parse_types(a, o->in, types);
}

/* ---- the input ---- */

/* The records that names of objects need, and those that describe the recording. */
#define PASSED_ON                                                                                  \
	(VT_KIND(VT_IMAGE) | VT_KIND(VT_META) | VT_KIND(VT_LOST) | VT_KIND(VT_GAP) |               \
	 VT_KIND(VT_FILE) | VT_KIND(VT_SYMBOL) | VT_KIND(VT_LINE))

static int pass_on(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	struct job *j = arg;

	vt_writer_copy(j->writer, rec);
	return vt_writer_error(j->writer, err);
}

static bool open_streams(struct job *j)
{
	const struct options *o = j->o;

	if (o->records)
		app_make_stream(j->app, o->form.output);
	j->reader = app_open_reader(j->app, j->app->argc ? j->app->argv[0] : NULL);
	if (!j->reader || !o->records)
		return j->reader != NULL;
	j->writer = app_open_writer(j->app, o->form.output, o->compress, &j->reader, 1);
	if (j->writer)
		vt_context_add(
			j->in.context,
			&(struct vt_consumer){.record = pass_on, .arg = j, .kinds = PASSED_ON});
	return j->writer != NULL;
}

static bool read_accesses(struct job *j)
{
	struct vt_memory_options mo = {.depth = (unsigned)j->o->depth,
				       .grain = j->o->type ? 0 : 8u >> j->o->grain,
				       .sharing = j->o->sharing,
				       .loads = j->o->loads,
				       .exact = j->o->exact,
				       .limit = j->o->limit,
				       .warn = app_bad_record,
				       .warn_arg = j->app};
	struct vt_error err = VT_ERROR_INIT;

	if (!app_context_open(j->app, &j->in, j->o->symfs))
		return false;
	mo.images = j->in.images.store;
	j->memory = vt_memory_new(&mo, j->in.context, &err);
	if (!j->memory)
		return app_fail(j->app, &err);
	if (!open_streams(j) || !app_each_run(j->app, j->reader, vt_context_feed, j->in.context))
		return false;
	if (vt_memory_finish(j->memory, &err) == 0)
		return true;
	return app_fail_stream(j->app, j->reader, &err);
}

/* Without executed code, samples of single accesses are listed. */
static bool check_samples(struct job *j)
{
	const struct vt_memory_totals *t = vt_memory_totals(j->memory);
	const char *name = vt_reader_name(j->reader);

	if (t->sampled.samples && !j->o->loads)
		return true;
	if (t->sampled.samples)
		return app_lacks(j->app, name, VT_NO_EXECUTED_CODE);
	if (app_saw(j->app, VT_EXEC))
		return app_lacks(j->app, name, VT_NO_EXECUTED_CODE);
	return app_lacks(j->app, name,
			 t->samples ? "no samples of loads or stores with an address (perf mem "
				      "record, vsim --profileme)"
				    : NO_ACCESSES);
}

/* Whether there is anything to list; says what is missing. */
static bool check_accesses(struct job *j)
{
	const struct vt_memory_totals *t = vt_memory_totals(j->memory);
	const char *name = vt_reader_name(j->reader);

	if (!t->insns)
		return check_samples(j);
	if (vt_context_is_sampled(j->in.context))
		return app_lacks(j->app, name, VT_IS_SAMPLED);
	if (!t->counts.loads && !t->counts.stores)
		return app_lacks(j->app, name, NO_ADDRESSES);
	if (!t->counts.stores)
		return app_lacks(j->app, name,
				 "no addresses of stores (vtrace record --full --mem --values "
				 "stores records them)");
	return true;
}

/* A profile that was made before has what it was made for. */
static bool check_profile(struct job *j)
{
	const struct options *o = j->o;
	const char *name = vt_reader_name(j->reader);

	if (!app_saw(j->app, VT_ACCESSES))
		return check_accesses(j);
	if (o->type || o->sharing || o->loads)
		return app_lacks(j->app, name,
				 "a memory profile has neither types nor cache lines nor single "
				 "loads: --type, --sharing and --loads need the recording");
	if (o->exact)
		return app_lacks(j->app, name,
				 "a memory profile has the most frequent values alone: --exact "
				 "needs the recording");
	if (!vt_memory_grain(j->memory))
		return app_lacks(j->app, name, "a memory profile without its totals (ACCESSES)");
	if ((o->grain_given && vt_memory_grain(j->memory) != 8u >> o->grain) ||
	    (o->depth_given && vt_memory_depth(j->memory) != o->depth))
		return app_lacks(j->app, name,
				 "a memory profile has the --grain and the --depth that it was "
				 "made with");
	return true;
}

static void tell_load_losses(struct job *j)
{
	static const char *const what[VT_NDISTINCT] = {"addresses", "locations"};
	const struct vt_memory_totals *t = vt_memory_totals(j->memory);
	const char *name = vt_reader_name(j->reader);
	uint64_t n[VT_NDISTINCT] = {0};
	size_t i;
	unsigned k;

	for (i = 0; i < vt_memory_nloads(j->memory); i++)
		for (k = 0; k < VT_NDISTINCT; k++)
			n[k] += vt_memory_load(j->memory, i)->distinct[k].at_least;
	for (k = 0; k < VT_NDISTINCT; k++)
		if (n[k])
			app_say(j->app,
				"%s: of %" PRIu64 " static load%s, not all %s are counted: more "
				"than --limit",
				name, n[k], vt_plural(n[k]), what[k]);
	if (t->loads_left_out)
		app_say_lossy(j->app,
			      "%s: %" PRIu64 " load%s by further instructions %s left out: there "
			      "are too many",
			      name, t->loads_left_out, vt_plural(t->loads_left_out),
			      vt_is_are(t->loads_left_out));
}

static void tell_vmem_losses(struct job *j)
{
	const struct vt_memory_totals *t = vt_memory_totals(j->memory);
	const char *name = vt_reader_name(j->reader);

	if (t->raised)
		app_say_lossy(j->app, "%s: " VT_MEMRECORDS_RAISED, name);
	if (t->incomplete)
		app_say(j->app, "%s: %" PRIu64 " access%s no address or no value", name,
			t->incomplete, t->incomplete == 1 ? " has" : "es have");
	if (!t->heap_events && t->insns)
		app_say(j->app,
			"%s: no allocations, so that the heap is one object "
			"(vtrace record --full --heap records them)",
			name);
	if (t->unknown_frees)
		app_say(j->app, "%s: %" PRIu64 " free%s of what was not allocated", name,
			t->unknown_frees, vt_plural(t->unknown_frees));
	if (t->overlaps)
		app_say(j->app, "%s: %" PRIu64 " allocation%s others, which count as freed", name,
			t->overlaps, t->overlaps == 1 ? " overlaps" : "s overlap");
	if (t->objects_left_out)
		app_say(j->app,
			"%s: %" PRIu64 " object%s %s left out: the profile was written with --top, "
			"--object or --in",
			name, t->objects_left_out, vt_plural(t->objects_left_out),
			vt_is_are(t->objects_left_out));
	if (t->left_out)
		app_say(j->app,
			"%s: %" PRIu64 " location%s with %" PRIu64
			" access%s %s left out of their objects' lists (--limit, or --top of "
			"--records); one that was dropped twice counts twice",
			name, t->left_out, vt_plural(t->left_out), t->left_out_accesses,
			t->left_out_accesses == 1 ? "" : "es", vt_is_are(t->left_out));
	if (t->lines_left_out)
		app_say_lossy(j->app,
			      "%s: %" PRIu64 " access%s to further cache lines %s left out: there "
			      "are too many",
			      name, t->lines_left_out, t->lines_left_out == 1 ? "" : "es",
			      vt_is_are(t->lines_left_out));
	if (t->misses_unplaced)
		app_say(j->app,
			"%s: %" PRIu64 " miss%s left out: the code has no accesses with an address "
			"and a value for them",
			name, t->misses_unplaced, t->misses_unplaced == 1 ? " is" : "es are");
	tell_load_losses(j);
	if (t->forgotten)
		app_say_lossy(j->app,
			      "%s: the contents of memory were forgotten %" PRIu64
			      " time%s: the program touched too much",
			      name, t->forgotten, vt_plural(t->forgotten));
}

/* ---- the output ---- */

static bool list_memory(struct job *j)
{
	const struct options *o = j->o;
	const struct vt_memlist *l = o->sharing ? &vt_memlist_sharing
				     : o->type	? &vt_memlist_by_type
				     : o->loads ? &vt_memlist_static_loads
						: &vt_memlist_objects;
	const struct vt_memlist_options lo = {
		.rows = o->layout ? VT_MEMLIST_LAYOUT
			: o->by	  ? VT_MEMLIST_LOCATIONS
				  : VT_MEMLIST_OBJECTS,
		.top = o->top,
		.each = o->each,
		.types = j->types,
		.pattern = o->object,
		.people = app_form_is_text(&o->form),
	};
	struct vt_memlist_form form = {
		.form = app_table_form(&o->form),
		.json = o->form.json,
		.losses = &j->app->losses,
		.out = app_text(j->app, o->form.output),
	};
	struct vt_error err = VT_ERROR_INIT;

	form.color = form.out && app_form_color(j->app, &o->form);
	return form.out &&
	       (vt_memlist_print(l, j->memory, j->in.images.store, &lo, &form, &err) == 0 ||
		app_fail(j->app, &err));
}

static bool wants_object(void *arg, const struct vt_memory_object *object)
{
	const struct job *j = arg;
	const struct vt_memlist_options lo = {.types = j->types, .pattern = j->o->object};

	return vt_memlist_wants(&lo, j->in.images.store, object);
}

static bool write_memory(struct job *j)
{
	const struct vt_memory_written what = {.top = j->o->top_given ? j->o->top : 0,
					       .locations = j->o->by,
					       .wanted = wants_object,
					       .arg = j};
	struct vt_error err = VT_ERROR_INIT;

	return vt_memory_write(j->memory, &what, j->writer, &err) == 0 || app_fail(j->app, &err);
}

static void run_vmem(struct app *a, const struct options *o)
{
	struct job j = {.app = a, .o = o};

	if (!check_vmem_options(a, o, &j.types))
		return;
	if (read_accesses(&j) && check_profile(&j)) {
		tell_vmem_losses(&j);
		if (o->records)
			write_memory(&j);
		else
			list_memory(&j);
	}
	app_close_writer(a, j.writer);
	vt_memory_free(j.memory);
	app_close_reader(a, j.reader);
	app_context_close(&j.in);
}

int cmd_mem(int argc, char **argv)
{
	struct options o = {.top = 20, .each = 20, .depth = DEFAULT_DEPTH, .limit = DEFAULT_LIMIT};
	struct app app;
	const struct vt_opt opts[] = {
		APP_CHOICE(0, "by", o.by, "WHAT", by_words,
			   "list objects (default) or single locations, the most accessed first"),
		APP_FLAG(0, "layout", o.layout, "list the locations of each object, by offset"),
		APP_FLAG(0, "type", o.type,
			 "list types, by debug information; with --layout, their members"),
		APP_FLAG(0, "sharing", o.sharing,
			 "list the cache lines that several threads access and one stores to"),
		APP_FLAG(0, "records", o.records,
			 "write OBJECT and LOCATION records, for vlist --values, vtrace merge and "
			 "vmem"),
		APP_FLAG(0, "loads", o.loads,
			 "list the instructions that load: from how many addresses, and which "
			 "values"),
		{'n', "top", VT_OPT_U64, &o.top, .arg = "N", .given = &o.top_given,
		 .help = "the first N objects (or locations, lines, loads) only; 0: all (default "
			 "20)"},
		{0, "each", VT_OPT_U64, &o.each, .arg = "N", .given = &o.each_given,
		 .help = "with --layout: the first N locations of each; 0: all (default 20)"},
		APP_STRING(
			0, "object", o.object, "PATTERN",
			"only objects (or types, or lines of objects) of this name, with * and ?"),
		APP_STRING(0, "in", o.in, "TYPES",
			   "only objects of these types: global,heap,stack,image,mapped,free,..."),
		{0, "depth", VT_OPT_U64, &o.depth, .arg = "N", .min = 1, .max = VT_MEMORY_DEPTH,
		 .given = &o.depth_given,
		 .help = "callers by which allocations are told apart, up to 16 (default 3)"},
		{0, "grain", VT_OPT_CHOICE, &o.grain, .arg = "BYTES", .choices = grain_words,
		 .given = &o.grain_given, .help = "bytes of a location: 8 (default), 4, 2 or 1"},
		{0, "limit", VT_OPT_U64, &o.limit, .arg = "N", .min = 1000, .max = 1u << 30,
		 .help = "locations that are kept at most (default 2097152); then the half with\n"
			 "fewer accesses is dropped; with --loads, pairs of a load and an address"},
		APP_FLAG(0, "exact", o.exact,
			 "keep all values of each location, so that shares of the most frequent\n"
			 "ones are exact; their number has no limit"),
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_FORM(o.form),
		APP_OPT_COMPRESS(o.compress),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vmem",
		.usage = "[--by location | --type | --sharing | --loads] [--layout] [options] "
			 "[FILE]\n"
			 "--records [--by location] [options] [FILE]",
		.about = "Lists the memory of a program by object: who is accessed how often, and "
			 "how\nits values behave.",
		.opts = opts,
		.max_operands = 1,
	};

	if (app_start(&app, &page, argc, argv))
		run_vmem(&app, &o);
	return app_finish(&app);
}
