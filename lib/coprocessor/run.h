/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_COPROCESSOR_RUN_H
#define VT_COPROCESSOR_RUN_H

#include "coprocessor/buffer.h"
#include "coprocessor/feed.h"
#include "coprocessor/filters.h"
#include "coprocessor/host.h"
#include "coprocessor/machine.h"
#include "coprocessor/sizes.h"

/* A program on the co-processor of a main processor that executes a stream's code. */
struct vt_coproc_options {
	struct vt_coproc_sizes sizes;
	double clock, ipc;
	bool timed; /* the recording's cycles count, where it has some, and not `ipc` */
	uint64_t max_words, turn;
	uint64_t count; /* instructions that are profiled; 0: all */
	enum vt_filter_hash partition_hash, table_hash;
	struct vt_host_masking masking;
	vt_warn_fn *warn; /* see vt_feed_new() */
	void *warn_arg;
};

/* 5.2: "a 4-way superscalar, dynamically-scheduled processor"; what it retires is assumed. */
#define VT_COPROC_IPC	    2
#define VT_COPROC_MAX_WORDS 10000  /* of a routine */
#define VT_COPROC_TURN	    250000 /* instructions for a region of the program: not in the paper */

struct vt_coproc_run {
	const struct vt_ucode *u;
	struct vt_coproc_options o;
	struct vt_coproc *coproc;
	struct vt_filters filters;
	struct vt_host *host;
	struct vt_buffer *buffer;
	struct vt_feed *feed;
};

/*
 * Makes the parts and adds the feed to the context's consumers.  Borrows the program and the
 * context.  Returns 0, -VT_E_USAGE for sizes that the program does not fit, or -VT_E_NOMEM; end
 * with vt_coproc_run_fini() in any case.
 */
int vt_coproc_run_init(struct vt_coproc_run *r, const struct vt_ucode *u, struct vt_context *c,
		       const struct vt_coproc_options *o, struct vt_error *err);
void vt_coproc_run_fini(struct vt_coproc_run *r);

/* Works off what is buffered and reads the co-processor, at the end of the stream. */
int vt_coproc_run_finish(struct vt_coproc_run *r, struct vt_error *err);

/* Cycles of the main processor that the program took by itself. */
double vt_coproc_run_cycles(const struct vt_coproc_run *r);

#endif
