/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_OTHER_RUN_H
#define VT_FREQ_OTHER_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "freq/freq.h"
#include "machine/pipeline/core.h"
#include "profile/procedure_flow.h"

/*
 * Counts of another run of a program than the one that was sampled.  If the two did the same for
 * another time, this run's executions are those times a factor.  Loops that nothing stalls show it
 * (freq/clock.h): they take the cycles of their schedule.  If there is no one factor for them, or
 * this run spent its time in procedures that the other did not execute, the counts say nothing of
 * this run.  Nor do they where the loops would need a clock that no processor has, or that is far
 * from the known one, for the runs to be as long.
 */

/* What is known of the factor. */
enum vt_otherrun_verdict {
	VT_OTHERRUN_SAME,   /* the counts are of this run */
	VT_OTHERRUN_ALIKE,  /* it is 1, within its deviation */
	VT_OTHERRUN_SCALED, /* it is another */
	VT_OTHERRUN_UNTOLD, /* too few loops show it, or they differ too much */
	VT_OTHERRUN_RATIOS, /* there is none: counts are ratios within another run */
};

struct vt_otherrun_factor {
	enum vt_otherrun_verdict verdict;
	double factor;	  /* as fitted; 1 if it is not told */
	double doubt;	  /* its relative deviation; infinite for RATIOS */
	double spread;	  /* relative deviation of all loops from each other */
	double elsewhere; /* share of the time in procedures that the other run did not execute */
	double slowed;	  /* share of its time that something takes of code that does not stall */
	double clock; /* cycles in a unit of time for a run as long, if that cannot be; else 0 */
	size_t loops;
};

/* "same", "alike", … */
const char *vt_otherrun_name(enum vt_otherrun_verdict verdict);

/* Counts of a run that is alike are this run's: loops leave no more doubt of that. */
#define VT_OTHERRUN_ALIKE_DOUBT 0.1

struct vt_otherrun;

/* Owned by the caller; NULL when memory runs out. */
struct vt_otherrun *vt_otherrun_new(void);
void vt_otherrun_free(struct vt_otherrun *o);

/*
 * Takes a procedure whose `freqs` are counts of the other run; its time may be 0.  The other
 * arguments are those of vt_clockfit_add().  0 or -VT_E_NOMEM.
 */
int vt_otherrun_add(struct vt_otherrun *o, const struct vt_core *core, const struct vt_procflow *f,
		    const struct vt_freqs *freqs, const uint64_t *samples, const uint64_t *time,
		    struct vt_error *err);

/* Finds the factor; `scale` are the cycles in a unit of time, 0 if that is not known. */
void vt_otherrun_find(struct vt_otherrun *o, double scale, struct vt_otherrun_factor *out);

#endif
