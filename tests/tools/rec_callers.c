/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: rec_callers [ROUNDS [hostile]]
 *
 * Procedures with frames of several kinds, each called from two others in turn.  What they load
 * tells which: TAG_A and the number of the kind from call_a_KIND(), TAG_B and it from
 * call_b_KIND(). Prints the address of main().
 *
 * "hostile" writes garbage to what the recorder tells its agent of frames, again and again.
 */
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/agent/shared.h"

#define LOADS 400
#define TAG_A 0x5a00a000u
#define TAG_B 0x5a00b000u

#define LARGE 100000 /* bytes */

#define KINDS(X)                                                                                   \
	X(none, 1)                                                                                 \
	X(red_zone, 2)                                                                             \
	X(large, 3)                                                                                \
	X(pointer, 4)                                                                              \
	X(calls, 5)

static volatile uint64_t sink;

/* They are called by pointers, so that there is one of each. */
/* No frame at all. */
static __attribute__((noinline)) uint64_t work_none(const volatile uint32_t *tag, unsigned n)
{
	uint64_t sum = 0;

	while (n--)
		sum += *tag;
	return sum;
}

/* What lies below the stack pointer. */
static __attribute__((noinline)) uint64_t work_red_zone(const volatile uint32_t *tag, unsigned n)
{
	volatile uint64_t zone[8] = {0};

	while (n--)
		zone[n % 8] += *tag;
	return zone[3];
}

static __attribute__((noinline)) uint64_t work_large(const volatile uint32_t *tag, unsigned n)
{
	volatile uint32_t room[LARGE / 4];

	room[0] = 0;
	room[LARGE / 8] = 0;
	while (n--)
		room[n % 2 ? 0 : LARGE / 8] += *tag;
	return room[0];
}

/* The frame's size is known to it alone: its register is the frame pointer. */
static __attribute__((noinline)) uint64_t work_pointer(const volatile uint32_t *tag, unsigned n)
{
	volatile uint32_t *room = alloca(n * sizeof(*room) + (sink & 64));

	room[0] = 0;
	while (n--)
		room[n] = *tag + (uint32_t)sink;
	return room[0];
}

/* Returns come back to it, with registers that it has saved. */
static uint64_t (*volatile inner)(const volatile uint32_t *, unsigned) = work_none;

static __attribute__((noinline)) uint64_t work_calls(const volatile uint32_t *tag, unsigned n)
{
	static const volatile uint32_t other = 1;
	uint64_t sum = 0, last = 0, all = n;

	while (n--) {
		sum += *tag;
		last ^= inner(&other, 4) + sum;
	}
	return sum + last * all;
}

#define X(kind, number)                                                                            \
	static uint64_t (*volatile run_##kind)(const volatile uint32_t *, unsigned) = work_##kind; \
	static const volatile uint32_t tag_a_##kind = TAG_A + (number);                            \
	static const volatile uint32_t tag_b_##kind = TAG_B + (number);                            \
	static __attribute__((noinline)) void call_a_##kind(void)                                  \
	{                                                                                          \
		sink += run_##kind(&tag_a_##kind, LOADS);                                          \
	}                                                                                          \
	static __attribute__((noinline)) void call_b_##kind(void)                                  \
	{                                                                                          \
		sink ^= run_##kind(&tag_b_##kind, LOADS);                                          \
	}
KINDS(X)
#undef X

/* ---- garbage ---- */

/* The table is the end of the file that VTRACE_AGENT names. */
static struct agent_frames *find_table(void)
{
	const char *path = getenv(AGENT_VARIABLE);
	FILE *maps = fopen("/proc/self/maps", "r");
	void *end;
	char line[4096];

	while (path && maps && fgets(line, sizeof(line), maps))
		if (strstr(line, path) && sscanf(line, "%*p-%p", &end) == 1)
			return (struct agent_frames *)end - AGENT_BLOCKS;
	fprintf(stderr, "rec_callers: not recorded\n");
	exit(3);
}

/* Blocks that are in use keep their keys, and so are read.  Returns how many there are. */
static unsigned spoil_table(struct agent_frames *table, uint64_t *random)
{
	unsigned used = 0, i, k;

	for (i = 0; i < AGENT_BLOCKS; i++) {
		if (!__atomic_load_n(&table[i].key, __ATOMIC_ACQUIRE))
			continue;
		used++;
		for (k = 0; k < AGENT_ROWS; k++) {
			*random = *random * UINT64_C(6364136223846793005) + 1;
			table[i].row[k] = (uint32_t)(*random >> 32) & ~0xf7fu;
			table[i].row[k] |= AGENT_ROW | (4 + (*random >> 60 & 1)) << 8;
		}
	}
	return used;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;

	struct agent_frames *table = argc > 2 ? find_table() : NULL;
	uint64_t random = 1;
	unsigned used = 0;

	printf("%p\n", (void *)main);
	while (rounds--) {
		if (table && rounds % 256 == 0)
			used = spoil_table(table, &random);
#define X(kind, number)                                                                            \
	call_a_##kind();                                                                           \
	call_b_##kind();
		KINDS(X)
#undef X
	}
	if (table)
		printf("%d\n", used > 0);
	return 0;
}
