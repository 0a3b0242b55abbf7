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
 * Where the cycles of some code went: DCPI, figure 4.  Cycles are sums over all executions.  If
 * several causes may share a dynamic stall, each cause has a share between `low` and `high`; the
 * stall itself, which is the cycles beyond the static schedule, counts once in `dynamic`.
 */
struct vt_cyclesum {
	double samples;			    /* of the time event, with or without an estimate */
	double samples_at[VT_NCONFIDENCES]; /* with an estimate, by its confidence */
	double cycles_at[VT_NCONFIDENCES];
	double executions; /* of instructions */
	double cycles;
	double best;		/* of the static schedule: `execution` plus `fixed` */
	double low[VT_NSTALLS]; /* GAIN: below 0 */
	double high[VT_NSTALLS];
	double execution;  /* without stalls */
	double fixed;	   /* static stalls */
	double dynamic;	   /* dynamic stalls less GAIN */
	double not_judged; /* beyond the schedule, of code whose time is too uncertain for claims */
	double error;	   /* cycles without an explanation: all but these four */
	bool schedule;	   /* the static schedule of some of the code is known */
	bool stalls;	   /* stalls have been analysed */
	bool timed;	   /* the cycles of some of the code are known */
};

/*
 * What was not judged, if stalls have been analysed; dynamic stalls with it; and what is then left
 * without an explanation.
 */
double vt_cyclesum_not_judged(const struct vt_cyclesum *s);
double vt_cyclesum_dynamic(const struct vt_cyclesum *s);
double vt_cyclesum_error(const struct vt_cyclesum *s);

/* The most that a cause may have: with what was not judged, but no more than all cycles. */
double vt_cyclesum_high(const struct vt_cyclesum *s, enum vt_stall_cause cause);

/* Whether executions are known, but no cycles, as without samples of time: there is no CPI. */
bool vt_cyclesum_is_untimed(const struct vt_cyclesum *s);

/*
 * Adds an instruction with its stalls, which may be in any order.  `judged`: what else it loses was
 * looked into (vt_freqprofile_is_judged()).
 */
void vt_cyclesum_insn(struct vt_cyclesum *s, const struct vt_freq *f, const struct vt_stall *stalls,
		      size_t nstalls, bool judged);

/* Adds the instructions of an image at offsets in [first, end).  Leaves `samples` alone. */
void vt_cyclesum_add(struct vt_cyclesum *s, const struct vt_freqprofile *p, uint32_t image,
		     uint64_t first, uint64_t end);

/* The index in a profile of the event with this id; SIZE_MAX if it has none. */
size_t vt_cyclesum_event(const struct vt_profile *p, uint64_t event);

/* Adds the samples of an event, by index, at offsets in [first, end) of an image to `samples`. */
void vt_cyclesum_samples(struct vt_cyclesum *s, const struct vt_profile *p, size_t event,
			 uint32_t image, uint64_t first, uint64_t end);

/* The number of samples that shares refer to. */
double vt_cyclesum_all(const struct vt_cyclesum *s);

/*
 * The percentage of samples with an estimate of this confidence; NONE includes samples without an
 * estimate.  Without samples, as after a simulator, the percentage of cycles; 0 without either.
 */
double vt_cyclesum_share(const struct vt_cyclesum *s, enum vt_confidence confidence);

/* Print lines for people, which begin with "*** ": the shares; best-case and actual CPI. */
void vt_cyclesum_print_shares(const struct vt_cyclesum *s, struct vt_output *out);
void vt_cyclesum_print_cpi(const struct vt_cyclesum *s, struct vt_output *out);

/* Prints all of figure 4, after these lines. */
void vt_cyclesum_print(const struct vt_cyclesum *s, struct vt_output *out);

#endif
