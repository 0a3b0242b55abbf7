/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: branches [ROUNDS]
 *
 * Two loops of the same instructions: a branch that goes both ways by a random bit, and one that
 * goes each way 1,024 times in a row.  What is behind the branch waits for nothing, so that a wrong
 * prediction costs what there is to fetch.  The third has an indirect jump to one of two places, to
 * the rarer one at random in 3 of 16 rounds.
 */
#include <stdint.h>
#include <stdlib.h>

#define ALONE __attribute__((noinline, noclone))

/* The next number of a xorshift generator. */
static uint64_t draw_number(uint64_t x)
{
	x ^= x << 13;
	x ^= x >> 7;
	return x ^ x << 17;
}

static void branch_on(uint64_t *ways, uint32_t odd)
{
	__asm__ volatile("test $1, %1\n\t"
			 "jz 1f\n\t"
			 "add $3, %0\n\t"
			 "jmp 2f\n"
			 "1:\tadd $5, %0\n"
			 "2:\t.rept 20\n\t"
			 "lea 1(%0), %%rax\n\t"
			 ".endr"
			 : "+r"(*ways)
			 : "r"(odd)
			 : "rax", "cc");
}

ALONE uint64_t random_branch(uint64_t rounds)
{
	uint64_t ways = 0, x = 88172645463325252;

	while (rounds--) {
		x = draw_number(x);
		branch_on(&ways, (uint32_t)x);
	}
	return ways;
}

ALONE uint64_t regular_branch(uint64_t rounds)
{
	uint64_t ways = 0, x = 88172645463325252;

	while (rounds--) {
		x = draw_number(x);
		branch_on(&ways, (uint32_t)(rounds >> 10));
	}
	return ways + x;
}

ALONE uint64_t indirect_jump(uint64_t rounds)
{
	static const void *const targets[] = {&&rare, &&usual};
	uint64_t ways = 0, x = 88172645463325252;

	while (rounds--) {
		x = draw_number(x);
		goto *targets[(x & 15) > 2];
	rare:
		ways ^= 5;
		goto on;
	usual:
		ways += 3;
	on:
		__asm__ volatile("" : "+r"(ways));
	}
	return ways + x;
}

int main(int argc, char **argv)
{
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000;

	return random_branch(rounds) + regular_branch(rounds) + indirect_jump(rounds) == 7;
}
