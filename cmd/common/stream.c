/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/stream.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/input.h"
#include "base/version.h"
#include "cmd/common/progress.h"
#include "cmd/common/slice.h"
#include "cmd/common/trace.h"
#include "cmd/common/where.h"
#include "formats/common/decompress.h"
#include "formats/formats.h"
#include "profile/context.h"

/* ---- opening ---- */

/* Through a pipe no byte came. */
static bool nothing_came(const char *path, const char *error)
{
	struct stat st;

	return strcmp(path, "-") == 0 && fstat(STDIN_FILENO, &st) == 0 && S_ISFIFO(st.st_mode) &&
	       strstr(error, ": the file is empty");
}

/* Raw packets say nothing of the code that ran. */
static bool needs_options(const struct vt_input_format *f)
{
	return strcmp(f->name, "pt") == 0;
}

/* Takes the input over, also on error. */
static struct vt_reader *open_input_reader(struct app *a, struct vt_input *in, struct vt_error *err)
{
	struct vt_error stream_err = VT_ERROR_INIT;
	const struct vt_input_format *format = NULL;
	struct vt_reader *r = NULL;

	if (vt_gunzip_input(in, err) == 0)
		format = vt_format_find(in, err);
	if (format && !needs_options(format))
		return app_trace_open(a, in, format, err);
	if (format)
		vt_error_set(err, VT_E_FORMAT,
			     "%s: raw packets of Intel PT, which do not name their code: vtrace "
			     "decode --image FILE:ADDR makes a stream of them",
			     in->name);
	else if (err->code == VT_E_FORMAT)
		r = vt_reader_open_input(in, &stream_err);
	if (!r && stream_err.code && stream_err.code != VT_E_FORMAT)
		*err = stream_err;
	vt_input_close(in);
	return r;
}

int app_open_input(const struct app *a, const char *path, struct vt_input *in, struct vt_error *err)
{
	int code = vt_input_open(in, path, err);
	char *name = code == 0 && a->input_name ? strdup(a->input_name) : NULL;

	if (name) {
		free(in->name);
		in->name = name;
	}
	return code;
}

struct vt_reader *app_open_reader(struct app *a, const char *path)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r = NULL;
	struct vt_input in;

	path = app_input_path(path);
	if (!app_is_no_terminal(a, path))
		return NULL;
	app_note_input(a, path);
	if (app_open_input(a, path, &in, &err) == 0)
		r = open_input_reader(a, &in, &err);
	if (!r && nothing_came(path, err.text))
		vt_error_set(&err, VT_E_FORMAT, "%s",
			     "standard input: what comes before it in the pipeline wrote nothing");
	if (!r)
		app_fail(a, &err);
	return r;
}

void app_close_reader(struct app *a, struct vt_reader *r)
{
	struct app_trace *t = r ? app_trace_find(a, r) : NULL;

	vt_reader_close(r);
	if (t)
		app_trace_close(t);
}

/* Says which operands are one file: what it has is taken again each time. */
static void tell_repeated(const struct app *a)
{
	struct vt_hash seen;
	struct stat st;
	int i;

	vt_hash_init(&seen, 2 * sizeof(uint64_t), 2 * sizeof(uint64_t));
	for (i = 0; i < a->argc; i++) {
		const char *path = a->argv[i];
		bool is_stdin = strcmp(path, "-") == 0, added = true;

		if ((is_stdin ? fstat(STDIN_FILENO, &st) : stat(path, &st)) < 0)
			continue;
		/* Out of memory only this warning is lost. */
		vt_hash_add(&seen, (const uint64_t[]){st.st_dev, st.st_ino}, &added);
		if (!added)
			app_say(a, "%s: the same file as another input: what it has counts again",
				app_input_name(path));
	}
	vt_hash_fini(&seen);
}

bool app_open_inputs(struct app *a, struct app_inputs *in)
{
	size_t n = a->argc ? (size_t)a->argc : 1;

	*in = (struct app_inputs){a, calloc(n, sizeof(struct vt_reader *)), 0};
	if (!in->readers)
		return app_no_memory(a);
	tell_repeated(a);
	for (; in->count < n; in->count++) {
		struct vt_reader *r = app_open_reader(a, a->argc ? a->argv[in->count] : NULL);

		if (!r)
			return false;
		in->readers[in->count] = r;
	}
	return true;
}

void app_close_inputs(struct app_inputs *in)
{
	size_t i;

	for (i = 0; i < in->count; i++)
		app_close_reader(in->app, in->readers[i]);
	free(in->readers);
}

const char *app_input_name(const char *path)
{
	path = app_input_path(path);
	return strcmp(path, "-") != 0 ? path : "standard input";
}

/* ---- what is lost ---- */

static void count_losses(struct vt_losses *l, const struct vt_block *b, uint32_t first,
			 uint32_t count)
{
	struct vt_record rec = {b, b->kind, first};

	for (; rec.row < first + count; rec.row++)
		vt_losses_add(l, &rec);
}

static void add_losses(struct vt_losses *sum, const struct vt_losses *l)
{
	sum->lost_places += l->lost_places;
	sum->lost += l->lost;
	sum->gaps += l->gaps;
	sum->gap_bytes += l->gap_bytes;
	sum->gap_records += l->gap_records;
	vt_picked_add(&sum->picked, &l->picked);
}

/* What a stage before this program left out. */
static void tell_picked(struct app *a, const char *name, const struct vt_picked *p)
{
	struct vt_buf b = VT_BUF_INIT;

	if (!p->seen)
		return;
	vt_picked_text(p, "records", &b);
	app_say(a, "%s: of a program before: %s", name, vt_buf_str(&b));
	vt_buf_free(&b);
}

static const char *cut_means(const struct app *a)
{
	return a->cut_means ? a->cut_means : "";
}

/* Who failed says why itself: this is the one line about what that means here. */
static void tell_failure(struct app *a, const struct vt_reader *r, const char *missing)
{
	const struct vt_failure *f = vt_reader_failure(r);

	app_say(a, "%s: %s failed upstream: the input is incomplete%s%s%s", vt_reader_name(r),
		f->program, *missing ? "; missing: " : "", missing, cut_means(a));
	if (!*a->failure.program)
		a->failure = *f;
	a->incomplete = a->upstream_tells = true;
}

/* In a pipeline, whoever died says so. */
static void note_cut(struct app *a, const struct vt_reader *r)
{
	a->incomplete = true;
	a->upstream_tells |= strcmp(vt_reader_name(r), "standard input") == 0;
}

static void tell_losses(struct app *a, const struct vt_reader *r, const struct vt_losses *l)
{
	const struct vt_damage *d = vt_reader_damage(r);
	enum vt_status status = vt_reader_status(r);
	const char *name = vt_reader_name(r);
	char missing[128] = "";

	/* Where the stream was cut there is a gap, which was reported. */
	if (l->gaps > d->truncated)
		snprintf(missing, sizeof(missing),
			 "%" PRIu64 " gap%s, %" PRIu64 " bytes, %" PRIu64 " records", l->gaps,
			 l->gaps == 1 ? "" : "s", l->gap_bytes, l->gap_records);
	if (vt_reader_failure(r))
		tell_failure(a, r, missing);
	else if (*missing)
		app_say(a, "%s: missing: %s", name, missing);
	else if (status == VT_STATUS_LOSSY)
		app_say(a, "%s: its producer lost some of its input", name);
	if (status == VT_STATUS_INTERRUPTED && !vt_reader_failure(r))
		app_say(a, "%s: its producer was stopped before the end", name);
	if (l->lost)
		app_say(a, "%s: %" PRIu64 " records were lost while recording", name, l->lost);
	tell_picked(a, name, &l->picked);
	if (d->blocks || d->bytes || d->records || d->truncated || status != VT_STATUS_COMPLETE)
		app_raise(a, APP_LOSSY);
	if (d->truncated)
		note_cut(a, r);
}

/* ---- what a stream has ---- */

static_assert(VT_NKINDS <= 64, "a bit for each kind that is known");

bool app_saw(const struct app *a, enum vt_kind kind)
{
	return a->kinds >> kind & 1;
}

bool app_fail_stream(struct app *a, const struct vt_reader *r, struct vt_error *err)
{
	if (err->code == VT_E_ABSENT)
		vt_error_prefix(err, "%s%s", vt_reader_name(r),
				a->incomplete ? ": up to there" : "");
	return app_fail(a, err);
}

bool app_lacks(struct app *a, const char *name, const char *what)
{
	struct vt_error err = VT_ERROR_INIT;

	vt_error_set(&err, VT_E_ABSENT, "%s: %s%s", name, a->incomplete ? "up to there: " : "",
		     what);
	/* Files of images are not what is missing. */
	a->missing_told = true;
	return app_fail(a, &err);
}

bool app_need_samples(struct app *a, const char *name)
{
	if (app_saw(a, VT_SAMPLE) || app_saw(a, VT_COUNT) || app_saw(a, VT_EXEC) ||
	    app_saw(a, VT_FREQ))
		return true;
	/* Of an event that was counted there may be no sample; but where the end lacks, who knows.
	 */
	if (app_saw(a, VT_EVENT) && !a->incomplete)
		return true;
	if (app_saw(a, VT_ACCESSES))
		return app_lacks(
			a, name,
			"no samples, but a memory profile: vmem and vlist --values list it");
	return app_lacks(a, name, APP_NO_SAMPLES);
}

bool app_saw_no_sample(const struct app *a)
{
	return !a->incomplete && app_saw(a, VT_EVENT) && !app_saw(a, VT_SAMPLE) &&
	       !app_saw(a, VT_COUNT) && !app_saw(a, VT_EXEC);
}

bool app_came_through(const struct vt_reader *r, const char *program)
{
	const struct vt_header *h = vt_reader_header(r);
	uint32_t i;

	for (i = 0; i < h->nstages; i++)
		if (strcmp(h->stages[i].program, program) == 0)
			return true;
	return false;
}

/* ---- the loop ---- */

struct loop {
	app_run_fn *runs;
	app_record_fn *records;
	void *arg;
	struct app_where *where; /* what picks of them; NULL: all pass */
};

/* Hands a run to the program: 0, 1 to end the loop, or a negative error. */
static int deliver_run(void *arg, const struct vt_block *b, uint32_t first, uint32_t count,
		       struct vt_error *err)
{
	struct vt_record rec = {b, b->kind, first};
	const struct loop *loop = arg;
	int rc = 0;

	if (loop->runs)
		return loop->runs(loop->arg, b, first, count, err);
	for (; rec.row < first + count && rc == 0; rec.row++)
		rc = loop->records(loop->arg, &rec, err);
	return rc;
}

void app_bad_record(void *arg, const char *text)
{
	struct app *a = arg;

	if (!a->bad_records++)
		snprintf(a->bad_record, sizeof(a->bad_record), "%s", text);
}

/* `at`: where the block of the first ends; of a trace that is decoded on the way, 0. */
static void tell_bad_records(struct app *a, const struct vt_reader *r, uint64_t at)
{
	char before[32] = "";

	if (!a->bad_records)
		return;
	if (at)
		snprintf(before, sizeof(before), ", before 0x%" PRIx64, at);
	app_say_lossy(a, "%s: %" PRIu64 " bad record%s, left out; the first%s: %s",
		      vt_reader_name(r), a->bad_records, a->bad_records == 1 ? "" : "s", before,
		      a->bad_record);
}

static uint64_t input_offset(const struct vt_reader *r, const struct app_trace *t)
{
	return t ? app_trace_offset(t) : vt_reader_offset(r);
}

/* Where in the input a record was that cannot be; whoever takes records does not know. */
static void place_error(const struct vt_reader *r, const struct app_trace *trace,
			struct vt_error *err)
{
	if (!trace)
		vt_error_prefix(err, "before 0x%" PRIx64, vt_reader_offset(r));
	vt_error_prefix(err, "%s", vt_reader_name(r));
}

/* Likewise, what of the run passes --where. */
static int deliver_picked(void *loop, const struct vt_block *b, uint32_t first, uint32_t count,
			  struct vt_error *err)
{
	struct app_where *where = ((struct loop *)loop)->where;

	return where ? app_where_feed(where, b, first, count, deliver_run, loop, err)
		     : deliver_run(loop, b, first, count, err);
}

/* Likewise, what of the run is in the slice. */
static int deliver_slice(struct app *a, struct loop *loop, const struct vt_block *b, uint32_t first,
			 uint32_t count, struct vt_error *err)
{
	return a->slice ? app_slice_feed(a->slice, b, first, count, deliver_picked, loop, err)
			: deliver_picked(loop, b, first, count, err);
}

static bool begin_filters(struct app *a, const struct vt_reader *r)
{
	return (!a->slice || app_slice_begin(a->slice)) &&
	       (!a->where || app_where_begin(a->where, vt_reader_schema(r)));
}

/* False after app_lacks(): nothing of the stream is in the slice, or passes --where. */
static bool tell_filters(struct app *a, const char *name)
{
	const char *lacks = a->slice ? app_slice_tell(a->slice, name) : NULL;

	if (a->where && !lacks)
		lacks = app_where_tell(a->where, name);
	return !lacks || app_lacks(a, name, lacks);
}

/*
 * Whether a reader's progress has the terminal for itself: a listing is not begun before it ends,
 * and a pipe may come from a program that shows its own.
 */
static bool shows_alone(const struct app *a, const struct vt_reader *r)
{
	struct stat st;

	return !a->text_open && stat(vt_reader_name(r), &st) == 0 && S_ISREG(st.st_mode);
}

static bool run_loop(struct app *a, struct vt_reader *r, struct loop *loop)
{
	struct app_warnings warnings = {a, "damaged places", 0};
	struct app_trace *trace = app_trace_find(a, r);
	struct vt_error err = VT_ERROR_INIT;
	struct vt_losses losses = {0};
	const struct vt_block *b;
	uint32_t first, count;
	struct progress p;
	uint64_t bad_at = 0;
	int stopped = 0;
	int rc;

	a->kinds = 0;
	a->bad_records = 0;
	loop->where = a->where;
	if (!begin_filters(a, r))
		return false;
	vt_reader_set_warn(r, app_warn, &warnings);
	progress_start(&p, a->name, vt_reader_name(r), shows_alone(a, r));
	while (stopped == 0 && (rc = vt_reader_next_run(r, &b, &first, &count, &err)) > 0) {
		if (b->kind < VT_NKINDS)
			a->kinds |= UINT64_C(1) << b->kind;
		if (b->kind == VT_LOST || b->kind == VT_GAP || b->kind == VT_META)
			count_losses(&losses, b, first, count);
		stopped = deliver_slice(a, loop, b, first, count, &err);
		if (a->bad_records && !bad_at && !trace)
			bad_at = vt_reader_offset(r);
		progress_update(&p, input_offset(r, trace));
	}
	progress_end(&p);
	if (stopped == 0 && a->where)
		stopped = app_where_note(a->where, deliver_run, loop, &err);
	vt_reader_set_warn(r, NULL, NULL);
	app_warnings_end(&warnings);
	tell_bad_records(a, r, bad_at);
	if (stopped < 0 && err.code == VT_E_FORMAT)
		place_error(r, trace, &err);
	if (stopped < 0)
		return app_fail_stream(a, r, &err);
	if (stopped > 0)
		return true;
	if (rc == -VT_E_NOMEM)
		return app_fail(a, &err);
	if (trace && !app_trace_end(trace))
		return false;
	if (rc < 0) {
		/* What came before the cut, or before the disk failed, is good. */
		note_cut(a, r);
		if (!a->source_tells)
			app_say_lossy(a, "%s%s", err.text, cut_means(a));
	}
	tell_losses(a, r, &losses);
	add_losses(&a->losses, &losses);
	return tell_filters(a, vt_reader_name(r));
}

bool app_each_run(struct app *a, struct vt_reader *r, app_run_fn *fn, void *arg)
{
	struct loop loop = {.runs = fn, .arg = arg};

	return run_loop(a, r, &loop);
}

bool app_read_stream(struct app *a, const char *path, app_run_fn *fn, void *arg)
{
	struct vt_reader *r = app_open_reader(a, path);
	bool ok = r && app_each_run(a, r, fn, arg);

	app_close_reader(a, r);
	return ok;
}

bool app_each_record(struct app *a, struct vt_reader *r, app_record_fn *fn, void *arg)
{
	struct loop loop = {.records = fn, .arg = arg};

	return run_loop(a, r, &loop);
}

static bool read_stream_input(struct app *a, const char *path, app_begin_fn *begin,
			      app_record_fn *fn, void *arg)
{
	struct vt_reader *r = app_open_reader(a, path);
	struct vt_error err = VT_ERROR_INIT;
	bool ok;

	if (!r)
		return false;
	ok = !begin || begin(arg, r, &err) == 0 || app_fail(a, &err);
	ok = ok && app_each_record(a, r, fn, arg);
	app_close_reader(a, r);
	return ok;
}

bool app_each_input(struct app *a, app_begin_fn *begin, app_record_fn *fn, void *arg)
{
	int i;

	if (a->argc == 0)
		return read_stream_input(a, NULL, begin, fn, arg);
	for (i = 0; i < a->argc; i++)
		if (!read_stream_input(a, a->argv[i], begin, fn, arg))
			return false;
	return true;
}

/* ---- writing ---- */

static int parse_compression(const char *text, const char *what, struct vt_writer_options *o,
			     struct vt_error *err)
{
	static const char *const names[] = {"none", "zlib", "zstd"};
	static const uint64_t top_level[] = {0, 9, 22};
	const char *colon = strchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : strlen(text);
	const char *level = colon ? colon + 1 : NULL;
	uint64_t n = 0;
	int how;

	if (strcmp(text, "zstd:fast") == 0) {
		o->compression = VT_COMPRESS_ZSTD;
		o->level = -1; /* zstd.h: negative levels trade size for speed */
		return 0;
	}

	for (how = 0; how < 3; how++)
		if (strlen(names[how]) == length && strncmp(names[how], text, length) == 0)
			break;
	if (how == 3) {
		if (!*text || text[strspn(text, "0123456789")])
			return vt_error_set(err, VT_E_USAGE,
					    "%s: not one of none, zlib, zstd: '%s'", what, text);
		how = VT_COMPRESS_ZLIB;
		level = text;
	}
	if (level && vt_parse_u64(level, what, &n, err) < 0)
		return -VT_E_USAGE;
	if (level && (n < 1 || n > top_level[how]))
		return vt_error_set(err, VT_E_USAGE,
				    "%s: %s: levels are 1 to 9 of zlib, 1 to 22 of zstd", what,
				    text);
	o->compression = (enum vt_compression)how;
	o->level = (int)n;
	return 0;
}

int app_check_compression(const char *text, const char *what, struct vt_error *err)
{
	struct vt_writer_options ignored;

	return parse_compression(text, what, &ignored, err);
}

/* The command line as provenance: canonical options, then operands.  `args` points into both. */
static uint32_t list_args(struct app *a, const char *subcommand, char **args)
{
	size_t at = 0;
	uint32_t n = 0;
	int i;

	if (subcommand)
		args[n++] = (char *)subcommand;
	while (at < a->record.size) {
		args[n++] = (char *)a->record.data + at;
		at += strlen((char *)a->record.data + at) + 1;
	}
	for (i = 0; i < a->argc; i++)
		args[n++] = a->argv[i];
	return n;
}

static bool has_seed(const struct app *a)
{
	const struct vt_opt *o;

	for (o = a->page->opts; o->name; o++)
		if (o->value == &a->seed)
			return true;
	return false;
}

static struct vt_writer *open_writer(struct app *a, const char *path, struct vt_writer_options o,
				     struct vt_error *err)
{
	const char *subcommand = strchr(a->name, ' ');
	char program[32] = "";
	struct vt_stage stage = {.program = program, .version = (char *)VT_VERSION};
	struct vt_writer *w;

	strncat(program, a->name, strcspn(a->name, " "));
	stage.seed = has_seed(a) ? a->seed : 0;
	/* Each recorded option has at least three bytes, each value one. */
	stage.args = calloc(a->record.size + (size_t)a->argc + 1, sizeof(*stage.args));
	if (!stage.args) {
		vt_error_nomem(err);
		return NULL;
	}
	stage.nargs = list_args(a, subcommand ? subcommand + 1 : NULL, stage.args);
	o.stage = &stage;
	w = vt_writer_open(path, &o, err);
	free(stage.args);
	return w;
}

struct vt_writer *app_open_writer(struct app *a, const char *path, const char *compress,
				  struct vt_reader *const *inputs, size_t ninputs)
{
	struct vt_writer_options o = {.compression = VT_COMPRESS_AUTO,
				      .inputs = (const struct vt_reader *const *)inputs,
				      .ninputs = ninputs,
				      .threads = a->threads};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer *w;

	if (!path)
		path = "-";
	if (!app_may_write(a, path))
		return NULL;
	a->write_failure = NULL;
	w = compress && parse_compression(compress, "--compress", &o, &err) < 0
		    ? NULL
		    : open_writer(a, path, o, &err);
	if (w)
		app_note_output(a, path);
	else
		app_fail(a, &err);
	return w;
}

static void write_failure(struct app *a)
{
	struct vt_writer_options o = {.compression = VT_COMPRESS_AUTO};
	struct vt_error ignored = VT_ERROR_INIT;
	struct vt_writer *w;

	if (a->status <= APP_LOSSY || !*a->failure.program)
		return;
	w = open_writer(a, "-", o, &ignored);
	if (w)
		vt_writer_fail(w, &a->failure, &ignored);
}

void app_make_stream(struct app *a, const char *path)
{
	bool piped = (!path || strcmp(path, "-") == 0) && !isatty(STDOUT_FILENO);

	a->write_failure = piped ? write_failure : NULL;
}

bool app_close_writer(struct app *a, struct vt_writer *w)
{
	struct vt_error err = VT_ERROR_INIT;
	enum vt_status status = a->status == APP_LOSSY ? VT_STATUS_LOSSY : VT_STATUS_COMPLETE;
	bool failed = a->status > APP_LOSSY;
	int code;

	if (!w)
		return false;
	/* The status may have been set without words. */
	if (failed && !*a->failure.program)
		snprintf(a->failure.program, sizeof(a->failure.program), "%s", a->name);
	code = *a->failure.program ? vt_writer_fail(w, &a->failure, &err)
				   : vt_writer_close(w, status, &err);
	if (code < 0 && !failed)
		return app_fail(a, &err);
	return code == 0 && !failed;
}
