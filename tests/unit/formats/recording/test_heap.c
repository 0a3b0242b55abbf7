/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocations in full recordings: where they lie among the executed instructions, and that EXEC
 * records go on over them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "stream/bblock.h"
#include "tests/unit/common/toolbox.h"
#include "tests/unit/formats/recording/recordings.h"
#include "tests/unit/formats/recording/rings.h"

#define PID   RECORDINGS_PID
#define START "THREAD TIME=1000 PID=500 TID=500 OP=1 PPID=40 PTID=500 COMM=70\n"
#define BLOCK                                                                                      \
	"BLOCK ID=1 PID=500 ADDR=4096 SIZE=2 INSNS=2 END=0 TARGET=0 LENGTHS=0101 CODE=9090 "       \
	"SLOTS=200010000,100010001\n"
#define ALLOCATED_AT(time, tid, first)                                                             \
	"HEAP TIME=" time " PID=500 TID=" tid " FIRST=" first " OP=2 ADDR=17 SIZE=18 OLD=19 "      \
	"CALLER=20\n"
#define ALLOCATED(tid, first) ALLOCATED_AT("1000", tid, first)
#define RAN_AT(time, tid, first, blocks, insns, skip, ids, data)                                   \
	"EXEC TIME=" time " PID=500 TID=" tid " FIRST=" first " BLOCKS=" blocks " INSNS=" insns    \
	" SKIP=" skip " BASE=1 WIDTH=2 IDS=" ids " DATA" data "\n"
#define RAN(tid, first, blocks, insns, skip, ids, data)                                            \
	RAN_AT("1000", tid, first, blocks, insns, skip, ids, data)

static const uint64_t slots[] = {0x0000000200010000, 0x0000000100010001};

static struct vt_ring_heap make_heap(uint32_t op)
{
	return (struct vt_ring_heap){.op = op, .addr = 17, .size = 18, .old = 19, .caller = 20};
}

static void put_heap(struct rings *r)
{
	const struct vt_ring_heap h = make_heap(VT_HEAP_REALLOC);

	rings_event(r, VT_RING_HEAP, r->tid, &h, sizeof(h), NULL, 0);
}

static void begin(struct recordings *s, const struct vt_recording_options *opt)
{
	recordings_open(s, opt);
	rings_start(&s->ring, 40, 0, "p");
	rings_block(&s->ring, 1, 2, slots, 2);
}

/* Each step of a process, whose block has two instructions, with values of two bytes and of one. */
static void take_step(struct rings *r, char step)
{
	switch (step) {
	case 'b': /* the block */
		rings_run(r, 1, "abc", 3);
		break;
	case '1': /* its first instruction */
		rings_run(r, 1, "ab", 2);
		rings_number(r, VT_RING_PARTIAL, r->tid, 1);
		break;
	case 'h':
		put_heap(r);
		break;
	case 'u': /* an event that ends a record, and makes none */
		rings_event(r, VT_RING_UNMAP, r->tid, NULL, 0, NULL, 0);
		break;
	case 'f': /* the next buffer */
		rings_flush(r);
		break;
	case '2': /* thread 502 runs */
		r->tid = 502;
		rings_event(r, VT_RING_SWITCH, r->tid, NULL, 0, NULL, 0);
		break;
	default: /* it enters or leaves the function of --toggle */
		rings_number(r, VT_RING_TOGGLE, r->tid, step == '(');
	}
}

static void test_positions(void **state)
{
	static const struct {
		const char *steps;
		uint64_t skip, count;
		bool toggle;
		const char *want;
	} rows[] = {
		{"h", 0, 0, false, ALLOCATED("500", "0")},
		{"hb", 0, 0, false,
		 ALLOCATED("500", "0") RAN("500", "0", "1", "2", "0", "0000", "=616263")},
		{"bh", 0, 0, false,
		 ALLOCATED("500", "2") RAN("500", "0", "1", "2", "0", "0000", "=616263")},
		{"bhbhhb", 0, 0, false,
		 ALLOCATED("500", "2") ALLOCATED("500", "4") ALLOCATED("500", "4")
			 RAN("500", "0", "3", "6", "0", "000000000000", "=616263616263616263")},
		/* Other events end the record; the next begins behind it. */
		{"bhubhb", 0, 0, false,
		 ALLOCATED("500", "2") RAN("500", "0", "1", "2", "0", "0000", "=616263") ALLOCATED(
			 "500", "4") RAN("500", "2", "2", "4", "0", "00000000", "=616263616263")},
		{"bhu", 0, 0, false,
		 ALLOCATED("500", "2") RAN("500", "0", "1", "2", "0", "0000", "=616263")},
		/* So does the end of a block that is not complete, */
		{"bh1hb", 0, 0, false,
		 ALLOCATED("500", "2") RAN("500", "0", "2", "3", "0", "00000000", "=6162636162")
			 ALLOCATED("500", "3") RAN("500", "3", "1", "2", "0", "0000", "=616263")},
		/* of a buffer, */
		{"bhfhbh", 0, 0, false,
		 ALLOCATED("500", "2") RAN("500", "0", "1", "2", "0", "0000", "=616263")
			 ALLOCATED_AT("1001", "500", "2") ALLOCATED_AT("1001", "500", "4")
				 RAN_AT("1001", "500", "2", "1", "2", "0", "0000", "=616263")},
		/* and of a thread's turn. */
		{"bh2hbh", 0, 0, false,
		 ALLOCATED("500", "2") RAN("500", "0", "1", "2", "0", "0000", "=616263")
			 ALLOCATED("502", "2") ALLOCATED("502", "4")
				 RAN("502", "2", "1", "2", "0", "0000", "=616263")},
		/* Before a window they are at its start, behind it at its end. */
		{"hbhbhb", 3, 0, false,
		 ALLOCATED("500", "0") ALLOCATED("500", "0")
			 ALLOCATED("500", "1") "STATE PID=500 TID=500 FIRST=0 REASON=1 MXCSR=0 "
					       "REGS*0 VECTOR\n" RAN("500", "0", "2", "3", "1",
								     "00000000", "=63616263")},
		{"bhbh", 0, 3, false,
		 ALLOCATED("500", "2") ALLOCATED("500", "3")
			 RAN("500", "0", "2", "3", "0", "00000000", "=6162636162")},
		{"hbhb(bhb)hbh", 0, 0, true,
		 ALLOCATED("500", "0") ALLOCATED("500", "0")
			 ALLOCATED("500", "2") "STATE PID=500 TID=500 FIRST=0 REASON=1 MXCSR=0 "
					       "REGS*0 VECTOR\n" RAN("500", "0", "2", "4", "0",
								     "00000000", "=616263616263")
						       ALLOCATED("500", "4") ALLOCATED("500", "4")},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct vt_recording_options opt = {
			.skip = rows[i].skip, .count = rows[i].count, .toggle = rows[i].toggle};
		struct vt_recording_summary sum;
		struct recordings s;
		char want[2000];

		begin(&s, &opt);
		for (k = 0; rows[i].steps[k]; k++)
			take_step(&s.ring, rows[i].steps[k]);
		rings_end(&s.ring);
		snprintf(want, sizeof(want), "%s%s", START BLOCK, rows[i].want);
		sum = recordings_close(&s, want);
		assert_int_equal(sum.gaps, 0);
	}
}

/* Each function has its number; others, and events that are cut, are contradictory. */
static void test_operations(void **state)
{
	const struct vt_recording_options opt = {0};
	uint32_t op, cut;

	(void)state;
	for (op = 0; op <= VT_NHEAPS + 1; op++) {
		const bool good = op < VT_NHEAPS;
		const struct vt_ring_heap h = make_heap(op == VT_NHEAPS + 1 ? UINT32_MAX : op);
		struct recordings s;
		char want[500];

		begin(&s, &opt);
		rings_event(&s.ring, VT_RING_HEAP, 501, &h, sizeof(h), NULL, 0);
		rings_end(&s.ring);
		assert_string_equal(vt_buf_str(&s.warnings),
				    good ? "" : "process 500: a bad allocation\n");
		if (good)
			snprintf(want, sizeof(want),
				 START BLOCK "HEAP TIME=1000 PID=500 TID=501 FIRST=0 OP=%u ADDR=17 "
					     "SIZE=18 OLD=19 CALLER=20\n",
				 (unsigned)op);
		recordings_close(&s, good ? want
					  : START BLOCK "GAP TIME=1000 PID=500 TID=500 BYTES=0 "
							"REASON=a bad allocation\n");
	}
	for (cut = 0; cut < sizeof(struct vt_ring_heap); cut += 8) {
		const struct vt_ring_heap h = make_heap(0);
		struct recordings s;

		begin(&s, &opt);
		rings_event(&s.ring, VT_RING_HEAP, PID, &h, cut, NULL, 0);
		rings_end(&s.ring);
		recordings_close(&s, START BLOCK
				 "GAP TIME=1000 PID=500 TID=500 BYTES=0 REASON=a bad allocation\n");
	}
}

/* The header of the allocation that was put last. */
static struct vt_ring_event *last_heap(struct rings *r)
{
	const struct vt_ring_buffer *b = &r->ring->buffers[r->ring->current];
	uint8_t *at = (uint8_t *)r->ring + b->events_offset + b->events;

	return (struct vt_ring_event *)(void *)(at - sizeof(struct vt_ring_heap) -
						sizeof(struct vt_ring_event));
}

/* What comes before an allocation that is somewhere impossible is recorded. */
static void test_impossible_places(void **state)
{
	static const struct {
		uint32_t ids, data; /* of the second allocation */
		const char *why;
	} rows[] = {
		{0, 6, "a bad event"},
		{6, 6, "a bad event"},
		{12, 6, "a bad event"},
		{8, 2, "a bad event"},
		{8, 4, "values that do not fit the blocks"},
		{4, 6, "values that do not fit the blocks"},
	};
	const struct vt_recording_options opt = {0};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct recordings s;
		struct vt_ring_event *e;
		char want[1000];

		begin(&s, &opt);
		rings_run(&s.ring, 1, "abc", 3);
		put_heap(&s.ring);
		rings_run(&s.ring, 1, "def", 3);
		put_heap(&s.ring);
		e = last_heap(&s.ring);
		assert_int_equal(e->type, VT_RING_HEAP);
		e->ids = rows[i].ids;
		e->data = rows[i].data;
		rings_end(&s.ring);
		snprintf(want, sizeof(want),
			 START BLOCK ALLOCATED("500", "2") RAN(
				 "500", "0", "1", "2", "0", "0000",
				 "=616263") "GAP TIME=1000 PID=500 TID=500 BYTES=14 REASON=%s\n",
			 rows[i].why);
		recordings_close(&s, want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_positions),
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_impossible_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
