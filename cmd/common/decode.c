/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/decode.h"

#include <stdio.h>
#include <string.h>

#include "base/input.h"
#include "cmd/common/find.h"
#include "cmd/common/progress.h"
#include "cmd/common/stream.h"
#include "cmd/common/trace.h"
#include "formats/auxtrace.h"
#include "formats/common/decompress.h"
#include "formats/formats.h"

/* ---- a recorded trace ---- */

static void show_progress(void *arg, uint64_t bytes)
{
	progress_update(arg, bytes);
}

static void decode_trace(struct app *a, const struct app_decode *d,
			 const struct vt_input_format *format, struct vt_input *in)
{
	struct app_warnings warnings = {a, "damaged places", 0};
	struct progress progress;
	struct vt_format_options o = {.warn = app_warn,
				      .warn_arg = &warnings,
				      .progress = show_progress,
				      .progress_arg = &progress,
				      .tmpdir = app_tmpdir(),
				      .keep_raw = d->keep_raw,
				      .pt = &d->pt};
	struct vt_format_summary sum = {0};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer *w = app_open_writer(a, d->output, d->compress, NULL, 0);
	int code;

	if (!w)
		return;
	if (d->facts)
		d->facts(d->facts_arg, w);
	progress_start(&progress, a->name, in->name, false);
	code = format->decode(in, w, &o, &sum, &err);
	progress_end(&progress);
	if (code < 0)
		app_fail(a, &err);
	app_warnings_end(&warnings);
	if (a->status <= APP_LOSSY)
		app_tell_decoded(a, in->name, &sum);
	app_close_writer(a, w);
}

/* ---- a stream, written anew ---- */

static int write_decoded_run(void *arg, const struct vt_block *b, uint32_t first, uint32_t count,
			     struct vt_error *err)
{
	return vt_auxtrace_stream_take(arg, b, first, count, err);
}

static void decode_records(struct app *a, const struct app_decode *d, struct vt_reader *r,
			   struct vt_writer *w)
{
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
	if (app_each_run(a, r, write_decoded_run, s) && vt_auxtrace_stream_end(s, &sum, &err) < 0)
		app_fail(a, &err);
	app_warnings_end(&warnings);
	if (a->status <= APP_LOSSY)
		app_tell_decoded(a, vt_reader_name(r), &sum);
	vt_auxtrace_stream_free(s);
}

static void decode_stream(struct app *a, const struct app_decode *d, struct vt_reader *r)
{
	struct vt_writer *w = app_open_writer(a, d->output, d->compress, &r, 1);

	if (!w)
		return;
	decode_records(a, d, r, w);
	app_close_writer(a, w);
}

/* ---- which of the two ---- */

/* The format that was asked for, or found; NULL with *err set, VT_E_FORMAT if none fits. */
static const struct vt_input_format *choose_format(const struct app_decode *d, struct vt_input *in,
						   struct vt_error *err)
{
	const struct vt_input_format *f;
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

static void tell_unused(struct app *a, const struct app_decode *d, const char *input)
{
	if (d->raw_option)
		app_say(a, "%s: no raw trace of Intel PT: %s is not used", input, d->raw_option);
}

static void decode_packed(struct app *a, const struct app_decode *d, const char *path)
{
	a->pt = &d->pt;
	app_pack(a,
		 &(struct app_pack){.output = d->output,
				    .compress = d->compress,
				    .symfs = d->pt.symfs,
				    .facts = d->facts,
				    .facts_arg = d->facts_arg},
		 path);
	a->pt = NULL;
}

void app_decode(struct app *a, const struct app_decode *d, const char *path)
{
	struct vt_error err = VT_ERROR_INIT, stream_err = VT_ERROR_INIT;
	const struct vt_input_format *format;
	struct vt_reader *r;
	struct vt_input in;

	if (!app_is_no_terminal(a, path))
		return;
	if (d->pack) {
		decode_packed(a, d, path);
		return;
	}
	if (app_open_input(a, path, &in, &err) < 0) {
		app_fail(a, &err);
		return;
	}
	app_note_input(a, path);
	if (vt_gunzip_input(&in, &err) < 0) {
		app_fail(a, &err);
		vt_input_close(&in);
		return;
	}
	format = choose_format(d, &in, &err);
	if (format) {
		if (strcmp(format->name, "pt") != 0)
			tell_unused(a, d, in.name);
		decode_trace(a, d, format, &in);
	} else if (err.code == VT_E_FORMAT) {
		r = vt_reader_open_input(&in, &stream_err);
		if (r) {
			tell_unused(a, d, vt_reader_name(r));
			decode_stream(a, d, r);
		} else {
			app_fail(a, stream_err.code == VT_E_FORMAT ? &err : &stream_err);
		}
		vt_reader_close(r);
	} else {
		app_fail(a, &err);
	}
	vt_input_close(&in);
}

bool app_parse_crystal(struct app *a, const char *text, uint32_t max_eax, uint32_t max_ebx,
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
