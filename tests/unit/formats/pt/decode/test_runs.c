/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "formats/pt/decode/runs.h"

#define BASE 0x1000

/* A loop with a call in it: je +2; call f; jne loop; ret; f: ret; jmp . */
static const uint8_t bytes[] = {
	0x74, 0x05,		      /* 1000: je 1007 */
	0xe8, 0x03, 0x00, 0x00, 0x00, /* 1002: call 100a */
	0x75, 0xf7,		      /* 1007: jne 1000 */
	0xc3,			      /* 1009: ret */
	0xc3,			      /* 100a: ret */
	0xeb, 0xfe,		      /* 100b: jmp 100b */
};

struct fixture {
	struct vt_pt_code *code;
	struct vt_pt_blocks *blocks;
	struct vti_pt_runs *runs;
};

static int set_up(void **state)
{
	static struct fixture f;
	struct vt_pt_section s = {.start = BASE, .size = sizeof(bytes), .bytes = bytes};
	struct vt_error err;

	f.code = vt_pt_code_new();
	assert_non_null(f.code);
	assert_int_equal(vt_pt_code_add(f.code, &s, &err), 0);
	f.blocks = vt_pt_blocks_new(f.code);
	f.runs = vti_pt_runs_new();
	assert_non_null(f.blocks);
	assert_non_null(f.runs);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	vti_pt_runs_free(f->runs);
	vt_pt_blocks_free(f->blocks);
	vt_pt_code_free(f->code);
	return 0;
}

static const struct vti_pt_run *make(struct fixture *f, uint64_t ip, uint32_t bits)
{
	const struct vti_pt_run *e = vti_pt_runs_make(f->runs, f->blocks, ip, 64, bits);

	assert_non_null(e);
	assert_ptr_equal(vti_pt_runs_find(f->runs, ip, vti_pt_run_key(64, bits)), e);
	return e;
}

/* Taken, taken: around the loop; then whatever comes begins at its top. */
static void test_decisions(void **state)
{
	const struct vti_pt_run *e = make(*state, BASE, 7);

	assert_int_equal(e->bits, 2);
	assert_int_equal(e->blocks, 2);
	assert_int_equal(e->insns, 2);
	assert_int_equal(e->next, BASE);
	assert_int_equal(e->flags & (VTI_PT_RUN_STOP | VTI_PT_RUN_RETURN), 0);
}

/* Not taken, the call's return compressed, not taken: the last return is not the run's own. */
static void test_call(void **state)
{
	struct fixture *f = *state;
	const struct vti_pt_run *e = make(f, BASE, 10);

	assert_int_equal(e->bits, 3);
	assert_int_equal(e->blocks, 4);
	assert_int_equal(e->next, BASE + 9);
	assert_true(e->flags & VTI_PT_RUN_PUSHES_HEAD);
	assert_int_equal(vti_pt_run_rest(f->runs, e)->depth, 1);
	assert_int_equal(vti_pt_run_rest(f->runs, e)->pushes, 0);
	assert_int_equal(vti_pt_run_rest(f->runs, e)->first, 1);
	/* A TIP may come there: an uncompressed return. */
	assert_true(e->flags & VTI_PT_RUN_TAIL);
	assert_int_equal(e->tail, 1);
	assert_int_equal(e->insns, 4);
	assert_int_equal(e->tail_insns, 1);
	assert_int_equal(vti_pt_run_rest(f->runs, e)->tail_pushes, 0);
	e = make(f, BASE + 9, 3);
	assert_true(e->flags & VTI_PT_RUN_RETURN);
	assert_int_equal(e->bits, 1);
}

/* What cannot be: a return whose decision says no, a loop without end, no code. */
static void test_stop(void **state)
{
	struct fixture *f = *state;

	assert_true(make(f, BASE + 9, 2)->flags & VTI_PT_RUN_STOP);
	assert_true(make(f, BASE + 11, 2)->flags & VTI_PT_RUN_STOP);
	assert_true(make(f, 0x9000, 3)->flags & VTI_PT_RUN_STOP);
	assert_false(make(f, BASE + 11, 1)->flags & VTI_PT_RUN_TAIL);
}

/* What comes before a decision that cannot be is not of the run: a call pushes nothing. */
static void test_undone(void **state)
{
	struct fixture *f = *state;
	const struct vti_pt_run *e = make(f, BASE, 4);

	assert_int_equal(e->bits, 1);
	assert_int_equal(e->blocks, 1);
	assert_int_equal(e->insns, 1);
	assert_false(e->flags & VTI_PT_RUN_PUSHES_HEAD);
	assert_int_equal(vti_pt_run_rest(f->runs, e)->pushes, 0);
	assert_int_equal(vti_pt_run_rest(f->runs, e)->depth, 0);
}

/* Tracing ends at the procedure that is called, or before the first decision. */
static void test_end(void **state)
{
	struct fixture *f = *state;
	const struct vti_pt_run *e = vti_pt_runs_make_end(f->runs, f->blocks, BASE + 2, 64,
							  VTI_PT_RUN_TO_ADDRESS, BASE + 10);

	assert_true(e->flags & VTI_PT_RUN_TAIL);
	assert_int_equal(e->tail, 1);
	assert_int_equal(vti_pt_run_rest(f->runs, e)->tail_pushes, 1);
	e = vti_pt_runs_make_end(f->runs, f->blocks, BASE + 2, 64, VTI_PT_RUN_TO_NOWHERE, 0);
	assert_int_equal(e->tail, 2);
}

/* Many runs: found as long as nothing displaces them, and memory stays bounded by the code. */
static void test_bounded(void **state)
{
	struct fixture *f = *state;
	uint32_t bits;
	unsigned i;

	for (i = 0; i < 40000; i++)
		for (bits = 2; bits < 4; bits++)
			make(f, 0x100000 + i, bits);
	assert_true(f->runs->shift >= 64 - 19);
	assert_true(f->runs->pool_size <= (UINT32_C(2) << (64 - f->runs->shift)) * 16);
	vti_pt_runs_forget(f->runs);
	assert_null(vti_pt_runs_find(f->runs, 0x100000, vti_pt_run_key(64, 2)));
}

/* A larger table has all the runs that the smaller one had, and the one that there was no room for.
 */
static void test_grown(void **state)
{
	struct fixture *f = *state;
	unsigned shift = f->runs->shift, n, i, found = 0;
	uint64_t used = 0;

	for (n = 0; f->runs->shift == shift; n++) {
		assert_true(n < 40000);
		used = f->runs->used;
		make(f, 0x100000 + n, 2);
	}
	assert_int_equal(f->runs->shift, shift - 2);
	for (i = 0; i < n; i++)
		found += vti_pt_runs_find(f->runs, 0x100000 + i, vti_pt_run_key(64, 2)) != NULL;
	assert_int_equal(found, used + 1);
	assert_int_equal(f->runs->used, used + 1);
}

/* ---- runs one by one ---- */

#define PROGRAM 0x2000

static const uint8_t program[] = {
	0x90,			      /* 00: nop */
	0xe8, 0x00, 0x00, 0x00, 0x00, /* 01: call 06, what follows it */
	0xe8, 0x05, 0x00, 0x00, 0x00, /* 06: call 10 */
	0xc3,			      /* 0b: ret */
	0xcc, 0xcc, 0xcc, 0xcc,	      /* 0c: int3 */
	0x74, 0x02,		      /* 10: je 14 */
	0xff, 0xd0,		      /* 12: call *%rax */
	0xff, 0xe0,		      /* 14: jmp *%rax */
	0x0f, 0x05,		      /* 16: syscall */
	0xeb, 0xfe,		      /* 18: jmp 18 */
	0xf3, 0x0f, 0xae, 0xe0, 0xc3, /* 1a: ptwrite %eax; ret */
	0x90, 0x90, 0xc3,	      /* 1f: nop; nop; ret */
};

static void add_code(struct fixture *f, uint64_t start, const void *code, uint64_t size)
{
	struct vt_pt_section s = {.start = start, .size = size, .bytes = code};
	struct vt_error err = VT_ERROR_INIT;

	assert_int_equal(vt_pt_code_add(f->code, &s, &err), 0);
}

/* What a run is to be; addresses from PROGRAM on. */
struct want {
	uint64_t ip;
	uint32_t bits;
	unsigned took, blocks, insns, flags, first, depth, pushes, tail, tail_insns, tail_pushes;
	uint64_t next;
	uint8_t ids[4];	   /* of the blocks: where they begin */
	uint8_t pushed[2]; /* what both parts push */
};

enum {
	STOP = VTI_PT_RUN_STOP,
	TAIL = VTI_PT_RUN_TAIL,
	RETURN = VTI_PT_RUN_RETURN,
	HEAD_PUSHES = VTI_PT_RUN_PUSHES_HEAD,
	TAIL_PUSHES = VTI_PT_RUN_PUSHES_TAIL,
};

static void check_run(struct fixture *f, const struct vti_pt_run *e, const struct want *w)
{
	const struct vti_pt_run_rest *rest = vti_pt_run_rest(f->runs, e);
	const uint32_t *pool = &f->runs->pool[e->pool + 1];
	unsigned i;

	assert_int_equal(e->flags, w->flags);
	assert_int_equal(e->bits, w->took);
	assert_int_equal(e->blocks, w->blocks);
	assert_int_equal(e->insns, w->insns);
	assert_int_equal(e->tail, w->tail);
	assert_int_equal(e->tail_insns, w->tail_insns);
	assert_int_equal(rest->first, w->first);
	assert_int_equal(rest->depth, w->depth);
	assert_int_equal(rest->pushes, w->pushes);
	assert_int_equal(rest->tail_pushes, w->tail_pushes);
	if (!(w->flags & RETURN))
		assert_int_equal(e->next, PROGRAM + w->next);
	for (i = 0; i < w->blocks + w->tail; i++, pool++)
		assert_int_equal(vt_pt_blocks_get(f->blocks, *pool)->addr, PROGRAM + w->ids[i]);
	for (i = 0; i < w->pushes + w->tail_pushes; i++, pool += 2) {
		uint64_t ip;

		memcpy(&ip, pool, sizeof(ip));
		assert_int_equal(ip, PROGRAM + w->pushed[i]);
	}
}

static void test_parts(void **state)
{
	static const struct want all[] = {
		/* A conditional branch is neither part's; a call of what follows pushes nothing. */
		{.ip = 0, .bits = 1, .next = 0},
		{0,
		 3,
		 1,
		 3,
		 4,
		 TAIL | HEAD_PUSHES,
		 3,
		 1,
		 1,
		 1,
		 1,
		 0,
		 0x14,
		 {0, 6, 0x10, 0x14},
		 {0xb}},
		{0,
		 2,
		 1,
		 3,
		 4,
		 TAIL | HEAD_PUSHES | TAIL_PUSHES,
		 3,
		 1,
		 1,
		 1,
		 1,
		 1,
		 0x12,
		 {0, 6, 0x10, 0x12},
		 {0xb, 0x14}},
		/* The second decision cannot be taken by a call. */
		{6, 4, 1, 2, 2, HEAD_PUSHES, 2, 1, 1, 0, 0, 0, 0x12, {6, 0x10}, {0xb}},
		{.ip = 0x12,
		 .bits = 1,
		 .flags = TAIL | TAIL_PUSHES,
		 .tail = 1,
		 .tail_insns = 1,
		 .tail_pushes = 1,
		 .next = 0x12,
		 .ids = {0x12},
		 .pushed = {0x14}},
		{.ip = 0x14,
		 .bits = 1,
		 .flags = TAIL,
		 .tail = 1,
		 .tail_insns = 1,
		 .next = 0x14,
		 .ids = {0x14}},
		{.ip = 0x16, .bits = 1, .next = 0x16},
		{.ip = 0x16, .bits = 3, .flags = STOP, .next = 0x16},
		{.ip = 0x18, .bits = 1, .next = 0x18},
		{0xb, 3, 1, 1, 1, RETURN, 1, 0, 0, 0, 0, 0, 0, {0xb}, {0}},
		{0x1f, 7, 1, 1, 3, RETURN, 1, 0, 0, 0, 0, 0, 0, {0x1f}, {0}},
		{.ip = 0x1f,
		 .bits = 1,
		 .flags = TAIL,
		 .tail = 1,
		 .tail_insns = 3,
		 .next = 0x1f,
		 .ids = {0x1f}},
		{.ip = 0x1a,
		 .bits = 1,
		 .flags = TAIL,
		 .tail = 1,
		 .tail_insns = 2,
		 .next = 0x1a,
		 .ids = {0x1a}},
	};
	struct fixture *f = *state;
	size_t i;

	add_code(f, PROGRAM, program, sizeof(program));
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		check_run(f, make(f, PROGRAM + all[i].ip, all[i].bits), &all[i]);
}

static void test_ends(void **state)
{
	static const struct {
		uint64_t ip, to;
		uint32_t bits;
		unsigned flags, tail, insns, pushes;
	} all[] = {
		{0, 0, VTI_PT_RUN_TO_ADDRESS, TAIL, 0, 0, 0},
		{0, 6, VTI_PT_RUN_TO_ADDRESS, TAIL, 1, 2, 0},
		{0, 0x10, VTI_PT_RUN_TO_ADDRESS, TAIL | TAIL_PUSHES, 2, 3, 1},
		/* Inside a block, at its last byte; behind what takes a decision first. */
		{0, 1, VTI_PT_RUN_TO_ADDRESS, STOP, 0, 0, 0},
		{0, 5, VTI_PT_RUN_TO_ADDRESS, STOP, 0, 0, 0},
		{6, 0xa, VTI_PT_RUN_TO_ADDRESS, STOP, 0, 0, 0},
		{0, 0xb, VTI_PT_RUN_TO_ADDRESS, TAIL | TAIL_PUSHES, 3, 4, 1},
		/* Nowhere is no address, not even that of a block. */
		{0, 1, VTI_PT_RUN_TO_NOWHERE, TAIL | TAIL_PUSHES, 3, 4, 1},
		{0, 0, VTI_PT_RUN_TO_NOWHERE, TAIL | TAIL_PUSHES, 3, 4, 1},
		{0x12, 0, VTI_PT_RUN_TO_NOWHERE, TAIL | TAIL_PUSHES, 1, 1, 1},
		{0x14, 0, VTI_PT_RUN_TO_NOWHERE, TAIL, 1, 1, 0},
		{0x16, 0, VTI_PT_RUN_TO_NOWHERE, TAIL, 1, 1, 0},
		/* An endless loop, an instruction that is marked, no code. */
		{0x18, 0, VTI_PT_RUN_TO_NOWHERE, STOP, 0, 0, 0},
		{0x1a, 0, VTI_PT_RUN_TO_NOWHERE, STOP, 0, 0, 0},
		{0x1f, 0, VTI_PT_RUN_TO_NOWHERE, TAIL, 1, 3, 0},
		{0x80, 0, VTI_PT_RUN_TO_NOWHERE, STOP, 0, 0, 0},
	};
	struct fixture *f = *state;
	size_t i;

	add_code(f, PROGRAM, program, sizeof(program));
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct vti_pt_run *e =
			vti_pt_runs_make_end(f->runs, f->blocks, PROGRAM + all[i].ip, 64,
					     all[i].bits, PROGRAM + all[i].to);

		assert_int_equal(e->flags, all[i].flags);
		assert_int_equal(e->tail, all[i].tail);
		assert_int_equal(e->tail_insns, all[i].insns);
		assert_int_equal(e->next, PROGRAM + all[i].to);
		assert_int_equal(e->blocks + e->bits + e->insns, 0);
		assert_int_equal(vti_pt_run_rest(f->runs, e)->tail_pushes, all[i].pushes);
	}
}

/* A run has room for 120 blocks, and a part of it for 16 calls. */
static void test_room(void **state)
{
	enum { JUMPS = 0x4000, CALLS = 0x5000 };
	static uint8_t jumps[2 * VTI_PT_RUN_BLOCKS + 1], calls[8 * (VTI_PT_RUN_PUSHES + 1) + 1];
	struct fixture *f = *state;
	const struct vti_pt_run *e;
	size_t i;

	for (i = 0; i < VTI_PT_RUN_BLOCKS; i++)
		jumps[2 * i] = 0xeb;
	jumps[2 * i] = 0xc3;
	add_code(f, JUMPS, jumps, sizeof(jumps));
	assert_int_equal(make(f, JUMPS, 1)->flags, 0);
	e = make(f, JUMPS + 2, 1);
	assert_int_equal(e->flags, TAIL);
	assert_int_equal(e->tail, VTI_PT_RUN_BLOCKS);
	e = vti_pt_runs_make_end(f->runs, f->blocks, JUMPS, 64, VTI_PT_RUN_TO_NOWHERE, 0);
	assert_int_equal(e->flags, STOP);
	e = vti_pt_runs_make_end(f->runs, f->blocks, JUMPS + 2, 64, VTI_PT_RUN_TO_NOWHERE, 0);
	assert_int_equal(e->tail, VTI_PT_RUN_BLOCKS);
	for (i = 0; i <= VTI_PT_RUN_PUSHES; i++) {
		calls[8 * i] = 0xe8;
		calls[8 * i + 1] = 3;
	}
	calls[8 * i] = 0xc3;
	add_code(f, CALLS, calls, sizeof(calls));
	assert_int_equal(make(f, CALLS, 1)->flags, 0);
	assert_int_equal(make(f, CALLS, 3)->flags, STOP);
	e = make(f, CALLS + 8, 1);
	assert_int_equal(e->flags, TAIL | TAIL_PUSHES);
	assert_int_equal(e->tail, VTI_PT_RUN_PUSHES + 1);
	assert_int_equal(vti_pt_run_rest(f->runs, e)->tail_pushes, VTI_PT_RUN_PUSHES);
	e = vti_pt_runs_make_end(f->runs, f->blocks, CALLS, 64, VTI_PT_RUN_TO_NOWHERE, 0);
	assert_int_equal(e->flags, STOP);
	e = vti_pt_runs_make_end(f->runs, f->blocks, CALLS + 8, 64, VTI_PT_RUN_TO_NOWHERE, 0);
	assert_int_equal(vti_pt_run_rest(f->runs, e)->tail_pushes, VTI_PT_RUN_PUSHES);
}

/* What follows each of many blocks is known. */
static void test_links(void **state)
{
	enum { AT = 0x10000, N = 3000 };
	static const uint8_t step[] = {0xeb, 0, 0xc3}; /* jmp to the ret */
	static uint8_t code[sizeof(step) * N];
	struct fixture *f = *state;
	unsigned i;

	for (i = 0; i < N; i++)
		memcpy(code + (size_t)3 * i, step, sizeof(step));
	add_code(f, AT, code, sizeof(code));
	for (i = 0; i < 2 * N; i++) {
		const uint64_t ip = AT + i % N * 3;
		const struct vti_pt_run *e = make(f, ip, 1);
		const uint32_t *pool = &f->runs->pool[e->pool + 1];

		assert_int_equal(e->tail, 2);
		assert_int_equal(vt_pt_blocks_get(f->blocks, pool[0])->addr, ip);
		assert_int_equal(vt_pt_blocks_get(f->blocks, pool[1])->addr, ip + 2);
	}
	assert_true(f->runs->nlinks >= vt_pt_blocks_count(f->blocks) / 2);
	assert_true(f->runs->nlinks <= 2 * vt_pt_blocks_count(f->blocks));
}

/* A pair has room for two: the one that comes first is kept until two others have come. */
static void test_pairs(void **state)
{
	struct fixture *f = *state;
	const struct vti_pt_run *first = vti_pt_runs_pair(f->runs, BASE, vti_pt_run_key(64, 2));
	uint64_t ips[3] = {BASE};
	uint64_t ip = 0x200000;
	unsigned n;

	for (n = 1; n < 3; ip++)
		if (vti_pt_runs_pair(f->runs, ip, vti_pt_run_key(64, 2)) == first)
			ips[n++] = ip;
	for (n = 0; n < 3; n++) {
		make(f, ips[n], 2);
		assert_int_equal(f->runs->used, n < 2 ? n + 1 : 2);
		assert_int_equal(f->runs->displaced, n < 2 ? 0 : 1);
	}
	assert_null(vti_pt_runs_find(f->runs, ips[0], vti_pt_run_key(64, 2)));
	assert_non_null(vti_pt_runs_find(f->runs, ips[1], vti_pt_run_key(64, 2)));
	assert_non_null(vti_pt_runs_find(f->runs, ips[2], vti_pt_run_key(64, 2)));
	assert_null(vti_pt_runs_find(f->runs, ips[2], vti_pt_run_key(32, 2)));
	vti_pt_runs_forget(f->runs);
	assert_int_equal(f->runs->used + f->runs->displaced + f->runs->pool_used, 0);
	assert_null(vti_pt_runs_find(f->runs, ips[2], vti_pt_run_key(64, 2)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_decisions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_call, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stop, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_undone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_grown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_parts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_room, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_links, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_pairs, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
