/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vtrace/info_input.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cmd/common/find.h"
#include "cmd/common/stream.h"
#include "formats/common/gunzip.h"
#include "formats/perfdata/perfdata.h"
#include "formats/pt/packet.h"

/* A raw trace has a PSB this early; the ones of a ring buffer begin anywhere. */
#define RAW_PROBE_SIZE 65536

/* The first byte of a stream (formats/vt.md), which begins no packet. */
#define STREAM_BYTE 0x89

/* A file may go on behind what was converted: what is left counts, too. */
static void read_rest(struct vt_input *in)
{
	struct vt_error ignored = VT_ERROR_INIT;
	size_t have;

	while (vt_input_fill(in, 1, &have, &ignored) == 0 && have)
		vt_input_consume(in, have);
}

static void *make_stream(void *arg)
{
	struct info_input *i = arg;
	const struct vt_writer_options wo = {.compression = VT_COMPRESS_NONE};
	struct vt_format_options fo = {.tmpdir = app_tmpdir()};
	struct vt_format_summary sum = {0};
	struct vt_writer *w = vt_writer_open_fd(i->pipe[1], i->in.name, &wo, &i->err);
	struct vt_error ignored = VT_ERROR_INIT; /* decoding finds the same and tells it */
	uint32_t aux = 0;
	int code;

	/* What a trace of Intel PT holds is told without decoding it: nothing is missing. */
	if (w && vt_perfdata_auxtrace_type(&i->in, &aux, &ignored) == 0)
		fo.keep_aux = aux == VT_PERFDATA_AUX_INTEL_PT;
	code = w ? vt_perfdata_decode(&i->in, w, &fo, &sum, &i->err) : 0;
	read_rest(&i->in);
	if (code < 0)
		vt_writer_abandon(w);
	else if (w)
		vt_writer_close(w,
				sum.damaged || sum.aux_areas ? VT_STATUS_LOSSY : VT_STATUS_COMPLETE,
				&i->err);
	close(i->pipe[1]);
	return NULL;
}

static bool open_perf(struct info_input *i)
{
	int code;

	i->format = INFO_PERF;
	if (pipe(i->pipe) < 0) {
		vt_error_errno(&i->err, VT_E_READ, errno, "a pipe");
		return app_fail(i->app, &i->err);
	}
	code = pthread_create(&i->thread, NULL, make_stream, i);
	if (code) {
		vt_error_errno(&i->err, VT_E_NOMEM, code, "a thread");
		close(i->pipe[0]);
		close(i->pipe[1]);
		return app_fail(i->app, &i->err);
	}
	return true;
}

/* Reads the stream that the thread makes; it must be given up on in an orderly way, too. */
static bool start_perf(struct info_input *i)
{
	struct vt_error err = VT_ERROR_INIT;

	if (!open_perf(i)) {
		vt_input_close(&i->in);
		return false;
	}
	i->reader = vt_reader_open_fd(i->pipe[0], i->in.name, &err);
	if (i->reader)
		return true;
	if (info_input_close(i))
		app_fail(i->app, &err);
	return false;
}

bool info_input_open(struct info_input *i, struct app *a, const char *path)
{
	size_t have;

	memset(i, 0, sizeof(*i));
	i->app = a;
	path = path ? path : "-";
	if (!app_is_no_terminal(a, path))
		return false;
	if (vt_input_open(&i->in, path, &i->err) < 0)
		return app_fail(a, &i->err);
	if (vt_gunzip_input(&i->in, &i->err) < 0 || vt_input_fill(&i->in, 8, &have, &i->err) < 0) {
		vt_input_close(&i->in);
		return app_fail(a, &i->err);
	}
	if (vt_perfdata_probe(vt_input_data(&i->in), have))
		return start_perf(i);
	if (have && *vt_input_data(&i->in) != STREAM_BYTE) {
		if (vt_input_fill(&i->in, RAW_PROBE_SIZE, &have, &i->err) < 0) {
			vt_input_close(&i->in);
			return app_fail(a, &i->err);
		}
		i->format = INFO_PT;
		if (vt_pt_find_psb(vt_input_data(&i->in), vt_input_data(&i->in) + have))
			return true;
	}
	i->format = INFO_STREAM;
	i->reader = vt_reader_open_input(&i->in, &i->err);
	if (i->reader)
		return true;
	if (i->err.code == VT_E_FORMAT)
		vt_error_set(&i->err, VT_E_FORMAT, "%s: %s",
			     strcmp(path, "-") == 0 ? "standard input" : path,
			     have ? "neither a stream, nor perf.data, nor Intel PT"
				  : "the file is empty");
	return app_fail(a, &i->err);
}

uint64_t info_input_bytes(const struct info_input *i)
{
	return i->format == INFO_STREAM ? vt_reader_offset(i->reader) : i->in.offset;
}

bool info_input_end(struct info_input *i)
{
	char rest[4096];

	if (i->format != INFO_PERF || i->ended)
		return !i->err.code;
	/* To its end, even if nobody is interested any more: else a signal ends us. */
	while (read(i->pipe[0], rest, sizeof(rest)) > 0)
		;
	pthread_join(i->thread, NULL);
	close(i->pipe[0]);
	i->ended = true;
	return i->err.code ? app_fail(i->app, &i->err) : true;
}

bool info_input_close(struct info_input *i)
{
	bool ok = info_input_end(i);

	vt_reader_close(i->reader);
	if (i->format != INFO_STREAM)
		vt_input_close(&i->in);
	return ok;
}
