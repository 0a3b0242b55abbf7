/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A loop with one load of each of its lines, whose level of memory is known:
 *
 *	rec_levels near|chain|free MILLIONS
 *
 *	near	64 lines, each one's address from the line before
 *	chain	lines that were flushed from all caches, each one's address from the line before
 *	free	lines that were flushed, at addresses that are computed: the processor loads ahead
 *
 * Prints the first address of all lines, and how many bytes they span.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Processors fetch neighbouring lines together: a place is a line apart from others. */
#define PLACE 256
#define SMALL (16u << 10) /* with the lines between them */
#define LARGE (32u << 20)

struct place {
	struct place *next;
	uint8_t rest[PLACE - sizeof(struct place *)];
};

static struct place *places;
static uint32_t count;
static uint32_t state = 1;

/* Goes through all numbers below `count`, a power of two (Hull and Dobell, 1962). */
static uint32_t next_number(void)
{
	state = state * 1664525 + 1013904223;
	return state & (count - 1);
}

static void make_places(uint32_t size)
{
	struct place *at;
	uint32_t i;

	count = size / PLACE;
	places = aligned_alloc(PLACE, size);
	if (!places)
		exit(1);
	memset(places, 0, size);
	at = &places[next_number()];
	for (i = 0; i < count; i++, at = at->next)
		at->next = &places[next_number()];
}

static void flush(const void *line)
{
	__asm__ volatile("clflush (%0)" : : "r"(line) : "memory");
}

static uint64_t follow(uint64_t loads, int flushed)
{
	struct place *at = places, *next;

	while (loads--) {
		next = *(struct place *volatile *)&at->next;
		if (flushed)
			flush(at);
		at = next;
	}
	return (uint64_t)(at - places);
}

static uint64_t compute(uint64_t loads)
{
	uint64_t sum = 0;

	while (loads--) {
		const struct place *at = &places[next_number()];

		sum += *(const volatile uint8_t *)&at->rest[0];
		flush(at);
	}
	return sum;
}

int main(int argc, char **argv)
{
	uint64_t loads;

	if (argc != 3)
		return 2;
	loads = strtoull(argv[2], NULL, 10) * 1000000;
	make_places(strcmp(argv[1], "near") == 0 ? SMALL : LARGE);
	printf("%#" PRIxPTR " %u\n", (uintptr_t)places, count * PLACE);
	return (strcmp(argv[1], "free") == 0 ? compute(loads)
					     : follow(loads, strcmp(argv[1], "chain") == 0)) == 1;
}
