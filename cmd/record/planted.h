/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_PLANTED_H
#define CMD_RECORD_PLANTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Loops whose time is known by construction, to be sampled: `vtrace record --calibrate`.  In
 * assembly, so that no compiler changes them; all of a loop's instructions are in one block.
 */
enum planted_loop {
	PLANTED_MISS,	  /* a load that misses the caches, then instructions that need not wait */
	PLANTED_ADD,	  /* a chain of additions */
	PLANTED_MIXED,	  /* a chain of several operations of one cycle each */
	PLANTED_PAIR,	  /* two chains of additions side by side */
	PLANTED_MULTIPLY, /* a chain of multiplications, whose latency is to be measured */
	PLANTED_SERIAL,	  /* the first of PLANTED_LENGTHS, see below */
};

/*
 * One chain through PLANTED_REGIONS regions that take equally long: multiplications, additions, and
 * additions beside others.  The shortest regions take PLANTED_SHORTEST cycles a visit if a
 * multiplication takes 3; each next loop's take twice as long.
 */
#define PLANTED_LENGTHS	 9
#define PLANTED_REGIONS	 3
#define PLANTED_SHORTEST 6
#define PLANTED_LOOPS	 (PLANTED_SERIAL + PLANTED_LENGTHS)

struct planted {
	/* Goes through the loop `visits` times; `arg` is the first line of planted_lines(), or
	 * any odd number.  Returns the last value of the chain. */
	uint64_t (*run)(uint64_t visits, uint64_t arg);
	const uint8_t *code; /* the first instruction of the loop */
	const uint8_t *end;
	/* Of the chain, in a visit: additions and the like, which take a cycle on any x86 processor
	 * (of registers: some add small constants in no time), and multiplications. */
	unsigned singles;
	unsigned multiplies;
	const uint8_t *regions[PLANTED_REGIONS]; /* of a serial loop: where each begins */
};

/* The loop, or NULL if there are none for this processor. */
const struct planted *planted_of(unsigned loop);

/*
 * Lines of memory, linked in a random order, for PLANTED_MISS: more than caches hold.  The value
 * of the first; 0: no memory.  They stay until the process ends.
 */
uint64_t planted_lines(void);

#endif
