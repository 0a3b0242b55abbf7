/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Executes repeated string instructions of each sort: with every count from 0 to some, forwards and
 * backwards, those that compare with each place where they may stop.  Then it prints for each its
 * address, how often it was executed (once for each repetition, once where it had nothing to do),
 * how many loads and how many stores that were, all of which is plain arithmetic.
 *
 *	rec_rep [MOST]		counts up to MOST, 20 if not given
 */
#define _GNU_SOURCE /* MAP_32BIT */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROOM 4096 /* bytes on each side of where the instructions start */

/* Below 4 GiB, for the one whose addresses are of 32 bits. */
static uint8_t *from, *to;

/* Name, bytes of an element, what it does, what comes before it, the instruction. */
#define EACH(X)                                                                                    \
	X(movsb, 1, MOVE, "", "rep movsb")                                                         \
	X(movsw, 2, MOVE, "", "rep movsw")                                                         \
	X(movsl, 4, MOVE, "", "rep movsl")                                                         \
	X(movsq, 8, MOVE, "", "rep movsq")                                                         \
	X(movsb_down, 1, MOVE, "std\n\t", "rep movsb\n\tcld")                                      \
	X(movsq_ecx, 8, MOVE, "", ".byte 0x67,0xf3,0x48,0xa5")                                     \
	X(stosb, 1, FILL, "", "rep stosb")                                                         \
	X(stosw, 2, FILL, "", "rep stosw")                                                         \
	X(stosl, 4, FILL, "", "rep stosl")                                                         \
	X(stosq, 8, FILL, "", "rep stosq")                                                         \
	X(stosq_down, 8, FILL, "std\n\t", "rep stosq\n\tcld")                                      \
	X(repe_cmpsb, 1, COMPARE | EQUAL, "", "repe cmpsb")                                        \
	X(repe_cmpsq, 8, COMPARE | EQUAL, "", "repe cmpsq")                                        \
	X(repe_scasb, 1, SCAN | EQUAL, "", "repe scasb")                                           \
	X(repne_scasb, 1, SCAN, "", "repne scasb")                                                 \
	X(repne_scasq, 8, SCAN, "", "repne scasq")

enum { MOVE, FILL, COMPARE, SCAN, EQUAL = 8 };

/* By a jump if `jump`, or else by falling into it. */
#define X(name, size, flags, before, insn)                                                         \
	extern const char at_##name[];                                                             \
	static __attribute__((noinline)) void run_##name(uint64_t n, void *di, const void *si,     \
							 int jump)                                 \
	{                                                                                          \
		__asm__ volatile(before "test %%edx,%%edx\n\t"                                     \
					"jnz at_" #name "\n\t"                                     \
					"nop\n"                                                    \
					"at_" #name ":\n\t" insn                                   \
				 : "+c"(n), "+D"(di), "+S"(si)                                     \
				 : "a"(0), "d"(jump)                                               \
				 : "memory", "cc");                                                \
	}
EACH(X)
#undef X

static const struct test {
	const char *name, *at;
	void (*run)(uint64_t n, void *di, const void *si, int jump);
	unsigned size, flags;
} tests[] = {
#define X(name, size, flags, before, insn) {#name, at_##name, run_##name, size, flags},
	EACH(X)
#undef X
};

#define NTESTS (sizeof(tests) / sizeof(tests[0]))

static uint64_t executed[NTESTS], loads[NTESTS], stores[NTESTS];

/* One that compares goes on as long as both are the same, or both are not: all but number `stop`.
 */
static void set_up(const struct test *t, unsigned stop)
{
	uint8_t on = (t->flags & EQUAL) ? 0 : 1;

	memset(from, 0, 2 * ROOM);
	memset(to, on, 2 * ROOM);
	memset(to + ROOM + (size_t)stop * t->size, 1 - on, t->size);
}

static void count(size_t i, unsigned done)
{
	unsigned sort = tests[i].flags & ~(unsigned)EQUAL;

	executed[i] += done ? done : 1;
	loads[i] += sort == MOVE || sort == SCAN ? done : sort == COMPARE ? 2 * done : 0;
	stores[i] += sort == MOVE || sort == FILL ? done : 0;
}

static void run(size_t i, unsigned n, int jump)
{
	const struct test *t = &tests[i];
	bool stops = (t->flags & ~(unsigned)EQUAL) >= COMPARE;
	unsigned stop;

	for (stop = 0; stop == 0 || (stops && stop <= n); stop++) {
		if (stops)
			set_up(t, stop);
		t->run(n, to + ROOM, from + ROOM, jump);
		count(i, stops && stop < n ? stop + 1 : n);
	}
}

int main(int argc, char **argv)
{
	unsigned most = argc > 1 ? (unsigned)atoi(argv[1]) : 20, n;
	int jump;
	size_t i;

	from = mmap(NULL, 4 * ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT,
		    -1, 0);
	if (most > ROOM / 8 - 1 || from == MAP_FAILED)
		return 2;
	to = from + 2 * ROOM;
	for (n = 0; n <= most; n++)
		for (i = 0; i < NTESTS; i++)
			for (jump = 0; jump < 2; jump++)
				run(i, n, jump);
	for (i = 0; i < NTESTS; i++)
		printf("%s %" PRIxPTR " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", tests[i].name,
		       (uintptr_t)tests[i].at, executed[i], loads[i], stores[i]);
	return 0;
}
