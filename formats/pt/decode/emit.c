/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/decode/emit.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/intern.h"
#include "formats/pt/block.h"
#include "stream/kinds.h"

#define RUN_BLOCKS 65536 /* of an EXEC record, at most */
#define STRIDE	   1024	 /* blocks handled together: they stay in the first-level cache */

/* A block that was written: its number in the hash table is its id. */
struct block_key {
	int64_t pid;
	uint64_t addr;
	uint32_t size;
	uint32_t mode;
	uint32_t code; /* its bytes, by vt_intern_add() */
	uint32_t unused;
};

struct process {
	int64_t pid;
	uint64_t insns;
};

/* Buffered blocks, which will be one record. */
struct exec_run {
	uint32_t n;
	bool wide;	 /* an id is above 65535: all are in wide_ids, else in packed */
	uint8_t *packed; /* as in the record: 2 or 4 bytes each */
	size_t packed_cap;
	uint32_t *wide_ids;
	uint64_t insns;
	uint64_t tsc, cycles; /* when it began */
	uint64_t *at, *at_tsc, *at_cycles;
	size_t ntimes;
	size_t at_cap, tsc_cap, cycles_cap;
	bool has_cycles;
};

/* The ids of an engine's block indexes. */
struct id_map {
	struct vt_pt_blocks *of;
	uint32_t *ids;	 /* VT_PT_NO_ID: not executed yet */
	uint16_t *insns; /* of the block */
	size_t ids_cap, insns_cap;
	uint32_t n;
	uint32_t last; /* an index that has an id, if any has */
};

struct vt_pt_emit {
	struct vt_writer *w;
	struct vt_pt_timeconv conv;
	struct vt_pt_totals totals;
	struct vt_hash blocks;	  /* struct block_key */
	struct vt_intern *code;	  /* of blocks */
	struct vt_hash processes; /* struct process */
	bool started;
	int64_t pid, tid;
	uint64_t first; /* instructions of the process before the run */
	struct exec_run run;
	struct id_map map;
	uint64_t tsc, cycles; /* now */
	uint64_t time;	      /* ns, where there is no TSC */
	bool moved;	      /* tsc or cycles changed, and no block has begun since */
};

uint64_t vt_pt_time(const struct vt_pt_timeconv *conv, uint64_t tsc)
{
	uint64_t whole, rest;

	if (!conv->known || !tsc || conv->shift > 63)
		return 0;
	whole = tsc >> conv->shift;
	rest = tsc & ((1ULL << conv->shift) - 1);
	/* The product has up to 95 bits; those below `shift` are dropped. */
	return conv->zero + whole * conv->mult +
	       (conv->shift <= 32
			? rest * conv->mult >> conv->shift
			: ((rest >> 32) * conv->mult + ((rest & UINT32_MAX) * conv->mult >> 32)) >>
				  (conv->shift - 32));
}

struct vt_pt_emit *vt_pt_emit_new(struct vt_writer *w, const struct vt_pt_timeconv *conv)
{
	struct vt_pt_emit *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->w = w;
	if (conv)
		e->conv = *conv;
	vt_hash_init(&e->blocks, sizeof(struct block_key), sizeof(struct block_key));
	vt_hash_init(&e->processes, sizeof(struct process), sizeof(int64_t));
	e->code = vt_intern_new();
	if (!e->code) {
		vt_pt_emit_free(e);
		return NULL;
	}
	return e;
}

void vt_pt_emit_free(struct vt_pt_emit *e)
{
	if (!e)
		return;
	vt_hash_fini(&e->blocks);
	vt_hash_fini(&e->processes);
	vt_intern_free(e->code);
	free(e->run.packed);
	free(e->run.wide_ids);
	free(e->run.at);
	free(e->run.at_tsc);
	free(e->run.at_cycles);
	free(e->map.ids);
	free(e->map.insns);
	free(e);
}

const struct vt_pt_totals *vt_pt_emit_totals(const struct vt_pt_emit *e)
{
	return &e->totals;
}

/* ---- blocks ---- */

static void put_block(struct vt_pt_emit *e, uint32_t id, const struct vt_pt_block *k)
{
	uint64_t *row = vt_writer_row(e->w, VT_BLOCK);

	row[VT_BLOCK_ID] = id;
	row[VT_BLOCK_PID] = (uint64_t)e->pid;
	row[VT_BLOCK_ADDR] = k->addr;
	row[VT_BLOCK_SIZE] = k->size;
	row[VT_BLOCK_INSNS] = k->insns;
	row[VT_BLOCK_END] = vt_pt_end_kind(k->end);
	row[VT_BLOCK_TARGET] = k->target;
	row[VT_BLOCK_MODE] = k->mode == 64 ? 0 : k->mode;
	vt_writer_bytes(e->w, VT_BLOCK_LENGTHS, vt_pt_block_lengths(e->map.of, k), k->insns);
	vt_writer_bytes(e->w, VT_BLOCK_CODE, vt_pt_block_code(e->map.of, k), k->size);
}

/* True if the id of a block is valid in this process. */
static bool is_own_block(const struct vt_pt_emit *e, const struct vt_pt_block *k)
{
	const struct block_key *key;

	if (k->id >= e->blocks.count)
		return false;
	key = vt_hash_at(&e->blocks, k->id);
	return key->pid == e->pid && key->addr == k->addr && key->size == k->size;
}

/* Gives a block index its id.  Writes the block if it is new. */
static int define_block(struct vt_pt_emit *e, uint32_t index, struct vt_error *err)
{
	struct id_map *m = &e->map;
	struct vt_pt_block *k = vt_pt_blocks_get(m->of, index);

	if (!is_own_block(e, k)) {
		struct block_key key = {
			.pid = e->pid, .addr = k->addr, .size = k->size, .mode = k->mode};
		struct block_key *found;
		bool added;

		key.code = vt_intern_add(e->code, vt_pt_block_code(m->of, k), k->size);
		if (key.code == UINT32_MAX)
			return vt_error_nomem(err);
		found = vt_hash_add(&e->blocks, &key, &added);
		if (!found)
			return vt_error_nomem(err);
		k->id = (uint32_t)(((uint8_t *)found - e->blocks.entries) / sizeof(*found));
		if (added)
			put_block(e, k->id, k);
	}
	m->ids[index] = k->id;
	m->last = index;
	return 0;
}

/* Makes the id map fit a table of blocks, which may be another one or have grown. */
static int set_map(struct vt_pt_emit *e, struct vt_pt_blocks *of, struct vt_error *err)
{
	struct id_map *m = &e->map;
	uint32_t count = vt_pt_blocks_count(of), i;

	/* Another table may lie at the address of one that has been freed. */
	if (m->of != of || count < m->n ||
	    (m->n && m->ids[m->last] != VT_PT_NO_ID &&
	     vt_pt_blocks_get(of, m->last)->id != m->ids[m->last]))
		m->n = m->last = 0;
	m->of = of;
	if (count == m->n)
		return 0;
	if (!vt_array_grow(&m->ids, &m->ids_cap, count, sizeof(*m->ids)) ||
	    !vt_array_grow(&m->insns, &m->insns_cap, count, sizeof(*m->insns)))
		return vt_error_nomem(err);
	for (i = m->n; i < count; i++) {
		m->ids[i] = VT_PT_NO_ID;
		m->insns[i] = vt_pt_blocks_get(of, i)->insns;
	}
	m->n = count;
	return 0;
}

/* ---- runs ---- */

/* Packs ids that may be above 65535 as in the record.  Returns the bytes of each. */
static unsigned pack_wide(struct exec_run *r, uint32_t *base_out)
{
	uint32_t base = UINT32_MAX, high = 0, i;

	for (i = 0; i < r->n; i++) {
		base = r->wide_ids[i] < base ? r->wide_ids[i] : base;
		high = r->wide_ids[i] > high ? r->wide_ids[i] : high;
	}
	*base_out = base;
	if (high - base <= UINT16_MAX) {
		for (i = 0; i < r->n; i++)
			vt_put_le16(r->packed + 2 * (size_t)i, (uint16_t)(r->wide_ids[i] - base));
		return 2;
	}
	for (i = 0; i < r->n; i++)
		vt_put_le32(r->packed + 4 * (size_t)i, r->wide_ids[i] - base);
	return 4;
}

static void put_run(struct vt_pt_emit *e)
{
	struct exec_run *r = &e->run;
	uint32_t base = 0;
	unsigned width;
	uint64_t *row;

	if (!r->n)
		return;
	width = r->wide ? pack_wide(r, &base) : 2;
	row = vt_writer_row(e->w, VT_EXEC);
	row[VT_EXEC_TIME] = r->tsc ? vt_pt_time(&e->conv, r->tsc) : e->time;
	row[VT_EXEC_PID] = (uint64_t)e->pid;
	row[VT_EXEC_TID] = (uint64_t)e->tid;
	row[VT_EXEC_FIRST] = e->first;
	row[VT_EXEC_BLOCKS] = r->n;
	row[VT_EXEC_INSNS] = r->insns;
	row[VT_EXEC_BASE] = base;
	row[VT_EXEC_WIDTH] = width;
	row[VT_EXEC_TSC] = r->tsc;
	row[VT_EXEC_CYCLES] = r->cycles;
	vt_writer_bytes(e->w, VT_EXEC_IDS, r->packed, (size_t)r->n * width);
	if (r->ntimes) {
		vt_writer_words(e->w, VT_EXEC_TIME_AT, r->at, r->ntimes);
		vt_writer_words(e->w, VT_EXEC_TIME_TSC, r->at_tsc, r->ntimes);
		if (r->has_cycles)
			vt_writer_words(e->w, VT_EXEC_TIME_CYCLES, r->at_cycles, r->ntimes);
	}
	e->first += r->insns;
	e->totals.insns += r->insns;
	e->totals.blocks += r->n;
	r->n = 0;
}

/* Adds a time mark for the next block, number n of the run. */
static int mark_run_time(struct vt_pt_emit *e, uint32_t n, struct vt_error *err)
{
	struct exec_run *r = &e->run;

	e->moved = false;
	r->has_cycles |= e->cycles != 0;
	if (!n) {
		r->tsc = e->tsc;
		r->cycles = e->cycles;
		return 0;
	}
	if (!vt_array_grow(&r->at, &r->at_cap, r->ntimes + 1, sizeof(*r->at)) ||
	    !vt_array_grow(&r->at_tsc, &r->tsc_cap, r->ntimes + 1, sizeof(*r->at_tsc)) ||
	    !vt_array_grow(&r->at_cycles, &r->cycles_cap, r->ntimes + 1, sizeof(*r->at_cycles)))
		return vt_error_nomem(err);
	r->at[r->ntimes] = n;
	r->at_tsc[r->ntimes] = e->tsc;
	r->at_cycles[r->ntimes++] = e->cycles;
	return 0;
}

static void set_time(struct vt_pt_emit *e, uint64_t tsc, uint64_t cycles)
{
	if (tsc == e->tsc && cycles == e->cycles)
		return;
	e->tsc = tsc;
	e->cycles = cycles;
	e->moved = true;
}

/* Moves the ids of the run to wide_ids. */
static int widen_run_ids(struct exec_run *r, struct vt_error *err)
{
	uint32_t i;

	if (!r->wide_ids)
		r->wide_ids = malloc(RUN_BLOCKS * sizeof(*r->wide_ids));
	if (!r->wide_ids)
		return vt_error_nomem(err);
	for (i = 0; i < r->n; i++)
		r->wide_ids[i] = vt_le16(r->packed + 2 * (size_t)i);
	r->wide = true;
	return 0;
}

/*
 * Appends the ids of some indexes, if all have one that fits 16 bits; else nothing.  Most of the
 * run time is spent here, so there is only one look-up for each block.
 */
static bool append_narrow(struct exec_run *r, const struct id_map *m, const uint32_t *indexes,
			  uint32_t n)
{
	const uint32_t *ids = m->ids;
	uint8_t *to = r->packed + 2 * (size_t)r->n;
	uint32_t bits = 0, i;

	for (i = 0; i < n; i++) {
		uint32_t id = ids[indexes[i]];

		vt_put_le16(to + 2 * (size_t)i, (uint16_t)id);
		bits |= id;
	}
	if (bits > UINT16_MAX)
		return false;
	r->n += n;
	return true;
}

/* The same for any ids. */
static int append_wide(struct exec_run *r, const struct id_map *m, const uint32_t *indexes,
		       uint32_t n, struct vt_error *err)
{
	uint32_t i;

	if (!r->wide && widen_run_ids(r, err) < 0)
		return -VT_E_NOMEM;
	for (i = 0; i < n; i++)
		r->wide_ids[r->n + i] = m->ids[indexes[i]];
	r->n += n;
	return 0;
}

static int take_ids(struct vt_pt_emit *e, const uint32_t *indexes, uint32_t n, struct vt_error *err)
{
	struct id_map *m = &e->map;
	uint32_t i, k, part;

	for (i = 0; i < n; i += part) {
		part = n - i < STRIDE ? n - i : STRIDE;
		if (!e->run.wide && append_narrow(&e->run, m, indexes + i, part))
			continue;
		for (k = 0; k < part; k++) {
			if (m->ids[indexes[i + k]] == VT_PT_NO_ID &&
			    define_block(e, indexes[i + k], err) < 0)
				return -VT_E_NOMEM;
		}
		if (!e->run.wide && append_narrow(&e->run, m, indexes + i, part))
			continue;
		if (append_wide(&e->run, m, indexes + i, part, err) < 0)
			return -VT_E_NOMEM;
	}
	return 0;
}

/* ---- batches ---- */

/* The part of a batch that has not been taken yet. */
struct rest {
	const struct vt_pt_batch *batch;
	uint32_t pos;
	uint64_t insns;
	size_t time;
};

static uint64_t sum_insns(const struct id_map *m, const uint32_t *indexes, size_t n)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += m->insns[indexes[i]];
	return sum;
}

/* The instructions of the next n blocks.  Sums up these or the others, whichever are fewer. */
static uint64_t count_insns(const struct id_map *m, const struct rest *rest, uint32_t n)
{
	const uint32_t *ids = rest->batch->ids + rest->pos;
	size_t after = rest->batch->nids - rest->pos - n;

	return n <= after ? sum_insns(m, ids, n) : rest->insns - sum_insns(m, ids + n, after);
}

/* Takes the times before block `end` of the batch. */
static int take_times(struct vt_pt_emit *e, struct rest *rest, uint32_t end, struct vt_error *err)
{
	const struct vt_pt_batch *b = rest->batch;
	uint32_t n = e->run.n;
	int rc = 0;

	if (!n) {
		e->run.ntimes = 0;
		e->run.has_cycles = false;
		e->moved = true;
	}
	/* A time between blocks is that of the next block. */
	for (; rc == 0 && rest->time < b->ntimes && b->times[rest->time].at <= rest->pos;
	     rest->time++)
		set_time(e, b->times[rest->time].tsc, b->times[rest->time].cycles);
	if (e->moved)
		rc = mark_run_time(e, n, err);
	while (rc == 0 && rest->time < b->ntimes && b->times[rest->time].at < end) {
		uint32_t at = b->times[rest->time].at;

		for (; rest->time < b->ntimes && b->times[rest->time].at == at; rest->time++)
			set_time(e, b->times[rest->time].tsc, b->times[rest->time].cycles);
		if (e->moved)
			rc = mark_run_time(e, n + at - rest->pos, err);
	}
	return rc;
}

/* Takes the blocks before number `end` of the batch. */
static int take_blocks(struct vt_pt_emit *e, struct rest *rest, uint32_t end, struct vt_error *err)
{
	int rc = 0;

	while (rc == 0 && rest->pos < end) {
		struct exec_run *r = &e->run;
		uint32_t room = RUN_BLOCKS - r->n;
		uint32_t n = end - rest->pos < room ? end - rest->pos : room;
		uint64_t insns = count_insns(&e->map, rest, n);

		if (!r->n) {
			r->insns = 0;
			r->wide = false;
		}
		rc = vt_array_grow(&r->packed, &r->packed_cap, (r->n + (size_t)n) * 4, 1)
			     ? take_times(e, rest, rest->pos + n, err)
			     : vt_error_nomem(err);
		if (rc == 0)
			rc = take_ids(e, rest->batch->ids + rest->pos, n, err);
		r->insns += insns;
		rest->insns -= insns;
		rest->pos += n;
		if (r->n == RUN_BLOCKS)
			put_run(e);
	}
	return rc;
}

/* ---- notes ---- */

static void put_gap_row(struct vt_pt_emit *e, const struct vt_pt_context *ctx,
			const struct vt_pt_note *n)
{
	bool overflow = n->type == VT_PT_NOTE_OVERFLOW;
	uint64_t *row = vt_writer_row(e->w, VT_GAP);

	row[VT_GAP_TIME] = vt_pt_time(&e->conv, e->tsc);
	row[VT_GAP_PID] = (uint64_t)e->pid;
	row[VT_GAP_TID] = (uint64_t)e->tid;
	row[VT_GAP_CPU] = ctx->cpu < 0 ? 0 : (uint64_t)ctx->cpu;
	row[VT_GAP_OFFSET] = ctx->offset + n->offset;
	row[VT_GAP_BYTES] = n->bytes;
	row[VT_GAP_ADDR] = !overflow && n->has_ip ? n->ip : 0;
	vt_writer_text(e->w, VT_GAP_REASON, overflow ? "overflow" : vt_pt_error_text(n->error));
	vt_writer_text(e->w, VT_GAP_INPUT, ctx->input ? ctx->input : "");
	e->totals.gaps++;
	e->totals.overflows += overflow;
	e->totals.skipped += n->bytes;
}

static void put_ptwrite_row(struct vt_pt_emit *e, const struct vt_pt_note *n)
{
	uint64_t *row = vt_writer_row(e->w, VT_VALUE);

	row[VT_VALUE_TIME] = vt_pt_time(&e->conv, e->tsc);
	row[VT_VALUE_PID] = (uint64_t)e->pid;
	row[VT_VALUE_TID] = (uint64_t)e->tid;
	row[VT_VALUE_IP] = n->has_ip ? n->ip : 0;
	row[VT_VALUE_WHAT] = VT_WHAT_PTWRITE;
	row[VT_VALUE_SIZE] = n->extra;
	row[VT_VALUE_VALUE] = n->value;
}

static void put_trace_row(struct vt_pt_emit *e, const struct vt_pt_context *ctx,
			  const struct vt_pt_note *n, enum vt_trace_event event)
{
	uint64_t *row = vt_writer_row(e->w, VT_TRACE);

	row[VT_TRACE_TIME] = vt_pt_time(&e->conv, e->tsc);
	row[VT_TRACE_PID] = (uint64_t)e->pid;
	row[VT_TRACE_TID] = (uint64_t)e->tid;
	row[VT_TRACE_CPU] = (uint64_t)ctx->cpu;
	row[VT_TRACE_FIRST] = e->first;
	row[VT_TRACE_TSC] = e->tsc;
	row[VT_TRACE_CYCLES] = e->cycles;
	row[VT_TRACE_EVENT] = event;
	row[VT_TRACE_IP] = n->has_ip ? n->ip : 0;
	row[VT_TRACE_TO] = n->has_to ? n->to : 0;
	row[VT_TRACE_VALUE] = n->value;
	row[VT_TRACE_EXTRA] = event == VT_TRACE_PAGING ? n->flag : n->extra;
}

static void take_note(struct vt_pt_emit *e, const struct vt_pt_context *ctx,
		      const struct vt_pt_note *n)
{
	static const enum vt_trace_event events[VT_PT_NNOTES] = {
		[VT_PT_NOTE_ENABLED] = VT_TRACE_ENABLED,
		[VT_PT_NOTE_DISABLED] = VT_TRACE_DISABLED,
		[VT_PT_NOTE_ASYNC_DISABLED] = VT_TRACE_ASYNC_DISABLED,
		[VT_PT_NOTE_ASYNC_BRANCH] = VT_TRACE_ASYNC_BRANCH,
		[VT_PT_NOTE_PAGING] = VT_TRACE_PAGING,
		[VT_PT_NOTE_VMCS] = VT_TRACE_VMCS,
		[VT_PT_NOTE_EXEC_MODE] = VT_TRACE_EXEC_MODE,
		[VT_PT_NOTE_TSX] = VT_TRACE_TSX,
		[VT_PT_NOTE_STOP] = VT_TRACE_STOP,
		[VT_PT_NOTE_EXSTOP] = VT_TRACE_EXSTOP,
		[VT_PT_NOTE_MWAIT] = VT_TRACE_MWAIT,
		[VT_PT_NOTE_PWRE] = VT_TRACE_PWRE,
		[VT_PT_NOTE_PWRX] = VT_TRACE_PWRX,
		[VT_PT_NOTE_CBR] = VT_TRACE_CBR,
		[VT_PT_NOTE_MNT] = VT_TRACE_MNT,
	};

	/* A repeated state gives no record. */
	if (n->status)
		return;
	put_run(e);
	if (n->tsc || n->cycles)
		set_time(e, n->tsc, n->cycles);
	if (n->type == VT_PT_NOTE_OVERFLOW || n->type == VT_PT_NOTE_ERROR)
		put_gap_row(e, ctx, n);
	else if (n->type == VT_PT_NOTE_PTWRITE)
		put_ptwrite_row(e, n);
	else
		put_trace_row(e, ctx, n, events[n->type]);
}

/* ---- threads ---- */

static int set_thread(struct vt_pt_emit *e, const struct vt_pt_context *ctx, struct vt_error *err)
{
	struct process *p;

	if (e->started && e->pid == ctx->pid && e->tid == ctx->tid)
		return 0;
	put_run(e);
	if (e->started) {
		p = vt_hash_find(&e->processes, &e->pid);
		p->insns = e->first;
	}
	p = vt_hash_add(&e->processes, &ctx->pid, NULL);
	if (!p)
		return vt_error_nomem(err);
	/* Ids are of a process: the map holds those of the previous one. */
	if (!e->started || e->pid != ctx->pid)
		e->map.n = 0;
	e->started = true;
	e->pid = ctx->pid;
	e->tid = ctx->tid;
	e->first = p->insns;
	set_time(e, 0, 0);
	return 0;
}

int vt_pt_emit_batch(struct vt_pt_emit *e, const struct vt_pt_context *ctx,
		     const struct vt_pt_batch *batch, struct vt_error *err)
{
	struct rest rest = {.batch = batch, .insns = batch->insns};
	size_t i;
	int rc = set_thread(e, ctx, err);

	if (!e->run.n)
		e->time = ctx->time;
	if (rc == 0 && batch->nids)
		rc = set_map(e, batch->blocks, err);
	for (i = 0; i < batch->nnotes && rc == 0; i++) {
		rc = take_blocks(e, &rest, batch->notes[i].at, err);
		if (rc == 0)
			take_note(e, ctx, &batch->notes[i]);
	}
	if (rc == 0)
		rc = take_blocks(e, &rest, (uint32_t)batch->nids, err);
	for (; rest.time < batch->ntimes; rest.time++)
		set_time(e, batch->times[rest.time].tsc, batch->times[rest.time].cycles);
	return rc < 0 ? rc : vt_writer_error(e->w, err);
}

int vt_pt_emit_flush(struct vt_pt_emit *e, struct vt_error *err)
{
	put_run(e);
	return vt_writer_error(e->w, err);
}
