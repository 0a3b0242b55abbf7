/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_DECODE_PARALLEL_H
#define FORMATS_PT_DECODE_PARALLEL_H

#include "formats/pt/decode/walk.h"

/*
 * The engine "fast" with several threads.  A trace is cut at PSBs into jobs.  Each is walked from
 * its PSB as if the trace began there, up to a little behind the next job's.  Whether that gives
 * what a single walk would have given is seen when all before it is known: the single walk's state
 * behind the PSB must be that which the job had there.  If it is not, or the job met with damage,
 * the single walk does the job's part itself.  What comes out is always what one thread gives.
 *
 * A job's clock begins a few packets before it, so that it has measured what the single walk's has;
 * only the cycles before are missing from what it says, and are added.
 *
 * The caller's thread is one of them: it does the first job, those that nobody has begun when they
 * are wanted, and others while it would have to wait.
 */
struct vti_pt_parallel;

/*
 * `w` is the single walk, at its beginning, with code; borrowed, and used by nobody else until the
 * end.  Owned by the caller.  NULL: no memory, or no threads.
 */
struct vti_pt_parallel *vti_pt_parallel_new(struct vti_pt_walk *w, unsigned threads);
void vti_pt_parallel_free(struct vti_pt_parallel *p);

/* The next piece, as `next` of vt_pt_engine_ops has it. */
int vti_pt_parallel_next(struct vti_pt_parallel *p, struct vt_pt_batch *batch,
			 struct vt_error *err);

/*
 * How many of the *walked jobs that were walked ahead so far have joined what was known before
 * them: the work that went into the others was done twice.
 */
size_t vti_pt_parallel_joined(const struct vti_pt_parallel *p, size_t *walked);

#endif
