/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_INTERNAL_H
#define VT_FREQ_INTERNAL_H

#include "freq/freq.h"

/* The estimated frequency of a class of blocks and edges, or of one block or edge. */
struct vti_estimate {
	double f; /* executions */
	/*
	 * Standard deviation of f; infinite without an estimate.  It leaves out stalls that the
	 * samples cannot tell from frequency.
	 */
	double sigma;
	double points; /* number of issue points that support it */
	double spread; /* standard deviation of their ratios, relative to f */
	bool known;
	bool counted; /* by branch stacks */
};

/* The instructions of each class, by address: insns[first[c] .. first[c + 1]). */
struct vti_freq_members {
	uint32_t *first;
	uint32_t *insns;
};

/* The points of a class, prepared for the likelihood of a frequency. */
struct vti_freq_seen;

/* The state that all steps share; `classes` are those of the graph. */
struct vti_freqwork {
	const struct vt_freq_input *in;
	const struct vt_cfg *g;
	double period;	/* mean cycles of a sample */
	double *cycles; /* by instruction: the time of its samples, without the chance of periods */
	struct vti_freq_members members;
	struct vti_estimate *classes; /* by class */
	struct vti_freq_seen **seen;  /* by class; may be NULL */
	struct vti_estimate *blocks;  /* results */
	struct vti_estimate *edges;
	double *left;	   /* by block: how often control left it, by the estimates so far */
	double unit_doubt; /* relative deviation that all counts of branch stacks share */
};

/* An issue point, or a stretch of instructions that ends in one, with its time. */
struct vti_freq_point {
	double samples;
	double cycles;
	double best; /* cycles of one execution without dynamic stalls */
	/* The part on instructions that should get none: stalls, or time of a neighbour. */
	double extra_samples;
	double extra_cycles;
	double prior; /* probability that it never stalls */
	double shift; /* probability that the extra samples are its own, on a wrong address */
	double miss;  /* cycles that a miss in a first cache costs; 0: unknown */
};

/*
 * Relative deviation of a frequency from a single point, which may have stalled.  Chosen on
 * programs in the simulator (scripts/tune/constants VTI_FREQ_ALONE).
 */
#define VTI_FREQ_ALONE 0.35

/* Whether an instruction repeats, so that its executions are not those of its block. */
bool vti_freq_repeats(const struct vti_freqwork *w, uint32_t insn);

/*
 * Divides the code of a class into stretches with their own times.  The caller frees *points.
 * Returns their number, or -VT_E_NOMEM.
 */
int64_t vti_freq_stretches(const struct vti_freqwork *w, uint32_t class_,
			   struct vti_freq_point **points, struct vt_error *err);

/* The sum of a class's time, divided by the sum of its best cycles. */
struct vti_estimate vti_freq_sum(const struct vti_freqwork *w, uint32_t class_);

/* Estimates all classes by clusters of points: DCPI 6.1.3.  -VT_E_NOMEM. */
int vti_freq_paper(struct vti_freqwork *w, struct vt_error *err);

/* Estimates all classes by the likelihood of their points, kept in `seen`.  -VT_E_NOMEM. */
int vti_freq_likely(struct vti_freqwork *w, struct vt_error *err);

/* Frees `seen`. */
void vti_freq_forget(struct vti_freqwork *w);

/*
 * The negative logarithm of the likelihood that a class is executed f times.  NAN if its points
 * say nothing, or were not kept.
 */
double vti_freq_unlikely(const struct vti_freqwork *w, uint32_t class_, double f);

/* Replaces the estimates of classes by counts of branch stacks that are better.  -VT_E_NOMEM. */
int vti_freq_stacks(struct vti_freqwork *w, struct vt_error *err);

/* The frequency of the paper's best cluster; sorts the points.  Not known without a good one. */
struct vti_estimate vti_freq_cluster(struct vti_freq_point *points, size_t n);

/* Takes over the points, which are allocated.  NULL when memory runs out. */
struct vti_freq_seen *vti_freq_see(struct vti_freq_point *points, size_t n);
void vti_freq_unsee(struct vti_freq_seen *s);

/* The likeliest frequency.  Not known if no point has samples. */
struct vti_estimate vti_freq_mode(const struct vti_freq_seen *s);

/* Propagates the estimates of classes to blocks and edges: DCPI 6.1.4.  -VT_E_NOMEM. */
int vti_freq_propagate(struct vti_freqwork *w, struct vt_error *err);

/* Finds blocks and edges by a flow of minimum cost.  -VT_E_NOMEM. */
int vti_freq_solve(struct vti_freqwork *w, struct vt_error *err);

/*
 * The deviation of an estimate with possible stalls included; infinite without an estimate.  A
 * propagated estimate has no points and counts as having half a point.
 */
double vti_freq_doubt(const struct vti_freqwork *w, const struct vti_estimate *e);

/* Sets the deviations of blocks and edges whose frequencies add up. */
void vti_freq_trust(struct vti_freqwork *w);

#endif
