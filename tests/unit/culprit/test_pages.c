/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often data and code can miss TLBs and caches: what loops, neighbours, the stack and samples
 * say.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "culprit/internal.h"
#include "tests/unit/common/procs.h"

#define ENTERED 7.0
#define PAGE	8192.0 /* of the Alpha's 64 translations */
#define BODY	24

static struct vt_error err;

struct code {
	uint8_t bytes[BODY];
	size_t size;
};

/*  0: nop; 1: the body; dec %edi; jne 1; ret. */
static struct proc *make_loop(const struct code *body)
{
	static uint8_t code[BODY + 6];
	size_t end = 1 + body->size;
	struct proc *p;

	code[0] = 0x90;
	memcpy(code + 1, body->bytes, body->size);
	code[end] = 0xff;
	code[end + 1] = 0xcf;
	code[end + 2] = 0x75;
	code[end + 3] = (uint8_t)(256 - (end + 3));
	code[end + 4] = 0xc3;
	p = proc_make("alpha21164", code, end + 5);
	p->in.code = code;
	p->in.code_size = end + 5;
	proc_set_edge(p, 0, 1, ENTERED);
	proc_set_edge(p, end, 1, PROC_EACH - ENTERED);
	return p;
}

static struct proc *make_straight(const struct code *body)
{
	static uint8_t code[BODY + 1];
	struct proc *p;

	memcpy(code, body->bytes, body->size);
	code[body->size] = 0xc3;
	p = proc_make("alpha21164", code, body->size + 1);
	p->in.code = code;
	p->in.code_size = body->size + 1;
	return p;
}

static void check(double got, double want, const char *what, unsigned row)
{
	if (isinf(want) ? !isinf(got) : !(fabs(got - want) < 1e-6))
		fail_msg("%s %u: %g, not %g", what, row, got, want);
}

static double data_pages(const struct proc *p, uint64_t offset)
{
	struct vti_culprit c;
	double n;

	assert_int_equal(vti_culprit_init(&c, &p->in, &err), 0);
	n = c.data_pages[proc_at(p, offset)];
	vti_culprit_fini(&c);
	return n;
}

/* A loop, and the pages that the access at `offset` of its body comes to. */
static const struct {
	struct code body;
	uint8_t offset;
	double pages;
} moved[] = {
	/* mov (%rsi),%rax and what moves %rsi */
	{{{0x48, 0x8b, 0x06}, 3}, 0, ENTERED},
	{{{0x48, 0x8b, 0x06, 0x48, 0x83, 0xc6, 0x40}, 7}, 0, ENTERED + 64 * PROC_EACH / PAGE},
	{{{0x48, 0x8b, 0x06, 0x48, 0x83, 0xee, 0x40}, 7}, 0, ENTERED + 64 * PROC_EACH / PAGE},
	{{{0x48, 0x8b, 0x06, 0x48, 0x83, 0xc6, 0xc0}, 7}, 0, ENTERED + 64 * PROC_EACH / PAGE},
	{{{0x48, 0x8b, 0x06, 0x48, 0x8d, 0x76, 0x20}, 7}, 0, ENTERED + 32 * PROC_EACH / PAGE},
	{{{0x48, 0x8b, 0x06, 0x48, 0x8d, 0x76, 0xe0}, 7}, 0, ENTERED + 32 * PROC_EACH / PAGE},
	{{{0x48, 0x8b, 0x06, 0x48, 0xff, 0xc6}, 6}, 0, ENTERED + PROC_EACH / PAGE},
	{{{0x48, 0x8b, 0x06, 0x48, 0xff, 0xce}, 6}, 0, ENTERED + PROC_EACH / PAGE},
	/* by two steps */
	{{{0x48, 0x8b, 0x06, 0x48, 0xff, 0xc6, 0x48, 0x83, 0xc6, 0x40}, 10},
	 0,
	 ENTERED + 65 * PROC_EACH / PAGE},
	/* add %rbx,%rsi; lea 64(%rbx),%rsi; lea 64(%rsi,%rbx),%rsi; mov (%rsi),%rsi: anywhere */
	{{{0x48, 0x8b, 0x06, 0x48, 0x01, 0xde}, 6}, 0, PROC_EACH},
	{{{0x48, 0x8b, 0x06, 0x48, 0x8d, 0x73, 0x40}, 7}, 0, PROC_EACH},
	{{{0x48, 0x8b, 0x06, 0x48, 0x8d, 0x74, 0x1e, 0x40}, 8}, 0, PROC_EACH},
	{{{0x48, 0x8b, 0x36}, 3}, 0, PROC_EACH},
	/* adc, and, xor $1,%rsi; imul $1,%rsi,%rsi; add 1(%rbx),%rsi with the load's own page */
	{{{0x48, 0x8b, 0x06, 0x48, 0x83, 0xd6, 0x01}, 7}, 0, PROC_EACH},
	{{{0x48, 0x8b, 0x06, 0x48, 0x83, 0xe6, 0x01}, 7}, 0, PROC_EACH},
	{{{0x48, 0x8b, 0x06, 0x48, 0x83, 0xf6, 0x01}, 7}, 0, PROC_EACH},
	{{{0x48, 0x8b, 0x06, 0x48, 0x6b, 0xf6, 0x01}, 7}, 0, PROC_EACH},
	/* sbb, sar, shl $1,%rsi; neg, not %rsi */
	{{{0x48, 0x8b, 0x06, 0x48, 0x83, 0xde, 0x01}, 7}, 0, PROC_EACH},
	{{{0x48, 0x8b, 0x06, 0x48, 0xc1, 0xfe, 0x01}, 7}, 0, PROC_EACH},
	{{{0x48, 0x8b, 0x06, 0x48, 0xc1, 0xe6, 0x01}, 7}, 0, PROC_EACH},
	{{{0x48, 0x8b, 0x06, 0x48, 0xf7, 0xde}, 6}, 0, PROC_EACH},
	{{{0x48, 0x8b, 0x06, 0x48, 0xf7, 0xd6}, 6}, 0, PROC_EACH},
	/* mov (%rsi,%rbx,8),%rax; add $8,%rbx, and mov (%rsi,%rbx,4); add $64,%rsi; inc %rbx */
	{{{0x48, 0x8b, 0x04, 0xde, 0x48, 0x83, 0xc3, 0x08}, 8},
	 0,
	 ENTERED + 8 * 8 * PROC_EACH / PAGE},
	{{{0x48, 0x8b, 0x04, 0x9e, 0x48, 0x83, 0xc6, 0x40, 0x48, 0xff, 0xc3}, 11},
	 0,
	 ENTERED + (64 + 4) * PROC_EACH / PAGE},
	/* mov 0x100(%rip),%rax; mov %rax,(%rsi); addl $64,(%rsi) */
	{{{0x48, 0x8b, 0x05, 0x00, 0x01, 0x00, 0x00}, 7}, 0, ENTERED},
	{{{0x48, 0x89, 0x06}, 3}, 0, ENTERED},
	{{{0x83, 0x06, 0x40}, 3}, 0, ENTERED},
	/* mov (%rsi),%rax; mov (%rbx),%rcx; add $64,%rsi: who competes, among 64 - 2 */
	{{{0x48, 0x8b, 0x06, 0x48, 0x8b, 0x0b, 0x48, 0x83, 0xc6, 0x40}, 10},
	 0,
	 ENTERED + 64 * PROC_EACH / PAGE + ENTERED / 62},
	{{{0x48, 0x8b, 0x06, 0x48, 0x8b, 0x0b, 0x48, 0x83, 0xc6, 0x40}, 10},
	 3,
	 ENTERED + (ENTERED + 64 * PROC_EACH / PAGE) / 62},
	/* movzx %bl,%ebx; mov (%rsi,%rbx,8),%rax: a table of 256 entries; and one that moves on */
	{{{0x0f, 0xb6, 0xdb, 0x48, 0x8b, 0x04, 0xde}, 7}, 3, ENTERED *(1 + 255 * 8 / PAGE)},
	{{{0x0f, 0xb6, 0xdb, 0x48, 0x8b, 0x04, 0xde, 0x48, 0xff, 0xc6}, 10}, 3, PROC_EACH},
	/* and $0xffffff,%ebx: of more pages than it is executed */
	{{{0x81, 0xe3, 0xff, 0xff, 0xff, 0x00, 0x48, 0x8b, 0x04, 0xde}, 10}, 6, PROC_EACH},
	/* movsb; rep movsb */
	{{{0xa4}, 1}, 0, PROC_EACH},
	{{{0xf3, 0xa4}, 2}, 0, INFINITY},
	{{{0xf3, 0xa4, 0x48, 0x8b, 0x03}, 5}, 2, INFINITY},
	/* not an access; a call is on the way */
	{{{0x48, 0xff, 0xc6}, 3}, 0, INFINITY},
	{{{0x48, 0x8b, 0x06, 0xe8, 0x00, 0x10, 0x00, 0x00}, 8}, 0, INFINITY},
};

static void test_pages_of_loops(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(moved) / sizeof(moved[0]); i++) {
		struct proc *p = make_loop(&moved[i].body);

		check(data_pages(p, 1U + moved[i].offset), moved[i].pages, "loop", i);
		proc_drop(p);
	}
}

/* Two accesses do not fit for certain where there is room for twice as many only. */
static void test_room_for_pages(void **state)
{
	static const struct {
		uint16_t entries;
		uint16_t ways;
		double pages;
	} rooms[] = {
		{4, 4, INFINITY},  {5, 5, ENTERED + ENTERED / 3},
		{64, 4, INFINITY}, {64, 5, ENTERED + ENTERED / 3},
		{0, 0, INFINITY},
	};
	/* mov (%rsi),%rax; mov (%rbx),%rcx */
	const struct code body = {{0x48, 0x8b, 0x06, 0x48, 0x8b, 0x0b}, 6};
	struct proc *p = make_loop(&body);
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		p->core.dtlb.entries = rooms[i].entries;
		p->core.dtlb.ways = rooms[i].ways;
		check(data_pages(p, 1), rooms[i].pages, "room", i);
	}
	p->core.dtlb.entries = p->core.dtlb.ways = 64;
	check(data_pages(p, 1), ENTERED + ENTERED / 62, "room", i++);
	p->in.code = NULL;
	check(data_pages(p, 1), INFINITY, "without code", i);
	proc_drop(p);
}

/* Where an edge is not counted, it is taken as often as the block before it, if that is known. */
static void test_unknown_entries(void **state)
{
	const struct code body = {{0x48, 0x8b, 0x06}, 3};
	struct proc *p = make_loop(&body);

	(void)state;
	proc_set_edge(p, 0, 1, NAN);
	check(data_pages(p, 1), PROC_EACH, "like all", 0);
	p->insns[0].executions = 9;
	check(data_pages(p, 1), 9, "like the block before", 0);
	p->in.edges = NULL;
	check(data_pages(p, 1), 9, "without edges", 0);
	p->insns[0].executions = NAN;
	check(data_pages(p, 1), INFINITY, "of nobody knows what", 0);
	proc_drop(p);
}

/* Straight code, and how often the access at `offset` may miss for all that others say. */
static const struct {
	struct code body;
	uint8_t offset;
	double pages;
} near[] = {
	/* mov (%rsi),%rax; mov 8(%rsi),%rcx; and the other way round */
	{{{0x48, 0x8b, 0x06, 0x48, 0x8b, 0x4e, 0x08}, 7}, 0, INFINITY},
	{{{0x48, 0x8b, 0x06, 0x48, 0x8b, 0x4e, 0x08}, 7}, 3, 8 * PROC_EACH / PAGE},
	{{{0x48, 0x8b, 0x4e, 0x08, 0x48, 0x8b, 0x06}, 7}, 4, 8 * PROC_EACH / PAGE},
	/* 0x4000(%rsi) is more than a page away. */
	{{{0x48, 0x8b, 0x06, 0x48, 0x8b, 0x8e, 0x00, 0x40, 0x00, 0x00}, 10}, 3, PROC_EACH},
	/* mov (%rsi),%rax; mov 0x70(%rsi),%rcx; mov %rax,8(%rsi): the last one before it */
	{{{0x48, 0x8b, 0x06, 0x48, 0x8b, 0x4e, 0x70, 0x48, 0x89, 0x46, 0x08}, 11},
	 7,
	 0x68 * PROC_EACH / PAGE},
	/* mov (%rsi),%rax; mov (%rbx),%rcx; mov 8(%rsi),%rdx */
	{{{0x48, 0x8b, 0x06, 0x48, 0x8b, 0x0b, 0x48, 0x8b, 0x56, 0x08}, 10}, 3, INFINITY},
	{{{0x48, 0x8b, 0x06, 0x48, 0x8b, 0x0b, 0x48, 0x8b, 0x56, 0x08}, 10},
	 6,
	 8 * PROC_EACH / PAGE},
	/* mov (%rsi),%rax; inc %rsi; mov 8(%rsi),%rdx, and mov (%rsi),%rsi; mov 8(%rsi),%rdx */
	{{{0x48, 0x8b, 0x06, 0x48, 0xff, 0xc6, 0x48, 0x8b, 0x56, 0x08}, 10}, 6, INFINITY},
	{{{0x48, 0x8b, 0x36, 0x48, 0x8b, 0x56, 0x08}, 7}, 3, INFINITY},
	/* mov (%rsi),%rax; call; mov 8(%rsi),%rdx, and a system call */
	{{{0x48, 0x8b, 0x06, 0xe8, 0, 0x10, 0, 0, 0x48, 0x8b, 0x56, 0x08}, 12}, 8, INFINITY},
	{{{0x48, 0x8b, 0x06, 0x0f, 0x05, 0x48, 0x8b, 0x56, 0x08}, 9}, 5, INFINITY},
	/* mov (%rsi,%rbx,4),%rax, then 8 more, with another scale, and with the two exchanged */
	{{{0x48, 0x8b, 0x04, 0x9e, 0x48, 0x8b, 0x4c, 0x9e, 0x08}, 9}, 4, 8 * PROC_EACH / PAGE},
	{{{0x48, 0x8b, 0x04, 0x9e, 0x48, 0x8b, 0x4c, 0xde, 0x08}, 9}, 4, INFINITY},
	{{{0x48, 0x8b, 0x04, 0x1e, 0x48, 0x8b, 0x4c, 0x33, 0x08}, 9}, 4, INFINITY},
	/* mov (%rsi),%rax; mov %fs:8(%rsi),%rcx */
	{{{0x48, 0x8b, 0x06, 0x64, 0x48, 0x8b, 0x4e, 0x08}, 8}, 3, INFINITY},
	/* mov 0x100(%rip),%rax twice; mov 0x1000,%rax twice */
	{{{0x48, 0x8b, 0x05, 0, 1, 0, 0, 0x48, 0x8b, 0x05, 0, 1, 0, 0}, 14}, 7, INFINITY},
	{{{0x48, 0x8b, 0x04, 0x25, 0, 0x10, 0, 0, 0x48, 0x8b, 0x0c, 0x25, 0, 0x10, 0, 0}, 16},
	 8,
	 INFINITY},
	/* mov (%rsi),%rax; lods; and mov (%rsi),%rax; jmp to the next: in another block */
	{{{0x48, 0x8b, 0x06, 0xac}, 4}, 3, INFINITY},
	{{{0x48, 0x8b, 0x06, 0x74, 0x00, 0x48, 0x8b, 0x56, 0x08}, 9}, 5, INFINITY},
	/* lea (%rsi),%rax is no access, neither before another nor behind one. */
	{{{0x48, 0x8d, 0x06, 0x48, 0x8b, 0x56, 0x08}, 7}, 3, INFINITY},
	{{{0x48, 0x8b, 0x06, 0x48, 0x8d, 0x56, 0x08}, 7}, 3, INFINITY},
	/* The stack: mov 8(%rsp),%rax; push %rax; pop %rax; call; ret */
	{{{0x48, 0x8b, 0x44, 0x24, 0x08}, 5}, 0, 0},
	{{{0x50}, 1}, 0, 0},
	{{{0x58}, 1}, 0, 0},
	{{{0xe8, 0x00, 0x10, 0x00, 0x00}, 5}, 0, 0},
	{{{0x90}, 1}, 1, 0},
	/* mov 8(%rsp,%rbx),%rax; push (%rsi); lea 8(%rsp),%rax; mov 8(%rbp),%rax */
	{{{0x48, 0x8b, 0x44, 0x1c, 0x08}, 5}, 0, INFINITY},
	{{{0xff, 0x36}, 2}, 0, INFINITY},
	{{{0x48, 0x8d, 0x44, 0x24, 0x08}, 5}, 0, INFINITY},
	{{{0x48, 0x8b, 0x45, 0x08}, 4}, 0, INFINITY},
};

static void test_pages_of_neighbours(void **state)
{
	const struct code twice = {{0x48, 0x8b, 0x06, 0x48, 0x8b, 0x4e, 0x08}, 7};
	struct proc *p;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(near) / sizeof(near[0]); i++) {
		p = make_straight(&near[i].body);
		check(data_pages(p, near[i].offset), near[i].pages, "neighbours", i);
		proc_drop(p);
	}
	p = make_straight(&twice);
	p->insns[1].executions = 300;
	check(data_pages(p, 3), 8 * 300 / PAGE, "executed less", 0);
	p->insns[1].executions = NAN;
	check(data_pages(p, 3), INFINITY, "nobody knows how often", 0);
	proc_drop(p);
}

/*
 *  0: 90              nop
 *  1: 48 8b 06        mov (%rsi),%rax
 *  4: 85 c0           test %eax,%eax
 *  6: 74 04           je c
 *  8: 48 83 c6 40     add $64,%rsi
 *  c: 48 8b 0b        mov (%rbx),%rcx
 *  f: ff cf           dec %edi
 * 11: 75 ee           jne 1
 * 13: c3              ret
 */
static void test_pages_of_blocks(void **state)
{
	static const uint8_t code[] = {0x90, 0x48, 0x8b, 0x06, 0x85, 0xc0, 0x74, 0x04, 0x48, 0x83,
				       0xc6, 0x40, 0x48, 0x8b, 0x0b, 0xff, 0xcf, 0x75, 0xee, 0xc3};
	struct proc *p = proc_make("alpha21164", code, sizeof(code));
	double moved_on = ENTERED + 64 * 500 / PAGE;

	(void)state;
	p->in.code = code;
	p->in.code_size = sizeof(code);
	p->insns[proc_at(p, 8)].executions = 500;
	proc_set_edge(p, 0, 1, ENTERED);
	proc_set_edge(p, 0x11, 1, PROC_EACH - ENTERED);
	/* Each brings in pages that compete with the other's. */
	check(data_pages(p, 1), moved_on + ENTERED / 62, "moved", 0);
	check(data_pages(p, 0xc), ENTERED + moved_on / 62, "not moved", 0);
	proc_drop(p);
}

/* ---- regions of code ---- */

/*
 *  0: 90              nop
 *  1: 90 x 0x1f       nop              (the outer loop: 1 to 0x69)
 * 20: 90 x 0x3c       nop              (the inner loop: 20 to 0x60)
 * 5c: ff cf           dec %edi
 * 5e: 75 c0           jne 20
 * 60: 90 x 5          nop, or a call
 * 65: ff ce           dec %esi
 * 67: 75 98           jne 1
 * 69: c3              ret
 *
 * The outer one is in four lines of 32 bytes, the inner one in two of them; no blocks share one.
 */
static struct proc *make_nest(bool calls)
{
	static const uint8_t call[] = {0xe8, 0xf6, 0x0f, 0x00, 0x00};
	static const uint8_t inner[] = {0xff, 0xcf, 0x75, 0xc0}, outer[] = {0xff, 0xce, 0x75, 0x98};
	uint8_t code[0x6a];
	struct proc *p;

	memset(code, 0x90, sizeof(code));
	memcpy(code + 0x5c, inner, sizeof(inner));
	memcpy(code + 0x65, outer, sizeof(outer));
	if (calls)
		memcpy(code + 0x60, call, sizeof(call));
	code[0x69] = 0xc3;
	p = proc_make("alpha21164", code, sizeof(code));
	proc_set_edge(p, 0, 1, 3);
	proc_set_edge(p, 0x67, 1, 27);
	proc_set_edge(p, 1, 0x20, 30);
	proc_set_edge(p, 0x5e, 0x20, 970);
	return p;
}

/* How often control enters what the cache (TLB) can hold, by the block at an offset. */
static void check_entries(struct proc *p, uint64_t offset, double lines, double pages, unsigned row)
{
	struct vti_culprit c;
	uint32_t block;

	assert_int_equal(vti_culprit_init(&c, &p->in, &err), 0);
	block = c.block[proc_at(p, offset)];
	check(c.line_entries[block], lines, "lines", row);
	check(c.page_entries[block], pages, "pages", row);
	vti_culprit_fini(&c);
}

static void test_regions(void **state)
{
	/* Lines, ways; how often what is around the outer loop's blocks and the inner one is
	 * entered. */
	static const struct {
		uint8_t lines;
		uint8_t ways;
		double outer;
		double inner;
	} caches[] = {
		{4, 1, 3, 3},
		{4, 2, 3, 3},
		{4, 4, 3, 3},
		{2, 1, INFINITY, 30},
		{2, 2, INFINITY, 30},

		{1, 1, INFINITY, INFINITY},
		{0, 1, INFINITY, INFINITY},
	};
	static const struct {
		uint8_t entries;
		uint8_t ways;
		double outer;
		double inner;
	} tlbs[] = {
		{4, 4, 3, 3},

		{3, 3, INFINITY, 30},
		{2, 2, INFINITY, 30},

		{1, 1, INFINITY, INFINITY},
		{4, 2, INFINITY, 30},
		{4, 1, INFINITY, INFINITY},

		{0, 1, INFINITY, INFINITY},
	};
	struct proc *p = make_nest(false);
	unsigned i;

	(void)state;
	/* The outer loop is entered least; what is outside of it has none. */
	check_entries(p, 0, INFINITY, INFINITY, 0);
	check_entries(p, 1, 3, 3, 1);
	check_entries(p, 0x20, 3, 3, 2);
	check_entries(p, 0x60, 3, 3, 3);
	check_entries(p, 0x69, INFINITY, INFINITY, 4);
	for (i = 0; i < sizeof(caches) / sizeof(caches[0]); i++) {
		p->core.icache.size = caches[i].lines * 32U;
		p->core.icache.ways = caches[i].ways;
		check_entries(p, 0x60, caches[i].outer, 3, 100 + i);
		check_entries(p, 0x20, caches[i].inner, 3, 100 + i);
	}
	p->core.icache.size = 0;
	p->core.itlb.page = 32;
	for (i = 0; i < sizeof(tlbs) / sizeof(tlbs[0]); i++) {
		p->core.itlb.entries = tlbs[i].entries;
		p->core.itlb.ways = tlbs[i].ways;
		check_entries(p, 0x60, INFINITY, tlbs[i].outer, 200 + i);
		check_entries(p, 0x20, INFINITY, tlbs[i].inner, 200 + i);
	}
	proc_drop(p);
	/* What calls has none. */
	p = make_nest(true);
	check_entries(p, 1, INFINITY, INFINITY, 5);
	check_entries(p, 0x20, 30, 30, 6);
	check_entries(p, 0x65, INFINITY, INFINITY, 7);
	proc_drop(p);
}

/*
 *  0: 85 f6           test %esi,%esi
 *  2: 74 01           je 5
 *  4: 90              nop              (4 to 9)
 *  5: ff cf           dec %edi
 *  7: 75 fb           jne 4
 *  9: c3              ret
 */
static void test_two_ways_in(void **state)
{
	static const uint8_t code[] = {0x85, 0xf6, 0x74, 0x01, 0x90, 0xff, 0xcf, 0x75, 0xfb, 0xc3};
	struct proc *p = proc_make("alpha21164", code, sizeof(code));

	(void)state;
	proc_set_edge(p, 2, 4, 11);
	proc_set_edge(p, 2, 5, 6);
	proc_set_edge(p, 7, 4, 900);
	proc_set_edge(p, 4, 5, 911);
	/* Neither block is its head: nothing is said of it. */
	check_entries(p, 4, INFINITY, INFINITY, 0);
	check_entries(p, 5, INFINITY, INFINITY, 1);
	proc_drop(p);
}

/* ---- footprints ---- */

/* One that knows of a line (and page) of its own number, entered so often. */
static void enter(struct vt_footprint *f, uint64_t vaddr, double often)
{
	assert_int_equal(vt_footprint_enter(f, 0, vaddr, 1, often, often, &err), 0);
}

static double bound(const struct proc *p, vti_culprit_rule *rule, uint64_t offset)
{
	struct vti_suspect s = {.bound = INFINITY};
	struct vti_stalled st;
	struct vti_culprit c;

	assert_int_equal(vti_culprit_init(&c, &p->in, &err), 0);
	assert_true(vti_culprit_stalled(&c, proc_at(p, offset), &st));
	rule(&st, &s);
	vti_culprit_fini(&c);
	return s.bound;
}

/*
 * A line is missed once, and as often as others come into its set; an instruction misses that, and,
 * where it lies in two, both.  From memory a line takes 8 + 20 + 80 cycles, a translation 50.
 */
static void test_competition(void **state)
{
	/* 0: nop x 0x1e; 1e: lea 1(%rax),%rbx; 22: ret, and the same behind a call */
	static const uint8_t end[] = {0x48, 0x8d, 0x58, 0x01, 0xc3};
	static const uint8_t call[] = {0xe8, 0xe2, 0x0f, 0x00, 0x00};
	struct vt_footprint *f;
	uint8_t code[0x23];
	struct proc *p;

	(void)state;
	memset(code, 0x90, sizeof(code));
	memcpy(code + 0x19, call, sizeof(call));
	memcpy(code + 0x1e, end, sizeof(end));
	p = proc_make("alpha21164", code, sizeof(code));
	/* Pages as small as lines, of which one is remembered. */
	p->core.itlb.page = 32;
	p->core.itlb.entries = p->core.itlb.ways = 1;
	f = vt_footprint_new(&p->core);
	assert_non_null(f);
	enter(f, PROC_START, 40);
	enter(f, PROC_START + 0x20, 50);
	/* 8 KB further: the same sets. */
	enter(f, PROC_START + 8192, 30);
	enter(f, PROC_START + 8192 + 0x20, 20);
	assert_int_equal(vt_footprint_finish(f, &err), 0);
	p->in.footprint = f;
	check(bound(p, vti_rule_icache, 0), (1 + 30) * 108.0, "a line", 0);
	check(bound(p, vti_rule_icache, 0x1e), (1 + 30 + 1 + 20) * 108.0, "two lines", 0);
	check(bound(p, vti_rule_itlb, 0), 40 * 50.0, "a page", 0);
	check(bound(p, vti_rule_itlb, 0x1e), (40 + 50) * 50.0, "two pages", 0);
	vt_footprint_free(f);
	proc_drop(p);
}

/*
 *  0: 85 ff           test %edi,%edi
 *  2: 74 07           je b
 *  4: 90              nop
 *  5: e8 f6 0f 00 00  call 1000
 *  a: 90              nop
 *  b: 90 x 0x14       nop
 * 1f: eb 01           jmp 22
 * 21: c3              ret
 * 22: 85 f6           test %esi,%esi
 * 24: 74 fb           je 21
 * 26: ff e0           jmp *%rax
 */
static void test_entered(void **state)
{
	static const uint8_t start[] = {0x85, 0xff, 0x74, 0x07, 0x90, 0xe8, 0xf6, 0x0f, 0x00, 0x00};
	static const uint8_t end[] = {0xeb, 0x01, 0xc3, 0x85, 0xf6, 0x74, 0xfb, 0xc3};
	struct vt_footprint *f;
	uint8_t code[0x27];
	struct proc *p;

	(void)state;
	memset(code, 0x90, sizeof(code));
	memcpy(code, start, sizeof(start));
	memcpy(code + 0x1f, end, sizeof(end));
	p = proc_make("alpha21164", code, sizeof(code));
	p->in.code = code;
	p->in.code_size = sizeof(code);
	/* One set: whatever comes into the other line displaces this one. */
	p->core.icache.size = 32;
	proc_set_edge(p, 2, 4, 900);
	proc_set_edge(p, 2, 0xb, 100);
	p->insns[proc_at(p, 5)].executions = 890;
	p->insns[proc_at(p, 0x21)].executions = 0;
	proc_set_edge(p, 0x24, 0x21, 70);
	f = vt_footprint_new(&p->core);
	assert_non_null(f);
	assert_int_equal(vt_culprit_enter(&p->in, f, &err), 0);
	assert_int_equal(vt_footprint_finish(f, &err), 0);
	check(vt_footprint_called(f, 0, PROC_START + 0x1000), 890, "called", 0);
	check(vt_footprint_called(f, 0, PROC_START + 0x22), 0, "jumped to within", 0);
	check(vt_footprint_called(f, 0, PROC_START + 0xb), 0, "branched to", 0);
	/* On the way that is taken, wrong as often as the other one is, and thrice at first. */
	check(vt_footprint_mispredicted(f, PROC_START + 2, true), 900 + 3, "taken", 0);
	check(vt_footprint_mispredicted(f, PROC_START + 2, false), 100 + 3, "not taken", 0);
	/* What is not known of an edge is as often as the branch. */
	check(vt_footprint_mispredicted(f, PROC_START + 0x24, false), 70 + 3, "not taken", 1);
	check(vt_footprint_mispredicted(f, PROC_START + 0x24, true), PROC_EACH + 3, "taken", 1);
	check(vt_footprint_mispredicted(f, PROC_START + 0x1f, true), 3, "a jump", 2);
	/*
	 * The first line is entered from outside, as often as the procedure and after each call.
	 * The jump at its end comes into the second one, and counts as both: 1000 each time.
	 */
	check(vt_footprint_lines(f, 0, PROC_START + 0x20), 1 + 3 * PROC_EACH, "second", 0);
	check(vt_footprint_lines(f, 0, PROC_START), 1 + PROC_EACH, "first", 0);
	vt_footprint_free(f);
	proc_drop(p);
}

/*
 *  0: 0f 84 fa 0f 00 00  je 1000
 *  6: e8 f5 ff ff ff     call 0
 *  b: eb 00              jmp d
 *  d: ff d0              call *%rax
 *  f: e9 00 00 00 00     jmp 14
 */
static void test_called(void **state)
{
	static const uint8_t code[] = {0x0f, 0x84, 0xfa, 0x0f, 0,    0,	   0xe8, 0xf5, 0xff, 0xff,
				       0xff, 0xeb, 0,	 0xff, 0xd0, 0xe9, 0,	 0,    0,    0};
	struct proc *p = proc_make("alpha21164", code, sizeof(code));
	struct vt_footprint *f = vt_footprint_new(&p->core);

	(void)state;
	assert_non_null(f);
	p->in.code = code;
	p->in.code_size = sizeof(code);
	p->insns[proc_at(p, 6)].executions = 11;
	p->insns[proc_at(p, 0xf)].executions = 12;
	assert_int_equal(vt_culprit_enter(&p->in, f, &err), 0);
	assert_int_equal(vt_footprint_finish(f, &err), 0);
	check(vt_footprint_called(f, 0, PROC_START), 11, "itself", 0);
	check(vt_footprint_called(f, 0, PROC_START + 0xd), 0, "within", 0);
	check(vt_footprint_called(f, 0, PROC_START + 0x14), 12, "jumped to behind it", 0);
	check(vt_footprint_called(f, 0, PROC_START + 0x1000), 0, "on a condition", 0);
	/* What is not known to be executed is not entered. */
	p->insns[proc_at(p, 6)].executions = NAN;
	p->insns[proc_at(p, 0xf)].executions = 0.5;
	assert_int_equal(vt_culprit_enter(&p->in, f, &err), 0);
	check(vt_footprint_called(f, 0, PROC_START), 11, "itself", 1);
	check(vt_footprint_called(f, 0, PROC_START + 0x14), 12.5, "jumped to behind it", 1);
	vt_footprint_free(f);
	proc_drop(p);
}

/* ---- instructions in two lines, each of which takes 108 cycles from memory ---- */

/* 0: call 1000; 5: nop x 0x19; 1e: call 1000; 23: c3; and one whose return lies in two lines. */
static void test_two_lines(void **state)
{
	static const uint8_t call[] = {0xe8, 0xe2, 0x0f, 0x00, 0x00};
	static const uint8_t load[] = {0x48, 0x8d, 0x58, 0x01, 0xc3};
	uint8_t code[0x23];
	struct proc *p;

	(void)state;
	memset(code, 0x90, sizeof(code));
	memcpy(code + 0x19, call, sizeof(call));
	memcpy(code + 0x1e, load, sizeof(load));
	p = proc_make("alpha21164", code, sizeof(code));
	check(bound(p, vti_rule_icache, 0x1e), PROC_EACH * 2 * 108.0, "two lines", 1);
	proc_drop(p);
}

/* nop; 4: nop, lea over the end of a line, dec %edi; jne 4: both lines once, entered 7 times. */
static void test_loop_of_two_lines(void **state)
{
	static const uint8_t over[] = {0x48, 0x8d, 0x58, 0x01};
	static const uint8_t end[] = {0xff, 0xcf, 0x75, 0xd8, 0xc3};
	uint8_t code[0x2d];
	struct proc *p;

	(void)state;
	memset(code, 0x90, sizeof(code));
	memcpy(code + 0x1e, over, sizeof(over));
	memcpy(code + 0x28, end, sizeof(end));
	p = proc_make("alpha21164", code, sizeof(code));
	proc_set_edge(p, 0, 4, 7);
	proc_set_edge(p, 0x2a, 4, PROC_EACH);
	check(bound(p, vti_rule_icache, 0x1e), 2 * 7 * 108.0, "two lines", 2);
	check(bound(p, vti_rule_icache, 0x22), 0, "two lines", 3);
	proc_drop(p);
}

/* ---- samples ---- */

/* Samples of ITB misses that are counted from the first instruction on, each stands for 10. */
static void check_samples(struct proc *p, double samples)
{
	p->in.period[VT_CULPRIT_ITBMISS] = 10;
	check(bound(p, vti_rule_itlb, 0),
	      fmin(PROC_EACH, 10 * (samples + 2 * sqrt(samples) + 4)) * 50, "samples", 0);
}

/* Eight cycles are looked at, the instruction during which they end with them. */
static void test_cycles_behind(void **state)
{
	static const struct {
		double cycles[4];
		double samples;
	} rows[] = {
		{{4, 4, 4, 4}, 1 + 2 + 4},
		{{8, 0.5, 1, 1}, 1 + 2},
		{{9, 1, 1, 1}, 1 + 2},
		{{2, 2, 4, 1}, 1 + 2 + 4 + 8},
		{{3, 3, 2.5, 0}, 1 + 2 + 4},
		{{2, (double)NAN, 6, 0}, 1 + 2 + 4 + 8 + 16 + 32 + 64},
		{{2, -5, 6, 1}, 1 + 2 + 4 + 8},
	};
	static const uint8_t code[] = {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xc3};
	struct proc *p = proc_make("alpha21164", code, sizeof(code));
	unsigned i;
	uint32_t k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (k = 0; k < p->flow.cfg->ninsns; k++) {
			p->insns[k].samples[VT_CULPRIT_ITBMISS] = (float)(1 << k);
			p->insns[k].cycles = k < 4 ? rows[i].cycles[k] : 0;
		}
		check_samples(p, rows[i].samples);
	}
	proc_drop(p);
}

/* Twelve blocks are looked at, one that control comes back to once. */
static void test_blocks_behind(void **state)
{
	/* dec %edi; jne 0; jmp (next) 14 times; ret */
	uint8_t code[33] = {0xff, 0xcf, 0x75, 0xfc};
	struct proc *p;
	unsigned i, last;

	(void)state;
	for (i = 4; i < 32; i += 2)
		code[i] = 0xeb;
	code[32] = 0xc3;
	for (last = 0; last < 16; last++) {
		p = proc_make("alpha21164", code, sizeof(code));
		for (i = 0; i < p->flow.cfg->ninsns; i++)
			p->insns[i].cycles = 0;
		/* The loop is the first block, and of two instructions. */
		p->insns[last].samples[VT_CULPRIT_ITBMISS] = 9;
		check_samples(p, last <= 12 ? 9 : 0);
		/* Eight cycles in the loop leave none behind; more end it. */
		p->insns[1].cycles = 8;
		check_samples(p, last <= 12 ? 9 : 0);
		p->insns[2].cycles = 0.5;
		check_samples(p, last <= 2 ? 9 : 0);
		p->insns[1].cycles = 8.5;
		check_samples(p, last <= 1 ? 9 : 0);
		proc_drop(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages_of_loops),	cmocka_unit_test(test_room_for_pages),
		cmocka_unit_test(test_unknown_entries), cmocka_unit_test(test_pages_of_neighbours),
		cmocka_unit_test(test_regions),		cmocka_unit_test(test_two_ways_in),
		cmocka_unit_test(test_competition),	cmocka_unit_test(test_entered),
		cmocka_unit_test(test_pages_of_blocks), cmocka_unit_test(test_called),
		cmocka_unit_test(test_two_lines),	cmocka_unit_test(test_loop_of_two_lines),
		cmocka_unit_test(test_cycles_behind),	cmocka_unit_test(test_blocks_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
