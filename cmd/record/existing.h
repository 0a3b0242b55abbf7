/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_EXISTING_H
#define CMD_RECORD_EXISTING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "cmd/bpf/running.h"
#include "formats/perfdata/write.h"

/*
 * What the kernel tells no more of processes that run already: their names and mappings, from
 * /proc, as records of time `stamp->time`.  A process that ends meanwhile is left out.
 */

/* Puts the records of one process, or with pid -1 of all. */
int put_existing_processes(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *stamp,
			   pid_t pid, struct vt_error *err);

/* Puts the mappings of the kernel and of its modules, and the kernel's build-id. */
int put_existing_kernel(struct vt_perfdata_writer *w, const struct vt_perfdata_stamp *stamp,
			const struct running_kernel *k, struct vt_error *err);

/* Calls `fn` for each thread of a process, until it returns a negative number: that, or 0. */
typedef int existing_thread_fn(void *arg, pid_t tid);
int each_existing_thread(pid_t pid, existing_thread_fn *fn, void *arg);

#endif
