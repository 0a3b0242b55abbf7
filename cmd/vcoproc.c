/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "cmd/common/app.h"
#include "cmd/common/images.h"
#include "cmd/common/options.h"
#include "cmd/common/stream.h"
#include "cmd/common/symfs.h"
#include "cmd/common/tables.h"
#include "cmd/programs.h"
#include "coprocessor/assemble.h"
#include "coprocessor/programs.h"
#include "coprocessor/run.h"
#include "coprocessor/values.h"
#include "listing/coprocessor/counts.h"
#include "listing/coprocessor/report.h"
#include "listing/json.h"

#define MAX_FILE (1u << 20) /* bytes of a program */

static const char *const estimate_words[] = {"shares", "hits", NULL};
static const char *const hash_words[] = {"low", "fold", "mix", "shift", NULL};

#define BY_HITS 1 /* of estimate_words */

struct options {
	const char *program, *assemble, *disassemble, *clock, *symfs, *compress;
	struct vt_opt_list sets;
	uint64_t slots, cam, data, buffer, filter, max_words, turn, trace, top;
	uint64_t mask_times, mask_samples, least, resample;
	int partition_hash, table_hash, estimate;
	bool list, report, trace_given, top_given, ipc_given;
	struct vt_coproc_options run;
	struct vt_host_costs costs;
	struct app_form form;
};

struct job {
	struct app *app;
	struct options *o;
	struct vt_ucode ucode;
	struct app_context in;
	struct vt_coproc_run run;
	struct vt_coproc_tracer tracer;
	struct vt_reader *reader;
	struct vt_writer *writer; /* NULL: the profile is no stream */
	bool stream;
};

/* ---- programs ---- */

static bool parse_program(struct job *j, const char *name, const void *data, size_t size)
{
	const struct vt_assemble_options ao = {.slots = (uint16_t)j->o->slots,
					       .sets = j->o->sets.items,
					       .nsets = j->o->sets.count};
	struct vt_error err = VT_ERROR_INIT, at;
	int code;

	if (vt_ucode_is_binary(data, size)) {
		if (j->o->slots || j->o->sets.count)
			return app_usage(j->app,
					 "%s is assembled: --slots and --set have no effect", name);
		code = vt_ucode_load(&j->ucode, data, size, &err);
		if (code < 0)
			vt_error_prefix(&err, "%s", name);
	} else {
		code = vt_ucode_assemble(&j->ucode, data, size, &ao, &err);
		if (code < 0 && err.code == VT_E_FORMAT) {
			at = err;
			vt_error_set(&err, at.code, "%s:%.400s", name, at.text);
		}
	}
	return code == 0 || app_fail(j->app, &err);
}

/* A program that is part of vtrace, or a file. */
static bool load_program(struct job *j, const char *name)
{
	const struct vti_text *t = vt_ucode_program(name);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_input in;
	size_t have = 0;
	bool ok;

	if (t)
		return parse_program(j, name, t->text, t->size);
	if (!strchr(name, '/') && !strchr(name, '.') && strcmp(name, "-") != 0)
		return app_usage(j->app, "there is no program %s (vcoproc --list)", name);
	app_note_input(j->app, name);
	if (vt_input_open(&in, name, &err) < 0)
		return app_fail(j->app, &err);
	if (vt_input_fill(&in, MAX_FILE + 1, &have, &err) < 0)
		ok = app_fail(j->app, &err);
	else if (have > MAX_FILE)
		ok = app_usage(j->app, "%s has more than %u bytes: no program", name, MAX_FILE);
	else
		ok = parse_program(j, name, vt_input_data(&in), have);
	vt_input_close(&in);
	return ok;
}

static void list_programs(struct app *a, const struct options *o)
{
	struct vt_table *t = vt_table_new();
	const struct vti_text *p;

	if (t) {
		vt_table_column(t, "program", "program", VT_FORMAT_TEXT);
		vt_table_column(t, "about", "about", VT_FORMAT_TEXT);
	}
	for (p = vti_ucode_texts; t && p->name; p++) {
		size_t size;
		const char *about = vt_ucode_about(p, &size);

		vt_table_row(t, VT_STYLE_PLAIN);
		vt_table_str(t, p->name);
		vt_table_text(t, about, size);
	}
	app_print_rows(a, t, vt_json_doc("vcoproc-list/1"), &o->form);
}

static void write_binary(struct job *j)
{
	struct vt_buf bytes = VT_BUF_INIT;
	struct vt_output *out;

	if (!load_program(j, j->o->assemble))
		return;
	out = app_text(j->app, j->o->form.output);
	if (!out)
		return;
	vt_ucode_save(&j->ucode, &bytes);
	if (bytes.failed)
		app_no_memory(j->app);
	else if (out->tty)
		app_usage(j->app, "%s is a terminal: not writing a program there", out->name);
	else
		vt_output_put(out, bytes.data, bytes.size);
	vt_buf_free(&bytes);
}

static void write_assembly(struct job *j)
{
	struct vt_buf text = VT_BUF_INIT;
	struct vt_output *out;

	if (!load_program(j, j->o->disassemble))
		return;
	out = app_text(j->app, j->o->form.output);
	if (!out)
		return;
	vt_ucode_disassemble(&j->ucode, &text);
	if (text.failed)
		app_no_memory(j->app);
	else
		vt_output_put(out, text.data, text.size);
	vt_buf_free(&text);
}

/* ---- running ---- */

/* "1/4" or a number. */
static bool parse_clock(struct app *a, const char *text, double *clock)
{
	const char *slash = text ? strchr(text, '/') : NULL;
	struct vt_error err = VT_ERROR_INIT;
	char number[32];
	double by = 1;

	*clock = 1;
	if (!text)
		return true;
	if (snprintf(number, sizeof(number), "%.*s", slash ? (int)(slash - text) : 31, text) > 30)
		return app_usage(a, "--clock: %s is no ratio", text);
	if (vt_parse_f64(number, "--clock", clock, &err) < 0 ||
	    (slash && vt_parse_f64(slash + 1, "--clock", &by, &err) < 0))
		return app_fail(a, &err);
	*clock /= by;
	return (*clock >= .001 && *clock <= 1000) ||
	       app_usage(a, "--clock is .001 to 1000 of the main processor's");
}

static bool make_options(struct app *a, struct options *o)
{
	struct vt_coproc_options *r = &o->run;
	const struct app_rule rules[] = {
		{!(r->ipc >= .01 && r->ipc <= 100), "--ipc is .01 to 100"},
		{o->filter & (o->filter - 1), "--filter is a power of two"},
		{o->slots & (o->slots - 1), "--slots is a power of two"},
		{!(r->masking.low >= 0 && r->masking.high <= 1 &&
		   r->masking.low <= r->masking.high),
		 "--mask-below and --mask-above are 0 to 1, in this order"},
		{!(o->costs.interrupt >= 0 && o->costs.access >= 0 && o->costs.record >= 0),
		 "costs are not negative"},
		{o->report + o->trace_given > 1, "--report and --trace are two outputs"},
		{o->trace_given && app_form_count(&o->form), "--trace prints text"},
		{o->report && (o->form.csv || o->form.tsv), "--report is text or JSON"},
	};

	if (!APP_CHECK_RULES(a, rules) || !parse_clock(a, o->clock, &r->clock))
		return false;
	r->sizes = (struct vt_coproc_sizes){.filter_bits = (uint32_t)o->filter,
					    .buffer_bytes = (uint32_t)o->buffer,
					    .cam_bytes = (uint32_t)o->cam,
					    .data_bytes = (uint32_t)o->data};
	r->warn = app_bad_record;
	r->warn_arg = a;
	r->timed = !o->ipc_given;
	r->max_words = o->max_words;
	r->turn = o->turn;
	r->partition_hash = (enum vt_filter_hash)o->partition_hash;
	r->table_hash = (enum vt_filter_hash)o->table_hash;
	r->masking.times = (uint32_t)o->mask_times;
	r->masking.samples = (uint32_t)o->mask_samples;
	r->masking.least = (uint32_t)o->least;
	r->masking.resample = (uint32_t)o->resample;
	r->masking.by_hits = o->estimate == BY_HITS;
	return true;
}

/* The records that places of values need, and those that describe the recording. */
#define PASSED_ON                                                                                  \
	(VT_KIND(VT_IMAGE) | VT_KIND(VT_MAP) | VT_KIND(VT_THREAD) | VT_KIND(VT_META) |             \
	 VT_KIND(VT_LOST) | VT_KIND(VT_GAP) | VT_KIND(VT_FILE) | VT_KIND(VT_SYMBOL) |              \
	 VT_KIND(VT_LINE))

static int pass_on(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	struct job *j = arg;

	vt_writer_copy(j->writer, rec);
	return vt_writer_error(j->writer, err);
}

/* What it lacks for a program that asks whether accesses missed. */
static bool report_misses(struct job *j)
{
	const struct vt_feed_stats *f = vt_feed_stats(j->run.feed);
	const char *name = vt_reader_name(j->reader);
	bool lines = vt_ucode_reads(&j->ucode) & 1u << VT_OP_LINE;

	if (!f->misses_told)
		return app_lacks(j->app, name,
				 "no cache misses (vsim --misses adds them to executed code)");
	if (lines && f->miss_line != 64)
		app_say(j->app,
			"%s: the cache's lines have %" PRIu64 " bytes: addr.line is that of 64",
			name, f->miss_line);
	return true;
}

/* What the stream lacks for the program. */
static bool report_losses(struct job *j)
{
	const struct vt_feed_stats *f = vt_feed_stats(j->run.feed);
	const struct vt_buffer_stats *b = vt_buffer_stats(j->run.buffer);
	const char *name = vt_reader_name(j->reader);

	if (!f->insns)
		return app_lacks(j->app, name, APP_NO_CODE);
	if (vt_context_is_sampled(j->in.context))
		return app_lacks(j->app, name, VT_IS_SAMPLED);
	if (vt_ucode_reads(&j->ucode) & 1u << VT_OP_MISSED && !report_misses(j))
		return false;
	if (!b->offered && f->no_value)
		return app_lacks(
			j->app, name,
			"no values of loads or stores (vtrace record --full --values stores)");
	if (!b->offered && f->no_address)
		return app_lacks(j->app, name,
				 "no addresses of loads or stores (vtrace record --full --mem)");
	if (f->no_value + f->no_address)
		app_say(j->app, "%s: %" PRIu64 " loads and stores without a %s are left out", name,
			f->no_value + f->no_address, f->no_value ? "value" : "known address");
	if (f->no_target)
		app_say(j->app, "%s: %" PRIu64 " branches are left out: what comes next is unknown",
			name, f->no_target);
	if (b->dropped)
		app_say(j->app,
			"%s: of %" PRIu64 " operations, %" PRIu64
			" were dropped, as the sample buffer was full",
			name, b->offered - b->filtered, b->dropped);
	if (vt_host_stats(j->run.host)->left_out)
		app_say_lossy(j->app, "%s: %" PRIu64 " rows are left out: there are too many", name,
			      vt_host_stats(j->run.host)->left_out);
	return true;
}

static void print_report(struct job *j)
{
	struct vt_table *t = vt_coproc_sizes_table(&j->o->run.sizes);
	struct vt_coproc_fact facts[VT_COPROC_FACTS];
	unsigned n = j->reader ? vt_coproc_facts(&j->run, &j->o->costs, facts) : 0;
	json_t *doc = vt_json_doc("vcoproc-report/1");
	const struct app_form *form = &j->o->form;

	vt_coproc_json_facts(facts, n, doc);
	if (j->reader && form->json)
		vt_json_losses(doc, &j->app->losses);
	if (app_print_rows(j->app, t, doc, form) && !form->json && n) {
		vt_output_text(&j->app->text, "\n");
		vt_coproc_print_facts(facts, n, &j->app->text);
	}
}

static void print_counts(struct job *j)
{
	uint64_t left_out = 0;
	struct vt_table *t =
		vt_coproc_counts_table(&j->run, j->in.images.store, j->o->top, &left_out);
	const struct app_form *form = &j->o->form;
	json_t *doc = vt_json_doc("vcoproc/1");

	if (form->json) {
		vt_json_losses(doc, &j->app->losses);
		json_object_set_new(doc, "dropped",
				    vt_json_u64(vt_buffer_stats(j->run.buffer)->dropped));
		json_object_set_new(doc, "rows_left_out", vt_json_u64(left_out));
	}
	if (app_print_rows(j->app, t, doc, form) && app_form_is_text(form))
		vt_table_print_left_out(&j->app->text, left_out);
}

static bool start_job(struct job *j)
{
	struct options *o = j->o;
	struct app *a = j->app;
	struct vt_error err = VT_ERROR_INIT;

	if (j->stream)
		app_make_stream(a, o->form.output);
	if (!app_context_open(a, &j->in, o->symfs))
		return false;
	if (vt_coproc_run_init(&j->run, &j->ucode, j->in.context, &o->run, &err) < 0)
		return app_fail(a, &err);
	j->reader = app_open_reader(a, a->argc ? a->argv[0] : NULL);
	if (j->reader && j->stream)
		j->writer = app_open_writer(a, o->form.output, o->compress, &j->reader, 1);
	if (!j->reader || (j->stream && !j->writer))
		return false;
	if (j->writer)
		vt_context_add(
			j->in.context,
			&(struct vt_consumer){.record = pass_on, .arg = j, .kinds = PASSED_ON});
	if (o->trace_given) {
		j->tracer = (struct vt_coproc_tracer){.u = &j->ucode,
						      .coproc = j->run.coproc,
						      .out = app_text(a, o->form.output),
						      .left = o->trace};
		if (!j->tracer.out)
			return false;
		vt_coproc_trace(j->run.coproc, vt_coproc_trace_word, &j->tracer);
	}
	return true;
}

static bool run_job(struct job *j)
{
	struct vt_error err = VT_ERROR_INIT;

	if (!app_each_run(j->app, j->reader, vt_context_feed, j->in.context))
		return false;
	if (vt_coproc_run_finish(&j->run, &err) < 0)
		return app_fail(j->app, &err);
	if (!report_losses(j))
		return false;
	if (j->o->report)
		print_report(j);
	else if (j->writer)
		return vt_coproc_write_values(j->run.host, j->run.feed, j->writer, &err) == 0 ||
		       app_fail(j->app, &err);
	else if (!j->o->trace_given)
		print_counts(j);
	return true;
}

static void run_program(struct job *j)
{
	struct options *o = j->o;
	bool text;

	if (!make_options(j->app, o) || !load_program(j, o->program))
		return;
	text = o->report || o->trace_given || j->ucode.host <= VT_HOST_LOG;
	j->stream = !text;
	if (j->stream && (app_form_count(&o->form) || o->top_given)) {
		app_usage(j->app, "%s makes a stream: vlist --values prints it", o->program);
		return;
	}
	/* Without input, the sizes alone are told. */
	if (o->report && !j->app->argc) {
		print_report(j);
		return;
	}
	if (start_job(j))
		run_job(j);
	app_close_writer(j->app, j->writer);
	app_close_reader(j->app, j->reader);
	vt_coproc_run_fini(&j->run);
	app_context_close(&j->in);
}

static void choose_job(struct app *a, struct options *o)
{
	struct job *j = calloc(1, sizeof(*j));
	int modes =
		o->list + (o->assemble != NULL) + (o->disassemble != NULL) + (o->program != NULL);

	if (!j) {
		app_no_memory(a);
		return;
	}
	j->app = a;
	j->o = o;
	if (modes != 1)
		app_usage(a,
			  "one of --program, --list, --assemble and --disassemble says what to do");
	else if (app_form_count(&o->form) > 1)
		app_usage(a, "--json, --csv and --tsv are three forms");
	else if (!o->program && a->argc)
		app_usage(a, "a stream goes with --program");
	else if (o->list)
		list_programs(a, o);
	else if (o->assemble)
		write_binary(j);
	else if (o->disassemble)
		write_assembly(j);
	else
		run_program(j);
	free(j);
}

/* clang-format off */
/* Rows of the table of options: sizes and hashes, */
#define HARDWARE_OPTIONS(o) \
	{0, "cam", VT_OPT_U64, &(o).cam, .arg = "BYTES", .min = 64, .max = 65536, \
	 .help = "size of the associative array (default 1024)"}, \
	{0, "data", VT_OPT_U64, &(o).data, .arg = "BYTES", .min = 64, .max = 65536, \
	 .help = "size of the data array (default 2048)"}, \
	{0, "buffer", VT_OPT_U64, &(o).buffer, .arg = "BYTES", .min = 1, .max = 1u << 24, \
	 .help = "size of the sample buffer (default 1024)"}, \
	{0, "filter", VT_OPT_U64, &(o).filter, .arg = "BITS", .min = 64, .max = 1u << 24, \
	 .help = "size of the table of excluded instructions (default 4096)"}, \
	APP_CHOICE(0, "partition-hash", (o).partition_hash, "HASH", hash_words, \
		   "of pcs for regions: mix (default), low, fold, shift"), \
	APP_CHOICE(0, "table-hash", (o).table_hash, "HASH", hash_words, \
		   "of pcs for the table: mix (default), low, fold, shift")

/* and what the main processor does, and what that costs it. */
#define HOST_OPTIONS(o, masking) \
	{0, "turn", VT_OPT_U64, &(o).turn, .arg = "N", \
	 .help = "load-value: instructions until the next region (default 250000;\n" \
		 "0: until an interrupt)"}, \
	APP_F64(0, "mask-above", (masking)->high, "F", \
		"load-value: exclude loads of a higher invariance (default .95)"), \
	APP_F64(0, "mask-below", (masking)->low, "F", \
		"load-value: exclude loads of a lower invariance (default .05)"), \
	{0, "mask-times", VT_OPT_U64, &(o).mask_times, .arg = "N", .min = 1, .max = 1u << 30, \
	 .help = "load-value: exclude loads copied N times (default 4)"}, \
	{0, "mask-samples", VT_OPT_U64, &(o).mask_samples, .arg = "N", .max = 1u << 30, \
	 .help = "load-value: but none of fewer samples (default 32)"}, \
	{0, "resample", VT_OPT_U64, &(o).resample, .arg = "N", .max = 1u << 30, \
	 .help = "load-value: profile an excluded load anew after N turns, and N more each\n" \
		 "time (default 4; 0: never)"}, \
	{0, "copy-samples", VT_OPT_U64, &(o).least, .arg = "N", .min = 1, .max = 65535, \
	 .help = "load-value: copy no slot of fewer samples, unless it is the first of its\n" \
		 "load (default 8)"}, \
	APP_CHOICE(0, "estimate", (o).estimate, "HOW", estimate_words, \
		   "load-value: divide the misses of a value by the shares of the others\n" \
		   "(default), or by their hits: hits"), \
	APP_F64(0, "interrupt-cycles", (o).costs.interrupt, "N", \
		"cost of an interrupt (default 100)"), \
	APP_F64(0, "access-cycles", (o).costs.access, "N", \
		"cost of an access to the co-processor's state (default 1)"), \
	APP_F64(0, "record-cycles", (o).costs.record, "N", \
		"cost of an update of the profile (default 20)")
/* clang-format on */

int cmd_coproc(int argc, char **argv)
{
	struct options o = {
		.cam = VT_COPROC_CAM_BYTES,
		.data = VT_COPROC_DATA_BYTES,
		.buffer = VT_BUFFER_BYTES,
		.filter = VT_FILTER_TABLE_BITS,
		.max_words = VT_COPROC_MAX_WORDS,
		.turn = VT_COPROC_TURN,
		.partition_hash = VT_HASH_MIX,
		.table_hash = VT_HASH_MIX,
		.run = {.ipc = VT_COPROC_IPC, .masking = VT_HOST_MASKING_DEFAULTS},
		.costs = {.interrupt = VT_HOST_INTERRUPT_CYCLES,
			  .access = VT_HOST_ACCESS_CYCLES,
			  .record = VT_HOST_RECORD_CYCLES},
	};
	struct vt_host_masking *masking = &o.run.masking;
	struct app app;
	const struct vt_opt opts[] = {
		APP_STRING(0, "program", o.program, "NAME",
			   "run this program on FILE: one of --list, or a file"),
		APP_FLAG(0, "list", o.list, "list the programs that there are"),
		APP_STRING(0, "assemble", o.assemble, "NAME", "write a program's binary form"),
		APP_STRING(0, "disassemble", o.disassemble, "NAME", "print a program's assembly"),
		APP_FLAG(0, "report", o.report,
			 "print sizes and transistors, and what happened, not the profile"),
		{0, "trace", VT_OPT_U64, &o.trace, .arg = "N", .min = 1, .given = &o.trace_given,
		 .help = "print the first N words executed, with the state behind each"},
		{0, "top", VT_OPT_U64, &o.top, .arg = "N", .given = &o.top_given,
		 .help = "print the N rows with the highest counts; 0, the default: all"},
		{0, "count", VT_OPT_U64, &o.run.count, .arg = "N", .min = 1,
		 .help = "profile the first N instructions, not all"},
		APP_LIST(0, "set", o.sets, "NAME=N", "another value of a constant of the program"),
		{0, "slots", VT_OPT_U64, &o.slots, .arg = "N", .min = 1, .max = VT_UCODE_MAX_SLOTS,
		 .help = "entries of the associative array that the program uses"},
		HARDWARE_OPTIONS(o),
		APP_STRING(0, "clock", o.clock, "A/B",
			   "the co-processor's clock, by the main processor's (default 1)"),
		{0, "ipc", VT_OPT_F64, &o.run.ipc, .arg = "N", .given = &o.ipc_given,
		 .help = "instructions that the main processor retires a cycle (default: at the\n"
			 "recording's cycles, or 2 where it has none)"},
		{0, "max-words", VT_OPT_U64, &o.max_words, .arg = "N", .min = 1,
		 .help = "stop a routine that executes more (default 10000)"},
		HOST_OPTIONS(o, masking),
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_FORM(o.form),
		APP_OPT_COMPRESS(o.compress),
		{.name = NULL},
	};
	const struct vt_opt_page page = {
		.program = "vcoproc",
		.usage =
			"--program NAME [options] [FILE]\n--list | --assemble NAME | --disassemble "
			"NAME [-o FILE]",
		.about =
			"Runs a program of a profiling co-processor over executed code: counts, or "
			"HOT\nrecords.",
		.opts = opts,
		.max_operands = 1,
	};

	o.mask_times = masking->times;
	o.mask_samples = masking->samples;
	o.least = masking->least;
	o.resample = masking->resample;
	if (app_start(&app, &page, argc, argv))
		choose_job(&app, &o);
	vt_opt_list_fini(&o.sets);
	return app_finish(&app);
}
