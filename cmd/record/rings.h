/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_RINGS_H
#define CMD_RECORD_RINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cmd/agent/shared.h"

/* The recorder's side of the memory that it shares with agents: cmd/agent/shared.h. */

struct rings {
	struct agent_shared *shared;
	struct agent_frames *frames; /* AGENT_BLOCKS of them */
	uint64_t size;
	uint32_t nrings; /* copies: a program may change what is shared */
	uint32_t ring_size;
	uint64_t damaged; /* rings that were found contradictory, and given up */
	uint8_t *record;  /* a copy of one record */
	struct {
		uint32_t owner;
		uint32_t looks; /* how often it was found dead */
	} dead[AGENT_RINGS];
};

/* Bytes of a ring; less where the file system has no room. */
#define RINGS_SIZE (1u << 20)

/* Sizes and maps the open file.  VT_E_SYSTEM, VT_E_NOMEM.  End with rings_close(), also then. */
int rings_open(struct rings *r, int fd, struct vt_error *err);
void rings_close(struct rings *r);

/* A record, checked: its size is right for its type, and for a sample's lines.  Borrowed for the
 * call. */
typedef int rings_fn(void *arg, const struct agent_record *rec, struct vt_error *err);

/* Calls `fn` with the records since the last call.  0, or what `fn` returned, if negative. */
int rings_read(struct rings *r, rings_fn *fn, void *arg, struct vt_error *err);

/*
 * Frees what processes that have died during a sample had taken.  Called now and then: a process
 * that is not there is believed to be dead when it was not there for several calls.
 */
void rings_free_dead(struct rings *r);

/* What handlers took, in ticks of the time-stamp counter, and how many instructions they walked. */
void rings_sum(const struct rings *r, uint64_t *ticks, uint64_t *insns);

/* How many samples' walks came to where loads are timed. */
uint64_t rings_far(const struct rings *r);

/* Ends sampling: the programs run on. */
void rings_stop(struct rings *r);

#endif
