/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_THREADS_H
#define VT_PROFILE_THREADS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/record.h"

/*
 * The names of the threads of a stream, as they are at the record that was read last.  A thread has
 * the name of its last COMM or EXEC record, else the one that its parent had when it was forked.
 *
 * Memory: one entry for each thread, at most VT_THREADS_MAX; of a name, VT_COMM_SIZE - 1 bytes are
 * kept.
 */
struct vt_threads;

#define VT_THREADS_MAX 1000000
#define VT_COMM_SIZE   48 /* the kernel's names have at most 15 bytes, a recorder's may have more */

/* Owned by the caller; NULL when memory runs out. */
struct vt_threads *vt_threads_new(void);
void vt_threads_free(struct vt_threads *t);

/*
 * A vt_consume_fn; `threads` is the struct vt_threads.  Ignores records of other kinds.  0,
 * -VT_E_NOMEM, or -VT_E_LIMIT for more than VT_THREADS_MAX threads.
 */
int vt_threads_feed(void *threads, const struct vt_block *block, uint32_t first, uint32_t count,
		    struct vt_error *err);

/*
 * The name of a thread; ":TID", written to `buf`, if no record has told one, as perf calls such
 * threads.  Thread 0 is "swapper", the idle one.  Borrowed until the next record, or from `buf`.
 */
const char *vt_threads_comm(const struct vt_threads *t, int32_t tid, char buf[VT_COMM_SIZE]);

#endif
