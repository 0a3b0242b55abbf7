/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SAMPLE_INTERNAL_H
#define VT_SAMPLE_INTERNAL_H

#include "base/buf.h"
#include "base/hash.h"
#include "flow/callstack.h"
#include "sample/sampler.h"
#include "stream/exec.h"

/*
 * The id of the samples' event.  It must differ from the ids of recorders, which count from 0 or
 * use those of perf.
 */
#define VTI_SAMPLER_EVENT 0x76730001u

/* Writes parts of runs as EXEC records, and each block before its first use. */
struct vti_cutter {
	struct vt_writer *w; /* borrowed */
	uint32_t *ids;	     /* by the input's id: 1 + the id in the output, or 0 */
	size_t ids_cap;
	uint32_t count; /* blocks written so far */
	struct vt_buf ids_buf;
	struct vt_buf data;
	struct vt_buf used; /* output ids, 32 bits each */
};

/* A process's counter. */
struct vti_process {
	int64_t pid; /* the key */
	struct vt_rng rng;
	uint64_t interval; /* the current one, and the rest of it */
	uint64_t left;
	uint64_t time; /* in cycles, of the last run; 0: none yet */
};

struct vti_thread {
	int64_t pid; /* with `tid`, the key */
	int64_t tid;
	uint64_t burst; /* instructions of a burst that continues in the thread's next run */
	struct vt_callstack stack;
};

/* An instruction that is profiled in bursts (vt_sampler_options.per_instruction). */
struct vti_burst {
	int64_t pid; /* with `addr`, the key */
	uint64_t addr;
	uint64_t on;	/* executions still to be profiled */
	uint64_t off;	/* then executions to be ignored */
	uint64_t bound; /* of the next back-off */
	uint64_t since; /* executions since the last sample */
	uint64_t mute;	/* the current burst is not copied */
};

struct vt_sampler {
	struct vt_sampler_options o;
	struct vt_writer *w;
	struct vti_cutter cutter;
	struct vt_hash processes; /* struct vti_process */
	struct vt_hash threads;	  /* struct vti_thread */
	uint32_t *units;	  /* by block id: counted events in the block */
	size_t units_cap;
	bool countable;		 /* a block has counted events */
	struct vt_hash bursts;	 /* struct vti_burst */
	uint32_t **block_bursts; /* by id: for each instruction, 1 + its index, or 0 */
	size_t block_bursts_cap;
	struct vt_rng rng;    /* of the bursts */
	uint64_t timeconv[2]; /* VT_TIMECONV_SHIFT, VT_TIMECONV_MULT */
	bool executes;	      /* the stream has EXEC records */
};

/*
 * Samples an EXEC record by its process's counter, or by each instruction's own bursts.  Returns 0,
 * an error of vt_exec_next(), or -VT_E_NOMEM.
 */
int vti_sample_run(struct vt_sampler *s, struct vti_process *process, struct vti_thread *thread,
		   const struct vt_record *rec, struct vt_error *err);

/* Sets s->units of a new block.  Returns 0 or -VT_E_NOMEM. */
int vti_sampler_block(struct vt_sampler *s, const struct vt_bblock *b, struct vt_error *err);

/* Writes samples for the executions since each instruction's last burst. */
void vti_sampler_finish_bursts(struct vt_sampler *s);

#endif
