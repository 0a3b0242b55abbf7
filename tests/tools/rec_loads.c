/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Executes instructions that read memory, one of each sort, many times with random contents, and
 * logs what each must have read: what the memory held just before.  tests/pipe/record-truth-loads.t
 * records it and compares.
 *
 *	rec_loads LOG [TIMES [SEED]]
 *
 * A line of the log for each execution: name, address of the instruction, "exactly", "within" or
 * "gather", then ADDRESS:BYTES for each load in order; "within" when Valgrind may read only the
 *part of it that matters, or in pieces; "gather" when Valgrind reads the top of the stack in place
 *of elements that are masked out.  No ADDRESS:BYTES: it reads nothing.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rec_loads.h"

#define ROOM	  (4 * 4096)
#define MOST_LOGS 64

/* What the instruction finds; offsets are known to the assembly. */
struct in {
	uint64_t ax, bx, cx, dx;
	uint64_t si, di;
	uint64_t unused[2];
	uint8_t mask[32];
	uint8_t index[32];
};

struct load {
	uint64_t addr;
	size_t size;
	uint8_t bytes[512];
};

struct run {
	FILE *log;
	uint64_t random; /* not 0 */
	struct in in;
	struct load loads[MOST_LOGS];
	size_t n;
	uint64_t base;
	uint8_t *memory, *room;
};

/* ---- the instructions ---- */

#define CLOBBERS                                                                                   \
	"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2",      \
		"xmm3", "xmm8", "xmm9", "xmm15", "mm0", "st", "st(1)", "memory", "cc"

#define X(name, size, flags, before, insn)                                                         \
	extern const char at_##name[];                                                             \
	static __attribute__((noinline)) void run_##name(const struct in *in)                      \
	{                                                                                          \
		register const struct in *p __asm__("r8") = in;                                    \
		__asm__ volatile("mov %%rsp,%%r11\n\t"                                             \
				 "mov (%%r8),%%rax\n\t"                                            \
				 "mov 8(%%r8),%%rbx\n\t"                                           \
				 "mov 16(%%r8),%%rcx\n\t"                                          \
				 "mov 24(%%r8),%%rdx\n\t"                                          \
				 "mov 32(%%r8),%%rsi\n\t"                                          \
				 "mov 40(%%r8),%%rdi\n\t" before ".globl at_" #name "\n"           \
				 "at_" #name ":\n\t" insn "\n\t"                                   \
				 "mov %%r11,%%rsp\n\t"                                             \
				 "fninit"                                                          \
				 :                                                                 \
				 : "r"(p)                                                          \
				 : CLOBBERS);                                                      \
	}
ALL_CASES(X)
#undef X

static const struct test {
	const char *name;
	const char *at;
	void (*run)(const struct in *in);
	unsigned size;
	unsigned flags;
} cases[] = {
#define X(name, size, flags, before, insn) {#name, at_##name, run_##name, size, flags},
	ALL_CASES(X)
#undef X
};

/* ---- what they must read ---- */

static void expect(struct run *r, uint64_t addr, size_t size)
{
	struct load *l = &r->loads[r->n++];

	l->addr = addr;
	l->size = size;
	memcpy(l->bytes, r->memory + (addr - r->base), size);
}

static void expect_gather(struct run *r, const struct test *t)
{
	unsigned element = ELEMENT_OF(t->flags), i;

	for (i = 0; i < GATHER_OF(t->flags); i++) {
		int32_t narrow;
		int64_t index;

		memcpy(&index, r->in.index + 8 * (i % 4), 8);
		memcpy(&narrow, r->in.index + 4 * i, 4);
		if (!(t->flags & WIDE_INDEX))
			index = narrow;
		if (r->in.mask[element * (i + 1) - 1] & 0x80)
			expect(r, r->in.si + (uint64_t)index * element, element);
	}
}

static void expect_all(struct run *r, const struct test *t)
{
	unsigned times = TIMES_OF(t->flags) ? TIMES_OF(t->flags) : 1, i;
	unsigned element = ELEMENT_OF(t->flags);

	r->n = 0;
	if (t->flags & NO_LOAD)
		return;
	if (GATHER_OF(t->flags)) {
		expect_gather(r, t);
		return;
	}
	for (i = 0; element && i < t->size / element; i++)
		if (r->in.mask[element * (i + 1) - 1] & 0x80)
			expect(r, r->in.si + (uint64_t)i * element, element);
	for (i = 0; !element && i < times; i++) {
		/* Valgrind's order; the manual does not tell one. */
		if (t->flags & (AT_RDI | BOTH))
			expect(r, r->in.di + (uint64_t)i * t->size, t->size);
		if (!(t->flags & AT_RDI))
			expect(r, r->in.si + (uint64_t)i * t->size, t->size);
	}
}

/* ---- running ---- */

/* Marsaglia's xorshift. */
static uint64_t next(struct run *r)
{
	r->random ^= r->random << 13;
	r->random ^= r->random >> 7;
	r->random ^= r->random << 17;
	return r->random;
}

static void fill(struct run *r, uint8_t *p, size_t size)
{
	size_t i;

	for (i = 0; i + 8 <= size; i += 8) {
		uint64_t v = next(r);

		memcpy(p + i, &v, 8);
	}
}

static void prepare(struct run *r, const struct test *t)
{
	size_t i;

	fill(r, (uint8_t *)&r->in, sizeof(r->in));
	r->in.si = r->base + 1024 + next(r) % 4096;
	if (t->flags & ALIGNED)
		r->in.si &= ~UINT64_C(63);
	r->in.di = r->base + 8192 + next(r) % 4096;
	fill(r, r->memory + (r->in.si - r->base), 64);
	fill(r, r->memory + (r->in.di - r->base), 64);
	if (t->flags & DIVISOR) {
		r->memory[r->in.si - r->base] |= 1;
		r->in.dx = 0;
	}
	if (t->flags & ZERO)
		r->in.cx = 0;
	for (i = 0; i < sizeof(r->in.index); i += t->flags & WIDE_INDEX ? 8 : 4) {
		int64_t v = (int64_t)(next(r) % 200) - 100;

		memcpy(r->in.index + i, &v, t->flags & WIDE_INDEX ? 8 : 4);
	}
}

static void run_case(struct run *r, const struct test *t)
{
	size_t i, k;

	prepare(r, t);
	if (!(t->flags & LATE))
		expect_all(r, t);
	t->run(&r->in);
	if (t->flags & LATE)
		expect_all(r, t);
	fprintf(r->log, "%s %#" PRIxPTR " %s", t->name, (uintptr_t)t->at,
		t->flags & WITHIN     ? "within"
		: GATHER_OF(t->flags) ? "gather"
				      : "exactly");
	for (i = 0; i < r->n; i++) {
		fprintf(r->log, " %#" PRIx64 ":", r->loads[i].addr);
		for (k = 0; k < r->loads[i].size; k++) {
			putc_unlocked("0123456789abcdef"[r->loads[i].bytes[k] >> 4], r -> log);
			putc_unlocked("0123456789abcdef"[r->loads[i].bytes[k] & 15], r -> log);
		}
	}
	fputc('\n', r->log);
}

static bool supported(unsigned flags)
{
	if (flags & AVX2 && !__builtin_cpu_supports("avx2"))
		return false;
	if (flags & BMI2 && !__builtin_cpu_supports("bmi2"))
		return false;
	if (flags & FMA && !__builtin_cpu_supports("fma"))
		return false;
	return !(flags & EXTRAS) || __builtin_cpu_supports("aes");
}

int main(int argc, char **argv)
{
	static uint8_t memory[ROOM] __attribute__((aligned(64)));
	unsigned long times = argc > 2 ? strtoul(argv[2], NULL, 0) : 10, i;
	struct run r = {.memory = memory, .base = (uintptr_t)memory};
	size_t k;

	r.log = argc > 1 ? fopen(argv[1], "w") : NULL;
	if (!r.log) {
		fprintf(stderr, "usage: rec_loads LOG [TIMES [SEED]]\n");
		return 2;
	}
	r.random = argc > 3 ? strtoul(argv[3], NULL, 0) : 88172645463325252u;
	fill(&r, memory, sizeof(memory));
	for (k = 0; k < sizeof(cases) / sizeof(*cases); k++)
		for (i = 0; supported(cases[k].flags) && i < times; i++)
			run_case(&r, &cases[k]);
	return fclose(r.log) ? 1 : 0;
}
