/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_AGENT_PLACE_H
#define CMD_AGENT_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/agent/shared.h"

struct walk;

/* What a handler has for itself while it runs: a ring, and a walker that goes with it. */
struct agent_place {
	struct agent_ring *ring;
	uint8_t *data;
	struct walk *walk;
	void *stack; /* its upper end */
	uint32_t cpu;
	uint64_t head; /* where the reserved record begins */
};

/* Maps the walkers' memory; false: the kernel refuses. */
bool agent_make_places(void);

/* Frees what threads of this process had when exec() ended them. */
void agent_free_places(void);

/* Takes a free place, that of this processor if it is free.  False: all are taken. */
bool agent_take_place(struct agent_place *p);
void agent_leave_place(struct agent_place *p);

/*
 * Calls a function on the place's stack, so that the frame of a fault in it needs no room on the
 * program's: a stack of a coroutine has hardly room for the sample's.
 */
void agent_call_in_place(const struct agent_place *p, void (*fn)(void *arg), void *arg);

/* Room for a record of `size` bytes in one piece, or NULL: the ring is full. */
struct agent_record *agent_reserve(struct agent_place *p, uint32_t size);

/* Shows the reserved record, which has become `size` bytes, to the recorder. */
void agent_commit(struct agent_place *p, uint32_t size);

#endif
