/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sample/internal.h"

#include <assert.h>

/* Of linux/perf_event.h: PERF_RECORD_MISC_USER, and PERF_SAMPLE_IP, _TID, _TIME, _PERIOD. */
#define MISC_USER     2
#define SAMPLE_IP     (1u << 0)
#define SAMPLE_TID    (1u << 1)
#define SAMPLE_TIME   (1u << 2)
#define SAMPLE_PERIOD (1u << 8)

/* More intervals than that between two runs are not told from one another. */
#define MANY_INTERVALS 1000000

/* ---- what is counted ---- */

static bool is_access(enum vt_sampler_unit unit, const struct vt_slot *s)
{
	if (unit == VT_SAMPLER_LOADS)
		return s->what == VT_WHAT_LOAD || s->what == VT_WHAT_LOAD_ADDRESS;
	return s->what == VT_WHAT_STORE || s->what == VT_WHAT_STORE_ADDRESS;
}

/* Counts the instructions with a load (or store), up to number `n`, which *insn becomes. */
static uint64_t accesses(enum vt_sampler_unit unit, const struct vt_step *step, uint64_t n,
			 uint32_t *insn)
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

uint64_t vti_units(enum vt_sampler_unit unit, const struct vt_step *step)
{
	uint32_t insn;

	switch (unit) {
	case VT_SAMPLER_INSNS:
		return step->insn_end - step->insn;
	case VT_SAMPLER_LOADS:
	case VT_SAMPLER_STORES:
		return accesses(unit, step, UINT64_MAX, &insn);
	case VT_SAMPLER_BRANCHES:
		return ends_in_branch(step);
	case VT_SAMPLER_BLOCKS:
		return step->insn == 0;
	default:
		return 0;
	}
}

uint32_t vti_unit_insn(enum vt_sampler_unit unit, const struct vt_step *step, uint64_t n)
{
	uint32_t insn = 0;

	switch (unit) {
	case VT_SAMPLER_INSNS:
		return step->insn + (uint32_t)n - 1;
	case VT_SAMPLER_LOADS:
	case VT_SAMPLER_STORES:
		accesses(unit, step, n, &insn);
		return insn;
	case VT_SAMPLER_BRANCHES:
		return step->block->ninsns - 1;
	default:
		return step->insn;
	}
}

/* ---- a run ---- */

int vti_run_open(struct vti_run *r, struct vt_sampler *s, const struct vt_record *rec,
		 struct vt_error *err)
{
	*r = (struct vti_run){.s = s, .process = s->process, .thread = s->thread};
	int code = vt_exec_open(&r->at, s->dict, rec, err);

	r->total = r->at.insns;
	r->from = r->at;
	return code;
}

/* Writes the part that is open, as far as it lies in the run. */
static int flush(struct vti_run *r, struct vt_error *err)
{
	uint64_t end = r->end < r->total ? r->end : r->total;

	if (!r->open)
		return 0;
	r->open = false;
	return vti_cutter_write(&r->s->cutter, &r->from, end - r->start, r->caller, err);
}

static int move_to(struct vti_run *r, uint64_t pos, struct vt_error *err)
{
	int code = pos > r->at_pos ? vt_exec_skip(&r->at, pos - r->at_pos, err) : 0;

	r->at_pos = pos;
	return code;
}

int vti_run_take(struct vti_run *r, uint64_t pos, uint64_t n, uint64_t caller, struct vt_error *err)
{
	int code;

	if (r->open && pos <= r->end) {
		if (pos + n > r->end)
			r->end = pos + n;
		return 0;
	}
	code = flush(r, err);
	if (code == 0)
		code = move_to(r, pos, err);
	r->open = code == 0;
	r->start = pos;
	r->end = pos + n;
	r->from = r->at;
	/* What the producer said of the run's beginning holds there only. */
	r->caller = caller || pos ? caller : r->at.caller;
	return code;
}

int vti_run_finish(struct vti_run *r, struct vt_error *err)
{
	r->thread->burst = r->open && r->end > r->total ? r->end - r->total : 0;
	return flush(r, err);
}

void vti_write_sample(struct vt_writer *w, const struct vt_exec *at, uint64_t ip, uint64_t period)
{
	uint64_t *row = vt_writer_row(w, VT_SAMPLE);

	row[VT_SAMPLE_TIME] = at->time;
	row[VT_SAMPLE_PID] = (uint64_t)at->pid;
	row[VT_SAMPLE_TID] = (uint64_t)at->tid;
	row[VT_SAMPLE_EVENT] = VTI_SAMPLER_EVENT;
	row[VT_SAMPLE_IP] = ip;
	row[VT_SAMPLE_PERIOD] = period;
	row[VT_SAMPLE_MISC] = MISC_USER;
	row[VT_SAMPLE_HAS] = SAMPLE_IP | SAMPLE_TID | SAMPLE_PERIOD | (at->time ? SAMPLE_TIME : 0);
}

/* ---- by the process's counter ---- */

/* A sample at this position of the run. */
static int take_sample(struct vti_run *r, uint64_t pos, uint64_t caller, struct vt_error *err)
{
	const struct vt_sampler_options *o = &r->s->o;
	struct vti_process *p = r->process;
	struct vt_step step = {.block = NULL};
	struct vt_exec here;
	int code = move_to(r, pos, err);

	here = r->at;
	if (code == 0)
		code = vt_exec_next(&here, &step, err);
	if (code < 0)
		return code;
	/* What a run says it has was there to be passed over, or that failed. */
	assert(step.block);
	vti_write_sample(r->s->w, &r->at, vt_bblock_insn_addr(step.block, step.insn), p->interval);
	if (!o->burst || (o->fraction > 1 && vt_rng_below(&p->rng, o->fraction)))
		return 0;
	return vti_run_take(r, pos, o->burst, caller, err);
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
	return vti_units(s->o.unit, step);
}

static int sample_step(struct vti_run *r, const struct vt_step *step, uint64_t pos,
		       struct vt_error *err)
{
	uint64_t n = units_of(r->s, step), done = 0;
	struct vti_process *p = r->process;
	int code = 0;

	while (code == 0 && p->left <= n - done) {
		done += p->left;
		code = take_sample(r, pos + vti_unit_insn(r->s->o.unit, step, done) - step->insn,
				   vt_callstack_caller(&r->thread->stack), err);
		next_interval(r);
	}
	p->left -= n - done;
	return code;
}

/* The time of a run in cycles of the time-stamp counter, the inverse of TIMECONV. */
static uint64_t cycles_of(const struct vt_sampler *s, uint64_t ns)
{
	uint64_t shift = s->timeconv[0] & 63, mult = s->timeconv[1];
	uint64_t whole = ns / mult, rest = ns % mult;

	return (whole << shift) + ((rest << shift) / mult);
}

/*
 * Time is known where a run begins, and the process's counter has run out there or not: the sample
 * is the first instruction to come, as it would be of an interrupt that waits for the next chance.
 */
static int sample_time(struct vti_run *r, struct vt_error *err)
{
	struct vti_process *p = r->process;
	uint64_t now = cycles_of(r->s, r->at.time);
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

static int count_units(struct vti_run *r, struct vt_error *err)
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

/* As count_units(), looking at each block for calls and returns. */
static int follow_calls(struct vti_run *r, struct vt_error *err)
{
	bool by_time = r->s->o.unit == VT_SAMPLER_CYCLES;
	struct vt_callstack *stack = &r->thread->stack;
	struct vt_exec x = r->at;
	struct vt_step step;
	uint64_t pos = 0;
	int code;

	vt_callstack_told(stack, x.caller);
	while ((code = vt_exec_next(&x, &step, err)) > 0) {
		vt_callstack_enter(stack, &step);
		if (pos == 0 && r->open)
			r->caller = vt_callstack_caller(stack);
		if (!by_time)
			code = sample_step(r, &step, pos, err);
		else if (pos == 0)
			code = sample_time(r, err);
		if (code < 0)
			return code;
		pos += step.insn_end - step.insn;
		vt_callstack_leave(stack, &step);
	}
	return code;
}

static int pick(struct vti_run *r, struct vt_error *err)
{
	if (r->s->o.context)
		return follow_calls(r, err);
	switch (r->s->o.unit) {
	case VT_SAMPLER_INSNS:
		return sample_insns(r, err);
	case VT_SAMPLER_CYCLES:
		return sample_time(r, err);
	default:
		return count_units(r, err);
	}
}

int vti_sample_run(struct vti_run *r, struct vt_error *err)
{
	int code = 0;

	if (r->thread->burst)
		code = vti_run_take(r, 0, r->thread->burst, 0, err);
	if (code == 0 && r->total)
		code = pick(r, err);
	if (code == 0)
		code = vti_run_finish(r, err);
	return code;
}
