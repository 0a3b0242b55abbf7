/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Runs a procedure of conflicts.S: argv[1] is its name, argv[2] how often.
 */
/* clang-format off */
#define PROCEDURES \
	X(narrow) X(partial) X(twice) X(vector) X(alias) X(order) X(divided) X(same) X(synonym) \
	X(dependent) X(together) X(clean) X(line) X(page) X(half) X(apart)
/* clang-format on */

#define X(name) void name(uint8_t *memory);
PROCEDURES
#undef X

/*
 * Return addresses are pushed to the middle of a page, where no procedure has its memory.  Where
 * the environment would have the stack, they could conflict with that by chance.
 */
__attribute__((noinline)) static void repeat(void (*call)(uint8_t *memory), uint8_t *memory,
					     int times)
{
	volatile uint8_t room[2048];
	int i;

	room[0] = 0;
	(void)room[0];
	for (i = 0; i < times; i++)
		call(memory);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*call)(uint8_t *memory);
	} all[] = {
#define X(name) {#name, name},
		PROCEDURES
#undef X
	};
	static uint8_t memory[65536] __attribute__((aligned(4096)));
	int times = argc > 2 ? atoi(argv[2]) : 0;
	/* Aligns the stack to a page, with repeat() below it. */
	volatile int idle __attribute__((aligned(4096)));
	uint8_t *p = memory;
	size_t k;

	memcpy(memory + 256, &p, sizeof(p));
	/* The store is long written when the address is loaded. */
	for (idle = 0; idle < 1000; idle++)
		;
	for (k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
		if (argc < 2 || strcmp(argv[1], all[k].name) != 0)
			continue;
		repeat(all[k].call, memory, times);
	}
	return 0;
}
