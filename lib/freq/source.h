/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_SOURCE_H
#define VT_FREQ_SOURCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "freq/freq.h"
#include "image/images.h"
#include "profile/procedure_flow.h"
#include "profile/profile.h"

/*
 * Sources of execution counts, which vt_freqrun() combines with the samples of time.  Each source
 * is one row, a struct vt_count_source.
 */

/* A procedure, and the event of time that its counts are combined with. */
struct vt_count_request {
	const struct vt_images *images; /* of the samples */
	const struct vt_procflow *flow;
	uint64_t offset; /* of the procedure in its image */
	uint64_t event;	 /* id of the event that measures time */
	double scale;	 /* cycles in a unit of the event's period */
};

/*
 * The counts of a procedure by instruction and by edge of its graph: see struct vt_freq_input.
 * Initially zero; arrays that no source fills stay NULL.
 */
struct vt_freq_counts {
	double *exact;
	double *exact_edges;
	struct vt_freq_measure *measured;
	struct vt_freq_measure *measured_edges;
	double measure_unit;
	bool measure_timed;
};

static inline void vt_freq_counts_fini(struct vt_freq_counts *c)
{
	free(c->exact);
	free(c->exact_edges);
	free(c->measured);
	free(c->measured_edges);
}

struct vt_count_source {
	/*
	 * Allocates and fills either `exact` and `exact_edges`, or all the others; nothing if the
	 * source has not counted the procedure.  No two sources of a run may fill the same arrays.
	 * Returns 0 or -VT_E_NOMEM.
	 */
	int (*count)(const void *source, const struct vt_count_request *r, struct vt_freq_counts *c,
		     struct vt_error *err);
	/*
	 * Sets the image, offset and pid of the `i`-th place that the source has counts at, for the
	 * event of time `event`; false if there are no more.  NULL: only procedures with samples
	 * are asked for.
	 */
	bool (*place)(const void *source, uint64_t event, size_t i, struct vt_place *place);
	const void *source; /* passed to them */
};

#endif
