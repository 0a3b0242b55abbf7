/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "flow/cfg.h"
#include "machine/insn.h"

#define START 0x401000

static struct vt_error err;

static struct vt_cfg *graph(const uint8_t *code, size_t size)
{
	struct vt_cfg_source src = {.code = code, .size = size, .start = START};
	struct vt_cfg *g = vt_cfg_new(&src, &err);

	assert_non_null(g);
	return g;
}

static uint32_t at(const struct vt_cfg *g, uint64_t offset)
{
	uint32_t b = vt_cfg_block_at(g, START + offset);

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
	assert_int_equal(vt_cfg_block_at(g, START + 7), 0);
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
	assert_int_equal(vt_cfg_block_at(g, START + 2), 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_branch),
		cmocka_unit_test(test_unreached),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
