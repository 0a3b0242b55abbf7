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
 * Takes samples from a stream of all executed code, as a performance counter would.  The output
 * stream contains SAMPLE records, each followed by an EXEC record of a few instructions from the
 * sampled one on.
 *
 * Each process has its own counter, which counts its threads' instructions in the stream's order.
 */

/* The events that are counted. */
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
	struct vt_context *context; /* of the input stream; borrowed */
	enum vt_sampler_unit unit;
	struct vt_interval interval;
	uint64_t burst;	   /* instructions to copy from a sampled one on; 0: none */
	uint64_t fraction; /* copy them for one in so many samples */
	uint64_t seed;
	/*
	 * Another method, value profiling 8.2: profile each instruction with values for `burst`
	 * executions, then ignore a random number of its executions between `backoff` and a bound,
	 * and so on.  The bound is `backoff` at first and doubles each time.
	 */
	bool per_instruction;
	uint64_t backoff;
	bool follow;	  /* follow calls and returns to find the caller of each run */
	bool keep;	  /* copy the STATE, SYSCALL and MEMORY records of the whole stream */
	vt_warn_fn *warn; /* called for records that contradict themselves; may be NULL */
	void *warn_arg;
};

#define VT_SAMPLER_MAX_BURST ((uint64_t)1 << 32)

struct vt_sampler;

/*
 * Adds a consumer to the context.  The context returns its errors: -VT_E_NOMEM, -VT_E_ABSENT if the
 * stream was sampled already, or has no times although cycles are counted, and the writer's errors.
 * Writes the EVENT record of the samples, and a META record "sampling" that describes the method.
 * `w` is borrowed; it must have been opened with the reader of the input stream.  Owned by the
 * caller; returns NULL with VT_E_NOMEM.
 */
struct vt_sampler *vt_sampler_new(const struct vt_sampler_options *o, struct vt_writer *w,
				  struct vt_error *err);
void vt_sampler_free(struct vt_sampler *s);

/* Ends the output stream after the last record.  Returns 0 or a negative error. */
int vt_sampler_finish(struct vt_sampler *s, struct vt_error *err);

#endif
