/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SIMULATE_INTERNAL_H
#define VT_SIMULATE_INTERNAL_H

#include "base/hash.h"
#include "base/rng.h"
#include "machine/pipeline/sim.h"
#include "simulate/simulate.h"
#include "stream/bblock.h"
#include "stream/exec.h"

/*
 * The id of the first event; any will do that recorders do not use, which count from 0 or take
 * perf's.
 */
#define VTI_SIMULATE_EVENT 0x76740001u

/* The CPU's mode in linux/perf_event.h (PERF_RECORD_MISC_USER): only user code is recorded so. */
#define VTI_SIM_MODE 2u

/* Nothing: no place, no stall. */
#define VTI_NONE UINT32_MAX

/* ---- simulate/truth.c: what is true of each instruction ---- */

/* An instruction's place, and what became of its executions. */
struct vti_simplace {
	uint64_t image; /* id, or VT_UNMAPPED_IMAGE; the key: */
	uint64_t offset;
	uint64_t executions;
	uint64_t head;	  /* cycles */
	uint64_t samples; /* of cycles */
	uint64_t period;
	uint32_t stalls; /* the first in vti_simtruth.stalls, or VTI_NONE */
	uint32_t next;	 /* the place of the instruction behind it, or VTI_NONE */
	bool leads;	 /* it begins a block */
};

/* The cycles that a place lost to a cause. */
struct vti_simstall {
	uint64_t slots;
	uint64_t weight; /* by how much `by` is the majority's choice */
	uint32_t by;	 /* the place that is guilty of most, if any is */
	uint32_t next;
	uint8_t cause;
};

struct vti_simtruth {
	struct vt_hash places; /* struct vti_simplace */
	struct vt_hash edges;  /* struct vti_simedge */
	struct vti_simstall *stalls;
	size_t nstalls;
	size_t stalls_cap;
	bool failed; /* memory ran out */
};

struct vti_simedge {
	uint64_t from; /* places; `to` may be VTI_NONE */
	uint64_t to;
	uint64_t executions;
};

void vti_simtruth_init(struct vti_simtruth *t);
void vti_simtruth_fini(struct vti_simtruth *t);

/* The number of the place, which is new perhaps; VTI_NONE when memory runs out. */
uint32_t vti_simtruth_place(struct vti_simtruth *t, uint32_t image, uint64_t offset);

static inline struct vti_simplace *vti_simplace_at(const struct vti_simtruth *t, uint64_t place)
{
	return (struct vti_simplace *)(void *)t->places.entries + place;
}

/* An instruction was executed; its stalls. */
void vti_simtruth_retire(struct vti_simtruth *t, const struct vt_sim_retired *r);

/* The number of an edge, which is new perhaps; VTI_NONE when memory runs out. */
uint32_t vti_simtruth_edge(struct vti_simtruth *t, uint32_t from, uint32_t to);

/* Writes FREQ, EDGE and STALL records, `width` slots being a cycle.  -VT_E_NOMEM. */
int vti_simtruth_write(struct vti_simtruth *t, uint32_t width, uint64_t event, struct vt_writer *w,
		       struct vt_error *err);

/* ---- simulate/samples.c: counters, their samples, and the branches taken last ---- */

struct vti_simcounter {
	enum vt_simulate_kind kind;
	struct vt_interval interval;
	uint64_t period; /* the one at hand */
	uint64_t left;	 /* events to come, of other kinds than cycles */
	uint64_t due;	 /* cycle of the sample; UINT64_MAX: none yet */
};

struct vti_simcounters {
	struct vt_rng rng;
	uint32_t count;
	uint32_t skid;
	bool events;  /* other ones than cycles are counted */
	uint64_t due; /* the first of theirs */
	struct vti_simcounter counters[VT_SIMULATE_EVENTS];
};

void vti_simcounters_init(struct vti_simcounters *c, const struct vt_simulate_options *o,
			  uint64_t seed);

/*
 * An instruction is done: calls `sample` for each sample that falls on it, with the number of the
 * event and its period.
 */
typedef void vti_simsample_fn(void *arg, const struct vt_sim_retired *r, uint32_t event,
			      uint64_t period);
void vti_simcounters_count(struct vti_simcounters *c, const struct vt_sim_retired *r);
void vti_simcounters_deliver(struct vti_simcounters *c, const struct vt_sim_retired *r,
			     vti_simsample_fn *sample, void *arg);

static inline void vti_simcounters_retire(struct vti_simcounters *c, const struct vt_sim_retired *r,
					  vti_simsample_fn *sample, void *arg)
{
	if (c->events)
		vti_simcounters_count(c, r);
	if (c->due <= r->cycle)
		vti_simcounters_deliver(c, r, sample, arg);
}

struct vti_simbranch {
	uint64_t from;
	uint64_t to;
	uint64_t cycle; /* of its end */
	bool mispredicted;
};

struct vti_simstack {
	uint32_t size;
	uint64_t count; /* so far; the n-th is at n % size */
	struct vti_simbranch branches[VT_SIMULATE_STACK];
};

void vti_simstack_push(struct vti_simstack *k, const struct vti_simbranch *b);
void vti_simstack_write(const struct vti_simstack *k, struct vt_writer *w);

/* ---- simulate/run.c: executing ---- */

/* More accesses of one instruction than that are left out. */
#define VTI_SIM_ACCESSES 64

/* An access as the block's slots have it. */
struct vti_simslot {
	uint16_t slot;
	uint16_t guard;	 /* of the block's slots; UINT16_MAX: it is always made */
	uint32_t offset; /* of the address in the values of the block */
	uint32_t size;
	bool store;
};

struct vti_siminsn {
	struct vt_mop op;
	uint32_t place;
	uint32_t access; /* its first in vti_simblock.slots */
	uint32_t naccesses;
	bool counts; /* it loads or stores, or is unknown */
};

/* What is looked at whenever a whole block runs comes first: a line of the host's cache. */
struct vti_simblock {
	uint64_t addr;
	struct vt_sim_block run;
	struct vt_sim_access *accesses; /* one for each of the slots */
	uint32_t *offsets;		/* of their addresses in the values of the block */
	uint32_t data_size;		/* bytes of these */
	uint32_t nslots;
	uint16_t loads; /* what a run of all of it adds to totals */
	uint16_t addressed;
	uint16_t undecoded;
	bool whole; /* `run` is there: every time it makes the same accesses, but for addresses */
	const struct vt_bblock *b;
	struct vti_simslot *slots;
	uint32_t edge[2];    /* the edges it was left by last, */
	uint32_t edge_to[2]; /* and where to */
	struct vti_siminsn insns[];
};

/* Counts an instruction that is executed; `addressed`: where it goes in memory is known. */
static inline void vti_sim_count(const struct vti_siminsn *insn, bool addressed,
				 struct vt_simulate_totals *t)
{
	t->insns++;
	if (!insn->counts)
		return;
	t->undecoded += !insn->op.length;
	t->loads += insn->op.length != 0;
	t->addressed += addressed;
}

struct vti_simprocess {
	int64_t pid;
	struct vt_simulate *s;
	struct vt_simcore *core;
	struct vti_simthread *thread; /* whose turn it is */
	struct vti_simcounters counters;
	struct vti_simstack stack;
	uint64_t cycle;	   /* of the end of the last instruction, and */
	bool mispredicted; /* whether it was a mispredicted branch */
};

/*
 * A thread's last instruction is held until it is known where the next one is, and with it all its
 * block if nothing of that has been run.
 */
struct vti_simthread {
	int64_t pid;
	int64_t tid;
	uint64_t time;
	struct vti_simprocess *process;
	struct vti_simblock *block; /* of the one that is held; NULL: none is */
	bool whole;		    /* all of the block is held */
	struct vt_sim_insn insn;
	struct vt_sim_access accesses[VTI_SIM_ACCESSES];
};

struct vt_simulate {
	struct vt_simulate_options o;
	struct vt_simulate_event events[VT_SIMULATE_EVENTS];
	struct vt_writer *w; /* borrowed */
	struct vt_simulate_totals totals;
	struct vti_simblock **blocks; /* by id */
	size_t nblocks;
	struct vt_hash processes;
	struct vt_hash threads;
	struct vti_simthread *thread;
	struct vti_simtruth truth;
};

int vti_sim_exec(struct vt_simulate *s, const struct vt_record *rec, struct vt_error *err);

/* What comes next of the thread, or of all of them (NULL), does not follow what came before. */
void vti_sim_interrupt(struct vt_simulate *s, struct vti_simthread *t);

/* The thread of a record, made if it is new; NULL when memory runs out. */
struct vti_simthread *vti_sim_thread(struct vt_simulate *s, int64_t pid, int64_t tid,
				     struct vt_error *err);
void vti_sim_free_threads(struct vt_simulate *s);

#endif
