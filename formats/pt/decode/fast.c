/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "formats/pt/decode/parallel.h"
#include "formats/pt/decode/walk.h"

#define LOCK_TRIES 1000

/* ---- the walk -------------------------------------------------------------------- */

/* Blocks of the code of one address space. */
struct space {
	const struct vt_pt_code *code;
	struct vt_pt_blocks *blocks;
};

struct vt_pt_engine {
	struct vti_pt_walk walk;
	struct vti_pt_query query;
	struct space *spaces;
	size_t nspaces;
	uint64_t generation; /* of the code that runs were made of */
	bool careful;	     /* do without the accelerator */
	struct vti_pt_parallel *parallel;
	bool begun;
};

bool vti_pt_walk_grow_times(struct vti_pt_walk *w)
{
	size_t size = w->times_size ? w->times_size * 2 : 256;
	struct vt_pt_mark_time *times = realloc(w->times, size * sizeof(*times));

	if (!times) {
		w->error = -VT_E_NOMEM;
		return false;
	}
	w->times = times;
	w->times_size = size;
	return true;
}

void vti_pt_walk_lock(struct vti_pt_walk *w)
{
	unsigned tries = LOCK_TRIES;

	if (!w->lock)
		return;
	while (pthread_mutex_trylock(w->lock) != 0) {
		if (!tries--) {
			pthread_mutex_lock(w->lock);
			return;
		}
	}
}

void vti_pt_walk_unlock(struct vti_pt_walk *w)
{
	if (w->lock)
		pthread_mutex_unlock(w->lock);
}

static enum vt_pt_error error_of(int fault)
{
	switch (fault) {
	case VTI_PT_OPCODE:
	case VTI_PT_PACKET:
	case VTI_PT_CONTEXT:
		return VT_PT_ERR_BAD_PACKET;
	case VTI_PT_NOMAP:
		return VT_PT_ERR_NO_CODE;
	case VTI_PT_INSN:
		return VT_PT_ERR_BAD_CODE;
	case VTI_PT_QUERY:
	case VTI_PT_DISABLED:
	case VTI_PT_STATUS:
		return VT_PT_ERR_MISMATCH;
	case VTI_PT_RETSTACK:
	case VTI_PT_RETCOMP:
		return VT_PT_ERR_RETURN;
	case VTI_PT_NOIP:
	case VTI_PT_SUPPRESSED:
		return VT_PT_ERR_NO_IP;
	case VTI_PT_LOOP:
		return VT_PT_ERR_LOOP;
	default:
		return VT_PT_ERR_OTHER;
	}
}

static uint64_t position(const struct vti_pt_walk *w)
{
	return (uint64_t)(w->pos - w->begin);
}

/* Goes on at the next PSB that is good; its offset, or that of the end. */
static uint64_t synchronise(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = w->query;

	q->has_mode = false;
	for (;;) {
		q->status = vti_pt_walk_sync(w);
		if (q->status >= 0)
			return (uint64_t)(q->sync - w->begin);
		if (q->status == -VTI_PT_EOS || w->error) {
			q->ended = true;
			return (uint64_t)(w->end - w->begin);
		}
	}
}

static void synchronised(struct vti_pt_walk *w, uint64_t offset, bool gap)
{
	if (w->query->ended)
		return;
	if (gap)
		vti_pt_cursor_sync(&w->query->cursor, offset);
	else
		vti_pt_cursor_begin(&w->query->cursor, offset);
	vti_pt_walk_mark(w, &w->query->cursor.timing);
}

static void start(struct vti_pt_walk *w)
{
	uint64_t sync = synchronise(w), i = 0;
	struct vt_pt_note n = {
		.type = VT_PT_NOTE_ERROR,
		.error = VT_PT_ERR_BAD_PACKET,
		.bytes = sync,
	};

	w->query->started = true;
	while (i < sync && w->begin[i] == 0)
		i++;
	if (i < sync && !vti_pt_walk_note(w, &n))
		return;
	synchronised(w, sync, false);
}

/* Nothing could be decoded from here on. */
static void gap(struct vti_pt_walk *w, int fault, uint64_t offset)
{
	struct vti_pt_query *q = w->query;
	struct vt_pt_note n = {
		.type = VT_PT_NOTE_ERROR,
		.error = (uint8_t)error_of(fault),
		.offset = offset,
		.tsc = q->cursor.timing.tsc,
		.cycles = q->cursor.timing.cycles,
	};
	uint64_t sync;

	if (n.error == VT_PT_ERR_NO_CODE || n.error == VT_PT_ERR_BAD_CODE) {
		n.has_ip = true;
		n.ip = w->ip;
	}
	if (fault == VTI_PT_EOS || fault == VTI_PT_NOSYNC) {
		q->ended = true;
		vti_pt_walk_flush(w);
		return;
	}
	if (vti_pt_walk_flush(w))
		return;
	w->pos = w->begin + offset;
	sync = synchronise(w);
	n.bytes = sync > n.offset ? sync - n.offset : 0;
	vti_pt_walk_moved(w);
	if (vti_pt_walk_note(w, &n))
		synchronised(w, sync, true);
}

/* ---- steps ------------------------------------------------------------------------ */

static bool is_lazy(const struct vti_pt_walk *w)
{
	const struct vti_pt_query *q = w->query;

	return w->enabled && w->mode && !w->tnt_count && !q->open_insns && !q->processing &&
	       !q->postponed && !q->consume && !q->queues[VTI_PT_BIND_TIP].count &&
	       !q->queues[VTI_PT_BIND_FUP].count && w->blocks && !(q->flags & VTI_PT_PENDING) &&
	       (q->next == VT_PT_TNT8 || q->next == VT_PT_TNT64 || q->next == VT_PT_TIP);
}

/* The clock at w->pos: the cursor stands behind the last packet used up. */
static bool clock_here(struct vti_pt_walk *w)
{
	const struct vti_pt_cursor *c = &w->query->cursor;
	const uint8_t *p = c->p;
	struct vt_pt_packet pkt;

	w->timing = w->settled = c->timing;
	w->used = p;
	for (; p < w->pos; p += pkt.size) {
		if (vti_pt_packet(w, &pkt, p) < 0)
			return false;
		vt_pt_timing_packet(&w->timing, &pkt);
	}
	return p == w->pos;
}

/* Lets the accelerator do what it can.  True if that was something. */
static bool run(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = w->query;
	int r;

	if (!clock_here(w))
		return false;
	w->saw_tsc = false;
	vti_pt_walk_unlock(w);
	r = vti_pt_run(w);
	vti_pt_walk_lock(w);
	if (r <= 0)
		return false;
	q->cursor.timing = w->settled;
	q->cursor.p = w->used;
	q->cursor.tnt = w->tnt_count;
	q->cursor.bip = 0;
	q->cursor.owed = VT_PT_END_FALL;
	/* What was put out last led to a decision. */
	q->branched = true;
	if (w->saw_tsc) {
		q->has_tsc = true;
		q->has_tma = false;
	}
	vti_pt_walk_moved(w);
	vti_pt_fetch(w->pos, w->end, &q->next);
	q->flags = q->next == VT_PT_TIP_PGD && !w->tnt_count ? VTI_PT_PENDING : 0;
	q->status = 0;
	return true;
}

/* *offset is where the gap begins if the block ends in one. */
static int next_block(struct vti_pt_walk *w, uint64_t *offset)
{
	struct vti_pt_query *q = w->query;
	unsigned end;
	int r;

	/* Nothing can be said of code of which the mode is not known. */
	if (w->enabled && !q->has_mode)
		return -VTI_PT_STATUS;
	q->decision = VT_PT_END_FALL;
	r = vti_pt_walk_block(w);
	end = q->decision;
	*offset = position(w);
	if (r != -VTI_PT_NOMEM && vti_pt_cursor_suppressed(&q->cursor, end, position(w), offset))
		return -VTI_PT_NOIP;
	if (r >= 0 && end != VT_PT_END_FALL && vti_pt_cursor_decide(&q->cursor, end, position(w)))
		vti_pt_walk_mark(w, &q->cursor.timing);
	return r;
}

static void step(struct vt_pt_engine *e)
{
	struct vti_pt_walk *w = &e->walk;
	struct vti_pt_query *q = w->query;
	uint64_t offset = position(w);
	int r = q->status;

	if (!q->started) {
		start(w);
		return;
	}
	if (r >= 0) {
		if (r & VTI_PT_PENDING) {
			r = vti_pt_walk_take(w);
			offset = position(w);
		} else if (r & VTI_PT_AT_END)
			r = -VTI_PT_EOS;
		else if (w->stop && w->pos >= w->stop && is_lazy(w)) {
			w->reached = true;
			return;
		} else if (!e->careful && is_lazy(w) && w->nids < VT_PT_BATCH && run(w))
			return;
		else
			r = next_block(w, &offset);
		q->status = r;
	}
	if (r < 0 && !q->stopped && !w->error)
		gap(w, -r, offset);
}

/* ---- the engine -------------------------------------------------------------------- */

static void close_engine(struct vt_pt_engine *e)
{
	size_t i;

	if (!e)
		return;
	vti_pt_parallel_free(e->parallel);
	vti_pt_run_free(&e->walk);
	for (i = 0; i < e->nspaces; i++)
		vt_pt_blocks_free(e->spaces[i].blocks);
	free(e->spaces);
	free(e->query.entered);
	free(e->walk.ids);
	free(e->walk.notes);
	free(e->walk.times);
	free(e);
}

static struct vt_pt_engine *open_any(const uint8_t *trace, size_t size,
				     const struct vt_pt_options *opt, bool careful,
				     struct vt_error *err)
{
	struct vt_pt_engine *e = calloc(1, sizeof(*e));
	struct vti_pt_walk *w;

	if (e) {
		w = &e->walk;
		w->begin = w->pos = trace;
		w->end = trace + size;
		w->opt = *opt;
		w->query = &e->query;
		w->ids_size = VT_PT_BATCH + VTI_PT_MARGIN;
		w->ids = malloc(w->ids_size * sizeof(*w->ids));
		e->careful = careful;
		e->query.turn = 1;
		e->query.next = VTI_PT_NONE;
		e->query.ended = !size;
		e->query.errata = vti_pt_errata(opt);
		vti_pt_cursor_init(&e->query.cursor, trace, size, opt);
	}
	if (!e || !e->walk.ids) {
		close_engine(e);
		vt_error_nomem(err);
		return NULL;
	}
	return e;
}

static struct vt_pt_engine *open_engine(const uint8_t *trace, size_t size,
					const struct vt_pt_options *opt, struct vt_error *err)
{
	return open_any(trace, size, opt, false, err);
}

static struct vt_pt_engine *open_careful(const uint8_t *trace, size_t size,
					 const struct vt_pt_options *opt, struct vt_error *err)
{
	return open_any(trace, size, opt, true, err);
}

static int set_code(struct vt_pt_engine *e, const struct vt_pt_code *code, struct vt_error *err)
{
	struct vti_pt_walk *w = &e->walk;
	struct space *s = NULL;
	size_t i;

	for (i = 0; i < e->nspaces && !s; i++) {
		if (e->spaces[i].code == code)
			s = &e->spaces[i];
	}
	if (!s) {
		s = realloc(e->spaces, (e->nspaces + 1) * sizeof(*s));
		if (!s)
			return vt_error_nomem(err);
		e->spaces = s;
		s += e->nspaces;
		s->code = code;
		s->blocks = vt_pt_blocks_new(code);
		if (!s->blocks)
			return vt_error_nomem(err);
		e->nspaces++;
	}
	if (w->blocks != s->blocks) {
		w->code = code;
		w->blocks = s->blocks;
		vti_pt_walk_moved(w);
		vti_pt_run_forget(w);
	}
	return 0;
}

static void begin_batch(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = w->query;
	struct vt_pt_note n = q->held;

	w->nids = w->nnotes = w->ntimes = 0;
	w->insns = 0;
	if (!q->stopped)
		return;
	q->stopped = false;
	if (vti_pt_walk_note(w, &n) && !q->stopped)
		vti_pt_walk_mark(w, &q->cursor.timing);
}

/* Runs and links between blocks are of the code that there was. */
static void note_change(struct vt_pt_engine *e)
{
	struct vti_pt_walk *w = &e->walk;

	if (!w->code || vt_pt_code_generation(w->code) == e->generation)
		return;
	e->generation = vt_pt_code_generation(w->code);
	vti_pt_walk_moved(w);
	vti_pt_run_forget(w);
}

static int next(struct vt_pt_engine *e, uint64_t until, struct vt_pt_batch *batch,
		struct vt_error *err)
{
	struct vti_pt_walk *w = &e->walk;
	struct vti_pt_query *q = w->query;

	if (q->ended && !q->stopped)
		return 0;
	note_change(e);
	q->until = until;
	begin_batch(w);
	w->reached = false;
	while (!w->error && !q->ended && !q->stopped && !w->reached &&
	       ((w->nids < VT_PT_BATCH && w->nnotes < VTI_PT_NOTES) || q->open_insns))
		step(e);
	if (w->error)
		return vt_error_nomem(err);
	*batch = (struct vt_pt_batch){
		.blocks = w->blocks,
		.ids = w->ids,
		.nids = w->nids,
		.insns = w->insns,
		.notes = w->notes,
		.nnotes = w->nnotes,
		.times = w->times,
		.ntimes = w->ntimes,
	};
	return 1;
}

/* The same by several threads, where there is nothing to stop for. */
static int next_of_many(struct vt_pt_engine *e, uint64_t until, struct vt_pt_batch *batch,
			struct vt_error *err)
{
	struct vti_pt_walk *w = &e->walk;

	if (!e->begun && w->opt.jobs > 1 && until == UINT64_MAX && w->blocks)
		e->parallel = vti_pt_parallel_new(e, w, w->opt.jobs);
	e->begun = true;
	if (!e->parallel)
		return next(e, until, batch, err);
	return vti_pt_parallel_next(e->parallel, batch, err);
}

struct vti_pt_walk *vti_pt_fast_walk(struct vt_pt_engine *e)
{
	return &e->walk;
}

int vti_pt_fast_next(struct vt_pt_engine *e, struct vt_pt_batch *batch, struct vt_error *err)
{
	return next(e, UINT64_MAX, batch, err);
}

const struct vt_pt_engine_ops vt_pt_fast = {
	.name = "fast",
	.open = open_engine,
	.set_code = set_code,
	.next = next_of_many,
	.close = close_engine,
};

const struct vt_pt_engine_ops vt_pt_careful = {
	.name = "careful",
	.open = open_careful,
	.set_code = set_code,
	.next = next,
	.close = close_engine,
};
