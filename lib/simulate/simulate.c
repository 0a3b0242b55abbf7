/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "simulate/internal.h"

/* PERF_SAMPLE_BRANCH_USER and _ANY of linux/perf_event.h. */
#define BRANCHES (1u << 0 | 1u << 3)

/* ---- what the streams are told ---- */

static void write_meta(struct vt_simulate *s, const char *key, const char *value)
{
	struct vt_writer *const streams[] = {s->w, s->o.truth};
	size_t i;

	for (i = 0; i < 2 && streams[i]; i++) {
		vt_writer_row(streams[i], VT_META);
		vt_writer_text(streams[i], VT_META_KEY, key);
		vt_writer_text(streams[i], VT_META_VALUE, value);
	}
}

static void write_total(struct vt_simulate *s, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	write_meta(s, key, text);
}

static void write_events(struct vt_simulate *s, struct vt_writer *w)
{
	size_t i;

	for (i = 0; w && i < s->o.nevents; i++) {
		const char *name = vt_simulate_name(s->events[i].kind);
		uint64_t *row = vt_writer_row(w, VT_EVENT);

		row[VT_EVENT_ID] = VTI_SIMULATE_EVENT + i;
		row[VT_EVENT_POLICY] = VT_POLICY_MODEL;
		row[VT_EVENT_PERIOD] = s->events[i].interval.mean;
		row[VT_EVENT_BRANCH_TYPE] = s->o.stack ? BRANCHES : 0;
		vt_writer_text(w, VT_EVENT_NAME, name);
		vt_writer_text(w, VT_EVENT_UNIT, name);
	}
}

static void write_sampling(struct vt_simulate *s)
{
	static const char *const kinds[VT_NINTERVALS] = {"uniform", "geometric", "fixed"};
	struct vt_buf b = VT_BUF_INIT;
	size_t i;

	vt_buf_printf(&b, "a model of %s", s->o.core->name);
	for (i = 0; i < s->o.nevents; i++)
		vt_buf_printf(&b, ", %s, interval %" PRIu64 " %s",
			      vt_simulate_name(s->events[i].kind), s->events[i].interval.mean,
			      kinds[s->events[i].interval.kind]);
	write_meta(s, "cpu.model", s->o.core->name);
	write_meta(s, "sampling", vt_buf_str(&b));
	vt_buf_free(&b);
}

/* ---- making and freeing ---- */

struct vt_simulate *vt_simulate_new(const struct vt_simulate_options *o, struct vt_writer *w,
				    struct vt_error *err)
{
	struct vt_simulate *s = calloc(1, sizeof(*s));

	if (s) {
		s->o = *o;
		s->w = w;
		if (s->o.nevents > VT_SIMULATE_EVENTS)
			s->o.nevents = VT_SIMULATE_EVENTS;
		if (s->o.nevents)
			memcpy(s->events, o->events, s->o.nevents * sizeof(s->events[0]));
		s->o.events = s->events;
		s->dict = vt_bblocks_new();
		s->space = vt_addrspace_new();
		vt_hash_init(&s->processes, sizeof(int64_t) + sizeof(void *), sizeof(int64_t));
		vt_hash_init(&s->threads, 2 * sizeof(int64_t) + sizeof(void *),
			     2 * sizeof(int64_t));
		vti_simtruth_init(&s->truth);
	}
	if (!s || !s->dict || !s->space) {
		vt_simulate_free(s);
		vt_error_nomem(err);
		return NULL;
	}
	write_events(s, w);
	write_events(s, o->truth);
	write_sampling(s);
	return s;
}

void vt_simulate_free(struct vt_simulate *s)
{
	if (!s)
		return;
	vti_sim_free_blocks(s);
	vti_sim_free_threads(s);
	vti_simtruth_fini(&s->truth);
	vt_bblocks_free(s->dict);
	vt_addrspace_free(s->space);
	free(s);
}

/* ---- records ---- */

static void pass_on(struct vt_simulate *s, const struct vt_record *rec)
{
	vt_writer_copy(s->w, rec);
	if (s->o.truth)
		vt_writer_copy(s->o.truth, rec);
}

static int tell_bad(struct vt_simulate *s, struct vt_error *err)
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
	vti_sim_interrupt(s, NULL);
	return 0;
}

static int take_block(struct vt_simulate *s, const struct vt_record *rec, struct vt_error *err)
{
	if (vti_sim_block(s, rec, err) < 0)
		return tell_bad(s, err);
	pass_on(s, rec);
	return 0;
}

static int take_exec(struct vt_simulate *s, const struct vt_record *rec, struct vt_error *err)
{
	return vti_sim_exec(s, rec, err) < 0 ? tell_bad(s, err) : 0;
}

static int take_meta(struct vt_simulate *s, const struct vt_record *rec, struct vt_error *err)
{
	struct vt_bytes key = vt_record_bytes(rec, VT_META_KEY);

	if (key.size == 8 && memcmp(key.data, "sampling", 8) == 0)
		return vt_error_set(err, VT_E_ABSENT, VT_IS_SAMPLED);
	pass_on(s, rec);
	return 0;
}

/* A thread whose recording begins or goes on, or which is another program now. */
static int take_state(struct vt_simulate *s, const struct vt_record *rec, struct vt_error *err)
{
	struct vti_simthread *t;

	if (vt_record_u64(rec, VT_STATE_REASON) != VT_STATE_WINDOW)
		return 0;
	t = vti_sim_thread(s, vt_record_i64(rec, VT_STATE_PID), vt_record_i64(rec, VT_STATE_TID),
			   err);
	if (!t)
		return -(int)err->code;
	vti_sim_interrupt(s, t);
	return 0;
}

static int take_record(struct vt_simulate *s, const struct vt_record *rec, struct vt_error *err)
{
	int code = s->o.images ? vt_images_feed(s->o.images, rec, err) : 0;

	if (code == -VT_E_NOMEM)
		return code;
	switch (rec->kind) {
	case VT_BLOCK:
		return take_block(s, rec, err);
	case VT_EXEC:
		return take_exec(s, rec, err);
	case VT_META:
		return take_meta(s, rec, err);
	case VT_STATE:
		return take_state(s, rec, err);
	case VT_SYSCALL:
	case VT_MEMORY:
		return 0;
	case VT_GAP:
	case VT_LOST:
		vti_sim_interrupt(s, NULL);
		break;
	case VT_IMAGE:
	case VT_MAP:
	case VT_THREAD:
		code = vt_addrspace_feed(s->space, rec, err);
		if (code == -VT_E_NOMEM)
			return code;
		break;
	case VT_EVENT:
		return 0;
	case VT_SAMPLE:
		s->totals.samples++;
		return 0;
	default:
		break;
	}
	pass_on(s, rec);
	return 0;
}

int vt_simulate_feed(struct vt_simulate *s, const struct vt_block *block, uint32_t first,
		     uint32_t count, struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	int code = 0;

	for (; rec.row < first + count && code == 0; rec.row++)
		code = take_record(s, &rec, err);
	return code;
}

/* The event of cycles: what frequencies rest on. */
static uint64_t time_event(const struct vt_simulate *s)
{
	size_t i;

	for (i = 0; i + 1 < s->o.nevents; i++)
		if (s->events[i].kind == VT_SIMULATE_CYCLES)
			break;
	return VTI_SIMULATE_EVENT + i;
}

int vt_simulate_finish(struct vt_simulate *s, struct vt_error *err)
{
	if (!s->totals.execs)
		return vt_error_set(err, VT_E_ABSENT,
				    s->totals.bad ? "no executed code that could be run"
						  : VT_NO_EXECUTED_CODE);
	vti_sim_interrupt(s, NULL);
	write_total(s, "vsim.instructions", s->totals.insns);
	write_total(s, "vsim.cycles", s->totals.cycles);
	write_total(s, "vsim.accesses", s->totals.loads);
	write_total(s, "vsim.accesses_addressed", s->totals.addressed);
	write_total(s, "vsim.undecoded", s->totals.undecoded);
	if (s->truth.failed)
		return vt_error_nomem(err);
	if (!s->o.truth)
		return 0;
	return vti_simtruth_write(&s->truth, vt_sim_slots(s->o.core), time_event(s), s->o.truth,
				  err);
}

const struct vt_simulate_totals *vt_simulate_totals(const struct vt_simulate *s)
{
	return &s->totals;
}
