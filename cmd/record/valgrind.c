/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/record/valgrind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "cmd/record/command.h"

#define RECORDER "vtrace-amd64-linux"

/*
 * Debian's `valgrind` is a script that also sets LD_LIBRARY_PATH for the program, so the binary
 * that it runs is tried first.
 */
static const char *const launchers[] = {"valgrind.bin", "valgrind"};

/* Values of stores come with those of loads: both are also named in full. */
enum { STORES = 2, LOADS_AND_STORES = 4 };
const char *const full_value_words[] = {"none", "loads", "stores", "all", "loads,stores", NULL};

const char *full_option_given(const struct full_options *o)
{
	return o->values_given ? "--values"
	       : o->blocks     ? "--blocks"
	       : o->mem	       ? "--mem"
	       : o->args       ? "--args"
	       : o->heap       ? "--heap"
	       : o->alloc      ? "--alloc"
	       : o->follow     ? "--follow"
	       : o->skip_given ? "--skip"
	       : o->count      ? "--count"
	       : o->toggle     ? "--toggle"
			       : NULL;
}

#define MAX_ALLOC_NAMES 32

/* True if the first characters of a list are NAME, NAME/N or NAME/-N. */
static bool alloc_name_valid(const char *s, size_t length)
{
	size_t name = strcspn(s, "/,");
	const char *digit = s + name + 1;

	if (name == length)
		return length > 0;
	digit += *digit == '-';
	return name > 0 && *digit >= '1' && *digit <= '3' && digit + 1 == s + length;
}

bool full_alloc_valid(const char *list)
{
	unsigned n;

	for (n = 0; n < MAX_ALLOC_NAMES; n++) {
		size_t length = strcspn(list, ",");

		if (!alloc_name_valid(list, length))
			return false;
		if (!list[length])
			return true;
		list += length + 1;
	}
	return false;
}

/* ---- the recorder's directory ---- */

/* Finds it by VTRACE_LIBEXEC, or relative to this program, both in the build and installed. */
static bool find_directory(struct vt_buf *dir)
{
	const char *chosen = getenv("VTRACE_LIBEXEC");
	char self[4096];
	ssize_t n;
	char *slash;

	if (chosen && *chosen) {
		vt_buf_printf(dir, "%s", chosen);
		return !dir->failed;
	}
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n <= 0)
		return false;
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (!slash)
		return false;
	vt_buf_printf(dir, "%.*s/../libexec/vtrace", (int)(slash - self), self);
	return !dir->failed;
}

/*
 * Puts the name of the recorder's directory.  Valgrind passes it in LD_PRELOAD, where a space or a
 * colon ends a name: then the name is that of an open descriptor of this process, which lives at
 * least as long as the recorded program.
 */
static bool name_directory(struct vt_buf *name)
{
	struct vt_buf dir = VT_BUF_INIT;
	bool found = find_directory(&dir);
	int fd = -1;

	if (found && strpbrk(vt_buf_str(&dir), " :"))
		fd = open(vt_buf_str(&dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		vt_buf_printf(name, "/proc/%ld/fd/%d", (long)getpid(), fd);
	else if (found)
		vt_buf_printf(name, "%s", vt_buf_str(&dir));
	vt_buf_free(&dir);
	return found && !name->failed;
}

/* Puts why it is not there; false then. */
static bool find_recorder(struct vt_buf *missing)
{
	struct vt_buf path = VT_BUF_INIT;
	bool there = find_directory(&path);

	vt_buf_printf(&path, "/" RECORDER);
	if (there && access(vt_buf_str(&path), X_OK) < 0) {
		vt_buf_printf(missing,
			      "no recorder: %s: %s (it is built where valgrind is installed)",
			      vt_buf_str(&path), strerror(errno));
		there = false;
	}
	vt_buf_free(&path);
	return there;
}

bool valgrind_check(struct app *a)
{
	struct vt_buf missing = VT_BUF_INIT;
	bool there = find_recorder(&missing);

	if (missing.size)
		app_say(a, "%s", vt_buf_str(&missing));
	if (!there)
		app_raise(a, APP_INPUT);
	vt_buf_free(&missing);
	return there;
}

bool valgrind_find(struct vt_buf *missing)
{
	size_t i, n = sizeof(launchers) / sizeof(launchers[0]);

	for (i = 0; i < n && find_program(launchers[i]) != 0; i++)
		;
	if (i == n)
		vt_buf_printf(missing, "valgrind is not installed");
	return i < n && find_recorder(missing);
}

/* ---- Valgrind's command line ---- */

static void add_pair(struct vt_buf *b, const char *option, const char *value)
{
	vt_buf_printf(b, "%s=%s", option, value);
	vt_buf_put_u8(b, 0);
}

/* Puts the arguments one after the other, each zero-terminated; the first is Valgrind's name. */
static void make_valgrind_command(struct vt_buf *b, const struct app *a,
				  const struct full_options *o, const char *dir)
{
	char skip[24];
	int i;

	add_argument(b, "valgrind");
	/* Ignores ~/.valgrindrc and VALGRIND_OPTS, which are not meant for this tool. */
	add_argument(b, "--command-line-only=yes");
	add_argument(b, "--tool=vtrace");
	add_argument(b, "-q");
	add_argument(b, "--vgdb=no");
	/* By default, Valgrind assumes that code of files does not change, and programs that patch
	 * executed code fail.  This option costs up to 15 % of the time. */
	add_argument(b, "--smc-check=all");
	/* By default, the handler of a fault sees old values in most registers, and its return
	 * sets them.  This option costs up to 10 % of the time. */
	add_argument(b, "--vex-iropt-register-updates=allregs-at-each-insn");
	add_pair(b, "--trace-children", o->follow ? "yes" : "no");
	add_pair(b, "--dir", dir);
	add_pair(b, "--values",
		 full_value_words[o->blocks			  ? 0
				  : o->values == LOADS_AND_STORES ? STORES
								  : o->values]);
	if (o->mem)
		add_argument(b, "--mem=yes");
	if (o->args)
		add_argument(b, "--args=yes");
	if (o->heap || o->alloc)
		add_argument(b, "--heap=yes");
	if (o->alloc)
		add_pair(b, "--alloc", o->alloc);
	if (o->follow)
		add_argument(b, "--follow=yes");
	if (o->toggle)
		add_pair(b, "--toggle", o->toggle);
	if (o->skip) {
		snprintf(skip, sizeof(skip), "%" PRIu64, o->skip);
		add_pair(b, "--skip", skip);
	}
	add_argument(b, "--");
	for (i = 0; i < a->argc; i++)
		add_argument(b, a->argv[i]);
}

void valgrind_print(struct app *a, const struct full_options *o)
{
	struct vt_buf command = VT_BUF_INIT, dir = VT_BUF_INIT;

	make_valgrind_command(&command, a, o, "DIR");
	find_directory(&dir);
	print_command(a, "VALGRIND_LIB", vt_buf_str(&dir), &command);
	vt_buf_free(&command);
	vt_buf_free(&dir);
}

/* ---- running Valgrind ---- */

/* In the child: executes Valgrind, or sends errno through the pipe. */
static void exec_valgrind(char **argv, const char *libexec, bool redirect, const sigset_t *mask,
			  int report)
{
	struct sigaction by_default = {.sa_handler = SIG_DFL};
	int error;
	size_t i;

	sigaction(SIGPIPE, &by_default, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (redirect)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	setenv("VALGRIND_LIB", libexec, 1);
	errno = ENOENT;
	for (i = 0; i < sizeof(launchers) / sizeof(launchers[0]) && errno == ENOENT; i++)
		execvp(launchers[i], argv);
	error = errno;
	(void)!write(report, &error, sizeof(error));
	_exit(127);
}

static pid_t fork_valgrind(char **argv, const char *libexec, bool redirect, const sigset_t *mask,
			   int *error)
{
	int report[2], status;
	pid_t child = -1;

	*error = errno;
	if (pipe(report) < 0)
		return -1;
	fcntl(report[0], F_SETFD, FD_CLOEXEC);
	fcntl(report[1], F_SETFD, FD_CLOEXEC);
	child = fork();
	if (child == 0)
		exec_valgrind(argv, libexec, redirect, mask, report[1]);
	*error = errno;
	close(report[1]);
	if (child > 0 && read(report[0], error, sizeof(*error)) > 0) {
		waitpid(child, &status, 0);
		child = -1;
	}
	close(report[0]);
	return child;
}

pid_t valgrind_start(struct app *a, const struct full_options *o, const char *dir, bool redirect,
		     const sigset_t *mask)
{
	struct vt_buf command = VT_BUF_INIT, libexec = VT_BUF_INIT;
	char **argv;
	pid_t child = -1;
	int error = ENOMEM;

	make_valgrind_command(&command, a, o, dir);
	argv = list_arguments(&command);
	if (argv && name_directory(&libexec))
		child = fork_valgrind(argv, vt_buf_str(&libexec), redirect, mask, &error);
	if (child < 0)
		app_say(a, "valgrind: %s%s", strerror(error),
			error == ENOENT ? " (on Debian: apt-get install valgrind)" : "");
	free(argv);
	vt_buf_free(&command);
	vt_buf_free(&libexec);
	return child;
}
