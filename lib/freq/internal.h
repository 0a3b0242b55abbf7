/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_INTERNAL_H
#define VT_FREQ_INTERNAL_H

#include "freq/freq.h"

/* What is known of a class of blocks and edges, or of one of them. */
struct vti_estimate {
	double f; /* executions */
	/*
	 * Its standard deviation, executions; infinite if there is no estimate.  Stalls that no
	 * sample tells from frequency are not part of it.
	 */
	double sigma;
	double points; /* issue points that it rests on */
	double spread; /* standard deviation of their ratios, of f */
	bool known;
	bool counted; /* by branch stacks */
};

/* The instructions of each class, in order of address: insns[first[c] .. first[c + 1]). */
struct vti_freq_members {
	uint32_t *first;
	uint32_t *insns;
};

/* What a class's points say of its frequency, for the likelihood. */
struct vti_freq_seen;

/* What all steps work on; `classes` are those of the graph. */
struct vti_freqwork {
	const struct vt_freq_input *in;
	const struct vt_cfg *g;
	double period; /* cycles for each sample, on the average */
	struct vti_freq_members members;
	struct vti_estimate *classes; /* by class */
	struct vti_freq_seen **seen;  /* by class; NULL: nothing */
	struct vti_estimate *blocks;  /* results */
	struct vti_estimate *edges;
	double *left; /* by block: how often it was left, as far as that has been found so far */
	double unit_doubt; /* deviation, as a part, of what all counts of stacks have in common */
};

/* An issue point, or a stretch of instructions that ends in one: its time, and at best. */
struct vti_freq_point {
	double samples;
	double cycles;
	double best; /* cycles of one execution without dynamic stalls */
	/* Of these, on instructions that should get none: they stall, or it is another's time. */
	double extra_samples;
	double extra_cycles;
	double prior; /* how likely it has none */
	double shift; /* how likely the extra ones are its own: its time, with another's name */
};

/*
 * Deviation of one point that may have stalled, as a part of its frequency.  Chosen on programs in
 * the simulator (scripts/tune/constants VTI_FREQ_ALONE).
 */
#define VTI_FREQ_ALONE 0.35

/* Whether an instruction is executed any number of times for one of its block. */
bool vti_freq_repeats(const struct vti_freqwork *w, uint32_t insn);

/*
 * The code of a class as stretches with times of their own.  *points is the caller's (free()).  How
 * many, or -VT_E_NOMEM.
 */
int64_t vti_freq_stretches(const struct vti_freqwork *w, uint32_t class_,
			   struct vti_freq_point **points, struct vt_error *err);

/* All samples of a class by all its cycles. */
struct vti_estimate vti_freq_sum(const struct vti_freqwork *w, uint32_t class_);

/* DCPI 6.1.3: estimates of all classes.  -VT_E_NOMEM. */
int vti_freq_paper(struct vti_freqwork *w, struct vt_error *err);

/* The same from the likelihood of all points together, which is kept in `seen`. */
int vti_freq_likely(struct vti_freqwork *w, struct vt_error *err);
void vti_freq_forget(struct vti_freqwork *w);

/*
 * The negative logarithm of how likely a class is executed so often; NAN if its points say nothing,
 * or were not kept.
 */
double vti_freq_unlikely(const struct vti_freqwork *w, uint32_t class_, double f);

/* Takes what branch stacks counted for estimates that are less certain.  -VT_E_NOMEM. */
int vti_freq_stacks(struct vti_freqwork *w, struct vt_error *err);

/*
 * The frequency of one class from its points, for these: by the paper's clusters, which sorts
 * them; and by likelihood.  Not known where there are no points, or none that can be right.
 */
struct vti_estimate vti_freq_cluster(struct vti_freq_point *points, size_t n);
struct vti_estimate vti_freq_mode(const struct vti_freq_point *points, size_t n);

/* DCPI 6.1.4: fills in blocks and edges from classes and the constraints.  -VT_E_NOMEM. */
int vti_freq_propagate(struct vti_freqwork *w, struct vt_error *err);

/* Fills in blocks and edges by a flow of minimum cost.  -VT_E_NOMEM. */
int vti_freq_solve(struct vti_freqwork *w, struct vt_error *err);

/*
 * The deviation of an estimate, what stalls may do to it included; infinite if there is none.
 * Propagated ones have no points, and that of one point is theirs.
 */
double vti_freq_doubt(const struct vti_freqwork *w, const struct vti_estimate *e);

/* Fills in how far blocks and edges that add up can be trusted. */
void vti_freq_trust(struct vti_freqwork *w);

#endif
