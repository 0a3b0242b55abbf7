/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_CHILD_H
#define CMD_RECORD_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "cmd/common/app.h"

/*
 * The program of the operands while it is recorded, and the signals that come meanwhile: those from
 * the keyboard reach it, too, and end the recording only with it.
 *
 *	struct child c = CHILD_INIT
 *	child_block_signals(&c)
 *	child_start(&c, ...)	it waits
 *	...			what records it is opened
 *	child_go(&c)
 *	while (!c.ended)
 *		poll(c.signals), child_take_signals(&c)
 *	child_wait(&c)
 *	restore_signals(&c.old_set)	when all is written
 */
struct child {
	pid_t pid;  /* 0: there is none */
	int status; /* from waitpid(), when it has ended */
	bool ended; /* without a child: a signal has asked to end */
	int signals;
	sigset_t old_set;
	int go; /* it waits for this pipe to close; -1: it does not */
};

#define CHILD_INIT                                                                                 \
	{                                                                                          \
		.signals = -1, .go = -1                                                            \
	}

void child_block_signals(struct child *c);

/*
 * Starts the program, whose standard output goes to standard error if `aside`.  Before that,
 * `prepare` is called in the new process.  False after app_fail().
 */
bool child_start(struct child *c, struct app *a, bool aside, void (*prepare)(void *arg), void *arg);
void child_go(struct child *c);

void child_take_signals(struct child *c);

/* Waits until it has ended, and takes no more signals. */
void child_wait(struct child *c);

/* Tells of the signal that ended it. */
void child_report(const struct child *c, struct app *a);

/* Its exit status, or 128 + the signal that ended it; 0 if there was none. */
int child_exit_status(const struct child *c);

#endif
