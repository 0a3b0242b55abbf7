/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording run on a machine on which each instruction takes a cycle, and 7 where a branch was
 * mispredicted: what is counted, sampled, passed on, and what follows what.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "stream/exec.h"
#include "tests/unit/common/simruns.h"

/* ---- one run ---- */

/* Twice round the loop: the branch back is taken once, and mispredicted. */
static void put_loop(struct vt_writer *w)
{
	const struct run r = {PID, PID, 0, 13, "01012", 77, 5};

	put_code(w, PID, 0);
	vt_writer_row(w, VT_THREAD)[VT_THREAD_PID] = PID;
	vt_writer_row(w, VT_SYSCALL);
	vt_writer_row(w, VT_MEMORY);
	vt_writer_row(w, VT_EVENT)[VT_EVENT_ID] = 3;
	vt_writer_row(w, VT_SAMPLE);
	vt_writer_row(w, VT_SIGNAL);
	put_exec(w, &r);
}

static void test_counts(void **state)
{
	static const struct {
		uint64_t offset;
		double n;
		double cycles;
	} want[] = {
		{0x400, 2, (1 + PENALTY) / 2.0},
		{0x401, 2, 1},
		{0x404, 2, 1},
		{0x410, 2, 1},
		{0x411, 2, 1},
		{0x413, 1, 1},
		{0x416, 1, 1},
		{0x417, 1, 1},
	};
	static struct out o;
	unsigned i;

	(void)state;
	run_all(put_loop, true, 0, &o);
	assert_int_equal(o.finished, 0);
	assert_int_equal(o.totals.execs, 1);
	assert_int_equal(o.totals.insns, 13);
	assert_int_equal(o.totals.loads, 3);
	assert_int_equal(o.totals.addressed, 3);
	assert_int_equal(o.totals.undecoded, 0);
	assert_int_equal(o.totals.bad, 0);
	assert_int_equal(o.totals.samples, 1);
	/* What follows a mispredicted branch comes 7 cycles behind it. */
	assert_int_equal(o.totals.cycles, 13 - 1 + PENALTY);
	assert_int_equal(o.nfreqs, 8);
	for (i = 0; i < 8; i++) {
		assert_int_equal(o.freqs[i].offset, want[i].offset);
		assert_true(o.freqs[i].n == want[i].n);
		assert_true(o.freqs[i].cycles == want[i].cycles);
		assert_int_equal(o.freqs[i].samples, want[i].n * want[i].cycles);
		assert_int_equal(o.freqs[i].period, o.freqs[i].samples);
	}
	assert_int_equal(o.freq_event, EVENT + 1);
	assert_int_equal(o.nedges, 3);
	assert_true(edge(&o, 0x404, 0x410) == 2);
	assert_true(edge(&o, 0x411, 0x400) == 1);
	assert_true(edge(&o, 0x411, 0x413) == 1);
	/* Samples: one branch; each cycle; each instruction. */
	assert_int_equal(count_samples(&o, EVENT, 0), 1);
	assert_int_equal(count_samples(&o, EVENT, CODE + 0x11), 1);
	assert_int_equal(count_samples(&o, EVENT + 1, 0), o.totals.cycles);
	assert_int_equal(count_samples(&o, EVENT + 1, CODE), 1 + PENALTY);
	assert_int_equal(count_samples(&o, EVENT + 1, CODE + 1), 2);
	assert_int_equal(count_samples(&o, EVENT + 2, 0), 13);
	assert_int_equal(count_samples(&o, EVENT + 2, CODE + 0x17), 1);
	assert_int_equal(o.totals.taken, o.nsamples);
	for (i = 0; i < o.nsamples; i++) {
		const struct sample *s = &o.samples[i];

		assert_int_equal(s->time, 77);
		assert_int_equal(s->pid, PID);
		assert_int_equal(s->tid, PID);
		assert_int_equal(s->period, 1);
		assert_int_equal(s->misc, 2);
		assert_int_equal(s->has, 1 | 2 | 4 | 0x100);
		assert_int_equal(s->nbranches, 0);
	}
}

static void test_passed_on(void **state)
{
	static const char meta[] = "cpu.model=plain\n"
				   "sampling=a model of plain, branchmp, interval 1 fixed, cycles, "
				   "interval 1 fixed, retired, interval 1 fixed\n"
				   "vsim.instructions=13\n"
				   "vsim.cycles=19\n"
				   "vsim.accesses=3\n"
				   "vsim.accesses_addressed=3\n"
				   "vsim.undecoded=0\n";
	static const struct {
		uint32_t kind;
		unsigned n;
	} passed[] = {
		{VT_IMAGE, 1}, {VT_MAP, 1},	{VT_BLOCK, 3},	{VT_THREAD, 1}, {VT_SIGNAL, 1},
		{VT_EXEC, 0},  {VT_SYSCALL, 0}, {VT_MEMORY, 0}, {VT_EVENT, 3},	{VT_META, 7},
	};
	static struct out o;
	unsigned i;

	(void)state;
	run_all(put_loop, true, 0, &o);
	assert_string_equal(o.meta, meta);
	for (i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
		assert_int_equal(o.kinds[passed[i].kind], passed[i].n);
		assert_int_equal(o.true_kinds[passed[i].kind], passed[i].n);
	}
	assert_int_equal(o.true_kinds[VT_SAMPLE], 0);
	assert_int_equal(o.kinds[VT_FREQ], 0);
}

/* Whole blocks at a time or not, the same samples fall on the same instructions. */
static void test_whole_blocks(void **state)
{
	static struct out a, b;

	(void)state;
	run_cycles(put_loop, true, &a);
	run_cycles(put_loop, false, &b);
	assert_int_equal(a.nsamples, 19);
	assert_int_equal(a.nsamples, b.nsamples);
	assert_memory_equal(a.samples, b.samples, sizeof(a.samples));
	assert_memory_equal(&a.totals, &b.totals, sizeof(a.totals));
	assert_string_equal(a.meta, b.meta);
}

static void test_stacks(void **state)
{
	static const uint64_t from[] = {CODE + 4, CODE + 0x11, CODE + 4};
	static const uint64_t to[] = {CODE + 0x10, CODE, CODE + 0x10};
	static struct out o;
	const struct sample *s;
	unsigned i;

	(void)state;
	run_all(put_loop, true, 4, &o);
	/* The last one is of the last instruction; the branch was not taken then. */
	s = &o.samples[o.nsamples - 1];
	assert_int_equal(s->has, 1 | 2 | 4 | 0x100 | 0x800);
	assert_int_equal(s->nbranches, 3);
	for (i = 0; i < 3; i++) {
		assert_int_equal(s->from[i], from[i]);
		assert_int_equal(s->to[i], to[i]);
	}
	/* From branch to branch: 7 and two more cycles, then two; the oldest one's is not known. */
	assert_int_equal(s->flags[0], 2 | (PENALTY + 2) << 4);
	assert_int_equal(s->flags[1], 1 | 2 << 4);
	assert_int_equal(s->flags[2], 2);
	run_all(put_loop, true, 2, &o);
	assert_int_equal(o.samples[o.nsamples - 1].nbranches, 2);
}

/* By turns to one of two places, and of three. */
static void put_turns(struct vt_writer *w)
{
	const struct run two = {PID, PID, 0, 29, "01201201012", 1, 11};
	const struct run three = {PID + 2, PID + 2, 0, 24, "4345444345", 1, 6};

	put_code(w, PID, 0);
	put_code(w, PID + 2, 3);
	put_exec(w, &two);
	put_exec(w, &three);
}

static void test_edges(void **state)
{
	static struct out o;

	(void)state;
	run_all(put_turns, true, 0, &o);
	assert_int_equal(o.nedges, 6);
	assert_true(edge(&o, 0x404, 0x410) == 4 + 2);
	assert_true(edge(&o, 0x411, 0x413) == 3 + 2);
	assert_true(edge(&o, 0x411, 0x400) == 1 + 2);
	assert_true(edge(&o, 0x411, 0x410) == 2);
	assert_true(edge(&o, 0x417, 0x400) == 2);
	assert_true(edge(&o, 0x417, 0x410) == 1);
}

/* ---- what is asked for ---- */

static void test_events(void **state)
{
	static const struct {
		enum vt_simulate_kind kind;
		unsigned mean;
		const char *name;
	} want[] = {
		{VT_SIMULATE_RETIRED, 5, "retired"},
		{VT_SIMULATE_BRANCHMP, 7, "branchmp"},
		{VT_SIMULATE_CYCLES, 9, "cycles"},
	};
	/* Which of these the frequencies rest on: cycles, or the last. */
	static const struct {
		unsigned first;
		unsigned n;
		unsigned event;
	} rows[] = {{0, 3, 2}, {0, 2, 1}, {2, 1, 0}, {1, 2, 1}, {0, 1, 0}, {0, 0, 0}};
	struct vt_simulate_event events[VT_SIMULATE_EVENTS + 1];
	const struct vt_core core = plain_core();
	static struct out o;
	unsigned i, k, stream;

	(void)state;
	for (i = 0; i <= VT_SIMULATE_EVENTS; i++)
		events[i] = (struct vt_simulate_event){
			want[i % 3].kind, vt_interval_make(VT_INTERVAL_FIXED, want[i % 3].mean)};
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_simulate_options options = {.core = &core,
						      .events = events + rows[i].first,
						      .nevents = rows[i].n,
						      .stack = i % 2};

		run_options(put_loop, &options, true, &o);
		assert_int_equal(o.freq_event, EVENT + rows[i].event);
		assert_int_equal(o.kinds[VT_EVENT], rows[i].n);
		assert_int_equal(o.true_kinds[VT_EVENT], rows[i].n);
		for (stream = 0; stream < 2; stream++)
			for (k = 0; k < rows[i].n; k++) {
				const struct event *e = &o.events[stream][k];

				assert_int_equal(e->id, EVENT + k);
				assert_int_equal(e->policy, VT_POLICY_MODEL);
				assert_int_equal(e->period, want[rows[i].first + k].mean);
				assert_int_equal(e->branch_type, i % 2 ? 9 : 0);
				assert_string_equal(e->name, want[rows[i].first + k].name);
				assert_string_equal(e->unit, want[rows[i].first + k].name);
			}
	}
	{
		struct vt_simulate_options options = {
			.core = &core, .events = events, .nevents = VT_SIMULATE_EVENTS + 1};

		run_options(put_loop, &options, false, &o);
		assert_int_equal(o.kinds[VT_EVENT], VT_SIMULATE_EVENTS);
	}
}

/* Counters of processes draw from generators of their own, whatever else runs. */
static void test_seeds(void **state)
{
	const struct vt_simulate_event event = {VT_SIMULATE_RETIRED,
						vt_interval_make(VT_INTERVAL_UNIFORM, 4)};
	const struct vt_core core = plain_core();
	struct vt_simulate_options options = {
		.core = &core, .events = &event, .nevents = 1, .seed = 12345};
	static struct out o;
	unsigned p;

	(void)state;
	run_options(put_turns, &options, false, &o);
	for (p = 0; p < 2; p++) {
		uint64_t left = p ? 24 : 29, period;
		struct vt_rng rng;
		unsigned i;

		vt_rng_init(&rng, 12345 + p * 0x9e3779b97f4a7c15u);
		period = vt_interval_first(&event.interval, &rng);
		for (i = 0; i < o.nsamples; i++) {
			if (o.samples[i].pid != PID + 2 * p)
				continue;
			assert_int_equal(o.samples[i].period, period);
			assert_true(left >= period);
			left -= period;
			period = vt_interval_next(&event.interval, &rng);
		}
		assert_true(left < period);
	}
}

/* Forty branches are taken, one after the other. */
static void put_many(struct vt_writer *w)
{
	const struct run r = {PID, PID, 0, 25, "0101010101", 0, 10};
	unsigned i;

	put_code(w, PID, 0);
	for (i = 0; i < 4; i++)
		put_exec(w, &r);
}

static void test_deep_stacks(void **state)
{
	static const struct {
		uint32_t stack;
		uint64_t n;
	} rows[] = {
		{VT_SIMULATE_STACK - 1, VT_SIMULATE_STACK - 1},
		{VT_SIMULATE_STACK, VT_SIMULATE_STACK},
		{VT_SIMULATE_STACK + 8, VT_SIMULATE_STACK},
	};
	static struct out o;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct vt_simulate_event event = {VT_SIMULATE_RETIRED,
							vt_interval_make(VT_INTERVAL_FIXED, 1)};
		const struct vt_core core = plain_core();
		struct vt_simulate_options options = {
			.core = &core, .events = &event, .nevents = 1, .stack = rows[i].stack};

		run_options(put_many, &options, false, &o);
		assert_int_equal(o.nsamples, 100);
		assert_int_equal(o.samples[99].nbranches, rows[i].n);
	}
}

/* A sample of each taken branch, with the branch on its stack, where control continues. */
static void test_taken(void **state)
{
	static const uint64_t at[] = {CODE + 0x10, CODE, CODE + 0x10};
	static struct out o;
	unsigned stack, i;

	(void)state;
	for (stack = 0; stack <= 4; stack += 4) {
		const struct vt_simulate_event event = {VT_SIMULATE_TAKEN,
							vt_interval_make(VT_INTERVAL_FIXED, 1)};
		const struct vt_core core = plain_core();
		struct vt_simulate_options options = {
			.core = &core, .events = &event, .nevents = 1, .stack = stack};

		run_options(put_loop, &options, false, &o);
		assert_int_equal(o.nsamples, 3);
		for (i = 0; i < 3; i++) {
			assert_int_equal(o.samples[i].ip, at[i]);
			assert_int_equal(o.samples[i].period, 1);
			assert_int_equal(o.samples[i].nbranches, stack ? i + 1 : 0);
			assert_true(!stack || o.samples[i].to[0] == at[i]);
		}
	}
}

/*
 * 1000: 90     nop
 * 1001: 90     nop
 * 1010: eb ef  jmp 1001
 *
 * A run is cut behind the first; then comes the second, the jump, the jump after the second alone,
 * or nothing.
 */
static unsigned cut_row;

static void put_cut_short(struct vt_writer *w)
{
	static const uint8_t nops[] = {0x90, 0x90}, jump[] = {0xeb, 0xef};
	const struct block blocks[] = {
		{CODE, 0, nops, 2, 2, {1, 1}, 0, {0}, VT_END_FALL},
		{CODE + 0x10, CODE + 1, jump, 2, 1, {2}, 0, {0}, VT_END_JUMP},
	};
	const struct run first = {PID, PID, 0, 1, "0", 0, 0};
	const struct run second = {PID, PID, 1, 1, "0", 0, 0};
	const struct run jumped = {PID, PID, 0, 1, "1", 0, 0};
	const struct run whole = {PID, PID, 0, 2, "0", 0, 0};

	put_code(w, PID, 2);
	put_block(w, 0, &blocks[0], PID, true);
	put_block(w, 1, &blocks[1], PID, true);
	put_exec(w, cut_row == 3 ? &whole : &first);
	if (cut_row == 1 || cut_row == 3)
		put_exec(w, &second);
	if (cut_row == 2)
		put_exec(w, &jumped);
}

static void test_cut_short(void **state)
{
	/* How often the first went on to the second; a block's end that arrives inside is no edge.
	 */
	static const double falls[] = {0, 1, 0, 1};
	static struct out o;

	(void)state;
	for (cut_row = 0; cut_row < 4; cut_row++) {
		run_all(put_cut_short, true, 0, &o);
		assert_int_equal(o.finished, 0);
		assert_true(edge(&o, 0x400, 0x401) == falls[cut_row]);
		assert_int_equal(o.nedges, falls[cut_row]);
	}
}

/* ---- parts of runs ---- */

/* The load alone; the jump; the block behind it, and the first of the next time round. */
static void put_parts(struct vt_writer *w)
{
	const struct run first = {PID, PID, 1, 1, "0", 0, 2};
	const struct run second = {PID, PID, 2, 3, "01", 0, 0};
	const struct run third = {PID, PID, 0, 1, "0", 0, 0};

	put_code(w, PID, 0);
	put_exec(w, &first);
	put_exec(w, &second);
	put_exec(w, &third);
}

static void test_parts(void **state)
{
	static struct out o;

	(void)state;
	run_all(put_parts, true, 4, &o);
	assert_int_equal(o.totals.execs, 3);
	assert_int_equal(o.totals.insns, 5);
	assert_int_equal(o.totals.loads, 1);
	assert_int_equal(o.totals.addressed, 1);
	assert_int_equal(o.nfreqs, 5);
	assert_int_equal(o.samples[0].has, 1 | 2 | 0x100 | 0x800);
	/* Of instructions that follow each other one is an edge, where that begins a block. */
	assert_true(edge(&o, 0x404, 0x410) == 1);
	assert_true(edge(&o, 0x411, 0x400) == 1);
	assert_int_equal(count_samples(&o, EVENT, CODE + 0x11), 1);
	assert_int_equal(o.samples[o.nsamples - 1].nbranches, 2);
}

/* ---- what does not follow what ---- */

static unsigned between; /* what is put between two runs */

static void put_between(struct vt_writer *w)
{
	const struct run first = {PID, PID, 0, 5, "01", 0, 2};
	const struct run second = {PID, PID, 0, 3, "0", 0, 2};

	put_code(w, PID, 0);
	put_exec(w, &first);
	switch (between) {
	case 1:
		put_state(w, PID, VT_STATE_WINDOW);
		break;
	case 2:
		vt_writer_row(w, VT_GAP);
		break;
	case 3:
		vt_writer_row(w, VT_LOST);
		break;
	case 4:
		put_state(w, PID, VT_STATE_SIGNAL);
		break;
	case 5:
		put_state(w, PID + 1, VT_STATE_WINDOW);
		break;
	default:
		break;
	}
	put_exec(w, &second);
}

static void test_interruptions(void **state)
{
	static const bool interrupts[] = {false, true, true, true, false, false};
	static struct out o;

	(void)state;
	for (between = 0; between < 6; between++) {
		bool cut = interrupts[between];

		run_all(put_between, true, 4, &o);
		assert_int_equal(o.totals.insns, 8);
		assert_true(edge(&o, 0x404, 0x410) == 1);
		assert_true(edge(&o, 0x411, 0x400) == !cut);
		assert_int_equal(count_samples(&o, EVENT, 0), !cut);
		/* And the branches before it are not those of the samples behind it. */
		assert_int_equal(o.samples[o.nsamples - 1].nbranches, cut ? 0 : 2);
		run_cycles(put_between, false, &o);
		assert_int_equal(o.totals.cycles, cut ? 8 : 8 - 1 + PENALTY);
	}
}

/*
 * A run that is cut inside of a block goes on there, at once or after a signal's handler: control
 * goes neither from nor to what is no end or start of a block.
 */
static bool handled;

static void put_cut(struct vt_writer *w)
{
	const struct run first = {PID, PID, 0, 4, "01", 0, 2};
	const struct run handler = {PID, PID, 0, 3, "2", 0, 1};
	const struct run rest = {PID, PID, 1, 6, "101", 0, 2};
	const struct run last = {PID, PID, 1, 4, "10", 0, 2};

	put_code(w, PID, 0);
	put_exec(w, &first);
	if (handled)
		put_exec(w, &handler);
	put_exec(w, &rest);
	put_exec(w, &first);
	put_exec(w, &last);
}

static void test_cut_blocks(void **state)
{
	static struct out o;
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++) {
		handled = i;
		run_all(put_cut, true, 0, &o);
		assert_int_equal(o.finished, 0);
		assert_int_equal(o.totals.insns, handled ? 21 : 18);
		assert_int_equal(o.nedges, 2);
		assert_true(edge(&o, 0x404, 0x410) == 3);
		assert_true(edge(&o, 0x411, 0x400) == 3);
	}
}

/* Two threads by turns: each goes on where it was, on the processor that they share. */
static void put_threads(struct vt_writer *w)
{
	const struct run runs[] = {
		{PID, PID, 0, 5, "01", 10, 2},
		{PID, PID + 1, 0, 3, "0", 20, 2},
		{PID, PID, 0, 3, "0", 30, 2},
		{PID, PID + 1, 0, 2, "1", 40, 0},
	};
	unsigned i;

	put_code(w, PID, 0);
	for (i = 0; i < 4; i++)
		put_exec(w, &runs[i]);
}

static void test_threads(void **state)
{
	static struct out o;
	unsigned i, n[2] = {0, 0};

	(void)state;
	run_all(put_threads, true, 4, &o);
	assert_int_equal(o.totals.insns, 13);
	assert_true(edge(&o, 0x411, 0x400) == 1);
	assert_true(edge(&o, 0x404, 0x410) == 2);
	for (i = 0; i < o.nsamples; i++) {
		const struct sample *s = &o.samples[i];

		assert_int_equal(s->pid, PID);
		if (s->event == EVENT + 2)
			n[s->tid - PID]++;
		assert_true(s->tid == PID ? s->time == 10 || s->time == 30
					  : s->time == 20 || s->time == 40);
	}
	assert_int_equal(n[0], 8);
	assert_int_equal(n[1], 5);
	/* Whose turn it is has no branches of another's. */
	assert_int_equal(o.samples[o.nsamples - 1].tid, PID + 1);
	assert_int_equal(o.samples[o.nsamples - 1].nbranches, 0);
	run_cycles(put_threads, false, &o);
	assert_int_equal(o.totals.insns, 13);
}

/* A load, and in the same thread or another what stores its result. */
static bool handed_over;

static void put_result(struct vt_writer *w)
{
	const struct run load = {PID, PID, 0, 2, "0", 0, 2};
	const struct run store = {PID, PID + handed_over, 0, 3, "2", 0, 1};

	put_code(w, PID, 0);
	put_exec(w, &load);
	put_exec(w, &store);
}

/* What a thread waits for is no other thread's business. */
static void test_waiting(void **state)
{
	const struct vt_simulate_event event = {VT_SIMULATE_RETIRED,
						vt_interval_make(VT_INTERVAL_FIXED, 1)};
	struct vt_core core = plain_core();
	struct vt_simulate_options options = {.core = &core, .events = &event, .nevents = 1};
	static struct out o;
	unsigned i;

	(void)state;
	for (i = 0; i < VT_NOPCLASSES; i++)
		core.classes[i].latency = 9;
	for (i = 0; i < 2; i++) {
		handed_over = i;
		run_options(put_result, &options, true, &o);
		assert_int_equal(o.nsamples, 5);
		assert_int_equal(o.totals.cycles, handed_over ? 5 : 5 - 1 + 9);
	}
}

/* Both threads are cut: neither goes on where it was. */
static void put_all_cut(struct vt_writer *w)
{
	const struct run runs[] = {
		{PID, PID, 0, 5, "01", 10, 2},
		{PID + 2, PID, 0, 5, "34", 20, 2},
		{PID, PID, 0, 3, "0", 30, 2},
		{PID + 2, PID, 0, 3, "3", 40, 2},
	};
	unsigned i;

	put_code(w, PID, 0);
	put_code(w, PID + 2, 3);
	for (i = 0; i < 4; i++) {
		if (i == 2 && between)
			vt_writer_row(w, VT_GAP);
		put_exec(w, &runs[i]);
	}
}

/* Threads of two processes may have the same number. */
static void test_all_cut(void **state)
{
	static struct out o;
	unsigned i, n;

	(void)state;
	for (between = 0; between < 2; between++) {
		run_all(put_all_cut, true, 0, &o);
		assert_true(edge(&o, 0x411, 0x400) == (between ? 0 : 2));
		assert_int_equal(count_samples(&o, EVENT, 0), between ? 0 : 2);
		for (i = n = 0; i < o.nsamples; i++) {
			assert_int_equal(o.samples[i].tid, PID);
			n += o.samples[i].pid == PID && o.samples[i].event == EVENT + 2;
		}
		assert_int_equal(n, 8);
	}
}

/* Processes have processors, and code, of their own. */
static void put_processes(struct vt_writer *w)
{
	const struct run runs[] = {
		{PID, PID, 0, 5, "01", 1, 2},
		{PID + 2, PID + 2, 0, 3, "3", 1, 2},
		{PID, PID, 0, 3, "0", 1, 2},
		{PID + 2, PID + 2, 0, 2, "4", 1, 0},
	};
	unsigned i;

	put_code(w, PID, 0);
	put_code(w, PID + 2, 3);
	for (i = 0; i < 4; i++)
		put_exec(w, &runs[i]);
}

static void test_processes(void **state)
{
	static struct out o;
	unsigned i, n = 0;

	(void)state;
	run_all(put_processes, true, 0, &o);
	assert_int_equal(o.totals.insns, 13);
	assert_int_equal(o.totals.cycles, 13 - 1 + PENALTY);
	assert_true(edge(&o, 0x404, 0x410) == 2);
	assert_true(edge(&o, 0x411, 0x400) == 1);
	for (i = 0; i < o.nsamples; i++)
		n += o.samples[i].pid == PID + 2 && o.samples[i].event == EVENT + 1;
	assert_int_equal(n, 5);
}

/* ---- what is not known, or wrong ---- */

static void put_unknown(struct vt_writer *w)
{
	const struct run r = {PID, PID, 0, 5, "01", 0, 2};

	put_block(w, 0, &simruns_blocks[LOAD], PID, false);
	put_block(w, 1, &simruns_blocks[BRANCH], PID, true);
	put_exec(w, &r);
}

static void test_unknown_code(void **state)
{
	static struct out o;

	(void)state;
	run_all(put_unknown, true, 0, &o);
	assert_int_equal(o.totals.insns, 5);
	assert_int_equal(o.totals.undecoded, 3);
	assert_int_equal(o.totals.loads, 0);
	/* In no image: nothing can be said of its places. */
	assert_int_equal(o.nfreqs, 0);
	assert_int_equal(o.nedges, 0);
	run_cycles(put_unknown, false, &o);
	assert_int_equal(o.totals.undecoded, 3);
}

/* A run of a block that nobody has told of, between two that follow each other. */
static void put_bad(struct vt_writer *w)
{
	const struct run first = {PID, PID, 0, 5, "01", 0, 2};
	const struct run bad = {PID, PID, 0, 3, "9", 0, 2};
	const struct run second = {PID, PID, 0, 3, "0", 0, 2};

	/* Only one that is called "sampling" says that runs are sampled. */
	vt_writer_row(w, VT_META);
	vt_writer_text(w, VT_META_KEY, "samplinx");
	put_code(w, PID, 0);
	put_block(w, 0, &simruns_blocks[BRANCH], PID, true);
	put_exec(w, &first);
	put_exec(w, &bad);
	put_exec(w, &second);
}

static void test_bad_records(void **state)
{
	static struct out o;

	(void)state;
	run_all(put_bad, true, 0, &o);
	assert_int_equal(o.finished, 0);
	assert_int_equal(o.totals.bad, 2);
	assert_int_equal(o.totals.execs, 3);
	assert_int_equal(o.totals.insns, 8);
	assert_int_equal(o.kinds[VT_BLOCK], 3);
	assert_int_equal(o.kinds[VT_GAP], 2);
	assert_string_equal(o.warning, "executed blocks: an unknown block");
	assert_true(edge(&o, 0x411, 0x400) == 0);
}

static void put_nothing(struct vt_writer *w)
{
	put_code(w, PID, 0);
}

static void put_sampled(struct vt_writer *w)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		vt_writer_row(w, VT_META);
		vt_writer_text(w, VT_META_KEY, i ? "more" : "sampling");
	}
}

static void put_only_bad(struct vt_writer *w)
{
	put_code(w, PID, 0);
	put_block(w, 0, &simruns_blocks[BRANCH], PID, true);
}

static void test_nothing(void **state)
{
	static const struct {
		put_fn *put;
		const char *error;
		unsigned metas; /* with the two that tell of the model */
	} rows[] = {
		{put_nothing, VT_NO_EXECUTED_CODE, 2},
		{put_only_bad, "no executed code that could be run", 2},
		{put_sampled, VT_IS_SAMPLED, 2},
	};
	static struct out o;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		run_all(rows[i].put, true, 0, &o);
		assert_int_equal(o.finished, -VT_E_ABSENT);
		assert_non_null(strstr(o.error, rows[i].error));
		assert_int_equal(o.kinds[VT_META], rows[i].metas);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),	     cmocka_unit_test(test_passed_on),
		cmocka_unit_test(test_whole_blocks), cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_parts),	     cmocka_unit_test(test_interruptions),
		cmocka_unit_test(test_threads),	     cmocka_unit_test(test_processes),
		cmocka_unit_test(test_unknown_code), cmocka_unit_test(test_bad_records),
		cmocka_unit_test(test_nothing),	     cmocka_unit_test(test_edges),
		cmocka_unit_test(test_cut_blocks),   cmocka_unit_test(test_events),
		cmocka_unit_test(test_seeds),	     cmocka_unit_test(test_deep_stacks),
		cmocka_unit_test(test_taken),	     cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_all_cut),	     cmocka_unit_test(test_cut_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
