/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the analysis of conflicts keeps of an instruction; and the processors that it knows. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "conflict/conflict.h"

#define R(reg) (UINT64_C(1) << VT_REG_##reg)
#define XMM(n) (UINT64_C(1) << (VT_REG_VECTOR + (n)))
#define ANY    UINT64_MAX /* not looked at */

/* The direction flag counts as one of FLAGS; that cmov keeps its old value, `replaced` tells. */
/* clang-format off */
static const struct {
	const char *text;
	uint8_t bytes[12];
	bool slow, barrier, repeated;
	uint64_t loads, stores, reads, results, updates, replaced;
} insns[] = {
	{"mov 8(%rsi,%rdi,2),%rax", {0x48, 0x8b, 0x44, 0x7e, 0x08}, false, false, false,
	 R(SI) | R(DI), 0, R(SI) | R(DI), R(AX), 0, R(AX)},
	{"mov %rax,8(%rsi,%rdi,2)", {0x48, 0x89, 0x44, 0x7e, 0x08}, false, false, false,
	 0, R(SI) | R(DI), R(AX) | R(SI) | R(DI), 0, 0, 0},
	{"add %rax,(%rsi)", {0x48, 0x01, 0x06}, false, false, false,
	 R(SI), R(SI), R(AX) | R(SI), R(FLAGS), 0, R(FLAGS)},
	{"mov %fs:(%rax),%ecx", {0x64, 0x8b, 0x08}, false, false, false,
	 R(FS) | R(AX), 0, R(FS) | R(AX), R(CX), 0, R(CX)},
	{"mov 0x10(%rip),%ecx", {0x8b, 0x0d, 0x10, 0x00, 0x00, 0x00}, false, false, false,
	 0, 0, 0, R(CX), 0, R(CX)},
	{"mov %cl,%al", {0x88, 0xc8}, false, false, false,
	 0, 0, R(CX), R(AX), 0, 0},
	{"mov %cx,%ax", {0x66, 0x89, 0xc8}, false, false, false,
	 0, 0, R(CX), R(AX), 0, 0},
	{"mov %ecx,%eax", {0x89, 0xc8}, false, false, false,
	 0, 0, R(CX), R(AX), 0, R(AX)},
	{"push %rax", {0x50}, false, false, false,
	 0, R(SP), R(AX) | R(SP), 0, R(SP), 0},
	{"pop %rax", {0x58}, false, false, false,
	 R(SP), 0, R(SP), R(AX), R(SP), R(AX)},
	{"leave", {0xc9}, false, false, false,
	 R(BP), 0, R(BP) | R(SP), R(BP), R(SP), R(BP)},
	{"xor %eax,%eax", {0x31, 0xc0}, false, false, false,
	 0, 0, 0, R(AX) | R(FLAGS), 0, R(AX) | R(FLAGS)},
	{"xor %ax,%ax", {0x66, 0x31, 0xc0}, false, false, false,
	 0, 0, R(AX), R(AX) | R(FLAGS), 0, R(FLAGS)},
	{"sub %rax,%rax", {0x48, 0x29, 0xc0}, false, false, false,
	 0, 0, 0, R(AX) | R(FLAGS), 0, R(AX) | R(FLAGS)},
	{"xor %ecx,%eax", {0x31, 0xc8}, false, false, false,
	 0, 0, R(AX) | R(CX), R(AX) | R(FLAGS), 0, R(AX) | R(FLAGS)},
	{"xor $1,%eax", {0x83, 0xf0, 0x01}, false, false, false,
	 0, 0, R(AX), R(AX) | R(FLAGS), 0, R(AX) | R(FLAGS)},
	{"and %eax,%eax", {0x21, 0xc0}, false, false, false,
	 0, 0, R(AX), R(AX) | R(FLAGS), 0, R(AX) | R(FLAGS)},
	{"xor (%rax),%eax", {0x33, 0x00}, false, false, false,
	 R(AX), 0, R(AX), R(AX) | R(FLAGS), 0, R(AX) | R(FLAGS)},
	{"pxor %xmm1,%xmm1", {0x66, 0x0f, 0xef, 0xc9}, false, false, false,
	 0, 0, 0, XMM(1), 0, XMM(1)},
	{"vpxor %xmm1,%xmm1,%xmm2", {0xc5, 0xf1, 0xef, 0xd1}, false, false, false,
	 0, 0, 0, XMM(2), 0, XMM(2)},
	{"xorps %xmm1,%xmm1", {0x0f, 0x57, 0xc9}, false, false, false,
	 0, 0, 0, XMM(1), 0, XMM(1)},
	{"pxor %xmm1,%xmm2", {0x66, 0x0f, 0xef, 0xd1}, false, false, false,
	 0, 0, XMM(1) | XMM(2), XMM(2), 0, XMM(2)},
	{"cmove %ecx,%eax", {0x0f, 0x44, 0xc1}, false, false, false,
	 0, 0, R(CX) | R(FLAGS), R(AX), 0, 0},
	{"movsb", {0xa4}, false, false, false,
	 R(SI), R(DI), R(SI) | R(DI) | R(FLAGS), 0, R(SI) | R(DI), 0},
	{"rep movsb", {0xf3, 0xa4}, false, false, true,
	 R(SI), R(DI), R(SI) | R(DI) | R(CX) | R(FLAGS), 0, R(SI) | R(DI) | R(CX), 0},
	{"lodsq", {0x48, 0xad}, false, false, false,
	 R(SI), 0, R(SI) | R(FLAGS), R(AX), R(SI), R(AX)},
	{"rep stosb", {0xf3, 0xaa}, false, false, true,
	 0, R(DI), R(AX) | R(DI) | R(CX) | R(FLAGS), 0, R(DI) | R(CX), 0},
	{"div %ecx", {0xf7, 0xf1}, true, false, false,
	 0, 0, R(AX) | R(CX) | R(DX), R(AX) | R(DX) | R(FLAGS), 0, R(AX) | R(DX) | R(FLAGS)},
	{"mfence", {0x0f, 0xae, 0xf0}, false, true, false,
	 0, 0, 0, 0, 0, 0},
	{"lock; incl (%rax)", {0xf0, 0xff, 0x00}, false, true, false,
	 R(AX), R(AX), R(AX), R(FLAGS), 0, R(FLAGS)},
	{"xchg %eax,(%rcx)", {0x87, 0x01}, false, true, false,
	 R(CX), R(CX), R(AX) | R(CX), R(AX), 0, R(AX)},
	{"cpuid", {0x0f, 0xa2}, false, true, false,
	 0, 0, R(AX) | R(CX), R(AX) | R(BX) | R(CX) | R(DX), 0, R(AX) | R(BX) | R(CX) | R(DX)},
	{"syscall", {0x0f, 0x05}, false, true, false,
	 0, 0, ANY, ANY, ANY, ANY},
	{"iretq", {0x48, 0xcf}, false, true, false,
	 ANY, ANY, ANY, ANY, ANY, ANY},
	{"rsm", {0x0f, 0xaa}, false, true, false,
	 ANY, ANY, ANY, ANY, ANY, ANY},
	{"serialize", {0x0f, 0x01, 0xe8}, false, true, false,
	 0, 0, 0, 0, 0, 0},
	{"lfence", {0x0f, 0xae, 0xe8}, false, false, false,
	 0, 0, 0, 0, 0, 0},
};
/* clang-format on */

static void check(const char *text, const char *what, uint64_t got, uint64_t want)
{
	if (want != ANY && got != want)
		fail_msg("%s: %s: %#" PRIx64 ", not %#" PRIx64, text, what, got, want);
}

static void test_instructions(void **state)
{
	struct vt_conflict_code c;
	struct vt_facts f;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(insns) / sizeof(insns[0]); i++) {
		const char *text = insns[i].text;

		assert_true(vt_facts_decode(insns[i].bytes, sizeof(insns[i].bytes), &f));
		vt_conflict_code_make(&c, &f);
		check(text, "slow", c.slow, insns[i].slow);
		check(text, "barrier", c.barrier, insns[i].barrier);
		check(text, "repeated", c.repeated, insns[i].repeated);
		check(text, "loads", c.loads, insns[i].loads);
		check(text, "stores", c.stores, insns[i].stores);
		check(text, "reads", c.reads, insns[i].reads);
		check(text, "results", c.results, insns[i].results);
		check(text, "updates", c.updates, insns[i].updates);
		check(text, "replaced", c.replaced, insns[i].replaced);
	}
}

#define T(type) (1u << VT_CONFLICT_##type)

/* As conflict.h tells where they come from. */
static void test_models(void **state)
{
	static const struct vt_conflict_model models[] = {
		{"generic", T(FORWARD) | T(ALIAS_4K) | T(ORDER), 224, 56, 0, 0, true, true, 32768,
		 8, 64},
		{"skylake", T(FORWARD) | T(ALIAS_4K) | T(ORDER), 224, 56, 0, 0, true, true, 32768,
		 8, 64},
		{"zen4", T(FORWARD) | T(ORDER), 320, 64, 0, 0, true, true, 32768, 8, 64},
		{"alpha", T(ORDER) | T(SIZE) | T(SYNONYM), 80, 0, 128, 0, false, false, 65536, 2,
		 64},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		const struct vt_conflict_model *m = vt_conflict_model(models[i].name),
					       *w = &models[i];

		assert_non_null(m);
		assert_string_equal(m->name, w->name);
		assert_int_equal(m->types, w->types);
		assert_int_equal(m->distance, w->distance);
		assert_int_equal(m->stores, w->stores);
		assert_int_equal(m->loads_distance, w->loads_distance);
		assert_int_equal(m->crossing, w->crossing);
		assert_int_equal(m->late_address, w->late_address);
		assert_int_equal(m->youngest, w->youngest);
		assert_int_equal(m->cache_size, w->cache_size);
		assert_int_equal(m->cache_ways, w->cache_ways);
		assert_int_equal(m->cache_line, w->cache_line);
	}
	assert_null(vt_conflict_model("zen5"));
	assert_null(vt_conflict_model(""));
}

/* Each limit of what a model may say, and what is beyond it. */
static void test_refused(void **state)
{
	static const struct {
		uint32_t distance, loads_distance, size, ways, line;
		bool good;
	} bounds[] = {
		{1, 0, 32768, 8, 64, true},
		{0, 0, 32768, 8, 64, false},
		{VT_CONFLICT_MAX_DISTANCE, VT_CONFLICT_MAX_DISTANCE, 32768, 8, 64, true},
		{VT_CONFLICT_MAX_DISTANCE + 1, 0, 32768, 8, 64, false},
		{1, VT_CONFLICT_MAX_DISTANCE + 1, 32768, 8, 64, false},
		{1, 0, 32768, 8, 0, false},
		{1, 0, 32768, 8, 48, false},
		{1, 0, 32768, 8, 1, true},
		{1, 0, 32768, 0, 64, false},
		{1, 0, 32768, 0, 1, false},
		{1, 0, 512, 8, 64, true},
		{1, 0, 256, 8, 64, false},
		{1, 0, 640, 8, 64, false},
		{1, 0, 3 * 512, 8, 64, true},
	};
	struct vt_error err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		struct vt_conflict_model m = *vt_conflict_model("generic");
		struct vt_conflicts *c;

		m.distance = bounds[i].distance;
		m.loads_distance = bounds[i].loads_distance;
		m.cache_size = bounds[i].size;
		m.cache_ways = bounds[i].ways;
		m.cache_line = bounds[i].line;
		c = vt_conflicts_new(&m, false, &err);
		assert_int_equal(c != NULL, bounds[i].good);
		vt_conflicts_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_models),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
