/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_AGENT_TIMED_H
#define CMD_AGENT_TIMED_H

#include <stdint.h>

/*
 * How long a load takes, in ticks of the time-stamp counter with those that it takes to read the
 * counter twice.  A fault between `begin` and `end` may continue at `fault`: then it returns 0.
 * The recorder calls these, too, to learn what the caches of the machine take.
 */
uint32_t agent_time_byte(const void *from);
extern const char agent_time_begin[], agent_time_end[], agent_time_fault[];

/* The same without a load. */
uint32_t agent_time_nothing(void);

#endif
