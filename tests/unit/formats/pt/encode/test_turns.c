/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is encoded of calls, of watched blocks, of threads in turns and of time, packet by packet.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tests/unit/formats/pt/encode/ptlive.h"

/* ---- calls and returns ---- */

/*
 * Decoders do not agree on a call or return at which tracing ends: no return is compressed then
 * whose call came before.
 */
static void test_calls_forgotten(void **state)
{
	static const struct {
		const char *length, *code;
		uint64_t to; /* 0: a gap */
		const char *ended, *returns;
	} rows[] = {
		{"\2", "\xff\xe0", 0, "TIP.PGD=0 ", "T TIP.PGD "},
		{"\1", "\xc3", 0, "TIP.PGD=0 ", "TIP=1005 TIP.PGD "},
		{"\2", "\xff\xd0", 0, "TIP.PGD=0 ", "TIP=1005 TIP.PGD "},
		{"\2", "\xff\xe0", 0x4000, "TIP.PGD=4000 ", "T TIP.PGD "},
		{"\1", "\xc3", 0x4000, "TIP.PGD=4000 ", "TIP=1005 TIP.PGD "},
		{"\2", "\xff\xd0", 0x4000, "TIP.PGD=4000 ", "TIP=1005 TIP.PGD "},
		{"\5", "\xe8\x10\0\0\0", 0x2015, "TIP.PGD=2015 ", "TIP=1005 TIP.PGD "},
		{"\2", "\xeb\x10", 0x2012, "TIP.PGD=2012 ", "T TIP.PGD "},
	};
	char want[64];
	struct live l;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin_live(&l, &vt_pt_encode_defaults);
		block(&l, 1, 0x1000, "\5", "\xe8\xfb\x0f\0\0"); /* call 2000 */
		block(&l, 2, 0x1005, "\2", "\x0f\x05");
		block(&l, 3, 0x2000, rows[i].length, rows[i].code);
		block(&l, 4, 0x3000, "\1", "\xc3");
		exec(&l, 7, "13", 2);
		said(&l, BEGIN "TIP.PGE=1000 ");
		if (rows[i].to)
			traced(&l, 7, VT_TRACE_DISABLED, 0, rows[i].to);
		else
			gap(&l, 7, 7);
		said(&l, rows[i].ended);
		exec(&l, 7, "42", 2);
		gap(&l, 7, 7);
		snprintf(want, sizeof(want), "TIP.PGE=3000 %s", rows[i].returns);
		said(&l, want);
		end_live(&l);
	}
}

/* A function that calls itself: je 2010; call 2000; ret. At 2010 a ret, and another one at 3000. */
enum { TEST = 1, CALL, BACK, LEAF, OTHER };

static void put_recursion(struct live *l)
{
	block(l, TEST, 0x2000, "\2", "\x74\x0e");
	block(l, CALL, 0x2002, "\5", "\xe8\xf9\xff\xff\xff");
	block(l, BACK, 0x2007, "\1", "\xc3");
	block(l, LEAF, 0x2010, "\1", "\xc3");
	block(l, OTHER, 0x3000, "\1", "\xc3");
}

static uint16_t *repeat(uint16_t *to, unsigned n, const char *digits)
{
	while (n--) {
		const char *d;

		for (d = digits; *d; d++)
			*to++ = (uint16_t)(*d - '0');
	}
	return to;
}

static uint16_t ids[20000];

/* The processor's stack has 64 places: of 70 returns the last six are not compressed. */
static void test_deep(void **state)
{
	struct vt_buf want = VT_BUF_INIT;
	uint16_t *end = repeat(ids, 70, "12");
	struct live l;

	(void)state;
	begin_live(&l, &vt_pt_encode_defaults);
	put_recursion(&l);
	end = repeat(end, 1, "14");
	end = repeat(end, 70, "3");
	assert_int_equal(run(&l, 7, ids, (size_t)(end - ids), 2, 0, (uint64_t)(end - ids)), 0);
	gap(&l, 7, 7);
	put_times(&want, 1, BEGIN "TIP.PGE=2000 ");
	put_times(&want, 11, "NNNNNN ");
	put_times(&want, 1, "NNNNTT ");
	put_times(&want, 10, "TTTTTT ");
	put_times(&want, 1, "TTT ");
	put_times(&want, 6, "TIP=2007 ");
	put_times(&want, 1, "TIP.PGD=0 ");
	said(&l, vt_buf_str(&want));
	vt_buf_free(&want);
	end_live(&l);
}

/*
 * A decoder that pops at each return has 4096 places of 4097 calls: after so many returns that went
 * elsewhere there are none left, and after one less there is the last.
 */
static void test_deepest(void **state)
{
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;
	unsigned elsewhere;

	(void)state;
	opt.psb_bytes = UINT64_C(1) << 40;
	for (elsewhere = 4095; elsewhere < 4097; elsewhere++) {
		uint16_t *end = repeat(ids, 4097, "12");
		struct vt_buf want = VT_BUF_INIT;
		struct live l;

		begin_live(&l, &opt);
		put_recursion(&l);
		end = repeat(end, 1, "14");
		end = repeat(end, elsewhere, "5");
		end = repeat(end, 1, "3");
		assert_int_equal(run(&l, 7, ids, (size_t)(end - ids), 2, 0, (uint64_t)(end - ids)),
				 0);
		gap(&l, 7, 7);
		put_times(&want, 1, BEGIN "TIP.PGE=2000 ");
		put_times(&want, 682, "NNNNNN "); /* 4092 */
		put_times(&want, 1, "NNNNNT ");
		put_times(&want, elsewhere, "TIP=3000 ");
		put_times(&want, 1, elsewhere == 4095 ? "T " : "TIP=2007 ");
		put_times(&want, 1, "TIP.PGD=0 ");
		said(&l, vt_buf_str(&want));
		vt_buf_free(&want);
		end_live(&l);
	}
}

/* ---- watched blocks ---- */

static int watch(void *arg, int64_t pid, const struct vt_bblock *b, struct vt_error *err)
{
	struct live *l = arg;

	(void)err;
	l->asked++;
	l->pid = pid;
	l->addr = b->addr;
	l->now = vt_pt_encode_now(l->e);
	return l->answer;
}

static int watch_none(void *arg, int64_t pid, const struct vt_bblock *b, struct vt_error *err)
{
	(void)arg;
	(void)pid;
	(void)b;
	(void)err;
	fail();
	return 0;
}

/* With a clock, of which an instruction takes one cycle, and that one tick. */
static struct vt_pt_encode_options clocked(void)
{
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;

	opt.tsc = opt.cyc = true;
	opt.start_tsc = 0x1000;
	return opt;
}

#define TIMED(tsc) "PSB TSC=" tsc " CBR=20 MODE.Exec=40 PSBEND "

/* The watcher is asked before each execution; where its answer is 1, the trace is interrupted. */
static void test_watched(void **state)
{
	struct vt_pt_encode_options opt = clocked();
	struct live l;

	(void)state;
	begin_live(&l, &opt);
	put_common(&l);
	vt_pt_encode_watch(l.e, 2, watch);
	/* Of a block that nobody knows nothing happens, even when it is known later. */
	vt_pt_encode_watch(l.e, 4, watch_none);
	block(&l, 4, 0x1000, "\1\1", "\x90\x90");
	exec(&l, 7, "121", 5);
	assert_int_equal(l.asked, 1);
	assert_int_equal(l.pid, PID);
	assert_int_equal(l.addr, 0x1002);
	assert_int_equal(l.now, 0x1002);
	assert_int_equal(vt_pt_encode_now(l.e), 0x1005);
	said(&l, TIMED("1000") "TIP.PGE=1000 ");
	/* Making code takes the time of 1000 instructions: the PSB is at 1000 + 5 + 1 + 1000. */
	l.answer = 1;
	exec(&l, 7, "121", 6);
	assert_int_equal(l.asked, 2);
	assert_int_equal(l.now, 0x1007);
	assert_int_equal(vt_pt_encode_now(l.e), 0x1000 + 5 + 1000 + 6);
	end_live(&l);
}

/* The same with what is told of it; all blocks may be watched, also those to come. */
static void test_watched_all(void **state)
{
	struct vt_pt_encode_options opt = clocked();
	struct live l;

	(void)state;
	begin_live(&l, &opt);
	vt_pt_encode_watch_all(l.e, watch);
	put_common(&l);
	l.answer = 1;
	exec(&l, 7, "12", 4);
	assert_int_equal(l.asked, 2);
	assert_int_equal(l.now, 0x1000 + 1000 + 2);
	said(&l, TIMED("1000") TIMED("13e8") "TIP.PGE=1000 CYC=2 FUP=1002 TIP.PGD " TIMED(
			 "17d2") "TIP.PGE=1002 ");
	l.answer = 0;
	exec(&l, 7, "1", 2);
	assert_int_equal(l.asked, 3);
	said(&l, "");
	assert_int_equal(vt_pt_encode_now(l.e), 0x1000 + 2000 + 6);
	end_live(&l);

	/* Those that are known already; without a clock nothing is told. */
	begin_live(&l, &vt_pt_encode_defaults);
	put_common(&l);
	vt_pt_encode_watch_all(l.e, watch);
	l.answer = 1;
	exec(&l, 7, "121", 6);
	assert_int_equal(l.asked, 3);
	exec(&l, 7, "3", 3);
	assert_int_equal(l.asked, 4);
	said(&l, BEGIN "TIP.PGE=1000 FUP=1002 TIP.PGD TIP.PGE=2000 ");
	/* A fault ends all: nobody is asked again. */
	l.answer = -VT_E_READ;
	assert_int_equal(run(&l, 7, "\1\0\2\0\1\0", 3, 2, 0, 6), -VT_E_READ);
	assert_int_equal(l.asked, 5);
	end_live(&l);
}

/* A block that is left out is as one that nobody knows. */
static void test_left_out(void **state)
{
	struct live l;

	(void)state;
	begin_live(&l, &vt_pt_encode_defaults);
	put_common(&l);
	vt_pt_encode_leave_out(l.e, 2);
	vt_pt_encode_leave_out(l.e, 4);
	block(&l, 4, 0x1004, "\1", "\x90");
	vt_pt_encode_watch(l.e, 2, watch);
	exec(&l, 7, "121", 6);
	said(&l, BEGIN "TIP.PGE=1000 FUP=1002 TIP.PGD TIP.PGE=1000 ");
	assert_int_equal(l.asked, 0);
	assert_int_equal(totals(&l)->bad, 0);
	assert_int_equal(totals(&l)->insns, 4);
	assert_int_equal(totals(&l)->blocks, 3);
	exec(&l, 7, "4", 1);
	said(&l, "FUP=1002 TIP.PGD TIP.PGE=1004 ");
	end_live(&l);
}

/* ---- turns ---- */

static void pause_it(struct live *l, int64_t tid)
{
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(vt_pt_encode_pause(l->e, PID, tid, &err), 0);
}

/* A thread that pauses is interrupted before its last instruction, if that is a branch. */
static void test_paused(void **state)
{
	static const struct {
		const char *lengths, *code, *pause, *resume;
	} rows[] = {
		{"\1\1", "\x90\x90", "FUP=1002 TIP.PGD ", ""},
		{"\1\2", "\x90\xeb\x10", "FUP=1001 TIP.PGD ", "TIP.PGE=1001 "},
		{"\1\2", "\x90\x74\x10", "FUP=1001 TIP.PGD ", "TIP.PGE=1001 "},
		{"\1\1", "\x90\xc3", "FUP=1001 TIP.PGD ", "TIP.PGE=1001 "},
		{"\1\2", "\x90\xff\xd0", "FUP=1001 TIP.PGD ", "TIP.PGE=1001 "},
		{"\1\2", "\x90\xf3\xa4", "FUP=1001 TIP.PGD ", "TIP.PGE=1001 "},
		{"\1\2", "\x90\x0f\x05", "TIP.PGD ", ""},
		{"\1\2", "\x90\x48\xcf", "TIP.PGD ", ""},
	};
	struct live l;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin_live(&l, &vt_pt_encode_defaults);
		block(&l, 1, 0x1000, rows[i].lengths, rows[i].code);
		pause_it(&l, 7);
		vt_pt_encode_resume(l.e, PID, 7);
		exec(&l, 7, "1", 2);
		vt_pt_encode_resume(l.e, PID, 7);
		said(&l, BEGIN "TIP.PGE=1000 ");
		pause_it(&l, 7);
		/* The sink has it already. */
		assert_int_equal(l.calls, 2);
		said(&l, rows[i].pause);
		pause_it(&l, 7);
		said(&l, "");
		vt_pt_encode_resume(l.e, PID, 7);
		said(&l, rows[i].resume);
		vt_pt_encode_resume(l.e, PID, 7);
		said(&l, "");
		end_live(&l);
	}
}

/* The time of others and of nobody goes by: a thread that goes on has a PSB first. */
static void test_turns(void **state)
{
	struct vt_pt_encode_options opt = clocked();
	struct live l;

	(void)state;
	opt.tnt_bits = 1;
	begin_live(&l, &opt);
	put_common(&l);
	exec(&l, 7, "1", 2);
	exec(&l, 8, "1", 2);
	exec(&l, 8, "2", 2);
	said_by(&l, 0, TIMED("1000") "TIP.PGE=1000 ");
	said_by(&l, 1, TIMED("1002") "TIP.PGE=1000 ");
	exec(&l, 7, "2", 2);
	said_by(&l, 0, "CYC=2 FUP=1002 TIP.PGD " TIMED("1006") "TIP.PGE=1002 ");
	pause_it(&l, 7);
	said_by(&l, 0, "CYC=2 FUP=1003 TIP.PGD ");
	/* It goes on at once, */
	vt_pt_encode_resume(l.e, PID, 7);
	said_by(&l, 0, "TIP.PGE=1003 ");
	pause_it(&l, 7);
	vt_pt_encode_idle(l.e, 16);
	assert_int_equal(vt_pt_encode_now(l.e), 0x1018);
	/* or after some time. */
	vt_pt_encode_resume(l.e, PID, 7);
	said_by(&l, 0, "FUP=1003 TIP.PGD " TIMED("1018") "TIP.PGE=1003 ");
	vt_pt_encode_idle(l.e, 16);
	exec(&l, 7, "1", 2);
	said_by(&l, 0, "FUP=1000 TIP.PGD " TIMED("1028") "TIP.PGE=1000 ");
	/* All threads of a process tell the time as soon as they go on. */
	block(&l, 4, 0x1002, "\2", "\x74\xfc"); /* je 1000 */
	vt_pt_encode_sync(l.e, PID + 1);
	exec(&l, 7, "41", 3);
	said_by(&l, 0, "CYC=3 T ");
	vt_pt_encode_sync(l.e, PID);
	exec(&l, 7, "41", 3);
	said_by(&l, 0, "CYC=3 T PSB TSC=102e CBR=20 MODE.Exec=40 FUP=1000 PSBEND ");
	assert_int_equal(vt_pt_encode_now(l.e), 0x1030);
	end_live(&l);

	/* Without a TSC in them nobody needs such a PSB. */
	opt.tsc = false;
	begin_live(&l, &opt);
	put_common(&l);
	block(&l, 4, 0x1002, "\2", "\x74\xfc");
	exec(&l, 7, "1", 2);
	vt_pt_encode_sync(l.e, PID);
	exec(&l, 7, "41", 3);
	said(&l, "PSB CBR=20 MODE.Exec=40 PSBEND TIP.PGE=1000 CYC=3 T ");
	end_live(&l);
}

/* ---- the clock ---- */

static uint64_t ctc_at(const struct vt_pt_encode_options *opt, uint64_t cycle)
{
	uint64_t tsc = opt->start_tsc + cycle * opt->clock.nominal_ratio / opt->cbr;

	return tsc * opt->clock.ctc_denominator / opt->clock.ctc_numerator;
}

/* Passes from one number of cycles to another, with an MTC where the CTC becomes due. */
static void pass(struct vt_buf *want, const struct vt_pt_encode_options *opt, uint64_t *told,
		 uint64_t from, uint64_t to)
{
	const unsigned period = opt->clock.mtc_period;
	uint64_t c, ctc;

	for (c = from + 1; c <= to; c++) {
		for (ctc = ctc_at(opt, c - 1) + 1; ctc <= ctc_at(opt, c); ctc++) {
			if (ctc & ((1u << period) - 1))
				continue;
			if (opt->cyc && c > *told)
				vt_buf_printf(want, "CYC=%llx ", (unsigned long long)(c - *told));
			*told = c;
			vt_buf_printf(want, "MTC=%x ", (unsigned)(ctc >> period & 255));
		}
	}
}

/* Where the ticks of a clock come is as the clock's definition says, cycle by cycle. */
static void test_ticks(void **state)
{
	static const struct vt_pt_encode_options rows[] = {
		{.cpi = 1000000, .cbr = 32, .start_tsc = 4096, .clock = {0, 32, 256, 2}},
		{.cpi = 1000000, .cbr = 32, .start_tsc = 4096, .clock = {1, 32, 256, 2}},
		{.cpi = 700000, .cbr = 3, .start_tsc = 1000, .clock = {0, 5, 7, 3}},
		{.cpi = 2700001, .cbr = 7, .start_tsc = 99999, .clock = {2, 3, 2, 3}},
		{.cpi = 5300000, .cbr = 7, .start_tsc = 77, .clock = {0, 30, 5, 3}},
	};
	uint64_t insns, cycles, tsc, last, told;
	struct live l;
	size_t i, k;

	(void)state;
	for (k = 0; k < 300; k++)
		ids[k] = 1;
	for (i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_pt_encode_options opt = rows[i / 2];
		struct vt_buf want = VT_BUF_INIT;
		uint64_t ctc;

		opt.psb_bytes = UINT64_C(1) << 40;
		opt.tnt_bits = 1;
		opt.tsc = opt.mtc = true;
		opt.cyc = i % 2;
		tsc = opt.start_tsc;
		ctc = ctc_at(&opt, 0);
		/* Ticks of the TSC since the CTC became this. */
		for (k = 0;
		     (tsc - k - 1) * opt.clock.ctc_denominator / opt.clock.ctc_numerator == ctc;
		     k++)
			;
		vt_buf_printf(&want, "PSB TSC=%x TMA=%x+%x CBR=%x MODE.Exec=40 PSBEND ",
			      (unsigned)tsc, (unsigned)(ctc & 0xffff), (unsigned)k, opt.cbr);
		put_times(&want, 1, "TIP.PGE=1000 ");
		for (insns = 1, last = told = 0; insns < 300; insns++, last = cycles) {
			cycles = insns * opt.cpi / 1000000;
			pass(&want, &opt, &told, last, cycles);
			if (opt.cyc && cycles > told)
				vt_buf_printf(&want, "CYC=%llx ",
					      (unsigned long long)(cycles - told));
			told = cycles;
			put_times(&want, 1, "T ");
		}
		begin_live(&l, &opt);
		block(&l, 1, 0x1000, "\2", "\x74\xfe");
		assert_int_equal(run(&l, 7, ids, 300, 2, 0, 300), 0);
		said(&l, vt_buf_str(&want));
		vt_buf_free(&want);
		end_live(&l);
	}
}

/* ---- damage ---- */

/* Somewhere between half of a mean and one and a half times it, as the thread's numbers fall. */
static uint64_t some(struct vt_rng *rng, uint64_t mean)
{
	return mean / 2 + 1 + vt_rng_below(rng, mean);
}

/* Two indirect jumps to one another, at 1000 and 2000: a TIP of three bytes for each. */
static void put_jumps(struct live *l, int64_t tid, unsigned n)
{
	uint16_t *end = repeat(ids, n / 2, "12");

	if (tid == 7) {
		block(l, 1, 0x1000, "\2", "\xff\xe0");
		block(l, 2, 0x2000, "\2", "\xff\xe0");
	}
	assert_int_equal(run(l, tid, ids, (size_t)(end - ids), 2, 0, n), 0);
}

/* A bit, a byte, or up to 16 in a row are changed in turns that each thread draws for itself. */
static void test_damaged(void **state)
{
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;
	struct vt_error err = VT_ERROR_INIT;
	struct live plain, l;
	struct vt_rng rng;
	uint64_t at, i, total = 0;
	unsigned thread, n;

	(void)state;
	begin_live(&plain, &opt);
	opt.damage = 61;
	opt.seed = 5;
	begin_live(&l, &opt);
	for (thread = 0; thread < 2; thread++) {
		put_jumps(&plain, 7 + thread, 2000);
		put_jumps(&l, 7 + thread, 2000);
	}
	assert_int_equal(vt_pt_encode_flush(plain.e, &err), 0);
	assert_int_equal(vt_pt_encode_flush(l.e, &err), 0);
	for (thread = 0; thread < 2; thread++) {
		const size_t size = plain.trace[thread].size;
		uint8_t *p = plain.trace[thread].data;

		vt_rng_init(&rng, opt.seed + thread);
		for (at = some(&rng, 61); at < size; at += some(&rng, 61)) {
			uint64_t sort = vt_rng_below(&rng, 3);

			n = sort == 2 ? 1 + (unsigned)vt_rng_below(&rng, 16) : 1;
			for (i = at; n && i < size; i++, n--, total++)
				p[i] ^= (uint8_t)(sort ? 1 + vt_rng_below(&rng, 255)
						       : 1U << vt_rng_below(&rng, 8));
		}
		assert_int_equal(l.trace[thread].size, size);
		assert_memory_equal(l.trace[thread].data, p, size);
	}
	assert_int_equal(totals(&plain)->damaged, 0);
	assert_int_equal(totals(&l)->damaged, total);
	end_live(&plain);
	end_live(&l);
}

/* What is lost, where, and what is told behind it: packet by packet. */
static void test_overflowing(void **state)
{
	static const struct {
		uint64_t mean, most;
	} rows[] = {{50, 50}, {300, 300}, {4095, 4095}, {4097, 4096}, {9000, 4096}};
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;
	struct live l;
	size_t k;

	(void)state;
	opt.psb_bytes = UINT64_C(1) << 40;
	for (k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		const uint64_t mean = rows[k].mean;
		/* PSB+ and TIP.PGE have 23 bytes. */
		uint64_t i, pos = 23, from = 0, next, overflows = 0;
		struct vt_buf want = VT_BUF_INIT;
		struct vt_rng rng;

		vt_rng_init(&rng, opt.seed);
		next = some(&rng, mean);
		put_times(&want, 1, BEGIN "TIP.PGE=1000 ");
		for (i = 1; i < 20000; i++) {
			const char *ip = i % 2 ? "2000" : "1000";

			pos += 3;
			if (!from)
				vt_buf_printf(&want, "TIP=%s ", ip);
			if (pos < next)
				continue;
			if (!from) {
				from = pos;
				next = pos + 1 + vt_rng_below(&rng, rows[k].most);
				continue;
			}
			/* An OVF of two bytes, and a whole address. */
			overflows++;
			vt_buf_printf(&want, "OVF=0 FUP=%s ", ip);
			pos = from + 2 + 7;
			next = pos + some(&rng, mean);
			from = 0;
			if (!vt_rng_below(&rng, 2))
				continue;
			vt_buf_printf(&want, "PSB MODE.Exec=40 FUP=%s PSBEND ", ip);
			pos += 23;
		}
		opt.overflow = mean;
		begin_live(&l, &opt);
		put_jumps(&l, 7, 20000);
		said(&l, vt_buf_str(&want));
		assert_int_equal(totals(&l)->overflows, overflows);
		assert_true(overflows > 2);
		vt_buf_free(&want);
		end_live(&l);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_forgotten), cmocka_unit_test(test_deep),
		cmocka_unit_test(test_deepest),		cmocka_unit_test(test_watched),
		cmocka_unit_test(test_watched_all),	cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_paused),		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_damaged),		cmocka_unit_test(test_overflowing),
		cmocka_unit_test(test_ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
