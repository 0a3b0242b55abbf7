/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sample/sampler.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample/internal.h"

/* ---- META and EVENT records of the stream ---- */

static const char *const unit_names[VT_NSAMPLERUNITS] = {
	[VT_SAMPLER_INSNS] = "instructions", [VT_SAMPLER_LOADS] = "loads",
	[VT_SAMPLER_STORES] = "stores",	     [VT_SAMPLER_BRANCHES] = "branches",
	[VT_SAMPLER_BLOCKS] = "blocks",	     [VT_SAMPLER_CYCLES] = "cycles",
};

static void write_sampler_event(struct vt_sampler *s)
{
	enum vt_sampler_unit unit = s->o.per_instruction ? VT_SAMPLER_INSNS : s->o.unit;
	uint64_t *row = vt_writer_row(s->w, VT_EVENT);

	row[VT_EVENT_ID] = VTI_SAMPLER_EVENT;
	row[VT_EVENT_POLICY] = unit == VT_SAMPLER_CYCLES ? VT_POLICY_INTERRUPT : VT_POLICY_EXACT;
	row[VT_EVENT_PERIOD] = s->o.per_instruction ? 0 : s->o.interval.mean;
	vt_writer_text(s->w, VT_EVENT_NAME, unit_names[unit]);
	vt_writer_text(s->w, VT_EVENT_UNIT, unit_names[unit]);
}

static void write_sampling_meta(struct vt_sampler *s)
{
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
			 unit_names[o->unit], o->interval.mean, vt_interval_words[o->interval.kind],
			 o->burst, o->fraction);
	vt_writer_meta(s->w, "sampling", text);
}

/* ---- who runs ---- */

/*
 * Processes draw their numbers from generators of their own, seeded in the order in which they
 * appear: what is sampled of one does not depend on how it is mixed with the others.
 */
static struct vti_process *find_sampled_process(struct vt_sampler *s, int64_t pid)
{
	bool added;
	struct vti_process *p = vt_hash_add(&s->processes, &pid, &added);

	if (p && added) {
		vt_rng_init(&p->rng, s->o.seed + (s->processes.count - 1) * 0x9e3779b97f4a7c15u);
		p->interval = p->left = vt_interval_first(&s->o.interval, &p->rng);
	}
	return p;
}

static struct vti_thread *find_sampler_thread(struct vt_sampler *s, uint64_t pid, uint64_t tid,
					      struct vt_error *err)
{
	const uint64_t key[2] = {pid, tid};
	struct vti_thread *t = vt_hash_add(&s->threads, key, NULL);

	if (!t)
		vt_error_nomem(err);
	return t;
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

	for (i = 0; i < s->threads.count; i++)
		interrupt_thread(vt_hash_at(&s->threads, i));
}

/* ---- records ---- */

static int refuse_execution(struct vt_sampler *s, struct vt_error *err)
{
	if (err->code == VT_E_NOMEM)
		return -VT_E_NOMEM;
	vt_sample_refuse(s->w, s->o.warn, s->o.warn_arg, err);
	interrupt_all(s);
	return 0;
}

static int sample_block(struct vt_sampler *s, const struct vt_record *rec, struct vt_error *err)
{
	const struct vt_bblocks *dict = vt_context_blocks(s->o.context);

	if (vt_context_refused(s->o.context, err) < 0)
		return refuse_execution(s, err);
	return vti_sampler_block(s, vt_bblocks_get(dict, vt_record_u64(rec, VT_BLOCK_ID)), err);
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

static int sample_exec(struct vt_sampler *s, const struct vt_record *rec, struct vt_error *err)
{
	uint64_t pid = vt_record_u64(rec, VT_EXEC_PID);
	struct vti_process *p;
	struct vti_thread *t;
	int code = check_times(s, rec, err);

	if (code < 0)
		return code;
	s->executes = true;
	p = find_sampled_process(s, (int64_t)pid);
	t = find_sampler_thread(s, pid, vt_record_u64(rec, VT_EXEC_TID), err);
	if (!p || !t)
		return vt_error_nomem(err);
	code = vti_sample_run(s, p, t, rec, err);
	if (code == 0 && t->stack.failed)
		return vt_error_nomem(err);
	return code < 0 ? refuse_execution(s, err) : 0;
}

static int copy_sampler_meta(struct vt_sampler *s, const struct vt_record *rec,
			     struct vt_error *err)
{
	if (vt_record_is_meta(rec, "sampling"))
		return vt_error_set(err, VT_E_ABSENT, VT_IS_SAMPLED);
	vt_writer_copy(s->w, rec);
	return 0;
}

static int sample_state(struct vt_sampler *s, const struct vt_record *rec, struct vt_error *err)
{
	struct vti_thread *t = find_sampler_thread(s, vt_record_u64(rec, VT_STATE_PID),
						   vt_record_u64(rec, VT_STATE_TID), err);

	if (!t)
		return -VT_E_NOMEM;
	if (vt_record_u64(rec, VT_STATE_REASON) == VT_STATE_WINDOW)
		interrupt_thread(t);
	if (s->o.keep)
		vt_writer_copy(s->w, rec);
	return 0;
}

static int take_signal(struct vt_sampler *s, const struct vt_record *rec, struct vt_error *err)
{
	struct vti_thread *t = find_sampler_thread(s, vt_record_u64(rec, VT_SIGNAL_PID),
						   vt_record_u64(rec, VT_SIGNAL_TID), err);

	if (!t)
		return -VT_E_NOMEM;
	if (s->o.follow && vt_record_u64(rec, VT_SIGNAL_HANDLER))
		vt_callstack_signal(&t->stack);
	vt_writer_copy(s->w, rec);
	return 0;
}

static int sample_thread(struct vt_sampler *s, const struct vt_record *rec, struct vt_error *err)
{
	struct vti_thread *t = find_sampler_thread(s, vt_record_u64(rec, VT_THREAD_PID),
						   vt_record_u64(rec, VT_THREAD_TID), err);

	if (!t)
		return -VT_E_NOMEM;
	if (vt_record_u64(rec, VT_THREAD_OP) != VT_OP_COMM)
		interrupt_thread(t);
	vt_writer_copy(s->w, rec);
	return 0;
}

static int sample_record(struct vt_sampler *s, const struct vt_record *rec, struct vt_error *err)
{
	switch (rec->kind) {
	case VT_BLOCK:
		return sample_block(s, rec, err);
	case VT_EXEC:
		return sample_exec(s, rec, err);
	case VT_META:
		return copy_sampler_meta(s, rec, err);
	case VT_STATE:
		return sample_state(s, rec, err);
	case VT_SIGNAL:
		return take_signal(s, rec, err);
	case VT_THREAD:
		return sample_thread(s, rec, err);
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
	default:
		break;
	}
	vt_writer_copy(s->w, rec);
	return 0;
}

static int feed_sampler(void *sampler, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_sampler *s = sampler;
	int code = sample_record(s, rec, err);

	/* A long recording is not read for nothing. */
	return code == 0 ? vt_writer_error(s->w, err) : code;
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
	vt_hash_init(&s->processes, sizeof(struct vti_process), sizeof(int64_t));
	vt_hash_init(&s->threads, sizeof(struct vti_thread), 2 * sizeof(int64_t));
	vt_hash_init(&s->bursts, sizeof(struct vti_burst), 2 * sizeof(uint64_t));
	vt_rng_init(&s->rng, o->seed);
	vt_context_add(o->context, &(struct vt_consumer){.record = feed_sampler, .arg = s});
	write_sampler_event(s);
	write_sampling_meta(s);
	return s;
}

void vt_sampler_free(struct vt_sampler *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->threads.count; i++)
		vt_callstack_fini(&((struct vti_thread *)vt_hash_at(&s->threads, i))->stack);
	for (i = 0; i < s->block_bursts_cap; i++)
		free(s->block_bursts[i]);
	free(s->block_bursts);
	vt_hash_fini(&s->processes);
	vt_hash_fini(&s->threads);
	vt_hash_fini(&s->bursts);
	free(s->units);
	free(s->cutter.ids);
	vt_buf_free(&s->cutter.ids_buf);
	vt_buf_free(&s->cutter.data);
	vt_buf_free(&s->cutter.used);
	free(s);
}

/* ---- the end ---- */

int vt_sampler_finish(struct vt_sampler *s, struct vt_error *err)
{
	if (!s->executes)
		return vt_error_set(err, VT_E_ABSENT, VT_NO_EXECUTED_CODE);
	if (!s->countable && s->o.unit != VT_SAMPLER_CYCLES)
		return vt_error_set(err, VT_E_ABSENT, "no %s (vtrace record --full records them)",
				    unit_names[s->o.unit]);
	vti_sampler_finish_bursts(s);
	return 0;
}
