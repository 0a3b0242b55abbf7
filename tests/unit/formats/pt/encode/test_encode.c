/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/pt/packet.h"
#include "tests/unit/common/ptencoded.h"

/* Streams, and the packets that each must give, written as text. */

static void put_trace(struct made *m, enum vt_trace_event event, uint64_t ip, uint64_t to,
		      uint64_t value)
{
	uint64_t *row = vt_writer_row(m->w, VT_TRACE);

	row[VT_TRACE_PID] = row[VT_TRACE_TID] = PID;
	row[VT_TRACE_EVENT] = event;
	row[VT_TRACE_IP] = ip;
	row[VT_TRACE_TO] = to;
	row[VT_TRACE_VALUE] = value;
}

/* Checks the packets, and ends. */
static void expect_turns(struct made *m, const struct vt_pt_encode_options *opt, unsigned turns,
			 const char *text)
{
	uint64_t last = 0;

	encode_turns(m, opt, turns);
	put_packets(&m->text, m->trace.data, m->trace.size, &last);
	assert_string_equal(vt_buf_str(&m->text), text);
	vt_buf_free(&m->text);
	vt_buf_free(&m->trace);
	vt_buf_free(&m->other);
}

static void expect(struct made *m, const struct vt_pt_encode_options *opt, const char *text)
{
	expect_turns(m, opt, NO_TURNS, text);
}

/* je +0x10; jmp *%rax; nop */
static void test_branches(void **state)
{
	static const uint16_t ids[] = {1, 2, 1, 3, 1, 2, 3};
	struct made m;

	(void)state;
	begin(&m);
	put_block(&m, 1, 0x1000, "\1\2", "\x90\x74\x0d"); /* to 1010 */
	put_block(&m, 2, 0x1003, "\2", "\xff\xe0");
	put_block(&m, 3, 0x1010, "\2", "\xeb\xee"); /* to 1000 */
	put_exec(&m, ids, 7, 10, 0);
	expect(&m, &vt_pt_encode_defaults,
	       BEGIN "TIP.PGE=1000 N TIP=1000 TN TIP=1010 FUP=1000 TIP.PGD ");
}

/* Of a branch nobody knows what it did; an unknown target has an address of its
 * own. */
static void test_end(void **state)
{
	static const uint16_t ids[] = {1, 2};
	struct made m;

	(void)state;
	begin(&m);
	put_block(&m, 1, 0x1000, "\1\2", "\x90\x74\x0d");
	put_block(&m, 2, 0x1003, "\2", "\xff\xe0");
	put_exec(&m, ids, 1, 2, 0);
	expect(&m, &vt_pt_encode_defaults, BEGIN "TIP.PGE=1000 N FUP=1003 TIP.PGD ");
	begin(&m);
	put_block(&m, 1, 0x1000, "\1\2", "\x90\x74\x0d");
	put_block(&m, 2, 0x1003, "\2", "\xff\xe0");
	put_exec(&m, ids, 2, 2, 1);
	expect(&m, &vt_pt_encode_defaults, BEGIN "TIP.PGE=1001 N TIP.PGD=0 ");
}

/* A return is compressed, except when it goes elsewhere, or it is not wanted.
 */
static void test_returns(void **state)
{
	static const uint16_t ids[] = {1, 3, 2, 3, 4};
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;
	struct made m;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		begin(&m);
		put_block(&m, 1, 0x1000, "\5", "\xe8\x0b\x01\x00\x00"); /* call 1110 */
		put_block(&m, 2, 0x1005, "\5", "\xe8\x06\x01\x00\x00");
		put_block(&m, 3, 0x1110, "\1", "\xc3");
		put_block(&m, 4, 0x2000, "\2", "\x0f\x05"); /* syscall */
		put_exec(&m, ids, 5, 5, 0);
		opt.no_retcomp = i;
		expect(&m, &opt,
		       i ? BEGIN "TIP.PGE=1000 TIP=1005 TIP=2000 TIP.PGD "
			 : BEGIN "TIP.PGE=1000 T TIP=2000 TIP.PGD ");
	}
}

/* System calls, of which one goes on in the kernel. */
static void test_far(void **state)
{
	static const uint16_t ids[] = {1, 1, 2, 1};
	struct made m;

	(void)state;
	begin(&m);
	put_block(&m, 1, 0x1000, "\2", "\x0f\x05");
	put_block(&m, 2, 0xffffffff81000000, "\3", "\x48\x0f\x07"); /* sysretq */
	put_exec(&m, ids, 4, 4, 0);
	expect(&m, &vt_pt_encode_defaults,
	       BEGIN "TIP.PGE=1000 TIP.PGD TIP.PGE=1000 TIP=ffffffff81000000 "
		     "TIP=1000 TIP.PGD ");
}

/* A signal before the jump; and one where a repeated instruction goes on. */
static void test_signals(void **state)
{
	static const uint16_t ids[] = {1, 2, 1, 3, 3};
	struct made m;

	(void)state;
	begin(&m);
	put_block(&m, 1, 0x1000, "\1\2", "\x90\xeb\xfd");
	put_block(&m, 2, 0x3000, "\2", "\x0f\x05");
	put_block(&m, 3, 0x4000, "\2", "\xf3\xa4");
	put_exec(&m, ids, 1, 1, 0);
	put_signal(&m, 0x1001, 0x3000);
	put_exec(&m, ids + 1, 1, 1, 0);
	put_exec(&m, ids, 1, 1, 1);
	put_signal(&m, 0x1000, 0x4000);
	put_exec(&m, ids + 3, 2, 2, 0);
	put_signal(&m, 0x4000, 0);
	expect(&m, &vt_pt_encode_defaults,
	       BEGIN "TIP.PGE=1000 FUP=1001 TIP.PGD TIP.PGE=3000 TIP.PGD TIP.PGE=1001 "
		     "FUP=1000 TIP.PGD TIP.PGE=4000 FUP=4000 TIP.PGD ");
}

/* What the recorder tells as one block may be several to a processor. */
static void test_pieces(void **state)
{
	static const uint16_t ids[] = {1, 1, 1};
	struct made m;

	(void)state;
	begin(&m);
	/* je; ret; jne to the beginning */
	put_block(&m, 1, 0x1000, "\2\1\2", "\x74\x10\xc3\x75\xfb");
	put_exec(&m, ids, 3, 9, 0);
	expect(&m, &vt_pt_encode_defaults,
	       BEGIN "TIP.PGE=1000 N TIP=1003 TN TIP=1003 TN TIP=1003 N FUP=1005 TIP.PGD ");
}

/* ptwrite %eax, of a stream that a decoder wrote. */
static void test_ptwrite(void **state)
{
	static const uint16_t ids[] = {1, 2};
	uint64_t *row;
	struct made m;

	(void)state;
	begin(&m);
	put_block(&m, 1, 0x1000, "\2\4", "\x74\x10\xf3\x0f\xae\xe0");
	put_block(&m, 2, 0x1006, "\2", "\x0f\x05");
	put_exec(&m, ids, 1, 2, 0);
	row = vt_writer_row(m.w, VT_VALUE);
	row[VT_VALUE_PID] = row[VT_VALUE_TID] = PID;
	row[VT_VALUE_IP] = 0x1002;
	row[VT_VALUE_WHAT] = VT_WHAT_PTWRITE;
	row[VT_VALUE_SIZE] = 4;
	row[VT_VALUE_VALUE] = 0x1234;
	put_exec(&m, ids + 1, 1, 1, 0);
	expect(&m, &vt_pt_encode_defaults, BEGIN "TIP.PGE=1000 N PTW=1234 FUP=1002 TIP.PGD ");
}

/* 32-bit code; tracing that ends at a branch, at an instruction, and an
 * interrupt. */
static void test_trace(void **state)
{
	static const uint16_t ids[] = {1, 2};
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;
	struct made m;

	(void)state;
	begin(&m);
	opt.cr3 = 0x12340000;
	put_trace(&m, VT_TRACE_EXEC_MODE, 0, 0, 32);
	/* In 64-bit code it would be no instruction but a prefix. */
	put_block(&m, 1, 0x1000, "\1\2", "\x40\x74\x05");
	put_block(&m, 2, 0x1003, "\1", "\x48");
	put_exec(&m, ids, 1, 2, 0);
	put_trace(&m, VT_TRACE_DISABLED, 0, 0x1008, 0);
	put_exec(&m, ids, 2, 3, 0);
	put_trace(&m, VT_TRACE_ASYNC_BRANCH, 0x1004, 0x1000, 0);
	put_exec(&m, ids, 1, 2, 0);
	put_trace(&m, VT_TRACE_ASYNC_DISABLED, 0x1003, 0, 0);
	expect(&m, &opt,
	       "PSB MODE.Exec=20 PIP=12340000 PSBEND TIP.PGE=1000 TIP.PGD=1008 "
	       "TIP.PGE=1000 N "
	       "FUP=1004 TIP=1000 N FUP=1003 TIP.PGD ");
}

/* More packets than the buffer holds, with nothing executed between them. */
static void test_many_ptwrites(void **state)
{
	static const uint16_t ids[] = {1, 2};
	struct made m;
	unsigned i;

	(void)state;
	begin(&m);
	put_block(&m, 1, 0x1000, "\2\4", "\x74\x10\xf3\x0f\xae\xe0");
	put_block(&m, 2, 0x1006, "\2", "\x0f\x05");
	put_exec(&m, ids, 1, 2, 0);
	for (i = 0; i < 60000; i++) {
		uint64_t *row = vt_writer_row(m.w, VT_VALUE);

		row[VT_VALUE_PID] = row[VT_VALUE_TID] = PID;
		row[VT_VALUE_IP] = 0x1002;
		row[VT_VALUE_WHAT] = VT_WHAT_PTWRITE;
		row[VT_VALUE_SIZE] = 8;
		row[VT_VALUE_VALUE] = i;
	}
	put_exec(&m, ids + 1, 1, 1, 0);
	encode(&m, &vt_pt_encode_defaults);
	/* Each has 10 bytes, and its address at least one. */
	assert_true(m.trace.size >= 60000 * 11);
	vt_buf_free(&m.trace);
}

static void test_many_interrupts(void **state)
{
	static const uint16_t ids[] = {1};
	struct made m;
	unsigned i;

	(void)state;
	begin(&m);
	put_block(&m, 1, 0x1000, "\1\2", "\x90\x74\x05");
	put_exec(&m, ids, 1, 2, 0);
	for (i = 0; i < 60000; i++)
		put_trace(&m, VT_TRACE_ASYNC_BRANCH, 0x1003, 0x1003, 0);
	encode(&m, &vt_pt_encode_defaults);
	assert_true(m.trace.size >= 60000 * 6);
	vt_buf_free(&m.trace);
}

/* ---- how often ---- */

/* Two indirect jumps to one another, many times: a packet of three bytes for each. */
static void put_jumps(struct made *m, uint64_t addr, unsigned runs)
{
	static uint16_t ids[20000];
	size_t i;

	begin(m);
	put_block(m, 1, addr, "\2", "\xff\xe0");
	put_block(m, 2, addr + 0x100, "\2", "\xff\xe0");
	for (i = 0; i < 20000; i++)
		ids[i] = (uint16_t)(1 + i % 2);
	while (runs--)
		put_exec(m, ids, 20000, 20000, 0);
}

struct losses {
	size_t overflows, synced; /* at once */
	size_t told;		  /* jumps */
	double between;		  /* bytes from one overflow to the next, in all */
	size_t shortest, longest;
};

/* Reads a trace of put_jumps(). */
static struct losses read_losses(const struct made *m, enum vt_pt_ipc ipc)
{
	const uint8_t *p = m->trace.data, *end = p + m->trace.size, *from = NULL;
	struct losses o = {.shortest = SIZE_MAX};
	struct vt_pt_packet k;
	int n;

	for (; p < end; p += n) {
		n = vt_pt_packet_read(&k, p, end, 0);
		assert_true(n > 0);
		o.told += k.kind == VT_PT_TIP;
		if (k.kind != VT_PT_OVF)
			continue;
		if (from) {
			size_t bytes = (size_t)(p - from);

			o.between += (double)bytes;
			o.shortest = bytes < o.shortest ? bytes : o.shortest;
			o.longest = bytes > o.longest ? bytes : o.longest;
		}
		o.overflows++;
		p += n;
		n = vt_pt_packet_read(&k, p, end, 0);
		assert_int_equal(k.kind, VT_PT_FUP);
		assert_int_equal(k.ipc, ipc);
		from = p + n;
		assert_int_not_equal(vt_pt_packet_read(&k, from, end, 0), 0);
		o.synced += k.kind == VT_PT_PSB;
	}
	return o;
}

/*
 * Each overflow loses 1 to `most` bytes, and mean/2+1 to 3*mean/2 bytes are between two of them.
 * Packets are not cut: it is up to two bytes more.  Bounds of four standard deviations.
 */
static void test_losses(void **state)
{
	static const struct {
		uint64_t addr, mean, most;
		enum vt_pt_ipc ipc;
	} rows[] = {
		{0x1000, 300, 300, VT_PT_IPC_SEXT48},
		{0x1000, 20000, 4096, VT_PT_IPC_SEXT48},
		{0xffffffff80001000, 4096, 4096, VT_PT_IPC_SEXT48},
	};
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;
	struct made m;
	size_t i;

	(void)state;
	opt.psb_bytes = UINT64_C(1) << 40;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double mean = (double)rows[i].mean, most = (double)rows[i].most, n, lost;
		struct losses o;

		opt.overflow = rows[i].mean;
		put_jumps(&m, rows[i].addr, i ? 20 : 2);
		encode(&m, &opt);
		o = read_losses(&m, rows[i].ipc);
		assert_int_equal(o.overflows, m.sum.overflows);
		n = (double)o.overflows;
		assert_true(n > 20);
		lost = 3 * ((double)m.sum.insns - (double)o.told) / n;
		assert_true(fabs(lost - most / 2 - 2) < 4 * most / sqrt(12 * n));
		assert_true(fabs(o.between / (n - 1) - mean - 2) < 4 * mean / sqrt(12 * n));
		assert_in_range(o.shortest, mean / 2 + 1, mean / 2 + 10 * mean / n);
		assert_in_range(o.longest, 3 * mean / 2 - 10 * mean / n, 3 * mean / 2 + 2);
		assert_in_range(o.synced, n / 4, 3 * n / 4);
		vt_buf_free(&m.trace);
	}
}

/* Packets for synchronisation come as soon as so many bytes are behind the last of them. */
static void test_psb_bytes(void **state)
{
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;
	const uint8_t *p, *end, *from;
	struct vt_pt_packet k;
	struct made m;
	size_t psbs;
	int n;

	(void)state;
	for (opt.psb_bytes = 64; opt.psb_bytes < 70; opt.psb_bytes++) {
		put_jumps(&m, 0x1000, 1);
		encode(&m, &opt);
		p = m.trace.data;
		end = p + m.trace.size;
		for (psbs = 0, from = NULL; p < end; p += n) {
			n = vt_pt_packet_read(&k, p, end, 0);
			assert_true(n > 0);
			if (k.kind == VT_PT_PSB && psbs++)
				assert_in_range(p - from, opt.psb_bytes, opt.psb_bytes + 2);
			if (k.kind == VT_PT_PSBEND)
				from = p + n;
		}
		assert_true(psbs > 500);
		vt_buf_free(&m.trace);
	}
}

/*
 * The same within a loop of two instructions, of which six rounds are a packet of one byte: what
 * was decided is told first, then the time since, and the packets begin with where the program is.
 */
static void test_psb_within(void **state)
{
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;
	struct vt_buf want = VT_BUF_INIT;
	static uint16_t ids[382];
	struct made m;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		ids[i] = 1;
	opt.psb_bytes = 64;
	begin(&m);
	put_block(&m, 1, 0x1000, "\1\2", "\x90\x74\xfd"); /* nop; je to 1000 */
	put_exec(&m, ids, 382, 2 * 382, 0);
	put_times(&want, 1, BEGIN "TIP.PGE=1000 "); /* three bytes */
	put_times(&want, 61, "TTTTTT ");
	put_times(&want, 1,
		  "PSB MODE.Exec=40 FUP=1000 PSBEND TTTTTT TTTTTT TTTN FUP=1003 TIP.PGD ");
	expect(&m, &opt, vt_buf_str(&want));

	/* A cycle an instruction, and a byte of time for each packet: that of its first branch. */
	opt.cyc = true;
	opt.cpi = 1000000;
	begin(&m);
	put_block(&m, 1, 0x1000, "\1\2", "\x90\x74\xfd");
	put_exec(&m, ids, 382, 2 * 382, 0);
	want.size = 0;
	put_times(&want, 1, "PSB CBR=20 MODE.Exec=40 PSBEND TIP.PGE=1000 CYC=2 TTTTTT ");
	put_times(&want, 30, "CYC=c TTTTTT ");
	put_times(&want, 1, "CYC=a PSB CBR=20 MODE.Exec=40 FUP=1000 PSBEND CYC=2 TTTTTT ");
	put_times(&want, 31, "CYC=c TTTTTT ");
	put_times(
		&want, 1,
		"CYC=a PSB CBR=20 MODE.Exec=40 FUP=1000 PSBEND CYC=2 TTTN CYC=6 FUP=1003 TIP.PGD ");
	expect(&m, &opt, vt_buf_str(&want));
	vt_buf_free(&want);
}

/* The sink is told of the instructions and the time up to the bytes at hand; without one, of 0. */
static void test_told(void **state)
{
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;
	struct made m;
	int timed;

	(void)state;
	for (timed = 0; timed < 2; timed++) {
		opt.tsc = timed;
		opt.cpi = 3000000;
		put_jumps(&m, 0x1000, 1);
		encode(&m, &opt);
		assert_int_equal(m.insns, 20000);
		assert_int_equal(m.tsc, m.now);
		assert_int_equal(m.now != 0, timed);
		vt_buf_free(&m.trace);
	}
}

/* While packets are lost, many ticks of the clock, and no branch at which they
 * could end. */
static void test_long_loss(void **state)
{
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;
	static uint16_t ids[20000];
	struct made m;
	size_t i;

	(void)state;
	begin(&m);
	opt.mtc = opt.tsc = true;
	opt.cpi = VT_PT_MAX_CPI;
	opt.clock.mtc_period = 0;
	opt.clock.ctc_numerator = opt.clock.ctc_denominator = 1;
	opt.overflow = 8;
	put_block(&m, 1, 0x1000, "\2", "\xeb\xfe");
	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		ids[i] = 1;
	put_exec(&m, ids, sizeof(ids) / sizeof(ids[0]), sizeof(ids) / sizeof(ids[0]), 0);
	encode(&m, &opt);
	vt_buf_free(&m.trace);
}

/* String instructions behind a prefix that repeats them, among others in any
 * order. */
static void test_repeated(void **state)
{
	static const struct {
		const char *length, *code;
		bool is32, repeats;
	} cases[] = {
		{"\2", "\xf3\xa4", false, true},      {"\2", "\xf2\xa7", false, true},
		{"\2", "\xf3\xaa", false, true},      {"\2", "\xf3\xaf", false, true},
		{"\3", "\x66\xf3\xa5", false, true},  {"\3", "\xf3\x67\xa5", false, true},
		{"\3", "\x64\xf3\xac", false, true},  {"\3", "\x65\xf3\xac", false, true},
		{"\3", "\x26\xf3\xac", false, true},  {"\3", "\x2e\xf3\xac", false, true},
		{"\3", "\x36\xf3\xac", false, true},  {"\3", "\x3e\xf3\xac", false, true},
		{"\3", "\xf3\x48\xa5", false, true},  {"\3", "\xf3\x4f\xa5", false, true},
		{"\1", "\xa4", false, false},	      {"\2", "\xf3\x90", false, false},
		{"\2", "\x66\xa5", false, false},     {"\3", "\xf3\xa8\xa4", false, false},
		{"\3", "\xf3\x27\xa4", false, false}, {"\3", "\xf3\x0f\xa4", false, false},
		{"\3", "\xf3\x48\xa5", true, false},  {"\3", "\xf3\x50\xa5", false, false},
		{"\2", "\xf3\xa3", false, false},     {"\2", "\xf3\xa9", false, false},
		{"\2", "\xf3\xb0", false, false},     {"\3", "\xf3\xa4\xa4", false, false},
	};
	static const uint16_t ids[] = {1, 1};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made m;

		begin(&m);
		if (cases[i].is32)
			put_trace(&m, VT_TRACE_EXEC_MODE, 0, 0, 32);
		put_block(&m, 1, 0x1000, cases[i].length, cases[i].code);
		put_exec(&m, ids, 2, 2, 0);
		encode(&m, &vt_pt_encode_defaults);
		vt_buf_free(&m.trace);
		/* Else nobody knows how it came there again. */
		if (m.sum.breaks != !cases[i].repeats)
			fail_msg("case %zu: %u breaks", i, (unsigned)m.sum.breaks);
		assert_int_equal(m.sum.insns, cases[i].repeats ? 1 : 2);
		assert_int_equal(m.sum.blocks, 2);
	}
}

/* Others run while a string instruction goes on: it is executed where the thread is back. */
static void test_repeated_in_turns(void **state)
{
	static const uint16_t ids[] = {1, 2, 3};
	struct made m;
	int i;

	(void)state;
	begin(&m);
	put_block(&m, 1, 0x1000, "\1\2", "\x90\xf3\xa4");
	put_block(&m, 2, 0x1001, "\2", "\xf3\xa4");
	put_block(&m, 3, 0x1003, "\2", "\x0f\x05");
	for (i = 0; i < 3; i++) {
		m.tid = PID;
		put_exec(&m, ids + (i > 0), i < 2 ? 1 : 2, i < 2 ? 2 - (uint64_t)i : 2, 0);
		m.tid = PID + 1;
		put_exec(&m, ids + 2, 1, 1, 0);
	}
	expect_turns(&m, &vt_pt_encode_defaults, PAUSE,
		     BEGIN "TIP.PGE=1000 FUP=1001 TIP.PGD TIP.PGE=1001 FUP=1001 TIP.PGD "
			   "TIP.PGE=1001 TIP.PGD ");
	/* nop, rep movsb and syscall of one thread, three times syscall of the other. */
	assert_int_equal(m.sum.insns, 6);
}

/* More ticks of the clock in one instruction than the buffer holds packets. */
static void test_many_ticks(void **state)
{
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;
	static const uint16_t ids[] = {1, 1, 1};
	struct made m;

	(void)state;
	begin(&m);
	opt.mtc = opt.tsc = true;
	opt.cpi = VT_PT_MAX_CPI;
	opt.cbr = 1;
	opt.clock.nominal_ratio = 255;
	opt.clock.mtc_period = 0;
	opt.clock.ctc_numerator = 1;
	opt.clock.ctc_denominator = 10;
	put_block(&m, 1, 0x1000, "\2", "\xeb\xfe");
	put_exec(&m, ids, 3, 3, 0);
	encode(&m, &opt);
	/* 100 cycles, of 255 ticks, of 10 MTC packets of 2 bytes, for each. */
	assert_in_range(m.trace.size - 3UL * 100 * 255 * 10 * 2, 0, 200);
	vt_buf_free(&m.trace);
}

/* The code of what was executed, in pages in the order of their addresses; the rest is zero. */
static void test_pages(void **state)
{
	static const uint16_t first[] = {1, 2}, again[] = {3};
	struct vt_error err = VT_ERROR_INIT;
	int fds[2] = {scratch_file(), scratch_file()};
	char names[2][32];
	struct vt_pt_encode *e;
	uint8_t *page, *list;
	struct vt_reader *r;
	struct vt_record rec;
	struct made m;
	size_t size, i;

	(void)state;
	begin(&m);
	/* Over the border of two pages; before that; the same place again; and never executed. */
	put_block(&m, 1, 0x2ffe, "\2\2", "\x90\x91\xff\xe0");
	put_block(&m, 2, 0x1010, "\2", "\xff\xe1");
	put_block(&m, 3, 0x2ffd, "\2", "\xff\xe0");
	put_block(&m, 4, 0x9000, "\2", "\xff\xe0");
	put_exec(&m, first, 2, 3, 0);
	put_exec(&m, again, 1, 1, 0);
	e = vt_pt_encode_new(&vt_pt_encode_defaults, keep, &m);
	r = reread_stream(m.fd, m.w);
	while (vt_reader_next(r, &rec, &err) > 0)
		assert_int_equal(vt_pt_encode_record(e, &rec, &err), 0);
	assert_int_equal(vt_pt_encode_finish(e, &err), 0);
	for (i = 0; i < 2; i++)
		snprintf(names[i], sizeof(names[i]), "/dev/fd/%d", fds[i]);
	assert_int_equal(vt_pt_encode_pages(e, names[0], names[1], &err), 0);
	/* At 2ffe there was 90, and is e0: the last counts. */
	assert_int_equal(vt_pt_encode_totals(e)->rewritten, 1);
	list = slurp(fds[1], &size);
	assert_int_equal(size, 3 * 8);
	assert_memory_equal(list, "\0\x10\0\0\0\0\0\0\0\x20\0\0\0\0\0\0\0\x30\0\0\0\0\0\0", 24);
	page = slurp(fds[0], &size);
	assert_int_equal(size, 3 * 4096);
	for (i = 0; i < size; i++) {
		/* Page 1000 comes first, and 2000 behind it. */
		const uint8_t want = i == 0x10	   ? 0xff
				     : i == 0x11   ? 0xe1
				     : i == 0x1ffd ? 0xff
				     : i == 0x1ffe ? 0xe0
				     : i == 0x1fff ? 0x91
				     : i == 0x2000 ? 0xff
				     : i == 0x2001 ? 0xe0
						   : 0;

		assert_int_equal(page[i], want);
	}
	free(page);
	free(list);
	vt_pt_encode_free(e);
	vt_reader_close(r);
	vt_buf_free(&m.trace);
	close(m.fd);
	close(fds[0]);
	close(fds[1]);
}

static void put_codeless(struct made *m, uint64_t id, uint64_t addr, unsigned end, uint64_t target)
{
	uint64_t *row = vt_writer_row(m->w, VT_BLOCK);

	row[VT_BLOCK_ID] = id;
	row[VT_BLOCK_PID] = PID;
	row[VT_BLOCK_ADDR] = addr;
	row[VT_BLOCK_SIZE] = 3;
	row[VT_BLOCK_INSNS] = 2;
	row[VT_BLOCK_END] = end;
	row[VT_BLOCK_TARGET] = target;
	vt_writer_bytes(m->w, VT_BLOCK_LENGTHS, "\1\2", 2);
}

/* Of blocks without code their end is what the stream says. */
static void test_without_code(void **state)
{
	static const struct {
		unsigned end;
		const char *packets;
	} cases[] = {
		{VT_END_FALL, "FUP=1003 TIP.PGD TIP.PGE=1010 "},
		{VT_END_BRANCH, "T "},
		{VT_END_JUMP, ""},
		{VT_END_JUMP_INDIRECT, "TIP=1010 "},
		{VT_END_CALL, ""},
		{VT_END_CALL_INDIRECT, "TIP=1010 "},
		{VT_END_RETURN, "TIP=1010 "},
		{VT_END_SYSCALL, "TIP.PGD TIP.PGE=1010 "},
	};
	static const uint16_t ids[] = {1, 2};
	char want[128];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made m;

		begin(&m);
		put_codeless(&m, 1, 0x1000, cases[i].end, 0x1010);
		put_codeless(&m, 2, 0x1010, VT_END_SYSCALL, 0);
		put_exec(&m, ids, 2, 4, 0);
		snprintf(want, sizeof(want), BEGIN "TIP.PGE=1000 %sTIP.PGD ", cases[i].packets);
		expect(&m, &vt_pt_encode_defaults, want);
	}
}

/* Streams of samples have no paths; other META records say nothing of that. */
static void test_sampled(void **state)
{
	static const char *const keys[] = {"sampling", "samplinh", "samplin", "sampling2", ""};
	size_t i;

	(void)state;
	for (i = 0; i < 5; i++) {
		struct vt_error err = VT_ERROR_INIT;
		struct vt_pt_encode *e;
		struct vt_reader *r;
		struct vt_record rec;
		struct made m;
		int rc = 0;

		begin(&m);
		vt_writer_row(m.w, VT_META);
		vt_writer_bytes(m.w, VT_META_KEY, keys[i], strlen(keys[i]));
		vt_writer_bytes(m.w, VT_META_VALUE, "1", 1);
		r = reread_stream(m.fd, m.w);
		e = vt_pt_encode_new(&vt_pt_encode_defaults, keep, &m);
		assert_non_null(e);
		while (rc == 0 && vt_reader_next(r, &rec, &err) > 0)
			rc = vt_pt_encode_record(e, &rec, &err);
		assert_int_equal(rc, i ? 0 : -VT_E_ABSENT);
		vt_pt_encode_free(e);
		vt_reader_close(r);
		close(m.fd);
	}
}

/* What is written if nothing else is asked for. */
static void test_defaults(void **state)
{
	const struct vt_pt_encode_options *o = &vt_pt_encode_defaults;

	(void)state;
	assert_int_equal(o->psb_bytes, 4096);
	assert_int_equal(o->tnt_bits, 6);
	assert_int_equal(o->clock.mtc_period, 3);
	assert_int_equal(o->clock.nominal_ratio, 32);
	assert_int_equal(o->clock.ctc_numerator, 256);
	assert_int_equal(o->clock.ctc_denominator, 2);
	assert_int_equal(o->cbr, 32);
	assert_int_equal(o->cpi, 1000000);
	assert_int_equal(o->start_tsc, UINT64_C(4294967296));
	assert_int_equal(o->seed, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),      cmocka_unit_test(test_sampled),
		cmocka_unit_test(test_branches),      cmocka_unit_test(test_end),
		cmocka_unit_test(test_returns),	      cmocka_unit_test(test_far),
		cmocka_unit_test(test_signals),	      cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_ptwrite),	      cmocka_unit_test(test_trace),
		cmocka_unit_test(test_many_ptwrites), cmocka_unit_test(test_many_interrupts),
		cmocka_unit_test(test_long_loss),     cmocka_unit_test(test_losses),
		cmocka_unit_test(test_psb_within),    cmocka_unit_test(test_told),
		cmocka_unit_test(test_psb_bytes),     cmocka_unit_test(test_pages),
		cmocka_unit_test(test_without_code),  cmocka_unit_test(test_many_ticks),
		cmocka_unit_test(test_repeated),      cmocka_unit_test(test_repeated_in_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
