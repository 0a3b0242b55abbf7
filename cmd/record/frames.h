/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_FRAMES_H
#define CMD_RECORD_FRAMES_H

#include <stdint.h>

#include "base/error.h"
#include "cmd/agent/shared.h"
#include "cmd/record/sideband.h"

/*
 * Calling context: tells the agents where return addresses lie in the code that was sampled, so
 * that the next sample there has the line with its own.  A round takes bounded time: what is left
 * waits for the next, and what finds no room comes back with the next sample.
 */
struct frames;

/* Fills this table, of AGENT_BLOCKS.  NULL: VT_E_NOMEM. */
struct frames *frames_new(struct agent_frames *table, struct vt_error *err);
void frames_free(struct frames *f); /* NULL is allowed */

/* A record of mappings, starts, ends of processes; others are passed over. */
void frames_note(struct frames *f, const struct sideband_record *r);

/* A sample was in this code, or went on to it. */
void frames_want(struct frames *f, int32_t pid, uint32_t program, uint64_t ip);

/* Ends a round: fills the table with what was wanted. */
void frames_fill(struct frames *f);

#endif
