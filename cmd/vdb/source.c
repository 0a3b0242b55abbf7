/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vdb/source.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/input.h"
#include "cmd/common/find.h"
#include "formats/common/gunzip.h"
#include "formats/formats.h"

struct source {
	struct app *app;
	struct vt_reader *reader;
	const struct vt_format *format; /* NULL: it is a stream, and `in` was taken over */
	struct vt_input in;
	int pipe[2];
	pthread_t thread; /* which makes the stream */
	struct vt_error err;
};

static void *make_stream(void *arg)
{
	struct source *s = arg;
	const struct vt_writer_options wo = {.compression = VT_COMPRESS_NONE};
	const struct vt_format_options fo = {.tmpdir = app_tmpdir()};
	struct vt_format_summary sum = {0};
	struct vt_writer *w = vt_writer_open_fd(s->pipe[1], s->in.name, &wo, &s->err);

	if (w && s->format->decode(&s->in, w, &fo, &sum, &s->err) < 0)
		vt_writer_abandon(w);
	else if (w)
		vt_writer_close(w, sum.damaged ? VT_STATUS_LOSSY : VT_STATUS_COMPLETE, &s->err);
	close(s->pipe[1]);
	return NULL;
}

static bool start(struct source *s, struct vt_error *err)
{
	int code;

	if (pipe(s->pipe) < 0) {
		vt_error_errno(err, VT_E_READ, errno, "a pipe");
		return false;
	}
	code = pthread_create(&s->thread, NULL, make_stream, s);
	if (code) {
		vt_error_errno(err, VT_E_NOMEM, code, "a thread");
		close(s->pipe[0]);
		close(s->pipe[1]);
		return false;
	}
	s->reader = vt_reader_open_fd(s->pipe[0], s->in.name, err);
	return true;
}

/* To its end, even if nobody is interested any more: else a signal ends us. */
static void end(struct source *s)
{
	char rest[4096];

	while (read(s->pipe[0], rest, sizeof(rest)) > 0)
		;
	pthread_join(s->thread, NULL);
	close(s->pipe[0]);
}

/* Makes the reader; without one, *err says why, and nothing but `in` is open. */
static void make_reader(struct source *s, struct vt_error *err)
{
	struct vt_error stream_err = VT_ERROR_INIT;

	if (vt_gunzip_input(&s->in, err) < 0)
		return;
	s->format = vt_format_find(&s->in, err);
	if (s->format) {
		if (!start(s, err) || s->reader)
			return;
		end(s);
		/* What the thread met comes before what it led to. */
		if (s->err.code)
			*err = s->err;
	} else if (err->code == VT_E_FORMAT) {
		s->reader = vt_reader_open_input(&s->in, &stream_err);
		if (!s->reader && stream_err.code != VT_E_FORMAT)
			*err = stream_err;
	}
}

struct source *source_open(struct app *a, const char *path)
{
	struct vt_error err = VT_ERROR_INIT;
	struct source *s;

	if (!app_is_no_terminal(a, path))
		return NULL;
	s = calloc(1, sizeof(*s));
	if (!s) {
		app_no_memory(a);
		return NULL;
	}
	s->app = a;
	if (vt_input_open(&s->in, path, &err) == 0) {
		make_reader(s, &err);
		if (s->reader)
			return s;
		vt_input_close(&s->in);
	}
	app_fail(a, &err);
	free(s);
	return NULL;
}

struct vt_reader *source_reader(const struct source *s)
{
	return s->reader;
}

bool source_is_converted(const struct source *s)
{
	return s->format != NULL;
}

bool source_close(struct source *s)
{
	bool ok;

	vt_reader_close(s->reader);
	if (s->format) {
		end(s);
		vt_input_close(&s->in);
	}
	ok = !s->err.code || app_fail(s->app, &s->err);
	free(s);
	return ok;
}
