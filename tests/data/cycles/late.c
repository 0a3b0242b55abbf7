/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: late [ROUNDS [LINES]]
 *
 * A load that misses, with what needs it far behind, or with other long instructions about: which
 * instruction has the samples of the wait?
 */
#include "loops.h"

/* clang-format off */
#define BEGIN "mov $1, %%ecx\n"

/* The next visit needs what the first load reads; the second hits, and the division is short. */
LOOP(beside, BEGIN,
	HERE(1) "mov (%0), %0\n" REPEAT(24, "add %%rcx, %%r8")
	HERE(2) "mov -8(%%rsp), %%r9\n" REPEAT(24, "add %%rcx, %%r9")
	"mov $9, %%eax\n" "xor %%edx, %%edx\n"
	HERE(3) "div %%ecx\n" REPEAT(24, "add %%rcx, %%r10"))

/* What needs it is 96 instructions behind. */
LOOP(used_late, BEGIN,
	HERE(4) "mov (%0), %0\n" REPEAT(96, "add %%rcx, %%r8")
	HERE(5) "mov %0, %%r9\n" "add %%rcx, %%r9\n" REPEAT(24, "add %%rcx, %%r10"))

/* The first load hits the line that the second fetched in the visit before. */
LOOP(second_misses, BEGIN,
	HERE(6) "mov (%0), %%r9\n" REPEAT(24, "add %%rcx, %%r8") "mov %%r9, %0\n"
	HERE(7) "mov 8(%0), %%r11\n" REPEAT(24, "add %%rcx, %%r11"))
/* clang-format on */

static struct loop loops[] = {
	{.name = "beside", .run = beside, .visits = 200},
	{.name = "used_late", .run = used_late, .visits = 200},
	{.name = "second_misses", .run = second_misses, .visits = 200},
};
#define LOOPS (sizeof(loops) / sizeof(*loops))

int main(int argc, char **argv)
{
	ALIGN_STACK;
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000, r;
	size_t lines = argc > 2 ? strtoull(argv[2], NULL, 10) : 1 << 20, i;

	for (i = 0; i < LOOPS; i++)
		loops[i].p = make_ring(lines, 64);
	for (r = 0; r < rounds; r++)
		for (i = 0; i < LOOPS; i++)
			run_loop(&loops[i]);
	for (i = 0; i < LOOPS; i++)
		print_loop(&loops[i], rounds);
	return 0;
}
