/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_DECODE_EMIT_H
#define FORMATS_PT_DECODE_EMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/pt/decode/engine.h"
#include "stream/writer.h"

/*
 * Writes what engines decode as records: BLOCK, EXEC, TRACE, VALUE and GAP (formats/vt.md).  The
 * bytes depend only on the blocks, not on the engine nor on how it divides them into batches.
 */

/* Converts the TSC to nanoseconds: the fields of a TIMECONV record. */
struct vt_pt_timeconv {
	bool known;
	uint16_t shift;
	uint32_t mult;
	uint64_t zero;
};

/* The thread that executed the blocks, and where the trace lies. */
struct vt_pt_context {
	int64_t pid;
	int64_t tid;
	int64_t cpu;	   /* -1: not known */
	uint64_t time;	   /* ns, for records without a TSC; 0: not known */
	const char *input; /* for GAP records */
	uint64_t offset;   /* of the trace's first byte in `input` */
};

struct vt_pt_totals {
	uint64_t insns;
	uint64_t blocks;    /* executions */
	uint64_t gaps;	    /* GAP records */
	uint64_t overflows; /* among them */
	uint64_t skipped;   /* bytes of trace in gaps */
};

struct vt_pt_emit;

/* Owned by the caller; `w` is borrowed.  NULL: no memory. */
struct vt_pt_emit *vt_pt_emit_new(struct vt_writer *w, const struct vt_pt_timeconv *conv);
void vt_pt_emit_free(struct vt_pt_emit *e);

/*
 * Takes a batch of a trace; each block has at least one instruction.  Runs of blocks are buffered
 * until they are long enough, so records that others write meanwhile come first: where that matters
 * (a mapping changes) call vt_pt_emit_flush() before.  A change of thread, and each note that is
 * not marked as status, ends a run, so that these records are in order.  0, -VT_E_NOMEM, or the
 * writer's error.
 */
int vt_pt_emit_batch(struct vt_pt_emit *e, const struct vt_pt_context *ctx,
		     const struct vt_pt_batch *batch, struct vt_error *err);

/* Writes the buffered run; errors likewise. */
int vt_pt_emit_flush(struct vt_pt_emit *e, struct vt_error *err);

/* TSC to nanoseconds; 0 when the conversion or the time is not known. */
uint64_t vt_pt_time(const struct vt_pt_timeconv *conv, uint64_t tsc);

const struct vt_pt_totals *vt_pt_emit_totals(const struct vt_pt_emit *e);

#endif
