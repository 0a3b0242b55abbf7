/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_MEMO_H
#define VT_MACHINE_PIPELINE_MEMO_H

#include "machine/pipeline/inorder.h"

/*
 * A memo of the runs of a block on an in-order machine.  The key is the state of the machine before
 * the block, and the answers of memory.  The value is, in cycles from the block's beginning, when
 * each instruction is issued, when it accesses memory, and the state of the machine after the
 * block.  The relevant state is the registers, the units and the free slots of the current cycle.
 * Of registers, only those count that the block reads before it writes them, and only the time
 * until they are ready.
 *
 * A memo contains when instructions are issued, but not what they wait for.
 */
struct vti_simmemo;

/* There are no memos for machines with more units, or for longer blocks. */
#define VTI_SIMMEMO_UNITS 8
#define VTI_SIMMEMO_INSNS 256

enum vti_simevent_kind { VTI_SIM_FETCH, VTI_SIM_LOAD, VTI_SIM_STORE };

/* An access of a run to memory, and memory's answer. */
struct vti_simevent {
	uint16_t cycle; /* from the beginning; not of fetches */
	/*
	 * The cycles to wait; for a fetch, the cycle before which no instruction is issued, or 0 if
	 * none would be issued before it anyway.
	 */
	uint16_t answer;
};

/* An access that each run of the block makes, except for the first fetch. */
struct vti_simask {
	const struct vt_sim_access *access; /* the instruction's only one, or NULL */
	uint16_t insn;
	uint16_t offset; /* of a fetch: from the block's first byte */
	uint8_t length;	 /* likewise, bytes */
	uint8_t kind;	 /* enum vti_simevent_kind */
	uint8_t nth;	 /* of the instruction's loads or stores */
};

/* The state of the machine before a block. */
struct vti_simentry {
	uint64_t base;		 /* the cycle it begins in */
	uint64_t free;		 /* cycles from then until each unit is free, a byte each */
	uint64_t could;		 /* vti_inorder_unit.could of units that began in that cycle */
	uint8_t used;		 /* slots of that cycle */
	bool fetches;		 /* its first instruction is not in the current line */
	uint8_t ready[VT_NREGS]; /* cycles until the registers it reads are ready */
};

/*
 * A remembered run of the block.  The fields that are needed to find it come first, because most of
 * the time to run a block is spent on cache misses of this data.
 */
struct vti_simrun {
	struct vti_simrun *next; /* the next one in the same list */
	uint64_t free;		 /* as in the entry */
	uint64_t could;
	uint16_t at;	 /* the first event with another answer than in the run that lists it, */
	uint16_t answer; /* and this answer */
	uint8_t used;
	bool fetches;
	uint8_t touched;	   /* bit n: unit n was used */
	uint8_t now;		   /* bit n: unit n was used in the current cycle */
	struct vti_simrun *others; /* runs that differ from it from an event on */
	struct vti_simrun *older;  /* the one added before */
	uint16_t end;		   /* cycles until the last instruction is issued */
	uint16_t latest;	   /* cycles until all instructions are done */
	uint16_t nevents;
	uint8_t end_used;
	uint16_t issued_at; /* in `body`: the cycle of each instruction; */
	uint16_t events_at; /* the events */
	/*
	 * For each register that is read, two bytes: the range of the entry's `ready` for which the
	 * run is valid; for each register that is written, when it is ready; for each unit, when it
	 * is free, and which others could have done its work; then issued_at and events_at.
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

/* Returns NULL if there cannot be a memo for these instructions, or when memory runs out. */
struct vti_simmemo *vti_simmemo_new(const struct vt_core *core, const struct vt_sim_insn *insns,
				    uint32_t n);
void vti_simmemo_free(struct vti_simmemo *m);

/* Data of a block's first and last instructions that each run needs. */
struct vti_simends {
	uint64_t addr; /* of the first */
	uint64_t last; /* of the last, */
	uint64_t fall; /* of what is behind it, */
	uint64_t target;
	uint32_t flags;
	uint8_t length; /* of the first, at least 1 */
};

const struct vti_simends *vti_simmemo_ends(const struct vti_simmemo *m);

/* Returns the accesses in order, one for each event of runs that fetch (or do not fetch) first. */
const struct vti_simask *vti_simmemo_plan(const struct vti_simmemo *m, bool fetches);

/* Prefetches the data that are needed to find a run. */
void vti_simmemo_expect(const struct vti_simmemo *m);

/* Sets *entry to the state of the machine.  Returns false if it does not fit into an entry. */
bool vti_simmemo_entry(const struct vti_simmemo *m, const struct vt_inorder *e, bool fetches,
		       struct vti_simentry *entry);

/* Returns a remembered run from this state, or NULL. */
struct vti_simrun *vti_simmemo_find(struct vti_simmemo *m, const struct vti_simentry *entry);

/* Returns a run that is equal to `run` up to its i-th event, which has this answer; or NULL. */
struct vti_simrun *vti_simmemo_other(const struct vti_simmemo *m, const struct vti_simentry *entry,
				     struct vti_simrun *run, uint32_t i, uint16_t answer);

/* Returns false if the block's runs are rarely equal to earlier ones. */
bool vti_simmemo_pays(const struct vti_simmemo *m);

/* A run to add: the machine before and after it, the cycles of issue, and its events. */
struct vti_simdone {
	const struct vt_inorder *before;
	const struct vt_inorder *after;
	const uint64_t *issued;
	const struct vti_simevent *events;
	const struct vti_simask *asks; /* as many */
	uint32_t nevents;
};

/* Adds a run, which differs from `from` at its event `at`; `from` may be NULL. */
void vti_simmemo_add(struct vti_simmemo *m, const struct vti_simentry *entry,
		     const struct vti_simdone *done, struct vti_simrun *from, uint32_t at);

/* Sets the machine to its state after a run. */
void vti_simmemo_apply(struct vti_simmemo *m, const struct vti_simentry *entry,
		       const struct vti_simrun *run, struct vt_inorder *e);

#endif
