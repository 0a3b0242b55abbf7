/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "paths/trail.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/rng.h"
#include "sample/interval.h"
#include "stream/exec.h"

#define SEED 1

/* An instruction of a block. */
struct spot {
	uint64_t block; /* UINT64_MAX: none */
	uint32_t insn;
	uint32_t padding;
};

/* The end of a block and the beginning of the next, or an instruction that was repeated. */
struct transfer {
	struct spot from;
	struct spot to;
	uint64_t times; /* one after the other */
	uint32_t from_place;
	uint32_t to_place;
	bool placed; /* they are known, and that control went there is told */
};

struct thread {
	int64_t pid;
	int64_t tid;
	struct transfer *ring; /* the last t->depth: number n is at n % t->depth */
	uint64_t transfers;
	uint64_t left; /* instructions up to the next sample */
	struct spot last;
	uint32_t stack; /* the number of what the ring holds; UINT32_MAX: it has none yet */
};

struct vt_pathtrail {
	const struct vt_context *context;
	struct vt_pathsamples *samples;
	struct vt_interval interval;
	struct vt_rng rng;
	struct vt_hash threads;
	uint32_t depth; /* of branches that are kept */
	uint64_t insns;
	uint64_t bad;
};

struct vt_pathtrail *vt_pathtrail_new(const struct vt_context *c, struct vt_pathsamples *s,
				      uint64_t every)
{
	struct vt_pathtrail *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->context = c;
	t->samples = s;
	t->interval = vt_interval_make(VT_INTERVAL_UNIFORM, every);
	/* More than conditional branches: jumps, calls, returns and ends of blocks lie in between.
	 */
	t->depth = 6 * s->branches + 32;
	if (t->depth > VT_PATHS_STACK)
		t->depth = VT_PATHS_STACK;
	vt_rng_init(&t->rng, SEED);
	vt_hash_init(&t->threads, sizeof(struct thread), offsetof(struct thread, ring));
	return t;
}

void vt_pathtrail_free(struct vt_pathtrail *t)
{
	size_t i;

	for (i = 0; t && i < t->threads.count; i++)
		free(((struct thread *)vt_hash_at(&t->threads, i))->ring);
	if (t)
		vt_hash_fini(&t->threads);
	free(t);
}

void vt_pathtrail_write_event(const struct vt_pathtrail *t, struct vt_writer *w)
{
	uint64_t *row = vt_writer_row(w, VT_EVENT);

	row[VT_EVENT_ID] = VT_PATHTRAIL_EVENT;
	row[VT_EVENT_POLICY] = VT_POLICY_EXACT;
	row[VT_EVENT_PERIOD] = t->interval.mean;
	vt_writer_text(w, VT_EVENT_NAME, VT_PATHTRAIL_EVENT_NAME);
	vt_writer_text(w, VT_EVENT_UNIT, VT_PATHTRAIL_EVENT_NAME);
}

static struct thread *find_thread(struct vt_pathtrail *t, const struct vt_record *rec)
{
	const struct thread key = {.pid = vt_record_i64(rec, VT_EXEC_PID),
				   .tid = vt_record_i64(rec, VT_EXEC_TID)};
	bool added;
	struct thread *th = vt_hash_add(&t->threads, &key, &added);

	if (!th || (th->ring && !added))
		return th;
	th->ring = calloc(t->depth, sizeof(*th->ring));
	th->last.block = UINT64_MAX;
	th->stack = UINT32_MAX;
	th->left = vt_interval_first(&t->interval, &t->rng);
	return th->ring ? th : NULL;
}

static bool find_spot(const struct vt_pathtrail *t, const struct spot *s, uint32_t *place)
{
	const struct vt_bblock *b = vt_bblocks_get(vt_context_blocks(t->context), s->block);

	return vt_pathplaces_at(t->samples->places, t->context, b->pid,
				vt_bblock_insn_addr(b, s->insn), 0, place);
}

/* Only transfers before a sample are of any account.  False: out of memory. */
static bool place_transfer(const struct vt_pathtrail *t, struct transfer *b)
{
	if (b->placed)
		return true;
	b->placed = true;
	/* What an indirect branch goes to begins a node. */
	return find_spot(t, &b->from, &b->from_place) && find_spot(t, &b->to, &b->to_place) &&
	       vt_pathplaces_went(t->samples->places, b->from_place, b->to_place, 1);
}

/* Numbers the branches that a thread took last.  False: out of memory. */
static bool number_ring(const struct vt_pathtrail *t, struct thread *th)
{
	uint64_t kept = th->transfers < t->depth ? th->transfers : t->depth, i, k;
	uint32_t stack[2 * VT_PATHS_STACK], n = 0;
	size_t at = th->transfers % t->depth;

	for (i = 0; i < kept; i++) {
		struct transfer *b;

		at = at ? at - 1 : t->depth - 1;
		b = &th->ring[at];
		if (!place_transfer(t, b))
			return false;
		/* Further repetitions are of no branch, or branches beyond the path. */
		for (k = 0; k < b->times && k < t->samples->branches && n < VT_PATHS_STACK; k++) {
			stack[2 * n] = b->from_place;
			stack[2 * n++ + 1] = b->to_place;
		}
	}
	th->stack = vt_pathsamples_number(t->samples, stack, n);
	return th->stack != UINT32_MAX;
}

/* A sample of an instruction, with the branches before it. */
static bool take_sample(const struct vt_pathtrail *t, struct thread *th, const struct spot *at)
{
	uint32_t place;

	return find_spot(t, at, &place) && (th->stack != UINT32_MAX || number_ring(t, th)) &&
	       vt_pathsamples_add(t->samples, VT_PATHTRAIL_EVENT, place, th->stack,
				  (double)t->interval.mean);
}

static bool is_same_spot(const struct spot *a, const struct spot *b)
{
	return a->block == b->block && a->insn == b->insn;
}

/*
 * Notes the branch by which a thread came to an instruction.  What ends a block may be a branch
 * that went to the next instruction, taken or not.
 */
static void arrive(const struct vt_pathtrail *t, struct thread *th, const struct spot *to)
{
	struct transfer *newest;

	if (th->last.block == UINT64_MAX ||
	    (to->block == th->last.block && to->insn == th->last.insn + 1))
		return;
	newest = th->transfers ? &th->ring[(th->transfers - 1) % t->depth] : NULL;
	if (newest && is_same_spot(&th->last, to) && is_same_spot(&newest->from, to) &&
	    is_same_spot(&newest->to, to))
		newest->times++;
	else
		th->ring[th->transfers++ % t->depth] =
			(struct transfer){.from = th->last, .to = *to, .times = 1};
	th->stack = UINT32_MAX;
}

static bool take_step(struct vt_pathtrail *t, struct thread *th, const struct vt_step *step)
{
	uint32_t n = step->insn_end - step->insn;
	struct spot at = {.block = step->block->id, .insn = step->insn};

	arrive(t, th, &at);
	while (th->left <= n) {
		at.insn = step->insn_end - n + (uint32_t)th->left - 1;
		n -= (uint32_t)th->left;
		if (!take_sample(t, th, &at))
			return false;
		th->left = vt_interval_next(&t->interval, &t->rng);
	}
	th->left -= n;
	th->last = (struct spot){.block = step->block->id, .insn = step->insn_end - 1};
	t->insns += step->insn_end - step->insn;
	return true;
}

/* What comes next is not connected to what came before. */
static void cut_off(struct thread *th)
{
	th->last.block = UINT64_MAX;
	th->transfers = 0;
	th->stack = UINT32_MAX;
}

static int follow_run(struct vt_pathtrail *t, const struct vt_record *rec, struct vt_error *err)
{
	struct thread *th = find_thread(t, rec);
	struct vt_exec run;
	struct vt_step step;
	int code = vt_exec_open(&run, vt_context_blocks(t->context), rec, err);

	if (!th)
		return vt_error_nomem(err);
	while (code >= 0 && (code = vt_exec_next(&run, &step, err)) > 0)
		if (!take_step(t, th, &step))
			return vt_error_nomem(err);
	if (code < 0) {
		cut_off(th);
		t->bad++;
	}
	return 0;
}

int vt_pathtrail_feed(void *trail, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_pathtrail *t = trail;
	size_t i;

	if (rec->kind == VT_EXEC)
		return follow_run(t, rec, err);
	for (i = 0; rec->kind == VT_GAP && i < t->threads.count; i++)
		cut_off(vt_hash_at(&t->threads, i));
	return 0;
}

uint64_t vt_pathtrail_insns(const struct vt_pathtrail *t)
{
	return t->insns;
}

uint64_t vt_pathtrail_bad(const struct vt_pathtrail *t)
{
	return t->bad;
}
