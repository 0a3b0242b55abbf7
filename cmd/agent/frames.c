/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "cmd/agent/agent.h"
#include "cmd/walker/walk_state.h"

/* Addresses of user code are below. */
#define USER_TOP (UINT64_C(1) << 47)

#define LINE_MASK   (~(uint64_t)(WALK_LINE - 1))
#define WORD_BYTES  UINT64_C(0xff) /* of a line, those of a word at its start */
#define CALLERS_MAX 8		   /* returns of a walk that are followed */

static const struct agent_frames *find_block(uint64_t key)
{
	const struct agent_frames *b = &agent.frames[agent_block_place(key)];

	if (__atomic_load_n(&b->key, __ATOMIC_ACQUIRE) == key)
		return b;
	return __atomic_load_n(&b[1].key, __ATOMIC_ACQUIRE) == key ? &b[1] : NULL;
}

/* The row of an instruction, or 0.  What another thread replaces meanwhile is none. */
static uint32_t find_row(uint64_t ip)
{
	uint64_t key = agent_block_key(agent.program, ip);
	const struct agent_frames *b = find_block(key);
	uint32_t found = 0, row;
	unsigned i;

	for (i = 0; b && i < AGENT_ROWS; i++) {
		row = __atomic_load_n(&b->row[i], __ATOMIC_RELAXED);
		if (!row || agent_row_start(row) > ip % AGENT_CODE)
			break;
		found = row;
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return b && __atomic_load_n(&b->key, __ATOMIC_RELAXED) == key ? found : 0;
}

/* Where the return address lies; 0: not known. */
static uint64_t find_slot(uint64_t ip, uint64_t sp, uint64_t bp)
{
	uint32_t row = find_row(ip), reg = agent_row_reg(row);
	uint64_t slot = (reg == AGENT_ROW_SP ? sp : bp) + (uint64_t)(int64_t)agent_row_offset(row);

	return reg != AGENT_ROW_NONE && slot < USER_TOP - 8 ? slot : 0;
}

static bool has_line(const struct walk *w, uint64_t addr)
{
	uint32_t i;

	for (i = 0; i < w->nlines; i++)
		if (w->line_addr[i] == (addr & LINE_MASK))
			return true;
	return false;
}

/* Adds the line, or the two, of 8 bytes, and returns them, or 0. */
static uint64_t add_word(struct walk *w, uint64_t addr)
{
	uint64_t first = addr & LINE_MASK, last = (addr + 7) & LINE_MASK, value = 0;
	const uint8_t *line;

	if (w->nlines + 2 > WALK_LINES_MAX)
		return 0;
	line = walk_line(w, first, WORD_BYTES << (addr - first));
	if (last != first)
		walk_line(w, last, WORD_BYTES >> (last - addr));
	else if (line)
		memcpy(&value, line + (addr - first), sizeof(value));
	return value;
}

/*
 * A walk that has returned has read code behind the call: then the caller's return address is
 * wanted, too.  What the walk has called returns to what it knows.  A procedure with a frame
 * pointer has saved its caller's below its return address; others may have changed it, which costs
 * the line.
 */
uint64_t agent_add_callers(struct walk *w, const struct walk_start *start)
{
	uint64_t ip = start->ip, sp = start->gpr[SP], bp = start->gpr[BP], slot;
	unsigned i;

	for (i = 0; i < CALLERS_MAX; i++) {
		slot = find_slot(ip, sp, bp);
		if (!slot)
			return ip;
		ip = add_word(w, slot);
		if (!ip || !has_line(w, ip))
			return ip;
		if (slot - 8 == bp)
			bp = add_word(w, bp);
		sp = slot + 8;
	}
	return ip;
}
