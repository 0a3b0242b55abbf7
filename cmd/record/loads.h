/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_LOADS_H
#define CMD_RECORD_LOADS_H

#include "base/error.h"
#include "cmd/agent/shared.h"
#include "cmd/record/levels.h"
#include "formats/perfdata/write.h"

/*
 * The loads that agents time become samples of an event of their own, precise ones with a weight,
 * as `perf mem record` makes them: with the address, the latency, and the level that it tells.
 */

/*
 * Instructions between a sample and the loads that are timed.  A processor has executed loads ahead
 * of the interrupted instruction, as far as it looks ahead: their lines have come meanwhile, or are
 * coming.  No processor's reorder buffer is known to hold more than 576 micro-operations; x86 makes
 * more than one of an instruction as often as one of two.
 */
#define LOADS_DISTANCE	   512
#define LOADS_DISTANCE_MAX 8192

struct loads {
	struct levels levels;
	uint64_t count;
	struct vt_buf payload; /* of a record */
};

/* As levels_measure().  End with loads_close(). */
int loads_open(struct loads *l, struct vt_error *err);
void loads_close(struct loads *l);

struct vt_perfdata_event loads_event(void);

/* Writes a sample; the event has this number, from 0 on. */
int loads_put(struct loads *l, struct vt_perfdata_writer *w, const struct agent_load *r,
	      unsigned event, struct vt_error *err);

#endif
