/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/bytes.h"
#include "formats/recording/session.h"

/* What is still to be read of a run. */
struct cursor {
	const uint8_t *ids;
	size_t n;
	const uint8_t *data;
	size_t left;
};

/* What some blocks add up to. */
struct sum {
	uint64_t insns;
	size_t data;
	uint32_t low, high;
	bool unknown; /* there is a block among them that was not told */
};

static const char bad_values[] = "values that do not fit the blocks";
static const char bad_id[] = "a basic block that was not told";

static int damaged(struct vt_error *err, const char *why)
{
	return vt_error_set(err, VT_E_DAMAGED, "%s", why);
}

/* The smallest and the largest id; as signed numbers, which processors compare many at a time. */
static void find_range(const uint32_t *ids, size_t n, struct sum *sum)
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

static struct sum sum_up(const struct rc_blocks *t, const uint32_t *ids, size_t n)
{
	uint64_t even = 0, odd = 0;
	struct sum sum;
	size_t i;

	find_range(ids, n, &sum);
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

/* Says that the thread was not recorded until here. */
static void put_edge(struct vt_recording *r, const struct rc_process *p, struct rc_thread *t)
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

static void pack_ids(struct rc_chunk *c, unsigned width)
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
		put_edge(r, p, t);
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
	pack_ids(c, width);
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

/* Counts n blocks, whose ids are in their place already and whose values begin at `data`. */
static void append(struct rc_chunk *c, size_t n, const struct sum *sum, const uint8_t *data)
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

/* ---- windows ---- */

bool vti_rc_in_window(const struct vt_recording *r, const struct rc_process *p)
{
	return !p->skip && p->count && (!r->opt.toggle || p->threads[p->running].inside);
}

/* What is inside the window is over: nobody needs more unless other processes do. */
static void note_end(struct vt_recording *r, const struct rc_process *p)
{
	if (!p->count && !r->opt.follow)
		vt_recording_stop(r);
}

static void consume(struct cursor *c, size_t n, size_t data)
{
	c->ids += n * sizeof(uint32_t);
	c->n -= n;
	c->data += data;
	c->left -= data;
}

/*
 * One execution of a block, of which the first `insns` instructions were executed and left their
 * values: the part of it that lies in the window.  After less than all of the block nothing follows
 * in its record: the run or the window ends there.
 */
static int take_one(struct vt_recording *r, struct rc_process *p, struct cursor *cur, uint32_t id,
		    uint32_t insns, struct vt_error *err)
{
	uint64_t sum = id < r->blocks.end ? r->blocks.sums[id] : RC_UNKNOWN;
	uint32_t begin, end, data, before;
	struct sum part = {.low = id, .high = id};

	if (sum == RC_UNKNOWN)
		return damaged(err, bad_id);
	if (insns > rc_sum_insns(sum))
		return damaged(err, "part of a block that is longer than it");
	data = vti_rc_data_before(&r->blocks, id, insns);
	if (data > cur->left)
		return damaged(err, bad_values);
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
		append(r->chunk, 1, &part, cur->data + before);
		r->chunk->skip = begin ? begin : r->chunk->skip;
		if (p->count != UINT64_MAX)
			p->count -= end - begin;
	}
	consume(cur, 1, data);
	return 0;
}

/* Takes the first of n blocks, and as many more as the window and the record at hand allow. */
static int take_some(struct vt_recording *r, struct rc_process *p, struct cursor *cur, size_t n,
		     struct vt_error *err)
{
	struct rc_chunk *c = r->chunk;
	uint64_t room = p->skip ? p->skip : p->count;
	struct sum sum;
	uint32_t *ids;

	n = n < RC_BATCH ? n : RC_BATCH;
	if (c->n + n > RC_CHUNK_IDS)
		put_chunk(r, p);
	/* The recorded program could change them between a check and their use. */
	ids = c->ids + c->n;
	memcpy(ids, cur->ids, n * sizeof(*ids));
	sum = sum_up(&r->blocks, ids, n);
	if (!sum.unknown && c->n && c->size + sum.data > RC_CHUNK_DATA) {
		put_chunk(r, p);
		ids = memmove(c->ids, ids, n * sizeof(*ids));
	}
	while (n > 1 && (sum.unknown || sum.data > cur->left || sum.insns > room ||
			 (!p->skip && sum.data > RC_CHUNK_DATA))) {
		n /= 2;
		sum = sum_up(&r->blocks, ids, n);
	}
	if (sum.unknown)
		return damaged(err, bad_id);
	if (sum.data > cur->left)
		return damaged(err, bad_values);
	if (sum.insns > room)
		return take_one(r, p, cur, ids[0], (uint32_t)sum.insns, err);
	if (p->skip) {
		p->skip -= sum.insns;
		p->window_tid = 0;
		p->threads[p->running].dropped = true;
	} else {
		append(c, n, &sum, cur->data);
		if (p->count != UINT64_MAX)
			p->count -= sum.insns;
	}
	consume(cur, n, sum.data);
	return 0;
}

/* The blocks up to a last one of which only a part was executed, or all of them. */
static int take_all(struct vt_recording *r, struct rc_process *p, struct cursor *cur,
		    uint32_t partial, struct vt_error *err)
{
	size_t last = partial ? 1 : 0;
	int rc = 0;

	while (rc == 0 && cur->n > last && p->count)
		rc = take_some(r, p, cur, cur->n - last, err);
	if (rc == 0 && cur->n && p->count) {
		uint32_t id;

		memcpy(&id, cur->ids, sizeof(id));
		rc = take_one(r, p, cur, id, partial, err);
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
		return damaged(err, "part of a block where there is none");
	if (r->opt.toggle && !t->inside) {
		t->dropped |= run->n > 0;
		return 0;
	}
	if (p->count)
		rc = take_all(r, p, &cur, run->partial, err);
	put_chunk(r, p);
	if (!p->count)
		note_end(r, p);
	else if (rc == 0 && cur.left && !run->cut)
		rc = damaged(err, bad_values);
	/* Of what a dying process wrote, the last may be there in part. */
	return rc == -VT_E_DAMAGED && run->cut ? 0 : rc;
}
