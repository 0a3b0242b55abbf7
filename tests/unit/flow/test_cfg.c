/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "flow/cfg.h"
#include "machine/insn/insn.h"
#include "tests/unit/flow/compiled.h"

#define START 0x401000

static struct vt_error err;

static struct vt_cfg *graph(const uint8_t *code, size_t size)
{
	struct vt_cfg_source src = {.code = code, .size = size, .start = START};
	struct vt_cfg *g = vt_cfg_new(&src, &err);

	assert_non_null(g);
	return g;
}

/* The last block that has a vaddr in it, for blocks may overlap; or 0. */
static uint32_t block_at(const struct vt_cfg *g, uint64_t addr)
{
	uint32_t b, last = 0;

	for (b = VT_CFG_FIRST; b < g->nblocks; b++)
		if (addr >= g->blocks[b].start && addr < g->blocks[b].end)
			last = b;
	return last;
}

static uint32_t at(const struct vt_cfg *g, uint64_t offset)
{
	uint32_t b = block_at(g, START + offset);

	return b && g->blocks[b].start == START + offset ? b : 0;
}

static bool has(const struct vt_cfg *g, uint32_t from, uint32_t to, enum vt_cfg_edge_kind kind)
{
	uint32_t i;

	for (i = 0; i < g->blocks[from].nout; i++) {
		const struct vt_cfg_edge *e = &g->edges[g->blocks[from].out + i];

		assert_int_equal(e->from, from);
		if (e->to == to && e->kind == kind)
			return true;
	}
	return false;
}

/* What holds of any graph. */
static void check(const struct vt_cfg *g)
{
	uint32_t i, k, n = 0, in = 0, out = 0;

	for (i = VT_CFG_FIRST; i < g->nblocks; i++) {
		const struct vt_cfg_block *b = &g->blocks[i];

		assert_int_equal(b->insn, n);
		assert_true(b->ninsns > 0);
		n += b->ninsns;
		assert_int_equal(g->insns[b->insn].addr, b->start);
		assert_int_equal(g->insns[n - 1].addr + g->insns[n - 1].length, b->end);
		for (k = b->insn + 1; k < n; k++)
			assert_int_equal(g->insns[k].addr,
					 g->insns[k - 1].addr + g->insns[k - 1].length);
	}
	assert_int_equal(n, g->ninsns);
	for (i = 0; i < g->nblocks; i++) {
		in += g->blocks[i].nin;
		out += g->blocks[i].nout;
		for (k = 0; k < g->blocks[i].nin; k++)
			assert_int_equal(g->edges[g->in[g->blocks[i].in + k]].to, i);
	}
	assert_int_equal(in, g->nedges);
	assert_int_equal(out, g->nedges);
}

/* test %edi,%edi; je 1f; call *%rax; 1: ret */
static void test_branch(void **state)
{
	static const uint8_t code[] = {0x85, 0xff, 0x74, 0x02, 0xff, 0xd0, 0xc3};
	struct vt_cfg *g = graph(code, sizeof(code));

	(void)state;
	check(g);
	assert_true(g->complete);
	assert_int_equal(g->nblocks, VT_CFG_FIRST + 3);
	assert_int_equal(g->nedges, 5);
	assert_true(has(g, VT_CFG_ENTRY, at(g, 0), VT_EDGE_ENTRY));
	assert_true(has(g, at(g, 0), at(g, 4), VT_EDGE_FALL));
	assert_true(has(g, at(g, 0), at(g, 6), VT_EDGE_TAKEN));
	assert_true(has(g, at(g, 4), at(g, 6), VT_EDGE_FALL));
	assert_true(has(g, at(g, 6), VT_CFG_EXIT, VT_EDGE_EXIT));
	assert_int_equal(vt_cfg_insn_at(g, START + 4), 2);
	assert_int_equal(vt_cfg_insn_at(g, START + 5), UINT32_MAX);
	assert_int_equal(block_at(g, START + 7), 0);
	vt_cfg_free(g);
}

/* jmp out; nop; (landing pad:) xor %eax,%eax; jmp *%rax; hlt */
static void test_unreached(void **state)
{
	static const uint8_t code[] = {0xeb, 0x40, 0x90, 0x31, 0xc0, 0xff, 0xe0, 0xf4};
	struct vt_cfg *g = graph(code, sizeof(code));

	(void)state;
	check(g);
	assert_true(has(g, at(g, 0), VT_CFG_EXIT, VT_EDGE_EXIT));
	assert_true(has(g, VT_CFG_ENTRY, at(g, 3), VT_EDGE_ENTRY));
	assert_int_equal(block_at(g, START + 2), 0);
	vt_cfg_free(g);
}

/* cmpl $0,%fs:0x18; je 1f; lock; 1: cmpxchg %esi,(%rdi); ret: control may skip the prefix. */
static void test_overlap(void **state)
{
	static const uint8_t code[] = {0x64, 0x83, 0x3c, 0x25, 0x18, 0,	   0,	 0,
				       0,    0x74, 0x01, 0xf0, 0x0f, 0xb1, 0x37, 0xc3};
	struct vt_cfg *g = graph(code, sizeof(code));

	(void)state;
	check(g);
	assert_true(g->complete);
	assert_true(has(g, at(g, 0), at(g, 11), VT_EDGE_FALL));
	assert_true(has(g, at(g, 0), at(g, 12), VT_EDGE_TAKEN));
	assert_true(has(g, at(g, 11), at(g, 15), VT_EDGE_FALL));
	assert_true(has(g, at(g, 12), at(g, 15), VT_EDGE_FALL));
	vt_cfg_free(g);
}

/* The same where what follows the longer instruction is an entry, too. */
static void test_overlapped_entry(void **state)
{
	/* 0: je 3; 2: lock; 3: cmpxchg %esi,(%rdi); 6: ret */
	static const uint8_t code[] = {0x74, 0x01, 0xf0, 0x0f, 0xb1, 0x37, 0xc3};
	static const uint64_t entry = START + 6;
	const struct vt_cfg_source src = {code, sizeof(code), START, NULL, 0, &entry, 1};
	struct vt_cfg *g = vt_cfg_new(&src, &err);

	(void)state;
	assert_non_null(g);
	check(g);
	assert_int_equal(g->nblocks, VT_CFG_FIRST + 4);
	assert_true(has(g, VT_CFG_ENTRY, at(g, 0), VT_EDGE_ENTRY));
	assert_true(has(g, VT_CFG_ENTRY, at(g, 6), VT_EDGE_ENTRY));
	assert_false(has(g, VT_CFG_ENTRY, at(g, 3), VT_EDGE_ENTRY));
	assert_true(has(g, at(g, 2), at(g, 6), VT_EDGE_FALL));
	assert_true(has(g, at(g, 3), at(g, 6), VT_EDGE_FALL));
	vt_cfg_free(g);
}

/* Back to the first instruction, by a jump. */
static void test_first(void **state)
{
	static const uint8_t code[] = {0x90, 0xeb, 0xfd};
	struct vt_cfg *g = graph(code, sizeof(code));

	(void)state;
	check(g);
	assert_int_equal(g->nblocks, VT_CFG_FIRST + 1);
	assert_true(has(g, at(g, 0), at(g, 0), VT_EDGE_TAKEN));
	assert_int_equal(g->nedges, 2);
	assert_int_equal(block_at(g, START - 1), 0);
	assert_int_equal(vt_cfg_insn_at(g, START - 1), UINT32_MAX);
	assert_int_equal(vt_cfg_insn_at(g, START), 0);
	assert_int_equal(vt_cfg_insn_at(g, START + 1), 1);
	assert_int_equal(vt_cfg_insn_at(g, START + 2), UINT32_MAX);
	vt_cfg_free(g);
}

/* A jump that is all of a gap is one out of a procedure there, if one may start there. */
static void test_jump_in_gap(void **state)
{
	size_t offset;

	(void)state;
	for (offset = 8; offset <= 16; offset += 8) {
		uint8_t code[18];
		struct vt_cfg *g;

		memset(code, 0xcc, sizeof(code));
		code[0] = 0xc3;
		code[offset] = 0xff; /* jmp *%rax */
		code[offset + 1] = 0xe0;
		g = graph(code, offset + 2);
		check(g);
		assert_int_equal(g->nblocks, VT_CFG_FIRST + 2);
		assert_true(has(g, VT_CFG_ENTRY, at(g, offset), VT_EDGE_ENTRY));
		assert_true(has(g, at(g, offset), VT_CFG_EXIT, VT_EDGE_EXIT));
		assert_int_equal(g->complete, offset == 16);
		assert_int_equal(g->blocks[at(g, offset)].incomplete, offset == 8);
		vt_cfg_free(g);
	}
}

/* Control runs into bytes that are no instruction. */
static void test_bad(void **state)
{
	static const uint8_t code[] = {0x90, 0x06, 0xc3};
	struct vt_cfg *g = graph(code, sizeof(code));

	(void)state;
	check(g);
	assert_false(g->complete);
	vt_cfg_free(g);
	g = graph(code, 0);
	check(g);
	assert_int_equal(g->nblocks, VT_CFG_FIRST);
	vt_cfg_free(g);
}

/* Padding behind a return, and code behind it that only others know of: `mov $1,%al; ret`. */
static void test_padding(void **state)
{
	static const struct {
		uint8_t size, bytes[12];
		uint8_t at; /* where code is found behind the return at 0; 0: none */
	} gaps[] = {
		{0, {0}, 1},
		{1, {0xcc}, 2},
		{1, {0x00}, 2},
		{1, {0x90}, 2},
		{3, {0xcc, 0xcc, 0xcc}, 4},
		{3, {0x00, 0x90, 0xcc}, 4},
		{2, {0x66, 0x90}, 3},			      /* xchg %ax,%ax */
		{4, {0x0f, 0x1f, 0x40, 0x00}, 5},	      /* nopl 0(%rax) */
		{6, {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00}, 7}, /* nopw 0(%rax,%rax,1) */
		{4, {0xf3, 0x0f, 0x1e, 0xfa}, 1},	      /* endbr64 */
		{2, {0x87, 0xdb}, 1},			      /* xchg %ebx,%ebx */
		{1, {0xf4}, 1},				      /* hlt, and nothing leads on */
		{1, {0x06}, 0},				      /* no instruction */
		{2, {0xcc, 0x06}, 0},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
		static const uint8_t more[] = {0xb0, 0x01, 0xc3};
		uint8_t code[24] = {0xc3};
		struct vt_cfg *g;
		uint32_t b;

		memcpy(code + 1, gaps[i].bytes, gaps[i].size);
		memcpy(code + 1 + gaps[i].size, more, sizeof(more));
		g = graph(code, 1 + gaps[i].size + sizeof(more));
		check(g);
		for (b = 1; b < gaps[i].at; b++)
			assert_int_equal(block_at(g, START + b), 0);
		if (gaps[i].at && !has(g, VT_CFG_ENTRY, at(g, gaps[i].at), VT_EDGE_ENTRY))
			fail_msg("gap %zu", i);
		if (!gaps[i].at)
			assert_int_equal(g->nblocks, VT_CFG_FIRST + 1);
		vt_cfg_free(g);
	}
}

/* What lies in a gap is code if whole instructions reach what is known, or go no further. */
static void test_gaps(void **state)
{
	/* ret; the gap; at the end a place that is known: ret */
	static const struct {
		uint8_t size, bytes[8];
		bool found;
	} gaps[] = {
		{2, {0xb0, 0x01}, true},	/* mov $1,%al, and on to what is known */
		{3, {0xb0, 0x01, 0xb0}, false}, /* mov that reaches into it */
		{2, {0xeb, 0x00}, true},	/* jmp there */
		{1, {0xeb}, false},		/* a jmp whose last byte is what is known */
		{1, {0xc3}, true},
		{3, {0x74, 0x01, 0x50}, true},	/* je, push %rax */
		{3, {0x74, 0x01, 0xe9}, false}, /* je, half a jmp */
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(gaps) / sizeof(gaps[0]); i++) {
		uint8_t code[16] = {0xc3};
		uint64_t known = START + 1 + gaps[i].size;
		struct vt_cfg_source src = {.code = code,
					    .size = 2 + (size_t)gaps[i].size,
					    .start = START,
					    .entries = &known,
					    .nentries = 1};
		struct vt_cfg *g;

		memcpy(code + 1, gaps[i].bytes, gaps[i].size);
		code[1 + gaps[i].size] = 0xc3;
		g = vt_cfg_new(&src, &err);
		assert_non_null(g);
		check(g);
		assert_true(has(g, VT_CFG_ENTRY, at(g, 0), VT_EDGE_ENTRY));
		assert_true(has(g, VT_CFG_ENTRY, at(g, 1 + gaps[i].size), VT_EDGE_ENTRY));
		if ((at(g, 1) != 0) != gaps[i].found)
			fail_msg("gap %zu", i);
		assert_true(g->complete);
		vt_cfg_free(g);
	}
}

/* Entries elsewhere than in the procedure are none of its. */
static void test_entries(void **state)
{
	/* nop; nop; ret */
	static const uint8_t code[] = {0x90, 0x90, 0xc3};
	static const uint64_t entries[] = {START - 1, START + 1, START + 3, 0, UINT64_MAX};
	const struct vt_cfg_source src = {code, sizeof(code), START, NULL, 0, entries, 5};
	struct vt_cfg *g = vt_cfg_new(&src, &err);

	(void)state;
	assert_non_null(g);
	check(g);
	assert_int_equal(g->nblocks, VT_CFG_FIRST + 2);
	assert_int_equal(g->nedges, 4);
	assert_true(has(g, VT_CFG_ENTRY, at(g, 0), VT_EDGE_ENTRY));
	assert_true(has(g, VT_CFG_ENTRY, at(g, 1), VT_EDGE_ENTRY));
	assert_true(has(g, at(g, 0), at(g, 1), VT_EDGE_FALL));
	assert_int_equal(vt_cfg_insn_at(g, START + 2), 2);
	vt_cfg_free(g);
}

/* Calls and branches in the procedure: a part that is called is an entry, and control comes back.
 */
static void test_parts(void **state)
{
	/* 0: call 7; 5: jmp 9; 7: nop; 8: ret; 9: loop 9; 11: ret */
	static const uint8_t code[] = {0xe8, 2, 0, 0, 0, 0xeb, 2, 0x90, 0xc3, 0xe2, 0xfe, 0xc3};
	struct vt_cfg *g = graph(code, sizeof(code));

	(void)state;
	check(g);
	assert_true(g->complete);
	assert_int_equal(g->nblocks, VT_CFG_FIRST + 4);
	assert_int_equal(g->nedges, 7);
	assert_true(has(g, VT_CFG_ENTRY, at(g, 0), VT_EDGE_ENTRY));
	assert_true(has(g, VT_CFG_ENTRY, at(g, 7), VT_EDGE_ENTRY));
	assert_true(has(g, at(g, 0), at(g, 9), VT_EDGE_TAKEN));
	assert_true(has(g, at(g, 7), VT_CFG_EXIT, VT_EDGE_EXIT));
	assert_true(has(g, at(g, 9), at(g, 9), VT_EDGE_TAKEN));
	assert_true(has(g, at(g, 9), at(g, 11), VT_EDGE_FALL));
	assert_true(has(g, at(g, 11), VT_CFG_EXIT, VT_EDGE_EXIT));
	vt_cfg_free(g);
}

/* The longest code that is taken for a procedure. */
static void test_size(void **state)
{
	size_t most = (size_t)16 << 20;
	uint8_t *code = calloc(most + 1, 1);
	struct vt_cfg_source src = {.code = code, .size = most, .start = START};
	struct vt_cfg *g;

	(void)state;
	assert_non_null(code);
	code[0] = 0xc3;
	g = vt_cfg_new(&src, &err);
	assert_non_null(g);
	assert_int_equal(g->nblocks, VT_CFG_FIRST + 1);
	vt_cfg_free(g);
	src.size++;
	assert_null(vt_cfg_new(&src, &err));
	assert_int_equal(err.code, VT_E_LIMIT);
	free(code);
}

/* Jumps of which each is known only when the one before is: searched for 64 times, the last of
 * which finds no more. */
static void test_chain(void **state)
{
	static const uint8_t link[9] = {0x48, 0x8d, 0x05, 2, 0, 0, 0, 0xff, 0xe0};
	uint8_t code[64 * sizeof(link) + 1];
	size_t n, i;

	(void)state;
	for (n = 63; n <= 64; n++) {
		struct vt_cfg *g;

		for (i = 0; i < n; i++) /* lea 2(%rip),%rax; jmp *%rax */
			memcpy(code + i * sizeof(link), link, sizeof(link));
		code[n * sizeof(link)] = 0xc3;
		g = graph(code, n * sizeof(link) + 1);
		assert_int_equal(g->complete, n == 63);
		assert_int_equal(g->nblocks, VT_CFG_FIRST + n + 1);
		vt_cfg_free(g);
	}
}

/* Whatever the bytes are, there is a graph of them. */
static void test_random(void **state)
{
	/* Starts of instructions that go somewhere, and what makes addresses of tables. */
	static const uint8_t favours[] = {0x74, 0xeb, 0xe9, 0xe8, 0xff, 0xe0, 0x24, 0xc3,
					  0x0f, 0x48, 0x8d, 0x63, 0x83, 0x77, 0x5d, 0x55};
	uint8_t code[300];
	struct vt_rng rng;
	uint32_t round, i;

	(void)state;
	vt_rng_init(&rng, 3);
	for (round = 0; round < 2000; round++) {
		size_t size = vt_rng_below(&rng, sizeof(code)) + 1;
		struct vt_cfg *g;

		for (i = 0; i < size; i++)
			code[i] = vt_rng_below(&rng, 2)
					  ? (uint8_t)vt_rng_next(&rng)
					  : favours[vt_rng_below(&rng, sizeof(favours))];
		g = graph(code, size);
		check(g);
		vt_cfg_free(g);
	}
}

/* ---- compiled code ---- */

static struct vt_cfg *graph_of(struct compiled *p, const char *name)
{
	struct vt_cfg *g = compiled_graph(p, name);

	check(g);
	return g;
}

static uint32_t count(const struct vt_cfg *g, enum vt_cfg_edge_kind kind)
{
	uint32_t i, n = 0;

	for (i = 0; i < g->nedges; i++)
		n += g->edges[i].kind == kind;
	return n;
}

/* How many procedures are called, from blocks that an indirect jump leads to. */
static uint32_t called_by_switch(const struct vt_cfg *g)
{
	uint32_t i, k, n = 0;

	for (i = VT_CFG_FIRST; i < g->nblocks; i++) {
		bool led = false, calls = false;

		for (k = 0; k < g->blocks[i].nin; k++)
			led |= g->edges[g->in[g->blocks[i].in + k]].kind == VT_EDGE_SWITCH;
		for (k = 0; k < g->blocks[i].ninsns; k++)
			calls |= (g->insns[g->blocks[i].insn + k].flags & VT_FACT_CALL) != 0;
		n += led && calls;
	}
	return n;
}

/* Nine cases, each a call; the second switch hoists its table out of a loop, or spills it. */
static const char switches[] =
	"#include <stdio.h>\n"
	"int one(int x)\n"
	"{\n"
	"	switch (x) {\n"
	"	case 20: return puts(\"a\") + 1;\n"
	"	case 21: return puts(\"b\") + 4;\n"
	"	case 22: return puts(\"c\") + 9;\n"
	"	case 23: return puts(\"d\") + 16;\n"
	"	case 24: return puts(\"e\") + 25;\n"
	"	case 25: return puts(\"f\") + 36;\n"
	"	case 26: return puts(\"g\") + 49;\n"
	"	case 27: return puts(\"h\") + 64;\n"
	"	case 28: return puts(\"i\") + 81;\n"
	"	}\n"
	"	return 0;\n"
	"}\n"
	"int all(const char *s)\n"
	"{\n"
	"	int n = 0;\n"
	"	for (; *s; s++) {\n"
	"		switch (*s) {\n"
	"		case 'a': n += puts(\"a\") + 1; break;\n"
	"		case 'b': n -= puts(\"b\") * 4; break;\n"
	"		case 'c': n *= puts(\"c\") - 9; break;\n"
	"		case 'd': n ^= puts(\"d\") + 16; break;\n"
	"		case 'e': n |= puts(\"e\") + 25; break;\n"
	"		case 'f': n += puts(\"f\") * 36; break;\n"
	"		case 'g': n -= puts(\"g\") + 49; break;\n"
	"		case 'h': n *= puts(\"h\") + 64; break;\n"
	"		case 'i': n ^= puts(\"i\") * 81; break;\n"
	"		default: n++;\n"
	"		}\n"
	"		n += puts(s);\n"
	"	}\n"
	"	return n;\n"
	"}\n"
	"int main(int argc, char **argv) { return one(argc) + all(argv[0]); }\n";

static void test_switch(void **state)
{
	static const char *const options[] = {
		"-O0 -fPIE -pie",	"-O1 -fPIE -pie",	"-O2 -fPIE -pie",
		"-O3 -fPIE -pie",	"-Os -fPIE -pie",	"-O0 -fno-pie -no-pie",
		"-O2 -fno-pie -no-pie", "-O3 -fno-pie -no-pie", "-O2 -fPIE -pie -fcf-protection",
	};
	struct compiled p;
	struct vt_cfg *g;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		compiled_make(&p, options[i], switches);
		g = graph_of(&p, "one");
		assert_true(g->complete);
		assert_int_equal(called_by_switch(g), 9);
		vt_cfg_free(g);
		g = graph_of(&p, "all");
		assert_true(g->complete);
		assert_int_equal(called_by_switch(g), 9);
		vt_cfg_free(g);
		compiled_free(&p);
	}
}

/* An interpreter by computed goto, whose index is any byte. */
static void test_goto(void **state)
{
	struct compiled p;
	struct vt_cfg *g;
	uint32_t i, n = 0;

	(void)state;
	compiled_make(
		&p, "-O2 -fno-pie -no-pie",
		"#include <stdio.h>\n"
		"int run(const unsigned char *s)\n"
		"{\n"
		"	static const void *const ops[4] = {&&end, &&more, &&less, &&tell};\n"
		"	int n = 0;\n"
		"	goto *ops[*s++];\n"
		"more:	n++; goto *ops[*s++];\n"
		"less:	n--; goto *ops[*s++];\n"
		"tell:	printf(\"%d\", n); goto *ops[*s++];\n"
		"end:	return n;\n"
		"}\n"
		"int main(int argc, char **argv) { return argc + run((unsigned char *)argv[0]); "
		"}\n");
	g = graph_of(&p, "run");
	for (i = VT_CFG_FIRST; i < g->nblocks; i++) {
		const struct vt_cfg_insn *last =
			&g->insns[g->blocks[i].insn + g->blocks[i].ninsns - 1];

		if (!(last->flags & VT_FACT_INDIRECT) || !(last->flags & VT_FACT_JUMP))
			continue;
		n++;
		assert_true(g->blocks[i].nout >= 4);
	}
	assert_true(n >= 1);
	vt_cfg_free(g);
	compiled_free(&p);
}

/* Calls that do not return: by name, and because what is called calls such. */
static void test_noreturn(void **state)
{
	struct compiled p;
	struct vt_cfg *g;

	(void)state;
	compiled_make(&p, "-O2 -fno-reorder-blocks-and-partition",
		      "#include <stdio.h>\n#include <stdlib.h>\n"
		      "__attribute__((noinline)) void stop(int x) { printf(\"%d\", x); exit(x); }\n"
		      "__attribute__((noinline)) int twice(int x)\n"
		      "{ if (x < 0) stop(x); if (x > 99) abort(); return puts(\"x\") + 2 * x; }\n"
		      "int main(int argc, char **argv) { (void)argv; return twice(argc); }\n");
	g = graph_of(&p, "stop");
	assert_true(g->complete);
	assert_int_equal(g->nblocks, VT_CFG_FIRST + 1);
	assert_int_equal(count(g, VT_EDGE_EXIT), 1);
	vt_cfg_free(g);
	g = graph_of(&p, "twice");
	assert_true(g->complete);
	assert_int_equal(count(g, VT_EDGE_EXIT), 3);
	assert_int_equal(count(g, VT_EDGE_ENTRY), 1);
	vt_cfg_free(g);
	compiled_free(&p);
}

/* Parts that the compiler moves away jump back into the middle. */
static void test_cold(void **state)
{
	struct compiled p;
	struct vt_cfg *g;

	(void)state;
	compiled_make(
		&p, "-O2",
		"#include <stdio.h>\n"
		"__attribute__((cold, noinline)) int rare(int x) { return puts(\"r\") + x; }\n"
		"__attribute__((noinline)) int often(int x)\n"
		"{\n"
		"	int n = puts(\"o\");\n"
		"	if (x > 5) n += rare(n) * puts(\"x\");\n"
		"	return puts(\"p\") * n + putchar(n);\n"
		"}\n"
		"int main(int argc, char **argv) { (void)argv; return often(argc); }\n");
	g = graph_of(&p, "often");
	assert_true(g->complete);
	assert_int_equal(count(g, VT_EDGE_ENTRY), 2);
	vt_cfg_free(g);
	g = graph_of(&p, "often.cold");
	assert_true(g->complete);
	assert_int_equal(count(g, VT_EDGE_EXIT), 1);
	vt_cfg_free(g);
	compiled_free(&p);
}

/* A jump through a pointer with the stack as it was is a call whose return is the caller's. */
static void test_tail_call(void **state)
{
	struct compiled p;
	struct vt_cfg *g;

	(void)state;
	compiled_make(&p, "-O2",
		      "#include <stdio.h>\n"
		      "struct s { int (*f)(int); int n; };\n"
		      "__attribute__((noinline)) int call(struct s *s, int x)\n"
		      "{ int n = puts(\"c\"); if (n < x) return n; return s->f(n + s->n); }\n"
		      "int main(int argc, char **argv)\n"
		      "{ struct s s = {putchar, argc}; return call(&s, **argv); }\n");
	g = graph_of(&p, "call");
	assert_true(g->complete);
	assert_int_equal(count(g, VT_EDGE_SWITCH), 0);
	assert_int_equal(count(g, VT_EDGE_EXIT), 2);
	vt_cfg_free(g);
	compiled_free(&p);
}

/* Each piece of code that nothing reaches is found without looking at all the rest again. */
static void many_pieces(void **state)
{
	static uint8_t code[1 << 20];
	struct vt_cfg *g;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(code); i++)
		code[i] = i % 4 == 3 ? 0xc3 : 0x50; /* push %rax, ret */
	g = graph(code, sizeof(code));
	assert_true(g->complete);
	assert_int_equal(g->nblocks, VT_CFG_FIRST + sizeof(code) / 4);
	assert_int_equal(g->ninsns, sizeof(code));
	vt_cfg_free(g);
}

/* Data that looks like code full of jumps is given up at some time. */
static void many_jumps(void **state)
{
	static const uint8_t jump[6] = {0x48, 0x83, 0xc0, 1, 0xff, 0xe0}; /* add, jmp *%rax */
	static uint8_t code[12000];
	struct vt_rng rng;
	struct vt_cfg *g;
	size_t i;

	(void)state;
	vt_rng_init(&rng, 3);
	for (i = 0; i + 6 <= sizeof(code); i += 6) {
		uint64_t target = vt_rng_below(&rng, sizeof(code) / 6) * 6 - i - 6;

		memcpy(code + i, jump, sizeof(jump));
		if (vt_rng_below(&rng, 10) == 0)
			continue;
		code[i] = 0x0f; /* a conditional branch */
		code[i + 1] = (uint8_t)(0x80 + vt_rng_below(&rng, 16));
		vt_put_le32(code + i + 2, (uint32_t)target);
	}
	g = graph(code, sizeof(code));
	assert_false(g->complete);
	vt_cfg_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_branch),
		cmocka_unit_test(test_unreached),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_goto),
		cmocka_unit_test(test_noreturn),
		cmocka_unit_test(test_cold),
		cmocka_unit_test(test_tail_call),
		cmocka_unit_test(test_padding),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_overlapped_entry),
		cmocka_unit_test(test_first),
		cmocka_unit_test(test_jump_in_gap),
		cmocka_unit_test(many_pieces),
		cmocka_unit_test(many_jumps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
