/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "sample/internal.h"

/* A back-off does not grow beyond this. */
#define MAX_BOUND ((uint64_t)1 << 40)

/*
 * Instructions without values between two that are profiled are written along, if they are not more
 * than that: a part for each instruction would be larger.
 */
#define BRIDGE 64

#define TURN_KEY_SIZE offsetof(struct vti_turn, on)

/* Where in a step we are, and whether an instruction that is left alone lies behind the part. */
struct turns_walk {
	struct vti_run *r;
	uint64_t pos; /* of the step's first instruction */
	bool apart;
};

/* The turns of a block's instructions; NULL when memory ran out. */
static uint32_t *block_turns(struct vt_sampler *s, const struct vt_bblock *b)
{
	size_t old = s->block_turns_cap;

	if (!vt_array_grow(&s->block_turns, &s->block_turns_cap, b->id + 1,
			   sizeof(*s->block_turns)))
		return NULL;
	memset(s->block_turns + old, 0, (s->block_turns_cap - old) * sizeof(*s->block_turns));
	if (!s->block_turns[b->id])
		s->block_turns[b->id] = calloc(b->ninsns, sizeof(**s->block_turns));
	return s->block_turns[b->id];
}

static struct vti_turn *find_turn(struct vt_sampler *s, const struct vt_bblock *b, uint32_t insn)
{
	uint32_t *known = block_turns(s, b);
	struct vti_turn key = {.pid = b->pid};
	struct vti_turn *t;
	bool added;

	if (!known)
		return NULL;
	if (known[insn])
		return vt_hash_at(&s->turns, known[insn] - 1);
	key.addr = vt_bblock_insn_addr(b, insn);
	t = vt_hash_add(&s->turns, &key, &added);
	if (!t)
		return NULL;
	if (added) {
		t->on = s->o.burst;
		t->bound = s->o.backoff;
	}
	known[insn] = 1 + (uint32_t)(t - (struct vti_turn *)(void *)s->turns.entries);
	return t;
}

/* The last of a burst is done: how long to leave the instruction alone. */
static void back_off(struct vt_sampler *s, struct vti_turn *t)
{
	t->off = s->o.backoff + vt_rng_below(&s->rng, t->bound - s->o.backoff + 1);
	if (t->bound < MAX_BOUND)
		t->bound *= 2;
	t->on = s->o.burst;
}

static int take_instruction(struct turns_walk *w, const struct vt_step *step, uint32_t insn,
			    struct vt_error *err)
{
	struct vti_run *r = w->r;
	struct vt_sampler *s = r->s;
	struct vti_turn *t = find_turn(s, step->block, insn);
	uint64_t pos = w->pos + insn - step->insn;
	uint64_t caller = vt_callstack_caller(&r->thread->stack);
	int code;

	if (!t)
		return vt_error_nomem(err);
	t->since++;
	if (t->off) {
		t->off--;
		w->apart = true;
		return 0;
	}
	if (t->on == s->o.burst) {
		vti_write_sample(s->w, &r->at, t->addr, t->since);
		t->since = 0;
		t->mute = s->o.fraction > 1 && vt_rng_below(&s->rng, s->o.fraction);
	}
	if (--t->on == 0)
		back_off(s, t);
	if (t->mute) {
		w->apart = true;
		return 0;
	}
	if (r->open && !w->apart && pos - r->end < BRIDGE)
		code = vti_run_take(r, r->end, pos + 1 - r->end, caller, err);
	else
		code = vti_run_take(r, pos, 1, caller, err);
	w->apart = false;
	return code;
}

static int take_step(struct turns_walk *w, const struct vt_step *step, struct vt_error *err)
{
	uint32_t last = UINT32_MAX;
	uint32_t i;
	int code = 0;

	for (i = step->slot; i < step->slot_end && code == 0; i++) {
		uint32_t insn = step->block->slots[i].insn;

		if (insn != last)
			code = take_instruction(w, step, insn, err);
		last = insn;
	}
	return code;
}

int vti_turns_run(struct vti_run *r, struct vt_error *err)
{
	struct turns_walk w = {.r = r};
	struct vt_exec x = r->at;
	struct vt_step step;
	int code;

	if (r->s->o.context)
		vt_callstack_told(&r->thread->stack, x.caller);
	while ((code = vt_exec_next(&x, &step, err)) > 0) {
		if (r->s->o.context)
			vt_callstack_enter(&r->thread->stack, &step);
		code = take_step(&w, &step, err);
		if (code < 0)
			return code;
		w.pos += step.insn_end - step.insn;
		if (r->s->o.context)
			vt_callstack_leave(&r->thread->stack, &step);
	}
	return code < 0 ? code : vti_run_finish(r, err);
}

void vti_turns_finish(struct vt_sampler *s)
{
	size_t i;

	for (i = 0; i < s->turns.count; i++) {
		const struct vti_turn *t = vt_hash_at(&s->turns, i);
		struct vt_exec at = {.pid = t->pid, .tid = t->pid};

		if (t->since)
			vti_write_sample(s->w, &at, t->addr, t->since);
	}
}
