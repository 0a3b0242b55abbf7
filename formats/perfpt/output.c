/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _XOPEN_SOURCE 700 /* realpath() */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/perfpt/encode.h"
#include "stream/exec.h"

struct vt_output_session {
	struct vt_output out;
	struct vt_pt_wrap *wrap;
	char *jit_dir;
	bool reported; /* that the file cannot be written */
};

static int open_perfdata_file(struct vt_output *out, const char *path, struct vt_error *err)
{
	struct vt_error ignored = VT_ERROR_INIT;
	int code = vt_output_open(out, path ? path : "-", err);

	if (code < 0 || !out->tty)
		return code;
	vt_output_close(out, &ignored);
	return vt_error_set(err, VT_E_USAGE,
			    "perf.data is not written to a terminal: name a file with -o");
}

/* The directory of a file as an absolute path, or NULL: it is no file. */
static char *get_directory(const char *output)
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

static int close_perfpt_output(struct vt_output_session *s, struct vt_error *err)
{
	struct vt_error last = VT_ERROR_INIT;
	int code;

	vt_pt_wrap_free(s->wrap);
	code = vt_output_close(&s->out, &last);
	if (s->reported)
		code = 0;
	else if (code < 0)
		*err = last;
	free(s->jit_dir);
	free(s);
	return code;
}

static struct vt_output_session *open_perfpt_output(const struct vt_output_options *opt,
						    struct vt_error *err)
{
	struct vt_output_session *s = calloc(1, sizeof(*s));
	struct vt_pt_wrap_options perf = *opt->perf;
	struct vt_error ignored = VT_ERROR_INIT;

	if (!s) {
		vt_error_nomem(err);
		return NULL;
	}
	if (open_perfdata_file(&s->out, opt->path, err) < 0) {
		free(s);
		return NULL;
	}
	perf.jit_dir = s->jit_dir = get_directory(opt->path);
	s->wrap = vt_pt_wrap_new(&s->out, &perf, err);
	if (s->wrap)
		return s;
	close_perfpt_output(s, &ignored);
	return NULL;
}

static int note_write_error(struct vt_output_session *s, int code)
{
	s->reported |= code == -VT_E_WRITE;
	return code;
}

static int take_perfpt_record(struct vt_output_session *s, const struct vt_record *rec,
			      struct vt_error *err)
{
	return note_write_error(s, vt_pt_wrap_record(s->wrap, rec, err));
}

static int finish_perfpt_output(struct vt_output_session *s, struct vt_error *err)
{
	if (!vt_pt_encode_totals(vt_pt_wrap_encode(s->wrap))->blocks)
		return vt_error_set(err, VT_E_ABSENT, VT_NO_EXECUTED_CODE);
	return note_write_error(s, vt_pt_wrap_finish(s->wrap, err));
}

static void report_perfpt_output(const struct vt_output_session *s, vt_output_report *fn, void *arg)
{
	const struct vt_pt_wrap_totals *sum = vt_pt_wrap_totals(s->wrap);

	if (sum->generated_left_out)
		fn(arg, true,
		   "%" PRIu64 " blocks of generated or patched code are left out: with times "
		   "(--tsc) and -o FILE, they go into a jit-PID.dump beside it",
		   sum->generated_left_out);
	if (sum->dumps_replaced)
		fn(arg, false,
		   "%" PRIu64 " jit-PID.dump beside the output replaced: a trace made with the "
		   "old one has lost that code",
		   sum->dumps_replaced);
	if (sum->left_out)
		fn(arg, true, "%" PRIu64 " mappings or threads are left out; the first: %s",
		   sum->left_out, vt_pt_wrap_bad(s->wrap));
	vt_pt_encode_report(vt_pt_wrap_encode(s->wrap), fn, arg);
}

const struct vt_output_format vt_perfpt_output = {
	.name = "perf-data",
	.description = "write a perf.data that perf decodes; with it:",
	.open = open_perfpt_output,
	.record = take_perfpt_record,
	.finish = finish_perfpt_output,
	.report = report_perfpt_output,
	.close = close_perfpt_output,
};
