/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: rec_calls [N]
 *
 * Transfers of control that a decoder of traces may get wrong, N times over: recursion deeper than
 * a stack of 64 return addresses, directly and by turns; calls and jumps through tables; returns to
 * where no call came from; calls to the next instruction; loops by loop and jrcxz; repeated string
 * instructions. Prints a checksum.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint64_t (*operation)(uint64_t);

static volatile uint64_t zero;

__attribute__((noinline)) static uint64_t add(uint64_t x)
{
	return x + 3;
}

__attribute__((noinline)) static uint64_t twist(uint64_t x)
{
	return x ^ x << 7;
}

__attribute__((noinline)) static uint64_t halve(uint64_t x)
{
	return x >> 1 | x << 63;
}

__attribute__((noinline)) static uint64_t collatz(uint64_t x)
{
	unsigned steps = 0;

	for (x = x % 1000 + 1; x != 1; steps++)
		x = x % 2 ? 3 * x + 1 : x / 2;
	return steps;
}

static const operation operations[] = {add, twist, halve, collatz};

__attribute__((noinline)) static uint64_t deep(uint64_t n)
{
	uint64_t below = n ? deep(n - 1) : 1;

	return below * 3 + n + zero;
}

__attribute__((noinline)) static uint64_t odd(uint64_t n);

__attribute__((noinline)) static uint64_t even(uint64_t n)
{
	return n ? odd(n - 1) + 1 + zero : 0;
}

__attribute__((noinline)) static uint64_t odd(uint64_t n)
{
	return n ? even(n - 1) + 2 + zero : 1;
}

/* A jump table: the cases are kept apart by what they do. */
__attribute__((noinline)) static uint64_t choose(uint64_t x)
{
	switch (x % 8) {
	case 0:
		return x + 1;
	case 1:
		return x * 5;
	case 2:
		return x ^ 0x55;
	case 3:
		return x - zero;
	case 4:
		return x << 3;
	case 5:
		return ~x;
	case 6:
		return x / 3;
	default:
		return x % 11;
	}
}

/* A return that goes where the pushed address says: no call stands before it. */
static uint64_t return_to(uint64_t x)
{
	__asm__ volatile("lea 1f(%%rip), %%rax\n\t"
			 "sub $128, %%rsp\n\t"
			 "push %%rax\n\t"
			 "ret\n\t"
			 "int3\n"
			 "1:\tadd $128, %%rsp\n\t"
			 "add $7, %0"
			 : "+r"(x)
			 :
			 : "rax", "memory", "cc");
	return x;
}

/* The address at hand, as old position-independent code found it. */
static uint64_t call_next(uint64_t x)
{
	__asm__ volatile("sub $128, %%rsp\n\t"
			 "call 1f\n"
			 "1:\tpop %%rax\n\t"
			 "add $128, %%rsp\n\t"
			 "add $9, %0"
			 : "+r"(x)
			 :
			 : "rax", "memory", "cc");
	return x;
}

static uint64_t loops(uint64_t x)
{
	uint64_t count = x % 9;

	__asm__ volatile("jrcxz 2f\n"
			 "1:\tadd $5, %0\n\t"
			 "loop 1b\n"
			 "2:"
			 : "+r"(x), "+c"(count)
			 :
			 : "cc");
	return x;
}

static uint64_t strings(uint64_t x)
{
	static char from[256], to[256];
	char *s = from, *d = to;
	uint64_t count = x % 200;

	__asm__ volatile("rep movsb" : "+S"(s), "+D"(d), "+c"(count) : : "memory");
	d = to;
	count = 64;
	__asm__ volatile("repne scasb" : "+D"(d), "+c"(count) : "a"(1) : "memory", "cc");
	return x + count;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
	uint64_t sum = 1;

	for (unsigned long i = 0; i < n; i++) {
		sum = sum * 6364136223846793005u + i;
		sum += operations[sum >> 62](sum + i);
		sum = choose(sum);
		sum = loops(return_to(call_next(sum)));
		sum = strings(sum);
		if (i % 16 == 0)
			sum += deep(i % 300) + even(i % 150);
	}
	printf("%llx\n", (unsigned long long)sum);
	return 0;
}
