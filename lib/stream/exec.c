/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/exec.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "stream/bblock_internal.h"

static const char too_many_blocks[] = "more of them than instructions";

static int set_bad_run(struct vt_error *err, const char *why)
{
	return vt_error_set(err, VT_E_FORMAT, "executed blocks: %s", why);
}

int vt_exec_open(struct vt_exec *x, const struct vt_bblocks *d, const struct vt_record *rec,
		 struct vt_error *err)
{
	struct vt_bytes ids = vt_record_bytes(rec, VT_EXEC_IDS);
	struct vt_bytes data = vt_record_bytes(rec, VT_EXEC_DATA);
	uint64_t width = vt_record_u64(rec, VT_EXEC_WIDTH);
	uint64_t blocks = vt_record_u64(rec, VT_EXEC_BLOCKS);
	uint64_t skip = vt_record_u64(rec, VT_EXEC_SKIP);
	const struct vt_bblock *b;

	*x = (struct vt_exec){
		.time = vt_record_u64(rec, VT_EXEC_TIME),
		.pid = vt_record_i64(rec, VT_EXEC_PID),
		.tid = vt_record_i64(rec, VT_EXEC_TID),
		.first = vt_record_u64(rec, VT_EXEC_FIRST),
		.caller = vt_record_u64(rec, VT_EXEC_CALLER),
		.insns = vt_record_u64(rec, VT_EXEC_INSNS),
		.tsc = vt_record_u64(rec, VT_EXEC_TSC),
		.cycles = vt_record_u64(rec, VT_EXEC_CYCLES),
		.time_at = vt_record_words(rec, VT_EXEC_TIME_AT),
		.time_tsc = vt_record_words(rec, VT_EXEC_TIME_TSC),
		.time_cycles = vt_record_words(rec, VT_EXEC_TIME_CYCLES),
		.dict = d,
		.first_id = ids.data,
		.ids = ids.data,
		.data = data.data,
		.data_end = data.data + data.size,
		.base = vt_record_u64(rec, VT_EXEC_BASE),
		.width = width == 2 ? 2 : 4,
	};
	if ((width != 2 && width != 4) || blocks != ids.size / width || ids.size % width)
		return set_bad_run(err, "their number is not that of their ids");
	if (x->time_tsc.count != x->time_at.count ||
	    (x->time_cycles.count && x->time_cycles.count != x->time_at.count))
		return set_bad_run(err, "times without places");
	if (!blocks)
		return x->insns || data.size || skip ? set_bad_run(err, "none, but instructions")
						     : 0;
	x->blocks = (uint32_t)blocks;
	if (x->base >= d->end || x->insns < blocks ||
	    x->insns > blocks * (uint64_t)VT_MAX_BLOCK_INSNS)
		return set_bad_run(err, "impossible base or number of instructions");
	b = vt_bblocks_get(d, vt_exec_id(x, 0));
	if (!b || skip >= b->ninsns)
		return set_bad_run(err, b ? "the first is skipped whole" : "an unknown block");
	x->skip = (uint32_t)skip;
	return 0;
}

static int set_unknown_block(struct vt_error *err, uint64_t id)
{
	return vt_error_set(err, VT_E_FORMAT, "executed blocks: block %" PRIu64 " is not known",
			    id);
}

/* Checks at the end of the run that all instructions and values are used up. */
static int finish_exec(const struct vt_exec *x, struct vt_error *err)
{
	if (x->insns)
		return set_bad_run(err, "fewer instructions than were said");
	return x->data == x->data_end ? 0 : set_bad_run(err, "more values than their slots");
}

/* Stores the part of the current block that belongs to the run.  Returns 1 or a negative error. */
static int get_step(const struct vt_exec *x, struct vt_step *s, struct vt_error *err)
{
	uint64_t id = vt_exec_id(x, 0);
	const struct vt_bblock *b = vt_bblocks_get(x->dict, id);
	uint32_t data_end;

	if (!b)
		return set_unknown_block(err, id);
	s->block = b;
	s->insn = x->skip;
	s->insn_end = b->ninsns;
	s->slot = 0;
	s->slot_end = b->nslots;
	s->data_offset = 0;
	s->data = x->data;
	data_end = b->data_size;
	if (x->skip)
		s->slot = vti_bblock_slot(b, x->skip, &s->data_offset);
	if (x->insns < b->ninsns - x->skip) {
		s->insn_end = x->skip + (uint32_t)x->insns;
		s->slot_end = vti_bblock_slot(b, s->insn_end, &data_end);
	}
	if (s->insn == s->insn_end || (s->insn_end < b->ninsns && x->blocks > 1))
		return set_bad_run(err, too_many_blocks);
	if (data_end - s->data_offset > (size_t)(x->data_end - x->data))
		return set_bad_run(err, "fewer values than their slots");
	return 1;
}

/* Skips the first `n` instructions of the part that get_step() found. */
static void skip_in_step(struct vt_exec *x, const struct vt_step *s, uint32_t n)
{
	uint32_t end;

	vti_bblock_slot(s->block, s->insn + n, &end);
	x->data += end - s->data_offset;
	assert(n <= x->insns && s->insn + n <= s->insn_end);
	x->insns -= n;
	x->first += n;
	x->skip += n;
	if (s->insn + n == s->insn_end) {
		x->ids += x->width;
		x->blocks--;
		x->skip = 0;
	}
}

int vt_exec_next(struct vt_exec *x, struct vt_step *step, struct vt_error *err)
{
	const struct vt_bblock *b;
	int r;

	if (!x->blocks)
		return finish_exec(x, err);
	/* The usual case: a whole block with all its values. */
	b = vt_bblocks_get(x->dict, vt_exec_id(x, 0));
	if (b && !x->skip && b->ninsns <= x->insns &&
	    b->data_size <= (size_t)(x->data_end - x->data)) {
		*step = (struct vt_step){
			.block = b,
			.insn_end = b->ninsns,
			.slot_end = b->nslots,
			.data = x->data,
		};
		x->data += b->data_size;
		x->insns -= b->ninsns;
		x->first += b->ninsns;
		x->ids += x->width;
		x->blocks--;
		return 1;
	}
	r = get_step(x, step, err);
	if (r > 0)
		skip_in_step(x, step, step->insn_end - step->insn);
	return r;
}

/* Returns the sum of the weights of the next VTI_BLOCK_STRIDE blocks. */
static inline uint64_t sum_stride(const struct vt_exec *x)
{
	const uint64_t *weights = x->dict->weights + x->base;
	uint64_t reach = x->dict->cap - x->base;
	uint64_t sum = 0;
	unsigned i;

	if (x->width == 2) {
		for (i = 0; i < VTI_BLOCK_STRIDE; i++)
			sum += weights[vt_le16(x->ids + (size_t)2 * i)];
	} else {
		for (i = 0; i < VTI_BLOCK_STRIDE; i++) {
			uint32_t id = vt_le32(x->ids + (size_t)4 * i);

			sum += id < reach ? weights[id] : 0;
		}
	}
	return sum;
}

/*
 * Skips whole strides as long as neither limit is reached.  Leaves the rest, and all errors, to the
 * caller.
 */
static void skip_strides(struct vt_exec *x, uint64_t insns, uint64_t blocks)
{
	while (x->blocks > VTI_BLOCK_STRIDE && blocks >= VTI_BLOCK_STRIDE) {
		uint64_t sum = sum_stride(x);
		uint32_t n = (uint32_t)sum;
		size_t data = (sum & (VTI_BLOCK_KNOWN - 1)) >> 32;

		if (sum / VTI_BLOCK_KNOWN != VTI_BLOCK_STRIDE || n > insns || n >= x->insns ||
		    data > (size_t)(x->data_end - x->data))
			return;
		insns -= n;
		blocks -= VTI_BLOCK_STRIDE;
		x->insns -= n;
		x->first += n;
		x->data += data;
		x->ids += (size_t)VTI_BLOCK_STRIDE * x->width;
		x->blocks -= VTI_BLOCK_STRIDE;
	}
}

/* Skips until one of the limits or the run's end is reached. */
static int skip_run(struct vt_exec *x, uint64_t insns, uint64_t blocks, struct vt_error *err)
{
	uint64_t last_insn = insns < x->insns ? x->insns - insns : 0;
	uint32_t last = blocks < x->blocks ? x->blocks - (uint32_t)blocks : 0;
	struct vt_step s = {.block = NULL};

	while (x->insns > last_insn && x->blocks > last) {
		uint64_t left;
		int r;

		if (!x->skip)
			skip_strides(x, x->insns - last_insn, x->blocks - last);
		left = x->insns - last_insn;
		if (!left || x->blocks == last)
			break;
		r = get_step(x, &s, err);
		if (r < 0)
			return r;
		skip_in_step(x, &s,
			     left < s.insn_end - s.insn ? (uint32_t)left : s.insn_end - s.insn);
	}
	if (x->blocks && !x->insns)
		return set_bad_run(err, too_many_blocks);
	return x->blocks ? 0 : finish_exec(x, err);
}

int vt_exec_skip(struct vt_exec *x, uint64_t insns, struct vt_error *err)
{
	return skip_run(x, insns, UINT64_MAX, err);
}

int vt_exec_skip_blocks(struct vt_exec *x, uint32_t blocks, struct vt_error *err)
{
	return skip_run(x, UINT64_MAX, blocks, err);
}

/* Returns the id, relative to the base, of the i-th block of a stride. */
static inline uint32_t stride_id(const uint8_t *ids, uint32_t width, unsigned i)
{
	return width == 2 ? vt_le16(ids + (size_t)2 * i) : vt_le32(ids + (size_t)4 * i);
}

void vt_exec_tally(struct vt_exec *x, uint64_t *counts)
{
	unsigned i;

	if (!x->blocks)
		return;
	counts += x->base;
	while (!x->skip && x->blocks > VTI_BLOCK_STRIDE) {
		const uint8_t *ids = x->ids;

		skip_strides(x, UINT64_MAX, VTI_BLOCK_STRIDE);
		if (x->ids == ids)
			return;
		for (i = 0; i < VTI_BLOCK_STRIDE; i++)
			counts[stride_id(ids, x->width, i)]++;
	}
}

uint64_t vt_exec_skip_weights(struct vt_exec *x, const uint32_t *weights, uint64_t limit)
{
	uint64_t all = 0;
	unsigned i;

	if (!x->blocks)
		return 0;
	weights += x->base;
	while (!x->skip && x->blocks > VTI_BLOCK_STRIDE) {
		struct vt_exec from = *x;
		uint64_t sum = 0;

		skip_strides(x, UINT64_MAX, VTI_BLOCK_STRIDE);
		if (x->ids == from.ids)
			break;
		for (i = 0; i < VTI_BLOCK_STRIDE; i++)
			sum += weights[stride_id(from.ids, x->width, i)];
		if (sum >= limit - all) {
			*x = from;
			break;
		}
		all += sum;
	}
	return all;
}

/* ---- times ---- */

/* Returns the number of blocks of the record before the position. */
static uint64_t count_passed_blocks(const struct vt_exec *x)
{
	return (uint64_t)(x->ids - x->first_id) / x->width;
}

/* Returns the number of recorded times of blocks up to number `block` of the record. */
static size_t count_times(const struct vt_exec *x, uint64_t block)
{
	return vt_array_up_to(x->time_at.data, x->time_at.count, sizeof(*x->time_at.data), block);
}

void vt_exec_clock(const struct vt_exec *x, uint64_t *tsc, uint64_t *cycles)
{
	size_t n = count_times(x, count_passed_blocks(x));

	*tsc = n ? x->time_tsc.data[n - 1] : x->tsc;
	*cycles = !n ? x->cycles : x->time_cycles.count ? x->time_cycles.data[n - 1] : 0;
}

int vt_exec_put_times(const struct vt_exec *x, uint32_t blocks, struct vt_writer *w, uint64_t *row,
		      struct vt_error *err)
{
	uint64_t start = count_passed_blocks(x), *at;
	size_t from = count_times(x, start), n, i;

	vt_exec_clock(x, &row[VT_EXEC_TSC], &row[VT_EXEC_CYCLES]);
	n = blocks ? count_times(x, start + blocks - 1) : from;
	if (n <= from)
		return 0;
	n -= from;
	at = malloc(n * sizeof(*at));
	if (!at)
		return vt_error_nomem(err);
	for (i = 0; i < n; i++)
		at[i] = x->time_at.data[from + i] - start;
	vt_writer_words(w, VT_EXEC_TIME_AT, at, n);
	vt_writer_words(w, VT_EXEC_TIME_TSC, x->time_tsc.data + from, n);
	if (x->time_cycles.count)
		vt_writer_words(w, VT_EXEC_TIME_CYCLES, x->time_cycles.data + from, n);
	free(at);
	return 0;
}

int vt_exec_cut(struct vt_exec *x, uint64_t insns, uint64_t caller, struct vt_writer *w,
		struct vt_error *err)
{
	struct vt_exec from = *x;
	uint32_t blocks;
	uint64_t *row;
	int r;

	if (!insns || !x->insns)
		return 0;
	r = vt_exec_skip(x, insns, err);
	if (r < 0)
		return r;
	blocks = from.blocks - x->blocks + (x->skip ? 1 : 0);
	row = vt_writer_row(w, VT_EXEC);
	row[VT_EXEC_TIME] = from.time;
	row[VT_EXEC_PID] = (uint64_t)from.pid;
	row[VT_EXEC_TID] = (uint64_t)from.tid;
	row[VT_EXEC_FIRST] = from.first;
	row[VT_EXEC_BLOCKS] = blocks;
	row[VT_EXEC_INSNS] = x->first - from.first;
	row[VT_EXEC_SKIP] = from.skip;
	row[VT_EXEC_CALLER] = caller;
	row[VT_EXEC_BASE] = from.base;
	row[VT_EXEC_WIDTH] = from.width;
	vt_writer_bytes(w, VT_EXEC_IDS, from.ids, (size_t)blocks * from.width);
	vt_writer_bytes(w, VT_EXEC_DATA, from.data, (size_t)(x->data - from.data));
	return vt_exec_put_times(&from, blocks, w, row, err);
}
