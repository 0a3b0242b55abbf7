/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700 /* realpath() */
#include "cmd/vtrace/encode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/version.h"
#include "cmd/common/find.h"
#include "cmd/common/stream.h"

static int on_record(void *arg, const struct vt_record *rec, struct vt_error *err)
{
	return vt_pt_wrap_record(arg, rec, err);
}

static void report_left_out(struct app *a, const struct vt_pt_wrap *p)
{
	const struct vt_pt_wrap_totals *s = vt_pt_wrap_totals(p);

	if (s->generated_left_out) {
		app_say(a,
			"%" PRIu64 " blocks of generated or patched code are left out: with times "
			"(--tsc) and -o FILE, they go into a jit-PID.dump beside it",
			s->generated_left_out);
		app_raise(a, APP_LOSSY);
	}
	if (s->dumps_replaced)
		app_say(a,
			"%" PRIu64
			" jit-PID.dump beside the output replaced: a trace made with the "
			"old one has lost that code",
			s->dumps_replaced);
	if (!s->left_out)
		return;
	app_say(a, "%" PRIu64 " mappings or threads are left out; the first: %s", s->left_out,
		vt_pt_wrap_bad(p));
	app_raise(a, APP_LOSSY);
}

static bool wrap(struct app *a, struct vt_reader *r, struct vt_pt_wrap *p)
{
	struct vt_error err = VT_ERROR_INIT;

	if (!app_each_record(a, r, on_record, p))
		return false;
	if (!vt_pt_encode_totals(vt_pt_wrap_encode(p))->blocks)
		return app_lacks(a, vt_reader_name(r), APP_NO_CODE);
	if (vt_pt_wrap_finish(p, &err) < 0)
		return app_fail(a, &err);
	report_left_out(a, p);
	return true;
}

static bool open_output(struct app *a, struct vt_output *out, const char *output)
{
	struct vt_error err = VT_ERROR_INIT;

	if (vt_output_open(out, output ? output : "-", &err) < 0)
		return app_fail(a, &err);
	if (!out->tty)
		return true;
	vt_output_close(out, &err);
	return app_usage(a, "perf.data is not written to a terminal: name a file with -o");
}

/* The directory of a file as an absolute path, or NULL: it is no file. */
static char *directory_of(const char *output)
{
	struct vt_buf name = VT_BUF_INIT;
	const char *slash = output ? strrchr(output, '/') : NULL;
	struct stat st;
	char *path;

	if (!output || strcmp(output, "-") == 0 || (stat(output, &st) == 0 && !S_ISREG(st.st_mode)))
		return NULL;
	if (slash)
		vt_buf_put(&name, output, (size_t)(slash - output) + 1);
	else
		vt_buf_put(&name, "./", 2);
	path = name.failed ? NULL : realpath(vt_buf_str(&name), NULL);
	vt_buf_free(&name);
	return path;
}

void encode_perf(struct encode *c, struct vt_reader *r)
{
	char *cache = app_buildid_cache(), *dir;
	struct vt_error err = VT_ERROR_INIT;
	struct vt_output out;
	struct vt_pt_wrap *p;

	if (!open_output(c->app, &out, c->files.path)) {
		free(cache);
		return;
	}
	c->opt.version = VT_VERSION;
	c->opt.jit_dir = dir = directory_of(c->files.path);
	c->opt.find.buildid_cache = cache;
	p = vt_pt_wrap_new(&out, &c->opt, &err);
	if (!p)
		app_fail(c->app, &err);
	else if (wrap(c->app, r, p))
		encode_report(c, vt_pt_wrap_encode(p));
	vt_pt_wrap_free(p);
	free(dir);
	free(cache);
	if (vt_output_close(&out, &err) < 0 && c->app->status < APP_OUTPUT)
		app_fail(c->app, &err);
}
