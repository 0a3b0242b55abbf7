/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_TIMING_H
#define VT_MACHINE_PIPELINE_TIMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/pipeline/core.h"

/*
 * Tables of timings, timing/NAME.tsv, which scripts/mktiming writes: sorted lines of a form
 * (form.h), its latency without that of its load, its micro-operations, and for each of them the
 * units that can do it: "2*p0/p1" is one that takes p0 or p1 for two cycles.  Lines that begin
 * with # are no rows.
 */
#define VT_TIMING_SETS 8

struct vt_timing_row {
	uint16_t latency;
	uint16_t uops; /* without those of its load and store */
	uint8_t nsets;
	struct {
		uint32_t units; /* of the machine's */
		uint16_t busy;	/* cycles */
	} sets[VT_TIMING_SETS];
};

/*
 * Finds the row of a form in the machine's table.  Returns false if there is none, or if it names a
 * unit that the machine does not have.
 */
bool vt_timing_find(const struct vt_core *m, const char *form, struct vt_timing_row *row);

/* Does the same for a form that may use memory: finds its own row or that of its nearest twin. */
bool vt_timing_of(const struct vt_core *m, const char *form, struct vt_timing_row *row);

#endif
