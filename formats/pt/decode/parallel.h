/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_DECODE_PARALLEL_H
#define FORMATS_PT_DECODE_PARALLEL_H

#include "formats/pt/decode/walk.h"

/*
 * The engine "fast" with several threads.  A trace is cut into jobs at PSBs.  A job is walked from
 * its PSB, as if the trace began there, to a little after the PSB of the next job.  Its output is
 * used if the single walk, once it has come to the job's PSB, is in the same state as the job was.
 * Otherwise, or if the job found damage, the single walk repeats the job's part.  So the output is
 * always that of one thread.
 *
 * A job's clock starts some packets earlier, so that it has measured the same rate as the clock of
 * the single walk.  Its cycle counts lack only the earlier cycles, which are added.
 *
 * The caller's thread is one of the threads: it walks the first job, jobs that no thread has begun
 * when their output is needed, and other jobs instead of waiting.
 */
struct vti_pt_parallel;

/*
 * `w` is the single walk, at its beginning, with code.  It is borrowed, and nobody else may use it
 * until vti_pt_parallel_free().  Owned by the caller.  NULL: no memory.
 */
struct vti_pt_parallel *vti_pt_parallel_new(struct vti_pt_walk *w, unsigned threads);
void vti_pt_parallel_free(struct vti_pt_parallel *p);

/* The next piece, as `next` of vt_pt_engine_ops has it. */
int vti_pt_parallel_next(struct vti_pt_parallel *p, struct vt_pt_batch *batch,
			 struct vt_error *err);

/*
 * Returns how many of the *walked jobs that were walked ahead so far have been used.  The others
 * were walked twice.
 */
size_t vti_pt_parallel_joined(const struct vti_pt_parallel *p, size_t *walked);

#endif
