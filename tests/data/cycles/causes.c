/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: causes [ROUNDS [LINES]]
 *
 * A procedure for each cause of a stall, and some without.  LINES, a power of two, are how many
 * lines and pages the rings have: a million miss the caches, 16384 pages the TLB.
 */
#include "loops.h"

/* clang-format off */
/*
 * What comes behind the instruction that stalls: 16 that need rax one after the other, and 16 that
 * need nothing.
 */
#define BEHIND                                                                                     \
	REPEAT(16, "add %%rcx, %%rax")                                                             \
	REPEAT(16, "add %%rcx, %%r9")
#define BEGIN "mov $1, %%ecx\nxor %%eax, %%eax\n"

LOOP(cache_miss, BEGIN, HERE(1) "mov (%0), %0\n" BEHIND)
LOOP(cache_miss_used, BEGIN, HERE(2) "mov (%0), %0\n" "mov %0, %%rax\n" BEHIND)
LOOP(page_walk, BEGIN, HERE(3) "mov (%0), %0\n" "mov %0, %%rax\n" BEHIND)

LOOP(mispredict, BEGIN,
	HERE(4) "movzbl (%0), %%r8d\n" "inc %0\n" "test %%r8d, %%r8d\n" "jnz 2f\n"
	HERE(5) "add %%rcx, %%r10\n"
	"2:\n" BEHIND)

LOOP(divide, BEGIN "mov $3, %%r8d\n",
	HERE(6) "xor %%edx, %%edx\n" "or $0x1000000, %%rax\n"
	HERE(7) "div %%r8\n" BEHIND)

/* A load of more bytes than the store before it has written: it waits until they are in the cache. */
LOOP(forward_blocked, BEGIN,
	HERE(8) "mov %%ax, 64(%0)\n"
	HERE(9) "mov 63(%0), %%rax\n" "and $255, %%eax\n" BEHIND)
LOOP(forwarded, BEGIN, HERE(10) "mov %%rax, 64(%0)\n" "mov 64(%0), %%rax\n" BEHIND)

/* A store whose low address bits are a later load's, and whose address is known late. */
LOOP(alias, BEGIN,
	HERE(11) "mov %%rax, %%r8\n" "and $0, %%r8\n" "mov %%r9, 4096(%0,%%r8)\n"
	"mov (%0), %%rax\n" BEHIND)

LOOP(float_chain,
	BEGIN "mov $0x3ff0000000000000, %%rax\n" "movq %%rax, %%xmm0\n" "movq %%rax, %%xmm1\n",
	HERE(12) REPEAT(8, "mulsd %%xmm1, %%xmm0") BEHIND)
LOOP(multiply_chain, BEGIN, HERE(15) REPEAT(8, "imul %%rcx, %%rax") BEHIND)
LOOP(add_chain, BEGIN, HERE(16) REPEAT(24, "add %%rcx, %%rax") BEHIND)
LOOP(throughput, BEGIN,
	HERE(13) REPEAT(8, "add %%rcx, %%r8\n" "add %%rcx, %%rdx\n"
			   "add %%rcx, %%r10\n" "add %%rcx, %%r11") BEHIND)

/*
 * 1024 blocks that jump to each other, each in a line of its own of another kilobyte: more lines than
 * a first cache of 32 kB has, in an order that no prefetch follows, and no more branches than are
 * predicted.  The first block closes the loop.
 */
#define BLOCK(i) "(" i ") % 1024 * 1024 + (" i ") % 1024 % 16 * 64"
__asm__(".text\n"
	".type icache_blocks,@function\n"
	".p2align 10\n"
	"icache_blocks:\n"
	HERE(14) "dec %rdi\n" "js 8f\n" "jmp icache_blocks + " BLOCK("389") "\n"
	".set i, 1\n"
	".rept 1023\n"
	".org icache_blocks + " BLOCK("i") ", 0xcc\n"
	"add $1, %rcx\n"
	"jmp icache_blocks + " BLOCK("i + 389") "\n"
	".set i, i + 1\n"
	".endr\n"
	"8: mov %rsi, %rax\n"
	"ret\n"
	".size icache_blocks, .-icache_blocks\n");
void *icache_blocks(uint64_t n, void *p);
/* clang-format on */

static struct loop loops[] = {
	{.name = "cache_miss", .run = cache_miss, .visits = 200},
	{.name = "cache_miss_used", .run = cache_miss_used, .visits = 200},
	{.name = "page_walk", .run = page_walk, .visits = 500},
	{.name = "mispredict", .run = mispredict, .visits = 1000},
	{.name = "divide", .run = divide, .visits = 1000},
	{.name = "forward_blocked", .run = forward_blocked, .visits = 1000},
	{.name = "forwarded", .run = forwarded, .visits = 1000},
	{.name = "alias", .run = alias, .visits = 1000},
	{.name = "float_chain", .run = float_chain, .visits = 1000},
	{.name = "multiply_chain", .run = multiply_chain, .visits = 1000},
	{.name = "add_chain", .run = add_chain, .visits = 1000},
	{.name = "throughput", .run = throughput, .visits = 1000},
	{.name = "icache_blocks", .run = icache_blocks, .visits = 20},
};
#define LOOPS (sizeof(loops) / sizeof(*loops))

#define GUESSES 1000000 /* random bytes, each 0 or 1 */

int main(int argc, char **argv)
{
	ALIGN_STACK;
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000, r;
	size_t lines = argc > 2 ? strtoull(argv[2], NULL, 10) : 1 << 20, i;
	size_t guesses = rounds < GUESSES / 1000 ? rounds * 1000 : GUESSES;
	static char buffer[3 * 4096] __attribute__((aligned(4096)));
	char *bits = malloc(guesses);

	if (!bits)
		return 1;
	for (i = 0; i < guesses; i++)
		bits[i] = next_number() >> 31 & 1;
	for (i = 0; i < LOOPS; i++)
		loops[i].p = buffer;
	loops[0].p = make_ring(lines, 64);
	loops[1].p = make_ring(lines, 64);
	loops[2].p = make_ring(lines < 16384 ? lines : 16384, 4096);
	for (r = 0; r < rounds; r++) {
		loops[3].p = bits + r * 1000 % guesses;
		for (i = 0; i < LOOPS; i++)
			run_loop(&loops[i]);
	}
	for (i = 0; i < LOOPS; i++)
		print_loop(&loops[i], rounds);
	return 0;
}
