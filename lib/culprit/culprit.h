/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CULPRIT_CULPRIT_H
#define VT_CULPRIT_CULPRIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "culprit/footprint.h"
#include "profile/procedure_flow.h"
#include "stream/kinds.h"

/*
 * Finds the possible causes of instructions' stalls (DCPI 6.3).  Static stalls are computed by the
 * schedule.  For the cycles beyond them, every dynamic cause is assumed to be possible, for all of
 * these cycles, until its rule excludes it or computes an upper bound.  Rules use the code around
 * the instruction, the number of executions of the ways to it, and samples of events.  Cycles that
 * no remaining cause can explain are reported as unexplained.
 */

/* Events whose samples bound a cause. */
enum vt_culprit_event {
	VT_CULPRIT_IMISS,
	VT_CULPRIT_ITBMISS,
	VT_CULPRIT_DMISS,   /* misses of the first data cache */
	VT_CULPRIT_LLCMISS, /* of the last one */
	VT_CULPRIT_DTBMISS,
	VT_CULPRIT_BRANCHMP,
	VT_NCULPRIT_EVENTS
};

/* Returns the event with this name of DCPI or perf, or VT_NCULPRIT_EVENTS if there is none. */
enum vt_culprit_event vt_culprit_event_of(const char *name);

/* What branch stacks tell of a branch that was taken; see the MISPREDICT record. */
struct vt_culprit_branch {
	double branches; /* whose prediction is known; 0: nothing is */
	double mispredicted;
	double cost;	  /* cycles of each of these */
	double deviation; /* of `cost`; infinite: not known */
};

/* What samples of its loads tell of an instruction; see the LOADS record. */
struct vt_culprit_loads {
	double cache_known; /* samples that tell whether the first data cache was hit */
	double cache_missed;
	double tlb_known; /* whether a TLB was hit */
	double tlb_missed;
};

/* Measurements of an instruction. */
struct vt_culprit_insn {
	double executions; /* 0 or NaN: unknown */
	double cycles;	   /* at the head of the queue, per execution */
	double period;	   /* cycles that a sample represents; 0: `cycles` is exact */
	enum vt_confidence confidence;
	float samples[VT_NCULPRIT_EVENTS]; /* of the events */
	uint64_t time_samples;		   /* that the cycles rest on */
	double doubt;			   /* relative deviation of the executions */
	struct vt_culprit_branch branch;
	struct vt_culprit_loads loads;
};

/*
 * The average part of its upper bound that each cause really accounts for, from 0 to 1.  The bounds
 * of some causes are much too high.  These averages, estimated from many stalls, show which of the
 * causes that remain possible at one instruction are likely.
 */
struct vt_culprit_shares {
	double of[VT_NSTALLS];
};

struct vt_culprit_input {
	const struct vt_core *core;
	const struct vt_procflow *flow;
	const struct vt_culprit_insn *insns; /* by instruction of the graph */
	const uint8_t *code;		     /* of the procedure, from its start on; may be NULL */
	size_t code_size;
	const double *edges; /* executions by edge of the graph; NaN: unknown */
	/* Number of events that a sample represents; 0: the event was not sampled. */
	double period[VT_NCULPRIT_EVENTS];
	const struct vt_footprint *footprint; /* of all code; may be NULL */
	/* NULL: report every cause that may account for much of a stall. */
	const struct vt_culprit_shares *shares;
	/* Cycles of an execution from which its time can be told from that of its neighbours; only
	 * for machines that issue out of order. */
	double least_peak;
	/* Samples were charged to the instruction before: a mispredicted branch has its own cost,
	 * which its target has otherwise. */
	bool charged_before;
	/* Share of its time that something takes of code that does not stall, by its loops. */
	double slowed;
	bool exact_time;  /* a simulator's: no samples */
	bool static_only; /* say only what follows from the code: vt_culprit_may_accuse() */
};

#define VT_CULPRIT_GUILTY 8

/* A stall, as in a STALL record; instructions are indexes in the graph. */
struct vt_culprit_stall {
	uint32_t insn;
	enum vt_stall_cause cause;
	double low; /* cycles of all executions together */
	double high;
	uint32_t nguilty;
	uint32_t guilty[VT_CULPRIT_GUILTY];
	enum vt_confidence confidence;
	double cycles; /* of the stall, which its causes share; 0: not told */
	double bound;  /* what facts allow this cause */
	enum vt_stall_why why;
	uint32_t flags;	 /* enum vt_stall_flags */
	uint32_t region; /* of a region's stall: which; `insn` is its first */
};

/* Whether its cause was ruled out: listings tell why, and nothing adds it up. */
static inline bool vt_culprit_is_acquittal(const struct vt_culprit_stall *s)
{
	return vt_why_acquits(s->why);
}

struct vt_culprit_stalls {
	struct vt_culprit_stall *list; /* by instruction, region's last, then cause */
	size_t count;
	size_t cap;
	/* Of a machine that issues out of order, of the last find that was not of code only. */
	struct vt_regions *regions;
};

/*
 * Appends a procedure's stalls to *out, a list that is empty when all zeros and is freed with
 * vt_culprit_stalls_fini().  `in` is borrowed for the call.  Returns 0 or -VT_E_NOMEM.
 */
int vt_culprit_find(const struct vt_culprit_input *in, struct vt_culprit_stalls *out,
		    struct vt_error *err);

/*
 * Whether vt_culprit_find() may find more in a procedure than what follows from its code alone; if
 * not, static_only gives the same in less time, and needs only the schedule's causes.  Out of
 * order, that takes samples enough of a region, or of an instruction.  The flow needs no schedule
 * for this.
 */
bool vt_culprit_may_accuse(const struct vt_culprit_input *in);

/*
 * Adds a procedure's instructions to a footprint; the flow needs no schedule for this.  Returns 0
 * or -VT_E_NOMEM.
 */
int vt_culprit_enter(const struct vt_culprit_input *in, struct vt_footprint *f,
		     struct vt_error *err);
void vt_culprit_stalls_fini(struct vt_culprit_stalls *s);

/*
 * Creates a collection of stalls from which shares are estimated.  Owned by the caller; returns
 * NULL when memory runs out.
 */
struct vt_culprit_evidence *vt_culprit_evidence_new(void);
void vt_culprit_evidence_free(struct vt_culprit_evidence *e);

/* Adds a procedure's stalls; in->shares is not used.  Returns 0 or -VT_E_NOMEM. */
int vt_culprit_collect(const struct vt_culprit_input *in, struct vt_culprit_evidence *e,
		       struct vt_error *err);

/* Estimates the shares from the stalls that were added. */
void vt_culprit_compute_shares(const struct vt_culprit_evidence *e,
			       struct vt_culprit_shares *shares);

#endif
