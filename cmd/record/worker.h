/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_WORKER_H
#define CMD_RECORD_WORKER_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* A process that runs planted loops, to be sampled by its parent. */
struct worker {
	pid_t pid;
	int fd; /* to it and back */
};

/* What a run took. */
struct worker_time {
	double cpu_ns; /* of the process */
	double ns;
	double ticks; /* of the time-stamp counter; 0: there is none */
};

/* Starts it, for one processor.  VT_E_SYSTEM.  End with worker_end(), also after an error. */
int worker_start(struct worker *w, struct vt_error *err);

/* Goes `visits` times through a loop.  VT_E_SYSTEM: the process has ended. */
int worker_run(struct worker *w, unsigned loop, uint64_t visits, struct worker_time *t,
	       struct vt_error *err);

void worker_end(struct worker *w);

#endif
