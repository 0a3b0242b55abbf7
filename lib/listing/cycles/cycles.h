/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CYCLES_CYCLES_H
#define VT_LISTING_CYCLES_CYCLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/output.h"
#include "freq/profile.h"
#include "profile/profile.h"

/*
 * Where the cycles of some code went: DCPI, figure 4.  All cycles are of all executions together.
 * Of a dynamic stall that several causes may share, each cause has a share between `low` and
 * `high`; the stall itself, cycles beyond the static schedule, counts once in `dynamic`.
 */
struct vt_cyclesum {
	double samples;			    /* of the time event, with an estimate or without */
	double samples_at[VT_NCONFIDENCES]; /* where executions were estimated */
	double cycles_at[VT_NCONFIDENCES];
	double executions; /* of instructions */
	double cycles;
	double best;		/* of the static schedule: `execution` and `fixed` */
	double low[VT_NSTALLS]; /* GAIN: below 0 */
	double high[VT_NSTALLS];
	double execution; /* when nothing stalls */
	double fixed;	  /* static stalls */
	double dynamic;	  /* dynamic stalls less GAIN */
	double error;	  /* what nobody has blamed on anything: all but these three */
	bool schedule;	  /* a static schedule is known of some of it */
	bool stalls;	  /* and stalls have been looked for */
};

/* What an instruction's cycles are made of; one that stalls may have `stalls`, in any order. */
void vt_cyclesum_insn(struct vt_cyclesum *s, const struct vt_freq *f, const struct vt_stall *stalls,
		      size_t nstalls);

/* Adds the instructions of an image at offsets in [first, end), all but `samples`. */
void vt_cyclesum_add(struct vt_cyclesum *s, const struct vt_freqprofile *p, uint32_t image,
		     uint64_t first, uint64_t end);

/* The index of the event that the frequencies rest on, in the profile; SIZE_MAX: it has none. */
size_t vt_cyclesum_event(const struct vt_profile *p, uint64_t event);

/* Adds the samples of an event (an index) to `samples`: those of the image in [first, end). */
void vt_cyclesum_samples(struct vt_cyclesum *s, const struct vt_profile *p, size_t event,
			 uint32_t image, uint64_t first, uint64_t end);

/* Samples that the shares are of. */
double vt_cyclesum_all(const struct vt_cyclesum *s);

/*
 * The share of samples with this confidence, in percent; NONE: those without an estimate, too.
 * Of cycles, where there are no samples because a simulator knew; 0 where there is nothing at all.
 */
double vt_cyclesum_share(const struct vt_cyclesum *s, enum vt_confidence confidence);

/* Lines for people, which begin with "*** ": the shares; the best case and the actual CPI. */
void vt_cyclesum_print_shares(const struct vt_cyclesum *s, struct vt_output *out);
void vt_cyclesum_print_cpi(const struct vt_cyclesum *s, struct vt_output *out);

/* All of figure 4, these lines first. */
void vt_cyclesum_print(const struct vt_cyclesum *s, struct vt_output *out);

#endif
