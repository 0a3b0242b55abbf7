/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CULPRIT_CHECK_H
#define VT_CULPRIT_CHECK_H

#include <stdint.h>

#include "base/error.h"
#include "culprit/culprits.h"
#include "freq/profile.h"

/* How culprits compare with what a simulator knows, and with samples of events: DCPI 6.3. */

struct vt_culpritcheck_totals {
	double cycles;	/* that the procedures took by their frequencies */
	double stalled; /* true stall cycles */
	double found;	/* of them, at instructions among whose causes the true main one is */
	/* The same of what is dynamic: caches, TLBs, buffers, branches, synchronization. */
	double dynamic;
	double dynamic_found;
	uint64_t stalls; /* dynamic ones that have been told, and how many causes they have */
	uint64_t listed;
	double weight; /* cycles of those; times their causes */
	double weighted;
	double unexplained;
	double truth[VT_NSTALLS];  /* by cause: true cycles, */
	double missed[VT_NSTALLS]; /* of them where it is the main cause and not listed, */
	double low[VT_NSTALLS];	   /* and what has been told */
	double high[VT_NSTALLS];
};

/* How cycles lost to the instruction cache go with its sampled misses, by procedure. */
struct vt_culpritcheck_correlation {
	uint64_t procedures;
	double high; /* NaN: too few procedures */
	double low;
	double middle;
};

struct vt_culpritcheck;

/* `truth` has a simulator's STALL records, finished; borrowed, may be NULL.  NULL: no memory. */
struct vt_culpritcheck *vt_culpritcheck_new(const struct vt_freqprofile *truth);
void vt_culpritcheck_free(struct vt_culpritcheck *c);

/* Takes a procedure's stalls, whose images have the truth's ids: a vt_culprits_fn. */
int vt_culpritcheck_add(void *arg, const struct vt_culprits_proc *p, struct vt_error *err);

const struct vt_culpritcheck_totals *vt_culpritcheck_totals(const struct vt_culpritcheck *c);
struct vt_culpritcheck_correlation vt_culpritcheck_correlate(const struct vt_culpritcheck *c);

#endif
