/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/pt/packet.h"
#include "formats/pt/sideband/session_internal.h"

struct row {
	int64_t key;
	size_t runner;
};

static int note_row(struct vt_hash *h, int64_t key, size_t runner, struct vt_error *err)
{
	bool added;
	struct row *row = vt_hash_add(h, &key, &added);

	if (!row)
		return vt_error_nomem(err);
	if (added)
		row->runner = runner;
	return 0;
}

static void name_runner(struct vt_pt_session *s, struct vti_pt_runner *r)
{
	const char *slash = s->opt.input ? strrchr(s->opt.input, '/') : NULL;
	const char *input = slash ? slash + 1 : s->opt.input ? s->opt.input : "";

	if (r->queue->cpu >= 0)
		snprintf(r->name, sizeof(r->name), "%.32s, CPU %" PRId64, input, r->queue->cpu);
	else
		snprintf(r->name, sizeof(r->name), "%.32s, thread %" PRId64, input, r->queue->tid);
}

int vti_pt_runners_make(struct vt_pt_session *s, struct vt_error *err)
{
	size_t n = vt_pt_buffers_count(s->buffers), i;
	int code = 0;

	vt_hash_init(&s->by_cpu, sizeof(struct row), sizeof(int64_t));
	vt_hash_init(&s->by_tid, sizeof(struct row), sizeof(int64_t));
	s->runners = calloc(n + 1, sizeof(*s->runners));
	if (!s->runners)
		return vt_error_nomem(err);
	s->nrunners = n;
	for (i = 0; i < n && code == 0; i++) {
		struct vti_pt_runner *r = &s->runners[i];

		r->queue = vt_pt_buffers_queue(s->buffers, i);
		r->pid = r->tid = -1;
		name_runner(s, r);
		/* With nothing to tell who runs it is whoever can. */
		if (r->queue->cpu >= 0 && !s->info.switches) {
			r->pid = s->info.only_pid;
			r->tid = r->queue->tid > 0 ? r->queue->tid : r->pid;
		}
		if (r->queue->cpu >= 0) {
			code = note_row(&s->by_cpu, r->queue->cpu, i, err);
			continue;
		}
		r->tid = r->queue->tid;
		code = note_row(&s->by_tid, r->queue->tid, i, err);
	}
	return code;
}

void vti_pt_runners_free(struct vt_pt_session *s)
{
	size_t i;

	for (i = 0; i < s->nrunners; i++) {
		if (s->runners[i].engine)
			s->opt.engine->close(s->runners[i].engine);
	}
	free(s->runners);
	vt_hash_fini(&s->by_cpu);
	vt_hash_fini(&s->by_tid);
}

struct vti_pt_runner *vti_pt_runner_of_cpu(const struct vt_pt_session *s, uint64_t cpu)
{
	int64_t key = (int64_t)cpu;
	struct row *row = s->nrunners ? vt_hash_find(&s->by_cpu, &key) : NULL;

	return row ? &s->runners[row->runner] : NULL;
}

struct vti_pt_runner *vti_pt_runner_of_tid(const struct vt_pt_session *s, int64_t tid)
{
	struct row *row = s->nrunners ? vt_hash_find(&s->by_tid, &tid) : NULL;

	return row ? &s->runners[row->runner] : NULL;
}

/* ---- decoding ---- */

/* The process whose code is to be looked at. */
static int64_t process_of(const struct vt_pt_session *s, struct vti_pt_runner *r)
{
	if (r->pid >= 0 || r->tid < 0)
		return r->pid;
	r->pid = vt_pt_spaces_process_of(s->spaces, r->tid);
	return r->pid;
}

/* Opens the next segment; 0: there is none. */
static int open_segment(struct vt_pt_session *s, struct vti_pt_runner *r, struct vt_error *err)
{
	const struct vt_pt_segment *g;
	const uint8_t *first;
	size_t skip;

	if (r->engine)
		return 1;
	if (r->segment >= r->queue->nsegments) {
		r->done = true;
		return 0;
	}
	g = &r->queue->segments[r->segment++];
	first = s->info.snapshot ? vt_pt_find_psb(g->bytes, g->bytes + g->size) : g->bytes;
	skip = first ? (size_t)(first - g->bytes) : g->size;
	process_of(s, r);
	if (g->missing)
		vti_pt_session_gap(s, r, vt_pt_time(&s->info.conv, r->tsc),
				   "bytes of the trace are missing", 0, g->missing);
	/* A ring buffer's oldest bytes are the rest of what was overwritten. */
	else if (g->apart || skip)
		vti_pt_session_gap(s, r, vt_pt_time(&s->info.conv, r->tsc),
				   "overwritten before the snapshot", 0, skip);
	r->engine = s->opt.engine->open(g->bytes + skip, g->size - skip, &s->info.options, err);
	r->generation = 0;
	return r->engine ? 1 : -(int)err->code;
}

static int set_code(struct vt_pt_session *s, struct vti_pt_runner *r, struct vt_error *err)
{
	uint64_t generation;
	const struct vt_pt_code *code = vt_pt_spaces_code(s->spaces, process_of(s, r), &generation);

	if (!code)
		return vt_error_nomem(err);
	if (generation == r->generation)
		return 0;
	r->generation = generation;
	return s->opt.engine->set_code(r->engine, code, err);
}

static int emit(struct vt_pt_session *s, struct vti_pt_runner *r, const struct vt_pt_batch *batch,
		struct vt_error *err)
{
	struct vt_pt_context ctx = {
		.pid = r->pid, .tid = r->tid, .cpu = r->queue->cpu, .input = r->name};
	int code = 0;

	/* The emitter has one clock: it is put where this trace's was left. */
	if (s->last != r && (r->tsc || r->cycles)) {
		struct vt_pt_mark_time mark = {0, r->tsc, r->cycles};
		struct vt_pt_batch none = {.blocks = batch->blocks, .times = &mark, .ntimes = 1};

		code = vt_pt_emit_batch(s->emit, &ctx, &none, err);
	}
	s->last = r;
	return code == 0 ? vt_pt_emit_batch(s->emit, &ctx, batch, err) : code;
}

/* Where the batch left the clock. */
static void follow_time(struct vti_pt_runner *r, const struct vt_pt_batch *b)
{
	if (b->ntimes) {
		r->tsc = b->times[b->ntimes - 1].tsc;
		r->cycles = b->times[b->ntimes - 1].cycles;
	}
	if (b->nnotes && b->notes[b->nnotes - 1].tsc > r->tsc) {
		r->tsc = b->notes[b->nnotes - 1].tsc;
		r->cycles = b->notes[b->nnotes - 1].cycles;
	}
}

/* One batch; sets r->until when it stops there, r->done at its end. */
static int step(struct vt_pt_session *s, struct vti_pt_runner *r, uint64_t until,
		struct vt_error *err)
{
	struct vt_pt_batch batch = {.nids = 0};
	int code = open_segment(s, r, err);

	if (code <= 0)
		return code;
	code = set_code(s, r, err);
	if (code < 0)
		return code;
	code = s->opt.engine->next(r->engine, until, &batch, err);
	if (code < 0)
		return code;
	if (code == 0) {
		s->opt.engine->close(r->engine);
		r->engine = NULL;
		return 0;
	}
	if (!batch.nids && !batch.nnotes && !batch.ntimes) {
		/* It has stopped before `until`, if there is anything to stop for. */
		if (until < UINT64_MAX)
			r->until = until;
		return 0;
	}
	code = emit(s, r, &batch, err);
	follow_time(r, &batch);
	return code;
}

int vti_pt_runner_finish(struct vt_pt_session *s, struct vti_pt_runner *r, struct vt_error *err)
{
	int code = 0;

	while (!r->done && code == 0)
		code = step(s, r, UINT64_MAX, err);
	return code;
}

int vti_pt_runners_advance(struct vt_pt_session *s, uint64_t until, struct vt_error *err)
{
	for (;;) {
		struct vti_pt_runner *r = NULL;
		size_t i;
		int code;

		for (i = 0; i < s->nrunners; i++) {
			struct vti_pt_runner *x = &s->runners[i];

			if (!x->done && x->until < until && (!r || x->tsc < r->tsc))
				r = x;
		}
		if (!r)
			return 0;
		code = step(s, r, until, err);
		if (code < 0)
			return code;
	}
}
