/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/app.h"
#include "cmd/common/find.h"
#include "cmd/common/interpreted.h"
#include "cmd/common/plugin.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "cmd/common/tables.h"
#include "cmd/common/what.h"
#include "interpret/interpret.h"

#define DEFAULT_LENGTH 4 /* instructions: value sampling 2.1 */
#define MAX_LENGTH     1000000
#define MAX_FREQUENCY  1000000

#define BIT(what) (1u << VT_WHAT_##what)

/* What interpreting can find out; and what is told unless --what says otherwise. */
#define ALL_WHAT                                                                                   \
	(BIT(LOAD) | BIT(STORE) | BIT(LOAD_ADDRESS) | BIT(STORE_ADDRESS) | BIT(RESULT) |           \
	 BIT(ARG) | BIT(TARGET) | BIT(OPERAND) | BIT(LATENCY) | BIT(RETURN))
#define DEFAULT_WHAT (BIT(LOAD) | BIT(STORE) | BIT(RESULT) | BIT(ARG) | BIT(TARGET) | BIT(LATENCY))

/* Of linux/perf_event.h: what a SAMPLE has no more when its registers and stack are left out. */
#define HAS_STATE ((uint64_t)(1u << 12 | 1u << 13 | 1u << 18))

struct options {
	bool path;
	uint64_t length;
	const char *frequency;
	int skip;
	bool skip_given;
	const char *what;
	const char *mxcsr;
	struct vt_opt_list plugins;
	bool keep;
	bool summary;
	struct app_form form;
	const char *symfs;
	const char *trust;
	const char *output;
	const char *compress;
};

static const char *const skip_words[] = {"random", NULL};

struct interp {
	struct app *app;
	struct options *o;
	uint32_t what;
	unsigned trust; /* VT_TRUST_ */
	struct app_warnings warnings;
	char *cache; /* perf's build-id cache */
	struct vt_images *images;
	struct vt_interpret *in;
	struct vt_writer *writer; /* NULL for a summary */
	struct app_plugins plugins;
	bool failed;   /* what went wrong is not the stream's fault */
	uint64_t told; /* VALUE records */
};

/* ---- what goes through ---- */

/* The fields of a block's records that are to be copied: bits 1 << field. */
struct fields {
	uint64_t numbers;
	uint64_t arrays;
	uint64_t bytes;
};

/* All but those of `without`, and those that are nothing in all records. */
static struct fields fields_of(const struct vt_block *block, uint64_t without)
{
	unsigned i, n = block->kind == VT_SAMPLE ? VT_SAMPLE_NFIELDS
			: block->kind == VT_EXEC ? VT_EXEC_NFIELDS
						 : VT_BLOCK_NFIELDS;
	struct fields f = {0, 0, 0};

	for (i = 0; i < n; i++) {
		const struct vt_column *c = &block->columns[i];
		unsigned type = block->desc->fields[i].type;
		uint64_t bit = UINT64_C(1) << i;

		if (type == VT_TYPE_U || type == VT_TYPE_I)
			f.numbers |= c->mask || c->v[0] ? bit : 0;
		else if (!(without & bit) && type == VT_TYPE_A)
			f.arrays |= bit;
		else if (!(without & bit) && type == VT_TYPE_B)
			f.bytes |= bit;
	}
	return f;
}

static uint64_t *copy_fields(struct vt_writer *w, const struct vt_record *rec,
			     const struct fields *f)
{
	uint64_t *row = vt_writer_row(w, rec->kind);
	uint64_t left;

	for (left = f->numbers; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);

		row[i] = vt_record_u64(rec, i);
	}
	for (left = f->arrays; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		struct vt_words v = vt_record_words(rec, i);

		if (v.count)
			vt_writer_words(w, i, v.data, v.count);
	}
	for (left = f->bytes; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		struct vt_bytes v = vt_record_bytes(rec, i);

		if (v.size)
			vt_writer_bytes(w, i, v.data, v.size);
	}
	return row;
}

#define FIELD(field) (UINT64_C(1) << (field))

/*
 * Registers and stacks have served, and are most of a sample; what was recorded along a path would
 * be counted twice.  0: it goes through as it is.
 */
static uint64_t without(const struct interp *p, unsigned kind)
{
	if (p->o->keep)
		return 0;
	if (kind == VT_SAMPLE)
		return FIELD(VT_SAMPLE_UREGS) | FIELD(VT_SAMPLE_IREGS) | FIELD(VT_SAMPLE_STACK);
	if (kind == VT_BLOCK && p->o->path)
		return FIELD(VT_BLOCK_SLOTS);
	return kind == VT_EXEC && p->o->path ? FIELD(VT_EXEC_DATA) : 0;
}

/* `f` as fields_of() has it, or NULL for all. */
static void pass_on(struct interp *p, const struct vt_record *rec, const struct fields *f)
{
	uint64_t *row;

	if (!f) {
		vt_writer_copy(p->writer, rec);
		return;
	}
	row = copy_fields(p->writer, rec, f);
	if (rec->kind != VT_SAMPLE)
		return;
	row[VT_SAMPLE_HAS] &= ~HAS_STATE;
	row[VT_SAMPLE_UREGS_ABI] = row[VT_SAMPLE_IREGS_ABI] = row[VT_SAMPLE_STACK_DYN_SIZE] = 0;
}

/* ---- values ---- */

static void tell(struct interp *p, const struct vt_run *run, const struct vt_capture *c,
		 uint64_t caller)
{
	uint64_t *row = vt_writer_row(p->writer, VT_VALUE);

	row[VT_VALUE_TIME] = run->time;
	row[VT_VALUE_PID] = (uint64_t)run->pid;
	row[VT_VALUE_TID] = (uint64_t)run->tid;
	row[VT_VALUE_IP] = c->ip;
	row[VT_VALUE_WHAT] = c->what;
	row[VT_VALUE_REG] = c->reg;
	row[VT_VALUE_LANE] = c->lane;
	row[VT_VALUE_SIZE] = c->size;
	row[VT_VALUE_VALUE] = c->value;
	row[VT_VALUE_CALLER] = caller;
	row[VT_VALUE_WEIGHT] = run->weight;
	p->told++;
}

static void tell_latency(struct interp *p, const struct vt_record *rec)
{
	uint64_t latency, *row;

	if (!vt_sample_latency(rec, &latency))
		return;
	row = vt_writer_row(p->writer, VT_VALUE);
	row[VT_VALUE_TIME] = vt_record_u64(rec, VT_SAMPLE_TIME);
	row[VT_VALUE_PID] = vt_record_u64(rec, VT_SAMPLE_PID);
	row[VT_VALUE_TID] = vt_record_u64(rec, VT_SAMPLE_TID);
	row[VT_VALUE_IP] = vt_record_u64(rec, VT_SAMPLE_IP);
	row[VT_VALUE_WHAT] = VT_WHAT_LATENCY;
	row[VT_VALUE_SIZE] = sizeof(latency);
	row[VT_VALUE_VALUE] = latency;
	row[VT_VALUE_WEIGHT] = 1;
	p->told++;
}

/* As recordings have it: at the first instruction of each procedure that is called. */
static void tell_entries(struct interp *p, const struct vt_run *run)
{
	size_t i;

	for (i = 0; i < run->ncallers && run->callers[i].insn < run->insns; i++) {
		const struct vt_run_caller *c = &run->callers[i];
		const struct vt_capture value = {
			.ip = c->ip, .value = c->caller, .size = 8, .what = VT_WHAT_RETURN};

		if (c->entered)
			tell(p, run, &value, c->caller);
	}
}

static size_t code_at(void *arg, int64_t pid, uint64_t ip, uint8_t *bytes, size_t size)
{
	return vt_interpret_code(arg, pid, ip, bytes, size);
}

static int take_run(void *arg, const struct vt_run *run, struct vt_error *err)
{
	struct interp *p = arg;
	size_t i, at = 0;

	if (!p->writer)
		return 0;
	for (i = 0; i < run->ncaptures; i++)
		if (run->captures[i].known && p->what >> run->captures[i].what & 1)
			tell(p, run, &run->captures[i],
			     vt_run_caller(run, run->captures[i].insn, &at));
	if (p->what & BIT(RETURN))
		tell_entries(p, run);
	p->failed = vt_modules_run(p->plugins.modules, run, code_at, p->in, p->writer, err) < 0 ||
		    vt_writer_error(p->writer, err) < 0;
	return p->failed ? -(int)err->code : 0;
}

/* ---- the stream ---- */

/* What concerns modules of a record besides its run. */
static bool feed_modules(struct interp *p, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_modules *m = p->plugins.modules;
	struct vt_error why = VT_ERROR_INIT;

	if (!vt_modules_count(m))
		return true;
	if (rec->kind == VT_IMAGE || rec->kind == VT_MAP || rec->kind == VT_THREAD)
		vt_modules_forget_code(m);
	/* Both would count theirs from 0. */
	if (rec->kind == VT_MODULE)
		vt_error_set(&why, VT_E_USAGE,
			     "the stream has values of modules already; name all modules at once");
	else if (vt_modules_sample(m, rec, code_at, p->in, p->writer, &why) == 0)
		return true;
	*err = why;
	p->failed = true;
	return false;
}

static int take_record(struct interp *p, const struct vt_record *rec, const struct fields *f,
		       struct vt_error *err)
{
	int code = vt_images_feed(p->images, rec, err);

	if (p->writer)
		pass_on(p, rec, f);
	if (p->writer && rec->kind == VT_SAMPLE && p->what & BIT(LATENCY))
		tell_latency(p, rec);
	if (code == 0)
		code = vt_interpret_feed(p->in, rec, err);
	if (p->failed || !feed_modules(p, rec, err))
		return -(int)err->code;
	if (code == -VT_E_LIMIT || code == -VT_E_FORMAT || code == -VT_E_DAMAGED) {
		app_bad_record(p->app, err->text);
		return 0;
	}
	return code;
}

static int take_rows(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
		     struct vt_error *err)
{
	struct interp *p = arg;
	struct vt_record rec = {block, block->kind, first};
	uint64_t left_out = without(p, block->kind);
	struct fields f = {0, 0, 0};
	int code = 0;

	if (left_out)
		f = fields_of(block, left_out);
	for (; rec.row - first < count && code == 0; rec.row++)
		code = take_record(p, &rec, left_out ? &f : NULL, err);
	return code < 0 || !p->writer ? code : vt_writer_error(p->writer, err);
}

/* ---- what to do ---- */

/* "1/K" as K. */
static bool parse_frequency(struct app *a, const char *text, uint64_t *k)
{
	struct vt_error err = VT_ERROR_INIT;

	*k = 1;
	if (!text)
		return true;
	if (strncmp(text, "1/", 2) != 0)
		return app_usage(a, "--frequency: '%s' is not of the form 1/K", text);
	if (vt_parse_u64(text + 2, "--frequency", k, &err) < 0)
		return app_fail(a, &err);
	if (*k < 1 || *k > MAX_FREQUENCY)
		return app_usage(a, "--frequency: 1/1 to 1/%d", MAX_FREQUENCY);
	return true;
}

#define MXCSR_DEFAULT 0x1f80 /* at the start of a program: System V ABI for AMD64, 3.4.1 */
#define MXCSR_BITS    0xffff /* the others are reserved: Intel SDM volume 1, 10.2.3 */

/* "default", or a number in hexadecimal. */
static bool parse_mxcsr(struct app *a, const char *text, struct vt_interpret_options *io)
{
	unsigned long value = MXCSR_DEFAULT;
	char *end;

	if (!text)
		return true;
	if (strcmp(text, "default") != 0) {
		errno = 0;
		value = strtoul(text, &end, 16);
		if (!isxdigit((unsigned char)*text) || *end || errno || value > MXCSR_BITS)
			return app_usage(a, "--mxcsr: '%s' is neither 'default' nor 0 to ffff",
					 text);
	}
	io->has_mxcsr = true;
	io->mxcsr = (uint32_t)value;
	return true;
}

static bool prepare(struct interp *p)
{
	const struct options *o = p->o;
	struct vt_interpret_options io = {
		.path = o->path,
		.length = (uint32_t)o->length,
		.skip_random = o->skip_given,
		.seed = p->app->seed,
	};
	struct vt_error err = VT_ERROR_INIT;
	uint64_t frequency;

	if (o->form.json && !o->summary)
		return app_usage(p->app, "--json is for --summary");
	if (o->path && (o->frequency || o->skip_given))
		return app_usage(p->app, "--frequency and --skip are of samples, not of a path");
	if (o->plugins.count && o->summary)
		return app_usage(p->app, "--plugin makes values, and --summary writes none");
	if (!app_parse_what(p->app, o->what, DEFAULT_WHAT, &p->what) ||
	    !parse_frequency(p->app, o->frequency, &frequency) ||
	    !parse_mxcsr(p->app, o->mxcsr, &io) || !app_parse_trust(p->app, o->trust, &p->trust) ||
	    !app_plugins_open(&p->plugins, p->app, &o->plugins))
		return false;
	/* Modules take the place of what is told by default. */
	p->what &= o->plugins.count && !o->what ? 0 : ALL_WHAT;
	if (!p->what && !o->plugins.count)
		return app_usage(p->app, "--what: interpreting finds no values of that kind");
	io.callers = !o->summary;
	/* The summary says how many results were known, whatever is told. */
	io.capture =
		(p->what & ~BIT(RETURN)) | BIT(RESULT) | vt_modules_capture(p->plugins.modules);
	io.registers = vt_modules_want_registers(p->plugins.modules);
	io.frequency = (uint32_t)frequency;
	io.trust = p->trust;
	p->images = app_images_open(p->app, &p->warnings, &p->cache, o->symfs);
	if (!p->images)
		return false;
	p->in = vt_interpret_new(&io, p->images, take_run, p, &err);
	return p->in || app_fail(p->app, &err);
}

/* Says what came of it where that is not what was wanted. */
static bool check(struct interp *p, const char *name)
{
	const struct vt_interpret_totals *t = vt_interpret_totals(p->in);
	struct vt_error err = VT_ERROR_INIT;

	if (t->runs || t->left_out || vt_modules_totals(p->plugins.modules)->values || p->told)
		return true;
	if (p->o->path)
		return app_lacks(p->app, name, APP_NO_CODE);
	if (!t->samples && !app_saw_no_sample(p->app))
		return app_lacks(p->app, name, APP_NO_REGISTERS);
	if (!t->samples) {
		app_say(p->app, "%s: no samples", name);
		return true;
	}
	if (t->samples == t->no_registers && t->late) {
		vt_error_set(&err, VT_E_FORMAT,
			     "%s: %" PRIu64 " of %" PRIu64 " samples are precise with only the "
			     "user's registers, which are of the interrupt, a later moment: they "
			     "are refused (perf record --intr-regs has those of the sample)",
			     name, t->late, t->samples);
		return app_fail(p->app, &err);
	}
	if (t->samples == t->no_registers)
		return app_lacks(p->app, name, APP_NO_REGISTERS);
	app_say(p->app, "%s: nothing could be interpreted: vinterp --summary says why", name);
	return true;
}

/* All of a stream, into `out`; NULL for a summary. */
static bool interpret(struct interp *p, struct vt_reader *r, struct vt_writer *out)
{
	if (out)
		p->writer = app_plugins_begin(&p->plugins, out, &r, 1);
	if ((out && !p->writer) || !app_each_run(p->app, r, take_rows, p))
		return false;
	vt_interpret_end(p->in);
	app_images_tell_missing(&p->warnings, p->images);
	app_images_tell_unverified(&p->warnings, p->images);
	app_interpreted_tell(p->app, vt_interpret_totals(p->in));
	if (!check(p, vt_reader_name(r)))
		return false;
	if (!out)
		return app_interpreted_print(p->app, vt_interpret_totals(p->in), p->o->path,
					     &p->o->form, p->o->output);
	p->writer = out;
	if (!app_plugins_end(&p->plugins, out))
		return false;
	app_interpreted_write(vt_interpret_totals(p->in), p->o->path, out);
	return true;
}

static void run(struct interp *p)
{
	const char *path = p->app->argc ? p->app->argv[0] : NULL;
	struct vt_writer *out = NULL;
	struct vt_reader *r;

	if (!p->o->summary)
		app_make_stream(p->app, p->o->output);
	if (!prepare(p))
		return;
	r = app_open_reader(p->app, path);
	if (r && !p->o->summary)
		out = app_open_writer(p->app, p->o->output, p->o->compress, &r, 1);
	if (r && (out || p->o->summary))
		interpret(p, r, out);
	if (out)
		app_close_writer(p->app, out);
	vt_reader_close(r);
}

static void finish(struct interp *p)
{
	app_plugins_close(&p->plugins);
	vt_opt_list_fini(&p->o->plugins);
	vt_interpret_free(p->in);
	app_images_close(p->images, &p->warnings, p->cache);
}

int main(int argc, char **argv)
{
	struct options o = {.length = DEFAULT_LENGTH};
	struct app app;
	struct interp p = {.app = &app, .o = &o};
	const struct vt_opt opts[] = {
		{'l', "length", VT_OPT_U64, &o.length, .arg = "N", .min = 1, .max = MAX_LENGTH,
		 .help = "interpret N instructions from each sample on (default 4)"},
		{0, "path", VT_OPT_FLAG, &o.path,
		 .help = "interpret what was executed: a decoded trace, a full recording"},
		{'f', "frequency", VT_OPT_STRING, &o.frequency, .arg = "1/K",
		 .help = "interpret one in K samples, chosen at random"},
		{0, "skip", VT_OPT_CHOICE, &o.skip, .arg = "random", .choices = skip_words,
		 .given = &o.skip_given,
		 .help = "run 0 to N-1 instructions before those whose values count"},
		{'w', "what", VT_OPT_STRING, &o.what, .arg = "LIST",
		 .help = "kinds of values, as in loads,results (default: loads, stores, results,\n"
			 "arguments, targets)"},
		{0, "mxcsr", VT_OPT_STRING, &o.mxcsr, .arg = "default|HEX",
		 .help = "what MXCSR is where the stream does not say (1f80 is the default):\n"
			 "without it, results that depend on it are unknown"},
		APP_OPT_PLUGIN(o.plugins),
		{0, "keep", VT_OPT_FLAG, &o.keep,
		 .help = "keep what was interpreted from: registers, stacks, recorded values"},
		{0, "summary", VT_OPT_FLAG, &o.summary,
		 .help = "print what was interpreted, how much of it is known, why runs ended"},
		{0, "json", VT_OPT_FLAG, &o.form.json, .help = "print the summary as JSON"},
		APP_OPT_SYMFS(o.symfs),
		APP_OPT_TRUST(o.trust),
		APP_OPT_SEED(app),
		APP_OPT_OUTPUT(o.output),
		APP_OPT_COMPRESS(o.compress),
		{0},
	};
	const struct vt_opt_page page = {
		.program = "vinterp",
		.usage = "[-l N] [-f 1/K] [--skip random] [-w LIST] [-p MODULE]... [options] "
			 "[FILE]",
		.about = "Interprets the instructions that follow each sample, from its registers "
			 "and stack,\nor that were executed, and tells the values that it finds.",
		.opts = opts,
		.max_operands = 1,
	};

	if (app_start(&app, &page, argc, argv))
		run(&p);
	finish(&p);
	return app_finish(&app);
}
