/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CULPRIT_CHECK_H
#define VT_CULPRIT_CHECK_H

#include <stdint.h>

#include "base/error.h"
#include "culprit/culprits.h"
#include "freq/profile.h"

/* Compares culprits with the true causes from a simulator, and with samples of events: DCPI 6.3. */

struct vt_culpritcheck_totals {
	double cycles;	/* of the procedures, from their frequencies */
	double stalled; /* true stall cycles */
	double without; /* of code without frequencies, which is in none of these sums */
	double found;	/* of them, those at instructions whose true main cause was reported */
	/* The same for dynamic causes: caches, TLBs, buffers, branches, synchronization. */
	double dynamic;
	double dynamic_found;
	uint64_t stalls; /* instructions with reported dynamic stalls */
	uint64_t listed; /* causes that were reported for these */
	double weight;	 /* cycles of these stalls */
	double weighted; /* the sum of cycles times number of causes */
	double unexplained;
	double truth[VT_NSTALLS];  /* by cause: true cycles */
	double missed[VT_NSTALLS]; /* of them, where it is the main cause and was not reported */
	double low[VT_NSTALLS];	   /* reported cycles by cause */
	double high[VT_NSTALLS];
	double not_judged; /* beyond the schedule, of code whose time is too uncertain for claims */
};

/* Correlation by procedure between cycles lost to the instruction cache and its sampled misses. */
struct vt_culpritcheck_correlation {
	uint64_t procedures;
	double high; /* of the upper bounds of cycles; NaN: too few procedures */
	double low;  /* of the lower bounds */
	double middle;
};

struct vt_culpritcheck;

/*
 * `truth` contains a simulator's STALL records, after the end of its stream; it is borrowed and may
 * be NULL.  Owned by the caller; returns NULL when memory runs out.
 */
struct vt_culpritcheck *vt_culpritcheck_new(const struct vt_freqprofile *truth);
void vt_culpritcheck_free(struct vt_culpritcheck *c);

/* A vt_culprits_fn: adds a procedure's stalls.  Images must have the same ids as in `truth`. */
int vt_culpritcheck_add(void *arg, const struct vt_culprits_proc *p, struct vt_error *err);

const struct vt_culpritcheck_totals *vt_culpritcheck_totals(const struct vt_culpritcheck *c);

/* The most cycles that a cause may have: with those not judged, but no more than all cycles. */
double vt_culpritcheck_high(const struct vt_culpritcheck_totals *t, enum vt_stall_cause cause);

struct vt_culpritcheck_correlation vt_culpritcheck_correlate(const struct vt_culpritcheck *c);

#endif
