/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SIMULATE_SIMULATE_H
#define VT_SIMULATE_SIMULATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "machine/pipeline/core.h"
#include "profile/context.h"
#include "sample/interval.h"
#include "stream/reader.h"
#include "stream/writer.h"

/*
 * Runs a stream of executed code on a modelled processor, and takes the samples that its counters
 * would have taken: DCPI 4.1.  Each process has a processor of its own, which its threads share, in
 * the turns that the recorder gave them; what they do takes the model's time, not the recorded one.
 *
 * A counter's sample comes `skid` cycles after it overflowed, and falls on the instruction that is
 * the oldest then.
 */

/* What counters count. */
enum vt_simulate_kind {
	VT_SIMULATE_CYCLES,
	VT_SIMULATE_IMISS,    /* instruction fetches that miss in the first cache */
	VT_SIMULATE_DMISS,    /* instructions with a load or store that does */
	VT_SIMULATE_ITBMISS,  /* in the first TLB */
	VT_SIMULATE_DTBMISS,  /* likewise */
	VT_SIMULATE_BRANCHMP, /* mispredicted branches */
	VT_SIMULATE_L2MISS,   /* instructions that miss in the second cache, code or data */
	VT_SIMULATE_WBFULL,   /* stores that wait for room in the write buffer */
	VT_SIMULATE_RETIRED,  /* instructions */
	VT_NSIMULATE
};

/* "cycles", "imiss" …; NULL for VT_NSIMULATE. */
const char *vt_simulate_name(enum vt_simulate_kind kind);

struct vt_simulate_event {
	enum vt_simulate_kind kind;
	struct vt_interval interval;
};

#define VT_SIMULATE_EVENTS 16
#define VT_SIMULATE_STACK  32 /* as the last branch records of Intel's processors */

struct vt_simulate_options {
	/*
	 * Of the stream to come; borrowed.  The files of its images, if it has any, tell what is
	 * fetched on the wrong path, by machines that issue out of order.
	 */
	struct vt_context *context;
	const struct vt_core *core;		/* borrowed */
	const struct vt_simulate_event *events; /* borrowed for the call; each kind once */
	size_t nevents;				/* at most VT_SIMULATE_EVENTS */
	uint64_t seed;
	uint32_t stack; /* taken branches that each sample has, up to VT_SIMULATE_STACK; 0: none */
	/*
	 * A second stream, of what is true: FREQ, EDGE and STALL records, and what the first one
	 * passes on.  Borrowed; may be NULL.
	 */
	struct vt_writer *truth;
	vt_warn_fn *warn; /* told of records that contradict themselves; may be NULL */
	void *warn_arg;
};

struct vt_simulate_totals {
	uint64_t execs; /* EXEC records */
	uint64_t insns;
	uint64_t cycles;    /* of all processors together */
	uint64_t taken;	    /* samples */
	uint64_t samples;   /* of the input */
	uint64_t loads;	    /* instructions that load, or store, executed */
	uint64_t addressed; /* of them, those with an address */
	uint64_t undecoded; /* executed, of which no code was recorded, or none that is known */
	uint64_t bad;	    /* BLOCK and EXEC records that contradict themselves: left out */
};

struct vt_simulate;

/*
 * Becomes a consumer of the context, which hands on -VT_E_NOMEM, -VT_E_ABSENT (the stream is of
 * samples), and the errors of the writers.  Writes EVENT records and META records that tell the
 * machine (key "cpu.model") and the counters ("sampling").  `w` is borrowed, and must have been
 * opened with the reader whose records are fed, as o->truth.  NULL: VT_E_NOMEM.
 */
struct vt_simulate *vt_simulate_new(const struct vt_simulate_options *o, struct vt_writer *w,
				    struct vt_error *err);
void vt_simulate_free(struct vt_simulate *s);

/*
 * After the last record: writes the truth, and META records of totals ("vsim.cycles" …).
 * -VT_E_NOMEM; -VT_E_USAGE: there was nothing to execute.
 */
int vt_simulate_finish(struct vt_simulate *s, struct vt_error *err);

const struct vt_simulate_totals *vt_simulate_totals(const struct vt_simulate *s);

#endif
