/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CULPRIT_CULPRITS_H
#define VT_CULPRIT_CULPRITS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "culprit/culprit.h"
#include "freq/profile.h"
#include "image/images.h"
#include "machine/pipeline/core.h"
#include "profile/block_code.h"
#include "profile/profile.h"
#include "stream/writer.h"

/* The culprits of all procedures of a stream. */

/* The data of a stream, after its end; all of it is borrowed. */
struct vt_culprits_source {
	const struct vt_core *core;
	const struct vt_freqprofile *freq;
	const struct vt_profile *profile; /* samples of events */
	struct vt_images *images;
	const struct vt_blockcode *code; /* may be NULL */
	const uint32_t *ids;		 /* images that have frequencies */
	size_t nids;
	uint64_t event;	  /* the id of the event from which the frequencies were estimated */
	unsigned threads; /* the results do not depend on it; 0: as 1 */
};

/* A procedure and its stalls. */
struct vt_culprits_proc {
	const struct vt_procflow *flow;
	uint64_t offset;		     /* of its start in the image */
	const struct vt_freq **freqs;	     /* by instruction of the graph; NULL: there is none */
	const struct vt_culprit_insn *insns; /* likewise: what the stalls are judged from */
	const struct vt_culprit_stall *stalls;
	size_t nstalls;
	bool out_of_order;		   /* stalls are those of regions, or long */
	const struct vt_regions *regions;  /* of such stalls; NULL: there can be none */
	double events[VT_NCULPRIT_EVENTS]; /* in the procedure, estimated from samples */
};

struct vt_culprits_totals {
	uint64_t procedures;
	uint64_t without_code; /* procedures whose code is missing */
	uint64_t places;       /* instructions with frequencies */
	uint64_t outside;      /* of them, those in no procedure, or not at an instruction of it */
	uint64_t samples;      /* of the time event, at instructions in procedures */
	uint64_t by_confidence[VT_NCONFIDENCES];
	uint64_t unknown;	/* other samples of that event */
	double executions;	/* of all these instructions */
	double cycles;		/* executions times cycles */
	double low[VT_NSTALLS]; /* cycles lost to each cause */
	double high[VT_NSTALLS];
};

/*
 * Returns the number of samples at instructions whose frequency has this confidence; instructions
 * without a frequency count as VT_CONFIDENCE_NONE.
 */
uint64_t vt_culprits_samples(const struct vt_culprits_totals *t, enum vt_confidence confidence);

/*
 * Calls `fn` for each procedure, ordered by image and address, but those in which nothing can be
 * accused (vt_culprit_may_accuse()) before all others, and sums up the results in *t.  A negative
 * result of `fn` ends the calls and is returned.  Otherwise returns 0 or -VT_E_NOMEM.
 */
typedef int vt_culprits_fn(void *arg, const struct vt_culprits_proc *p, struct vt_error *err);
int vt_culprits_run(const struct vt_culprits_source *src, vt_culprits_fn *fn, void *arg,
		    struct vt_culprits_totals *t, struct vt_error *err);

/*
 * Writes the stalls of all procedures, in the same order, as STALL records, and META records that
 * count what could not be analysed.  Returns 0, -VT_E_NOMEM, or the writer's error.
 */
int vt_culprits_write(const struct vt_culprits_source *src, struct vt_writer *w,
		      struct vt_culprits_totals *t, struct vt_error *err);

#endif
