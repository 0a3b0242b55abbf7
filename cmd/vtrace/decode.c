/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vtrace/decode.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "cmd/common/find.h"
#include "cmd/common/progress.h"
#include "cmd/common/stream.h"
#include "cmd/vtrace/subcommands.h"
#include "formats/auxtrace.h"
#include "formats/common/gunzip.h"
#include "formats/formats.h"
#include "formats/perfdata/perfdata.h"
#include "formats/pt/decode/engine.h"
#include "formats/pt/options.h"

/*
 * As with perf's own commands; never standard input, which may be open without being meant: under
 * ssh, or in a loop that reads it.
 */
#define DEFAULT_INPUT "perf.data"

struct decode {
	struct app *app;
	const char *output;
	const char *compress;
	const char *format;
	const char *raw_option; /* one that is for raw traces of Intel PT only, or NULL */
	struct vt_pt_decode_options pt;
};

/* ---- a recorded trace ---- */

/* What came of it in spite of the damage: of a processor's trace, instructions. */
static void tell_decoded(const struct app *a, const char *name, const struct vt_format_summary *s)
{
	char text[96];

	if (s->traced && s->samples)
		snprintf(text, sizeof(text), "%" PRIu64 " samples and %" PRIu64 " instructions",
			 s->samples, s->insns);
	else
		snprintf(text, sizeof(text), "%" PRIu64 " %s", s->traced ? s->insns : s->samples,
			 s->traced ? "instructions" : "samples");
	app_say(a, "%s: %" PRIu64 " damaged place%s, %" PRIu64 " bytes not understood; %s decoded",
		name, s->damaged, s->damaged == 1 ? "" : "s", s->unread, text);
}

static void tell_summary(struct app *a, const char *name, const struct vt_format_summary *s)
{
	if (s->damaged) {
		tell_decoded(a, name, s);
		app_raise(a, APP_LOSSY);
	}
	if (s->aux_areas) {
		app_say(a,
			"%s: %" PRIu64 " AUX area%s of %s, %" PRIu64
			" bytes: vtrace has no decoder for that",
			name, s->aux_areas, s->aux_areas == 1 ? "" : "s",
			vt_perfdata_auxtrace_name(s->aux_type), s->aux_bytes);
		app_raise(a, APP_LOSSY);
	}
	if (s->lost)
		app_say(a, "%s: %" PRIu64 " records were lost while recording", name, s->lost);
	if (s->unknown)
		app_say(a, "%s: %" PRIu64 " records of unknown kinds", name, s->unknown);
	if (s->out_of_order)
		app_say(a, "%s: %" PRIu64 " records are not in order of time", name,
			s->out_of_order);
}

static void show_progress(void *arg, uint64_t bytes)
{
	progress_update(arg, bytes);
}

static void decode_trace(const struct decode *d, const struct vt_format *format,
			 struct vt_input *in)
{
	struct app *a = d->app;
	struct app_warnings warnings = {a, "damaged places", 0};
	struct progress progress;
	struct vt_format_options o = {.warn = app_warn,
				      .warn_arg = &warnings,
				      .progress = show_progress,
				      .progress_arg = &progress,
				      .tmpdir = app_tmpdir(),
				      .pt = &d->pt};
	struct vt_format_summary sum = {0};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer *w = app_open_writer(a, d->output, d->compress, NULL, 0);
	int code;

	if (!w)
		return;
	progress_start(&progress, a->name, in->name);
	code = format->decode(in, w, &o, &sum, &err);
	progress_end(&progress);
	if (code < 0)
		app_fail(a, &err);
	app_warnings_end(&warnings);
	if (a->status <= APP_LOSSY)
		tell_summary(a, in->name, &sum);
	app_close_writer(a, w);
}

/* ---- a stream, written anew ---- */

static int take_run(void *arg, const struct vt_block *b, uint32_t first, uint32_t count,
		    struct vt_error *err)
{
	return vt_auxtrace_stream_take(arg, b, first, count, err);
}

static void decode_records(const struct decode *d, struct vt_reader *r, struct vt_writer *w)
{
	struct app *a = d->app;
	struct app_warnings warnings = {a, "warnings about images", 0};
	struct vt_format_options o = {
		.warn = app_warn, .warn_arg = &warnings, .tmpdir = app_tmpdir(), .pt = &d->pt};
	struct vt_format_summary sum = {0};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_auxtrace_stream *s = vt_auxtrace_stream_new(r, w, &o, &err);

	if (!s) {
		app_fail(a, &err);
		return;
	}
	if (app_each_run(a, r, take_run, s) && vt_auxtrace_stream_end(s, &sum, &err) < 0)
		app_fail(a, &err);
	app_warnings_end(&warnings);
	if (a->status <= APP_LOSSY)
		tell_summary(a, vt_reader_name(r), &sum);
	vt_auxtrace_stream_free(s);
}

static void decode_stream(const struct decode *d, struct vt_reader *r)
{
	struct vt_writer *w = app_open_writer(d->app, d->output, d->compress, &r, 1);

	if (!w)
		return;
	decode_records(d, r, w);
	app_close_writer(d->app, w);
}

/* ---- which of the two ---- */

/* The format that was asked for, or found; NULL with *err set, VT_E_FORMAT if none fits. */
static const struct vt_format *choose_format(const struct decode *d, struct vt_input *in,
					     struct vt_error *err)
{
	const struct vt_format *f;
	size_t have;

	if (!d->format)
		return vt_format_find(in, err);
	f = vt_format_by_name(d->format);
	if (!f)
		vt_error_set(err, VT_E_USAGE, "--format: '%s' is not a known format", d->format);
	else if (vt_input_fill(in, VT_FORMAT_PROBE_SIZE, &have, err) < 0)
		return NULL;
	return f;
}

static void tell_unused(const struct decode *d, const char *input)
{
	if (d->raw_option)
		app_say(d->app, "%s: no raw trace of Intel PT: %s is not used", input,
			d->raw_option);
}

static void decode_input(const struct decode *d, const char *path)
{
	struct vt_error err = VT_ERROR_INIT, stream_err = VT_ERROR_INIT;
	const struct vt_format *format;
	struct vt_reader *r;
	struct vt_input in;

	if (!app_is_no_terminal(d->app, path))
		return;
	if (vt_input_open(&in, path, &err) < 0) {
		app_fail(d->app, &err);
		return;
	}
	app_note_input(d->app, path);
	if (vt_gunzip_input(&in, &err) < 0) {
		app_fail(d->app, &err);
		vt_input_close(&in);
		return;
	}
	format = choose_format(d, &in, &err);
	if (format) {
		if (strcmp(format->name, "pt") != 0)
			tell_unused(d, in.name);
		decode_trace(d, format, &in);
	} else if (err.code == VT_E_FORMAT) {
		r = vt_reader_open_input(&in, &stream_err);
		if (r) {
			tell_unused(d, vt_reader_name(r));
			decode_stream(d, r);
		} else {
			app_fail(d->app, stream_err.code == VT_E_FORMAT ? &err : &stream_err);
		}
		vt_reader_close(r);
	} else {
		app_fail(d->app, &err);
	}
	vt_input_close(&in);
}

void decode_file(struct app *a, const char *path, const char *output, const char *compress,
		 const char *format)
{
	struct decode d = {.app = a, .output = output, .compress = compress, .format = format};

	decode_input(&d, path);
}

bool parse_crystal(struct app *a, const char *text, uint32_t max_eax, uint32_t max_ebx,
		   struct vt_pt_clock *clock)
{
	const char *comma = text ? strchr(text, ',') : NULL;
	struct vt_error err = VT_ERROR_INIT;
	uint64_t eax = 0, ebx = 0;
	char first[32];

	if (!text)
		return true;
	snprintf(first, sizeof(first), "%.*s", comma ? (int)(comma - text) : 0, text);
	if (!comma || vt_parse_u64(first, "", &eax, &err) < 0 ||
	    vt_parse_u64(comma + 1, "", &ebx, &err) < 0 || !eax || !ebx || eax > max_eax ||
	    ebx > max_ebx)
		return app_usage(a, "--cpuid-15h: two numbers are wanted, as in 2,256");
	clock->ctc_denominator = (uint32_t)eax;
	clock->ctc_numerator = (uint32_t)ebx;
	return true;
}

static void append_formats(struct vt_buf *notes)
{
	const struct vt_format *f;

	vt_buf_printf(notes, "formats:\n");
	for (f = vt_formats; f->name; f++)
		vt_buf_printf(notes, "  %-8s %s\n", f->name, f->description);
	vt_buf_printf(notes, "and vt, a stream, which is written anew");
}

/* Options as they are written. */
struct arguments {
	const char *crystal;
	uint64_t jobs, mtc, ratio;
	struct vt_opt_list images, pages, kernels;
};

static void decode_as_told(struct decode *d, const struct arguments *args)
{
	char *cache = app_buildid_cache();

	app_make_stream(d->app, d->output);
	d->pt.images = args->images.items;
	d->pt.nimages = args->images.count;
	d->pt.pages = args->pages.items;
	d->pt.npages = args->pages.count;
	d->pt.jobs = (unsigned)args->jobs;
	d->app->threads = d->pt.jobs > 1 ? d->pt.jobs - 1 : 0;
	d->pt.clock.mtc_period = (uint8_t)args->mtc;
	d->pt.clock.nominal_ratio = (uint8_t)args->ratio;
	d->pt.kernels = args->kernels.items;
	d->pt.nkernels = args->kernels.count;
	d->pt.cache = cache;
	d->raw_option = args->images.count  ? "--image"
			: args->pages.count ? "--pages"
			: d->pt.pid	    ? "--pid"
			: args->mtc	    ? "--mtc"
			: args->ratio	    ? "--nom-freq"
			: args->crystal	    ? "--cpuid-15h"
					    : NULL;
	if (d->pt.engine && strcmp(d->pt.engine, VT_PT_ENGINE_NONE) != 0 &&
	    !vt_pt_engine_by_name(d->pt.engine))
		app_usage(d->app, "--engine: there is no '%s'", d->pt.engine);
	else if (parse_crystal(d->app, args->crystal, UINT32_MAX, UINT32_MAX, &d->pt.clock))
		decode_input(d, d->app->argc ? d->app->argv[0] : DEFAULT_INPUT);
	free(cache);
}

int cmd_decode(int argc, char **argv)
{
	struct app app;
	struct vt_buf notes = VT_BUF_INIT;
	struct decode d = {.app = &app};
	struct arguments args = {.jobs = 1};
	const struct vt_opt opts[] = {
		APP_OPT_OUTPUT(d.output),
		APP_OPT_COMPRESS(d.compress),
		{'f', "format", VT_OPT_STRING, &d.format, .arg = "FORMAT",
		 .help = "take the input to be of this format; else its first\nbytes decide"},
		{0, "engine", VT_OPT_STRING, &d.pt.engine, .arg = "NAME",
		 .help = "Intel PT: the decoder, fast (default) or libipt, which\n"
			 "give the same, or none to keep the bytes",
		 .unrecorded = true},
		{'j', "jobs", VT_OPT_U64, &args.jobs, .arg = "N",
		 .help = "Intel PT: threads (default 1)", .min = 1, .max = 256, .unrecorded = true},
		APP_OPT_SYMFS(d.pt.symfs),
		{0, "kernel", VT_OPT_LIST, &args.kernels, .arg = "FILE",
		 .help = "the recorded kernel's code: vmlinux, or a copy of kcore"},
		{0, "lbr", VT_OPT_FLAG, &d.pt.lbr,
		 .help = "make executed code of the branch stacks of samples, too"},
		{0, "image", VT_OPT_LIST, &args.images, .arg = "FILE:ADDR",
		 .help = "raw Intel PT: code of FILE lies at ADDR; also\n"
			 "FILE:ADDR:OFFSET:SIZE"},
		{0, "pages", VT_OPT_LIST, &args.pages, .arg = "DUMP,ADDRS",
		 .help = "raw Intel PT: code is in the pages of DUMP; ADDRS has\n"
			 "the address of each"},
		{0, "pid", VT_OPT_I64, &d.pt.pid, .arg = "PID",
		 .help = "raw Intel PT: the traced process (default 1)"},
		{0, "mtc", VT_OPT_U64, &args.mtc, .arg = "PERIOD",
		 .help = "raw Intel PT: an MTC packet came each 2^PERIOD ticks of\n"
			 "the crystal clock",
		 .max = 15},
		{0, "nom-freq", VT_OPT_U64, &args.ratio, .arg = "RATIO",
		 .help = "raw Intel PT: TSC ticks for each tick of the bus clock", .max = 255},
		{0, "cpuid-15h", VT_OPT_STRING, &args.crystal, .arg = "EAX,EBX",
		 .help = "raw Intel PT: TSC ticks are those of the crystal clock\n* EBX / EAX"},
		{0, "packets", VT_OPT_FLAG, &d.pt.packets,
		 .help = "Intel PT: tell how many packets there are of each kind"},
		{0},
	};
	struct vt_opt_page page = {
		.program = "vtrace decode",
		.usage = "[options] [-o FILE] [FILE|-]",
		.about = "Makes a record stream from a recorded trace.  Without FILE it reads "
			 "./perf.data;\n"
			 "- is standard input.",
		.opts = opts,
		.max_operands = 1,
	};

	append_formats(&notes);
	page.notes = vt_buf_str(&notes);
	if (app_start(&app, &page, argc, argv))
		decode_as_told(&d, &args);
	vt_opt_list_fini(&args.images);
	vt_opt_list_fini(&args.pages);
	vt_opt_list_fini(&args.kernels);
	vt_buf_free(&notes);
	return app_finish(&app);
}
