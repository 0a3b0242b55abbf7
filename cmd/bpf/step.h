/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_BPF_STEP_H
#define CMD_BPF_STEP_H

#include "cmd/bpf/program.h"

/*
 * The walk by operations, for the program in the kernel and for tests.  Who includes it defines
 *
 *	static bool walk_read(__u64 addr, void *bytes, __u32 size);
 *	static bool walk_find(const struct bpf_walk_at *at, __u32 *op);
 *	static const struct bpf_walk_op *walk_op(__u32 index);
 *
 * Each index is masked where it is used: the kernel's verifier must see that it is in bounds.
 */

#define WALK_INLINE static inline __attribute__((always_inline))

#define WALK_SLOTS     256
#define WALK_NO_LINE   0xffffffffu
#define WALK_CONDITION 8 /* conditions of x86's encoding without the lowest bit, which negates */

/* What the flags are of; values are shifted to the top, so that all widths compare alike. */
enum walk_flags_kind {
	WALK_FLAGS_UNKNOWN,
	WALK_FLAGS_RAW,	    /* a is the flags register */
	WALK_FLAGS_COMPARE, /* of a - b */
	WALK_FLAGS_SUM,	    /* of a + b */
};

struct walk_memory {
	__u64 known; /* a bit for each byte */
	__u8 bytes[BPF_WALK_LINE + 8];
};

/* A walk; the sample is what leaves the kernel. */
struct walk_state {
	__u64 reg[BPF_WALK_REGS];
	__u32 known; /* bit n: register n */
	__u32 op;
	__u32 limit; /* instructions */
	__u32 flags_kind;
	__u64 flags_a;
	__u64 flags_b;
	__u64 code_line;       /* the last one */
	__u32 flags_unknown;   /* bits of them */
	__u8 slot[WALK_SLOTS]; /* a line's index in the sample by its address */
	/* The lines after the walk's stores. */
	struct walk_memory memory[BPF_WALK_LINES];
	struct bpf_walk_sample out;
};

/* ---- lines ---- */

WALK_INLINE __u32 walk_slot(__u64 line)
{
	return (__u32)(line >> 6 ^ line >> 14) & (WALK_SLOTS - 1);
}

/* The index of a line, which is read if the sample has not got it yet. */
static __attribute__((noinline)) __u32 walk_line(struct walk_state *s, __u64 addr)
{
	__u64 line = addr & ~(__u64)(BPF_WALK_LINE - 1);
	__u32 i, slot = walk_slot(line);

	if (!s)
		return WALK_NO_LINE;
	i = s->slot[slot] & (BPF_WALK_LINES - 1);
	if (i < s->out.nlines && s->out.line[i].addr == line)
		return i;
	i = s->out.nlines;
	if (i >= BPF_WALK_LINES)
		return WALK_NO_LINE;
	if (!walk_read(line, s->out.line[i].bytes, BPF_WALK_LINE)) {
		s->out.unreadable++;
		return WALK_NO_LINE;
	}
	__builtin_memcpy(s->memory[i].bytes, s->out.line[i].bytes, BPF_WALK_LINE);
	s->memory[i].known = ~(__u64)0;
	s->out.line[i].addr = line;
	s->out.line[i].read = 0;
	s->slot[slot] = (__u8)i;
	s->out.nlines = i + 1;
	return i;
}

WALK_INLINE void walk_touch(struct walk_state *s, __u64 addr)
{
	__u32 i = walk_line(s, addr);

	if (i < BPF_WALK_LINES)
		s->out.line[i].read = ~(__u64)0;
}

WALK_INLINE __u64 walk_mask(__u32 size)
{
	return size >= 8 ? ~(__u64)0 : ((__u64)1 << (size * 8)) - 1;
}

WALK_INLINE __u64 walk_byte_mask(__u32 at, __u32 size)
{
	return (size >= 64 ? ~(__u64)0 : ((__u64)1 << size) - 1) << (at & 63);
}

/* The value in a line from `at` on, of `size` bytes that do not go beyond its end. */
WALK_INLINE bool walk_get(struct walk_state *s, __u32 i, __u32 at, __u32 size, __u64 *value)
{
	__u64 bits = walk_byte_mask(at, size);

	if (i >= BPF_WALK_LINES)
		return false;
	s->out.line[i].read |= bits;
	__builtin_memcpy(value, s->memory[i].bytes + (at & (BPF_WALK_LINE - 1)), 8);
	*value &= walk_mask(size);
	return (s->memory[i].known & bits) == bits;
}

/* A load over the end of a line is one of each line. */
WALK_INLINE bool walk_load(struct walk_state *s, __u64 addr, __u32 size, __u64 *value)
{
	__u32 at = (__u32)addr & (BPF_WALK_LINE - 1), first = BPF_WALK_LINE - at;
	__u32 i = walk_line(s, addr);
	__u64 rest = 0;
	bool known;

	if (first >= size)
		return walk_get(s, i, at, size, value);
	known = walk_get(s, i, at, first, value);
	i = walk_line(s, addr + first);
	known = walk_get(s, i, 0, size - first, &rest) && known;
	*value |= rest << (first * 8 & 63);
	return known;
}

/* Puts a value of `size` bytes, which do not go beyond the line's end. */
WALK_INLINE void walk_put(struct walk_state *s, __u32 i, __u32 at, __u32 size, __u64 value,
			  bool known)
{
	__u64 bits = walk_byte_mask(at, size), mask = walk_mask(size), old;
	__u8 *to;

	if (i >= BPF_WALK_LINES)
		return;
	if (!known) {
		s->memory[i].known &= ~bits;
		return;
	}
	s->memory[i].known |= bits;
	to = s->memory[i].bytes + (at & (BPF_WALK_LINE - 1));
	__builtin_memcpy(&old, to, 8);
	old = (old & ~mask) | (value & mask);
	__builtin_memcpy(to, &old, 8);
}

WALK_INLINE void walk_store(struct walk_state *s, __u64 addr, __u32 size, __u64 value, bool known)
{
	__u32 at = (__u32)addr & (BPF_WALK_LINE - 1), first = BPF_WALK_LINE - at;
	__u32 i = walk_line(s, addr);

	if (first >= size) {
		walk_put(s, i, at, size, value, known);
		return;
	}
	walk_put(s, i, at, first, value, known);
	i = walk_line(s, addr + first);
	walk_put(s, i, 0, size - first, value >> (first * 8 & 63), known);
}

/* ---- flags ---- */

#define WALK_CF 0x1u
#define WALK_PF 0x4u
#define WALK_ZF 0x40u
#define WALK_SF 0x80u
#define WALK_OF 0x800u

/* The flags register's bits of the last result; parity is not among them. */
WALK_INLINE __u32 walk_flags(const struct walk_state *s)
{
	__u64 a = s->flags_a, b = s->flags_b, r, over;
	__u32 f = 0;

	if (s->flags_kind == WALK_FLAGS_RAW)
		return (__u32)a;
	if (s->flags_kind == WALK_FLAGS_COMPARE) {
		r = a - b;
		over = (a ^ b) & (a ^ r);
		f |= a < b ? WALK_CF : 0;
	} else {
		r = a + b;
		over = (a ^ r) & (b ^ r);
		f |= r < a ? WALK_CF : 0;
	}
	f |= r ? 0 : WALK_ZF;
	f |= r >> 63 ? WALK_SF : 0;
	f |= over >> 63 ? WALK_OF : 0;
	return f;
}

/* A condition of x86's encoding: 1 or 0; -1: unknown. */
WALK_INLINE int walk_condition(const struct walk_state *s, __u32 condition)
{
	__u32 f = walk_flags(s), of, holds;
	bool negate = condition & 1;

	switch (condition >> 1 & 7) {
	case 0:
		of = WALK_OF;
		holds = f & WALK_OF;
		break;
	case 1:
		of = WALK_CF;
		holds = f & WALK_CF;
		break;
	case 2:
		of = WALK_ZF;
		holds = f & WALK_ZF;
		break;
	case 3:
		of = WALK_CF | WALK_ZF;
		holds = f & (WALK_CF | WALK_ZF);
		break;
	case 4:
		of = WALK_SF;
		holds = f & WALK_SF;
		break;
	case 5:
		of = WALK_PF;
		holds = f & WALK_PF;
		break;
	case 6:
		of = WALK_SF | WALK_OF;
		holds = !(f & WALK_SF) != !(f & WALK_OF);
		break;
	default:
		of = WALK_ZF | WALK_SF | WALK_OF;
		holds = f & WALK_ZF || !(f & WALK_SF) != !(f & WALK_OF);
		break;
	}
	if (s->flags_kind == WALK_FLAGS_UNKNOWN || s->flags_unknown & of ||
	    (of == WALK_PF && s->flags_kind != WALK_FLAGS_RAW))
		return -1;
	return (holds != 0) != negate;
}

/* ---- operations ---- */

WALK_INLINE void walk_set(struct walk_state *s, __u32 reg, __u64 value, bool known)
{
	reg &= BPF_WALK_REGS - 1;
	s->reg[reg] = value;
	if (known)
		s->known |= 1u << reg;
	else
		s->known &= ~(1u << reg);
}

WALK_INLINE bool walk_known(const struct walk_state *s, __u32 reg)
{
	return s->known >> (reg & (BPF_WALK_REGS - 1)) & 1;
}

WALK_INLINE __u64 walk_alu(__u32 code, __u64 x, __u64 y, __u32 size)
{
	__u32 count = (__u32)y & (size == 8 ? 63 : 31), top = 64 - size * 8;

	switch (code) {
	case BPF_WALK_ADD:
		return x + y;
	case BPF_WALK_SUB:
		return x - y;
	case BPF_WALK_AND:
		return x & y;
	case BPF_WALK_OR:
		return x | y;
	case BPF_WALK_XOR:
		return x ^ y;
	case BPF_WALK_SHL:
		return x << count;
	case BPF_WALK_SHR:
		return (x & walk_mask(size)) >> count;
	case BPF_WALK_SAR:
		return (__u64)((__s64)(x << (top & 63)) >> (top & 63) >> count);
	default:
		return x * y;
	}
}

WALK_INLINE void walk_compare(struct walk_state *s, const struct bpf_walk_op *o, __u64 y,
			      bool known)
{
	__u32 top = (64 - o->size * 8) & 63;

	if (!known) {
		s->flags_kind = WALK_FLAGS_UNKNOWN;
		return;
	}
	s->flags_kind = o->code == BPF_WALK_COMPARE ? WALK_FLAGS_COMPARE : WALK_FLAGS_SUM;
	s->flags_unknown = 0;
	s->flags_a = s->reg[o->a & (BPF_WALK_REGS - 1)] << top;
	s->flags_b = y << top;
}

WALK_INLINE bool walk_end(struct walk_state *s, __u32 why)
{
	s->out.stop = why;
	return false;
}

WALK_INLINE bool walk_insn(struct walk_state *s, const struct bpf_walk_op *o)
{
	__u64 first = (__u64)o->imm & ~(__u64)63, last = ((__u64)o->imm + o->size - 1) & ~(__u64)63;

	if (s->out.walked >= s->limit)
		return walk_end(s, WALK_LENGTH);
	s->out.walked++;
	if (first != s->code_line)
		walk_touch(s, first);
	if (last != first)
		walk_touch(s, last);
	s->code_line = last;
	return true;
}

WALK_INLINE bool walk_goto(struct walk_state *s, __u64 pc, bool known)
{
	struct bpf_walk_at at = {s->out.space, pc};

	if (!known)
		return walk_end(s, WALK_TARGET);
	if (s->out.walked >= s->limit)
		return walk_end(s, WALK_LENGTH);
	if (walk_find(&at, &s->op))
		return true;
	s->out.missing = pc;
	walk_touch(s, pc);
	return walk_end(s, WALK_CODE);
}

WALK_INLINE void walk_access(struct walk_state *s, const struct bpf_walk_op *o, __u64 y, bool known)
{
	__u64 addr = s->reg[o->a & (BPF_WALK_REGS - 1)] + (__u64)o->imm, value = 0;

	if (!walk_known(s, o->a)) {
		if (o->code == BPF_WALK_LOAD)
			walk_set(s, o->dst, 0, false);
		return;
	}
	switch (o->code) {
	case BPF_WALK_LOAD:
		known = walk_load(s, addr, o->size, &value);
		walk_set(s, o->dst, value, known);
		break;
	case BPF_WALK_TOUCH:
		walk_touch(s, addr);
		walk_touch(s, addr + o->size - 1);
		break;
	default:
		walk_store(s, addr, o->size, y, known && o->code == BPF_WALK_STORE);
		break;
	}
}

/* The result, or one of two, by a condition. */
WALK_INLINE void walk_choose(struct walk_state *s, const struct bpf_walk_op *o, __u64 y, bool known)
{
	int holds = walk_condition(s, o->ext);

	if (o->code == BPF_WALK_SET)
		walk_set(s, o->dst, holds > 0, holds >= 0);
	else if (holds < 0)
		walk_set(s, o->dst, 0, false);
	else if (holds)
		walk_set(s, o->dst, y, known);
}

WALK_INLINE void walk_spoil_flags(struct walk_state *s, const struct bpf_walk_op *o)
{
	if (o->code == BPF_WALK_NO_BITS)
		s->flags_unknown = (__u32)o->imm;
	else
		s->flags_kind = WALK_FLAGS_UNKNOWN;
}

/* Runs one operation.  False: the walk has ended. */
WALK_INLINE bool walk_step(struct walk_state *s)
{
	const struct bpf_walk_op *o = walk_op(s->op++);
	bool with_imm, ka, kb;
	__u64 x, y, bits;
	int holds;

	with_imm = o->b == BPF_WALK_IMM;
	x = s->reg[o->a & (BPF_WALK_REGS - 1)];
	y = with_imm ? (__u64)o->imm : s->reg[o->b & (BPF_WALK_REGS - 1)];
	ka = walk_known(s, o->a);
	kb = with_imm || walk_known(s, o->b);
	switch (o->code) {
	case BPF_WALK_INSN:
		return walk_insn(s, o);
	case BPF_WALK_GOTO:
		s->op = (__u32)o->imm;
		return true;
	case BPF_WALK_GOTO_IF:
		holds = walk_condition(s, o->ext);
		if (holds < 0)
			return walk_end(s, WALK_BRANCH);
		if (holds)
			s->op = (__u32)o->imm;
		return true;
	case BPF_WALK_FIND:
		return walk_goto(s, y, kb);
	case BPF_WALK_LEA:
		walk_set(s, o->dst, x + (with_imm ? 0 : y << (o->ext & 3)) + (__u64)o->imm,
			 ka && kb);
		return true;
	case BPF_WALK_MOVE:
		walk_set(s, o->dst, y & walk_mask(o->size), kb);
		return true;
	case BPF_WALK_ADD:
	case BPF_WALK_SUB:
	case BPF_WALK_AND:
	case BPF_WALK_OR:
	case BPF_WALK_XOR:
	case BPF_WALK_SHL:
	case BPF_WALK_SHR:
	case BPF_WALK_SAR:
	case BPF_WALK_MUL:
		walk_set(s, o->dst, walk_alu(o->code, x, y, o->size) & walk_mask(o->size),
			 ka && kb);
		return true;
	case BPF_WALK_SIGN:
		bits = (64 - o->size * 8) & 63;
		walk_set(s, o->dst, (__u64)((__s64)(x << bits) >> bits), ka);
		return true;
	case BPF_WALK_INSERT:
		bits = walk_mask(o->size) << (o->ext & 63);
		y = s->reg[o->dst & (BPF_WALK_REGS - 1)] & ~bits;
		walk_set(s, o->dst, y | (x << (o->ext & 63) & bits), ka && walk_known(s, o->dst));
		return true;
	case BPF_WALK_LOAD:
	case BPF_WALK_STORE:
	case BPF_WALK_TOUCH:
	case BPF_WALK_SPOIL:
		walk_access(s, o, y, kb);
		return true;
	case BPF_WALK_COMPARE:
	case BPF_WALK_SUM:
		walk_compare(s, o, y, ka && kb);
		return true;
	case BPF_WALK_NO_BITS:
	case BPF_WALK_NO_FLAGS:
		walk_spoil_flags(s, o);
		return true;
	case BPF_WALK_SET:
	case BPF_WALK_SELECT:
		walk_choose(s, o, y, kb);
		return true;
	case BPF_WALK_FORGET:
		walk_set(s, o->dst, 0, false);
		return true;
	default:
		s->out.walked -= s->out.walked > 0;
		return walk_end(s, o->imm ? (__u32)o->imm : WALK_INSN);
	}
}

#endif
