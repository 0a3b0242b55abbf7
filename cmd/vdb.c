/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vdb/vdb.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/common/stream.h"
#include "cmd/programs.h"

#define DEFAULT_PATH "vtrace.vdb"

int64_t vdb_now(void)
{
	return (int64_t)time(NULL);
}

struct vt_db *vdb_open(struct vdb *v, enum vt_db_mode mode)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_db *db = vt_db_open(v->path, mode, &err);

	if (!db)
		app_fail(v->app, &err);
	else
		app_note_input(v->app, v->path);
	return db;
}

struct vt_db_selection vdb_selection(const struct vdb *v)
{
	return (struct vt_db_selection){
		.epochs = v->epochs.items,
		.nepochs = v->epochs.count,
		.labels = v->labels.items,
		.nlabels = v->labels.count,
		.images = v->images.items,
		.nimages = v->images.count,
		.events = v->events.items,
		.nevents = v->events.count,
	};
}

/* The options that not all commands take. */
enum {
	EPOCH = 1,
	LABEL = 2,
	IMAGE = 4,
	EVENT = 8,
	AGAIN = 16,
	PARTIAL = 32,
	OLD = 64,
	BY = 128,
	JSON = 256,
	TABLE = 512,
	OUTPUT = 1024,
	COMPRESS = 2048,
};

static const struct {
	const char *name;
	bool (*run)(struct vdb *v);
	unsigned options;
} commands[] = {
	{"add", vdb_add, EPOCH | LABEL | AGAIN | PARTIAL | JSON},
	{"cat", vdb_cat, EPOCH | LABEL | IMAGE | EVENT | OUTPUT | COMPRESS},
	{"check", vdb_check, 0},
	{"epoch", vdb_epoch, 0},
	{"export", vdb_export, EPOCH | LABEL | OUTPUT | COMPRESS},
	{"import", vdb_import, AGAIN | JSON},
	{"list", vdb_list, EPOCH | LABEL | IMAGE | EVENT | BY | JSON | TABLE | OUTPUT},
	{"prune", vdb_prune, EPOCH | LABEL | OLD},
};

/* The first option given that the command does not take; NULL if there is none. */
static const char *find_misplaced_option(const struct vdb *v, unsigned takes, bool by_given)
{
	const struct {
		bool given;
		unsigned option;
		const char *name;
	} options[] = {
		{v->epochs.count, EPOCH, "--epoch"},
		{v->labels.count, LABEL, "--label"},
		{v->images.count, IMAGE, "--image"},
		{v->events.count, EVENT, "--event"},
		{v->again, AGAIN, "--again"},
		{v->partial, PARTIAL, "--partial"},
		{v->keep_given, OLD, "--keep"},
		{v->older_given, OLD, "--older"},
		{v->dry, OLD, "--dry-run"},
		{by_given, BY, "--by"},
		{v->form.json, JSON, "--json"},
		{v->form.csv, TABLE, "--csv"},
		{v->form.tsv, TABLE, "--tsv"},
		{v->form.output, OUTPUT, "--output"},
		{v->compress, COMPRESS, "--compress"},
	};
	size_t i;

	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (options[i].given && !(options[i].option & takes))
			return options[i].name;
	return NULL;
}

static bool run_vdb_command(struct vdb *v, bool by_given)
{
	const char *path = getenv("VTRACE_DB");
	size_t i;

	if (!v->path)
		v->path = path && *path ? path : DEFAULT_PATH;
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const char *option;

		if (strcmp(commands[i].name, v->app->argv[0]) != 0)
			continue;
		option = find_misplaced_option(v, commands[i].options, by_given);
		if (option)
			return app_usage(v->app, "%s: takes no %s", commands[i].name, option);
		return commands[i].run(v);
	}
	return app_usage(v->app, "%s: no such command; see vdb --help", v->app->argv[0]);
}

int cmd_db(int argc, char **argv)
{
	struct app app;
	struct vdb v = {.app = &app};
	bool by_given = false;
	const struct vt_opt opts[] = {
		{'d', "db", VT_OPT_STRING, &v.path, .arg = "FILE",
		 .help = "the database (default: $VTRACE_DB, or " DEFAULT_PATH ")"},
		{'E', "epoch", VT_OPT_LIST, &v.epochs, .arg = "NAME",
		 .help = "add: to this epoch, not to the latest; others: of this\n"
			 "epoch only; repeat for more"},
		{'L', "label", VT_OPT_LIST, &v.labels, .arg = "NAME",
		 .help = "add: under this label; others: of this label only"},
		{0, "image", VT_OPT_LIST, &v.images, .arg = "IMAGE",
		 .help = "cat, list: of this image only: a path, its last part, or\n"
			 "a build-id; repeat for more"},
		{'e', "event", VT_OPT_LIST, &v.events, .arg = "NAME",
		 .help = "cat, list: of this event only; repeat for more"},
		{'b', "by", VT_OPT_CHOICE, &v.by, .arg = "WHAT", .choices = vdb_by_words,
		 .given = &by_given,
		 .help = "list: a row for each epoch (default), input or profile"},
		{0, "again", VT_OPT_FLAG, &v.again,
		 .help = "add, import: even if it is in the database already"},
		{0, "partial", VT_OPT_FLAG, &v.partial,
		 .help = "add: also what there is of a stream that is cut off"},
		{0, "keep", VT_OPT_U64, &v.keep, .arg = "N", .given = &v.keep_given,
		 .help = "prune: all epochs but the latest N"},
		{0, "older", VT_OPT_F64, &v.older, .arg = "DAYS", .given = &v.older_given,
		 .help = "prune: epochs that began more than DAYS ago"},
		{0, "dry-run", VT_OPT_FLAG, &v.dry, .help = "prune: only say what would go"},
		APP_OPT_FORM(v.form),
		APP_OPT_COMPRESS(v.compress),
		{0},
	};
	const struct vt_opt_page page = {
		.program = "vdb",
		.usage = "[options] COMMAND [FILE]...",
		.about = "Keeps profiles in a database.  Commands:\n\n"
			 "  add     add streams, or perf.data files\n"
			 "  cat     write a stream of the sum of what is chosen\n"
			 "  check   read everything, say whether it is sound\n"
			 "  epoch   begin an epoch\n"
			 "  export  write a stream from which import makes the same again\n"
			 "  import  add what export wrote\n"
			 "  list    say what is there\n"
			 "  prune   remove epochs",
		.opts = opts,
		.min_operands = 1,
		.max_operands = UINT_MAX,
		.missing_operand = "which command? see vdb --help",
	};

	if (app_start(&app, &page, argc, argv))
		run_vdb_command(&v, by_given);
	vt_opt_list_fini(&v.epochs);
	vt_opt_list_fini(&v.labels);
	vt_opt_list_fini(&v.images);
	vt_opt_list_fini(&v.events);
	return app_finish(&app);
}
