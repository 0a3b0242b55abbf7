/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE

#include "cmd/record/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define NSIGNALS 5
static const int watched[NSIGNALS] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};

void child_block_signals(struct child *c)
{
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < NSIGNALS; i++)
		sigaddset(&set, watched[i]);
	sigprocmask(SIG_BLOCK, &set, &c->old_set);
	c->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* In the child: waits until it is let go, then becomes the program. */
static void become_program(const struct child *c, struct app *a, int wait)
{
	struct sigaction by_default = {.sa_handler = SIG_DFL};
	char byte;

	while (read(wait, &byte, 1) < 0 && errno == EINTR)
		;
	sigaction(SIGPIPE, &by_default, NULL);
	sigprocmask(SIG_SETMASK, &c->old_set, NULL);
	execvp(a->argv[0], a->argv);
	app_say(a, "%s: %s", a->argv[0], strerror(errno));
	_exit(127);
}

bool child_start(struct child *c, struct app *a, bool aside, void (*prepare)(void *arg), void *arg)
{
	struct vt_error err = VT_ERROR_INIT;
	int wait[2];

	if (pipe2(wait, O_CLOEXEC) < 0) {
		vt_error_errno(&err, VT_E_SYSTEM, errno, "pipe");
		return app_fail(a, &err);
	}
	c->pid = fork();
	if (c->pid == 0) {
		close(wait[1]);
		if (prepare)
			prepare(arg);
		if (aside)
			dup2(STDERR_FILENO, STDOUT_FILENO);
		become_program(c, a, wait[0]);
	}
	close(wait[0]);
	c->go = wait[1];
	if (c->pid > 0)
		return true;
	c->pid = 0;
	child_go(c);
	vt_error_errno(&err, VT_E_SYSTEM, errno, "fork");
	return app_fail(a, &err);
}

void child_go(struct child *c)
{
	if (c->go >= 0)
		close(c->go);
	c->go = -1;
}

static void take_signal(struct child *c, const struct signalfd_siginfo *s)
{
	if (s->ssi_signo == SIGCHLD)
		c->ended = c->ended || (c->pid && waitpid(c->pid, &c->status, WNOHANG) == c->pid);
	else if (!c->pid)
		c->ended = true;
	else if (!c->ended && s->ssi_code != SI_KERNEL)
		/* A signal from the keyboard reaches the program, too. */
		kill(c->pid, (int)s->ssi_signo);
}

void child_take_signals(struct child *c)
{
	struct signalfd_siginfo s;

	while (read(c->signals, &s, sizeof(s)) == (ssize_t)sizeof(s))
		take_signal(c, &s);
}

void child_wait(struct child *c)
{
	while (c->pid && !c->ended)
		c->ended = waitpid(c->pid, &c->status, 0) == c->pid || errno != EINTR;
	close(c->signals);
}

void child_report(const struct child *c, struct app *a)
{
	if (c->pid && WIFSIGNALED(c->status))
		app_say(a, "%s: ended by signal %d (%s)", a->argv[0], WTERMSIG(c->status),
			strsignal(WTERMSIG(c->status)));
}

int child_exit_status(const struct child *c)
{
	if (!c->pid)
		return 0;
	return WIFEXITED(c->status) ? WEXITSTATUS(c->status) : 128 + WTERMSIG(c->status);
}
