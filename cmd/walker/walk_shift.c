/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shifts of vector lanes, and logic by a table. */
#include "cmd/walker/walk_vec.h"

enum direction {
	LEFT,
	RIGHT,
	SIGNED,
};

static uint64_t get(const uint8_t *bytes, unsigned size)
{
	uint64_t v = 0;
	unsigned k;

	for (k = 0; k < size; k++)
		v |= (uint64_t)bytes[k] << 8 * k;
	return v;
}

static void put(uint8_t *bytes, uint64_t v, unsigned size)
{
	unsigned k;

	for (k = 0; k < size; k++)
		bytes[k] = (uint8_t)(v >> 8 * k);
}

static uint64_t shifted(uint64_t v, uint64_t by, enum direction direction, unsigned size)
{
	if (direction == SIGNED) {
		if (by > 8 * size - 1)
			by = 8 * size - 1;
		return (uint64_t)((int64_t)sign_extend(v, size) >> by);
	}
	if (by >= 8 * size)
		return 0;
	return direction == LEFT ? v << by : v >> by;
}

static void shift_all(struct walk *w, struct vec v, uint64_t by, enum direction direction,
		      unsigned size)
{
	unsigned k;

	for (k = 0; k < w->insn.vbytes; k += size)
		put(w->operand[2] + k, shifted(get(v.bytes + k, size), by, direction, size), size);
}

/* pslldq, psrldq: whole bytes within 16. */
static void shift_bytes(struct walk *w, struct vec v, unsigned by, bool left)
{
	unsigned k, at, from;

	for (k = 0; k < w->insn.vbytes; k++) {
		at = k & 15;
		from = left ? at - by : at + by;
		w->operand[2][k] = by < 16 && from < 16 ? v.bytes[(k & ~15U) + from] : 0;
	}
}

/* Of 16 bytes each: known if both halves are. */
static uint8_t known_pairs(uint8_t known)
{
	uint8_t both = known & (uint8_t)(known >> 1) & 0x55;

	return (uint8_t)(both | both << 1);
}

/* 0F 71, 72, 73 */
static bool shift_immediate(struct walk *w)
{
	const struct insn *i = &w->insn;
	unsigned group = i->modrm >> 3 & 7, to = i->encoding == INSN_LEGACY ? i->rm : i->vvvv;
	unsigned size = i->op == 0x71					      ? 2
			: i->op == 0x73 || (i->w && i->encoding == INSN_EVEX) ? 8
									      : 4;
	unsigned by = i->imm & 0xff;
	struct vec v;

	if (group < 2 || (group & 1 && i->op != 0x73) || (i->op == 0x73 && group > 3 && group < 6))
		return false; /* vprol, vpror; none */
	v = walk_vec_rm(w, i->vbytes, size);
	if (group & 1) {
		shift_bytes(w, v, by, group == 7);
		walk_vec_set(w, to, i->vbytes, known_pairs(v.known));
		return true;
	}
	shift_all(w, v, by, group == 6 ? LEFT : group == 4 ? SIGNED : RIGHT, size);
	walk_vec_set_masked(w, to, i->vbytes, v.known, size);
	return true;
}

/* By the low 8 bytes of the second source. */
static bool shift_by_register(struct walk *w)
{
	const struct insn *i = &w->insn;
	unsigned column = i->op & 3;
	unsigned size = column == 1							      ? 2
			: column == 2 && !(i->op == 0xe2 && i->w && i->encoding == INSN_EVEX) ? 4
											      : 8;
	struct vec v, count;

	if (column == 0 || i->op == 0xe3)
		return false;
	v = walk_vec_first(w, i->vbytes);
	count = walk_vec_rm(w, 16, 0);
	shift_all(w, v, get(count.bytes, 8),
		  i->op >= 0xf0	  ? LEFT
		  : i->op >= 0xe0 ? SIGNED
				  : RIGHT,
		  size);
	walk_vec_set_masked(w, i->reg, i->vbytes, count.known & 1 ? v.known : 0, size);
	return true;
}

/* Each lane by its own count: vpsrlv, vpsrav, vpsllv. */
static void shift_each(struct walk *w, enum direction direction, unsigned size)
{
	unsigned bytes = w->insn.vbytes, k;
	struct vec v = walk_vec_first(w, bytes), count = walk_vec_rm(w, bytes, size);

	for (k = 0; k < bytes; k += size)
		put(w->operand[2] + k,
		    shifted(get(v.bytes + k, size), get(count.bytes + k, size), direction, size),
		    size);
	walk_vec_set_masked(w, w->insn.reg, bytes, v.known & count.known, size);
}

/* vpternlog: the immediate is the table of the three inputs. */
static void ternary(struct walk *w)
{
	unsigned bytes = w->insn.vbytes, k, n;
	struct vec a = walk_vec(w, w->insn.reg, bytes), b = walk_vec_first(w, bytes);
	struct vec c = walk_vec_rm(w, bytes, w->insn.w ? 8 : 4);
	uint8_t table = (uint8_t)w->insn.imm, is_known = a.known & b.known & c.known;

	if (table == 0 || table == 0xff)
		is_known = 0xff;
	for (k = 0; k < bytes; k++) {
		uint8_t r = 0;

		for (n = 0; n < 8; n++)
			if (table >> n & 1)
				r |= (n & 4 ? a.bytes[k] : (uint8_t)~a.bytes[k]) &
				     (n & 2 ? b.bytes[k] : (uint8_t)~b.bytes[k]) &
				     (n & 1 ? c.bytes[k] : (uint8_t)~c.bytes[k]);
		w->operand[2][k] = r;
	}
	walk_vec_set_masked(w, w->insn.reg, bytes, is_known, w->insn.w ? 8 : 4);
}

bool walk_vec_bits(struct walk *w)
{
	const struct insn *i = &w->insn;
	unsigned op = i->op;

	if (i->pp != INSN_PP_66)
		return false;
	if (i->map == 1 && op >= 0x71 && op <= 0x73)
		return shift_immediate(w);
	if (i->map == 1 && (op & 0xc0) == 0xc0 && (op & 15) < 4 && op >= 0xd0)
		return op != 0xd0 && op != 0xe0 && op != 0xf0 && shift_by_register(w);
	if (i->map == 2 && op >= 0x45 && op <= 0x47 && i->encoding != INSN_LEGACY) {
		shift_each(w, op == 0x45 ? RIGHT : op == 0x46 ? SIGNED : LEFT, i->w ? 8 : 4);
		return true;
	}
	if (i->map == 3 && op == 0x25 && i->encoding == INSN_EVEX) {
		ternary(w);
		return true;
	}
	return false;
}
