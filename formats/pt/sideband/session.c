/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/sideband/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "formats/pt/decode/scan.h"
#include "formats/pt/sideband/auxinfo.h"
#include "formats/pt/sideband/session_internal.h"
#include "stream/kinds.h"

/* Flags of AUX records: PERF_AUX_FLAG_* of linux/perf_event.h. */
#define AUX_TRUNCATED 1
#define AUX_PARTIAL   4

/* Where next_pid lies in the raw data of sched:sched_switch: /sys/kernel/tracing/events/…/format.
 */
#define SCHED_NEXT_PID 56

struct vt_pt_session *vt_pt_session_new(const struct vt_pt_session_options *opt,
					struct vt_error *err)
{
	struct vt_pt_session *s = calloc(1, sizeof(*s));

	if (!s) {
		vt_error_nomem(err);
		return NULL;
	}
	s->opt = *opt;
	vti_pt_info_init(&s->info);
	s->buffers = vt_pt_buffers_new(opt->tmpdir);
	s->files = vt_pt_files_new(&opt->find, opt->warn, opt->warn_arg);
	if (!s->buffers || !s->files) {
		vt_pt_session_free(s);
		vt_error_nomem(err);
		return NULL;
	}
	return s;
}

void vt_pt_session_free(struct vt_pt_session *s)
{
	if (!s)
		return;
	if (s->runners)
		vti_pt_runners_free(s);
	vt_pt_emit_free(s->emit);
	vti_pt_lbr_free(s->lbr);
	vt_pt_spaces_free(s->spaces);
	vti_pt_kernel_free(s->kernel);
	vt_pt_files_free(s->files);
	vt_pt_buffers_free(s->buffers);
	free(s);
}

bool vt_pt_session_is_pt(const struct vt_record *rec)
{
	return rec->kind == VT_AUXINFO && vt_record_u64(rec, VT_AUXINFO_TYPE) == VT_PT_AUXINFO_TYPE;
}

/* ---- first ---- */

int vt_pt_session_piece(struct vt_pt_session *s, const struct vt_format_auxtrace *piece,
			struct vt_error *err)
{
	return vt_pt_buffers_piece(s->buffers, piece, err);
}

int vt_pt_session_scan(struct vt_pt_session *s, const struct vt_record *rec, struct vt_error *err)
{
	vti_pt_info_feed(&s->info, rec);
	if (s->opt.lbr && rec->kind == VT_SAMPLE)
		s->stacks = s->stacks || vti_pt_lbr_has_stack(rec);
	if (rec->kind == VT_IMAGE)
		return vt_pt_files_image(s->files, rec, err);
	if (rec->kind == VT_AUXTRACE && s->opt.engine)
		return vt_pt_buffers_add(s->buffers, rec, err);
	return 0;
}

static void tell_kinds(const struct vt_pt_session *s, const struct vt_pt_queue *q)
{
	struct vt_pt_scan scan;
	size_t i;

	vt_pt_scan_init(&scan, &s->info.options);
	for (i = 0; i < q->nsegments; i++) {
		vt_pt_scan_feed(&scan, q->segments[i].bytes, q->segments[i].size);
		vt_pt_scan_break(&scan);
	}
	vt_pt_scan_write(&scan, q->index, s->w);
}

/* What each trace consists of. */
static void tell_packets(const struct vt_pt_session *s)
{
	size_t i, k;

	for (i = 0; i < vt_pt_buffers_count(s->buffers); i++) {
		const struct vt_pt_queue *q = vt_pt_buffers_queue(s->buffers, i);
		uint64_t bytes = 0;

		if (s->opt.packets) {
			tell_kinds(s, q);
			continue;
		}
		for (k = 0; k < q->nsegments; k++)
			bytes += q->segments[k].size;
		vt_pt_packets_total(s->w, q->index, 0, bytes);
	}
}

int vt_pt_session_begin(struct vt_pt_session *s, struct vt_writer *w, struct vt_error *err)
{
	int code;

	vti_pt_info_done(&s->info);
	s->info.options.jobs = s->opt.jobs;
	s->w = w;
	s->kernel = vti_pt_kernel_new(s->opt.kernels, s->opt.nkernels, s->info.kernel, err);
	if (!s->kernel)
		return -(int)err->code;
	s->spaces = vt_pt_spaces_new(s->files, vti_pt_kernel_code(s->kernel), s->opt.find.symfs,
				     &s->info.conv, s->info.has_times);
	s->emit = vt_pt_emit_new(w, &s->info.conv);
	if (!s->spaces || !s->emit)
		return vt_error_nomem(err);
	if (s->opt.lbr) {
		s->lbr = vti_pt_lbr_new(s->spaces, s->emit, w);
		if (!s->lbr)
			return vt_error_nomem(err);
	}
	/* Whatever else is in AUX areas is none of our business. */
	if (!s->opt.engine || !s->info.found)
		return 0;
	code = vt_pt_buffers_seal(s->buffers, s->info.snapshot, err);
	if (code < 0)
		return code;
	tell_packets(s);
	return vti_pt_runners_make(s, err);
}

/* ---- gaps ---- */

void vti_pt_session_gap(struct vt_pt_session *s, const struct vti_pt_runner *r, uint64_t time,
			const char *reason, uint64_t offset, uint64_t bytes)
{
	uint64_t *row = vt_writer_row(s->w, VT_GAP);

	row[VT_GAP_TIME] = time;
	row[VT_GAP_PID] = (uint64_t)r->pid;
	row[VT_GAP_TID] = (uint64_t)r->tid;
	row[VT_GAP_CPU] = r->queue->cpu < 0 ? 0 : (uint64_t)r->queue->cpu;
	row[VT_GAP_OFFSET] = offset;
	row[VT_GAP_BYTES] = bytes;
	vt_writer_text(s->w, VT_GAP_REASON, reason);
	vt_writer_text(s->w, VT_GAP_INPUT, r->name);
	s->gaps++;
}

/* What an AUX record says of the area: bytes were lost, or should be there. */
static void check_aux(struct vt_pt_session *s, const struct vt_record *rec)
{
	uint64_t offset = vt_record_u64(rec, VT_AUX_OFFSET), size = vt_record_u64(rec, VT_AUX_SIZE);
	uint64_t flags = vt_record_u64(rec, VT_AUX_FLAGS), time = vt_record_u64(rec, VT_AUX_TIME);
	const struct vti_pt_runner *r = vti_pt_runner_of_tid(s, vt_record_i64(rec, VT_AUX_TID));
	uint64_t there;

	if (!r)
		r = vti_pt_runner_of_cpu(s, vt_record_u64(rec, VT_AUX_CPU));
	if (!r)
		return;
	there = offset < r->queue->end ? r->queue->end - offset : 0;
	if (flags & AUX_TRUNCATED)
		vti_pt_session_gap(s, r, time, "AUX area full: the trace was cut", offset + size,
				   0);
	if (flags & AUX_PARTIAL)
		vti_pt_session_gap(s, r, time, "AUX data have holes", offset, 0);
	if (!s->info.snapshot && size > there)
		vti_pt_session_gap(s, r, time, "AUX record points outside of the trace", offset,
				   size - there);
}

/* ---- who runs ---- */

static void set_runner(struct vti_pt_runner *r, int64_t pid, int64_t tid)
{
	if (!r || r->queue->cpu < 0)
		return;
	r->pid = pid;
	r->tid = tid;
}

static void switch_record(struct vt_pt_session *s, const struct vt_record *rec)
{
	struct vti_pt_runner *r = vti_pt_runner_of_cpu(s, vt_record_u64(rec, VT_SWITCH_CPU));

	/* Without the next thread the other one is 0, which is the idle task's number, too. */
	if (vt_record_u64(rec, VT_SWITCH_OUT))
		set_runner(r, vt_record_i64(rec, VT_SWITCH_OTHER_PID),
			   vt_record_i64(rec, VT_SWITCH_OTHER_TID));
	else
		set_runner(r, vt_record_i64(rec, VT_SWITCH_PID), vt_record_i64(rec, VT_SWITCH_TID));
}

static void sched_record(struct vt_pt_session *s, const struct vt_record *rec)
{
	struct vt_bytes raw = vt_record_bytes(rec, VT_SAMPLE_RAW);
	int64_t tid;

	if (raw.size < SCHED_NEXT_PID + 4)
		return;
	tid = (int32_t)vt_le32(raw.data + SCHED_NEXT_PID);
	set_runner(vti_pt_runner_of_cpu(s, vt_record_u64(rec, VT_SAMPLE_CPU)),
		   tid ? vt_pt_spaces_process_of(s->spaces, tid) : 0, tid);
}

static bool is_sched_switch(const struct vt_pt_session *s, const struct vt_record *rec)
{
	return rec->kind == VT_SAMPLE && s->info.sched_switch != UINT64_MAX &&
	       vt_record_u64(rec, VT_SAMPLE_EVENT) == s->info.sched_switch;
}

/* True for records that change who runs what, and their time. */
static bool changes(const struct vt_pt_session *s, const struct vt_record *rec, uint64_t *time)
{
	switch (rec->kind) {
	case VT_MAP:
		/* One without code, too, takes away what was there. */
		*time = vt_record_u64(rec, VT_MAP_TIME);
		return true;
	case VT_THREAD:
		*time = vt_record_u64(rec, VT_THREAD_TIME);
		return vt_record_u64(rec, VT_THREAD_OP) != VT_OP_COMM;
	case VT_SWITCH:
		*time = vt_record_u64(rec, VT_SWITCH_TIME);
		return true;
	case VT_ITRACE:
		*time = vt_record_u64(rec, VT_ITRACE_TIME);
		return true;
	case VT_TEXTPOKE:
		*time = vt_record_u64(rec, VT_TEXTPOKE_TIME);
		return true;
	case VT_SAMPLE:
		*time = vt_record_u64(rec, VT_SAMPLE_TIME);
		return is_sched_switch(s, rec);
	default:
		return false;
	}
}

/* ---- second ---- */

static int decode_before(struct vt_pt_session *s, const struct vt_record *rec, struct vt_error *err)
{
	struct vti_pt_runner *r;
	uint64_t time, tsc;
	int code;

	if (!s->nrunners || !changes(s, rec, &time))
		return 0;
	if (s->info.timed) {
		tsc = vti_pt_tsc(&s->info.conv, time);
		if (!tsc)
			return 0;
		vt_pt_spaces_jit_time(s->spaces, time);
		code = vti_pt_runners_advance(s, tsc, err);
	} else {
		/* Without times, all of a thread's trace comes before its end. */
		r = rec->kind == VT_THREAD && vt_record_u64(rec, VT_THREAD_OP) == VT_OP_EXIT
			    ? vti_pt_runner_of_tid(s, vt_record_i64(rec, VT_THREAD_TID))
			    : NULL;
		if (!r)
			return 0;
		vt_pt_spaces_jit_time(s->spaces, UINT64_MAX);
		code = vti_pt_runner_finish(s, r, err);
	}
	return code == 0 ? vt_pt_emit_flush(s->emit, err) : code;
}

static int apply(struct vt_pt_session *s, const struct vt_record *rec, struct vt_error *err)
{
	int code = vt_pt_spaces_feed(s->spaces, rec, err);

	if (code < 0)
		return code;
	switch (rec->kind) {
	case VT_SWITCH:
		switch_record(s, rec);
		return 0;
	case VT_ITRACE:
		set_runner(vti_pt_runner_of_cpu(s, vt_record_u64(rec, VT_ITRACE_CPU)),
			   vt_record_i64(rec, VT_ITRACE_PID), vt_record_i64(rec, VT_ITRACE_TID));
		return 0;
	case VT_TEXTPOKE:
		return vti_pt_kernel_poke(s->kernel, rec, err);
	case VT_EVENT:
		return s->lbr ? vti_pt_lbr_event(s->lbr, rec, err) : 0;
	case VT_SAMPLE:
		if (is_sched_switch(s, rec))
			sched_record(s, rec);
		return 0;
	default:
		return 0;
	}
}

/*
 * What branch stacks replace: the blocks and runs of the input, and what lies between its runs by
 * their instructions.  The blocks of the stacks have numbers of their own, from 1 on.
 */
static bool is_replaced(uint32_t kind)
{
	return kind == VT_BLOCK || kind == VT_EXEC || kind == VT_TRACE || kind == VT_STATE ||
	       kind == VT_SYSCALL || kind == VT_SIGNAL || kind == VT_MEMORY;
}

int vt_pt_session_record(struct vt_pt_session *s, const struct vt_record *rec, struct vt_error *err)
{
	int code;

	if (rec->kind == VT_AUXTRACE && s->nrunners)
		return 0;
	if (s->stacks && is_replaced(rec->kind))
		return 0;
	code = decode_before(s, rec, err);
	if (code < 0)
		return code;
	code = apply(s, rec, err);
	if (code < 0)
		return code;
	vt_writer_copy(s->w, rec);
	if (rec->kind == VT_AUX && s->nrunners)
		check_aux(s, rec);
	if (rec->kind == VT_SAMPLE && s->lbr)
		return vti_pt_lbr_sample(s->lbr, rec, err);
	return vt_writer_error(s->w, err);
}

int vt_pt_session_end(struct vt_pt_session *s, struct vt_error *err)
{
	const struct vt_pt_totals *t;
	int code;

	vt_pt_spaces_jit_time(s->spaces, UINT64_MAX);
	code = s->nrunners ? vti_pt_runners_advance(s, UINT64_MAX, err) : 0;
	if (code == 0)
		code = vt_pt_emit_flush(s->emit, err);
	if (code == 0 && s->lbr)
		code = vti_pt_lbr_end(s->lbr, err);
	t = vt_pt_emit_totals(s->emit);
	s->totals = *t;
	s->totals.gaps += s->gaps + (s->lbr ? vti_pt_lbr_gaps(s->lbr) : 0);
	return code;
}

const struct vt_pt_totals *vt_pt_session_totals(const struct vt_pt_session *s)
{
	return &s->totals;
}
