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

/* What those say who need executed code and find none, or only samples of it. */
#define VT_NO_EXECUTED_CODE                                                                        \
	"no executed code (vtrace record --full records it, vtrace decode makes it of Intel PT)"
#define VT_IS_SAMPLED "samples of executed code, not all of it (vtrace record --full records it)"

/*
 * Walking a run of executed blocks, an EXEC record:
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
	uint64_t first;	 /* the process's instructions before the position at hand */
	uint64_t caller; /* as recorded, at the start of the run */
	uint64_t insns;	 /* that are still to come */
	uint32_t blocks; /* that are still to come, the one at hand included */

	/* Times, at the start of the run and within it: for vt_exec_clock(). */
	uint64_t tsc;
	uint64_t cycles;
	struct vt_words time_at;
	struct vt_words time_tsc;
	struct vt_words time_cycles; /* as many as time_at, or none */

	/* Position; not for use by callers. */
	const uint8_t *first_id;
	const struct vt_bblocks *dict;
	const uint8_t *ids;
	const uint8_t *data;
	const uint8_t *data_end;
	uint64_t base;
	uint32_t width;
	uint32_t skip; /* instructions of the block at hand that do not belong or are passed */
};

/*
 * For those who walk whole blocks themselves, knowing each by its id: that of the block which is i
 * behind the one at hand, i < x->blocks; and the values that follow, `*size` bytes of them.
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
 * Passes over the block at hand, whose length and bytes of values the caller knows.  False, and
 * nothing is passed, if not all of it belongs to the run: for vt_exec_next() to deal with.
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

/* One execution of a block, or of a part of it. */
struct vt_step {
	const struct vt_bblock *block;
	uint32_t insn;	   /* instructions insn .. insn_end-1 of it were executed */
	uint32_t insn_end; /* at least one */
	uint32_t slot;	   /* slots slot .. slot_end-1 have values */
	uint32_t slot_end;
	uint32_t data_offset; /* of slot `slot` in the values of the whole block */
	const uint8_t *data;  /* the value of slot `slot` and those behind it */
};

/*
 * Starts at the beginning of an EXEC record, which must stay as long as x is in use.  0, or
 * -VT_E_FORMAT when its fields contradict each other.
 */
int vt_exec_open(struct vt_exec *x, const struct vt_bblocks *d, const struct vt_record *rec,
		 struct vt_error *err);

/*
 * Gives the next block of the run in *step, borrowed as long as the record.  1; 0 at the end;
 * -VT_E_FORMAT: a block that the stream has not told, or values that do not fit the blocks.
 */
int vt_exec_next(struct vt_exec *x, struct vt_step *step, struct vt_error *err);

/*
 * Passes over `insns` instructions, or all that are left if those are fewer, looking at nothing but
 * the lengths of the blocks.  Errors as vt_exec_next().
 */
int vt_exec_skip(struct vt_exec *x, uint64_t insns, struct vt_error *err);

/* As vt_exec_skip() for whole blocks: the rest of the one at hand is the first. */
int vt_exec_skip_blocks(struct vt_exec *x, uint32_t blocks, struct vt_error *err);

/*
 * Passes over whole blocks, many at a time, as long as there are many left, and adds 1 to
 * counts[id] for each; `counts` has vt_bblocks_end() elements.  What is left, errors included, is
 * for vt_exec_next().
 */
void vt_exec_tally(struct vt_exec *x, uint64_t *counts);

/*
 * Passes over whole blocks likewise, as long as the sum of weights[id] of all that are passed stays
 * below `limit`; returns it.
 */
uint64_t vt_exec_skip_weights(struct vt_exec *x, const uint32_t *weights, uint64_t limit);

/*
 * What is known of the time when the block at hand began: 0 where nothing is.  Time is told for
 * some blocks, and stands still up to the next of them.
 */
void vt_exec_clock(const struct vt_exec *x, uint64_t *tsc, uint64_t *cycles);

/*
 * Sets the fields of times of the EXEC record that was started last in `w`, where `row` is, and
 * whose blocks are the next ones of x, `blocks` of them.  0 or -VT_E_NOMEM.
 */
int vt_exec_put_times(const struct vt_exec *x, uint32_t blocks, struct vt_writer *w, uint64_t *row,
		      struct vt_error *err);

/*
 * Writes the next `insns` instructions (or all that are left, if those are fewer) as an EXEC record
 * of their own, and passes over them.  The blocks that it uses must have been written already.
 * `caller` becomes that of the new record.  Errors as vt_exec_next(); those of the writer stick
 * to it.
 */
int vt_exec_cut(struct vt_exec *x, uint64_t insns, uint64_t caller, struct vt_writer *w,
		struct vt_error *err);

/*
 * The number in a slot of a step, at most 8 bytes of it: those of lane `lane`, counted from the
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
