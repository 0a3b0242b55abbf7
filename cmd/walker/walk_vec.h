/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_AGENT_WALK_VEC_H
#define CMD_AGENT_WALK_VEC_H

#include "cmd/walker/walk_state.h"

/* Vector registers.  What is known of them is a bit for each 8 bytes. */

/* Bytes and which of them are known. */
struct vec {
	const uint8_t *bytes;
	uint8_t known;
};

/* The bits of so many bytes. */
static inline uint8_t lanes_of(unsigned bytes)
{
	return (uint8_t)((1U << (bytes + 7) / 8) - 1);
}

static inline bool all_known(struct vec v, unsigned bytes)
{
	return (v.known & lanes_of(bytes)) == lanes_of(bytes);
}

/* The bits of an element of 4 or 8 bytes. */
static inline uint64_t bits_of_element(const uint8_t *bytes, unsigned size)
{
	uint64_t v = 0;

	__builtin_memcpy(&v, bytes, size);
	return v;
}

/* A register of which `bytes` are read. */
struct vec walk_vec(struct walk *w, unsigned n, unsigned bytes);

/*
 * The r/m operand of `bytes`, from memory into w->operand[1]; `element` is the size of what EVEX
 * broadcasts, 0 where it does not.
 */
struct vec walk_vec_rm(struct walk *w, unsigned bytes, unsigned element);

/* Likewise, and of memory only what the mask selects. */
struct vec walk_vec_rm_masked(struct walk *w, unsigned bytes, unsigned element);

/* The first source of an instruction with three operands: vvvv, or without VEX the destination. */
struct vec walk_vec_first(struct walk *w, unsigned bytes);

/*
 * Sets a register to `bytes` of w->operand[2].  What is above them stays without VEX and becomes
 * zero with it.
 */
void walk_vec_set(struct walk *w, unsigned n, unsigned bytes, uint8_t is_known);

/* Likewise with the mask of EVEX for elements of this size; 0: there is none. */
void walk_vec_set_masked(struct walk *w, unsigned n, unsigned bytes, uint8_t is_known,
			 unsigned element);

/* Clears what is above 16 bytes of registers 0 to 15. */
void walk_vec_zero_upper(struct walk *w);

/* A mask register.  k0 as the mask of an instruction is none. */
struct val walk_mask(struct walk *w, unsigned n);
void walk_set_mask(struct walk *w, unsigned n, struct val x);
/* The mask of the instruction over so many elements. */
struct val walk_mask_of_insn(struct walk *w, unsigned elements);

/* Families: false: not theirs. */
bool walk_vec_move(struct walk *w);
bool walk_vec_lanes(struct walk *w);
bool walk_vec_compare(struct walk *w);
bool walk_vec_shuffle(struct walk *w);
bool walk_vec_bits(struct walk *w);
bool walk_vec_scalar(struct walk *w);
bool walk_vec_float(struct walk *w);
bool walk_vec_mask(struct walk *w);
bool walk_vec_strings(struct walk *w);

#endif
