/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_AGENT_WALK_STATE_H
#define CMD_AGENT_WALK_STATE_H

#include "cmd/walker/walk.h"

/* What the files of the walker share: values, registers, flags, memory. */

#define FLAG_C 0x1U
#define FLAG_P 0x4U
#define FLAG_A 0x10U
#define FLAG_Z 0x40U
#define FLAG_S 0x80U
#define FLAG_D 0x400U
#define FLAG_O 0x800U
#define FLAGS6 (FLAG_C | FLAG_P | FLAG_A | FLAG_Z | FLAG_S | FLAG_O)

enum { AX, CX, DX, BX, SP, BP, SI, DI, R11 = 11 };

/* A value of at most 64 bits; what is above its size is zero. */
struct val {
	uint64_t v;
	bool known;
};

static inline struct val known(uint64_t v)
{
	return (struct val){v, true};
}

static inline struct val unknown(void)
{
	return (struct val){0, false};
}

/* The bits of so many bytes, 1 to 8. */
static inline uint64_t bits_of(unsigned size)
{
	return UINT64_MAX >> (64 - 8 * size);
}

static inline uint64_t sign_extend(uint64_t v, unsigned size)
{
	unsigned shift = 64 - 8 * size;

	return (uint64_t)((int64_t)(v << shift) >> shift);
}

/* The operand's size of a legacy instruction, or a VEX one of general registers. */
static inline unsigned op_size(const struct insn *i)
{
	return i->w ? 8 : i->data16 ? 2 : 4;
}

/* ---- general registers ---- */

static inline struct val get_gpr(const struct walk *w, unsigned n, unsigned size)
{
	unsigned need = 0xffU >> (8 - size);

	return (struct val){w->gpr[n] & bits_of(size), (w->gpr_known[n] & need) == need};
}

/* 4 bytes clear what is above them, 1 and 2 bytes leave it. */
static inline void set_gpr(struct walk *w, unsigned n, unsigned size, struct val x)
{
	unsigned need = 0xffU >> (8 - size);
	uint64_t bits = bits_of(size);

	if (size >= 4) {
		w->gpr[n] = x.v & bits;
		w->gpr_known[n] = x.known ? 0xff : (uint8_t)~need;
		return;
	}
	w->gpr[n] = (w->gpr[n] & ~bits) | (x.v & bits);
	w->gpr_known[n] = (uint8_t)(x.known ? w->gpr_known[n] | need : w->gpr_known[n] & ~need);
}

/* Registers as operands, where 4 to 7 without REX are ah, ch, dh, bh. */
struct val walk_get_reg(const struct walk *w, unsigned n, unsigned size);
void walk_set_reg(struct walk *w, unsigned n, unsigned size, struct val x);

/* ---- flags ---- */

static inline void set_flags(struct walk *w, uint32_t mask, uint64_t value, bool is_known)
{
	w->flags = (w->flags & ~(uint64_t)mask) | (value & mask);
	w->flags_known = is_known ? w->flags_known | mask : w->flags_known & ~mask;
}

static inline struct val get_flag(const struct walk *w, uint32_t flag)
{
	return (struct val){(w->flags & flag) != 0, (w->flags_known & flag) != 0};
}

/* Zero, sign and parity of a result. */
static inline uint64_t flags_of(uint64_t r, unsigned size)
{
	r &= bits_of(size);
	return (r ? 0 : FLAG_Z) | (r >> (8 * size - 1) ? FLAG_S : 0) |
	       (__builtin_parity((unsigned)(r & 0xff)) ? 0 : FLAG_P);
}

/* A condition of jcc, setcc, cmovcc by its number. */
struct val walk_condition(const struct walk *w, unsigned cc);

/* ---- memory ---- */

/*
 * Keeps the line at `addr`, a multiple of WALK_LINE, of which the bytes of the mask `read` are
 * read. Returns its bytes; NULL: it cannot be read, or there is no room, which ends the walk.
 */
const uint8_t *walk_line(struct walk *w, uint64_t addr, uint64_t read);

/* Whether `size` bytes from `addr` on can be a program's; else the walk ends with a trap. */
bool walk_may_access(struct walk *w, uint64_t addr, uint64_t size);

/*
 * Reads `size` bytes, at most 64, with what the walk has stored there; `out` may be NULL, to keep
 * the lines alone.  False: the bytes are unknown, and zero.
 */
bool walk_read_bytes(struct walk *w, uint64_t addr, unsigned size, uint8_t *out);
struct val walk_load(struct walk *w, uint64_t addr, unsigned size);

/* Keeps the lines of a read of any size, as many as `lines`. */
void walk_touch(struct walk *w, uint64_t addr, uint64_t size, unsigned lines);

/* Reads the lines of a store, as the processor does, unless it is a large one. */
void walk_touch_store(struct walk *w, const struct walk_store *s);

/* Stores `size` bytes, at most 64; NULL: unknown ones, as many as there are. */
void walk_write_bytes(struct walk *w, uint64_t addr, uint64_t size, const uint8_t *bytes);
void walk_store(struct walk *w, uint64_t addr, unsigned size, struct val x);

/* The r/m operand: a register, or memory, whose address may be unknown. */
struct val walk_get_rm(struct walk *w, unsigned size);
void walk_set_rm(struct walk *w, unsigned size, struct val x);

/* A store of unknown bytes to the memory operand. */
void walk_spoil_memory(struct walk *w, uint64_t size);

/* ---- families; each executes w->insn ---- */

static inline void end_walk(struct walk *w, enum walk_stop stop)
{
	if (!w->stop)
		w->stop = stop;
}

void walk_one_byte(struct walk *w);    /* map 0 */
void walk_two_bytes(struct walk *w);   /* map 1, legacy */
void walk_three_bytes(struct walk *w); /* maps 2 and 3, legacy */
void walk_string(struct walk *w);
void walk_vex_integer(struct walk *w); /* BMI and their like: is_vex_integer() */
bool walk_is_vex_integer(const struct insn *i);
void walk_vector(struct walk *w); /* whatever works on vectors and masks */
void walk_opaque(struct walk *w); /* its results are unknown, what it reads is kept */

/* ---- arithmetic with flags ---- */

/* The operation of opcodes 00 to 3f and of their group: add, or, adc, sbb, and, sub, xor, cmp. */
#define ALU_ADD 0
#define ALU_CMP 7
struct val walk_alu(struct walk *w, unsigned operation, unsigned size, struct val a, struct val b);
struct val walk_shift(struct walk *w, unsigned operation, unsigned size, struct val a,
		      struct val count);
struct val walk_shift_double(struct walk *w, bool right, unsigned size, struct val a, struct val b,
			     struct val count);
void walk_multiply(struct walk *w, bool is_signed, unsigned size, struct val a);
struct val walk_multiply_low(struct walk *w, unsigned size, struct val a, struct val b);
void walk_divide(struct walk *w, bool is_signed, unsigned size, struct val a);
void walk_logic_flags(struct walk *w, unsigned size, struct val r);
void walk_push(struct walk *w, unsigned size, struct val x);
struct val walk_pop(struct walk *w, unsigned size);

#endif
