/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_FREQ_H
#define VT_FREQ_FREQ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/procedure_flow.h"
#include "stream/kinds.h"

/*
 * How often the instructions and edges of a procedure were executed, estimated from samples of the
 * time that each instruction spent at the head of the queue: DCPI 6.1.
 */

/* A number of executions that is itself an estimate. */
struct vt_freq_measure {
	double executions; /* negative: unknown */
	double sigma;	   /* standard deviation */
};

struct vt_freq_input {
	/* The method FLOW schedules it again for `core` when edge frequencies are known. */
	struct vt_procflow *flow;
	const struct vt_core *core; /* NULL: do not schedule again */
	const uint64_t *samples;    /* by instruction of the graph */
	const double *cycles;	    /* the time that the samples stand for, likewise */
	double period;		    /* mean cycles of a sample in the whole profile; 0: unknown */
	/*
	 * Counted executions, by instruction and by edge; negative where nothing was counted.
	 * Either may be NULL.
	 */
	const double *exact;
	const double *exact_edges;
	double exact_doubt; /* relative deviation that all of them share; infinite: ratios only */
	struct vt_freq_measure entries; /* calls of the procedure; used by the method FLOW */
	/*
	 * Counts from branch stacks, by instruction and by edge; both NULL if there are none.  The
	 * method FLOW uses a count where it is more certain than the samples.
	 */
	const struct vt_freq_measure *measured;
	const struct vt_freq_measure *measured_edges;
	double measure_unit;   /* the least nonzero count */
	bool measure_timed;    /* counts are executions; false: only proportional to them */
	enum vt_method method; /* NAIVE, PAPER or FLOW */
	/*
	 * Samples fall behind their instruction, or are spread unevenly over the instructions in
	 * flight: only sums over classes are reliable.
	 */
	bool skewed;
	/*
	 * Samples of time tell nothing of executions, as out of order, where instructions wait for
	 * others in any order.  Only counts, and what follows from them, get a frequency.
	 */
	bool counts_only;
};

struct vt_freq_value {
	double executions;
	double low; /* limits of a 95 % interval */
	double high;
	enum vt_confidence confidence;
	enum vt_method method;
};

struct vt_freqs {
	struct vt_freq_value *insn; /* by instruction of the graph */
	struct vt_freq_value *edge; /* by edge; confidence NONE with the method NAIVE */
};

/*
 * Whether the flow has to have classes, and costs as well.  It need not have any where nothing can
 * be estimated; and where counts alone are, the estimates themselves add the costs to its `ops`.
 * Only the counts, `measure_timed`, `entries` and `counts_only` of *in are looked at.
 */
bool vt_freqs_need_classes(const struct vt_freq_input *in);
bool vt_freqs_need_schedule(const struct vt_freq_input *in);

/* Owned by the caller.  NULL: VT_E_NOMEM. */
struct vt_freqs *vt_freqs_new(const struct vt_freq_input *in, struct vt_error *err);
void vt_freqs_free(struct vt_freqs *f);

#endif
