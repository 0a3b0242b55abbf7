/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_SIDEBAND_SESSION_INTERNAL_H
#define FORMATS_PT_SIDEBAND_SESSION_INTERNAL_H

#include "base/hash.h"
#include "formats/pt/sideband/files.h"
#include "formats/pt/sideband/kernel.h"
#include "formats/pt/sideband/lbr.h"
#include "formats/pt/sideband/ptinfo.h"
#include "formats/pt/sideband/session.h"
#include "formats/pt/sideband/spaces.h"

/* A queue while it is decoded. */
struct vti_pt_runner {
	const struct vt_pt_queue *queue;
	struct vt_pt_engine *engine; /* of the segment at hand; NULL: between two */
	size_t segment;		     /* the next one when there is no engine */
	int64_t pid, tid;	     /* who runs; -1: not known */
	uint64_t generation;	     /* of the code that the engine has; 0: none yet */
	uint64_t tsc, cycles;	     /* up to where it was decoded */
	uint64_t until;		     /* it has stopped before this time */
	bool done;
	char name[64]; /* what GAP records call it */
};

struct vt_pt_session {
	struct vt_pt_session_options opt;
	struct vti_pt_info info;
	struct vt_pt_buffers *buffers;
	struct vt_pt_files *files;
	struct vti_pt_kernel *kernel;
	struct vt_pt_spaces *spaces;
	struct vti_pt_lbr *lbr; /* NULL unless asked for */
	bool stacks;		/* there are samples with branch stacks */
	struct vt_writer *w;
	struct vt_pt_emit *emit;
	struct vti_pt_runner *runners;
	size_t nrunners;
	struct vt_hash by_cpu;	    /* where in runners: those of a processor, */
	struct vt_hash by_tid;	    /* those of a thread */
	struct vti_pt_runner *last; /* whose batch was emitted last */
	struct vt_pt_totals totals;
	uint64_t gaps; /* that were written here */
};

/* runners.c */

/* Makes the runners from the sealed buffers. */
int vti_pt_runners_make(struct vt_pt_session *s, struct vt_error *err);
void vti_pt_runners_free(struct vt_pt_session *s);

/* The runner of a processor or of a thread, or NULL. */
struct vti_pt_runner *vti_pt_runner_of_cpu(const struct vt_pt_session *s, uint64_t cpu);
struct vti_pt_runner *vti_pt_runner_of_tid(const struct vt_pt_session *s, int64_t tid);

/* Decodes a runner to its end, or all of them, the one that is behind first, up to a TSC. */
int vti_pt_runner_finish(struct vt_pt_session *s, struct vti_pt_runner *r, struct vt_error *err);
int vti_pt_runners_advance(struct vt_pt_session *s, uint64_t until, struct vt_error *err);

/* session.c: a GAP record that does not come from a decoder. */
void vti_pt_session_gap(struct vt_pt_session *s, const struct vti_pt_runner *r, uint64_t time,
			const char *reason, uint64_t offset, uint64_t bytes);

#endif
