/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: serial [ROUNDS]
 *
 * One chain through regions of known time, one strictly after the other: 8 multiplications of 3
 * cycles each, 8 additions of one, a division, 8 additions and 32 additions; that, 8 times and 64
 * times as long.  Marks begin the regions: 1 to 5, 11 to 15, 21 to 25.
 */
#include "loops.h"

/* clang-format off */
#define BEGIN	 "mov $3, %%ecx\n" "mov $7, %%eax\n"
#define MULTIPLY "imul %%rcx, %%rax"
#define ADD	 "add %%rcx, %%rax"
#define DIVIDE                                                                                     \
	"mov $0, %%edx\n" "and $7, %%eax\n" "or $0x100, %%eax\n" "div %%rcx\n" "or %%rdx, %%rax"

#define SERIAL(a, b, c, d, e, times)                                                               \
	HERE(a) REPEAT(8 * times, MULTIPLY)                                                        \
	HERE(b) REPEAT(8 * times, ADD)                                                             \
	HERE(c) REPEAT(times, DIVIDE)                                                              \
	HERE(d) REPEAT(8 * times, ADD)                                                             \
	HERE(e) REPEAT(32 * times, ADD)

LOOP(serial_8, BEGIN, SERIAL(1, 2, 3, 4, 5, 1))
LOOP(serial_64, BEGIN, SERIAL(11, 12, 13, 14, 15, 8))
LOOP(serial_512, BEGIN, SERIAL(21, 22, 23, 24, 25, 64))
/* clang-format on */

static struct loop loops[] = {
	{.name = "serial_8", .run = serial_8, .visits = 640},
	{.name = "serial_64", .run = serial_64, .visits = 80},
	{.name = "serial_512", .run = serial_512, .visits = 10},
};
#define LOOPS (sizeof(loops) / sizeof(*loops))

int main(int argc, char **argv)
{
	ALIGN_STACK;
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 40000, r;
	size_t i;

	for (r = 0; r < rounds; r++)
		for (i = 0; i < LOOPS; i++)
			run_loop(&loops[i]);
	for (i = 0; i < LOOPS; i++)
		print_loop(&loops[i], rounds);
	return 0;
}
