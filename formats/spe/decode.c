/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/spe/decode.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "formats/common/tempfile.h"
#include "formats/pt/sideband/buffers.h"
#include "formats/spe/info.h"
#include "formats/spe/packet.h"
#include "formats/spe/tell.h"
#include "stream/kinds.h"

/* Flags of AUX records: PERF_AUX_FLAG_* of linux/perf_event.h. */
#define AUX_TRUNCATED 1
#define AUX_PARTIAL   4
#define AUX_COLLISION 8

/* The state of decoding one queue. */
struct runner {
	const struct vt_pt_queue *queue;
	size_t segment;
	size_t at;	  /* in the segment: after the record that is next */
	uint64_t offset;  /* of the segment in the area */
	int64_t pid, tid; /* who runs; -1: not known */
	bool unsure;	  /* several threads run, and it cannot be told when */
	uint64_t midr;
	uint64_t time; /* where the next record is put: never before an earlier one */
	bool live;     /* there is a next record */
	bool timed;    /* the next record has a time of its own, */
	uint64_t own;  /* this one */
	struct vt_spe_record next;
	char name[VT_PT_QUEUE_NAME];
};

struct tid_row {
	int64_t tid, pid;
};

struct runner_row {
	int64_t key;   /* CPU, or tid */
	size_t runner; /* its index */
};

struct vt_aux_session {
	struct vt_pt_buffers *buffers;
	const char *input;
	struct vt_spe_info info;
	struct vt_hash processes; /* struct tid_row */
	struct vt_writer *w;
	struct runner *runners; /* in the order of the queues */
	size_t nrunners;
	struct runner **heap; /* those with a next record; the earliest one first */
	size_t nheap;
	struct vt_hash by_cpu; /* struct runner_row: the runners of processors, */
	struct vt_hash by_tid; /* and of threads */
	bool timed;	       /* samples can be put between records by their times */
	uint64_t samples, gaps, unread;
};

/* ---- gaps ---- */

static void write_gap(struct vt_aux_session *s, const struct runner *r, uint64_t time,
		      const char *reason, uint64_t offset, uint64_t bytes)
{
	const struct vt_pt_gap gap = {time, r->pid, r->tid, offset, bytes, reason, r->name};

	vt_pt_queue_gap(r->queue, &gap, s->w);
	s->gaps++;
	s->unread += bytes;
}

static const char *describe_damage(int64_t code)
{
	return code == VT_SPE_CUT	? "SPE record is cut off"
	       : code == VT_SPE_UNKNOWN ? "unknown SPE packet"
					: "SPE record has no end";
}

/* ---- processes ---- */

static int learn_process(struct vt_aux_session *s, int64_t tid, int64_t pid, struct vt_error *err)
{
	struct tid_row *row = vt_hash_add(&s->processes, &tid, NULL);

	if (!row)
		return vt_error_nomem(err);
	row->pid = pid;
	return 0;
}

static int64_t find_process(const struct vt_aux_session *s, int64_t tid)
{
	const struct tid_row *row = s->processes.count ? vt_hash_find(&s->processes, &tid) : NULL;

	return row ? row->pid : -1;
}

/* ---- one runner ---- */

/* Skips what cannot be read at `p`, and reports it. */
static void skip_damage(struct vt_aux_session *s, struct runner *r, const uint8_t *p,
			const uint8_t *end, int64_t code)
{
	const uint8_t *next = code == VT_SPE_CUT ? end : vt_spe_resume(p, end, r->offset + r->at);

	write_gap(s, r, r->time, describe_damage(code), r->offset + r->at, (uint64_t)(next - p));
	r->at += (size_t)(next - p);
}

/* Goes on to the next segment.  False: there is none. */
static bool enter_segment(struct vt_aux_session *s, struct runner *r)
{
	const struct vt_pt_segment *g = &r->queue->segments[r->segment];

	r->offset += g->size;
	r->at = 0;
	if (++r->segment >= r->queue->nsegments)
		return false;
	g++;
	if (g->missing)
		write_gap(s, r, r->time, "bytes of the trace are missing", r->offset, g->missing);
	r->offset += g->missing;
	return true;
}

static void place_record(const struct vt_aux_session *s, struct runner *r)
{
	r->timed =
		r->next.has & VT_SPE_HAS_TIME && vt_spe_info_time(&s->info, r->next.time, &r->own);
	if (r->timed && r->own > r->time)
		r->time = r->own;
}

/* Reads the next record into r->next.  False: there is none. */
static bool read_next(struct vt_aux_session *s, struct runner *r)
{
	while (r->segment < r->queue->nsegments) {
		const struct vt_pt_segment *g = &r->queue->segments[r->segment];
		const uint8_t *p = g->bytes + r->at, *end = g->bytes + g->size;
		int64_t size = vt_spe_record_read(&r->next, p, end, r->offset + r->at);

		if (size == 0 && !enter_segment(s, r))
			return false;
		if (size < 0)
			skip_damage(s, r, p, end, size);
		if (size <= 0)
			continue;
		r->at += (size_t)size;
		if (r->next.has & VT_SPE_HAS_ADDR(VT_SPE_PC)) {
			place_record(s, r);
			return true;
		}
		write_gap(s, r, r->time, "SPE record without an address",
			  r->offset + r->at - (uint64_t)size, (uint64_t)size);
	}
	return false;
}

/* Writes the sample of the next record, and reads the one after it. */
static void emit_sample(struct vt_aux_session *s, struct runner *r)
{
	uint64_t *row = vt_writer_row(s->w, VT_SAMPLE);
	int64_t tid = r->tid, pid = r->pid;

	if (r->next.has & VT_SPE_HAS_CONTEXT) {
		tid = (int64_t)(r->next.context & UINT32_MAX);
		pid = tid == r->tid && pid >= 0 ? pid : find_process(s, tid);
	} else if (pid < 0 && tid >= 0) {
		pid = r->pid = find_process(s, tid);
	}
	vt_spe_tell(row, &r->next, r->midr);
	row[VT_SAMPLE_EVENT] = s->info.event;
	row[VT_SAMPLE_PID] = (uint64_t)pid;
	row[VT_SAMPLE_TID] = (uint64_t)tid;
	row[VT_SAMPLE_PERIOD] = s->info.period;
	row[VT_SAMPLE_HAS] |= (tid >= 0 ? VT_HAS_TID : 0) | (s->info.period ? VT_HAS_PERIOD : 0);
	if (r->queue->cpu >= 0) {
		row[VT_SAMPLE_CPU] = (uint64_t)r->queue->cpu;
		row[VT_SAMPLE_HAS] |= VT_HAS_CPU;
	}
	if (r->timed) {
		row[VT_SAMPLE_TIME] = r->own;
		row[VT_SAMPLE_HAS] |= VT_HAS_TIME;
	}
	s->samples++;
	r->live = read_next(s, r);
}

/* ---- all runners, by time ---- */

static bool comes_before(const struct runner *a, const struct runner *b)
{
	return a->time != b->time ? a->time < b->time : a < b;
}

/* Moves the entry at `i`, which may be too late for its place, down the heap. */
static void sink(struct vt_aux_session *s, size_t i)
{
	struct runner *r = s->heap[i];
	size_t child;

	while ((child = 2 * i + 1) < s->nheap) {
		if (child + 1 < s->nheap && comes_before(s->heap[child + 1], s->heap[child]))
			child++;
		if (!comes_before(s->heap[child], r))
			break;
		s->heap[i] = s->heap[child];
		i = child;
	}
	s->heap[i] = r;
}

/* Writes the samples before a time; UINT64_MAX: all. */
static int advance(struct vt_aux_session *s, uint64_t until, struct vt_error *err)
{
	while (s->nheap && (s->heap[0]->time < until || until == UINT64_MAX)) {
		struct runner *r = s->heap[0];

		if (r->live)
			emit_sample(s, r);
		if (!r->live)
			s->heap[0] = s->heap[--s->nheap];
		if (s->nheap)
			sink(s, 0);
	}
	return vt_writer_error(s->w, err);
}

/* ---- the session ---- */

static int check_options(const struct vt_format_options *opt, struct vt_error *err)
{
	(void)opt;
	(void)err;
	return 0;
}

static void close_session(struct vt_aux_session *s)
{
	vt_pt_buffers_free(s->buffers);
	vt_spe_info_fini(&s->info);
	vt_hash_fini(&s->processes);
	vt_hash_fini(&s->by_cpu);
	vt_hash_fini(&s->by_tid);
	free(s->runners);
	free(s->heap);
	free(s);
}

static struct vt_aux_session *open_session(const struct vt_format_options *opt, const char *input,
					   struct vt_error *err)
{
	struct vt_aux_session *s = calloc(1, sizeof(*s));

	if (s)
		s->buffers = vt_pt_buffers_new(vt_tempdir(opt->tmpdir));
	if (!s || !s->buffers) {
		free(s);
		vt_error_nomem(err);
		return NULL;
	}
	s->input = input;
	vt_spe_info_init(&s->info);
	vt_hash_init(&s->processes, sizeof(struct tid_row), sizeof(int64_t));
	vt_hash_init(&s->by_cpu, sizeof(struct runner_row), sizeof(int64_t));
	vt_hash_init(&s->by_tid, sizeof(struct runner_row), sizeof(int64_t));
	return s;
}

static int scan_record(struct vt_aux_session *s, const struct vt_record *rec, struct vt_error *err)
{
	vt_spe_info_feed(&s->info, rec);
	return rec->kind == VT_AUXTRACE ? vt_pt_buffers_add(s->buffers, rec, err) : 0;
}

static int scan_piece(struct vt_aux_session *s, const struct vt_format_auxtrace *piece,
		      struct vt_error *err)
{
	return vt_pt_buffers_piece(s->buffers, piece, err);
}

static void start_runner(struct vt_aux_session *s, struct runner *r, const struct vt_pt_queue *q)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < q->nsegments; i++)
		bytes += q->segments[i].size + (i ? q->segments[i].missing : 0);
	*r = (struct runner){.queue = q,
			     .offset = q->end > bytes ? q->end - bytes : 0,
			     .pid = -1,
			     .tid = q->tid > 0 ? q->tid : -1,
			     .midr = vt_spe_info_midr(&s->info, q->cpu)};
	vt_pt_queue_name(q, s->input, r->name);
	if (!s->info.has_event)
		write_gap(s, r, 0, "the recording has no event of Arm SPE", r->offset, bytes);
	else
		r->live = read_next(s, r);
	if (r->live)
		s->heap[s->nheap++] = r;
}

/* The first of several areas of one processor or thread is the one that is found. */
static int index_runner(struct vt_aux_session *s, size_t i, struct vt_error *err)
{
	const struct vt_pt_queue *q = s->runners[i].queue;
	bool added;
	struct runner_row *row = q->cpu >= 0 ? vt_hash_add(&s->by_cpu, &q->cpu, &added)
					     : vt_hash_add(&s->by_tid, &q->tid, &added);

	if (!row)
		return vt_error_nomem(err);
	if (added)
		row->runner = i;
	return 0;
}

static struct runner *find_runner(const struct vt_aux_session *s, const struct vt_hash *h,
				  int64_t key)
{
	const struct runner_row *row = h->count ? vt_hash_find(h, &key) : NULL;

	return row ? &s->runners[row->runner] : NULL;
}

static int begin_output(struct vt_aux_session *s, struct vt_writer *w, struct vt_error *err)
{
	size_t i;
	int code = vt_pt_buffers_seal(s->buffers, false, err);

	if (code < 0)
		return code;
	vt_spe_info_done(&s->info);
	s->w = w;
	s->timed = s->info.conv.known && s->info.has_times;
	s->nrunners = vt_pt_buffers_count(s->buffers);
	s->runners = calloc(s->nrunners + 1, sizeof(*s->runners));
	s->heap = calloc(s->nrunners + 1, sizeof(struct runner *));
	if (!s->runners || !s->heap)
		return vt_error_nomem(err);
	for (i = 0; i < s->nrunners && code == 0; i++) {
		start_runner(s, &s->runners[i], vt_pt_buffers_queue(s->buffers, i));
		code = index_runner(s, i, err);
	}
	for (i = s->nheap; i-- > 0;)
		sink(s, i);
	return code == 0 ? vt_writer_error(w, err) : code;
}

/* ---- second pass ---- */

/* Writes GAP records for what an AUX record reports as lost. */
static void check_aux(struct vt_aux_session *s, const struct vt_record *rec)
{
	uint64_t offset = vt_record_u64(rec, VT_AUX_OFFSET), size = vt_record_u64(rec, VT_AUX_SIZE);
	uint64_t flags = vt_record_u64(rec, VT_AUX_FLAGS), time = vt_record_u64(rec, VT_AUX_TIME);
	struct runner *r = find_runner(s, &s->by_tid, vt_record_i64(rec, VT_AUX_TID));

	if (!r)
		r = find_runner(s, &s->by_cpu, vt_record_i64(rec, VT_AUX_CPU));
	if (!r)
		return;
	if (flags & AUX_TRUNCATED)
		write_gap(s, r, time, "AUX area full: the trace was cut", offset + size, 0);
	if (flags & AUX_PARTIAL)
		write_gap(s, r, time, "AUX data have holes", offset, 0);
	if (flags & AUX_COLLISION)
		write_gap(s, r, time, "collision: samples were dropped; it is not told how many",
			  offset, 0);
}

static void set_running(struct vt_aux_session *s, uint64_t cpu, int64_t pid, int64_t tid)
{
	struct runner *r = find_runner(s, &s->by_cpu, (int64_t)cpu);

	if (!r || r->unsure)
		return;
	/* Without times, all records of the area come later: it is one thread's, or nobody's. */
	r->unsure = !s->timed && r->tid >= 0 && r->tid != tid;
	r->pid = r->unsure ? -1 : pid;
	r->tid = r->unsure ? -1 : tid;
}

static int apply_record(struct vt_aux_session *s, const struct vt_record *rec, struct vt_error *err)
{
	switch (rec->kind) {
	case VT_THREAD:
		return learn_process(s, vt_record_i64(rec, VT_THREAD_TID),
				     vt_record_i64(rec, VT_THREAD_PID), err);
	case VT_SWITCH:
		/* If the next thread is not known, `other` is 0: the idle task. */
		if (vt_record_u64(rec, VT_SWITCH_OUT))
			set_running(s, vt_record_u64(rec, VT_SWITCH_CPU),
				    vt_record_i64(rec, VT_SWITCH_OTHER_PID),
				    vt_record_i64(rec, VT_SWITCH_OTHER_TID));
		else
			set_running(s, vt_record_u64(rec, VT_SWITCH_CPU),
				    vt_record_i64(rec, VT_SWITCH_PID),
				    vt_record_i64(rec, VT_SWITCH_TID));
		return 0;
	case VT_ITRACE:
		set_running(s, vt_record_u64(rec, VT_ITRACE_CPU), vt_record_i64(rec, VT_ITRACE_PID),
			    vt_record_i64(rec, VT_ITRACE_TID));
		return 0;
	default:
		return 0;
	}
}

static int decode_record(struct vt_aux_session *s, const struct vt_record *rec,
			 struct vt_error *err)
{
	struct runner *r = NULL;
	uint64_t time;
	int code = 0;

	if (rec->kind == VT_AUXTRACE)
		return 0;
	if (s->timed && vt_spe_record_time(rec, &time))
		code = advance(s, time, err);
	else if (!s->timed && rec->kind == VT_THREAD &&
		 vt_record_u64(rec, VT_THREAD_OP) == VT_OP_EXIT)
		r = find_runner(s, &s->by_tid, vt_record_i64(rec, VT_THREAD_TID));
	while (r && r->live)
		emit_sample(s, r);
	if (code == 0)
		code = apply_record(s, rec, err);
	if (code < 0)
		return code;
	vt_writer_copy(s->w, rec);
	if (rec->kind == VT_AUX)
		check_aux(s, rec);
	return vt_writer_error(s->w, err);
}

static int end_output(struct vt_aux_session *s, struct vt_format_summary *sum, struct vt_error *err)
{
	int code = advance(s, UINT64_MAX, err);

	sum->samples += s->samples;
	sum->damaged += s->gaps;
	sum->unread += s->unread;
	return code;
}

const struct vt_aux_decoder vt_spe_aux_decoder = {
	.type = VT_SPE_AUXINFO_TYPE,
	.check_options = check_options,
	.open = open_session,
	.close = close_session,
	.scan_record = scan_record,
	.scan_piece = scan_piece,
	.begin_output = begin_output,
	.decode_record = decode_record,
	.end_output = end_output,
};
