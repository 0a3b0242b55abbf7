/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is decoded of encoded programs is what they executed, at the times of the model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/tools/pt_engines.h"
#include "tests/unit/common/ptwalker.h"

static void compare_time(const struct mark *mark, uint64_t insns,
			 const struct vt_pt_encode_options *opt, uint64_t early, bool alone)
{
	uint64_t cycles = insns * opt->cpi / 1000000;
	uint64_t tsc = opt->start_tsc + cycles * opt->clock.nominal_ratio / opt->cbr;

	if (tsc - mark->tsc > early)
		fail_msg("%llu instead of %llu", (unsigned long long)mark->tsc,
			 (unsigned long long)tsc);
	if (alone)
		assert_int_equal(mark->cycles, opt->cyc ? cycles : 0);
}

/* How far marks of time may be before the model's, in ticks. */
static void compare_times(const struct walker *w, const struct result *r,
			  const struct vt_pt_encode_options *opt, uint64_t early, bool alone)
{
	size_t block, n = 0, mark = 0;

	for (block = 0; block < r->nblocks; block++) {
		/* The last one before the block counts: others say when it paused. */
		for (; mark < r->nmarks && r->marks[mark].at == block; mark++)
			;
		if (mark && r->marks[mark - 1].at == block)
			compare_time(&r->marks[mark - 1], w->when[n], opt, early, alone);
		n += r->blocks[block].insns;
	}
	assert_true(mark > 100);
}

static void compare_insns(const struct walker *w, const struct result *r)
{
	size_t block, n = 0;
	uint64_t ip;
	unsigned i;

	for (block = 0; block < r->nblocks; block++) {
		ip = r->blocks[block].addr;
		for (i = 0; i < r->blocks[block].insns; i++, n++) {
			assert_true(n < w->ninsns);
			if (w->insns[n] != ip)
				fail_msg("%zu: %x instead of %x", n, (unsigned)ip,
					 (unsigned)w->insns[n]);
			ip = next_insn(ip);
		}
	}
	/* At what comes after the end, nobody has been. */
	assert_int_equal(n, w->ninsns - w->held);
}

static void compare(const struct walker *w, const struct vt_buf *trace,
		    const struct vt_pt_encode_options *opt, uint64_t early, bool alone)
{
	struct vt_pt_options dec = {.clock = opt->clock};
	struct vt_pt_code *c = code_of_blocks();
	struct result r = {.insns = 0};

	run_engine(&vt_pt_fast, c, &dec, trace->data, trace->size, false, &r);
	compare_insns(w, &r);
	if (opt->tsc)
		compare_times(w, &r, opt, early, alone);
	free_result(&r);
	vt_pt_code_free(c);
}

static struct walker walkers[2];

static void go_there_and_back(const struct vt_pt_encode_options *opt, uint64_t early)
{
	struct walker *w = &walkers[0];
	uint64_t now = 0;
	size_t skip = 0;
	struct made m;

	begin(&m);
	put_blocks(&m);
	start_walker(w, 1);
	put_piece(&m, w, &skip, MOST_INSNS / 2, &now);
	encode(&m, opt);
	compare(w, &m.trace, opt, early, true);
	vt_buf_free(&m.trace);
}

/* Options, and what they leave open of when something was. */
static void test_round_trips(void **state)
{
	static const struct {
		struct vt_pt_encode_options opt;
		uint64_t early;
	} cases[] = {
		{{.psb_bytes = 4096, .tnt_bits = 6, .cbr = 32}, 0},
		{{.psb_bytes = 64, .tnt_bits = 6, .cbr = 32, .cr3 = 0x1000}, 0},
		{{.psb_bytes = 64, .tnt_bits = 6, .cbr = 32, .no_retcomp = true}, 0},
		{{.psb_bytes = 512, .tnt_bits = 47, .cbr = 32}, 0},
		{{.psb_bytes = 512, .tnt_bits = 7, .cbr = 32}, 0},
		/* Each decision has its time. */
		{{.psb_bytes = 64, .tnt_bits = 1, .cbr = 32, .tsc = true, .cyc = true}, 0},
		{{.psb_bytes = 64, .tnt_bits = 1, .cbr = 16, .tsc = true, .cyc = true}, 0},
		{{.psb_bytes = 64, .tnt_bits = 1, .cbr = 32, .tsc = true, .mtc = true, .cyc = true},
		 0},
		/* A packet of decisions comes with the time of the first. */
		{{.psb_bytes = 200, .tnt_bits = 6, .cbr = 32, .tsc = true, .cyc = true}, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vt_pt_encode_options opt = cases[i].opt;

		opt.cpi = 1000000;
		opt.start_tsc = 12345;
		opt.clock = vt_pt_encode_defaults.clock;
		go_there_and_back(&opt, cases[i].early);
	}
}

/* Clocks that do not go evenly: cycles are those of the model all the same. */
static void test_clocks(void **state)
{
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;

	(void)state;
	opt.psb_bytes = 64;
	opt.tnt_bits = 1;
	opt.tsc = opt.mtc = opt.cyc = true;
	opt.cbr = 16;
	opt.cpi = 3000000;
	opt.clock.mtc_period = 0;
	opt.clock.ctc_numerator = 3;
	/* A mark comes no later than the next tick is due, which is before the next
	 * branch. */
	go_there_and_back(&opt, 6);
	opt.cyc = false;
	go_there_and_back(&opt, 1);
	/* The TSC alone, in each PSB+. */
	opt.mtc = false;
	go_there_and_back(&opt, 30);
	opt.mtc = opt.cyc = true;
	opt.cpi = 700000;
	go_there_and_back(&opt, 1);
}

static bool ends_in(const struct walker *w, unsigned block)
{
	return w->insns[w->ninsns - 1] == blocks[block].addr;
}

static void go_in_turns(const struct vt_pt_encode_options *opt, unsigned turns)
{
	uint64_t now = 0;
	size_t skip[2] = {0}, i;
	struct made m;

	begin(&m);
	put_blocks(&m);
	start_walker(&walkers[0], 1);
	start_walker(&walkers[1], 2);
	for (i = 0; i < 200; i++) {
		struct walker *w = &walkers[i & 1];

		m.tid = PID + (int64_t)(i & 1);
		put_piece(&m, w, &skip[i & 1], 100, &now);
		if (turns & IDLE)
			now += IDLE_INSNS;
		w->held = turns & PAUSE && !w->off && !skip[i & 1] && !ends_in(w, R) &&
			  !ends_in(w, G);
	}
	/* The second one is not interrupted any more. */
	walkers[1].held = false;
	encode_turns(&m, opt, turns);
	compare(&walkers[0], &m.trace, opt, 0, false);
	compare(&walkers[1], &m.other, opt, 0, false);
	assert_int_equal(m.sum.insns, walkers[0].ninsns + walkers[1].ninsns);
	assert_int_equal(m.sum.threads, 2);
	/* Nobody was idle behind the last piece. */
	now -= turns & IDLE ? IDLE_INSNS : 0;
	assert_int_equal(m.now, opt->tsc ? opt->start_tsc + now : 0);
	vt_buf_free(&m.trace);
	vt_buf_free(&m.other);
}

static void test_turns(void **state)
{
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;

	(void)state;
	opt.tnt_bits = 1;
	go_in_turns(&opt, NO_TURNS);
	go_in_turns(&opt, PAUSE);
	opt.tsc = opt.cyc = true;
	go_in_turns(&opt, NO_TURNS);
	go_in_turns(&opt, PAUSE);
	go_in_turns(&opt, PAUSE | IDLE);
	go_in_turns(&opt, PAUSE | SYNC);
	go_in_turns(&opt, IDLE);
}

/* Is what was decoded from block `from` up to `to` a piece of what was
 * executed, from *at on? */
static void find_piece(const struct walker *w, const struct result *r, size_t from, size_t to,
		       size_t *at)
{
	static uint64_t piece[MOST_INSNS];
	size_t n = 0;
	unsigned i;

	for (; from < to; from++) {
		uint64_t ip = r->blocks[from].addr;

		for (i = 0; i < r->blocks[from].insns; i++, ip = next_insn(ip)) {
			assert_true(n < MOST_INSNS);
			piece[n++] = ip;
		}
	}
	while (*at + n <= w->ninsns && memcmp(w->insns + *at, piece, n * sizeof(*piece)) != 0)
		++*at;
	assert_true(*at + n <= w->ninsns);
	*at += n;
}

/* What overflows leave are pieces of what was executed, and each is told. */
static void test_overflows(void **state)
{
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;
	const struct vt_pt_options dec = {.clock = opt.clock};
	struct vt_pt_code *c = code_of_blocks();
	size_t skip = 0, i, from = 0, at = 0, overflows = 0;
	struct result r = {.insns = 0};
	uint64_t now = 0;
	struct made m;

	(void)state;
	opt.overflow = 300;
	opt.psb_bytes = 256;
	begin(&m);
	put_blocks(&m);
	start_walker(&walkers[0], 1);
	put_piece(&m, &walkers[0], &skip, MOST_INSNS / 2, &now);
	encode(&m, &opt);
	run_engine(&vt_pt_fast, c, &dec, m.trace.data, m.trace.size, false, &r);
	for (i = 0; i < r.nnotes; i++) {
		assert_int_not_equal(r.notes[i].note.type, VT_PT_NOTE_ERROR);
		if (r.notes[i].note.type != VT_PT_NOTE_OVERFLOW)
			continue;
		find_piece(&walkers[0], &r, from, r.notes[i].at, &at);
		from = r.notes[i].at;
		overflows++;
	}
	find_piece(&walkers[0], &r, from, r.nblocks, &at);
	assert_true(overflows > 5);
	assert_int_equal(overflows, m.sum.overflows);
	assert_true(r.insns > walkers[0].ninsns / 4 && r.insns < walkers[0].ninsns);
	free_result(&r);
	vt_buf_free(&m.trace);
	vt_pt_code_free(c);
}

/* Damage is in as many bytes as are told, about so many apart. */
static void test_damage(void **state)
{
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;
	struct made m[2];
	size_t i, different = 0, places = 0, last = 0;

	(void)state;
	for (i = 0; i < 2; i++) {
		uint64_t now = 0;
		size_t skip = 0;

		opt.damage = i ? 60 : 0;
		begin(&m[i]);
		put_blocks(&m[i]);
		start_walker(&walkers[0], 1);
		put_piece(&m[i], &walkers[0], &skip, MOST_INSNS / 2, &now);
		encode(&m[i], &opt);
	}
	assert_int_equal(m[0].sum.damaged, 0);
	assert_int_equal(m[0].trace.size, m[1].trace.size);
	for (i = 0; i < m[0].trace.size; i++) {
		if (m[0].trace.data[i] == m[1].trace.data[i])
			continue;
		/* 16 bytes at most from a place, 31 to 90 from one to the next. */
		if (!places || i - last > 15) {
			assert_in_range(i - last, places ? 31 : 0, 90);
			last = i;
			places++;
		}
		different++;
	}
	assert_int_equal(m[1].sum.damaged, different);
	assert_in_range(m[0].trace.size - last, 0, 90);
	vt_buf_free(&m[0].trace);
	vt_buf_free(&m[1].trace);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trips), cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_turns),	    cmocka_unit_test(test_overflows),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
