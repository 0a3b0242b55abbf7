/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "cmd/common/app.h"
#include "cmd/common/images.h"
#include "cmd/common/options.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "cmd/programs.h"
#include "listing/memory/objects.h"
#include "listing/memory/sharing.h"
#include "listing/memory/types.h"
#include "memory/memory.h"

#define DEFAULT_LIMIT (UINT64_C(1) << 21) /* some 700 MB of locations */
#define DEFAULT_DEPTH 3

#define NO_ADDRESSES                                                                               \
	"no addresses of loads and stores (vtrace record --full --mem --values stores records "    \
	"them)"

#define NO_ACCESSES                                                                                \
	"neither executed code (vtrace record --full --mem --values stores --heap records it) "    \
	"nor samples with data addresses (perf mem record, vsim --profileme)"

static const char *const by_words[] = {"object", "location", NULL};
static const char *const grain_words[] = {"8", "4", "2", "1", NULL};

struct options {
	int by; /* of by_words */
	bool layout, sharing, type, each_given, grain_given;
	int grain; /* of grain_words */
	uint64_t top, each, depth, limit;
	const char *object, *in, *symfs;
	struct app_form form;
};

struct job {
	struct app *app;
	const struct options *o;
	struct app_context in;
	struct vt_reader *reader;
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
		{o->each_given && !o->layout, "--each goes with --layout"},
	};

	return APP_CHECK_RULES(a, rules) && parse_types(a, o->in, types);
}

/* ---- the input ---- */

static bool read_accesses(struct job *j)
{
	struct vt_memory_options mo = {.depth = (unsigned)j->o->depth,
				       .grain = j->o->type ? 0 : 8u >> j->o->grain,
				       .sharing = j->o->sharing,
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
	j->reader = app_open_reader(j->app, j->app->argc ? j->app->argv[0] : NULL);
	if (!j->reader || !app_each_run(j->app, j->reader, vt_context_feed, j->in.context))
		return false;
	return vt_memory_finish(j->memory, &err) == 0 || app_fail(j->app, &err);
}

/* Without executed code, samples of single accesses are listed. */
static bool check_samples(struct job *j)
{
	const struct vt_memory_totals *t = vt_memory_totals(j->memory);
	const char *name = vt_reader_name(j->reader);

	if (t->sampled.samples)
		return true;
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

static void tell_vmem_losses(struct job *j)
{
	const struct vt_memory_totals *t = vt_memory_totals(j->memory);
	const char *name = vt_reader_name(j->reader);

	if (t->incomplete)
		app_say(j->app, "%s: %" PRIu64 " accesses have no address or no value", name,
			t->incomplete);
	if (!t->heap_events && t->insns)
		app_say(j->app,
			"%s: no allocations, so that the heap is one object "
			"(vtrace record --full --heap records them)",
			name);
	if (t->unknown_frees)
		app_say(j->app, "%s: %" PRIu64 " frees of what was not allocated", name,
			t->unknown_frees);
	if (t->overlaps)
		app_say(j->app, "%s: %" PRIu64 " allocations overlap others, which count as freed",
			name, t->overlaps);
	if (t->left_out)
		app_say(j->app,
			"%s: %" PRIu64 " locations with %" PRIu64
			" accesses are left out of their objects' lists: more than --limit",
			name, t->left_out, t->left_out_accesses);
	if (t->lines_left_out)
		app_say_lossy(j->app,
			      "%s: %" PRIu64 " accesses to further cache lines are left out: there "
			      "are too many",
			      name, t->lines_left_out);
	if (t->forgotten)
		app_say_lossy(j->app,
			      "%s: the contents of memory were forgotten %" PRIu64
			      " times: the program touched too much",
			      name, t->forgotten);
}

/* ---- the output ---- */

/* What is listed, and how. */
struct listing {
	int64_t (*fill)(struct vt_table *t, struct vt_memory *m, struct vt_images *images,
			const struct vt_memlist_options *o, struct vt_error *err);
	void (*header)(const struct vt_memory *m, struct vt_output *out);
	void (*json)(const struct vt_memory *m, const struct vt_table *t, int64_t left_out,
		     const struct vt_losses *losses, struct vt_output *out);
};

static const struct listing objects = {vt_memlist_table, vt_memlist_header, vt_memlist_json};
static const struct listing types = {vt_memlist_types, vt_memlist_header, vt_memlist_types_json};
static const struct listing lines = {vt_memlist_lines, vt_memlist_lines_header,
				     vt_memlist_lines_json};

static bool print_listing(struct job *j, const struct listing *l, const struct vt_table *t,
			  int64_t left_out)
{
	const struct app_form *form = &j->o->form;
	struct vt_output *out = app_text(j->app, form->output);

	if (!out)
		return false;
	if (form->json) {
		l->json(j->memory, t, left_out, &j->app->losses, out);
		return true;
	}
	if (app_form_is_text(form))
		l->header(j->memory, out);
	if (!app_print_table(j->app, t, form, out))
		return false;
	if (app_form_is_text(form))
		vt_table_print_left_out(out, (uint64_t)left_out);
	return true;
}

static bool list_memory(struct job *j)
{
	const struct options *o = j->o;
	const struct listing *l = o->sharing ? &lines : o->type ? &types : &objects;
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
	struct vt_table *t = vt_table_new();
	struct vt_error err = VT_ERROR_INIT;
	int64_t left_out;
	bool ok;

	if (!t)
		return app_no_memory(j->app);
	left_out = l->fill(t, j->memory, j->in.images.store, &lo, &err);
	ok = left_out >= 0 ? print_listing(j, l, t, left_out) : app_fail(j->app, &err);
	vt_table_free(t);
	return ok;
}

static void run_vmem(struct app *a, const struct options *o)
{
	struct job j = {.app = a, .o = o};

	if (!check_vmem_options(a, o, &j.types))
		return;
	if (read_accesses(&j) && check_accesses(&j)) {
		tell_vmem_losses(&j);
		list_memory(&j);
	}
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
		{'n', "top", VT_OPT_U64, &o.top, .arg = "N",
		 .help = "the first N objects (or locations, or lines) only; 0: all (default 20)"},
		{0, "each", VT_OPT_U64, &o.each, .arg = "N", .given = &o.each_given,
		 .help = "with --layout: the first N locations of each; 0: all (default 20)"},
		APP_STRING(
			0, "object", o.object, "PATTERN",
			"only objects (or types, or lines of objects) of this name, with * and ?"),
		APP_STRING(0, "in", o.in, "TYPES",
			   "only objects of these types: global,heap,stack,image,mapped,free,..."),
		{0, "depth", VT_OPT_U64, &o.depth, .arg = "N", .min = 1, .max = VT_MEMORY_DEPTH,
		 .help = "callers by which allocations are told apart, up to 16 (default 3)"},
		{0, "grain", VT_OPT_CHOICE, &o.grain, .arg = "BYTES", .choices = grain_words,
		 .given = &o.grain_given, .help = "bytes of a location: 8 (default), 4, 2 or 1"},
		{0, "limit", VT_OPT_U64, &o.limit, .arg = "N", .min = 1000, .max = 1u << 30,
		 .help = "locations that are kept at most (default 2097152); then the half with\n"
			 "fewer accesses is dropped"},
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_FORM(o.form),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vmem",
		.usage = "[--by location | --type | --sharing] [--layout] [options] [FILE]",
		.about = "Lists the memory of a program by object: who is accessed how often, and "
			 "how\nits values behave.",
		.opts = opts,
		.max_operands = 1,
	};

	if (app_start(&app, &page, argc, argv))
		run_vmem(&app, &o);
	return app_finish(&app);
}
