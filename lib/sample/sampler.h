/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SAMPLE_SAMPLER_H
#define VT_SAMPLE_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/context.h"
#include "sample/interval.h"
#include "stream/reader.h"
#include "stream/writer.h"

/*
 * Picks samples out of a stream of executed code, as a processor's counter would have done: from a
 * full stream to one that has a SAMPLE record now and then, each followed by the EXEC record of
 * the few instructions that were interpreted there.
 *
 * Each process has a counter of its own, which all its threads drive in the order of the stream.
 */

/* What is counted. */
enum vt_sampler_unit {
	VT_SAMPLER_INSNS,
	VT_SAMPLER_LOADS,    /* instructions with a value or address of a load */
	VT_SAMPLER_STORES,   /* … of a store */
	VT_SAMPLER_BRANCHES, /* jumps, calls and returns, taken or not: the ends of blocks */
	VT_SAMPLER_BLOCKS,   /* the first instructions of blocks */
	VT_SAMPLER_CYCLES,   /* by the times of EXEC records */
	VT_NSAMPLERUNITS
};

struct vt_sampler_options {
	struct vt_context *context; /* of the stream to come; borrowed */
	enum vt_sampler_unit unit;
	struct vt_interval interval;
	uint64_t burst;	   /* instructions interpreted from a sampled one on; 0: none */
	uint64_t fraction; /* one in so many samples is interpreted */
	uint64_t seed;
	/*
	 * Instead of all that: value profiling 8.2.  Each instruction that has values is profiled
	 * for `burst` executions, then left alone for a random number of its executions between
	 * `backoff` and a bound that starts there and doubles, and so on.
	 */
	bool per_instruction;
	uint64_t backoff;
	bool follow;	  /* follow calls and returns, to know the caller of each run */
	bool keep;	  /* keep the STATE, SYSCALL and MEMORY records of the whole stream */
	vt_warn_fn *warn; /* told of records that contradict themselves; may be NULL */
	void *warn_arg;
};

#define VT_SAMPLER_MAX_BURST ((uint64_t)1 << 32)

struct vt_sampler_totals {
	uint64_t execs;	  /* EXEC records seen */
	uint64_t samples; /* of the input: SAMPLE records */
	uint64_t bad;	  /* BLOCK and EXEC records that contradict themselves: left out */
};

struct vt_sampler;

/*
 * Becomes a consumer of the context, which hands on -VT_E_NOMEM, -VT_E_ABSENT (the stream was
 * sampled already, or lacks the times that counting cycles needs) and the writer's error.  Writes
 * the EVENT of the samples, and a META record "sampling" that says how they were taken.  `w` is
 * borrowed, and must have been opened with the reader whose records are fed.  NULL: -VT_E_NOMEM.
 */
struct vt_sampler *vt_sampler_new(const struct vt_sampler_options *o, struct vt_writer *w,
				  struct vt_error *err);
void vt_sampler_free(struct vt_sampler *s);

/* To be called after the last record. */
int vt_sampler_finish(struct vt_sampler *s, struct vt_error *err);

const struct vt_sampler_totals *vt_sampler_totals(const struct vt_sampler *s);

#endif
