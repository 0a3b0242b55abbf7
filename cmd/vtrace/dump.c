/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "cmd/common/slice.h"
#include "cmd/common/stream.h"
#include "cmd/common/where.h"
#include "cmd/programs.h"
#include "listing/stream/executions.h"
#include "listing/stream/instructions.h"
#include "listing/stream/records.h"

struct dump {
	struct vt_record_dump_options records;
	struct vt_execution_dump_options executions;
	bool blocks;
	bool insn;
	bool header;
	const char *output, *symfs;
	struct app_slice slice;
};

/* Records or instructions being printed, and what their names need. */
struct named_run {
	struct app *app;
	const struct dump *dump;
	struct vt_record_dump *records;
	struct vt_insn_dump *insns;
	struct app_context in; /* of the stream being read; all zero: not needed */
	bool begun;
};

static bool open_names(struct named_run *run)
{
	app_context_close(&run->in);
	run->in = (struct app_context){.context = NULL};
	return (run->records && !vt_record_dump_resolves(run->records)) ||
	       app_context_open(run->app, &run->in, run->dump->symfs);
}

/* What the first stream needs is open already. */
static int begin_names(struct named_run *run, struct vt_error *err)
{
	if (run->begun && !open_names(run))
		return vt_error_nomem(err);
	run->begun = true;
	return 0;
}

/* What was printed, if not all.  Nothing of what there was is as a slice that is empty. */
static void tell_picked(struct app *a, const struct vt_record_dump *d)
{
	const struct vt_picked *p = vt_record_dump_picked(d);
	uint64_t lacking = vt_record_dump_lacking(d);
	struct vt_buf b = VT_BUF_INIT;

	if (!p->seen && !lacking)
		return;
	vt_picked_text(p, "records", &b);
	if (lacking)
		vt_buf_printf(&b, "; %" PRIu64 " of kinds without its fields are left out",
			      lacking);
	app_say(a, "%s", vt_buf_str(&b));
	vt_buf_free(&b);
	if (!p->passed)
		app_raise(a, APP_INPUT);
}

static int begin_records(void *arg, const struct vt_reader *r, struct vt_error *err)
{
	struct named_run *run = arg;

	if (begin_names(run, err) < 0)
		return -VT_E_NOMEM;
	return vt_record_dump_begin(run->records, vt_reader_schema(r), run->in.context, err);
}

static int feed_record(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	struct named_run *run = arg;

	return vt_record_dump_feed(run->records, rec, err);
}

static void dump_records(struct app *a, const struct dump *d, struct vt_output *out)
{
	struct named_run run = {.app = a, .dump = d};

	run.records = vt_record_dump_new(out, &d->records);
	if (!run.records) {
		app_no_memory(a);
		return;
	}
	if (open_names(&run)) {
		if (d->header)
			vt_record_dump_header(run.records);
		app_each_input(a, begin_records, feed_record, &run);
		tell_picked(a, run.records);
	}
	vt_record_dump_free(run.records);
	app_context_close(&run.in);
}

static int begin_insns(void *arg, const struct vt_reader *r, struct vt_error *err)
{
	struct named_run *run = arg;

	(void)r;
	if (begin_names(run, err) < 0)
		return -VT_E_NOMEM;
	return vt_insn_dump_begin(run->insns, run->in.context, err);
}

static int feed_insns(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	struct named_run *run = arg;

	return vt_insn_dump_feed(run->insns, rec, err);
}

static void dump_insns(struct app *a, const struct dump *d, struct vt_output *out)
{
	const struct vt_insn_dump_options opt = {
		.columns = d->records.fields ? d->records.fields : VT_INSN_COLUMNS,
		.json = d->records.json,
		.limit = d->records.limit,
		.warn = app_bad_record,
		.warn_arg = a,
	};
	struct named_run run = {.app = a, .dump = d};
	struct vt_error err = VT_ERROR_INIT;

	run.insns = vt_insn_dump_new(out, &opt, &err);
	if (!run.insns) {
		app_fail(a, &err);
		return;
	}
	if (open_names(&run)) {
		if (d->header)
			vt_insn_dump_header(run.insns);
		app_each_input(a, begin_insns, feed_insns, &run);
	}
	vt_insn_dump_free(run.insns);
	app_context_close(&run.in);
}

static int begin_executions(void *arg, const struct vt_reader *r, struct vt_error *err)
{
	(void)r;
	return vt_execution_dump_begin(arg, err);
}

static int feed_execution(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	return vt_execution_dump_feed(arg, rec, err);
}

static void dump_executions(struct app *a, const struct dump *d, struct vt_output *out)
{
	struct vt_execution_dump *e = vt_execution_dump_new(out, &d->executions);

	if (!e) {
		app_no_memory(a);
		return;
	}
	if (d->header)
		vt_execution_dump_header(e);
	app_each_input(a, begin_executions, feed_execution, e);
	vt_execution_dump_free(e);
}

/* What -F takes. */
static void list_fields(struct app *a, struct vt_output *out)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_schema s;

	if (vt_schema_init(&s, &err) == 0)
		vt_record_dump_help(out, &s);
	else
		app_fail(a, &err);
	vt_schema_fini(&s);
}

static bool check_dump_options(struct app *a, const struct dump *d)
{
	const bool values = d->executions.values, fields = d->records.fields != NULL;

	if (d->insn && !d->blocks)
		return app_usage(a, "--insn: goes with --blocks");
	if (values + d->blocks + ((fields && !d->insn) || d->records.kinds) > 1)
		return app_usage(a,
				 "--values, --blocks, and --fields or --kinds exclude each other");
	if ((values || d->blocks) && a->slice)
		return app_usage(a, "a slice is of samples: not with --values or --blocks");
	if (d->records.where && (values || d->blocks))
		return app_usage(a, "--where: goes with records, not with --values or --blocks");
	if (d->header && !fields && !values && !d->blocks)
		return app_usage(a, "--header: goes with --fields, --values or --blocks");
	return true;
}

static void dump_all(struct app *a, struct dump *d)
{
	struct vt_output *out;

	if (!check_dump_options(a, d))
		return;
	out = app_text(a, d->output);
	if (!out)
		return;
	if (d->records.fields && strcmp(d->records.fields, "help") == 0) {
		list_fields(a, out);
		return;
	}
	d->executions.limit = d->records.limit;
	d->executions.json = d->records.json;
	if (d->insn)
		dump_insns(a, d, out);
	else if (d->executions.values || d->blocks)
		dump_executions(a, d, out);
	else
		dump_records(a, d, out);
}

int cmd_dump(int argc, char **argv)
{
	struct app app;
	struct dump d = {.executions = {.warn = app_bad_record, .warn_arg = &app},
			 .slice = {.alone = true}};
	const struct vt_opt opts[] = {
		{'F', "fields", VT_OPT_STRING, &d.records.fields, .arg = "FIELDS",
		 .help = "one tab-separated line of these fields (pid,tid,time...)\n"
			 "for each SAMPLE, or each record of the kinds of -k;\n"
			 "help: list the fields of samples"},
		{'k', "kinds", VT_OPT_STRING, &d.records.kinds, .arg = "KINDS",
		 .help = "only records of these kinds (SAMPLE,MAP,...)"},
		{'n', "count", VT_OPT_U64, &d.records.limit, .arg = "N", .min = 1,
		 .help = "stop after N records"},
		{0, "values", VT_OPT_FLAG, &d.executions.values,
		 .help = "one tab-separated line for each value that was captured"},
		{0, "blocks", VT_OPT_FLAG, &d.blocks,
		 .help = "one tab-separated line for each block that was executed"},
		{0, "insn", VT_OPT_FLAG, &d.insn,
		 .help = "with --blocks: a line for each instruction; -F chooses its fields"},
		{0, "header", VT_OPT_FLAG, &d.header,
		 .help = "print the names of the fields first"},
		{0, "json", VT_OPT_FLAG, &d.records.json,
		 .help = "print one JSON object for each record"},
		APP_OPT_WHERE(d.records.where),
		APP_OPT_SLICE(d.slice),
		APP_OPT_SYMFS(d.symfs),
		APP_OPT_OUTPUT(d.output),
		{0},
	};
	const struct vt_opt_page page = {
		.program = "vtrace dump",
		.usage = "[-F FIELDS] [-k KINDS] [-n N] [options] [FILE]...\n"
			 "--values | --blocks [-n N] [options] [FILE]...\n"
			 "--blocks --insn [-F FIELDS] [-n N] [options] [FILE]...",
		.about = "Prints the records of a stream, one a line.",
		.opts = opts,
		.max_operands = UINT_MAX,
	};

	if (app_start(&app, &page, argc, argv) && app_slice_start(&app, &d.slice, d.symfs))
		dump_all(&app, &d);
	app_slice_end(&d.slice);
	return app_finish(&app);
}
