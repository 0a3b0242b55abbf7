/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SAMPLE_INTERNAL_H
#define VT_SAMPLE_INTERNAL_H

#include "base/buf.h"
#include "base/hash.h"
#include "flow/callstack.h"
#include "sample/sampler.h"
#include "stream/exec.h"

/*
 * The id of the samples' event: any will do that recorders do not use, which count from 0 or take
 * perf's.
 */
#define VTI_SAMPLER_EVENT 0x76730001u

/* Writes parts of runs as EXEC records, and the blocks that they use before their first use. */
struct vti_cutter {
	struct vt_writer *w; /* borrowed */
	uint32_t *ids;	     /* by the input's id: 1 + the id in the output, or 0 */
	size_t ids_cap;
	uint32_t count; /* blocks written so far */
	struct vt_buf ids_buf;
	struct vt_buf data;
	struct vt_buf used; /* output ids, 32 bits each */
};

void vti_cutter_fini(struct vti_cutter *c);

/*
 * Writes the next `insns` instructions of `from`, or all that are left; nothing if an error is
 * found in them.  `from` is used up.  Errors as vt_exec_next(), and -VT_E_NOMEM.
 */
int vti_cutter_write(struct vti_cutter *c, struct vt_exec *from, uint64_t insns, uint64_t caller,
		     struct vt_error *err);

/* A process's counter. */
struct vti_process {
	int64_t pid;
	struct vt_rng rng;
	uint64_t interval; /* the one at hand, and what is left of it */
	uint64_t left;
	uint64_t time; /* in cycles, of the last run; 0: none yet */
};

struct vti_thread {
	int64_t pid;
	int64_t tid;
	uint64_t burst; /* instructions of a burst that goes on in the thread's next run */
	struct vt_callstack stack;
};

/* An instruction that is profiled by turns. */
struct vti_turn {
	int64_t pid; /* with `addr`, the key */
	uint64_t addr;
	uint64_t on;	/* executions still to be profiled */
	uint64_t off;	/* then executions to be left alone */
	uint64_t bound; /* of the next back-off */
	uint64_t since; /* executions since the last sample */
	uint64_t mute;	/* the burst at hand is not interpreted */
};

struct vt_sampler {
	struct vt_sampler_options o;
	struct vt_writer *w;
	struct vt_bblocks *dict;
	struct vti_cutter cutter;
	struct vt_hash processes; /* pid and struct vti_process *, as the next */
	struct vt_hash threads;
	struct vti_process *process; /* of the last run */
	struct vti_thread *thread;
	uint32_t *units; /* by id of a block: of the unit that is counted, in all of it */
	size_t units_cap;
	bool countable;		/* some block has any */
	struct vt_hash turns;	/* struct vti_turn */
	uint32_t **block_turns; /* by id: for each instruction, 1 + its turn's index, or 0 */
	size_t block_turns_cap;
	struct vt_rng rng;    /* of the turns */
	uint64_t timeconv[2]; /* VT_TIMECONV_SHIFT, VT_TIMECONV_MULT */
	struct vt_sampler_totals totals;
};

/* A run that is being sampled: where the last sample was, and the part of it to be written. */
struct vti_run {
	struct vt_sampler *s;
	struct vti_process *process;
	struct vti_thread *thread;
	struct vt_exec at;
	uint64_t at_pos; /* instructions before `at` */
	uint64_t total;
	bool open; /* there is a part: instructions start .. end-1, which may lie beyond the run */
	uint64_t start;
	uint64_t end;
	uint64_t caller;
	struct vt_exec from; /* at `start` */
};

int vti_run_open(struct vti_run *r, struct vt_sampler *s, const struct vt_record *rec,
		 struct vt_error *err);

/* Puts instructions pos .. pos+n-1 into the part, after writing the last if it does not touch it.
 */
int vti_run_take(struct vti_run *r, uint64_t pos, uint64_t n, uint64_t caller,
		 struct vt_error *err);

/* Writes the part that is open; what lies beyond the run goes on in the thread's next one. */
int vti_run_finish(struct vti_run *r, struct vt_error *err);

/* Writes the SAMPLE of an instruction of the thread that `at` is of. */
void vti_write_sample(struct vt_writer *w, const struct vt_exec *at, uint64_t ip, uint64_t period);

/* One run, by the process's counter. */
int vti_sample_run(struct vti_run *r, struct vt_error *err);

/* One run, by each instruction's own turns; and what is left to be said at the end. */
int vti_turns_run(struct vti_run *r, struct vt_error *err);
void vti_turns_finish(struct vt_sampler *s);

/* Instructions of a step that count for the unit, and the one that is number n of them, from 1. */
uint64_t vti_units(enum vt_sampler_unit unit, const struct vt_step *step);
uint32_t vti_unit_insn(enum vt_sampler_unit unit, const struct vt_step *step, uint64_t n);

#endif
