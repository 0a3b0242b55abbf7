/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SIMULATE_INTERNAL_H
#define VT_SIMULATE_INTERNAL_H

#include "base/hash.h"
#include "base/rng.h"
#include "machine/pipeline/sim.h"
#include "simulate/simulate.h"
#include "stream/bblock.h"
#include "stream/exec.h"
#include "stream/held.h"
#include "stream/profileme.h"

/*
 * The id of the first event.  It must differ from the ids of recorders, which count from 0 or use
 * those of perf.
 */
#define VTI_SIMULATE_EVENT 0x76740001u

/* The CPU's mode in linux/perf_event.h (PERF_RECORD_MISC_USER): only user code is recorded so. */
#define VTI_SIM_MODE 2u

/* An index of no place or no stall. */
#define VTI_NONE UINT32_MAX

/* ---- simulate/truth.c: the true counts of each instruction ---- */

/* An instruction's place, and totals of its executions. */
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
	bool repeats;	 /* a string instruction, each repetition of which is executed */
};

/* The cycles that a place lost to a cause. */
struct vti_simstall {
	uint64_t slots;
	uint64_t weight; /* the lead of `by` in a majority vote of slots (Boyer and Moore) */
	uint32_t by;	 /* the place that caused the majority of slots, if one did */
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

/* Returns the index of a place, which is added if it is new; VTI_NONE when memory runs out. */
uint32_t vti_simtruth_place(struct vti_simtruth *t, uint32_t image, uint64_t offset);

static inline struct vti_simplace *vti_simplace_at(const struct vti_simtruth *t, uint64_t place)
{
	return (struct vti_simplace *)(void *)t->places.entries + place;
}

/* Counts an executed instruction and its stalls. */
void vti_simtruth_retire(struct vti_simtruth *t, const struct vt_sim_retired *r);

/* Returns the index of an edge, which is added if it is new; VTI_NONE when memory runs out. */
uint32_t vti_simtruth_edge(struct vti_simtruth *t, uint32_t from, uint32_t to);

/* The places in images, in order, perhaps those executed alone; owned by the caller. */
const struct vti_simplace **vti_simtruth_sort(const struct vti_simtruth *t, bool executed,
					      size_t *count);

/* Writes FREQ, EDGE and STALL records; a cycle has `width` slots.  Returns 0 or -VT_E_NOMEM. */
int vti_simtruth_write(struct vti_simtruth *t, uint32_t width, uint64_t event, struct vt_writer *w,
		       struct vt_error *err);

/* ---- simulate/samples.c: counters, their samples, and the last taken branches ---- */

struct vti_simcounter {
	enum vt_simulate_kind kind;
	struct vt_interval interval;
	uint64_t period; /* the current one */
	uint64_t left;	 /* events until the overflow, of kinds other than cycles */
	uint64_t due;	 /* cycle of the sample; UINT64_MAX: none yet */
};

struct vti_simcounters {
	struct vt_rng rng;
	uint32_t count;
	uint32_t skid;
	bool events;  /* events other than cycles are counted, */
	bool taken;   /* taken branches among them */
	bool again;   /* what retires is another repetition: counted as retired already */
	uint64_t due; /* the minimum of the counters' */
	struct vti_simcounter counters[VT_SIMULATE_EVENTS];
};

void vti_simcounters_init(struct vti_simcounters *c, const struct vt_simulate_options *o,
			  uint64_t seed);

/*
 * vti_simcounters_retire() counts a retired instruction and calls `sample` for each sample of it,
 * with the index of the event and its period.
 */
typedef void vti_simsample_fn(void *arg, const struct vt_sim_retired *r, uint32_t event,
			      uint64_t period);
void vti_simcounters_count(struct vti_simcounters *c, const struct vt_sim_retired *r);
/* Counts a taken branch that retired in this cycle; its sample falls on what retires after it. */
void vti_simcounters_take(struct vti_simcounters *c, uint64_t cycle);
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

#define VTI_SAMPLE_STACK (1u << 11) /* PERF_SAMPLE_BRANCH_STACK of linux/perf_event.h */

struct vti_simstack {
	uint32_t size;
	uint64_t count; /* so far; the n-th is at n % size */
	struct vti_simbranch branches[VT_SIMULATE_STACK];
};

void vti_simstack_push(struct vti_simstack *k, const struct vti_simbranch *b);
void vti_simstack_write(const struct vti_simstack *k, struct vt_writer *w);

/* ---- simulate/profileme.c: instructions that are followed ---- */

struct vti_profileme {
	struct vt_rng rng;
	uint64_t left;	   /* instructions up to the next one that is chosen */
	uint64_t rest;	   /* from the last one of a group to the next group */
	uint32_t nth;	   /* of its group, from 0 on */
	uint64_t begun;	   /* the fetch of the group's first */
	uint64_t distance; /* from it to the next one that is chosen */
	double weight;	   /* of that */
};

/* Returns the number of instructions up to the first one that is chosen, which is included. */
uint64_t vti_profileme_init(struct vti_profileme *pm, const struct vt_simulate_profileme *o,
			    uint64_t seed);

/* Bits of stream/profileme.h: what happened to the instruction; *told: what is known of that. */
uint64_t vti_profileme_events(const struct vt_core *m, const struct vt_sim_followed *f,
			      uint64_t *told);

/* Whether it is a load of which the model tells the cycles of the TLB. */
bool vti_profileme_knows_tlb(const struct vt_core *m, const struct vt_sim_followed *f);

/* For a process's core: writes the sample of an instruction, or with a truth, counts each one. */
vt_sim_follow_fn vti_profileme_follow;

/* ---- simulate/pmtruth.c: totals of all that is fetched ---- */

struct vti_pmstat {
	uint64_t k; /* as EVSTAT's fields */
	double sum;
	double sum2;
};

/* By place: totals of enum vt_stat. */
struct vti_pmtruth {
	struct vti_pmplace {
		struct vti_pmstat stats[VT_NSTATS];
	} * places;
	size_t nplaces;
	bool failed; /* memory ran out */
};

/* Of a process's core: what is in progress, and which slots were of use. */
struct vti_pmwindow;

/* Owned by the caller; NULL when memory runs out. */
struct vti_pmwindow *vti_pmwindow_new(void);
void vti_pmwindow_free(struct vti_pmwindow *w);

/* An instruction of this place was fetched, behind those of earlier calls. */
void vti_pmtruth_add(struct vti_pmtruth *t, struct vti_pmwindow *w, const struct vt_core *m,
		     uint32_t place, const struct vt_sim_followed *f);

/* No more will be fetched. */
void vti_pmtruth_end(struct vti_pmtruth *t, struct vti_pmwindow *w, const struct vt_core *m);

/* Writes EVSTAT records of these places. */
void vti_pmtruth_write(const struct vti_pmtruth *t, const struct vti_simtruth *of,
		       const struct vti_simplace *const *places, size_t count, uint64_t event,
		       struct vt_writer *w);
void vti_pmtruth_fini(struct vti_pmtruth *t);

/* ---- simulate/misses.c: each miss, and the code that missed ---- */

/* For a process's core: writes the sample of a miss. */
vt_sim_miss_fn vti_sim_miss;

/* The id of the event of misses. */
uint64_t vti_sim_miss_event(const struct vt_simulate *s);

/* Passes on a record, or an EXEC record that was run.  0 or -VT_E_NOMEM. */
int vti_sim_pass(struct vt_simulate *s, const struct vt_record *rec, struct vt_error *err);
int vti_sim_pass_code(struct vt_simulate *s, const struct vt_record *rec, struct vt_error *err);

/* Code of this thread comes: that of another one is not waited for any longer. */
void vti_sim_end_turn(struct vt_simulate *s, int64_t pid, int64_t tid);

void vti_sim_write_held(struct vt_simulate *s);

/* ---- simulate/run.c: executing ---- */

/* Maximum accesses of an instruction; further ones are ignored. */
#define VTI_SIM_ACCESSES 64

/* An access, from the slots of its block. */
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
	bool counts; /* it loads or stores, or could not be decoded */
};

/* The fields that running a whole block needs come first, in one line of the host's cache. */
struct vti_simblock {
	uint64_t addr;
	struct vt_sim_block run;
	struct vt_sim_access *accesses; /* one for each of the slots */
	uint32_t *offsets;		/* of their addresses in the values of the block */
	uint32_t data_size;		/* bytes of these */
	uint32_t nslots;
	uint16_t loads; /* a run of the whole block adds these to totals */
	uint16_t addressed;
	uint16_t undecoded;
	bool whole; /* `run` is set: except for addresses, all runs make the same accesses */
	const struct vt_bblock *b;
	struct vti_simslot *slots;
	uint32_t edge[2];    /* the last edges out of the block, */
	uint32_t edge_to[2]; /* and the places they lead to */
	struct vti_siminsn insns[];
};

/* Counts an executed instruction; `addressed`: the address of its access is known. */
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
	struct vti_simthread *thread; /* the current one */
	struct vti_simcounters counters;
	struct vti_simstack stack;
	struct vti_profileme profileme;
	struct vti_pmwindow *window; /* NULL: no truth of what is followed */
	uint64_t cycle;		     /* of the end of the last instruction, and */
	bool mispredicted;	     /* whether it was a mispredicted branch */
	uint64_t retired;	     /* the tag of what retired last */
	uint64_t position; /* instructions before the one that is run, if misses are told */
};

/*
 * A thread's last instruction waits until the address of the next one is known.  If no instruction
 * of its block has been run, the whole block waits.
 */
struct vti_simthread {
	int64_t pid;
	int64_t tid;
	uint64_t time;
	struct vti_simprocess *process;
	struct vti_simblock *block; /* of the waiting instruction; NULL: none */
	bool whole;		    /* the whole block waits */
	uint64_t position;	    /* of the instruction that waits */
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
	struct vti_pmtruth pmtruth;
	/* Records that wait for the misses of this thread's last instruction; NULL: none do. */
	struct vti_simthread *held_for;
	struct vt_held held;
	bool again; /* the stream is of an earlier run that told its misses */
};

int vti_sim_exec(struct vt_simulate *s, const struct vt_record *rec, struct vt_error *err);

/*
 * Interrupts the order of a thread, or of all threads (NULL): the next instruction does not follow
 * the last one.
 */
void vti_sim_interrupt(struct vt_simulate *s, struct vti_simthread *t);

/* Returns a thread, which is added if it is new; NULL when memory runs out. */
struct vti_simthread *vti_sim_thread(struct vt_simulate *s, int64_t pid, int64_t tid,
				     struct vt_error *err);
void vti_sim_free_threads(struct vt_simulate *s);

/* Nothing more is executed: adds to the totals what processors have fetched on wrong paths. */
void vti_sim_end(struct vt_simulate *s);

/* Returns the index of the place of an address, which is added if it is new, or VTI_NONE. */
uint32_t vti_sim_place(struct vt_simulate *s, int64_t pid, uint64_t addr);

#endif
