/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings of Intel PT as wholes: who ran what, and what is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/common/ptsession.h"

/* ---- who ran ---- */

static void test_itrace(void **state)
{
	struct recording m;

	(void)state;
	begin(&m, 0);
	put_three_slices(&m);
	put_itrace(&m, 500, 0, ONE);
	put_itrace(&m, 1500, 0, TWO);
	/* Of another processor. */
	put_itrace(&m, 1600, 1, ONE);
	put_itrace(&m, 2500, 0, ONE);
	expect(&m, "| 5/5: 3 at 1000; | | 6/6: 4 at 2000; | 5/5: 4 at 3000; ");
}

static void test_switches(void **state)
{
	struct recording m;

	(void)state;
	begin(&m, 0);
	put_three_slices(&m);
	put_switch(&m, 500, 0, ONE, false, 0);
	/* Out to the other one, and in again. */
	put_switch(&m, 1500, 0, ONE, true, TWO);
	put_switch(&m, 2500, 0, ONE, false, TWO);
	expect(&m, "| 5/5: 3 at 1000; | 6/6: 4 at 2000; | 5/5: 4 at 3000; ");
}

/* A sample of sched:sched_switch names the next thread, whose process others
 * must have named. */
static void test_sched(void **state)
{
	struct recording m;

	(void)state;
	begin(&m, SCHED);
	put_three_slices(&m);
	put_sched(&m, 500, 0, ONE, 60);
	put_sched(&m, 1500, 0, TWO, 60);
	/* Too short for one. */
	put_sched(&m, 2500, 0, ONE, 59);
	expect(&m, "5/5: 3 at 1000; 6/6: 4 at 2000; 6/6: 8 at 3000; ");
}

/* Two processors at once: each has its own. */
static void test_processors(void **state)
{
	struct recording m;

	(void)state;
	begin(&m, 0);
	put_three_slices(&m);
	put_slice(start(&t), 1200, 5);
	put_slice(&t, 2200, 6);
	put_area(&m, 1, 1, -1, 0, t.bytes, size_of(&t));
	put_itrace(&m, 500, 0, ONE);
	put_itrace(&m, 600, 1, TWO);
	put_itrace(&m, 1700, 1, ONE);
	expect(&m, "| | 5/5: 3 at 1000; 6/6: 10 at 1200; | 5/5: 2 at 2000; 5/5: 4 at 3000; "
		   "5/5: 6 at 2200; ");
}

/* Traces of threads without times: they are decoded when the thread ends, or at
 * the end. */
static void test_threads(void **state)
{
	struct recording m;

	(void)state;
	begin(&m, NO_TIMES);
	put_slice(start(&t), 1000, 3);
	put_area(&m, 0, -1, ONE, 0, t.bytes, size_of(&t));
	put_slice(start(&t), 1000, 5);
	put_area(&m, 1, -1, TWO, 0, t.bytes, size_of(&t));
	put_itrace(&m, 0, 0, ONE);
	put_thread(&m, VT_OP_EXIT, 0, TWO, TWO);
	put_itrace(&m, 0, 0, ONE);
	expect(&m, "| 6/6: 10 at 1000; | 5/5: 3 at 1000; ");
}

/* With nothing to tell who runs it is the only process that there is. */
static void test_only_one(void **state)
{
	struct recording m = {.fd = scratch_file()};

	(void)state;
	m.w = start_stream(m.fd);
	put_info(&m, 0);
	put_process(&m, 0, ONE, 1);
	put_three_slices(&m);
	expect(&m, "5/5: 3 at 1000; 5/5: 2 at 2000; 5/5: 4 at 3000; ");
	/* Of two it is neither. */
	begin(&m, 0);
	put_three_slices(&m);
	expect(&m, "[no code, in.data, CPU 0: 35+11 at 1000, -1/-1 on 0] "
		   "[no code, in.data, CPU 0: 81+10 at 2000, -1/-1 on 0] "
		   "[no code, in.data, CPU 0: 126+12 at 3000, -1/-1 on 0] ");
}

/* ---- what is missing ---- */

static void test_aux(void **state)
{
	struct recording m;
	size_t size;

	(void)state;
	begin(&m, 0);
	put_slice(start(&t), 1000, 3);
	size = size_of(&t);
	put_area(&m, 0, 2, -1, 0, t.bytes, size);
	put_itrace(&m, 500, 2, ONE);
	put_aux(&m, 2, -1, 0, size, 0);
	put_aux(&m, 2, -1, 8, 8, 1);
	put_aux(&m, 2, -1, 8, 8, 4);
	put_aux(&m, 2, -1, 8, 8, 2);
	/* Beyond the end: a part, all; and of a processor that has no trace. */
	put_aux(&m, 2, -1, 10, size, 0);
	put_aux(&m, 2, -1, size, 5, 0);
	put_aux(&m, 2, -1, UINT64_MAX, 2, 0);
	put_aux(&m, 2, -1, size + 9, 0, 0);
	put_aux(&m, 1, -1, 10, size, 1);
	expect(&m, "| [AUX area full: the trace was cut, in.data, CPU 2: 16+0 at 7, 5/5 on 2] "
		   "[AUX data have holes, in.data, CPU 2: 8+0 at 7, 5/5 on 2] "
		   "[AUX record points outside of the trace, in.data, CPU 2: 10+10 at 7, 5/5 on 2] "
		   "[AUX record points outside of the trace, in.data, CPU 2: 46+5 at 7, 5/5 on 2] "
		   "[AUX record points outside of the trace, in.data, CPU 2: 4294967295+2 at 7, "
		   "5/5 on 2] "
		   "5/5: 3 at 1000; ");
}

static void test_pieces(void **state)
{
	struct recording m;
	size_t size;

	(void)state;
	begin(&m, 0);
	put_slice(start(&t), 1000, 3);
	size = size_of(&t);
	put_area(&m, 0, 0, -1, 0, t.bytes, size);
	put_slice(start(&t), 2000, 2);
	put_area(&m, 0, 0, -1, size + 100, t.bytes, size_of(&t));
	put_itrace(&m, 500, 0, ONE);
	expect(&m, "| 5/5: 3 at 1000; [bytes of the trace are missing, in.data, CPU 0: 0+100 at "
		   "1000, 5/5 on 0] "
		   "5/5: 2 at 2000; ");
}

static void test_snapshot(void **state)
{
	struct recording m;

	(void)state;
	begin(&m, SNAPSHOT);
	start(&t);
	put_tnt(&t, "1");
	put_tnt(&t, "1");
	put_slice(&t, 1000, 3);
	put_area(&m, 0, -1, ONE, 0, t.bytes, size_of(&t));
	put_slice(start(&t), 5000, 2);
	put_area(&m, 0, -1, ONE, 0, t.bytes, size_of(&t));
	expect(&m, "[overwritten before the snapshot, in.data, thread 5: 0+2 at 0, -1/5 on 0] "
		   "5/5: 3 at 1000; "
		   "[overwritten before the snapshot, in.data, thread 5: 0+0 at 1000, 5/5 on 0] "
		   "5/5: 2 at 5000; ");
}

/* Without an engine the areas are passed on as they are. */
static void test_raw(void **state)
{
	const struct vt_pt_session_options opt = {.tmpdir = "/tmp"};
	struct recording m;

	(void)state;
	begin(&m, 0);
	put_three_slices(&m);
	put_itrace(&m, 500, 0, ONE);
	expect_with(&m, &opt, "raw | ");
}

/* The packets of each area are counted, or only their bytes. */
static void test_packets(void **state)
{
	struct vt_pt_session_options opt = {.engine = &vt_pt_libipt, .jobs = 1, .tmpdir = "/tmp"};
	struct recording m;

	(void)state;
	for (;; opt.packets = true) {
		begin(&m, 0);
		put_slice(start(&t), 1000, 3);
		put_area(&m, 4, -1, ONE, 0, t.bytes, size_of(&t));
		put_area(&m, 4, -1, ONE, 1000, t.bytes, size_of(&t));
		counts_packets = true;
		if (opt.packets)
			break;
		expect_with(&m, &opt,
			    "4: 0 in 92; 5/5: 3 at 1000; "
			    "[bytes of the trace are missing, , thread 5: 0+954 at 1000, 5/5 on 0] "
			    "5/5: 3 at 1000; ");
	}
	expect_with(&m, &opt,
		    "4: 20 in 92; 4: PSB 2 in 32; 4: PSBEND 2 in 4; 4: TNT-8 6 in 6; "
		    "4: TIP.PGE 2 in 14; 4: TIP.PGD 2 in 2; 4: FUP 2 in 14; 4: MODE.Exec 2 in 4; "
		    "4: TSC 2 in 16; 5/5: 3 at 1000; "
		    "[bytes of the trace are missing, , thread 5: 0+954 at 1000, 5/5 on 0] "
		    "5/5: 3 at 1000; ");
	counts_packets = false;
}

/* A switch names all bits of a thread, who may be idle; other samples name nobody. */
static void test_sched_others(void **state)
{
	struct recording m;
	uint64_t *row;

	(void)state;
	begin(&m, SCHED);
	put_process(&m, 1, 70000, 1);
	put_three_slices(&m);
	put_sched(&m, 500, 0, ONE, 60);
	put_sched(&m, 1500, 0, 70000, 60);
	row = vt_writer_row(m.w, VT_SAMPLE);
	row[VT_SAMPLE_EVENT] = EVENT + 1;
	row[VT_SAMPLE_TIME] = 2500;
	vt_writer_bytes(m.w, VT_SAMPLE_RAW, (uint8_t[60]){[56] = ONE}, 60);
	expect(&m, "5/5: 3 at 1000; 70000/70000: 4 at 2000; 70000/70000: 8 at 3000; ");
	begin(&m, SCHED);
	put_three_slices(&m);
	put_sched(&m, 500, 0, ONE, 60);
	put_sched(&m, 1500, 0, 0, 60);
	put_sched(&m, 2500, 0, TWO, 60);
	expect(&m, "5/5: 3 at 1000; [no code, in.data, CPU 0: 81+10 at 2000, 0/0 on 0] "
		   "6/6: 8 at 3000; ");
}

/* Before the first switch nobody is known to run; then it is whom the switch names. */
static void test_unknown(void **state)
{
	struct recording m;
	uint64_t *row;

	(void)state;
	begin(&m, 0);
	put_three_slices(&m);
	put_itrace(&m, 1500, 0, ONE);
	row = vt_writer_row(m.w, VT_ITRACE);
	row[VT_ITRACE_TIME] = 2500;
	row[VT_ITRACE_PID] = TWO;
	row[VT_ITRACE_TID] = 77;
	expect(&m, "[no code, in.data, CPU 0: 35+11 at 1000, -1/-1 on 0] | 5/5: 2 at 2000; "
		   "| 6/77: 8 at 3000; ");
}

/* With nothing to tell who runs, the thread is that of the area, if it has one. */
static void test_area_of_thread(void **state)
{
	static const char *const want[] = {"5/5: 3 at 1000; ", "5/1: 3 at 1000; "};
	struct recording m;
	int64_t tid;

	(void)state;
	for (tid = 0; tid < 2; tid++) {
		m = new_recording();
		put_info(&m, 0);
		put_process(&m, 0, ONE, 1);
		put_slice(start(&t), 1000, 3);
		put_area(&m, 0, 0, tid, 0, t.bytes, size_of(&t));
		expect(&m, want[tid]);
	}
}

/* What changes code or threads comes behind what was executed before it, and nothing else does. */
static void test_changes(void **state)
{
	struct recording m;
	uint64_t *row;

	(void)state;
	begin(&m, 0);
	put_three_slices(&m);
	put_itrace(&m, 500, 0, ONE);
	put_thread(&m, VT_OP_FORK, 1500, 77, 77);
	put_thread(&m, VT_OP_COMM, 2500, 77, 77);
	put_sched(&m, 2500, 0, TWO, 60);
	put_process(&m, 1, ONE, 2500);
	row = vt_writer_row(m.w, VT_TEXTPOKE);
	row[VT_TEXTPOKE_TIME] = 3500;
	says_changes = true;
	/* The third slice is of the other program. */
	expect(&m, "map map | 5/5: 3 at 1000; thread thread sample 5/5: 2 at 2000; map "
		   "5/5: 8 at 3000; poke ");
	says_changes = false;
}

/* What was executed without anything behind it comes before the next record, and at the end. */
static void test_unfinished(void **state)
{
	struct recording m;

	(void)state;
	begin(&m, 0);
	put_kind(start(&t), VT_PT_PSB, 0);
	put_kind(&t, VT_PT_TSC, 1000);
	put_ip(&t, VT_PT_FUP, BASE);
	put_kind(&t, VT_PT_MODE_EXEC, 64);
	put_kind(&t, VT_PT_PSBEND, 0);
	put_tnt(&t, "111");
	put_kind(&t, VT_PT_TSC, 2000);
	put_kind(&t, VT_PT_MNT, 5);
	put_tnt(&t, "11");
	put_area(&m, 0, 0, -1, 0, t.bytes, size_of(&t));
	put_itrace(&m, 500, 0, ONE);
	put_itrace(&m, 1500, 0, ONE);
	expect(&m, "| 5/5: 3 at 1000; | 5/5: 2 at 2000; ");
}

/* Areas of what nobody says is Intel PT are passed on. */
static void test_no_info(void **state)
{
	struct recording m = new_recording();

	(void)state;
	put_process(&m, 0, ONE, 1);
	put_three_slices(&m);
	put_itrace(&m, 500, 0, ONE);
	expect(&m, "raw | ");
}

/* All pieces of a thread's trace come before its end, also behind one of nothing but padding. */
static void test_thread_in_pieces(void **state)
{
	static const uint8_t padding[100];
	struct recording m;

	(void)state;
	begin(&m, NO_TIMES);
	put_slice(start(&t), 1000, 3);
	put_area(&m, 0, -1, ONE, 0, t.bytes, size_of(&t));
	put_area(&m, 0, -1, ONE, 1000, padding, sizeof(padding));
	put_area(&m, 0, -1, ONE, 2000, t.bytes, size_of(&t));
	put_thread(&m, VT_OP_EXIT, 0, TWO, TWO);
	put_thread(&m, VT_OP_EXIT, 0, ONE, ONE);
	put_itrace(&m, 0, 0, ONE);
	expect(&m, "5/5: 3 at 1000; "
		   "[bytes of the trace are missing, in.data, thread 5: 0+954 at 1000, 5/5 on 0] "
		   "[bytes of the trace are missing, in.data, thread 5: 0+900 at 1000, 5/5 on 0] "
		   "5/5: 3 at 1000; | ");
	/* At the end of the recording likewise. */
	begin(&m, 0);
	put_area(&m, 0, 0, -1, 0, t.bytes, size_of(&t));
	put_area(&m, 0, 0, -1, 100, padding, sizeof(padding));
	put_area(&m, 0, 0, -1, 200, t.bytes, size_of(&t));
	put_itrace(&m, 500, 0, ONE);
	expect(&m, "| 5/5: 3 at 1000; "
		   "[bytes of the trace are missing, in.data, CPU 0: 0+54 at 1000, 5/5 on 0] "
		   "5/5: 3 at 1000; ");
}

/* Of a thread's area its AUX records tell, too; of snapshots they say nothing. */
static void test_aux_of_thread(void **state)
{
	struct recording m;
	size_t size;

	(void)state;
	begin(&m, 0);
	put_slice(start(&t), 1000, 3);
	size = size_of(&t);
	put_area(&m, 0, -1, ONE, 0, t.bytes, size);
	put_aux(&m, 3, ONE, 10, size, 0);
	put_aux(&m, 3, ONE, 0, size, 0);
	put_aux(&m, 3, ONE, 0, size + 1, 0);
	put_aux(&m, 3, TWO, 10, size, 0);
	expect(&m,
	       "[AUX record points outside of the trace, in.data, thread 5: 10+10 at 7, -1/5 "
	       "on 0] "
	       "[AUX record points outside of the trace, in.data, thread 5: 0+1 at 7, -1/5 on 0] "
	       "5/5: 3 at 1000; ");
	begin(&m, SNAPSHOT);
	put_area(&m, 0, -1, ONE, 0, t.bytes, size);
	put_aux(&m, 3, ONE, 10, size, 0);
	expect(&m, "5/5: 3 at 1000; ");
}

/* Packets that an area ends in do not go on in the next one; each trace has counts of its own. */
static void test_cut_packets(void **state)
{
	struct vt_pt_session_options opt = {
		.engine = &vt_pt_fast, .jobs = 1, .packets = true, .tmpdir = "/tmp"};
	struct recording m;

	(void)state;
	counts_packets = true;
	begin(&m, 0);
	put_psb(start(&t), 0);
	memcpy(t.end, "\x19\x01", 2);
	t.end += 2;
	put_area(&m, 4, -1, ONE, 0, t.bytes, size_of(&t));
	put_area(&m, 4, -1, ONE, 1000, t.bytes, size_of(&t));
	put_area(&m, 5, -1, TWO, 0, t.bytes, size_of(&t) - 2);
	expect_with(&m, &opt,
		    "4: 4 in 40; 4: PSB 2 in 32; 4: PSBEND 2 in 4; 4: none 2 in 4; "
		    "5: 2 in 18; 5: PSB 1 in 16; 5: PSBEND 1 in 2; "
		    "[bad packet, , thread 5: 0+20 at 0, -1/5 on 0] "
		    "[bytes of the trace are missing, , thread 5: 0+980 at 0, -1/5 on 0] "
		    "[bad packet, , thread 5: 0+20 at 0, -1/5 on 0] "
		    "[bad packet, , thread 6: 0+18 at 0, -1/6 on 0] ");
	opt.packets = false;
	begin(&m, 0);
	put_area(&m, 4, -1, ONE, 0, t.bytes, size_of(&t));
	put_area(&m, 5, -1, TWO, 0, t.bytes, size_of(&t) - 2);
	expect_with(&m, &opt,
		    "4: 0 in 20; 5: 0 in 18; [bad packet, , thread 5: 0+20 at 0, -1/5 on 0] "
		    "[bad packet, , thread 6: 0+18 at 0, -1/6 on 0] ");
	counts_packets = false;
}

/*
 * ---- which trace is next, up to where, on which clock: an engine that gives what it is told to
 * ----
 */

#define STEPS 12

/* What a call of the engine gives. */
struct step {
	uint64_t tsc, cycles;		/* a time mark, unless both are 0 */
	uint64_t note_tsc, note_cycles; /* of a note */
	enum { NOTHING, MARK, NOTE, BOTH, STOPS, FAILS } gives;
};

/* Of the traces that begin with 'A' and with 'B'; behind them is the end. */
static struct step steps[2][STEPS];

/* What the engine was asked. */
static struct {
	unsigned opened, closed, codes;
	size_t sizes[4];
	uint8_t first[4];
	unsigned jobs;
	uint64_t untils[8];
	unsigned nuntils;
} asked;

struct vt_pt_engine {
	const struct step *next;
	struct vt_pt_note note;
	struct vt_pt_mark_time mark;
};

static struct vt_pt_engine *open_script(const uint8_t *trace, size_t size,
					const struct vt_pt_options *opt, struct vt_error *err)
{
	struct vt_pt_engine *e = calloc(1, sizeof(*e));

	(void)err;
	assert_non_null(e);
	e->next = steps[trace[0] == 'B'];
	asked.jobs = opt->jobs;
	asked.sizes[asked.opened % 4] = size;
	asked.first[asked.opened++ % 4] = trace[0];
	return e;
}

static int set_script_code(struct vt_pt_engine *e, const struct vt_pt_code *code,
			   struct vt_error *err)
{
	(void)e;
	(void)err;
	assert_non_null(code);
	asked.codes++;
	return 0;
}

static int next_step(struct vt_pt_engine *e, uint64_t until, struct vt_pt_batch *batch,
		     struct vt_error *err)
{
	const struct step *s = e->next;

	asked.untils[asked.nuntils++ % 8] = until;
	if (s->gives == NOTHING)
		return 0;
	/* It goes on with the next one when it is not to stop any more. */
	if (s->gives == STOPS && until != UINT64_MAX)
		return 1;
	e->next++;
	if (s->gives == STOPS)
		return 1;
	if (s->gives == FAILS)
		return vt_error_set(err, VT_E_NOMEM, "no memory");
	e->mark = (struct vt_pt_mark_time){0, s->tsc, s->cycles};
	e->note = (struct vt_pt_note){
		.type = VT_PT_NOTE_ENABLED, .tsc = s->note_tsc, .cycles = s->note_cycles};
	*batch = (struct vt_pt_batch){.notes = &e->note,
				      .nnotes = s->gives != MARK,
				      .times = &e->mark,
				      .ntimes = s->gives != NOTE};
	return 1;
}

static void close_script(struct vt_pt_engine *e)
{
	asked.closed++;
	free(e);
}

static const struct vt_pt_engine_ops script = {
	.name = "script",
	.open = open_script,
	.set_code = set_script_code,
	.next = next_step,
	.close = close_script,
};

static const struct vt_pt_session_options options = {
	.engine = &script, .jobs = 7, .tmpdir = "/tmp", .input = "in.data"};

static int forget(void **state)
{
	(void)state;
	memset(steps, 0, sizeof(steps));
	memset(&asked, 0, sizeof(asked));
	says_clock = false;
	return 0;
}

static void put_traces(struct recording *m)
{
	begin(m, 0);
	put_area(m, 0, 0, -1, 0, "AAAA", 4);
	put_area(m, 1, 1, -1, 0, "BBBBBB", 6);
	put_itrace(m, 1, 0, ONE);
	put_itrace(m, 1, 1, TWO);
}

/*
 * The trace that is behind is next, of two alike the first. Each goes on with the clock that its
 * last time mark left, or a later note.
 */
static void test_clocks(void **state)
{
	static const struct step a[] = {
		{100, 7, 100, 7, BOTH}, {0, 0, 0, 0, NOTE}, {0, 0, 200, 9, NOTE},
		{0, 0, 0, 0, NOTE},	{0, 0, 0, 0, NOTE},
	};
	static const struct step b[] = {
		{50, 3, 50, 3, BOTH}, {0, 0, 150, 5, NOTE}, {0, 0, 0, 0, NOTE},
		{250, 0, 0, 0, MARK}, {0, 0, 0, 0, NOTE},   {0, 0, 240, 4, NOTE},
		{.gives = NOTE},      {0, 0, 300, 1, NOTE},
	};
	struct recording m;

	(void)state;
	memcpy(steps[0], a, sizeof(a));
	memcpy(steps[1], b, sizeof(b));
	put_traces(&m);
	says_clock = true;
	expect_with(&m, &options,
		    "0: @100+7; 1: @50+3; 1: @150+5; 0: @100+7; 0: @200+9; 1: @150+5; "
		    "0: @200+9; 0: @200+9; 1: @250+0; 1: @240+4; 1: @240+4; 1: @300+1; | | ");
	assert_int_equal(asked.opened, 2);
	assert_int_equal(asked.closed, 2);
	assert_int_equal(asked.sizes[0], 4);
	assert_int_equal(asked.sizes[1], 6);
	assert_int_equal(asked.jobs, 7);
	/* The code does not change. */
	assert_int_equal(asked.codes, 2);
}

/* Cycles without a time are a clock, too; a note as late as the last mark is no news. */
static void test_cycles(void **state)
{
	static const struct step a[] = {{.gives = STOPS}, {0, 0, 0, 3, NOTE}, {0, 0, 90, 1, NOTE}};
	static const struct step b[] = {{0, 8, 0, 8, BOTH},   {.gives = STOPS},	   {.gives = NOTE},
					{70, 1, 70, 2, BOTH}, {0, 0, 95, 5, NOTE}, {.gives = NOTE}};
	struct recording m;

	(void)state;
	memcpy(steps[0], a, sizeof(a));
	memcpy(steps[1], b, sizeof(b));
	put_traces(&m);
	says_clock = true;
	expect_with(&m, &options,
		    "1: @0+8; | | 0: @0+3; 0: @90+1; 1: @0+8; 1: @70+2; 1: @95+5; 1: @95+5; ");
}

/* A trace that has stopped is asked again at a later time, not before, and by one that is later. */
static void test_until(void **state)
{
	static const uint64_t wanted[] = {1, 500, 600, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	struct recording m;

	(void)state;
	steps[0][0].gives = STOPS;
	steps[0][1] = (struct step){10, 0, 10, 0, BOTH};
	begin(&m, 0);
	put_area(&m, 0, 0, -1, 0, "AAAA", 4);
	put_itrace(&m, 500, 0, ONE);
	put_itrace(&m, 500, 0, ONE);
	put_itrace(&m, 600, 0, ONE);
	put_itrace(&m, 550, 0, ONE);
	says_clock = true;
	expect_with(&m, &options, "| | | | 0: @10+0; ");
	/* At the maps, by switches, and to the end. */
	assert_int_equal(asked.nuntils, 6);
	assert_memory_equal(asked.untils, wanted, sizeof(wanted));
	assert_int_equal(asked.closed, 1);
}

/* The engine gets the code again when that has changed, and each piece of a trace has its own. */
static void test_codes(void **state)
{
	struct recording m;

	(void)state;
	steps[0][0].gives = STOPS;
	begin(&m, 0);
	put_area(&m, 0, 0, -1, 0, "AAAA", 4);
	put_area(&m, 0, 0, -1, 10, "BBBB", 4);
	put_itrace(&m, 500, 0, ONE);
	put_itrace(&m, 600, 0, ONE);
	put_process(&m, 1, ONE, 700);
	put_itrace(&m, 800, 0, ONE);
	expect_with(&m, &options,
		    "| | | [bytes of the trace are missing, in.data, CPU 0: 0+6 at 0, 5/5 on 0] ");
	/* When somebody runs, as mapped at 700, and for the second piece. */
	assert_int_equal(asked.codes, 3);
	assert_int_equal(asked.opened, 2);
	assert_int_equal(asked.closed, 2);
}

/* What lies before the first PSB of a snapshot is no part of what is decoded. */
static void test_skip(void **state)
{
	struct recording m;

	(void)state;
	begin(&m, SNAPSHOT);
	memcpy(start(&t)->bytes, "\x06\x06\x06", 3);
	t.end += 3;
	put_psb(&t, 0);
	put_area(&m, 0, -1, ONE, 0, t.bytes, size_of(&t));
	expect_with(&m, &options,
		    "[overwritten before the snapshot, in.data, thread 5: 0+3 at 0, -1/5 on 0] ");
	assert_int_equal(asked.sizes[0], VT_PT_PSB_SIZE + 2);
	assert_int_equal(asked.first[0], 2);
	/* One without any is of no use. */
	begin(&m, SNAPSHOT);
	put_area(&m, 0, -1, ONE, 0, t.bytes, 3);
	expect_with(&m, &options,
		    "[overwritten before the snapshot, in.data, thread 5: 0+3 at 0, -1/5 on 0] ");
	assert_int_equal(asked.sizes[1], 0);
}

/* A session that ends early closes what it has opened, and only that; errors go up. */
static void test_early(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_aux_session *s = vt_pt_session_new(&options, &err);
	struct recording m;
	struct vt_reader *r;
	struct vt_writer *w;
	struct vt_format_summary sum = {0};
	struct vt_record rec;
	int out = scratch_file(), code = 0;

	(void)state;
	assert_non_null(s);
	steps[0][0].gives = STOPS;
	steps[1][0].gives = STOPS;
	put_traces(&m);
	r = reread_stream(m.fd, m.w);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_pt_session_scan(s, &rec, &err), 0);
	vt_reader_close(r);
	assert_int_equal(lseek(m.fd, 0, SEEK_SET), 0);
	r = vt_reader_open_fd(m.fd, "in", &err);
	w = start_stream(out);
	assert_int_equal(vt_writer_add_input(w, r, &err), 0);
	assert_int_equal(vt_pt_session_begin(s, w, &err), 0);
	while (code == 0 && vt_reader_next(r, &rec, &err) > 0)
		code = vt_pt_session_record(s, &rec, &err);
	assert_int_equal(code, 0);
	steps[0][0].gives = FAILS;
	assert_int_equal(vt_pt_session_end(s, &sum, &err), -VT_E_NOMEM);
	assert_string_equal(err.text, "no memory");
	assert_int_equal(asked.closed, 0);
	vt_pt_session_free(s);
	assert_int_equal(asked.opened, 2);
	assert_int_equal(asked.closed, 2);
	vt_reader_close(r);
	vt_writer_abandon(w);
	close(m.fd);
	close(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_itrace),
		cmocka_unit_test(test_switches),
		cmocka_unit_test(test_sched),
		cmocka_unit_test(test_processors),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_only_one),
		cmocka_unit_test(test_aux),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_snapshot),
		cmocka_unit_test(test_raw),
		cmocka_unit_test(test_packets),
		cmocka_unit_test(test_sched_others),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_area_of_thread),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_no_info),
		cmocka_unit_test(test_thread_in_pieces),
		cmocka_unit_test(test_aux_of_thread),
		cmocka_unit_test(test_cut_packets),
		cmocka_unit_test_setup_teardown(test_clocks, forget, forget),
		cmocka_unit_test_setup_teardown(test_cycles, forget, forget),
		cmocka_unit_test_setup_teardown(test_until, forget, forget),
		cmocka_unit_test_setup_teardown(test_codes, forget, forget),
		cmocka_unit_test_setup_teardown(test_skip, forget, forget),
		cmocka_unit_test_setup_teardown(test_early, forget, forget),
	};

	return cmocka_run_group_tests(tests, make_files, remove_files);
}
