/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CULPRIT_CULPRIT_H
#define VT_CULPRIT_CULPRIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "culprit/footprint.h"
#include "profile/procedure_flow.h"
#include "stream/kinds.h"

/*
 * Why instructions stall: DCPI 6.3.  Static stalls are what the schedule says.  For the cycles
 * beyond them every cause is guilty until one rule proves it innocent, or bounds it: by the code
 * around the instruction, by how often control gets there, and by samples of events.  What no cause
 * left can account for is unexplained.
 */

/* Events whose samples bound a cause. */
enum vt_culprit_event {
	VT_CULPRIT_IMISS,
	VT_CULPRIT_ITBMISS,
	VT_CULPRIT_DMISS,   /* misses of the first data cache */
	VT_CULPRIT_LLCMISS, /* of the last one */
	VT_CULPRIT_DTBMISS,
	VT_CULPRIT_BRANCHMP,
	VT_NCULPRIT_EVENTS
};

/* Which of them an event counts, by DCPI's name or perf's; VT_NCULPRIT_EVENTS: none. */
enum vt_culprit_event vt_culprit_event_of(const char *name);

/* What was measured at an instruction. */
struct vt_culprit_insn {
	double executions; /* 0 or NaN: nothing is known of it */
	double cycles;	   /* at the head of the queue, on each of them */
	double period;	   /* cycles that a sample stands for; 0: `cycles` is exact */
	enum vt_confidence confidence;
	float samples[VT_NCULPRIT_EVENTS]; /* of the events */
};

/*
 * How much of what the rules leave possible each cause accounts for, on average: 0 to 1.  Bounds
 * are pessimistic, each in its own way; what many stalls together say of them tells which of the
 * causes that are left at one is a likely one.
 */
struct vt_culprit_shares {
	double of[VT_NSTALLS];
};

struct vt_culprit_input {
	const struct vt_core *core;
	const struct vt_procflow *flow;
	const struct vt_culprit_insn *insns; /* by instruction of the graph */
	const uint8_t *code;		     /* of the procedure, from its start on; may be NULL */
	size_t code_size;
	const double *edges; /* executions by edge of the graph; NaN: unknown */
	/* How many events a sample stands for; 0: there was no such event. */
	double period[VT_NCULPRIT_EVENTS];
	const struct vt_footprint *footprint; /* of all code; may be NULL */
	/* NULL: every cause that may account for much of a stall is told. */
	const struct vt_culprit_shares *shares;
};

#define VT_CULPRIT_GUILTY 8

/* A stall, as a STALL record tells it; instructions by their index in the graph. */
struct vt_culprit_stall {
	uint32_t insn;
	enum vt_stall_cause cause;
	double low; /* cycles, of all executions */
	double high;
	uint32_t nguilty;
	uint32_t guilty[VT_CULPRIT_GUILTY];
	enum vt_confidence confidence;
};

struct vt_culprit_stalls {
	struct vt_culprit_stall *list; /* by instruction, then cause */
	size_t count;
	size_t cap;
};

/*
 * Appends a procedure's stalls.  All of `in` is borrowed for the call.  -VT_E_NOMEM.  Free with
 * vt_culprit_stalls_fini(); zeros are an empty list.
 */
int vt_culprit_find(const struct vt_culprit_input *in, struct vt_culprit_stalls *out,
		    struct vt_error *err);

/* Adds a procedure's instructions, for which its graph is enough, to a footprint.  -VT_E_NOMEM. */
int vt_culprit_enter(const struct vt_culprit_input *in, struct vt_footprint *f,
		     struct vt_error *err);
void vt_culprit_stalls_fini(struct vt_culprit_stalls *s);

/* What procedures say of the shares.  Owned by the caller; NULL: out of memory. */
struct vt_culprit_evidence *vt_culprit_evidence_new(void);
void vt_culprit_evidence_free(struct vt_culprit_evidence *e);

/* Adds a procedure's instructions; in->shares does not matter.  -VT_E_NOMEM. */
int vt_culprit_collect(const struct vt_culprit_input *in, struct vt_culprit_evidence *e,
		       struct vt_error *err);
void vt_culprit_learn(const struct vt_culprit_evidence *e, struct vt_culprit_shares *shares);

#endif
