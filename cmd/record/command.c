/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/record/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"

#define DEFAULT_STREAM "vtrace.vt"

/* The default of execvp(3) without PATH. */
#define DEFAULT_PATH "/bin:/usr/bin"

static int try_program(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? errno : 0;
}

/* 0 with the program's path in `full`, or the worst errno. */
static int search_program(const char *name, struct vt_buf *full)
{
	const char *path = getenv("PATH"), *end;
	int worst = ENOENT, code;

	if (!*name)
		return ENOENT;
	if (strchr(name, '/')) {
		vt_buf_printf(full, "%s", name);
		return try_program(name);
	}
	for (path = path ? path : DEFAULT_PATH;; path = end + 1) {
		end = path + strcspn(path, ":");
		full->size = 0;
		/* An empty entry is the current directory. */
		vt_buf_printf(full, "%.*s/%s", end > path ? (int)(end - path) : 1,
			      end > path ? path : ".", name);
		code = try_program(vt_buf_str(full));
		if (!code)
			return 0;
		/* A file that may not be run is only reported if there is no other. */
		if (code == EACCES)
			worst = EACCES;
		if (!*end)
			return worst;
	}
}

int find_program(const char *name)
{
	struct vt_buf path = VT_BUF_INIT;
	int code = search_program(name, &path);

	vt_buf_free(&path);
	return code;
}

bool find_program_path(const char *name, struct vt_buf *path)
{
	return search_program(name, path) == 0;
}

static bool report_unusable(struct app *a, const char *name, int code)
{
	struct vt_error err = VT_ERROR_INIT;

	vt_error_errno(&err, VT_E_READ, code, "%s", name);
	return app_fail(a, &err);
}

bool check_program_name(struct app *a, const char *name)
{
	int code = find_program(name);

	return !code || report_unusable(a, name, code);
}

static int check_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct vt_buf dir = VT_BUF_INIT;
	int code = 0;

	if (!slash)
		vt_buf_printf(&dir, ".");
	else
		vt_buf_printf(&dir, "%.*s", slash > path ? (int)(slash - path) : 1, path);
	if (faccessat(AT_FDCWD, vt_buf_str(&dir), W_OK | X_OK, AT_EACCESS) < 0)
		code = errno;
	vt_buf_free(&dir);
	return code;
}

bool check_output_name(struct app *a, const char *path)
{
	struct stat st;
	int code = 0;

	if (strcmp(path, "-") == 0)
		return true;
	if (stat(path, &st) < 0)
		code = errno == ENOENT ? check_directory(path) : errno;
	else if (S_ISDIR(st.st_mode))
		code = EISDIR;
	else if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) < 0)
		code = errno;
	return !code || report_unusable(a, path, code);
}

/* ---- signals ---- */

/* ---- streams ---- */

bool is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

const char *choose_stream_output(const char *asked)
{
	return asked ? asked : is_pipe(STDOUT_FILENO) ? "-" : DEFAULT_STREAM;
}

const char *choose_stream_compression(const char *output, const char *asked, const char *of_files)
{
	struct stat st;
	int rc;

	if (asked)
		return asked;
	rc = strcmp(output, "-") == 0 ? fstat(STDOUT_FILENO, &st) : stat(output, &st);
	return rc < 0 || S_ISREG(st.st_mode) ? of_files : NULL;
}

/* ---- signals ---- */

void restore_signals(const sigset_t *mask)
{
	const struct timespec none = {0};
	sigset_t now, blocked;
	int sig;

	sigprocmask(SIG_SETMASK, NULL, &now);
	sigemptyset(&blocked);
	for (sig = 1; sig < SIGRTMIN; sig++)
		if (sigismember(&now, sig) == 1 && sigismember(mask, sig) == 0)
			sigaddset(&blocked, sig);
	while (sigtimedwait(&blocked, NULL, &none) > 0)
		;
	sigprocmask(SIG_SETMASK, mask, NULL);
}

/* ---- command lines ---- */

void put_command_line(const struct app *a, struct vt_buf *line)
{
	int i;

	for (i = 0; i < a->argc; i++) {
		const char *p = a->argv[i];

		if (i)
			vt_buf_put_u8(line, ' ');
		for (; *p; p++) {
			if (*p == ' ' || *p == '\\')
				vt_buf_put_u8(line, '\\');
			vt_buf_put_u8(line, (uint8_t)*p);
		}
	}
}

void add_argument(struct vt_buf *command, const char *arg)
{
	vt_buf_put(command, arg, strlen(arg) + 1);
}

char **list_arguments(const struct vt_buf *command)
{
	char *p = (char *)command->data, *end = p + command->size;
	char **argv = command->failed ? NULL : calloc(command->size + 1, sizeof(*argv));
	size_t n = 0;

	for (; argv && p < end; p += strlen(p) + 1)
		argv[n++] = p;
	return argv;
}

static void quote_argument(struct vt_output *out, const char *arg)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./,:@%";

	if (*arg && !arg[strspn(arg, plain)]) {
		vt_output_text(out, arg);
		return;
	}
	vt_output_text(out, "'");
	for (; *arg; arg++) {
		if (*arg == '\'')
			vt_output_text(out, "'\\''");
		else
			vt_output_put(out, arg, 1);
	}
	vt_output_text(out, "'");
}

void print_command(struct app *a, const char *variable, const char *value,
		   const struct vt_buf *command)
{
	struct vt_output *out = app_text(a, NULL);
	char **argv = list_arguments(command);
	size_t i;

	if (out && argv) {
		if (variable) {
			vt_output_printf(out, "%s=", variable);
			quote_argument(out, value);
		}
		for (i = 0; argv[i]; i++) {
			vt_output_text(out, i || variable ? " " : "");
			quote_argument(out, argv[i]);
		}
		vt_output_text(out, "\n");
	}
	free(argv);
}
