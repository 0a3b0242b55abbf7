/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise() */

#include "cmd/record/planted.h"

#include <sys/mman.h>

#include "base/rng.h"

#define LINE_SIZE 64
#define LINES	  (1 << 20)

#ifdef __x86_64__

/*
 * Arguments are in rdi and rsi; rax, rcx, rdx and r8 to r11 may be changed.  Additions are of two
 * registers, as some processors add constants while they rename registers.
 */
#define LOOP(name, body)                                                                           \
	__asm__(".pushsection .text\n.p2align 6\n.globl planted_" name "\n.hidden planted_" name   \
		"\n.type planted_" name ",@function\nplanted_" name ":\n"                          \
		"mov %rsi, %rax\nmov %rsi, %rcx\n.p2align 6\n" PART(name, "loop") body             \
		"dec %rdi\njnz planted_" name "_loop\n" PART(name, "end") "ret\n"                  \
									  ".size planted_" name    \
									  ", .-planted_" name      \
									  "\n.popsection\n")

#define PART(name, part)                                                                           \
	".globl planted_" name "_" part "\n.hidden planted_" name "_" part "\nplanted_" name       \
	"_" part ":\n"

#define REPEAT(n, body) ".rept " n "\n" body ".endr\n"

#define ADD   "add %rsi, %rax\n"
#define OTHER "add %rsi, %rcx\n"

/* clang-format off */
LOOP("miss",
	"mov (%rax), %rax\n"
	REPEAT("8", "add %rsi, %r8\n" "add %rsi, %r9\n" "add %rsi, %r10\n"));
LOOP("add", REPEAT("240", ADD));
LOOP("mixed", REPEAT("80", ADD "xor %rsi, %rax\n" "sub %rsi, %rax\n"));
LOOP("pair", REPEAT("240", ADD OTHER));
LOOP("multiply", REPEAT("80", "imul %rsi, %rax\n"));

#define SERIAL(length)                                                                             \
	LOOP("serial" length, PART("serial" length, "multiply")                                    \
		REPEAT(length "/3", "imul %rsi, %rax\n")                                           \
		PART("serial" length, "add") REPEAT(length, ADD)                                   \
		PART("serial" length, "pair") REPEAT(length, ADD OTHER))
SERIAL("6");
SERIAL("12");
SERIAL("24");
SERIAL("48");
SERIAL("96");
SERIAL("192");
SERIAL("384");
SERIAL("768");
SERIAL("1536");
/* clang-format on */

#define DECLARE(name)                                                                              \
	uint64_t planted_##name(uint64_t visits, uint64_t arg);                                    \
	extern const uint8_t planted_##name##_loop[], planted_##name##_end[];
#define DECLARE_SERIAL(n)                                                                          \
	DECLARE(serial##n)                                                                         \
	extern const uint8_t planted_serial##n##_multiply[], planted_serial##n##_add[],            \
		planted_serial##n##_pair[];

DECLARE(miss)
DECLARE(add)
DECLARE(mixed)
DECLARE(pair)
DECLARE(multiply)
DECLARE_SERIAL(6)
DECLARE_SERIAL(12)
DECLARE_SERIAL(24)
DECLARE_SERIAL(48)
DECLARE_SERIAL(96)
DECLARE_SERIAL(192)
DECLARE_SERIAL(384)
DECLARE_SERIAL(768)
DECLARE_SERIAL(1536)

#define ROW(name, n, m)                                                                            \
	{                                                                                          \
		.run = planted_##name, .code = planted_##name##_loop, .end = planted_##name##_end, \
		.singles = (n), .multiplies = (m)                                                  \
	}
#define SERIAL_ROW(n)                                                                              \
	{                                                                                          \
		.run = planted_serial##n, .code = planted_serial##n##_loop,                        \
		.end = planted_serial##n##_end, .singles = 2 * (n), .multiplies = (n) / 3,         \
		.regions = {                                                                       \
			planted_serial##n##_multiply,                                              \
			planted_serial##n##_add,                                                   \
			planted_serial##n##_pair                                                   \
		}                                                                                  \
	}

static const struct planted loops[PLANTED_LOOPS] = {
	[PLANTED_MISS] = ROW(miss, 0, 0),
	[PLANTED_ADD] = ROW(add, 240, 0),
	[PLANTED_MIXED] = ROW(mixed, 240, 0),
	[PLANTED_PAIR] = ROW(pair, 240, 0),
	[PLANTED_MULTIPLY] = ROW(multiply, 0, 80),
	[PLANTED_SERIAL] = SERIAL_ROW(6),
	SERIAL_ROW(12),
	SERIAL_ROW(24),
	SERIAL_ROW(48),
	SERIAL_ROW(96),
	SERIAL_ROW(192),
	SERIAL_ROW(384),
	SERIAL_ROW(768),
	SERIAL_ROW(1536),
};

const struct planted *planted_of(unsigned loop)
{
	return &loops[loop];
}

#else

const struct planted *planted_of(unsigned loop)
{
	(void)loop;
	return NULL;
}

#endif

union line {
	union line *next;
	uint64_t at; /* while they are put in order */
	char bytes[LINE_SIZE];
};

uint64_t planted_lines(void)
{
	union line *lines = mmap(NULL, sizeof(*lines) * LINES, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct vt_rng rng;
	uint64_t i, j, at;

	if (lines == MAP_FAILED)
		return 0;
	/* Without, each miss would also be one of the TLB. */
	madvise(lines, sizeof(*lines) * LINES, MADV_HUGEPAGE);
	for (i = 0; i < LINES; i++)
		lines[i].at = i;
	/* One cycle through all: Sattolo's shuffle. */
	vt_rng_init(&rng, 1);
	for (i = LINES - 1; i > 0; i--) {
		j = vt_rng_below(&rng, i);
		at = lines[i].at;
		lines[i].at = lines[j].at;
		lines[j].at = at;
	}
	for (i = 0; i < LINES; i++)
		lines[i].next = &lines[lines[i].at];
	return (uint64_t)(uintptr_t)lines;
}
