/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_AGENT_WALK_BITS_H
#define CMD_AGENT_WALK_BITS_H

#include "cmd/walker/walk_state.h"

/* Bits of general registers; each executes w->insn. */
void walk_bit_test(struct walk *w, unsigned operation, bool immediate);
void walk_bit_scan(struct walk *w, bool reverse);
void walk_count_zeros(struct walk *w, bool leading);
void walk_count_ones(struct walk *w);
void walk_crc32(struct walk *w);
void walk_add_carry(struct walk *w, uint32_t flag);

#endif
