/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_EXEC_H
#define VT_STREAM_EXEC_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "stream/bblock.h"
#include "stream/record.h"
#include "stream/writer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Messages of programs that need executed code and find none, or only samples of it. */
#define VT_NO_EXECUTED_CODE                                                                        \
	"no executed code (vtrace record --full records it, vtrace decode makes it of Intel PT)"
#define VT_IS_SAMPLED "samples of executed code, not all of it (vtrace record --full records it)"

/*
 * An iterator over the executed blocks of an EXEC record:
 *
 *	vt_exec_open(&x, dict, rec, err);
 *	while ((r = vt_exec_next(&x, &step, err)) > 0)
 *		for (i = step.slot; i < step.slot_end; i++)
 *			... vt_step_value(&step, i) ...
 */

struct vt_exec {
	/* The record's fields. */
	uint64_t time;
	int64_t pid;
	int64_t tid;
	uint64_t first;	 /* instructions of the process before the current position */
	uint64_t caller; /* as recorded, at the start of the run */
	uint64_t insns;	 /* still to come */
	uint32_t blocks; /* still to come, including the current one */

	/* Times at the start of the run and within it, for vt_exec_clock(). */
	uint64_t tsc;
	uint64_t cycles;
	struct vt_words time_at;
	struct vt_words time_tsc;
	struct vt_words time_cycles; /* as many as time_at, or none */

	/* The position; private. */
	const uint8_t *first_id;
	const struct vt_bblocks *dict;
	const uint8_t *ids;
	const uint8_t *data;
	const uint8_t *data_end;
	uint64_t base;
	uint32_t width;
	uint32_t skip; /* instructions of the current block before the position */
};

/*
 * For callers that iterate over whole blocks themselves.  vt_exec_id() returns the id of the i-th
 * block from the current one on, i < x->blocks; vt_exec_values() returns the values from there on
 * and their size in bytes.
 */
static inline uint64_t vt_exec_id(const struct vt_exec *x, uint32_t i)
{
	const uint8_t *p = x->ids + (size_t)i * x->width;

	return x->base + (x->width == 2 ? vt_le16(p) : vt_le32(p));
}

static inline const uint8_t *vt_exec_values(const struct vt_exec *x, size_t *size)
{
	*size = (size_t)(x->data_end - x->data);
	return x->data;
}

/*
 * Skips the current block, given its number of instructions and bytes of values.  Returns false,
 * without skipping, if the run does not have all of the block: call vt_exec_next() instead.
 */
static inline bool vt_exec_pass(struct vt_exec *x, uint32_t insns, uint32_t data_size)
{
	if (!x->blocks || x->skip || x->insns < insns || (x->insns == insns && x->blocks > 1) ||
	    (size_t)(x->data_end - x->data) < data_size)
		return false;
	x->ids += x->width;
	x->data += data_size;
	x->insns -= insns;
	x->first += insns;
	x->blocks--;
	return true;
}

/* An execution of a block, or of a part of it. */
struct vt_step {
	const struct vt_bblock *block;
	uint32_t insn; /* instructions insn .. insn_end-1, at least one, were executed */
	uint32_t insn_end;
	uint32_t slot; /* slots slot .. slot_end-1 have values */
	uint32_t slot_end;
	uint32_t data_offset; /* of slot `slot` in the values of the whole block */
	const uint8_t *data;  /* the values from slot `slot` on */
};

/*
 * Starts at the beginning of an EXEC record, which must stay valid while x is in use.  Returns 0,
 * or -VT_E_FORMAT if its fields contradict each other.
 */
int vt_exec_open(struct vt_exec *x, const struct vt_bblocks *d, const struct vt_record *rec,
		 struct vt_error *err);

/*
 * Stores the next block of the run in *step, valid as long as the record.  Returns 1; 0 at the end;
 * or -VT_E_FORMAT for an unknown block, or values that do not fit the blocks.
 */
int vt_exec_next(struct vt_exec *x, struct vt_step *step, struct vt_error *err);

/*
 * Skips `insns` instructions, or all that are left if there are fewer.  Fast: it reads only the
 * lengths of the blocks.  Errors as vt_exec_next().
 */
int vt_exec_skip(struct vt_exec *x, uint64_t insns, struct vt_error *err);

/* Like vt_exec_skip(), for blocks; the rest of the current block counts as one. */
int vt_exec_skip_blocks(struct vt_exec *x, uint32_t blocks, struct vt_error *err);

/*
 * Skips whole blocks, many at a time, as long as many are left, and adds 1 to counts[id] for each.
 * `counts` has vt_bblocks_end() elements.  The caller handles the rest, and any error, with
 * vt_exec_next().
 */
void vt_exec_tally(struct vt_exec *x, uint64_t *counts);

/*
 * Skips whole blocks in the same way, as long as the sum of weights[id] over all skipped blocks
 * stays below `limit`.  Returns the sum.
 */
uint64_t vt_exec_skip_weights(struct vt_exec *x, const uint32_t *weights, uint64_t limit);

/*
 * Returns the time at which the current block began, 0 if unknown.  Only some blocks have a
 * recorded time; it is also that of all blocks up to the next such block.
 */
void vt_exec_clock(const struct vt_exec *x, uint64_t *tsc, uint64_t *cycles);

/*
 * Sets the time fields of the EXEC record started last in `w`, whose row is `row` and whose blocks
 * are the next `blocks` blocks of x.  Returns 0 or -VT_E_NOMEM.
 */
int vt_exec_put_times(const struct vt_exec *x, uint32_t blocks, struct vt_writer *w, uint64_t *row,
		      struct vt_error *err);

/*
 * Writes the next `insns` instructions, or all that are left if there are fewer, as a new EXEC
 * record with this `caller`, and skips them.  Their BLOCK records must already be written.  Errors
 * as vt_exec_next(); write errors are kept in the writer.
 */
int vt_exec_cut(struct vt_exec *x, uint64_t insns, uint64_t caller, struct vt_writer *w,
		struct vt_error *err);

/*
 * Returns up to 8 bytes of the value in a slot of a step: the `lane`-th 8 bytes, counted from the
 * lowest.
 */
static inline uint64_t vt_step_value(const struct vt_step *s, uint32_t slot, uint32_t lane)
{
	const struct vt_slot *t = &s->block->slots[slot];
	const uint8_t *p = s->data + (t->offset - s->data_offset) + 8 * lane;
	uint32_t n = t->size - 8 * lane;
	uint64_t v = 0;

	if (n >= 8)
		return vt_le64(p);
	if (n == 4)
		return vt_le32(p);
	for (; n; n--)
		v = v << 8 | p[n - 1];
	return v;
}

#ifdef __cplusplus
}
#endif
#endif
