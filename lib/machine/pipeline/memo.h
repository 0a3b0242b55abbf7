/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_MEMO_H
#define VT_MACHINE_PIPELINE_MEMO_H

#include "machine/pipeline/inorder.h"

/*
 * How a block runs in order, remembered by the state of the machine that it finds and by how long
 * memory makes it wait: when each instruction is issued, when it goes to memory, and what it leaves
 * behind, all in cycles from its beginning.  Nothing else than registers, units and the slots left
 * of the cycle at hand decides on that; of registers, those that the block reads before it writes
 * them, and of these only how long it must wait for them.
 *
 * That tells when instructions are issued, not what they wait for.
 */
struct vti_simmemo;

/* Machines with more units, and longer blocks, are not remembered. */
#define VTI_SIMMEMO_UNITS 8
#define VTI_SIMMEMO_INSNS 256

enum vti_simevent_kind { VTI_SIM_FETCH, VTI_SIM_LOAD, VTI_SIM_STORE };

/* When a block asks something of memory, and what it is told. */
struct vti_simevent {
	uint16_t cycle; /* from the beginning; not of fetches */
	/*
	 * What it waits: cycles, or of a fetch, the cycle before which nothing is issued; 0 if
	 * nothing was to be issued so early.
	 */
	uint16_t answer;
};

/* What it asks, each time it runs, but for the first fetch: which of these that is. */
struct vti_simask {
	const struct vt_sim_access *access; /* the instruction's only one; NULL: not so */
	uint16_t insn;
	uint16_t offset; /* of a fetch: from the block's first byte */
	uint8_t length;	 /* likewise, bytes */
	uint8_t kind;	 /* enum vti_simevent_kind */
	uint8_t nth;	 /* of the instruction's loads or stores */
};

/* The state that a block finds. */
struct vti_simentry {
	uint64_t base;		 /* the cycle it begins in */
	uint64_t free;		 /* cycles from then until each unit is free, a byte each */
	uint64_t could;		 /* of units that began in that cycle, what could have too */
	uint8_t used;		 /* slots of that cycle */
	bool fetches;		 /* its first instruction is not in the line at hand */
	uint8_t ready[VT_NREGS]; /* cycles until the registers it reads are there */
};

/*
 * One way in which the block ran.  What finding it takes comes first: most of the time it takes to
 * run a block goes into fetching all this from the host's memory.
 */
struct vti_simrun {
	struct vti_simrun *next; /* that begins, or departs from another, likewise */
	uint64_t free;		 /* as in the entry */
	uint64_t could;
	uint16_t at;	 /* the event where it departs from the one it is listed with, */
	uint16_t answer; /* by this answer */
	uint8_t used;
	bool fetches;
	uint8_t touched;	   /* bit n: unit n has done something */
	uint8_t now;		   /* and that in the cycle at hand */
	struct vti_simrun *others; /* that depart from it */
	struct vti_simrun *older;  /* the one remembered before */
	uint16_t end;		   /* cycles until the last is issued */
	uint16_t latest;	   /* and until all it does is done */
	uint16_t nevents;
	uint8_t end_used;
	uint16_t issued_at; /* in `body`: the cycle of each instruction; */
	uint16_t events_at; /* the events */
	/*
	 * For each register that is read, two bytes: it fits if the entry's `ready` is in this
	 * range; for each that is written when it is ready; for each unit when it is free, and what
	 * else could have done its work; then the above.
	 */
	uint16_t body[];
};

static inline const uint16_t *vti_simrun_issued(const struct vti_simrun *r)
{
	return r->body + r->issued_at;
}

static inline const struct vti_simevent *vti_simrun_events(const struct vti_simrun *r)
{
	return (const struct vti_simevent *)(r->body + r->events_at);
}

/* NULL: it cannot be remembered how these instructions run; or memory ran out. */
struct vti_simmemo *vti_simmemo_new(const struct vt_core *core, const struct vt_sim_insn *insns,
				    uint32_t n);
void vti_simmemo_free(struct vti_simmemo *m);

/* What is looked at of a block's first and last instructions whenever it runs. */
struct vti_simends {
	uint64_t addr; /* of the first */
	uint64_t last; /* of the last, */
	uint64_t fall; /* of what is behind it, */
	uint64_t target;
	uint32_t flags;
	uint8_t length; /* of the first, at least 1 */
};

const struct vti_simends *vti_simmemo_ends(const struct vti_simmemo *m);

/* What it asks of memory in order, as many as the runs that fetch (or not) at first have events. */
const struct vti_simask *vti_simmemo_plan(const struct vti_simmemo *m, bool fetches);

/* Asks the host's memory for what finding a run takes. */
void vti_simmemo_expect(const struct vti_simmemo *m);

/* The state of the machine.  False: it is too far from what can be remembered. */
bool vti_simmemo_entry(const struct vti_simmemo *m, const struct vt_inorder *e, bool fetches,
		       struct vti_simentry *entry);

/* What the block does from there; NULL if it is not known. */
struct vti_simrun *vti_simmemo_find(struct vti_simmemo *m, const struct vti_simentry *entry);

/* The same as `run` up to its i-th event, but with this answer to it; NULL if it is not known. */
struct vti_simrun *vti_simmemo_other(const struct vti_simmemo *m, const struct vti_simentry *entry,
				     struct vti_simrun *run, uint32_t i, uint16_t answer);

/* False: that block hardly ever does the same again. */
bool vti_simmemo_pays(const struct vti_simmemo *m);

/* What a block did: the machine before and after, its instructions' cycles of issue, its events. */
struct vti_simdone {
	const struct vt_inorder *before;
	const struct vt_inorder *after;
	const uint64_t *issued;
	const struct vti_simevent *events;
	const struct vti_simask *asks; /* as many */
	uint32_t nevents;
};

/* Remembers that: it departs from `from` at its event `at`, or NULL. */
void vti_simmemo_add(struct vti_simmemo *m, const struct vti_simentry *entry,
		     const struct vti_simdone *done, struct vti_simrun *from, uint32_t at);

/* The machine has run the block. */
void vti_simmemo_apply(struct vti_simmemo *m, const struct vti_simentry *entry,
		       const struct vti_simrun *run, struct vt_inorder *e);

#endif
