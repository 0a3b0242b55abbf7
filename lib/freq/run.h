/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_RUN_H
#define VT_FREQ_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "freq/calls.h"
#include "freq/other_run.h"
#include "freq/source.h"
#include "freq/stack_count.h"
#include "image/images.h"
#include "machine/pipeline/core.h"
#include "profile/block_code.h"
#include "profile/profile.h"
#include "stream/record.h"
#include "stream/writer.h"

/*
 * Estimates the frequencies of all procedures of a profile that have samples of time, or that a
 * source of counts has places in.
 */

struct vt_freqrun_options {
	const struct vt_profile *profile;
	struct vt_images *images;
	const struct vt_blockcode *code; /* may be NULL */
	const struct vt_core *core;
	const char *model; /* the name or path of `core` on the command line */
	size_t event;	   /* column of the profile; SIZE_MAX: estimate nothing */
	double scale;	   /* cycles in a unit of the event's period */
	bool untimed;	   /* the event does not measure time: counts are all there is */
	const char *clock; /* result of vt_freqrun_scale() */
	/*
	 * Out of order, take the effective clock (freq/clock.h) instead of `scale`, if the loops
	 * that were sampled show it.
	 */
	bool fit_clock;
	bool other_run; /* exact counts are of another run: see freq/other_run.h */
	enum vt_method method;
	const struct vt_count_source *sources; /* of counts; see struct vt_count_source */
	size_t nsources;
	const struct vt_stackcount *stacks; /* whose mispredicted branches are written; or NULL */
	unsigned threads;		    /* the results do not depend on it; 0: as 1 */
};

/* The samples of the event by what became of them. */
struct vt_freqrun_totals {
	uint64_t samples;
	uint64_t by_confidence[VT_NCONFIDENCES];
	uint64_t unmapped; /* in no image */
	uint64_t outside;  /* in an image, but in no procedure */
	uint64_t no_code;  /* in a procedure without code or graph */
	uint64_t stray;	   /* in a procedure, but on none of its instructions */
	uint64_t procedures;
	uint64_t complete;  /* procedures with complete graphs */
	uint64_t estimated; /* samples on instructions that the timing table lacks */
	double scale;	    /* cycles in a unit of the event's period, as given or fitted */
	const char *clock;  /* as in the options, or "fitted" */
	struct vt_freqcalls_sums calls; /* of the procedures with samples or counts */
	double slowed; /* share of time that something takes of loops that nothing stalls */
	size_t loops;  /* that the clock can be fitted to; fewer than 3: it was not */
	struct vt_otherrun_factor other; /* what exact counts were multiplied by */
};

/*
 * Writes COUNT records of all sampled events in order of image, offset and event; then MISPREDICT
 * records of branches, in the order of places; then FREQ and
 * EDGE records of each procedure in order of image and address, with the stubs of the procedure
 * linkage table behind the other procedures of an image; then META records about the run.  If `w`
 * is NULL, only computes the totals.  0 or -VT_E_NOMEM; errors of the writer stick to it.
 */
int vt_freqrun(const struct vt_freqrun_options *o, struct vt_writer *w,
	       struct vt_freqrun_totals *totals, struct vt_error *err);

/* Whether the records of vt_freqrun() replace a record: a sample, a count or an old estimate. */
bool vt_freqrun_replaces(const struct vt_record *rec);

#endif
