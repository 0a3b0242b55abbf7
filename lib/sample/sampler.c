/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sample/sampler.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample/internal.h"

/* The hashes' entries: what they point to stays where it is. */
struct process_entry {
	int64_t pid;
	struct vti_process *process;
};

struct thread_entry {
	int64_t pid;
	int64_t tid;
	struct vti_thread *thread;
};

/* ---- what the stream is told of itself ---- */

static const char *const unit_names[VT_NSAMPLERUNITS] = {
	[VT_SAMPLER_INSNS] = "instructions", [VT_SAMPLER_LOADS] = "loads",
	[VT_SAMPLER_STORES] = "stores",	     [VT_SAMPLER_BRANCHES] = "branches",
	[VT_SAMPLER_BLOCKS] = "blocks",	     [VT_SAMPLER_CYCLES] = "cycles",
};

static void write_event(struct vt_sampler *s)
{
	enum vt_sampler_unit unit = s->o.per_instruction ? VT_SAMPLER_INSNS : s->o.unit;
	uint64_t *row = vt_writer_row(s->w, VT_EVENT);

	row[VT_EVENT_ID] = VTI_SAMPLER_EVENT;
	row[VT_EVENT_POLICY] = unit == VT_SAMPLER_CYCLES ? VT_POLICY_INTERRUPT : VT_POLICY_EXACT;
	row[VT_EVENT_PERIOD] = s->o.per_instruction ? 0 : s->o.interval.mean;
	vt_writer_text(s->w, VT_EVENT_NAME, unit_names[unit]);
	vt_writer_text(s->w, VT_EVENT_UNIT, unit_names[unit]);
}

static void write_meta(struct vt_sampler *s)
{
	static const char *const kinds[VT_NINTERVALS] = {"uniform", "geometric", "fixed"};
	const struct vt_sampler_options *o = &s->o;
	char text[200];

	if (o->per_instruction)
		snprintf(text, sizeof(text),
			 "each instruction by turns, bursts of %" PRIu64 ", back-off from %" PRIu64
			 ", 1/%" PRIu64 " interpreted",
			 o->burst, o->backoff, o->fraction);
	else
		snprintf(text, sizeof(text),
			 "%s, interval %" PRIu64 " %s, bursts of %" PRIu64 ", 1/%" PRIu64
			 " interpreted",
			 unit_names[o->unit], o->interval.mean, kinds[o->interval.kind], o->burst,
			 o->fraction);
	vt_writer_row(s->w, VT_META);
	vt_writer_text(s->w, VT_META_KEY, "sampling");
	vt_writer_text(s->w, VT_META_VALUE, text);
}

/* ---- making and freeing ---- */

struct vt_sampler *vt_sampler_new(const struct vt_sampler_options *o, struct vt_writer *w,
				  struct vt_error *err)
{
	struct vt_sampler *s = calloc(1, sizeof(*s));

	if (!s) {
		vt_error_nomem(err);
		return NULL;
	}
	s->o = *o;
	s->w = w;
	s->cutter.w = w;
	s->dict = vt_bblocks_new();
	vt_hash_init(&s->processes, sizeof(struct process_entry), sizeof(int64_t));
	vt_hash_init(&s->threads, sizeof(struct thread_entry), 2 * sizeof(int64_t));
	vt_hash_init(&s->turns, sizeof(struct vti_turn), 2 * sizeof(uint64_t));
	vt_rng_init(&s->rng, o->seed);
	if (!s->dict) {
		vt_error_nomem(err);
		vt_sampler_free(s);
		return NULL;
	}
	write_event(s);
	write_meta(s);
	return s;
}

void vt_sampler_free(struct vt_sampler *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->processes.count; i++)
		free(((struct process_entry *)vt_hash_at(&s->processes, i))->process);
	for (i = 0; i < s->threads.count; i++) {
		struct thread_entry *e = vt_hash_at(&s->threads, i);

		if (e->thread)
			vt_callstack_fini(&e->thread->stack);
		free(e->thread);
	}
	for (i = 0; i < s->block_turns_cap; i++)
		free(s->block_turns[i]);
	free(s->block_turns);
	vt_hash_fini(&s->processes);
	vt_hash_fini(&s->threads);
	vt_hash_fini(&s->turns);
	free(s->units);
	vti_cutter_fini(&s->cutter);
	vt_bblocks_free(s->dict);
	free(s);
}

/* ---- who runs ---- */

/*
 * Processes draw their numbers from generators of their own, seeded in the order in which they
 * appear: what is sampled of one does not depend on how it is mixed with the others.
 */
static bool find_process(struct vt_sampler *s, int64_t pid)
{
	struct process_entry *e;

	if (s->process && s->process->pid == pid)
		return true;
	e = vt_hash_add(&s->processes, &pid, NULL);
	if (!e)
		return false;
	if (!e->process) {
		struct vti_process *p = calloc(1, sizeof(*p));

		if (!p)
			return false;
		p->pid = pid;
		vt_rng_init(&p->rng, s->o.seed + (s->processes.count - 1) * 0x9e3779b97f4a7c15u);
		p->interval = p->left = vt_interval_first(&s->o.interval, &p->rng);
		e->process = p;
	}
	s->process = e->process;
	return true;
}

static bool find_thread(struct vt_sampler *s, int64_t pid, int64_t tid)
{
	const int64_t key[2] = {pid, tid};
	struct thread_entry *e;

	if (s->thread && s->thread->pid == pid && s->thread->tid == tid)
		return true;
	e = vt_hash_add(&s->threads, key, NULL);
	if (!e)
		return false;
	if (!e->thread) {
		e->thread = calloc(1, sizeof(*e->thread));
		if (!e->thread)
			return false;
		e->thread->pid = pid;
		e->thread->tid = tid;
	}
	s->thread = e->thread;
	return true;
}

/* What a thread was doing does not go on behind this. */
static void interrupt_thread(struct vti_thread *t)
{
	t->burst = 0;
	vt_callstack_clear(&t->stack);
}

static void interrupt_all(struct vt_sampler *s)
{
	size_t i;

	for (i = 0; i < s->threads.count; i++) {
		struct thread_entry *e = vt_hash_at(&s->threads, i);

		if (e->thread)
			interrupt_thread(e->thread);
	}
}

/* ---- records ---- */

static int tell_bad(struct vt_sampler *s, struct vt_error *err)
{
	uint64_t *row;

	if (err->code == VT_E_NOMEM)
		return -VT_E_NOMEM;
	s->totals.bad++;
	if (s->o.warn)
		s->o.warn(s->o.warn_arg, err->text);
	row = vt_writer_row(s->w, VT_GAP);
	row[VT_GAP_RECORDS] = 1;
	vt_writer_text(s->w, VT_GAP_REASON, "executed code that contradicts itself");
	interrupt_all(s);
	return 0;
}

static int take_block(struct vt_sampler *s, const struct vt_record *rec, struct vt_error *err)
{
	int code = vt_bblocks_add(s->dict, rec, err);
	const struct vt_bblock *b;
	struct vt_step whole;

	if (code < 0)
		return tell_bad(s, err);
	b = vt_bblocks_get(s->dict, vt_record_u64(rec, VT_BLOCK_ID));
	if (!vt_array_grow(&s->units, &s->units_cap, b->id + 1, sizeof(*s->units)))
		return vt_error_nomem(err);
	whole = (struct vt_step){.block = b, .insn_end = b->ninsns, .slot_end = b->nslots};
	s->units[b->id] = (uint32_t)vti_units(s->o.unit, &whole);
	s->countable |= s->units[b->id] != 0;
	return 0;
}

/* What counting cycles needs; the stream says so before it runs anything. */
static int check_times(const struct vt_sampler *s, const struct vt_record *rec,
		       struct vt_error *err)
{
	if (s->o.unit != VT_SAMPLER_CYCLES || s->o.per_instruction)
		return 0;
	if (!vt_record_u64(rec, VT_EXEC_TIME))
		return vt_error_set(err, VT_E_ABSENT,
				    "no times of executed code to count cycles by (vtrace decode "
				    "finds them in Intel PT that was recorded with TSC packets)");
	if (!s->timeconv[1])
		return vt_error_set(err, VT_E_ABSENT,
				    "no relation of times to cycles (vtrace decode finds it in "
				    "perf.data: TIMECONV)");
	return 0;
}

static int take_exec(struct vt_sampler *s, const struct vt_record *rec, struct vt_error *err)
{
	struct vti_run run;
	int code = check_times(s, rec, err);

	if (code < 0)
		return code;
	s->totals.execs++;
	if (!find_process(s, vt_record_i64(rec, VT_EXEC_PID)) ||
	    !find_thread(s, vt_record_i64(rec, VT_EXEC_PID), vt_record_i64(rec, VT_EXEC_TID)))
		return vt_error_nomem(err);
	code = vti_run_open(&run, s, rec, err);
	if (code == 0)
		code = s->o.per_instruction ? vti_turns_run(&run, err) : vti_sample_run(&run, err);
	if (code == 0 && s->thread->stack.failed)
		return vt_error_nomem(err);
	return code < 0 ? tell_bad(s, err) : 0;
}

static int take_meta(struct vt_sampler *s, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_bytes key = vt_record_bytes(rec, VT_META_KEY);

	if (key.size == 8 && memcmp(key.data, "sampling", 8) == 0)
		return vt_error_set(err, VT_E_ABSENT, VT_IS_SAMPLED);
	vt_writer_copy(s->w, rec);
	return 0;
}

static int take_state(struct vt_sampler *s, const struct vt_record *rec, struct vt_error *err)
{
	if (!find_thread(s, vt_record_i64(rec, VT_STATE_PID), vt_record_i64(rec, VT_STATE_TID)))
		return vt_error_nomem(err);
	if (vt_record_u64(rec, VT_STATE_REASON) == VT_STATE_WINDOW)
		interrupt_thread(s->thread);
	if (s->o.keep)
		vt_writer_copy(s->w, rec);
	return 0;
}

static int take_signal(struct vt_sampler *s, const struct vt_record *rec, struct vt_error *err)
{
	if (!find_thread(s, vt_record_i64(rec, VT_SIGNAL_PID), vt_record_i64(rec, VT_SIGNAL_TID)))
		return vt_error_nomem(err);
	if (s->o.context && vt_record_u64(rec, VT_SIGNAL_HANDLER))
		vt_callstack_signal(&s->thread->stack);
	vt_writer_copy(s->w, rec);
	return 0;
}

static int take_thread(struct vt_sampler *s, const struct vt_record *rec, struct vt_error *err)
{
	if (!find_thread(s, vt_record_i64(rec, VT_THREAD_PID), vt_record_i64(rec, VT_THREAD_TID)))
		return vt_error_nomem(err);
	if (vt_record_u64(rec, VT_THREAD_OP) != VT_OP_COMM)
		interrupt_thread(s->thread);
	vt_writer_copy(s->w, rec);
	return 0;
}

static int take_record(struct vt_sampler *s, const struct vt_record *rec, struct vt_error *err)
{
	switch (rec->kind) {
	case VT_BLOCK:
		return take_block(s, rec, err);
	case VT_EXEC:
		return take_exec(s, rec, err);
	case VT_META:
		return take_meta(s, rec, err);
	case VT_STATE:
		return take_state(s, rec, err);
	case VT_SIGNAL:
		return take_signal(s, rec, err);
	case VT_THREAD:
		return take_thread(s, rec, err);
	case VT_SYSCALL:
	case VT_MEMORY:
		if (s->o.keep)
			vt_writer_copy(s->w, rec);
		return 0;
	case VT_GAP:
	case VT_LOST:
		interrupt_all(s);
		break;
	case VT_TIMECONV:
		s->timeconv[0] = vt_record_u64(rec, VT_TIMECONV_SHIFT);
		s->timeconv[1] = vt_record_u64(rec, VT_TIMECONV_MULT);
		break;
	case VT_SAMPLE:
		s->totals.samples++;
		break;
	default:
		break;
	}
	vt_writer_copy(s->w, rec);
	return 0;
}

int vt_sampler_feed(struct vt_sampler *s, const struct vt_block *block, uint32_t first,
		    uint32_t count, struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	int code = 0;

	for (; rec.row < first + count && code == 0; rec.row++)
		code = take_record(s, &rec, err);
	return code;
}

int vt_sampler_finish(struct vt_sampler *s, struct vt_error *err)
{
	if (!s->totals.execs)
		return vt_error_set(err, VT_E_ABSENT, VT_NO_EXECUTED_CODE);
	if (!s->countable && s->o.unit != VT_SAMPLER_CYCLES)
		return vt_error_set(err, VT_E_ABSENT, "no %s (vtrace record --full records them)",
				    unit_names[s->o.unit]);
	vti_turns_finish(s);
	return 0;
}

const struct vt_sampler_totals *vt_sampler_totals(const struct vt_sampler *s)
{
	return &s->totals;
}
