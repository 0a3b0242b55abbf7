/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/app.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/escape.h"
#include "base/version.h"
#include "cmd/common/debuginfod.h"
#include "cmd/common/symfs.h"
#include "cmd/common/terminal.h"

/* So many warnings of one sort are shown, the rest is counted. */
#define SHOWN_WARNINGS 10

/* ---- messages ---- */

static void say(const struct app *a, const char *fmt, va_list ap)
{
	struct vt_buf b = VT_BUF_INIT;
	char text[2 * VT_ERROR_SIZE];

	vsnprintf(text, sizeof(text), fmt, ap);
	vt_buf_printf(&b, "%s: ", a->name);
	vt_escape_str(&b, text);
	vt_buf_put_u8(&b, '\n');
	/* One write for one line: lines of the programs of a pipeline do not mix. */
	fputs(vt_buf_str(&b), stderr);
	fflush(stderr);
	vt_buf_free(&b);
}

void app_say(const struct app *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(a, fmt, ap);
	va_end(ap);
}

void app_say_lossy(struct app *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(a, fmt, ap);
	va_end(ap);
	app_raise(a, APP_LOSSY);
}

/*
 * A check that failed is graver than lost input, and one that cannot be made than either, but they
 * mean nothing when anything else failed.
 */
static int gravity(enum app_status status)
{
	switch (status) {
	case APP_FOUND:
		return 4 * APP_LOSSY + 1;
	case APP_UNSURE:
		return 4 * APP_LOSSY + 2;
	default:
		return 4 * (int)status;
	}
}

void app_raise(struct app *a, enum app_status status)
{
	if (gravity(status) > gravity(a->status))
		a->status = status;
}

static enum app_status status_of(enum vt_errcode code)
{
	switch (code) {
	case VT_E_USAGE:
	case VT_E_NOTFOUND:
	case VT_E_AMBIGUOUS:
		return APP_USAGE;
	case VT_E_WRITE:
		return APP_OUTPUT;
	default:
		return APP_INPUT;
	}
}

/* What is written from now on is incomplete. */
static void note_failure(struct app *a, const char *why)
{
	if (*a->failure.program)
		return;
	snprintf(a->failure.program, sizeof(a->failure.program), "%s", a->name);
	snprintf(a->failure.why, sizeof(a->failure.why), "%s", why);
}

bool app_fail(struct app *a, const struct vt_error *err)
{
	if (err->code != VT_E_ABSENT || !a->upstream_tells)
		app_say(a, "%s", err->text);
	note_failure(a, err->text);
	app_raise(a, status_of(err->code));
	return false;
}

void app_note(void *app, const char *text)
{
	app_say(app, "%s", text);
}

bool app_no_memory(struct app *a)
{
	struct vt_error err = VT_ERROR_INIT;

	vt_error_nomem(&err);
	return app_fail(a, &err);
}

bool app_usage(struct app *a, const char *fmt, ...)
{
	char text[VT_ERROR_SIZE];
	va_list ap;

	va_start(ap, fmt);
	say(a, fmt, ap);
	va_end(ap);
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	note_failure(a, text);
	app_raise(a, APP_USAGE);
	return false;
}

void app_warn(void *arg, const char *text)
{
	struct app_warnings *w = arg;

	if (w->count++ < SHOWN_WARNINGS)
		app_say(w->app, "%s", text);
}

void app_warnings_end(struct app_warnings *w)
{
	if (w->count > SHOWN_WARNINGS)
		app_say(w->app, "%llu more %s", (unsigned long long)(w->count - SHOWN_WARNINGS),
			w->what);
}

/* ---- start and finish ---- */

/*
 * If one of the three standard descriptors is closed, a file that is opened later would take its
 * number, and be read or written by mistake: fill it with something that fails.
 */
static void fill_standard_fds(void)
{
	int fd;

	for (fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void app_help(struct app *a)
{
	struct vt_buf b = VT_BUF_INIT;
	struct vt_output *out = app_text(a, NULL);

	vt_opt_help(&b, a->page);
	if (out)
		vt_output_text(out, vt_buf_str(&b));
	vt_buf_free(&b);
}

static void print_version(struct app *a)
{
	struct vt_output *out = app_text(a, NULL);

	if (out)
		vt_output_printf(out, "%.*s (vtrace) %s\n", (int)strcspn(a->name, " "), a->name,
				 VT_VERSION);
}

bool app_start(struct app *a, const struct vt_opt_page *page, int argc, char **argv)
{
	struct vt_error err = VT_ERROR_INIT;
	int first = argc;
	int i, rc;

	*a = (struct app){.name = page->program, .page = page, .seed = 1};
	a->debuginfod = app_debuginfod_new(a->name, app_note, a);
	fill_standard_fds();
	/* Whoever closes our output has seen enough; a parent may have left SIGPIPE ignored. */
	signal(SIGPIPE, SIG_DFL);
	rc = vt_opt_parse(page, argc, argv, &first, &a->record, &err);
	a->argc = argc - first;
	a->argv = argv + first;
	if (rc < 0) {
		app_fail(a, &err);
	} else if (rc == VT_OPT_HELP) {
		app_help(a);
	} else if (rc == VT_OPT_VERSION) {
		print_version(a);
	}
	if (!a->argc)
		app_note_input(a, NULL);
	for (i = 0; i < a->argc; i++)
		app_note_input(a, a->argv[i]);
	return rc == VT_OPT_RUN;
}

void app_release(struct app *a)
{
	app_debuginfod_free(a->debuginfod);
	a->debuginfod = NULL;
	app_archives_free(a->archives);
	a->archives = NULL;
	vt_buf_free(&a->record);
	free(a->files);
	a->files = NULL;
	a->nfiles = a->files_cap = 0;
}

int app_finish(struct app *a)
{
	struct vt_error err = VT_ERROR_INIT;

	if (a->text_open && vt_output_close(&a->text, &err) < 0)
		app_fail(a, &err);
	if (a->write_failure)
		a->write_failure(a);
	/* Some file systems report a failed write only here. */
	if (close(STDOUT_FILENO) < 0 && a->status != APP_OUTPUT) {
		vt_error_errno(&err, VT_E_WRITE, errno, "standard output");
		app_fail(a, &err);
	}
	app_release(a);
	return a->status;
}

const void *app_option(const struct app *a, const char *name)
{
	const struct vt_opt *o;

	for (o = a->page->opts; o->name; o++)
		if (strcmp(o->name, name) == 0)
			return o->value;
	return NULL;
}

/* ---- text out ---- */

struct vt_output *app_text(struct app *a, const char *path)
{
	struct vt_error err = VT_ERROR_INIT;
	const bool *full_names;

	if (a->text_open)
		return &a->text;
	if (!app_may_write(a, path))
		return NULL;
	if (vt_output_open(&a->text, path ? path : "-", &err) < 0) {
		app_fail(a, &err);
		return NULL;
	}
	a->text_open = true;
	a->text.columns = a->text.tty ? app_terminal_columns(a->text.fd) : 0;
	full_names = app_option(a, "full-names");
	a->text.full_names = full_names && *full_names;
	app_note_output(a, path);
	return &a->text;
}

/* ---- files that must not be overwritten ---- */

/* False of what is no regular file: a device or pipe takes several outputs. */
static bool stat_regular_file(const char *path, int standard, struct stat *st)
{
	int rc = !path || strcmp(path, "-") == 0 ? fstat(standard, st) : stat(path, st);

	return rc == 0 && S_ISREG(st->st_mode);
}

static void note_app_file(struct app *a, const char *path, bool written)
{
	struct stat st;

	/* Out of memory only this check is lost. */
	if (stat_regular_file(path, written ? STDOUT_FILENO : STDIN_FILENO, &st) &&
	    vt_array_grow(&a->files, &a->files_cap, a->nfiles + 1, sizeof(*a->files)))
		a->files[a->nfiles++] = (struct app_file){st.st_dev, st.st_ino, written};
}

void app_note_input(struct app *a, const char *path)
{
	note_app_file(a, path, false);
}

bool app_is_no_terminal(struct app *a, const char *path)
{
	if ((path && strcmp(path, "-") != 0) || !isatty(STDIN_FILENO))
		return true;
	return app_usage(a, "standard input is a terminal, and there is no ./perf.data: name a "
			    "file, or pipe a stream in");
}

void app_note_output(struct app *a, const char *path)
{
	if (!path || strcmp(path, "-") == 0)
		a->stdout_taken = true;
	note_app_file(a, path, true);
}

bool app_may_write(struct app *a, const char *path)
{
	struct stat st;
	size_t i;

	/* What file the shell has opened is the user's choice: `vhot <x >>x`. */
	if (!path || strcmp(path, "-") == 0)
		return !a->stdout_taken || app_usage(a, "standard output: is also another output");
	if (!stat_regular_file(path, STDOUT_FILENO, &st))
		return true;
	for (i = 0; i < a->nfiles; i++)
		if (a->files[i].dev == st.st_dev && a->files[i].ino == st.st_ino)
			return app_usage(a, "%s: is also %s", path,
					 a->files[i].written ? "another output" : "the input");
	return true;
}
