/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is encoded where a stream breaks off or contradicts itself, packet by packet. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "formats/pt/encode/internal.h"
#include "tests/unit/formats/pt/encode/ptlive.h"

/* ---- what is missing ---- */

static void test_missing(void **state)
{
	struct live l;
	unsigned i;

	(void)state;
	begin_live(&l, &vt_pt_encode_defaults);
	put_common(&l);
	for (i = 7; i < 10; i++)
		exec(&l, i, "1", 2);
	for (i = 0; i < 3; i++)
		said_by(&l, i, BEGIN "TIP.PGE=1000 ");
	assert_int_equal(vt_pt_encode_totals(l.e)->threads, 3);
	assert_int_equal(totals(&l)->threads, 3);
	assert_int_equal(l.e->threads[2]->pub.pid, 9);
	assert_int_equal(l.e->threads[1]->pub.tid, 8);
	/* Of a thread, once; of a process, what is not off already. */
	gap(&l, 9, 8);
	gap(&l, 7, 8);
	gap(&l, 7, 8);
	assert_int_equal(totals(&l)->breaks, 1);
	said_by(&l, 1, "FUP=1002 TIP.PGD ");
	gap(&l, 7, 0);
	assert_int_equal(totals(&l)->breaks, 2);
	said_by(&l, 0, "FUP=1002 TIP.PGD ");
	said_by(&l, 1, "");
	said_by(&l, 2, "");
	/* The third one did not go on where it was. */
	for (i = 7; i < 10; i++)
		exec(&l, i, "1", 2);
	assert_int_equal(totals(&l)->breaks, 3);
	said_by(&l, 0, "TIP.PGE=1000 ");
	said_by(&l, 1, "TIP.PGE=1000 ");
	said_by(&l, 2, "FUP=1002 TIP.PGD TIP.PGE=1000 ");
	state_of(&l, 0, 0, VT_STATE_START);
	assert_int_equal(totals(&l)->breaks, 3);
	state_of(&l, 0, 9, VT_STATE_WINDOW);
	assert_int_equal(totals(&l)->breaks, 4);
	said_by(&l, 2, "FUP=1002 TIP.PGD ");
	state_of(&l, 0, 0, VT_STATE_WINDOW);
	assert_int_equal(totals(&l)->breaks, 6);
	said_by(&l, 0, "FUP=1002 TIP.PGD ");
	said_by(&l, 1, "FUP=1002 TIP.PGD ");
	exec(&l, 8, "1", 2);
	gap(&l, 0, 0);
	assert_int_equal(totals(&l)->breaks, 7);
	assert_int_equal(totals(&l)->insns, 7 * 2);
	assert_int_equal(totals(&l)->blocks, 7);
	end_live(&l);
}

/* Begins with a block of one instruction, at 1000, that is executed once. */
static void execute_one(struct live *l, const char *length, const char *code)
{
	begin_live(l, &vt_pt_encode_defaults);
	block(l, 1, 0x1000, length, code);
	exec(l, 7, "1", 1);
	said(l, BEGIN "TIP.PGE=1000 ");
}

/* How tracing ends behind each sort of branch, of which nobody knows where it went. */
static void test_lost(void **state)
{
	static const struct {
		const char *length, *code, *text;
	} rows[] = {
		{"\1", "\x90", "FUP=1001 TIP.PGD "},
		{"\2", "\x74\x10", "N FUP=1002 TIP.PGD "},
		{"\2", "\xeb\x10", "FUP=1012 TIP.PGD "},
		{"\5", "\xe8\x10\0\0\0", "FUP=1015 TIP.PGD "},
		{"\1", "\xc3", "TIP.PGD=0 "},
		{"\2", "\xff\xe0", "TIP.PGD=0 "},
		{"\2", "\xff\xd0", "TIP.PGD=0 "},
		{"\2", "\x0f\x05", "TIP.PGD "},
		{"\2", "\x48\xcf", "TIP.PGD "},
	};
	struct live l;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		execute_one(&l, rows[i].length, rows[i].code);
		gap(&l, 7, 7);
		said(&l, rows[i].text);
		end_live(&l);
	}
}

/* Packets for synchronisation come where nothing but system calls is executed, too. */
static void test_psb_between(void **state)
{
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;
	const char *call = "TIP.PGD TIP.PGE=1000 "; /* one byte and three */
	const char *psb = "PSB MODE.Exec=40 FUP=1000 PSBEND ";
	struct vt_buf want = VT_BUF_INIT;
	struct live l;
	unsigned i;

	(void)state;
	opt.psb_bytes = 64;
	begin_live(&l, &opt);
	block(&l, 1, 0x1000, "\2", "\x0f\x05");
	for (i = 0; i < 34; i++)
		exec(&l, 7, "1", 1);
	put_times(&want, 1, BEGIN "TIP.PGE=1000 ");
	for (i = 0; i < 2; i++) {
		put_times(&want, 16, call);
		put_times(&want, 1, psb);
	}
	put_times(&want, 1, call);
	said(&l, vt_buf_str(&want));
	vt_buf_free(&want);
	end_live(&l);
}

/* What is told of threads that nobody knows, or whose tracing is off. */
static void test_not_traced(void **state)
{
	struct live l;
	unsigned i;

	(void)state;
	begin_live(&l, &vt_pt_encode_defaults);
	put_common(&l);
	for (i = 0; i < 2; i++) {
		give_numbers(&l, VT_SIGNAL,
			     (uint64_t[FIELDS]){[VT_SIGNAL_PID] = PID,
						[VT_SIGNAL_TID] = 7,
						[VT_SIGNAL_IP] = 0x1001});
		traced(&l, 7, VT_TRACE_DISABLED, 0, 0x1002);
		traced(&l, 7, VT_TRACE_ASYNC_DISABLED, 0x1001, 0);
		traced(&l, 7, VT_TRACE_ASYNC_BRANCH, 0x1001, 0x3000);
		told_value(&l, 7, VT_WHAT_PTWRITE, 4);
		if (i)
			break;
		assert_int_equal(vt_pt_encode_totals(l.e)->threads, 0);
		exec(&l, 7, "1", 2);
		gap(&l, 7, 7);
		said(&l, BEGIN "TIP.PGE=1000 FUP=1002 TIP.PGD ");
	}
	said(&l, "");
	end_live(&l);
}

static void test_values(void **state)
{
	struct live l;

	(void)state;
	begin_live(&l, &vt_pt_encode_defaults);
	block(&l, 1, 0x1000, "\2", "\x74\x10");
	block(&l, 2, 0x1002, "\1", "\x90");
	exec(&l, 7, "12", 2);
	told_value(&l, 7, VT_WHAT_PTWRITE, 4);
	told_value(&l, 7, VT_WHAT_PTWRITE, 8);
	told_value(&l, 7, VT_WHAT_PTWRITE, 2);
	told_value(&l, 7, VT_WHAT_PTWRITE + 1, 4);
	said(&l, BEGIN "TIP.PGE=1000 N PTW=55667788 FUP=1001 PTW=1122334455667788 FUP=1001 "
		       "PTW=1122334455667788 FUP=1001 ");
	end_live(&l);
}

/* Where tracing ends by a branch: its target is told if it can be one. */
static void test_left(void **state)
{
	static const struct {
		const char *length, *code;
		uint64_t to;
		const char *text;
	} rows[] = {
		{"\2", "\xeb\x10", 0x1012, "TIP.PGD=1012 "},
		{"\2", "\xeb\x10", 0, "FUP=1012 TIP.PGD "},
		{"\2", "\xeb\x10", 0x5000, "FUP=1012 TIP.PGD "},
		{"\2", "\x74\x10", 0x1012, "TIP.PGD=1012 "},
		{"\2", "\x74\x10", 0x1002, "TIP.PGD=1002 "},
		{"\2", "\x74\x10", 0x1003, "N FUP=1002 TIP.PGD "},
		{"\1", "\x90", 0x1001, "FUP=1001 TIP.PGD "},
		{"\5", "\xe8\x10\0\0\0", 0x1015, "TIP.PGD=1015 "},
		{"\1", "\xc3", 0x5000, "TIP.PGD=5000 "},
		{"\1", "\xc3", 0, "TIP.PGD=0 "},
		{"\2", "\xff\xd0", 0x5000, "TIP.PGD=5000 "},
		{"\2", "\x0f\x05", 0x5000, "TIP.PGD "},
		{"\2", "\x48\xcf", 0x5000, "TIP.PGD "},
	};
	struct live l;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		execute_one(&l, rows[i].length, rows[i].code);
		traced(&l, 7, VT_TRACE_DISABLED, 0, rows[i].to);
		said(&l, rows[i].text);
		end_live(&l);
	}
}

/* An interrupt and its handler; a signal. What cannot be reached is lost. */
static void test_interrupted(void **state)
{
	static const struct {
		const char *length, *code;
		uint64_t ip;
		const char *branch, *signal;
	} rows[] = {
		{"\2", "\xeb\x10", 0x1012, "FUP=1012 TIP=3000 ", "FUP=1012 TIP.PGD "},
		{"\2", "\xeb\x10", 0x1013, "FUP=1012 TIP.PGD ", "FUP=1012 TIP.PGD "},
		{"\2", "\x74\x10", 0x1012, "T FUP=1012 TIP=3000 ", "T FUP=1012 TIP.PGD "},
		{"\2", "\x74\x10", 0x1002, "N FUP=1002 TIP=3000 ", "N FUP=1002 TIP.PGD "},
		{"\2", "\x74\x10", 0x1003, "N FUP=1002 TIP.PGD ", "N FUP=1002 TIP.PGD "},
		{"\1", "\x90", 0x1001, "FUP=1001 TIP=3000 ", "FUP=1001 TIP.PGD "},
		{"\1", "\xc3", 0x5000, "TIP=5000 FUP=5000 TIP=3000 ", "TIP=5000 FUP=5000 TIP.PGD "},
		{"\2", "\xff\xd0", 0x5000, "TIP=5000 FUP=5000 TIP=3000 ",
		 "TIP=5000 FUP=5000 TIP.PGD "},
		{"\2", "\x0f\x05", 0x5000, "TIP.PGD ", "TIP.PGD "},
		{"\2", "\x48\xcf", 0x5000, "TIP.PGD ", "TIP.PGD "},
		{"\2", "\xf3\xa4", 0x1000, "FUP=1000 TIP=3000 ", "FUP=1000 TIP.PGD "},
		{"\3", "\x48\xf3\xa4", 0x1001, "FUP=1003 TIP.PGD ", "FUP=1003 TIP.PGD "},
	};
	struct live l;
	size_t i;

	(void)state;
	for (i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		execute_one(&l, rows[i / 2].length, rows[i / 2].code);
		block(&l, 2, 0x3000, "\1", "\x90");
		traced(&l, 7, i % 2 ? VT_TRACE_ASYNC_DISABLED : VT_TRACE_ASYNC_BRANCH,
		       rows[i / 2].ip, 0x3000);
		said(&l, i % 2 ? rows[i / 2].signal : rows[i / 2].branch);
		/* The handler begins where it was said to. */
		exec(&l, 7, "2", 1);
		said(&l, strstr(i % 2 ? rows[i / 2].signal : rows[i / 2].branch, "TIP=3000")
				 ? ""
				 : "TIP.PGE=3000 ");
		assert_int_equal(totals(&l)->breaks, 0);
		end_live(&l);
	}
}

/* ---- contradictions ---- */

/* Records that contradict themselves are counted; the thread is lost behind what they have told. */
static void test_bad(void **state)
{
	static const char many[] = "executed blocks: more of them than instructions";
	static const char few[] = "executed blocks: fewer instructions than were said";
	static const char unknown[] = "executed blocks: an unknown block";
	static const struct {
		const char *digits;
		uint64_t insns;
		const char *why, *text;
		unsigned told, blocks;
	} rows[] = {
		{"31", 2, many, "", 0, 0},
		{"31", 3, many, "TIP.PGE=2000 FUP=2003 TIP.PGD ", 3, 1},
		{"1", 3, few, "TIP.PGE=1000 FUP=1002 TIP.PGD ", 2, 1},
		{"1", 2, NULL, "TIP.PGE=1000 ", 2, 1},
		{"1", 1, NULL, "TIP.PGE=1000 ", 1, 1},
		/* Block 4 was left out of the numbers; behind 5 there is none. */
		{"141", 6, unknown, "TIP.PGE=1000 FUP=1002 TIP.PGD ", 2, 1},
		{"161", 6, unknown, "TIP.PGE=1000 FUP=1002 TIP.PGD ", 2, 1},
		{"191", 6, unknown, "TIP.PGE=1000 FUP=1002 TIP.PGD ", 2, 1},
		{"14", 3, unknown, "TIP.PGE=1000 FUP=1002 TIP.PGD ", 2, 1},
		{"16", 3, unknown, "TIP.PGE=1000 FUP=1002 TIP.PGD ", 2, 1},
		{"21", 5, few, "TIP.PGE=1002 FUP=1000 TIP.PGD ", 2, 1},
		{"21", 4, NULL, "TIP.PGE=1002 ", 4, 2},
		{"121", 4, many, "TIP.PGE=1000 FUP=1000 TIP.PGD ", 4, 2},
		{"121", 5, NULL, "TIP.PGE=1000 ", 5, 3},
	};
	struct live l;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin_live(&l, &vt_pt_encode_defaults);
		put_common(&l);
		block(&l, 5, 0x5000, "\1", "\x90");
		/* So that its PSB is told of before. */
		exec(&l, 7, "5", 1);
		gap(&l, 7, 7);
		said(&l, BEGIN "TIP.PGE=5000 FUP=5001 TIP.PGD ");
		exec(&l, 7, rows[i].digits, rows[i].insns);
		said(&l, rows[i].text);
		assert_int_equal(totals(&l)->bad, rows[i].why != NULL);
		assert_string_equal(l.e->bad, rows[i].why ? rows[i].why : "");
		assert_int_equal(totals(&l)->insns, 1 + rows[i].told);
		assert_int_equal(totals(&l)->blocks, 1 + rows[i].blocks);
		/* Of others the first is told. */
		exec(&l, 7, "141", 6);
		assert_string_equal(l.e->bad, rows[i].why ? rows[i].why : unknown);
		assert_int_equal(totals(&l)->bad, 1 + (rows[i].why != NULL));
		/* A block cannot be told twice. */
		give(&l, VT_BLOCK,
		     (uint64_t[FIELDS]){[VT_BLOCK_ID] = 5,
					[VT_BLOCK_ADDR] = 0x6000,
					[VT_BLOCK_SIZE] = 1,
					[VT_BLOCK_INSNS] = 1},
		     (struct field_bytes){VT_BLOCK_LENGTHS, "\1", 1},
		     (struct field_bytes){VT_BLOCK_CODE, "\x90", 1});
		assert_int_equal(totals(&l)->bad, 2 + (rows[i].why != NULL));
		exec(&l, 7, "5", 1);
		end_live(&l);
	}
}

/* The mode of code is told where it has changed; what is none of 16 and 32 bits is of 64. */
static void test_modes(void **state)
{
	static const struct {
		uint64_t bits;
		const char *text;
	} rows[] = {
		{16, "PSB MODE.Exec=10 PSBEND TIP.PGE=1000 FUP=1001 TIP.PGD "},
		{16, "TIP.PGE=1000 FUP=1001 TIP.PGD "},
		{32, "MODE.Exec=20 TIP.PGE=1000 FUP=1001 TIP.PGD "},
		{17, "MODE.Exec=40 TIP.PGE=1000 FUP=1001 TIP.PGD "},
		{15, "TIP.PGE=1000 FUP=1001 TIP.PGD "},
		{31, "TIP.PGE=1000 FUP=1001 TIP.PGD "},
		{33, "TIP.PGE=1000 FUP=1001 TIP.PGD "},
		{16, "MODE.Exec=10 TIP.PGE=1000 FUP=1001 TIP.PGD "},
		{64, "MODE.Exec=40 TIP.PGE=1000 FUP=1001 TIP.PGD "},
	};
	struct live l;
	size_t i;

	(void)state;
	begin_live(&l, &vt_pt_encode_defaults);
	block(&l, 1, 0x1000, "\1", "\x90");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		give_numbers(&l, VT_TRACE,
			     (uint64_t[FIELDS]){[VT_TRACE_EVENT] = VT_TRACE_EXEC_MODE,
						[VT_TRACE_VALUE] = rows[i].bits});
		exec(&l, 7, "1", 1);
		gap(&l, 7, 7);
		said(&l, rows[i].text);
	}
	end_live(&l);
}

/* Bytes of code that were other ones before are counted, each once for each time. */
static void test_rewritten(void **state)
{
	static const char *const codes[] = {"aaaaaaaaaaaaaaaaaaaa", "aaaabbbbbbbbbbbbbbbb",
					    "aaaabbbbbbbbbbbbbbbb"};
	int fds[2] = {scratch_file(), scratch_file()};
	const char *lengths = "\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1";
	struct vt_error err = VT_ERROR_INIT;
	char names[2][32];
	struct live l;
	unsigned i;

	(void)state;
	begin_live(&l, &vt_pt_encode_defaults);
	for (i = 0; i < 3; i++)
		block(&l, 1 + i, 0x5000, lengths, codes[i]);
	/* Two bytes less, and more, than there are. */
	block(&l, 4, 0x5012, "\1\1\1\1", "bccc");
	/* One that is never executed, and one whose place nobody else had. */
	block(&l, 5, 0x5000, lengths, codes[0]);
	block(&l, 6, 0x6000, "\1\1", "\0b");
	block(&l, 7, 0x6000, "\1\1", "a\0");
	for (i = 1; i < 5; i++)
		exec(&l, 7, (char[]){(char)('0' + i), 0}, 1);
	/* The last in the middle of a run alone. */
	exec(&l, 7, "676", 5);
	for (i = 0; i < 2; i++)
		snprintf(names[i], sizeof(names[i]), "/dev/fd/%d", fds[i]);
	assert_int_equal(vt_pt_encode_pages(l.e, names[0], names[1], &err), 0);
	for (i = 0; i < 2; i++)
		close(fds[i]);
	/* Sixteen of the first, one of the fourth, two of the last. */
	assert_int_equal(totals(&l)->rewritten, 16 + 1 + 2);
	end_live(&l);
}

/* Only the process or the thread that is asked for. */
static void test_wanted(void **state)
{
	static const struct {
		int64_t pid, tid;
		unsigned threads;
	} rows[] = {{0, 0, 3}, {7, 0, 2}, {9, 0, 1}, {0, 8, 1}, {7, 8, 1}, {9, 8, 0}, {8, 0, 0}};
	size_t i;
	int64_t tid;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct vt_pt_encode_options opt = vt_pt_encode_defaults;
		struct live l;

		opt.pid = rows[i].pid;
		opt.tid = rows[i].tid;
		begin_live(&l, &opt);
		put_common(&l);
		for (tid = 7; tid < 10; tid++)
			exec(&l, tid, "1", 2);
		assert_int_equal(vt_pt_encode_totals(l.e)->threads, rows[i].threads);
		assert_int_equal(totals(&l)->insns, 2 * rows[i].threads);
		end_live(&l);
	}
}

/* The sink is told when the first record of its bytes was; its fault ends all. */
static void test_sink(void **state)
{
	struct vt_error err = VT_ERROR_INIT;
	struct live l;

	(void)state;
	begin_live(&l, &vt_pt_encode_defaults);
	put_common(&l);
	exec(&l, 7, "1", 2);
	said(&l, BEGIN "TIP.PGE=1000 ");
	assert_int_equal(l.calls, 1);
	exec(&l, 7, "2", 2);
	said(&l, "");
	/* Of several records without a packet, and one with one, it is that of the last. */
	assert_int_equal(l.calls, 1);
	exec(&l, 7, "3", 3);
	exec(&l, 7, "1", 1);
	said(&l, "FUP=1000 TIP.PGD TIP.PGE=2000 FUP=2003 TIP.PGD TIP.PGE=1000 ");
	assert_int_equal(l.calls, 2);
	assert_int_equal(l.time, 30);
	gap(&l, 0, 0);
	exec(&l, 8, "1", 2);
	l.fault = -VT_E_READ;
	assert_int_equal(vt_pt_encode_flush(l.e, &err), -VT_E_READ);
	/* The second thread's are not given any more. */
	assert_int_equal(l.calls, 3);
	l.fault = 0;
	assert_int_equal(vt_pt_encode_flush(l.e, &err), -VT_E_READ);
	assert_int_equal(vt_pt_encode_finish(l.e, &err), -VT_E_READ);
	assert_int_equal(vt_pt_encode_pause(l.e, 7, 8, &err), -VT_E_READ);
	assert_int_equal(run(&l, 7, "\1", 1, 2, 0, 1), -VT_E_READ);
	assert_int_equal(l.calls, 3);
	end_live(&l);
}

/* ---- ids ---- */

/* The same loop by ids of two bytes and of four, from a base or not; with times, too. */
static void test_widths(void **state)
{
	struct vt_pt_encode_options opt = vt_pt_encode_defaults;
	const long size = sysconf(_SC_PAGESIZE);
	uint8_t *pages = mmap(NULL, 3 * (size_t)size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct live l;
	unsigned i, k;

	(void)state;
	assert_true(pages != MAP_FAILED);
	/* Nothing is read before the ids, nor behind them. */
	assert_int_equal(mprotect(pages, (size_t)size, PROT_NONE), 0);
	assert_int_equal(mprotect(pages + 2 * size, (size_t)size, PROT_NONE), 0);
	for (i = 0; i < 32; i++) {
		const unsigned width = i & 1 ? 4 : 2, base = i & 2 ? 3 : 0, n = i & 16 ? 40 : 4;
		uint8_t *at = i & 4 ? pages + size : pages + 2 * size - n * width;
		struct vt_buf want = VT_BUF_INIT;

		for (k = 0; k < n; k++) {
			memset(at + k * width, 0, width);
			at[k * width] = (uint8_t)(4 + k % 2 - base);
		}
		opt.tnt_bits = i & 8 ? 7 : 6;
		begin_live(&l, &opt);
		block(&l, 3, 0x7000, "\1", "\xc3");
		block(&l, 4, 0x1000, "\2", "\xff\xe0");
		block(&l, 5, 0x2000, "\1\2", "\x90\xff\xe0");
		assert_int_equal(run(&l, 7, at, n, width, base, n + n / 2), 0);
		put_times(&want, 1, BEGIN "TIP.PGE=1000 TIP=2000 ");
		put_times(&want, n / 2 - 1, "TIP=1000 TIP=2000 ");
		said(&l, vt_buf_str(&want));
		assert_int_equal(totals(&l)->insns, n + n / 2);
		assert_int_equal(totals(&l)->blocks, n);
		vt_buf_free(&want);
		end_live(&l);
	}
	munmap(pages, 3 * (size_t)size);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing),	    cmocka_unit_test(test_lost),
		cmocka_unit_test(test_psb_between), cmocka_unit_test(test_not_traced),
		cmocka_unit_test(test_values),	    cmocka_unit_test(test_left),
		cmocka_unit_test(test_interrupted), cmocka_unit_test(test_bad),
		cmocka_unit_test(test_rewritten),   cmocka_unit_test(test_modes),
		cmocka_unit_test(test_wanted),	    cmocka_unit_test(test_sink),
		cmocka_unit_test(test_widths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
