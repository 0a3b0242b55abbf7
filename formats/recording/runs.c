/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/bytes.h"
#include "formats/recording/session.h"

/* The part of a run that has not been read yet. */
struct cursor {
	const uint8_t *ids;
	size_t n;
	const uint8_t *data;
	size_t left;
};

/* The sums of some blocks. */
struct sum {
	uint64_t insns;
	size_t data;
	uint32_t low, high;
	bool unknown; /* one of the blocks is unknown */
};

static const char bad_values[] = "values that do not fit the blocks";
static const char bad_id[] = "an undeclared basic block";

/* Finds the smallest and the largest id; as signed numbers, which SIMD instructions compare. */
static void find_id_range(const uint32_t *ids, size_t n, struct sum *sum)
{
	int32_t low = INT32_MAX, high = -1, v;
	size_t i;

	for (i = 0; i < n; i++) {
		v = (int32_t)ids[i];
		low = v < low ? v : low;
		high = v > high ? v : high;
	}
	sum->low = (uint32_t)low;
	sum->high = (uint32_t)high;
	sum->unknown = low < 0;
}

static struct sum sum_run_blocks(const struct rc_blocks *t, const uint32_t *ids, size_t n)
{
	uint64_t even = 0, odd = 0;
	struct sum sum;
	size_t i;

	find_id_range(ids, n, &sum);
	sum.unknown |= sum.high >= t->end;
	if (sum.unknown)
		return sum;
	for (i = 0; i + 1 < n; i += 2) {
		even += t->sums[ids[i]];
		odd += t->sums[ids[i + 1]];
	}
	if (i < n)
		even += t->sums[ids[i]];
	even += odd;
	sum.insns = rc_sum_insns(even);
	sum.data = rc_sum_data(even);
	sum.unknown = sum.insns >= RC_UNKNOWN_INSNS;
	return sum;
}

/* ---- writing ---- */

/* Puts a STATE record: the thread was not recorded before it. */
static void put_window_state(struct vt_recording *r, const struct rc_process *p,
			     struct rc_thread *t)
{
	uint64_t *row;

	t->dropped = false;
	if (p->window_tid == t->tid) {
		vti_rc_put_state(r, p, t->tid, &p->window);
		return;
	}
	row = vt_writer_row(r->w, VT_STATE);
	row[VT_STATE_PID] = (uint64_t)(int64_t)p->pid;
	row[VT_STATE_TID] = (uint64_t)(int64_t)t->tid;
	row[VT_STATE_FIRST] = p->first;
	row[VT_STATE_REASON] = VT_STATE_WINDOW;
}

void vti_rc_put_state(struct vt_recording *r, const struct rc_process *p, int32_t tid,
		      const struct vt_ring_registers *s)
{
	uint64_t *row = vt_writer_row(r->w, VT_STATE);

	row[VT_STATE_PID] = (uint64_t)(int64_t)p->pid;
	row[VT_STATE_TID] = (uint64_t)(int64_t)tid;
	row[VT_STATE_FIRST] = p->first;
	row[VT_STATE_REASON] = s->reason;
	row[VT_STATE_MXCSR] = s->mxcsr;
	vt_writer_words(r->w, VT_STATE_REGS, s->regs, VT_RING_REGS);
	vt_writer_bytes(r->w, VT_STATE_VECTOR, s->vector, sizeof(s->vector));
}

static void pack_chunk_ids(struct rc_chunk *c, unsigned width)
{
	uint32_t n = c->n, low = c->low, i;

	if (width == 2)
		for (i = 0; i < n; i++)
			vt_put_le16(c->packed + 2 * (size_t)i, (uint16_t)(c->ids[i] - low));
	else
		for (i = 0; i < n; i++)
			vt_put_le32(c->packed + 4 * (size_t)i, c->ids[i] - low);
}

static void put_chunk(struct vt_recording *r, struct rc_process *p)
{
	struct rc_thread *t = &p->threads[p->running];
	struct rc_chunk *c = r->chunk;
	unsigned width = c->high - c->low <= UINT16_MAX ? 2 : 4;
	uint64_t *row;

	if (!c->n)
		return;
	if (t->dropped)
		put_window_state(r, p, t);
	row = vt_writer_row(r->w, VT_EXEC);
	row[VT_EXEC_TIME] = p->time;
	row[VT_EXEC_PID] = (uint64_t)(int64_t)p->pid;
	row[VT_EXEC_TID] = (uint64_t)(int64_t)t->tid;
	row[VT_EXEC_FIRST] = p->first;
	row[VT_EXEC_BLOCKS] = c->n;
	row[VT_EXEC_INSNS] = c->insns;
	row[VT_EXEC_SKIP] = c->skip;
	row[VT_EXEC_BASE] = c->low;
	row[VT_EXEC_WIDTH] = width;
	pack_chunk_ids(c, width);
	vt_writer_bytes(r->w, VT_EXEC_IDS, c->packed, (size_t)c->n * width);
	if (c->size)
		vt_writer_bytes(r->w, VT_EXEC_DATA, c->data, c->size);
	p->window_tid = 0;
	p->first += c->insns;
	r->sum.insns += c->insns;
	r->sum.blocks += c->n;
	r->sum.data += c->size;
	c->n = c->skip = 0;
	c->size = 0;
}

/* Appends n blocks, whose ids are already in c->ids and whose values begin at `data`. */
static void append_blocks(struct rc_chunk *c, size_t n, const struct sum *sum, const uint8_t *data)
{
	if (!c->n) {
		c->low = sum->low;
		c->high = sum->high;
		c->insns = 0;
		c->data = data;
	}
	c->n += (uint32_t)n;
	c->low = sum->low < c->low ? sum->low : c->low;
	c->high = sum->high > c->high ? sum->high : c->high;
	c->insns += sum->insns;
	c->size += sum->data;
}

void vti_rc_end_record(struct vt_recording *r, struct rc_process *p)
{
	put_chunk(r, p);
}

uint64_t vti_rc_position(const struct vt_recording *r, const struct rc_process *p)
{
	return p->first + (r->chunk->n ? r->chunk->insns : 0);
}

/* ---- windows ---- */

bool vti_rc_in_window(const struct vt_recording *r, const struct rc_process *p)
{
	return !p->skip && p->count && (!r->opt.toggle || p->threads[p->running].inside);
}

/* Stops the recording after the end of the window, unless other processes are recorded. */
static void stop_after_window(struct vt_recording *r, const struct rc_process *p)
{
	if (!p->count && !r->opt.follow)
		vt_recording_stop(r);
}

static void advance_cursor(struct cursor *c, size_t n, size_t data)
{
	c->ids += n * sizeof(uint32_t);
	c->n -= n;
	c->data += data;
	c->left -= data;
}

/*
 * Takes one execution of a block, of which the first `insns` instructions were executed and have
 * values.  Records the part that is in the window.  A part that does not reach the block's end is
 * the last in its record: the run or the window ends there.
 */
static int take_block_part(struct vt_recording *r, struct rc_process *p, struct cursor *cur,
			   uint32_t id, uint32_t insns, struct vt_error *err)
{
	uint64_t sum = id < r->blocks.end ? r->blocks.sums[id] : RC_UNKNOWN;
	uint32_t begin, end, data, before;
	struct sum part = {.low = id, .high = id};

	if (sum == RC_UNKNOWN)
		return vti_rc_damaged(err, bad_id);
	if (insns > rc_sum_insns(sum))
		return vti_rc_damaged(err, "part of a block that is longer than it");
	data = vti_rc_data_before(&r->blocks, id, insns);
	if (data > cur->left)
		return vti_rc_damaged(err, bad_values);
	begin = p->skip < insns ? (uint32_t)p->skip : insns;
	end = p->count < insns - begin ? begin + (uint32_t)p->count : insns;
	p->skip -= begin;
	if (begin && (begin != p->window_skip || begin == insns))
		p->window_tid = 0;
	if (begin || r->chunk->n == RC_CHUNK_IDS || r->chunk->size + data > RC_CHUNK_DATA)
		put_chunk(r, p);
	if (begin)
		p->threads[p->running].dropped = true;
	if (begin < end) {
		before = vti_rc_data_before(&r->blocks, id, begin);
		part.insns = end - begin;
		part.data = vti_rc_data_before(&r->blocks, id, end) - before;
		r->chunk->ids[r->chunk->n] = id;
		append_blocks(r->chunk, 1, &part, cur->data + before);
		r->chunk->skip = begin ? begin : r->chunk->skip;
		if (p->count != UINT64_MAX)
			p->count -= end - begin;
	}
	advance_cursor(cur, 1, data);
	return 0;
}

/* Takes the first of n blocks, and as many more as the window and the current record allow. */
static int take_blocks_batch(struct vt_recording *r, struct rc_process *p, struct cursor *cur,
			     size_t n, struct vt_error *err)
{
	struct rc_chunk *c = r->chunk;
	uint64_t room = p->skip ? p->skip : p->count;
	struct sum sum;
	uint32_t *ids;

	n = n < RC_BATCH ? n : RC_BATCH;
	if (c->n + n > RC_CHUNK_IDS)
		put_chunk(r, p);
	/* A copy: the recorded program could change the ids between the check and the use. */
	ids = c->ids + c->n;
	memcpy(ids, cur->ids, n * sizeof(*ids));
	sum = sum_run_blocks(&r->blocks, ids, n);
	if (!sum.unknown && c->n && c->size + sum.data > RC_CHUNK_DATA) {
		put_chunk(r, p);
		ids = memmove(c->ids, ids, n * sizeof(*ids));
	}
	while (n > 1 && (sum.unknown || sum.data > cur->left || sum.insns > room ||
			 (!p->skip && sum.data > RC_CHUNK_DATA))) {
		n /= 2;
		sum = sum_run_blocks(&r->blocks, ids, n);
	}
	if (sum.unknown)
		return vti_rc_damaged(err, bad_id);
	if (sum.data > cur->left)
		return vti_rc_damaged(err, bad_values);
	if (sum.insns > room)
		return take_block_part(r, p, cur, ids[0], (uint32_t)sum.insns, err);
	if (p->skip) {
		p->skip -= sum.insns;
		p->window_tid = 0;
		p->threads[p->running].dropped = true;
	} else {
		append_blocks(c, n, &sum, cur->data);
		if (p->count != UINT64_MAX)
			p->count -= sum.insns;
	}
	advance_cursor(cur, n, sum.data);
	return 0;
}

/* Takes all blocks of a run, the last one in part if `partial`. */
static int take_run_blocks(struct vt_recording *r, struct rc_process *p, struct cursor *cur,
			   uint32_t partial, struct vt_error *err)
{
	size_t last = partial ? 1 : 0;
	int rc = 0;

	while (rc == 0 && cur->n > last && p->count)
		rc = take_blocks_batch(r, p, cur, cur->n - last, err);
	if (rc == 0 && cur->n && p->count) {
		uint32_t id;

		memcpy(&id, cur->ids, sizeof(id));
		rc = take_block_part(r, p, cur, id, partial, err);
	}
	return rc;
}

int vti_rc_run(struct vt_recording *r, struct rc_process *p, const struct rc_run *run,
	       struct vt_error *err)
{
	struct cursor cur = {run->ids, run->n, run->data, run->size};
	struct rc_thread *t = &p->threads[p->running];
	int rc = 0;

	if (run->partial && !run->n)
		return vti_rc_damaged(err, "part of a block where there is none");
	if (r->opt.toggle && !t->inside) {
		t->dropped |= run->n > 0;
		return 0;
	}
	if (p->count)
		rc = take_run_blocks(r, p, &cur, run->partial, err);
	if (!run->open || rc < 0)
		put_chunk(r, p);
	if (!p->count)
		stop_after_window(r, p);
	else if (rc == 0 && cur.left && !run->cut)
		rc = vti_rc_damaged(err, bad_values);
	/* The last data of a process that died may be incomplete. */
	return rc == -VT_E_DAMAGED && run->cut ? 0 : rc;
}
