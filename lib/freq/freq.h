/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_FREQ_H
#define VT_FREQ_FREQ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/procedure_flow.h"
#include "stream/kinds.h"

/* A count that is a sample itself. */
struct vt_freq_measure {
	double executions; /* negative: not counted */
	double sigma;	   /* its standard deviation */
};

/*
 * How often the instructions and edges of a procedure were executed, from samples of the time that
 * each instruction spent at the head of the queue: DCPI 6.1.
 */
struct vt_freq_entries {
	double executions; /* negative: not known */
	double sigma;	   /* their standard deviation */
};

struct vt_freq_input {
	/* By the method FLOW, it is scheduled anew for `core` as soon as edges are known. */
	struct vt_procflow *flow;
	const struct vt_core *core; /* NULL: it is not */
	const uint64_t *samples;    /* by instruction of the graph */
	const double *cycles;	    /* the time that they stand for */
	/*
	 * Executions that were counted, by instruction and by edge; negative where they were not.
	 * Each may be NULL.
	 */
	const double *exact;
	const double *exact_edges;
	/* How often control came to its start, by the method FLOW. */
	struct vt_freq_entries entries;
	/*
	 * What branch stacks counted, likewise; both NULL: nothing.  It is used by the method FLOW
	 * where it is more certain than what the samples tell.
	 */
	const struct vt_freq_measure *measured;
	const struct vt_freq_measure *measured_edges;
	double measure_unit;   /* the least count but 0 */
	bool measure_timed;    /* they are executions; else in proportion to them */
	enum vt_method method; /* NAIVE, PAPER or FLOW */
	/*
	 * Samples fall behind the instruction that they belong to, or are spread unevenly over
	 * those in flight: only sums over classes are to be trusted.
	 */
	bool skewed;
};

struct vt_freq_value {
	double executions;
	double low; /* 95 % of the time, if the confidence is right */
	double high;
	enum vt_confidence confidence;
	enum vt_method method;
};

struct vt_freqs {
	struct vt_freq_value *insn; /* by instruction of the graph */
	struct vt_freq_value *edge; /* by edge; NONE with the naive method */
};

/* Owned by the caller.  NULL: VT_E_NOMEM. */
struct vt_freqs *vt_freqs_new(const struct vt_freq_input *in, struct vt_error *err);
void vt_freqs_free(struct vt_freqs *f);

#endif
