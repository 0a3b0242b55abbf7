/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/trace.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/version.h"
#include "cmd/common/debuginfod.h"
#include "cmd/common/find.h"
#include "cmd/common/symfs.h"
#include "formats/common/convert.h"
#include "formats/common/decompress.h"
#include "formats/formats.h"
#include "formats/perfdata/perfdata.h"
#include "formats/pt/options.h"
#include "stream/reader.h"

#define DEFAULT_INPUT "perf.data"

/* The texts of so many warnings are kept; others are counted. */
#define KEPT_WARNINGS 10

struct app_trace {
	struct app_trace *next;
	struct app *app;
	const struct vt_reader *reader;
	struct vt_input in;
	struct vt_conversion conversion;
	struct vt_pt_decode_options pt;
	char *cache;
	_Atomic uint64_t bytes;
	/* Of the thread, until it has ended: a message shall not depend on which of two is faster.
	 */
	struct vt_buf warnings; /* each with its NUL */
	uint64_t nwarnings;
	bool told;
};

/* ---- which input ---- */

const char *app_input_path(const char *path)
{
	struct stat st;

	if (path)
		return path;
	/* A job of cron or nohup has /dev/null where a person has a terminal. */
	return fstat(STDIN_FILENO, &st) == 0 && S_ISCHR(st.st_mode) &&
			       access(DEFAULT_INPUT, F_OK) == 0
		       ? DEFAULT_INPUT
		       : "-";
}

static bool has_known_content(const char *path)
{
	struct vt_error ignored = VT_ERROR_INIT;
	struct vt_reader *r;
	struct vt_input in;
	bool known;

	if (vt_input_open(&in, path, &ignored) < 0)
		return false;
	known = vt_gunzip_input(&in, &ignored) == 0 && vt_format_find(&in, &ignored);
	if (!known && ignored.code == VT_E_FORMAT) {
		r = vt_reader_open_input(&in, &ignored);
		/* Its header may be damaged. */
		known = r || ignored.code != VT_E_FORMAT;
		vt_reader_close(r);
	}
	vt_input_close(&in);
	return known;
}

bool app_is_input(const char *path)
{
	struct stat st;

	if (strcmp(path, "-") == 0)
		return true;
	if (stat(path, &st) < 0)
		return false;
	return S_ISFIFO(st.st_mode) || (S_ISREG(st.st_mode) && has_known_content(path));
}

/* ---- decoding ---- */

static void keep_warning(void *trace, const char *text)
{
	struct app_trace *t = trace;

	if (t->nwarnings++ < KEPT_WARNINGS)
		vt_buf_put(&t->warnings, text, strlen(text) + 1);
}

static void note_progress(void *trace, uint64_t bytes)
{
	struct app_trace *t = trace;

	atomic_store_explicit(&t->bytes, bytes, memory_order_relaxed);
}

static struct vt_reader *start_decoding(struct app_trace *t, const struct vt_input_format *format,
					struct vt_error *err)
{
	char program[] = "vtrace", version[] = VT_VERSION, decode[] = "decode";
	char *args[] = {decode,
			strcmp(t->in.name, "standard input") == 0 ? (char *)"-" : t->in.name};
	const struct vt_stage stage = {
		.program = program, .version = version, .nargs = 2, .args = args};
	const struct vt_format_options o = {
		.warn = keep_warning,
		.warn_arg = t,
		.progress = note_progress,
		.progress_arg = t,
		.drop_stacks = t->app->drop_stacks,
		.tmpdir = app_tmpdir(),
		.pt = &t->pt,
	};
	const char *const *symfs = app_option(t->app, "symfs");

	if (t->app->pt)
		t->pt = *t->app->pt;
	t->cache = app_buildid_cache();
	if (symfs && *symfs) {
		t->pt.symfs = app_symfs_dir(&t->app->archives, *symfs, err);
		if (!t->pt.symfs)
			return NULL;
	}
	t->pt.cache = t->cache;
	t->pt.fetch = app_debuginfod_fetch;
	t->pt.fetch_arg = t->app->debuginfod;
	return vt_conversion_start(&t->conversion, &t->in, format->decode, &o, &stage, err);
}

struct vt_reader *app_trace_open(struct app *a, struct vt_input *in,
				 const struct vt_input_format *format, struct vt_error *err)
{
	struct app_trace *t = calloc(1, sizeof(*t));
	struct vt_reader *r = NULL;

	if (!t) {
		vt_error_nomem(err);
		vt_input_close(in);
		return NULL;
	}
	t->app = a;
	t->in = *in;
	r = start_decoding(t, format, err);
	t->reader = r;
	t->next = a->traces;
	a->traces = t;
	if (!r) {
		t->told = true;
		app_trace_close(t);
	}
	return r;
}

struct app_trace *app_trace_find(const struct app *a, const struct vt_reader *r)
{
	struct app_trace *t = a->traces;

	while (t && t->reader != r)
		t = t->next;
	return t;
}

uint64_t app_trace_offset(const struct app_trace *t)
{
	return atomic_load_explicit(&t->bytes, memory_order_relaxed);
}

/* ---- what was lost ---- */

/* What came of it in spite of the damage: of a processor's trace, instructions. */
static void tell_damage(struct app *a, const char *name, const struct vt_format_summary *s)
{
	char text[96];

	if (s->traced && s->samples)
		snprintf(text, sizeof(text), "%" PRIu64 " samples and %" PRIu64 " instructions",
			 s->samples, s->insns);
	else
		snprintf(text, sizeof(text), "%" PRIu64 " %s", s->traced ? s->insns : s->samples,
			 s->traced ? "instructions" : "samples");
	app_say_lossy(
		a, "%s: %" PRIu64 " damaged place%s, %" PRIu64 " bytes not understood; %s decoded",
		name, s->damaged, s->damaged == 1 ? "" : "s", s->unread, text);
}

void app_tell_decoded(struct app *a, const char *name, const struct vt_format_summary *s)
{
	if (s->damaged)
		tell_damage(a, name, s);
	if (s->aux_areas)
		app_say_lossy(a,
			      "%s: %" PRIu64 " AUX area%s of %s, %" PRIu64
			      " bytes: vtrace has no decoder for that",
			      name, s->aux_areas, s->aux_areas == 1 ? "" : "s",
			      vt_perfdata_auxtrace_name(s->aux_type), s->aux_bytes);
	if (s->lost)
		app_say(a, "%s: %" PRIu64 " records were lost while recording", name, s->lost);
	if (s->unknown)
		app_say(a, "%s: %" PRIu64 " records of unknown kinds", name, s->unknown);
	if (s->out_of_order)
		app_say(a, "%s: %" PRIu64 " records are not in order of time", name,
			s->out_of_order);
}

static void tell_warnings(struct app_trace *t)
{
	struct app_warnings w = {t->app, "damaged places", 0};
	size_t at;

	for (at = 0; at < t->warnings.size; at += strlen((char *)t->warnings.data + at) + 1)
		app_warn(&w, (char *)t->warnings.data + at);
	w.count = t->nwarnings;
	app_warnings_end(&w);
}

bool app_trace_end(struct app_trace *t)
{
	vt_conversion_end(&t->conversion);
	if (t->told)
		return !t->conversion.err.code;
	t->told = true;
	tell_warnings(t);
	if (t->conversion.err.code)
		return app_fail(t->app, &t->conversion.err);
	app_tell_decoded(t->app, t->in.name, &t->conversion.summary);
	return true;
}

void app_trace_close(struct app_trace *t)
{
	struct app_trace **link = &t->app->traces;

	app_trace_end(t);
	while (*link != t)
		link = &(*link)->next;
	*link = t->next;
	vt_input_close(&t->in);
	vt_buf_free(&t->warnings);
	free(t->cache);
	free(t);
}
