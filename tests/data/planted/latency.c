/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Loads whose level of memory is known by construction, for the paper's figure 1 and table 1.
 *
 *	latency multiply|blocks MILLIONS
 *	latency ways LOADS
 *
 *	multiply  two loads into one multiplication: the first is of a line that was flushed in 6
 *		  of 100 cases, the second in 85.  Prints how often each was.
 *	blocks    loads all BLOCKS lines of a cache, each by an instruction of its own.  Prints the
 *		  first address, and the size.
 *	ways      times loads of known levels by a byte and by the copy of a line.  Prints level,
 *		  way and ticks of each.
 *
 * Built with cmd/agent/timed.c.
 */
#include <emmintrin.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/agent/timed.h"

#ifndef BLOCKS
#define BLOCKS 512
#endif
#define LINE 64

/* Processors fetch neighbouring lines together: a place is a line apart from others. */
#define PLACE  256
#define HOT    16
#define COLD   (128u << 10)
#define SECOND (256u << 10) /* bytes, of the second cache */

struct place {
	double number;
	uint8_t rest[PLACE - sizeof(double)];
};

static uint64_t state = 1;

static uint64_t draw_below(uint64_t n)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (state >> 32) * n >> 32;
}

static struct place *make_places(size_t count)
{
	struct place *p = aligned_alloc(4096, count * sizeof(*p));
	size_t i;

	if (!p)
		exit(1);
	for (i = 0; i < count; i++)
		p[i].number = (double)(i % 7);
	return p;
}

/* ---- two loads and a multiplication ---- */

__attribute__((noinline)) double multiply(const double *a, const double *b)
{
	double x, y;

	__asm__ volatile("movsd (%2), %0\n"
			 "movsd (%3), %1\n"
			 "mulsd %1, %0\n"
			 : "=&x"(x), "=&x"(y)
			 : "r"(a), "r"(b));
	return x;
}

/* A place that was flushed in so many of 100 cases, and is to be flushed again behind its use. */
static struct place *choose_place(struct place *hot, struct place *cold, uint64_t percent,
				  uint64_t *flushed, struct place **flush)
{
	uint64_t at = draw_below(COLD), is_cold = draw_below(100) < percent;

	*flushed += is_cold;
	*flush = is_cold ? &cold[at] : &hot[HOT];
	return is_cold ? &cold[at] : &hot[at % HOT];
}

static int multiply_places(uint64_t steps)
{
	struct place *hot = make_places(HOT + 1), *cold = make_places(COLD);
	uint64_t flushed[2] = {0, 0}, i;
	double sum = 0;

	for (i = 0; i < COLD; i++)
		_mm_clflush(&cold[i]);
	for (i = 0; i < steps; i++) {
		struct place *flush[2];
		struct place *a = choose_place(hot, cold, 6, &flushed[0], &flush[0]);
		struct place *b = choose_place(hot, cold, 85, &flushed[1], &flush[1]);

		sum += multiply(&a->number, &b->number);
		_mm_clflush(flush[0]);
		_mm_clflush(flush[1]);
	}
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", steps, flushed[0], flushed[1]);
	return sum < 0;
}

/* ---- all lines of a cache ---- */

#define TEXT_OF(x) TEXT(x)
#define TEXT(x)	   #x

__attribute__((noinline)) void load_blocks(const uint8_t *lines)
{
	__asm__ volatile(".set at, 0\n"
			 ".rept " TEXT_OF(BLOCKS) "\n"
						  "mov at(%0), %%eax\n"
						  ".set at, at + 64\n"
						  ".endr\n"
			 :
			 : "r"(lines)
			 : "eax", "memory");
}

static int load_cache(uint64_t loads)
{
	uint8_t *lines = aligned_alloc(4096, (size_t)BLOCKS * LINE);
	uint64_t i;

	if (!lines)
		return 1;
	memset(lines, 1, (size_t)BLOCKS * LINE);
	printf("%#" PRIxPTR " %u\n", (uintptr_t)lines, BLOCKS * LINE);
	for (i = 0; i < loads / BLOCKS; i++)
		load_blocks(lines);
	return 0;
}

/* ---- a byte and a line ---- */

static uint32_t time_copy(const uint8_t *from)
{
	__m128i to[LINE / 16];
	uint64_t begin;
	unsigned i;

	_mm_lfence();
	begin = __builtin_ia32_rdtsc();
	_mm_lfence();
	for (i = 0; i < LINE / 16; i++)
		to[i] = _mm_load_si128((const __m128i *)from + i);
	__asm__ volatile("" : : "m"(to));
	_mm_lfence();
	return (uint32_t)(__builtin_ia32_rdtsc() - begin);
}

static void time_level(const char *level, const struct place *p, size_t count, int flush,
		       uint64_t loads)
{
	uint64_t i;
	int copy;

	for (i = 0; i < 4 * count; i++)
		agent_time_byte(&p[i % count]);
	for (copy = 0; copy < 2; copy++)
		for (i = 0; i < loads; i++) {
			const struct place *at = &p[flush ? draw_below(count) : i % count];
			uint32_t ticks;

			if (flush) {
				_mm_clflush(at);
				_mm_mfence();
			}
			ticks = copy ? time_copy((const uint8_t *)at) : agent_time_byte(at);
			printf("%s %s %" PRIu32 "\n", level, copy ? "line" : "byte", ticks);
		}
}

static int time_ways(uint64_t loads)
{
	const struct place *p = make_places(COLD);

	time_level("L1", p, HOT, 0, loads);
	time_level("L2", p, SECOND / PLACE, 0, loads);
	time_level("memory", p, COLD, 1, loads);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t n = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;

	if (n && strcmp(argv[1], "multiply") == 0)
		return multiply_places(n * 1000000);
	if (n && strcmp(argv[1], "blocks") == 0)
		return load_cache(n * 1000000);
	if (n && strcmp(argv[1], "ways") == 0)
		return time_ways(n);
	return 2;
}
