/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_RUN_H
#define VT_FREQ_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "freq/counted.h"
#include "freq/stack_count.h"
#include "image/images.h"
#include "machine/pipeline/core.h"
#include "profile/block_code.h"
#include "profile/profile.h"
#include "stream/record.h"
#include "stream/writer.h"

/* The frequencies of all procedures of a profile in which samples of time fell. */

/*
 * The event that tells time: the one of this name (without or with its modifiers), or if `name` is
 * NULL the one that is likeliest to.  -VT_E_NOTFOUND, or -VT_E_ABSENT if `name` is NULL, the text
 * naming those there are.
 */
int vt_freqrun_event(const struct vt_profile *p, const char *name, size_t *event,
		     struct vt_error *err);

/*
 * The cycles in a unit of an event's period.  Of events that count nanoseconds it is the
 * processor's clock in GHz: `given`, or if that is 0 the one that ends its description, as in
 * "… CPU @ 2.50GHz", or 1.  Returns how it was found: NULL, the event counts cycles; "given";
 * "described"; "assumed".
 */
const char *vt_freqrun_scale(const struct vt_profile_event *e, double given,
			     const char *description, double *scale);

struct vt_freqrun_options {
	const struct vt_profile *profile;
	struct vt_images *images;
	const struct vt_blockcode *code; /* may be NULL */
	const struct vt_core *core;
	const char *model; /* what `core` is called on the command line: a name or a path */
	size_t event;	   /* SIZE_MAX: there is none, and nothing is estimated */
	double scale;	   /* cycles in a unit of the event's period */
	const char *clock; /* as vt_freqrun_scale() returned it */
	enum vt_method method;
	/* What was counted of the same program; NULL: nothing. */
	const struct vt_flowcount *exact;
	const struct vt_images *exact_images;
	/*
	 * What branch stacks counted: those of the event, or if that has none, of the one that has
	 * most.  NULL: nothing.
	 */
	const struct vt_stackcount *stacks;
};

/* Samples of the event: all, and what came of them. */
struct vt_freqrun_totals {
	uint64_t samples;
	uint64_t by_confidence[VT_NCONFIDENCES];
	uint64_t unmapped; /* in no image */
	uint64_t outside;  /* in no procedure */
	uint64_t no_code;  /* in procedures whose code is not there, or makes no graph */
	uint64_t stray;	   /* in procedures, but on no instruction of theirs */
	uint64_t procedures;
	uint64_t complete;  /* whose graphs are */
	uint64_t estimated; /* samples on instructions of which no table of timings knows */
};

/*
 * Writes COUNT records of all events that were sampled, by image, offset and event; then FREQ and
 * EDGE records of each procedure, in order of image and address but for the stubs of the procedure
 * linkage table, which come behind an image's others; then META records of how it was done.  0;
 * -VT_E_NOMEM; errors of the writer stick to it.  `w` may be NULL: only the totals are wanted.
 */
int vt_freqrun(const struct vt_freqrun_options *o, struct vt_writer *w,
	       struct vt_freqrun_totals *totals, struct vt_error *err);

/*
 * Whether a record of the input is not passed on: samples become counts, and what was estimated
 * before is estimated anew.
 */
bool vt_freqrun_replaces(const struct vt_record *rec);

#endif
