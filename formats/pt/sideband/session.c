/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/sideband/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "formats/common/tempfile.h"
#include "formats/pt/decode/scan.h"
#include "formats/pt/options.h"
#include "formats/pt/packet.h"
#include "formats/pt/sideband/buffers.h"
#include "formats/pt/sideband/files.h"
#include "formats/pt/sideband/kernel.h"
#include "formats/pt/sideband/lbr.h"
#include "formats/pt/sideband/ptinfo.h"
#include "formats/pt/sideband/spaces.h"
#include "stream/kinds.h"

/* Flags of AUX records: PERF_AUX_FLAG_* of linux/perf_event.h. */
#define AUX_TRUNCATED 1
#define AUX_PARTIAL   4

/* The offset of next_pid in the raw data of sched:sched_switch: /sys/kernel/tracing/events/. */
#define SCHED_NEXT_PID 56

/* The state of decoding one queue. */
struct runner {
	const struct vt_pt_queue *queue;
	struct vt_pt_engine *engine; /* of the current segment; NULL: between two segments */
	size_t segment;		     /* the next one */
	int64_t pid, tid;	     /* who runs; -1: not known */
	uint64_t generation;	     /* of the engine's code; 0: it has none yet */
	uint64_t tsc, cycles;	     /* the clock where decoding stands */
	uint64_t until;		     /* the engine has stopped before this time */
	bool done;
	char name[VT_PT_QUEUE_NAME];
};

struct vt_aux_session {
	struct vt_pt_session_options opt;
	struct vti_pt_info info;
	struct vt_pt_buffers *buffers;
	struct vt_pt_files *files;
	struct vti_pt_kernel *kernel;
	struct vt_pt_spaces *spaces;
	struct vti_pt_lbr *lbr; /* NULL: branch stacks are not decoded */
	bool stacks;		/* the input has samples with branch stacks */
	struct vt_writer *w;
	struct vt_pt_emit *emit;
	struct runner *runners;
	size_t nrunners;
	struct vt_hash by_cpu; /* struct runner_row: the runners of processors, */
	struct vt_hash by_tid; /* and of threads */
	struct runner *last;   /* whose batch was emitted last */
	uint64_t gaps;	       /* GAP records written here */
};

/* Writes a GAP record that does not come from a decoder. */
static void write_runner_gap(struct vt_aux_session *s, const struct runner *r, uint64_t time,
			     const char *reason, uint64_t offset, uint64_t bytes)
{
	const struct vt_pt_gap gap = {time, r->pid, r->tid, offset, bytes, reason, r->name};

	vt_pt_queue_gap(r->queue, &gap, s->w);
	s->gaps++;
}

/* ---- the runners ---- */

struct runner_row {
	int64_t key;   /* CPU, or tid */
	size_t runner; /* its index */
};

static int add_runner_row(struct vt_hash *h, int64_t key, size_t runner, struct vt_error *err)
{
	bool added;
	struct runner_row *row = vt_hash_add(h, &key, &added);

	if (!row)
		return vt_error_nomem(err);
	if (added)
		row->runner = runner;
	return 0;
}

static int make_runners(struct vt_aux_session *s, struct vt_error *err)
{
	size_t n = vt_pt_buffers_count(s->buffers), i;
	int code = 0;

	vt_hash_init(&s->by_cpu, sizeof(struct runner_row), sizeof(int64_t));
	vt_hash_init(&s->by_tid, sizeof(struct runner_row), sizeof(int64_t));
	s->runners = calloc(n + 1, sizeof(*s->runners));
	if (!s->runners)
		return vt_error_nomem(err);
	s->nrunners = n;
	for (i = 0; i < n && code == 0; i++) {
		struct runner *r = &s->runners[i];

		r->queue = vt_pt_buffers_queue(s->buffers, i);
		r->pid = r->tid = -1;
		vt_pt_queue_name(r->queue, s->opt.input, r->name);
		/* If no record says who runs, it is the only process with code. */
		if (r->queue->cpu >= 0 && !s->info.switches) {
			r->pid = s->info.only_pid;
			r->tid = r->queue->tid > 0 ? r->queue->tid : r->pid;
		}
		if (r->queue->cpu >= 0) {
			code = add_runner_row(&s->by_cpu, r->queue->cpu, i, err);
			continue;
		}
		r->tid = r->queue->tid;
		code = add_runner_row(&s->by_tid, r->queue->tid, i, err);
	}
	return code;
}

static void free_runners(struct vt_aux_session *s)
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

static struct runner *find_runner_by_cpu(const struct vt_aux_session *s, uint64_t cpu)
{
	int64_t key = (int64_t)cpu;
	struct runner_row *row = s->nrunners ? vt_hash_find(&s->by_cpu, &key) : NULL;

	return row ? &s->runners[row->runner] : NULL;
}

static struct runner *find_runner_by_tid(const struct vt_aux_session *s, int64_t tid)
{
	struct runner_row *row = s->nrunners ? vt_hash_find(&s->by_tid, &tid) : NULL;

	return row ? &s->runners[row->runner] : NULL;
}

/* ---- decoding ---- */

/* The process whose code the runner executes. */
static int64_t get_runner_process(const struct vt_aux_session *s, struct runner *r)
{
	if (r->pid >= 0 || r->tid < 0)
		return r->pid;
	r->pid = vt_pt_spaces_process_of(s->spaces, r->tid);
	return r->pid;
}

/* Opens the next segment if none is open.  1; 0: there is none; or a negative error. */
static int open_next_segment(struct vt_aux_session *s, struct runner *r, struct vt_error *err)
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
	get_runner_process(s, r);
	if (g->missing)
		write_runner_gap(s, r, vt_pt_time(&s->info.conv, r->tsc),
				 "bytes of the trace are missing", 0, g->missing);
	/* The oldest bytes of a ring buffer are the end of an overwritten packet. */
	else if (g->apart || skip)
		write_runner_gap(s, r, vt_pt_time(&s->info.conv, r->tsc),
				 "overwritten before the snapshot", 0, skip);
	r->engine = s->opt.engine->open(g->bytes + skip, g->size - skip, &s->info.options, err);
	r->generation = 0;
	return r->engine ? 1 : -(int)err->code;
}

static int set_runner_code(struct vt_aux_session *s, struct runner *r, struct vt_error *err)
{
	uint64_t generation;
	const struct vt_pt_code *code =
		vt_pt_spaces_code(s->spaces, get_runner_process(s, r), &generation);

	if (!code)
		return vt_error_nomem(err);
	if (generation == r->generation)
		return 0;
	r->generation = generation;
	return s->opt.engine->set_code(r->engine, code, err);
}

static int emit_batch(struct vt_aux_session *s, struct runner *r, const struct vt_pt_batch *batch,
		      struct vt_error *err)
{
	struct vt_pt_context ctx = {
		.pid = r->pid, .tid = r->tid, .cpu = r->queue->cpu, .input = r->name};
	int code = 0;

	/* The emitter has one clock.  Set it to where this trace's clock was left. */
	if (s->last != r && (r->tsc || r->cycles)) {
		struct vt_pt_mark_time mark = {0, r->tsc, r->cycles};
		struct vt_pt_batch none = {.blocks = batch->blocks, .times = &mark, .ntimes = 1};

		code = vt_pt_emit_batch(s->emit, &ctx, &none, err);
	}
	s->last = r;
	return code == 0 ? vt_pt_emit_batch(s->emit, &ctx, batch, err) : code;
}

/* Remembers where the batch left the clock. */
static void follow_time(struct runner *r, const struct vt_pt_batch *b)
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

/*
 * Decodes one batch.  Sets r->until if the engine stops there, r->done at the end of the queue.
 */
static int decode_batch(struct vt_aux_session *s, struct runner *r, uint64_t until,
			struct vt_error *err)
{
	struct vt_pt_batch batch = {.nids = 0};
	int code = open_next_segment(s, r, err);

	if (code <= 0)
		return code;
	code = set_runner_code(s, r, err);
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
		/* The engine has stopped before `until`. */
		if (until < UINT64_MAX)
			r->until = until;
		return 0;
	}
	code = emit_batch(s, r, &batch, err);
	follow_time(r, &batch);
	return code;
}

/* Decodes a runner to its end. */
static int finish_runner(struct vt_aux_session *s, struct runner *r, struct vt_error *err)
{
	int code = 0;

	while (!r->done && code == 0)
		code = decode_batch(s, r, UINT64_MAX, err);
	return code;
}

/* Decodes all runners up to a TSC, the one with the earliest time first. */
static int advance_runners(struct vt_aux_session *s, uint64_t until, struct vt_error *err)
{
	for (;;) {
		struct runner *r = NULL;
		size_t i;
		int code;

		for (i = 0; i < s->nrunners; i++) {
			struct runner *x = &s->runners[i];

			if (!x->done && x->until < until && (!r || x->tsc < r->tsc))
				r = x;
		}
		if (!r)
			return 0;
		code = decode_batch(s, r, until, err);
		if (code < 0)
			return code;
	}
}

/* ---- the session ---- */

struct vt_aux_session *vt_pt_session_new(const struct vt_pt_session_options *opt,
					 struct vt_error *err)
{
	struct vt_aux_session *s = calloc(1, sizeof(*s));

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

void vt_pt_session_free(struct vt_aux_session *s)
{
	if (!s)
		return;
	if (s->runners)
		free_runners(s);
	vt_pt_emit_free(s->emit);
	vti_pt_lbr_free(s->lbr);
	vt_pt_spaces_free(s->spaces);
	vti_pt_kernel_free(s->kernel);
	vt_pt_files_free(s->files);
	vt_pt_buffers_free(s->buffers);
	free(s);
}

/* ---- first pass ---- */

static int scan_aux_piece(struct vt_aux_session *s, const struct vt_format_auxtrace *piece,
			  struct vt_error *err)
{
	return vt_pt_buffers_piece(s->buffers, piece, err);
}

int vt_pt_session_scan(struct vt_aux_session *s, const struct vt_record *rec, struct vt_error *err)
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

static void write_packet_kinds(const struct vt_aux_session *s, const struct vt_pt_queue *q)
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

/* Writes the PACKETS records of each trace. */
static void write_packets(const struct vt_aux_session *s)
{
	size_t i, k;

	for (i = 0; i < vt_pt_buffers_count(s->buffers); i++) {
		const struct vt_pt_queue *q = vt_pt_buffers_queue(s->buffers, i);
		uint64_t bytes = 0;

		if (s->opt.packets) {
			write_packet_kinds(s, q);
			continue;
		}
		for (k = 0; k < q->nsegments; k++)
			bytes += q->segments[k].size;
		vt_pt_packets_total(s->w, q->index, 0, bytes);
	}
}

int vt_pt_session_begin(struct vt_aux_session *s, struct vt_writer *w, struct vt_error *err)
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
	/* AUX areas of another type are copied. */
	if (!s->opt.engine || !s->info.found)
		return 0;
	code = vt_pt_buffers_seal(s->buffers, s->info.snapshot, err);
	if (code < 0)
		return code;
	write_packets(s);
	return make_runners(s, err);
}

/* ---- second pass ---- */

/* Writes GAP records for bytes that an AUX record reports as lost, or that should be there. */
static void check_aux(struct vt_aux_session *s, const struct vt_record *rec)
{
	uint64_t offset = vt_record_u64(rec, VT_AUX_OFFSET), size = vt_record_u64(rec, VT_AUX_SIZE);
	uint64_t flags = vt_record_u64(rec, VT_AUX_FLAGS), time = vt_record_u64(rec, VT_AUX_TIME);
	const struct runner *r = find_runner_by_tid(s, vt_record_i64(rec, VT_AUX_TID));
	uint64_t there;

	if (!r)
		r = find_runner_by_cpu(s, vt_record_u64(rec, VT_AUX_CPU));
	if (!r)
		return;
	there = offset < r->queue->end ? r->queue->end - offset : 0;
	if (flags & AUX_TRUNCATED)
		write_runner_gap(s, r, time, "AUX area full: the trace was cut", offset + size, 0);
	if (flags & AUX_PARTIAL)
		write_runner_gap(s, r, time, "AUX data have holes", offset, 0);
	if (!s->info.snapshot && size > there)
		write_runner_gap(s, r, time, "AUX record points outside of the trace", offset,
				 size - there);
}

/* ---- which thread runs ---- */

static void set_runner(struct runner *r, int64_t pid, int64_t tid)
{
	if (!r || r->queue->cpu < 0)
		return;
	r->pid = pid;
	r->tid = tid;
}

static void apply_switch(struct vt_aux_session *s, const struct vt_record *rec)
{
	struct runner *r = find_runner_by_cpu(s, vt_record_u64(rec, VT_SWITCH_CPU));

	/* If the next thread is not known, `other` is 0, which is also the idle task's number. */
	if (vt_record_u64(rec, VT_SWITCH_OUT))
		set_runner(r, vt_record_i64(rec, VT_SWITCH_OTHER_PID),
			   vt_record_i64(rec, VT_SWITCH_OTHER_TID));
	else
		set_runner(r, vt_record_i64(rec, VT_SWITCH_PID), vt_record_i64(rec, VT_SWITCH_TID));
}

static void apply_sched_switch(struct vt_aux_session *s, const struct vt_record *rec)
{
	struct vt_bytes raw = vt_record_bytes(rec, VT_SAMPLE_RAW);
	int64_t tid;

	if (raw.size < SCHED_NEXT_PID + 4)
		return;
	tid = (int32_t)vt_le32(raw.data + SCHED_NEXT_PID);
	set_runner(find_runner_by_cpu(s, vt_record_u64(rec, VT_SAMPLE_CPU)),
		   tid ? vt_pt_spaces_process_of(s->spaces, tid) : 0, tid);
}

static bool is_sched_switch(const struct vt_aux_session *s, const struct vt_record *rec)
{
	return rec->kind == VT_SAMPLE && s->info.sched_switch != UINT64_MAX &&
	       vt_record_u64(rec, VT_SAMPLE_EVENT) == s->info.sched_switch;
}

/* True for records that change the running thread or the code; *time: the record's time. */
static bool changes_execution(const struct vt_aux_session *s, const struct vt_record *rec,
			      uint64_t *time)
{
	switch (rec->kind) {
	case VT_MAP:
		/* A mapping without code, too, replaces what was there. */
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

/* Decodes what was executed before the record. */
static int decode_before(struct vt_aux_session *s, const struct vt_record *rec,
			 struct vt_error *err)
{
	struct runner *r;
	uint64_t time, tsc;
	int code;

	if (!s->nrunners || !changes_execution(s, rec, &time))
		return 0;
	if (s->info.timed) {
		tsc = vti_pt_tsc(&s->info.conv, time);
		if (!tsc)
			return 0;
		vt_pt_spaces_jit_time(s->spaces, time);
		code = advance_runners(s, tsc, err);
	} else {
		/* Without times, all of a thread's trace comes before its EXIT. */
		r = rec->kind == VT_THREAD && vt_record_u64(rec, VT_THREAD_OP) == VT_OP_EXIT
			    ? find_runner_by_tid(s, vt_record_i64(rec, VT_THREAD_TID))
			    : NULL;
		if (!r)
			return 0;
		vt_pt_spaces_jit_time(s->spaces, UINT64_MAX);
		code = finish_runner(s, r, err);
	}
	return code == 0 ? vt_pt_emit_flush(s->emit, err) : code;
}

static int apply_record(struct vt_aux_session *s, const struct vt_record *rec, struct vt_error *err)
{
	int code = vt_pt_spaces_feed(s->spaces, rec, err);

	if (code < 0)
		return code;
	switch (rec->kind) {
	case VT_SWITCH:
		apply_switch(s, rec);
		return 0;
	case VT_ITRACE:
		set_runner(find_runner_by_cpu(s, vt_record_u64(rec, VT_ITRACE_CPU)),
			   vt_record_i64(rec, VT_ITRACE_PID), vt_record_i64(rec, VT_ITRACE_TID));
		return 0;
	case VT_TEXTPOKE:
		return vti_pt_kernel_poke(s->kernel, rec, err);
	case VT_EVENT:
		return s->lbr ? vti_pt_lbr_event(s->lbr, rec, err) : 0;
	case VT_SAMPLE:
		if (is_sched_switch(s, rec))
			apply_sched_switch(s, rec);
		return 0;
	default:
		return 0;
	}
}

/*
 * True for records that branch stacks replace: blocks and executions of the input, and records
 * that are placed between executions by instruction count.  The blocks of the stacks have ids of
 * their own, from 1 on.
 */
static bool is_replaced(uint32_t kind)
{
	return kind == VT_BLOCK || kind == VT_EXEC || kind == VT_TRACE || kind == VT_STATE ||
	       kind == VT_SYSCALL || kind == VT_SIGNAL || kind == VT_MEMORY;
}

int vt_pt_session_record(struct vt_aux_session *s, const struct vt_record *rec,
			 struct vt_error *err)
{
	int code;

	if (rec->kind == VT_AUXTRACE && s->nrunners)
		return 0;
	if (s->stacks && is_replaced(rec->kind))
		return 0;
	code = decode_before(s, rec, err);
	if (code < 0)
		return code;
	code = apply_record(s, rec, err);
	if (code < 0)
		return code;
	vt_writer_copy(s->w, rec);
	if (rec->kind == VT_AUX && s->nrunners)
		check_aux(s, rec);
	if (rec->kind == VT_SAMPLE && s->lbr)
		return vti_pt_lbr_sample(s->lbr, rec, err);
	return vt_writer_error(s->w, err);
}

int vt_pt_session_end(struct vt_aux_session *s, struct vt_format_summary *sum, struct vt_error *err)
{
	const struct vt_pt_totals *t = vt_pt_emit_totals(s->emit);
	int code;

	vt_pt_spaces_jit_time(s->spaces, UINT64_MAX);
	code = s->nrunners ? advance_runners(s, UINT64_MAX, err) : 0;
	if (code == 0)
		code = vt_pt_emit_flush(s->emit, err);
	if (code == 0 && s->lbr)
		code = vti_pt_lbr_end(s->lbr, err);
	sum->damaged += t->gaps + s->gaps + (s->lbr ? vti_pt_lbr_gaps(s->lbr) : 0);
	sum->unread += t->skipped;
	sum->traced = true;
	sum->insns += t->insns;
	return code;
}

/* ---- the decoder in the table of decoders ---- */

static const char *get_engine_name(const struct vt_format_options *opt)
{
	return opt->pt && opt->pt->engine ? opt->pt->engine : VT_PT_DEFAULT_ENGINE;
}

static struct vt_find_options get_find_options(const struct vt_format_options *opt)
{
	static const char *const debugdirs[] = {"/usr/lib/debug"};
	struct vt_find_options find = {.debugdirs = debugdirs, .ndebugdirs = 1};

	if (opt->pt) {
		find.symfs = opt->pt->symfs;
		find.buildid_cache = opt->pt->cache;
		find.fetch = opt->pt->fetch;
		find.fetch_arg = opt->pt->fetch_arg;
	}
	return find;
}

/* The kernel's files must be readable even if the input has nothing to decode with them. */
static int check_pt_options(const struct vt_format_options *opt, struct vt_error *err)
{
	const struct vt_find_options find = get_find_options(opt);
	const char *name = get_engine_name(opt);
	struct vt_pt_file file;
	size_t i;

	if (strcmp(name, VT_PT_ENGINE_NONE) != 0 && !vt_pt_engine_by_name(name))
		return vt_error_set(err, VT_E_USAGE, "--engine: '%s' is not known", name);
	if (vt_find_check(&find, err) < 0)
		return -(int)err->code;
	for (i = 0; opt->pt && i < opt->pt->nkernels; i++) {
		if (vti_pt_file_map(&file, opt->pt->kernels[i], err) < 0)
			return -(int)err->code;
		vti_pt_file_unmap(&file);
	}
	return 0;
}

static struct vt_aux_session *open_pt_session(const struct vt_format_options *opt,
					      const char *input, struct vt_error *err)
{
	static const struct vt_pt_decode_options none;
	const struct vt_pt_decode_options *pt = opt->pt ? opt->pt : &none;
	const struct vt_pt_session_options o = {.engine =
							vt_pt_engine_by_name(get_engine_name(opt)),
						.jobs = pt->jobs,
						.packets = pt->packets,
						.lbr = pt->lbr,
						.find = get_find_options(opt),
						.kernels = pt->kernels,
						.nkernels = pt->nkernels,
						.tmpdir = vt_tempdir(opt->tmpdir),
						.input = input,
						.warn = opt->warn,
						.warn_arg = opt->warn_arg};

	return vt_pt_session_new(&o, err);
}

const struct vt_aux_decoder vt_pt_aux_decoder = {
	.type = VT_PT_AUXINFO_TYPE,
	.check_options = check_pt_options,
	.open = open_pt_session,
	.close = vt_pt_session_free,
	.scan_record = vt_pt_session_scan,
	.scan_piece = scan_aux_piece,
	.begin_output = vt_pt_session_begin,
	.decode_record = vt_pt_session_record,
	.end_output = vt_pt_session_end,
};
