/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_REGION_RECORDS_H
#define VT_FREQ_REGION_RECORDS_H

#include <stdint.h>

#include "base/error.h"
#include "freq/freq.h"
#include "machine/pipeline/core.h"
#include "profile/procedure_flow.h"
#include "stream/writer.h"

/* A procedure whose executions and time are known. */
struct vt_region_source {
	const struct vt_core *core;
	const struct vt_procflow *flow; /* with costs */
	const struct vt_freqs *freqs;
	const uint64_t *samples; /* by instruction that they are charged to */
	const double *cycles;	 /* of all executions, likewise */
	uint64_t offset;	 /* of the procedure in its image */
	uint64_t event;		 /* id of the event of the samples */
};

/*
 * Writes a REGION record for each region of a procedure that was executed and has samples
 * (region.h). 0 or -VT_E_NOMEM; errors of the writer stick to it.
 */
int vt_region_records(const struct vt_region_source *s, struct vt_writer *w, struct vt_error *err);

#endif
