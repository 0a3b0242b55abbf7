/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a sampler writes, record by record: small streams, and all that comes of them as text.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "tests/unit/common/streams.h"
#include "tests/unit/sample/sampled.h"

#define PID   1
#define TID   2
#define OTHER 3
#define EVENT 0x76730001
#define USER  2

enum { P, Q, R, S };

/* Q calls, and S is where that returns to. */
static const struct sampled_block blocks[] = {
	[P] = {0x1000,
	       3,
	       {2, 3, 1},
	       VT_END_FALL,
	       2,
	       {SAMPLED_SLOT(0, VT_WHAT_LOAD, 4), SAMPLED_SLOT(2, VT_WHAT_STORE, 1)}},
	[Q] = {0x2000, 2, {3, 2}, VT_END_CALL, 0, {0}},
	[R] = {0x3000, 1, {1}, VT_END_RETURN, 1, {SAMPLED_SLOT(0, VT_WHAT_LOAD, 1)}},
	[S] = {0x2005, 1, {2}, VT_END_JUMP, 0, {0}},
};

static const uint8_t values[] = {0x11, 0x22, 0x33, 0x44, 0x55};

/* ---- what goes in ---- */

struct maker {
	struct vt_writer *w;
	uint64_t first;
	int64_t tid;
	uint64_t time;
	uint64_t caller;
};

typedef void put_fn(struct maker *m);

static void put_blocks(struct maker *m)
{
	unsigned i;

	for (i = 0; i < sizeof(blocks) / sizeof(*blocks); i++)
		sampled_put_block(m->w, 7 + i, PID, &blocks[i]);
}

/* A run of whole blocks, each a letter. */
static uint64_t *run(struct maker *m, const char *names)
{
	struct sampled_run r = {PID, m->tid, m->time, m->first, m->caller, 0, 0};
	uint8_t data[64];
	uint32_t ids[16];
	size_t n, size = 0;

	for (n = 0; names[n]; n++) {
		unsigned b = (unsigned)(names[n] - 'P');

		ids[n] = 7 + b;
		r.insns += blocks[b].ninsns;
		if (b == P)
			memcpy(data + size, values, sizeof(values));
		if (b == R)
			data[size] = 0x77;
		size += b == P ? sizeof(values) : b == R;
	}
	m->first += r.insns;
	return sampled_put_run(m->w, &r, ids, n, data, size);
}

static void tell_meta(struct maker *m, const char *key)
{
	vt_writer_row(m->w, VT_META);
	vt_writer_text(m->w, VT_META_KEY, key);
}

static void tell_thread(struct maker *m, int64_t tid, enum vt_thread_op op)
{
	uint64_t *row = vt_writer_row(m->w, VT_THREAD);

	row[VT_THREAD_PID] = PID;
	row[VT_THREAD_TID] = (uint64_t)tid;
	row[VT_THREAD_OP] = op;
}

static void tell_state(struct maker *m, int64_t tid, uint64_t reason)
{
	uint64_t *row = vt_writer_row(m->w, VT_STATE);

	row[VT_STATE_PID] = PID;
	row[VT_STATE_TID] = (uint64_t)tid;
	row[VT_STATE_REASON] = reason;
}

static void tell_signal(struct maker *m, uint64_t handler)
{
	uint64_t *row = vt_writer_row(m->w, VT_SIGNAL);

	row[VT_SIGNAL_PID] = PID;
	row[VT_SIGNAL_TID] = (uint64_t)m->tid;
	row[VT_SIGNAL_HANDLER] = handler;
}

/* ---- what comes out ---- */

static void add_words(struct vt_buf *b, const char *name, struct vt_words v)
{
	size_t i;

	for (i = 0; i < v.count; i++)
		vt_buf_printf(b, "%s%" PRIu64, i ? "," : name, v.data[i]);
}

/* X, the part: process, thread, position, number, and what is skipped. */
static void add_exec(struct vt_buf *b, const struct vt_record *rec)
{
	struct vt_bytes ids = vt_record_bytes(rec, VT_EXEC_IDS);
	struct vt_bytes data = vt_record_bytes(rec, VT_EXEC_DATA);
	size_t i;

	assert_int_equal(vt_record_u64(rec, VT_EXEC_WIDTH), 2);
	assert_int_equal(vt_record_u64(rec, VT_EXEC_BLOCKS) * 2, ids.size);
	vt_buf_printf(b, "X%" PRId64 "/%" PRId64 "@%" PRIu64 "+%" PRIu64 "~%" PRIu64 "[",
		      vt_record_i64(rec, VT_EXEC_PID), vt_record_i64(rec, VT_EXEC_TID),
		      vt_record_u64(rec, VT_EXEC_FIRST), vt_record_u64(rec, VT_EXEC_INSNS),
		      vt_record_u64(rec, VT_EXEC_SKIP));
	for (i = 0; i < ids.size; i += 2)
		vt_buf_printf(b, "%s%u", i ? "," : "", ids.data[i] | ids.data[i + 1] << 8);
	vt_buf_printf(b, "]%" PRIu64 " ", vt_record_u64(rec, VT_EXEC_BASE));
	for (i = 0; i < data.size; i++)
		vt_buf_printf(b, "%02x%s", data.data[i], i + 1 < data.size ? "" : " ");
	if (vt_record_u64(rec, VT_EXEC_CALLER))
		vt_buf_printf(b, "^%" PRIx64 " ", vt_record_u64(rec, VT_EXEC_CALLER));
	if (vt_record_u64(rec, VT_EXEC_TSC))
		vt_buf_printf(b, "tsc%" PRIu64 " cycles%" PRIu64 " ",
			      vt_record_u64(rec, VT_EXEC_TSC), vt_record_u64(rec, VT_EXEC_CYCLES));
	add_words(b, "at", vt_record_words(rec, VT_EXEC_TIME_AT));
	add_words(b, ":", vt_record_words(rec, VT_EXEC_TIME_TSC));
	add_words(b, ":", vt_record_words(rec, VT_EXEC_TIME_CYCLES));
}

static void add_record(struct vt_buf *b, const struct vt_record *rec)
{
	struct vt_bytes reason;

	switch (rec->kind) {
	case VT_BLOCK:
		vt_buf_printf(b, "B%" PRIu64 "@%" PRIx64 " ", vt_record_u64(rec, VT_BLOCK_ID),
			      vt_record_u64(rec, VT_BLOCK_ADDR));
		break;
	case VT_SAMPLE:
		assert_int_equal(vt_record_u64(rec, VT_SAMPLE_EVENT), EVENT);
		assert_int_equal(vt_record_u64(rec, VT_SAMPLE_MISC), USER);
		vt_buf_printf(b, "S%" PRIx64 "*%" PRIu64 " ", vt_record_u64(rec, VT_SAMPLE_IP),
			      vt_record_u64(rec, VT_SAMPLE_PERIOD));
		break;
	case VT_EXEC:
		add_exec(b, rec);
		break;
	case VT_GAP:
		reason = vt_record_bytes(rec, VT_GAP_REASON);
		vt_buf_printf(b, "GAP%" PRIu64 "(%.*s) ", vt_record_u64(rec, VT_GAP_RECORDS),
			      (int)reason.size, (const char *)reason.data);
		break;
	default:
		vt_buf_printf(b, "%s ", rec->block->desc->name);
	}
}

/* Samples the stream; its text, behind the event and how it was sampled, is to be this. */
static void sample(struct sampled *s, const struct vt_sampler_options *o, put_fn *put,
		   const char *want)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_buf text = VT_BUF_INIT;
	int fd = scratch_file();
	struct maker m = {.w = start_stream(fd), .tid = TID, .time = 50};
	struct vt_record rec = {0};

	put(&m);
	sampled_take(s, fd, m.w, o);
	assert_int_equal(vt_reader_next(s->r, &rec, &err), 1);
	assert_int_equal(rec.kind, VT_EVENT);
	assert_int_equal(vt_reader_next(s->r, &rec, &err), 1);
	assert_int_equal(rec.kind, VT_META);
	while (vt_reader_next(s->r, &rec, &err) > 0)
		add_record(&text, &rec);
	assert_string_equal(vt_buf_str(&text), want);
	vt_buf_free(&text);
}

static void check(const struct vt_sampler_options *o, put_fn *put, const char *want)
{
	struct sampled s;

	sample(&s, o, put, want);
	assert_int_equal(s.code, 0);
	assert_int_equal(s.warnings.size, 0);
	sampled_drop(&s);
}

/* Feeding, or the end, is to fail with this text. */
static void check_fails(const struct vt_sampler_options *o, put_fn *put, const char *want,
			const char *why)
{
	struct sampled s;

	sample(&s, o, put, want);
	assert_int_equal(s.code, -VT_E_ABSENT);
	assert_string_equal(s.err.text, why);
	sampled_drop(&s);
}

/* Fixed intervals, of which the first is as long as that. */
static struct vt_sampler_options every(enum vt_sampler_unit unit, uint64_t mean, uint64_t first,
				       uint64_t burst)
{
	struct vt_sampler_options o = {.unit = unit, .burst = burst, .fraction = 1};
	struct vt_rng rng;

	o.interval = vt_interval_make(VT_INTERVAL_FIXED, mean);
	do
		vt_rng_init(&rng, ++o.seed);
	while (vt_interval_first(&o.interval, &rng) != first);
	return o;
}

/* ---- parts of runs ---- */

static void put_parts(struct maker *m)
{
	put_blocks(m);
	run(m, "PQRSP");
	m->caller = 0x999;
	run(m, "P");
}

/* What was to be interpreted beyond a run's end goes on in the next. */
static void test_parts(void **state)
{
	struct vt_sampler_options o = every(VT_SAMPLER_INSNS, 4, 2, 2);

	(void)state;
	check(&o, put_parts,
	      "S1002*2 S3000*4 B0@1000 X1/2@1+2~1[0]0 55 "
	      "S1005*4 B1@3000 B2@2005 X1/2@5+2~0[0,1]1 77 X1/2@9+1~2[0]0 55 "
	      "X1/2@10+1~0[0]0 11223344 ^999 ");
	o.burst = 0;
	check(&o, put_parts, "S1002*2 S3000*4 S1005*4 ");
	/* The same instructions as loads: P, R, P and P have one. */
	o = every(VT_SAMPLER_LOADS, 2, 2, 1);
	check(&o, put_parts,
	      "S3000*2 B0@3000 X1/2@5+1~0[0]0 77 S1000*2 B1@1000 "
	      "X1/2@10+1~0[0]1 11223344 ^999 ");
}

static void put_touching(struct maker *m)
{
	put_blocks(m);
	m->caller = 0x999;
	run(m, "PQPQ");
}

/* Parts that touch are one, those of an instruction in between are two. */
static void test_touching(void **state)
{
	struct vt_sampler_options o = every(VT_SAMPLER_INSNS, 3, 1, 3);

	(void)state;
	check(&o, put_touching,
	      "S1000*1 S2000*3 S1002*3 S2003*3 B0@1000 B1@2000 "
	      "X1/2@0+10~0[0,1,0,1]0 11223344551122334455 ^999 ");
	o.burst = 2;
	check(&o, put_touching,
	      "S1000*1 S2000*3 B0@1000 X1/2@0+2~0[0]0 11223344 ^999 "
	      "S1002*3 B1@2000 X1/2@3+2~0[0]1 S2003*3 X1/2@6+2~1[0]0 55 X1/2@9+1~1[0]1 ");
}

static void put_empty(struct maker *m)
{
	put_blocks(m);
	run(m, "P");
	run(m, "");
	run(m, "P");
}

/* A run of nothing ends nothing. */
static void test_empty(void **state)
{
	struct vt_sampler_options o = every(VT_SAMPLER_INSNS, 100, 3, 3);

	(void)state;
	check(&o, put_empty, "S1005*3 B0@1000 X1/2@2+1~2[0]0 55 X1/2@3+2~0[0]0 11223344 ");
	o = every(VT_SAMPLER_CYCLES, 100, 1, 3);
	o.follow = true;
	check_fails(&o, put_empty, "",
		    "no relation of times to cycles (vtrace decode finds it in perf.data: "
		    "TIMECONV)");
}

static void put_timed(struct maker *m)
{
	const uint64_t at[] = {1, 3}, tsc[] = {110, 130}, cycles[] = {1010, 1030};
	uint64_t *row;

	put_blocks(m);
	row = run(m, "PRRSP");
	row[VT_EXEC_TSC] = 100;
	row[VT_EXEC_CYCLES] = 1000;
	vt_writer_words(m->w, VT_EXEC_TIME_AT, at, 2);
	vt_writer_words(m->w, VT_EXEC_TIME_TSC, tsc, 2);
	vt_writer_words(m->w, VT_EXEC_TIME_CYCLES, cycles, 2);
}

/* A part has the times of its blocks. */
static void test_times(void **state)
{
	struct vt_sampler_options o = every(VT_SAMPLER_INSNS, 100, 4, 2);

	(void)state;
	check(&o, put_timed, "S3000*4 B0@3000 X1/2@3+2~0[0,0]0 7777 tsc110 cycles1010 ");
	o.burst = 3;
	check(&o, put_timed,
	      "S3000*4 B0@3000 B1@2005 X1/2@3+3~0[0,0,1]0 7777 "
	      "tsc110 cycles1010 at2:130:1030");
}

/* ---- other records ---- */

/* A burst goes on behind the record, or not. */
#define AROUND(name, put)                                                                          \
	static void put_around_##name(struct maker *m)                                             \
	{                                                                                          \
		put_blocks(m);                                                                     \
		run(m, "P");                                                                       \
		put;                                                                               \
		run(m, "P");                                                                       \
	}

AROUND(comm, tell_thread(m, TID, VT_OP_COMM))
AROUND(exec, tell_thread(m, TID, VT_OP_EXEC))
AROUND(exit, tell_thread(m, TID, VT_OP_EXIT))
AROUND(other_exit, tell_thread(m, OTHER, VT_OP_EXIT))
AROUND(window, tell_state(m, TID, VT_STATE_WINDOW))
AROUND(other_window, tell_state(m, OTHER, VT_STATE_WINDOW))
AROUND(state, tell_state(m, TID, VT_STATE_SIGNAL))
AROUND(signal, tell_signal(m, 0x3000))
AROUND(gap, vt_writer_row(m->w, VT_GAP))
AROUND(lost, vt_writer_row(m->w, VT_LOST))
AROUND(syscall, vt_writer_row(m->w, VT_SYSCALL))
AROUND(memory, vt_writer_row(m->w, VT_MEMORY))
AROUND(meta, tell_meta(m, "samplinG"))
AROUND(longer_meta, tell_meta(m, "sampling."))
AROUND(image, vt_writer_row(m->w, VT_IMAGE))
AROUND(timeconv, vt_writer_row(m->w, VT_TIMECONV))

static void test_records(void **state)
{
	static const struct {
		put_fn *put;
		const char *text;
		const char *kept; /* NULL: as without it */
		bool ends;
	} rows[] = {
		{put_around_comm, "THREAD ", NULL, false},
		{put_around_exec, "THREAD ", NULL, true},
		{put_around_exit, "THREAD ", NULL, true},
		{put_around_other_exit, "THREAD ", NULL, false},
		{put_around_window, "", "STATE ", true},
		{put_around_other_window, "", "STATE ", false},
		{put_around_state, "", "STATE ", false},
		{put_around_signal, "SIGNAL ", NULL, false},
		{put_around_gap, "GAP0() ", NULL, true},
		{put_around_lost, "LOST ", NULL, true},
		{put_around_syscall, "", "SYSCALL ", false},
		{put_around_memory, "", "MEMORY ", false},
		{put_around_meta, "META ", NULL, false},
		{put_around_longer_meta, "META ", NULL, false},
		{put_around_image, "IMAGE ", NULL, false},
		{put_around_timeconv, "TIMECONV ", NULL, false},
	};
	struct vt_sampler_options o = every(VT_SAMPLER_INSNS, 100, 3, 3);
	char want[200];
	unsigned i, keep;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (keep = 0; keep < 2; keep++) {
			o.keep = keep;
			snprintf(want, sizeof(want), "S1005*3 B0@1000 X1/2@2+1~2[0]0 55 %s%s",
				 keep && rows[i].kept ? rows[i].kept : rows[i].text,
				 rows[i].ends ? "" : "X1/2@3+2~0[0]0 11223344 ");
			check(&o, rows[i].put, want);
		}
}

static void put_samples(struct maker *m)
{
	put_around_image(m);
	vt_writer_row(m->w, VT_SAMPLE);
	vt_writer_row(m->w, VT_SAMPLE);
}

static void put_sampled(struct maker *m)
{
	tell_meta(m, "sampling");
	put_around_image(m);
}

static void test_input_samples(void **state)
{
	struct vt_sampler_options o = every(VT_SAMPLER_INSNS, 100, 99, 3);
	int fd = scratch_file();
	struct maker m = {.w = start_stream(fd), .tid = TID};
	struct sampled s;

	(void)state;
	put_samples(&m);
	sampled_take(&s, fd, m.w, &o);
	assert_int_equal(s.code, 0);
	assert_int_equal(s.warnings.size, 0);
	sampled_drop(&s);
	check_fails(&o, put_sampled, "",
		    "samples of executed code, not all of it (vtrace record --full records it)");
}

/* ---- callers ---- */

static void put_handled(struct maker *m)
{
	put_blocks(m);
	run(m, "Q");
	tell_signal(m, 0x3000);
	run(m, "R");
	run(m, "R");
}

static void put_unhandled(struct maker *m)
{
	put_blocks(m);
	run(m, "Q");
	tell_signal(m, 0);
	run(m, "R");
	run(m, "S");
}

static void put_broken(struct maker *m)
{
	put_blocks(m);
	run(m, "Q");
	vt_writer_row(m->w, VT_GAP);
	run(m, "R");
}

static void put_told(struct maker *m)
{
	put_blocks(m);
	m->caller = 0x777;
	run(m, "RQ");
}

static void test_callers(void **state)
{
	struct vt_sampler_options o = every(VT_SAMPLER_LOADS, 1, 1, 1);
	struct vt_sampler_options turns = {
		.per_instruction = true,
		.interval = o.interval,
		.burst = 100,
		.backoff = 1,
		.follow = true,
	};

	(void)state;
	o.follow = true;
	/* A handler does not return to what it interrupted; it is not known who called that. */
	check(&o, put_handled,
	      "SIGNAL S3000*1 B0@3000 X1/2@2+1~0[0]0 77 "
	      "S3000*1 X1/2@3+1~0[0]0 77 ^2005 ");
	check(&o, put_unhandled, "SIGNAL S3000*1 B0@3000 X1/2@2+1~0[0]0 77 ^2005 ");
	check(&o, put_broken, "GAP0() S3000*1 B0@3000 X1/2@2+1~0[0]0 77 ");
	check(&o, put_told, "S3000*1 B0@3000 X1/2@0+1~0[0]0 77 ^777 ");
	check(&turns, put_unhandled, "SIGNAL S3000*1 B0@3000 X1/2@2+1~0[0]0 77 ^2005 ");
	check(&turns, put_told, "S3000*1 B0@3000 X1/2@0+1~0[0]0 77 ^777 ");
	/* Without them, what the run says is of its beginning. */
	turns.follow = o.follow = false;
	check(&o, put_unhandled, "SIGNAL S3000*1 B0@3000 X1/2@2+1~0[0]0 77 ");
	check(&o, put_told, "S3000*1 B0@3000 X1/2@0+1~0[0]0 77 ^777 ");
	check(&turns, put_unhandled, "SIGNAL S3000*1 B0@3000 X1/2@2+1~0[0]0 77 ");
}

/* ---- records that contradict themselves ---- */

static void put_twice(struct maker *m)
{
	put_blocks(m);
	run(m, "P");
	sampled_put_block(m->w, 7, PID, &blocks[Q]);
	run(m, "P");
}

static void put_unknown(struct maker *m)
{
	const struct sampled_run r = {PID, TID, 50, 3, 0, 0, 5};
	const uint32_t ids[] = {7, 99};

	put_blocks(m);
	run(m, "P");
	sampled_put_run(m->w, &r, ids, 2, values, 5);
	run(m, "P");
}

static void check_bad(const struct vt_sampler_options *o, put_fn *put, const char *warning,
		      const char *want)
{
	struct sampled s;

	sample(&s, o, put, want);
	assert_int_equal(s.code, 0);
	assert_string_equal(vt_buf_str(&s.warnings), warning);
	sampled_drop(&s);
}

/* They are told, and end what was going on. */
static void test_bad(void **state)
{
	struct vt_sampler_options o = every(VT_SAMPLER_INSNS, 100, 3, 3);

	(void)state;
	check_bad(&o, put_twice, "block 7 is declared twice\n",
		  "S1005*3 B0@1000 X1/2@2+1~2[0]0 55 "
		  "GAP1(executed code that contradicts itself) ");
	o.follow = true;
	check_bad(&o, put_unknown, "executed blocks: block 99 is not known\n",
		  "S1005*3 B0@1000 X1/2@2+1~2[0]0 55 "
		  "GAP1(executed code that contradicts itself) ");
	/* What no sample falls into is not looked at. */
	o.follow = false;
	check(&o, put_unknown, "S1005*3 B0@1000 X1/2@2+1~2[0]0 55 X1/2@3+2~0[0]0 11223344 ");
	o.unit = VT_SAMPLER_BLOCKS;
	check_bad(&o, put_unknown, "executed blocks: block 99 is not known\n",
		  "GAP1(executed code that contradicts itself) S1000*3 B0@1000 "
		  "X1/2@3+3~0[0]0 1122334455 ");
	o = (struct vt_sampler_options){
		.per_instruction = true, .interval = o.interval, .burst = 1, .backoff = 1};
	check_bad(&o, put_unknown, "executed blocks: block 99 is not known\n",
		  "S1000*1 S1005*1 B0@1000 X1/2@0+3~0[0]0 1122334455 "
		  "GAP1(executed code that contradicts itself) "
		  "S1000*2 S1005*2 X1/2@3+3~0[0]0 1122334455 ");
}

/* ---- what is missing ---- */

static void put_nothing(struct maker *m)
{
	put_blocks(m);
}

static void put_no_loads(struct maker *m)
{
	sampled_put_block(m->w, 8, PID, &blocks[Q]);
	run(m, "Q");
}

static void put_late(struct maker *m)
{
	m->time = 0;
	put_around_image(m);
}

static void put_no_rate(struct maker *m)
{
	sampled_put_timeconv(m->w, 1, 0);
	put_around_image(m);
}

static void test_missing(void **state)
{
	struct vt_sampler_options o = every(VT_SAMPLER_LOADS, 100, 3, 3);

	(void)state;
	check_fails(&o, put_nothing, "",
		    "no executed code (vtrace record --full records it, vtrace decode makes it of "
		    "Intel PT)");
	check_fails(&o, put_no_loads, "", "no loads (vtrace record --full records them)");
	o.unit = VT_SAMPLER_STORES;
	check_fails(&o, put_no_loads, "", "no stores (vtrace record --full records them)");
	o.unit = VT_SAMPLER_CYCLES;
	check_fails(&o, put_late, "",
		    "no times of executed code to count cycles by (vtrace decode finds them in "
		    "Intel PT that was recorded with TSC packets)");
	check_fails(&o, put_no_rate, "TIMECONV ",
		    "no relation of times to cycles (vtrace decode finds it in perf.data: "
		    "TIMECONV)");
	/* Neither is needed where each instruction takes its turns. */
	o.per_instruction = true;
	o.backoff = o.burst = 1;
	check(&o, put_late,
	      "S1000*1 S1005*1 B0@1000 X1/2@0+3~0[0]0 1122334455 IMAGE "
	      "S1000*1 S1005*1 ");
}

/* ---- time ---- */

/* Runs of one instruction at these times. */
static void put_times(struct maker *m, uint64_t mult, const uint64_t *times, unsigned n)
{
	unsigned i;

	sampled_put_timeconv(m->w, 65, mult); /* that is, 1 */
	put_blocks(m);
	for (i = 0; i < n; i++) {
		m->time = times[i];
		run(m, "S");
	}
}

static void put_late_samples(struct maker *m)
{
	const uint64_t times[] = {100, 101, 103, 106, 2000106, 2000107, 5000107, 5000108, 5000110};

	put_times(m, 2, times, 9);
}

static void put_rest(struct maker *m)
{
	const uint64_t times[] = {2, 3, 6, 12};

	put_times(m, 3, times, 4);
}

/*
 * Two cycles in two nanoseconds; a sample where the counter has run out. More than a million
 * intervals of nothing are one, which leaves the counter as it is.
 */
static void test_cycles(void **state)
{
	struct vt_sampler_options o = every(VT_SAMPLER_CYCLES, 2, 1, 0);
	unsigned context;

	(void)state;
	for (context = 0; context < 2; context++) {
		o.follow = context;
		/* Left: 1, 2, 2, 1 after 3 (two samples); 1; 2; 2; 1; 1 */
		check(&o, put_late_samples,
		      "TIMECONV S2005*1 S2005*2 S2005*2 S2005*2000000 S2005*2 S2005*3000000 "
		      "S2005*2 ");
	}
	/* Times of 2, 3, 6 and 12 are cycles 1, 2, 4 and 8. */
	o = every(VT_SAMPLER_CYCLES, 3, 3, 0);
	check(&o, put_rest, "TIMECONV S2005*3 S2005*3 ");
}

/* ---- many blocks ---- */

#define WIDE 65537

static void put_wide(struct maker *m)
{
	static uint32_t ids[WIDE];
	struct sampled_run r = {PID, TID, 50, 0, 0, 0, WIDE};
	struct sampled_block b = {0, 1, {1}, VT_END_FALL, 0, {0}};
	uint32_t i;

	for (i = 0; i < WIDE; i++) {
		ids[i] = i;
		b.addr = 0x10000 + i;
		sampled_put_block(m->w, i, PID, &b);
	}
	sampled_put_run(m->w, &r, ids, WIDE, NULL, 0);
	r.first = r.insns--;
	sampled_put_run(m->w, &r, ids + 1, WIDE - 1, NULL, 0);
}

/* Ids have two bytes where that is enough for their range. */
static void test_wide(void **state)
{
	struct vt_sampler_options o = every(VT_SAMPLER_INSNS, 1, 1, 1);
	struct vt_error err = VT_ERROR_INIT;
	int fd = scratch_file();
	struct maker m = {.w = start_stream(fd)};
	struct vt_record rec = {0};
	struct sampled s;
	unsigned n = 0;

	(void)state;
	put_wide(&m);
	sampled_take(&s, fd, m.w, &o);
	assert_int_equal(s.code, 0);
	while (vt_reader_next(s.r, &rec, &err) > 0) {
		struct vt_bytes ids;
		uint64_t width = n ? 2 : 4;

		if (rec.kind != VT_EXEC)
			continue;
		ids = vt_record_bytes(&rec, VT_EXEC_IDS);
		assert_int_equal(vt_record_u64(&rec, VT_EXEC_BASE), n);
		assert_int_equal(vt_record_u64(&rec, VT_EXEC_WIDTH), width);
		assert_int_equal(ids.size, (WIDE - n) * width);
		assert_int_equal(vt_le16(ids.data + 5 * width), 5);
		assert_int_equal(vt_le16(ids.data + ids.size - width), n ? 65535 : 0);
		n++;
	}
	assert_int_equal(n, 2);
	sampled_drop(&s);
}

/* ---- what is said of the samples ---- */

static void check_said(const struct vt_sampler_options *o, const char *unit, uint64_t policy,
		       uint64_t period, const char *text)
{
	struct vt_error err = VT_ERROR_INIT;
	int fd = scratch_file();
	struct maker m = {.w = start_stream(fd)};
	struct vt_bytes v;
	struct vt_record rec = {0};
	struct sampled s;

	sampled_take(&s, fd, m.w, o);
	assert_int_equal(vt_reader_next(s.r, &rec, &err), 1);
	assert_int_equal(vt_record_u64(&rec, VT_EVENT_ID), EVENT);
	assert_int_equal(vt_record_u64(&rec, VT_EVENT_POLICY), policy);
	assert_int_equal(vt_record_u64(&rec, VT_EVENT_PERIOD), period);
	v = vt_record_bytes(&rec, VT_EVENT_NAME);
	assert_int_equal(v.size, strlen(unit));
	assert_memory_equal(v.data, unit, v.size);
	v = vt_record_bytes(&rec, VT_EVENT_UNIT);
	assert_int_equal(v.size, strlen(unit));
	assert_memory_equal(v.data, unit, v.size);
	assert_int_equal(vt_reader_next(s.r, &rec, &err), 1);
	v = vt_record_bytes(&rec, VT_META_KEY);
	assert_int_equal(v.size, 8);
	assert_memory_equal(v.data, "sampling", 8);
	v = vt_record_bytes(&rec, VT_META_VALUE);
	assert_int_equal(v.size, strlen(text));
	assert_memory_equal(v.data, text, v.size);
	sampled_drop(&s);
}

static void test_said(void **state)
{
	static const char *const units[] = {"instructions", "loads",  "stores",
					    "branches",	    "blocks", "cycles"};
	static const char *const kinds[] = {"uniform", "geometric", "fixed"};
	struct vt_sampler_options o = {.burst = 8, .fraction = 9};
	char text[200];
	unsigned unit, kind;

	(void)state;
	for (unit = 0; unit < VT_NSAMPLERUNITS; unit++)
		for (kind = 0; kind < VT_NINTERVALS; kind++) {
			o.unit = (enum vt_sampler_unit)unit;
			o.interval = vt_interval_make((enum vt_interval_kind)kind, 1000 + unit);
			snprintf(text, sizeof(text),
				 "%s, interval %u %s, bursts of 8, 1/9 interpreted", units[unit],
				 1000 + unit, kinds[kind]);
			check_said(&o, units[unit],
				   unit == VT_SAMPLER_CYCLES ? VT_POLICY_INTERRUPT
							     : VT_POLICY_EXACT,
				   1000 + unit, text);
		}
	o.per_instruction = true;
	o.backoff = 7;
	check_said(&o, "instructions", VT_POLICY_EXACT, 0,
		   "each instruction by turns, bursts of 8, back-off from 7, 1/9 interpreted");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),	cmocka_unit_test(test_touching),
		cmocka_unit_test(test_empty),	cmocka_unit_test(test_times),
		cmocka_unit_test(test_records), cmocka_unit_test(test_input_samples),
		cmocka_unit_test(test_callers), cmocka_unit_test(test_bad),
		cmocka_unit_test(test_missing), cmocka_unit_test(test_cycles),
		cmocka_unit_test(test_wide),	cmocka_unit_test(test_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
