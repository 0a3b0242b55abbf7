/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "sample/internal.h"

/* More intervals than that between two runs are not told from one another. */
#define MANY_INTERVALS 1000000

/* A back-off does not grow beyond this. */
#define MAX_BOUND ((uint64_t)1 << 40)

/*
 * Instructions without values between two that are profiled are written along, if they are not more
 * than that: a part for each instruction would be larger.
 */
#define BRIDGE 64

/* A run that is being sampled: where the last sample was, and the part of it to be written. */
struct vti_run {
	struct vt_sampler *s;
	struct vti_process *process;
	struct vti_thread *thread;
	struct vt_exec at;
	uint64_t at_pos; /* instructions before `at` */
	uint64_t total;
	bool open; /* there is a part: instructions start .. end-1, which may lie beyond the run */
	uint64_t start;
	uint64_t end;
	uint64_t caller;
	struct vt_exec from; /* at `start` */
};

/* ---- writing parts of runs ---- */

/* The block's id in the output, where it is written if it was not yet; false: no memory. */
static bool use_block(struct vti_cutter *c, const struct vt_bblock *b, uint32_t *id)
{
	size_t old = c->ids_cap;

	if (!vt_array_grow(&c->ids, &c->ids_cap, b->id + 1, sizeof(*c->ids)))
		return false;
	memset(c->ids + old, 0, (c->ids_cap - old) * sizeof(*c->ids));
	if (!c->ids[b->id]) {
		vt_bblock_write(b, c->count, true, c->w);
		c->ids[b->id] = ++c->count;
	}
	*id = c->ids[b->id] - 1;
	return true;
}

static uint32_t slot_offset(const struct vt_bblock *b, uint32_t slot)
{
	return slot < b->nslots ? b->slots[slot].offset : b->data_size;
}

/* Leaves the first n instructions of a step. */
static void shorten_step(struct vt_step *step, uint64_t n)
{
	const struct vt_bblock *b = step->block;

	step->insn_end = step->insn + (uint32_t)n;
	while (step->slot_end > step->slot && b->slots[step->slot_end - 1].insn >= step->insn_end)
		step->slot_end--;
}

/* Gathers ids and values; *insns becomes what there was. */
static int copy_part_steps(struct vti_cutter *c, struct vt_exec *from, uint64_t *insns,
			   struct vt_error *err)
{
	uint64_t left = *insns;
	struct vt_step step;
	int r = 1;

	while (left && (r = vt_exec_next(from, &step, err)) > 0) {
		uint32_t id = 0;

		if (step.insn_end - step.insn > left)
			shorten_step(&step, left);
		if (!use_block(c, step.block, &id))
			return vt_error_nomem(err);
		vt_buf_put_le32(&c->used, id);
		vt_buf_put(&c->data, step.data,
			   slot_offset(step.block, step.slot_end) - step.data_offset);
		left -= step.insn_end - step.insn;
	}
	*insns -= left;
	return r < 0 ? r : 0;
}

/* Ids of two bytes from the least one on, if that is possible. */
static uint32_t pack_block_ids(struct vti_cutter *c, size_t n, uint32_t *base)
{
	uint32_t low = UINT32_MAX, high = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		uint32_t id = vt_le32(c->used.data + 4 * i);

		low = id < low ? id : low;
		high = id > high ? id : high;
	}
	*base = low;
	for (i = 0; i < n; i++) {
		uint32_t id = vt_le32(c->used.data + 4 * i) - low;

		if (high - low > UINT16_MAX) {
			vt_buf_put_le32(&c->ids_buf, id);
		} else {
			vt_buf_put_u8(&c->ids_buf, (uint8_t)id);
			vt_buf_put_u8(&c->ids_buf, (uint8_t)(id >> 8));
		}
	}
	return high - low > UINT16_MAX ? 4 : 2;
}

/*
 * Writes the next `insns` instructions of `from`, or all that are left; nothing if an error is
 * found in them.  `from` is used up.  Errors as vt_exec_next(), and -VT_E_NOMEM.
 */
static int write_part(struct vti_cutter *c, struct vt_exec *from, uint64_t insns, uint64_t caller,
		      struct vt_error *err)
{
	uint32_t base = 0, width;
	struct vt_exec head = *from;
	uint64_t *row;
	size_t n;
	int r;

	c->ids_buf.size = c->data.size = c->used.size = 0;
	r = copy_part_steps(c, from, &insns, err);
	if (r < 0 || !insns)
		return r;
	n = c->used.size / 4;
	width = pack_block_ids(c, n, &base);
	if (c->ids_buf.failed || c->data.failed || c->used.failed)
		return vt_error_nomem(err);
	row = vt_writer_row(c->w, VT_EXEC);
	row[VT_EXEC_TIME] = head.time;
	row[VT_EXEC_PID] = (uint64_t)head.pid;
	row[VT_EXEC_TID] = (uint64_t)head.tid;
	row[VT_EXEC_FIRST] = head.first;
	row[VT_EXEC_BLOCKS] = n;
	row[VT_EXEC_INSNS] = insns;
	row[VT_EXEC_SKIP] = head.skip;
	row[VT_EXEC_CALLER] = caller;
	row[VT_EXEC_BASE] = base;
	row[VT_EXEC_WIDTH] = width;
	vt_writer_bytes(c->w, VT_EXEC_IDS, c->ids_buf.data, c->ids_buf.size);
	vt_writer_bytes(c->w, VT_EXEC_DATA, c->data.data, c->data.size);
	return vt_exec_put_times(&head, (uint32_t)n, c->w, row, err);
}

/* ---- what is counted ---- */

static bool is_access(enum vt_sampler_unit unit, const struct vt_slot *s)
{
	if (unit == VT_SAMPLER_LOADS)
		return s->what == VT_WHAT_LOAD || s->what == VT_WHAT_LOAD_ADDRESS;
	return s->what == VT_WHAT_STORE || s->what == VT_WHAT_STORE_ADDRESS;
}

/* Counts the instructions with a load (or store), up to number `n`, which *insn becomes. */
static uint64_t count_accessing_insns(enum vt_sampler_unit unit, const struct vt_step *step,
				      uint64_t n, uint32_t *insn)
{
	const struct vt_slot *slots = step->block->slots;
	uint64_t count = 0;
	uint32_t i;

	*insn = UINT32_MAX;
	for (i = step->slot; i < step->slot_end && count < n; i++) {
		if (!is_access(unit, &slots[i]) || slots[i].insn == *insn)
			continue;
		*insn = slots[i].insn;
		count++;
	}
	return count;
}

static bool ends_in_branch(const struct vt_step *step)
{
	switch (step->block->end) {
	case VT_END_BRANCH:
	case VT_END_JUMP:
	case VT_END_JUMP_INDIRECT:
	case VT_END_CALL:
	case VT_END_CALL_INDIRECT:
	case VT_END_RETURN:
		return step->insn_end == step->block->ninsns;
	default:
		return false;
	}
}

/* Instructions of a step that count for the unit. */
static uint64_t count_units(enum vt_sampler_unit unit, const struct vt_step *step)
{
	uint32_t insn;

	switch (unit) {
	case VT_SAMPLER_INSNS:
		return step->insn_end - step->insn;
	case VT_SAMPLER_LOADS:
	case VT_SAMPLER_STORES:
		return count_accessing_insns(unit, step, UINT64_MAX, &insn);
	case VT_SAMPLER_BRANCHES:
		return ends_in_branch(step);
	case VT_SAMPLER_BLOCKS:
		return step->insn == 0;
	default:
		return 0;
	}
}

/* The one that is number n of them, from 1. */
static uint32_t unit_insn(enum vt_sampler_unit unit, const struct vt_step *step, uint64_t n)
{
	uint32_t insn = 0;

	switch (unit) {
	case VT_SAMPLER_INSNS:
		return step->insn + (uint32_t)n - 1;
	case VT_SAMPLER_LOADS:
	case VT_SAMPLER_STORES:
		count_accessing_insns(unit, step, n, &insn);
		return insn;
	case VT_SAMPLER_BRANCHES:
		return step->block->ninsns - 1;
	default:
		return step->insn;
	}
}

/* ---- a run ---- */

/* Writes the part that is open, as far as it lies in the run. */
static int flush_part(struct vti_run *r, struct vt_error *err)
{
	uint64_t end = r->end < r->total ? r->end : r->total;

	if (!r->open)
		return 0;
	r->open = false;
	return write_part(&r->s->cutter, &r->from, end - r->start, r->caller, err);
}

static int skip_run_to(struct vti_run *r, uint64_t pos, struct vt_error *err)
{
	int code = pos > r->at_pos ? vt_exec_skip(&r->at, pos - r->at_pos, err) : 0;

	r->at_pos = pos;
	return code;
}

/* Puts instructions pos .. pos+n-1 into the part, after writing the last if it does not touch it.
 */
static int extend_part(struct vti_run *r, uint64_t pos, uint64_t n, uint64_t caller,
		       struct vt_error *err)
{
	int code;

	if (r->open && pos <= r->end) {
		if (pos + n > r->end)
			r->end = pos + n;
		return 0;
	}
	code = flush_part(r, err);
	if (code == 0)
		code = skip_run_to(r, pos, err);
	r->open = code == 0;
	r->start = pos;
	r->end = pos + n;
	r->from = r->at;
	/* What the producer said of the run's beginning holds there only. */
	r->caller = caller || pos ? caller : r->at.caller;
	return code;
}

/* Writes the part that is open; what lies beyond the run goes on in the thread's next one. */
static int finish_run(struct vti_run *r, struct vt_error *err)
{
	r->thread->burst = r->open && r->end > r->total ? r->end - r->total : 0;
	return flush_part(r, err);
}

static void write_exact_sample(struct vt_sampler *s, const struct vt_exec *at, uint64_t ip,
			       uint64_t period)
{
	vt_sample_write(s->w, VTI_SAMPLER_EVENT, at->time, at->pid, at->tid, ip, period);
}

/* ---- by the process's counter ---- */

/* A sample at this position of the run. */
static int take_sample(struct vti_run *r, uint64_t pos, uint64_t caller, struct vt_error *err)
{
	const struct vt_sampler_options *o = &r->s->o;
	struct vti_process *p = r->process;
	struct vt_step step = {.block = NULL};
	struct vt_exec here;
	int code = skip_run_to(r, pos, err);

	here = r->at;
	if (code == 0)
		code = vt_exec_next(&here, &step, err);
	if (code < 0)
		return code;
	/* What a run says it has was there to be passed over, or that failed. */
	assert(step.block);
	write_exact_sample(r->s, &r->at, vt_bblock_insn_addr(step.block, step.insn), p->interval);
	if (!o->burst || (o->fraction > 1 && vt_rng_below(&p->rng, o->fraction)))
		return 0;
	return extend_part(r, pos, o->burst, caller, err);
}

static void next_interval(struct vti_run *r)
{
	struct vti_process *p = r->process;

	p->interval = p->left = vt_interval_next(&r->s->o.interval, &p->rng);
}

/* Only lengths matter, so that all between two samples is passed over. */
static int sample_insns(struct vti_run *r, struct vt_error *err)
{
	struct vti_process *p = r->process;
	uint64_t pos = 0;
	int code = 0;

	while (code == 0 && p->left <= r->total - pos) {
		pos += p->left;
		code = take_sample(r, pos - 1, 0, err);
		next_interval(r);
	}
	p->left -= r->total - pos;
	return code;
}

static uint64_t units_of(const struct vt_sampler *s, const struct vt_step *step)
{
	if (s->o.unit == VT_SAMPLER_INSNS)
		return step->insn_end - step->insn;
	if (step->insn == 0 && step->insn_end == step->block->ninsns)
		return s->units[step->block->id];
	return count_units(s->o.unit, step);
}

static int sample_step(struct vti_run *r, const struct vt_step *step, uint64_t pos,
		       struct vt_error *err)
{
	uint64_t n = units_of(r->s, step), done = 0;
	struct vti_process *p = r->process;
	int code = 0;

	while (code == 0 && p->left <= n - done) {
		done += p->left;
		code = take_sample(r, pos + unit_insn(r->s->o.unit, step, done) - step->insn,
				   vt_callstack_caller(&r->thread->stack), err);
		next_interval(r);
	}
	p->left -= n - done;
	return code;
}

/* The time of a run in cycles of the time-stamp counter, the inverse of TIMECONV. */
static uint64_t convert_to_tsc(const struct vt_sampler *s, uint64_t ns)
{
	uint64_t shift = s->timeconv[0] & 63, mult = s->timeconv[1];
	uint64_t whole = ns / mult, rest = ns % mult;

	return (whole << shift) + ((rest << shift) / mult);
}

/*
 * Time is known where a run begins, and the process's counter has run out there or not: the sample
 * is the first instruction to come, as it would be of an interrupt that waits for the next chance.
 */
static int sample_by_time(struct vti_run *r, struct vt_error *err)
{
	struct vti_process *p = r->process;
	uint64_t now = convert_to_tsc(r->s, r->at.time);
	uint64_t passed = p->time && now > p->time ? now - p->time : 0;
	uint64_t period = 0;
	int code = 0;

	if (!p->time || now > p->time)
		p->time = now;
	/* One sample is all that comes of it, however long nothing ran. */
	if (passed / MANY_INTERVALS > r->s->o.interval.mean) {
		period = passed;
		passed = 0;
	}
	while (passed >= p->left) {
		passed -= p->left;
		period += p->interval;
		next_interval(r);
	}
	p->left -= passed;
	if (period) {
		uint64_t interval = p->interval;

		p->interval = period;
		code = take_sample(r, 0, vt_callstack_caller(&r->thread->stack), err);
		p->interval = interval;
	}
	return code;
}

/* What has less of the unit than is left to the next sample is passed over. */
static void pass_over(struct vti_run *r, struct vt_exec *x)
{
	r->process->left -= vt_exec_skip_weights(x, r->s->units, r->process->left);
}

static int pick_units(struct vti_run *r, struct vt_error *err)
{
	struct vt_exec x = r->at;
	uint64_t first = x.first;
	struct vt_step step;
	int code;

	pass_over(r, &x);
	while ((code = vt_exec_next(&x, &step, err)) > 0) {
		code = sample_step(r, &step, x.first - first - (step.insn_end - step.insn), err);
		if (code < 0)
			return code;
		pass_over(r, &x);
	}
	return code;
}

/* As pick_units(), looking at each block for calls and returns. */
static int follow_calls(struct vti_run *r, struct vt_error *err)
{
	bool by_time = r->s->o.unit == VT_SAMPLER_CYCLES;
	struct vt_callstack *stack = &r->thread->stack;
	struct vt_exec x = r->at;
	struct vt_step step;
	uint64_t pos = 0;
	int code;

	vt_callstack_set_caller(stack, x.caller);
	while ((code = vt_exec_next(&x, &step, err)) > 0) {
		vt_callstack_enter(stack, &step);
		if (pos == 0 && r->open)
			r->caller = vt_callstack_caller(stack);
		if (!by_time)
			code = sample_step(r, &step, pos, err);
		else if (pos == 0)
			code = sample_by_time(r, err);
		if (code < 0)
			return code;
		pos += step.insn_end - step.insn;
		vt_callstack_leave(stack, &step);
	}
	return code;
}

static int pick_samples(struct vti_run *r, struct vt_error *err)
{
	if (r->s->o.follow)
		return follow_calls(r, err);
	switch (r->s->o.unit) {
	case VT_SAMPLER_INSNS:
		return sample_insns(r, err);
	case VT_SAMPLER_CYCLES:
		return sample_by_time(r, err);
	default:
		return pick_units(r, err);
	}
}

/* ---- bursts ---- */

/* Where in a step we are, and whether an instruction that is left alone lies behind the part. */
struct bursts_walk {
	struct vti_run *r;
	uint64_t pos; /* of the step's first instruction */
	bool apart;
};

/* The bursts of a block's instructions; NULL when memory ran out. */
static uint32_t *get_block_bursts(struct vt_sampler *s, const struct vt_bblock *b)
{
	size_t old = s->block_bursts_cap;

	if (!vt_array_grow(&s->block_bursts, &s->block_bursts_cap, b->id + 1,
			   sizeof(*s->block_bursts)))
		return NULL;
	memset(s->block_bursts + old, 0, (s->block_bursts_cap - old) * sizeof(*s->block_bursts));
	if (!s->block_bursts[b->id])
		s->block_bursts[b->id] = calloc(b->ninsns, sizeof(**s->block_bursts));
	return s->block_bursts[b->id];
}

static struct vti_burst *find_burst(struct vt_sampler *s, const struct vt_bblock *b, uint32_t insn)
{
	uint32_t *known = get_block_bursts(s, b);
	struct vti_burst key = {.pid = b->pid};
	struct vti_burst *t;
	bool added;

	if (!known)
		return NULL;
	if (known[insn])
		return vt_hash_at(&s->bursts, known[insn] - 1);
	key.addr = vt_bblock_insn_addr(b, insn);
	t = vt_hash_add(&s->bursts, &key, &added);
	if (!t)
		return NULL;
	if (added) {
		t->on = s->o.burst;
		t->bound = s->o.backoff;
	}
	known[insn] = 1 + (uint32_t)vt_hash_index(&s->bursts, t);
	return t;
}

/* The last of a burst is done: how long to leave the instruction alone. */
static void delay_next_burst(struct vt_sampler *s, struct vti_burst *t)
{
	t->off = s->o.backoff + vt_rng_below(&s->rng, t->bound - s->o.backoff + 1);
	if (t->bound < MAX_BOUND)
		t->bound *= 2;
	t->on = s->o.burst;
}

static int take_instruction(struct bursts_walk *w, const struct vt_step *step, uint32_t insn,
			    struct vt_error *err)
{
	struct vti_run *r = w->r;
	struct vt_sampler *s = r->s;
	struct vti_burst *t = find_burst(s, step->block, insn);
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
		write_exact_sample(s, &r->at, t->addr, t->since);
		t->since = 0;
		t->mute = s->o.fraction > 1 && vt_rng_below(&s->rng, s->o.fraction);
	}
	if (--t->on == 0)
		delay_next_burst(s, t);
	if (t->mute) {
		w->apart = true;
		return 0;
	}
	if (r->open && !w->apart && pos - r->end < BRIDGE)
		code = extend_part(r, r->end, pos + 1 - r->end, caller, err);
	else
		code = extend_part(r, pos, 1, caller, err);
	w->apart = false;
	return code;
}

static int profile_step(struct bursts_walk *w, const struct vt_step *step, struct vt_error *err)
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

static int profile_run(struct vti_run *r, struct vt_error *err)
{
	struct bursts_walk w = {.r = r};
	struct vt_exec x = r->at;
	struct vt_step step;
	int code;

	if (r->s->o.follow)
		vt_callstack_set_caller(&r->thread->stack, x.caller);
	while ((code = vt_exec_next(&x, &step, err)) > 0) {
		if (r->s->o.follow)
			vt_callstack_enter(&r->thread->stack, &step);
		code = profile_step(&w, &step, err);
		if (code < 0)
			return code;
		w.pos += step.insn_end - step.insn;
		if (r->s->o.follow)
			vt_callstack_leave(&r->thread->stack, &step);
	}
	return code < 0 ? code : finish_run(r, err);
}

/* ---- runs ---- */

int vti_sample_run(struct vt_sampler *s, struct vti_process *process, struct vti_thread *thread,
		   const struct vt_record *rec, struct vt_error *err)
{
	struct vti_run r = {.s = s, .process = process, .thread = thread};
	int code = vt_exec_open(&r.at, vt_context_blocks(s->o.context), rec, err);

	if (code < 0)
		return code;
	r.total = r.at.insns;
	r.from = r.at;
	if (s->o.per_instruction)
		return profile_run(&r, err);
	if (thread->burst)
		code = extend_part(&r, 0, thread->burst, 0, err);
	if (code == 0 && r.total)
		code = pick_samples(&r, err);
	return code == 0 ? finish_run(&r, err) : code;
}

int vti_sampler_block(struct vt_sampler *s, const struct vt_bblock *b, struct vt_error *err)
{
	const struct vt_step whole = {.block = b, .insn_end = b->ninsns, .slot_end = b->nslots};

	if (!vt_array_grow(&s->units, &s->units_cap, b->id + 1, sizeof(*s->units)))
		return vt_error_nomem(err);
	s->units[b->id] = (uint32_t)count_units(s->o.unit, &whole);
	s->countable |= s->units[b->id] != 0;
	return 0;
}

void vti_sampler_finish_bursts(struct vt_sampler *s)
{
	size_t i;

	for (i = 0; i < s->bursts.count; i++) {
		const struct vti_burst *t = vt_hash_at(&s->bursts, i);
		struct vt_exec at = {.pid = t->pid, .tid = t->pid};

		if (t->since)
			write_exact_sample(s, &at, t->addr, t->since);
	}
}
