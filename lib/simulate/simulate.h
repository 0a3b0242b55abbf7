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
 * Executes a stream of code on a model of a processor, and takes the samples that its performance
 * counters would take: DCPI 4.1.  Each process has its own processor, on which its threads run in
 * the recorded order.  Time is that of the model, not the recorded time.
 *
 * A counter's sample is taken `skid` cycles after the counter's overflow, at the instruction that
 * is then the oldest.
 */

/* Kinds of events that counters count. */
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
	VT_SIMULATE_TAKEN,    /* taken branches */
	VT_SIMULATE_DREF,     /* instructions with a load or store */
	VT_NSIMULATE
};

/* Returns the name of a kind, "cycles", "imiss" …; NULL for VT_NSIMULATE. */
const char *vt_simulate_name(enum vt_simulate_kind kind);

struct vt_simulate_event {
	enum vt_simulate_kind kind;
	struct vt_interval interval;
};

/*
 * Instructions that are followed through the machine: ProfileMe (Dean et al., MICRO 1997).  Counts
 * are of fetched instructions, those of wrong paths included.
 */
struct vt_simulate_profileme {
	/* From the first instruction of a group to that of the next; mean 0: none is followed. */
	struct vt_interval interval;
	uint32_t ways;	  /* instructions of a group, 1 to VT_SIMULATE_WAYS */
	uint64_t window;  /* the largest distance from one of a group to the next; for 1 way 0 */
	bool weighted;	  /* short distances more often than long ones; else all as often */
	uint32_t history; /* the branches before each of them, 0 to 64 */
};

#define VT_SIMULATE_WAYS   16
#define VT_SIMULATE_EVENTS 16
#define VT_SIMULATE_STACK  32 /* as the last branch records of Intel's processors */

struct vt_simulate_options {
	/*
	 * The context of the input stream; borrowed.  If it has images, their files provide the
	 * code that out-of-order machines fetch on the wrong path.
	 */
	struct vt_context *context;
	const struct vt_core *core;		/* borrowed */
	const struct vt_simulate_event *events; /* borrowed for the call; each kind once */
	size_t nevents;				/* at most VT_SIMULATE_EVENTS */
	/* The mean interval must be greater than (ways - 1) * window. */
	struct vt_simulate_profileme profileme;
	uint64_t seed;
	/*
	 * A sample of each miss of the first data cache, and all code that was executed behind its
	 * misses.
	 */
	bool misses;
	uint32_t stack; /* taken branches in each sample, up to VT_SIMULATE_STACK; 0: none */
	/*
	 * A second output stream with the true FREQ, EDGE and STALL records, and the records that
	 * are copied to the first one.  Borrowed; may be NULL.
	 */
	struct vt_writer *truth;
	vt_warn_fn *warn; /* called for records that contradict themselves; may be NULL */
	void *warn_arg;
};

struct vt_simulate_totals {
	uint64_t execs; /* EXEC records */
	uint64_t insns;
	uint64_t cycles;    /* of all processors together */
	uint64_t taken;	    /* samples, misses left out */
	uint64_t misses;    /* that were told */
	uint64_t samples;   /* of the input */
	uint64_t loads;	    /* instructions that load, or store, executed */
	uint64_t addressed; /* of them, those with an address */
	uint64_t undecoded; /* executed instructions without recorded code, or not decoded */
	uint64_t astray;    /* instructions fetched on wrong paths */
	uint64_t empty;	    /* slots of that fetch without one: the code was not known */
	uint64_t bad;	    /* BLOCK and EXEC records that contradict themselves; not used */
};

struct vt_simulate;

/*
 * Adds a consumer to the context.  The context returns its errors: -VT_E_NOMEM, -VT_E_ABSENT if the
 * stream contains samples, and errors of the writers.  Writes EVENT records, and META records that
 * describe the machine (key "cpu.model") and the counters ("sampling"; "vsim.sampling" if all
 * executed code is passed on), and, with misses, the data cache (VT_MISSES_META).  `w` and o->truth
 * are borrowed; they must have been opened with the reader of the input stream.  Owned by the
 * caller; returns NULL with VT_E_NOMEM.
 */
struct vt_simulate *vt_simulate_new(const struct vt_simulate_options *o, struct vt_writer *w,
				    struct vt_error *err);
void vt_simulate_free(struct vt_simulate *s);

/*
 * Writes o->truth's records, and META records of totals ("vsim.cycles" …), after the last record.
 * Returns 0, -VT_E_NOMEM, or -VT_E_USAGE if no instruction was executed.
 */
int vt_simulate_finish(struct vt_simulate *s, struct vt_error *err);

const struct vt_simulate_totals *vt_simulate_totals(const struct vt_simulate *s);

#endif
