/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/vdb/source.h"

#include <stdlib.h>

#include "base/input.h"
#include "cmd/common/find.h"
#include "formats/common/convert.h"
#include "formats/common/gunzip.h"
#include "formats/formats.h"

struct source {
	struct app *app;
	struct vt_reader *reader;
	bool converted; /* otherwise the reader has taken `in` over */
	struct vt_input in;
	struct vt_conversion conversion;
};

/* Returns NULL with *err; then nothing but `in` is open. */
static struct vt_reader *open_source_reader(struct source *s, struct vt_error *err)
{
	struct vt_error stream_err = VT_ERROR_INIT;
	const struct vt_format *format;
	struct vt_reader *r;

	if (vt_gunzip_input(&s->in, err) < 0)
		return NULL;
	format = vt_format_find(&s->in, err);
	s->converted = format != NULL;
	if (format)
		return vt_conversion_start(&s->conversion, &s->in, format->decode, app_tmpdir(),
					   err);
	if (err->code != VT_E_FORMAT)
		return NULL;
	r = vt_reader_open_input(&s->in, &stream_err);
	if (!r && stream_err.code != VT_E_FORMAT)
		*err = stream_err;
	return r;
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
		s->reader = open_source_reader(s, &err);
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
	return s->converted;
}

bool source_close(struct source *s)
{
	bool ok;

	vt_reader_close(s->reader);
	if (s->converted) {
		vt_conversion_end(&s->conversion);
		vt_input_close(&s->in);
	}
	ok = !s->conversion.err.code || app_fail(s->app, &s->conversion.err);
	free(s);
	return ok;
}
