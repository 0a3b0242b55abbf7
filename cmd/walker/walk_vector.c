/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vector registers, and what moves between them and memory. */
#include "cmd/walker/walk_vec.h"

static void copy(uint8_t *to, const uint8_t *from, unsigned n)
{
	while (n--)
		*to++ = *from++;
}

static void clear(uint8_t *to, unsigned n)
{
	while (n--)
		*to++ = 0;
}

/* ---- registers ---- */

/* Of fixed sizes, in place of loops. */
static inline void copy_or_clear(uint8_t *to, const uint8_t *from, unsigned n)
{
	if (from)
		__builtin_memcpy(to, from, n);
	else
		__builtin_memset(to, 0, n);
}

static void clear_upper(uint8_t *bytes)
{
	__builtin_memset(bytes + 16, 0, 48);
}

static void load_register(struct walk *w, unsigned n)
{
	const struct walk_start *s = w->start;
	uint8_t *to = w->vec[n];

	w->vec_loaded |= UINT32_C(1) << n;
	w->vec_known[n] = 0xff;
	if (n >= 16) {
		copy_or_clear(to, s->hi_zmm ? s->hi_zmm + (size_t)64 * (n - 16) : NULL, 64);
		return;
	}
	copy_or_clear(to, s->xmm ? s->xmm + (size_t)16 * n : NULL, 16);
	if (!s->xmm)
		w->vec_known[n] = 0xfc;
	if (w->vec_cleared >> n & 1) {
		clear_upper(to);
		return;
	}
	copy_or_clear(to + 16, s->ymm_high ? s->ymm_high + (size_t)16 * n : NULL, 16);
	copy_or_clear(to + 32, s->zmm_high ? s->zmm_high + (size_t)32 * n : NULL, 32);
}

struct vec walk_vec(struct walk *w, unsigned n, unsigned bytes)
{
	n &= 31;
	if (!(w->vec_loaded >> n & 1))
		load_register(w, n);
	if (bytes > 16 || n >= 16)
		w->wide = true;
	return (struct vec){w->vec[n], w->vec_known[n]};
}

struct vec walk_vec_first(struct walk *w, unsigned bytes)
{
	const struct insn *i = &w->insn;

	return walk_vec(w, i->encoding == INSN_LEGACY ? i->reg : i->vvvv, bytes);
}

static void repeat(uint8_t *bytes, unsigned element, unsigned size)
{
	unsigned k;

	for (k = element; k < size; k++)
		bytes[k] = bytes[k - element];
}

struct vec walk_vec_rm(struct walk *w, unsigned bytes, unsigned element)
{
	const struct insn *i = &w->insn;
	unsigned size = i->bcst && element ? element : bytes;
	bool ok;

	if (!i->memory)
		return walk_vec(w, i->rm, bytes);
	ok = w->ea_state == WALK_ADDRESS_KNOWN && walk_read_bytes(w, w->ea, size, w->operand[1]);
	if (ok && size < bytes)
		repeat(w->operand[1], size, bytes);
	return (struct vec){w->operand[1], ok ? 0xff : 0};
}

void walk_vec_zero_upper(struct walk *w)
{
	unsigned n;

	w->vec_cleared |= 0xffff & ~w->vec_loaded;
	for (n = 0; n < 16; n++)
		if (w->vec_loaded >> n & 1) {
			clear_upper(w->vec[n]);
			w->vec_known[n] |= 0xfc;
		}
}

void walk_vec_set(struct walk *w, unsigned n, unsigned bytes, uint8_t is_known)
{
	uint8_t lanes = lanes_of(bytes);

	n &= 31;
	if (w->insn.encoding == INSN_LEGACY) {
		walk_vec(w, n, 0);
		copy(w->vec[n], w->operand[2], bytes);
		w->vec_known[n] = (uint8_t)((w->vec_known[n] & ~lanes) | (is_known & lanes));
		return;
	}
	w->vec_loaded |= UINT32_C(1) << n;
	copy(w->vec[n], w->operand[2], bytes);
	clear(w->vec[n] + bytes, 64 - bytes);
	w->vec_known[n] = (uint8_t)(~lanes | is_known);
}

/* ---- masks ---- */

struct val walk_mask(struct walk *w, unsigned n)
{
	uint32_t bit = UINT32_C(1) << (n & 7);
	unsigned k;

	if (!(w->kmask_loaded & bit)) {
		w->kmask_loaded |= bit;
		w->kmask_known |= bit;
		w->kmask[n & 7] = 0;
		for (k = 0; k < 8 && w->start->kmask; k++)
			w->kmask[n & 7] |= (uint64_t)w->start->kmask[8 * (n & 7) + k] << 8 * k;
	}
	w->wide = true;
	return (struct val){w->kmask[n & 7], (w->kmask_known & bit) != 0};
}

void walk_set_mask(struct walk *w, unsigned n, struct val x)
{
	uint32_t bit = UINT32_C(1) << (n & 7);

	w->kmask_loaded |= bit;
	w->kmask[n & 7] = x.v;
	w->kmask_known = x.known ? w->kmask_known | bit : w->kmask_known & ~bit;
}

struct val walk_mask_of_insn(struct walk *w, unsigned elements)
{
	uint64_t all = UINT64_MAX >> (64 - elements);
	struct val m = known(all);

	if (w->insn.encoding == INSN_EVEX && w->insn.aaa)
		m = walk_mask(w, w->insn.aaa);
	m.v &= all;
	return m;
}

/* Takes from a register what the mask leaves out.  Returns what is known of the result. */
static uint8_t blend(struct walk *w, unsigned n, unsigned bytes, uint8_t is_known, unsigned element)
{
	struct val m = walk_mask_of_insn(w, bytes / element);
	struct vec old = walk_vec(w, n, bytes);
	uint8_t from_old = 0, from_new = 0, lane;
	unsigned k;

	if (!m.known)
		return 0;
	for (k = 0; k < bytes; k += element) {
		lane = (uint8_t)(1U << k / 8);
		if (m.v >> k / element & 1) {
			from_new |= lane;
		} else if (w->insn.zero) {
			clear(w->operand[2] + k, element);
		} else {
			copy(w->operand[2] + k, old.bytes + k, element);
			from_old |= lane;
		}
	}
	return (uint8_t)((is_known | ~from_new) & (old.known | ~from_old));
}

void walk_vec_set_masked(struct walk *w, unsigned n, unsigned bytes, uint8_t is_known,
			 unsigned element)
{
	if (w->insn.encoding == INSN_EVEX && w->insn.aaa && element)
		is_known = blend(w, n, bytes, is_known, element);
	walk_vec_set(w, n, bytes, is_known);
}

/* ---- moves of whole registers ---- */

/* The first and one behind the last byte of the elements that a mask selects. */
static void masked_range(uint64_t mask, unsigned element, unsigned *from, unsigned *to)
{
	*from = mask ? (unsigned)__builtin_ctzll(mask) * element : 0;
	*to = mask ? (64 - (unsigned)__builtin_clzll(mask)) * element : 0;
}

/* Reads the elements that the mask selects. */
static bool read_masked(struct walk *w, unsigned bytes, unsigned element, uint8_t *out)
{
	unsigned from = 0, to = bytes;
	struct val m = walk_mask_of_insn(w, bytes / element);

	if (m.known)
		masked_range(m.v, element, &from, &to);
	if (to == from)
		return true;
	return w->ea_state == WALK_ADDRESS_KNOWN &&
	       walk_read_bytes(w, w->ea + from, to - from, out + from);
}

struct vec walk_vec_rm_masked(struct walk *w, unsigned bytes, unsigned element)
{
	bool ok;

	if (!w->insn.memory || !w->insn.aaa || w->insn.bcst)
		return walk_vec_rm(w, bytes, element);
	ok = read_masked(w, bytes, element, w->operand[1]);
	return (struct vec){w->operand[1], ok ? 0xff : 0};
}

static void load_whole(struct walk *w, unsigned element)
{
	unsigned bytes = w->insn.vbytes;
	struct vec v;
	bool ok;

	if (w->insn.memory) {
		ok = read_masked(w, bytes, element, w->operand[2]);
		walk_vec_set_masked(w, w->insn.reg, bytes, ok ? 0xff : 0, element);
		return;
	}
	v = walk_vec(w, w->insn.rm, bytes);
	copy(w->operand[2], v.bytes, bytes);
	walk_vec_set_masked(w, w->insn.reg, bytes, v.known, element);
}

/* Stores bytes from one offset of a register to another: the known parts, and the others. */
static void store_part(struct walk *w, struct vec v, unsigned from, unsigned to)
{
	bool ok = (v.known & lanes_of(to) & ~lanes_of(from & ~7U)) ==
		  (lanes_of(to) & ~lanes_of(from & ~7U));

	if (to > from)
		walk_write_bytes(w, w->ea + from, to - from, ok ? v.bytes + from : NULL);
}

static void store_masked(struct walk *w, struct vec v, unsigned bytes, unsigned element)
{
	struct val m = walk_mask_of_insn(w, bytes / element);
	unsigned k, from = 0;

	if (!m.known) {
		walk_write_bytes(w, w->ea, bytes, NULL);
		return;
	}
	for (k = 0; k <= bytes; k += element)
		if (k == bytes || !(m.v >> k / element & 1)) {
			store_part(w, v, from, k);
			from = k + element;
		}
}

/* Of `bytes` of a register; those that are known stay so. */
static void store_register(struct walk *w, unsigned n, unsigned bytes)
{
	struct vec v = walk_vec(w, n, bytes);
	unsigned k;

	if (w->ea_state != WALK_ADDRESS_KNOWN) {
		w->memory_unknown = true;
		return;
	}
	if (all_known(v, bytes) || bytes <= 8) {
		walk_write_bytes(w, w->ea, bytes, all_known(v, bytes) ? v.bytes : NULL);
		return;
	}
	for (k = 0; k < bytes; k += 8)
		store_part(w, v, k, k + 8);
}

static void store_whole(struct walk *w, unsigned element)
{
	unsigned bytes = w->insn.vbytes;
	struct vec v;

	if (!w->insn.memory) {
		v = walk_vec(w, w->insn.reg, bytes);
		copy(w->operand[2], v.bytes, bytes);
		walk_vec_set_masked(w, w->insn.rm, bytes, v.known, element);
	} else if (w->insn.encoding == INSN_EVEX && w->insn.aaa) {
		v = walk_vec(w, w->insn.reg, bytes);
		if (w->ea_state == WALK_ADDRESS_KNOWN)
			store_masked(w, v, bytes, element);
		else
			w->memory_unknown = true;
	} else {
		store_register(w, w->insn.reg, bytes);
	}
}

/* ---- moves of parts ---- */

/* movss, movsd: a load clears the rest, a register keeps the first source's. */
static void load_scalar(struct walk *w, unsigned bytes)
{
	struct vec v = walk_vec_rm(w, bytes, 0), a;
	uint8_t is_known;

	if (w->insn.memory) {
		copy(w->operand[2], v.bytes, bytes);
		clear(w->operand[2] + bytes, 16 - bytes);
		is_known = v.known;
	} else {
		a = walk_vec_first(w, 16);
		is_known = (uint8_t)((a.known & 2) | (v.known & (bytes == 8 ? 1 : a.known & 1)));
		copy(w->operand[2], v.bytes, bytes);
		copy(w->operand[2] + bytes, a.bytes + bytes, 16 - bytes);
	}
	if (w->insn.encoding == INSN_EVEX && w->insn.aaa)
		is_known = 0;
	walk_vec_set(w, w->insn.reg, 16, is_known | 0xfc);
}

static void store_scalar(struct walk *w, unsigned bytes)
{
	struct vec v, a;

	if (w->insn.encoding == INSN_EVEX && w->insn.aaa) {
		if (w->insn.memory)
			walk_spoil_memory(w, bytes);
		else
			walk_vec_set(w, w->insn.rm, 16, 0);
		return;
	}
	if (w->insn.memory) {
		store_register(w, w->insn.reg, bytes);
		return;
	}
	v = walk_vec(w, w->insn.reg, bytes);
	a = w->insn.encoding == INSN_LEGACY ? walk_vec(w, w->insn.rm, 16) : walk_vec_first(w, 16);
	copy(w->operand[2], v.bytes, bytes);
	copy(w->operand[2] + bytes, a.bytes + bytes, 16 - bytes);
	walk_vec_set(w, w->insn.rm, 16,
		     (uint8_t)((a.known & 2) | (v.known & (bytes == 8 ? 1 : a.known & 1))));
}

/* movlps, movhps, movhlps, movlhps: 8 bytes into one half, the other from the first source. */
static void load_half(struct walk *w, bool high)
{
	struct vec a = walk_vec_first(w, 16), v = walk_vec_rm(w, w->insn.memory ? 8 : 16, 0);
	bool upper = !w->insn.memory && !high; /* movhlps takes the upper half */
	unsigned from = upper ? 8 : 0, to = high ? 8 : 0;
	bool ok = v.known >> (upper ? 1 : 0) & 1, rest = a.known >> (high ? 0 : 1) & 1;

	copy(w->operand[2], a.bytes, 16);
	copy(w->operand[2] + to, v.bytes + from, 8);
	walk_vec_set(w, w->insn.reg, 16, (uint8_t)(high ? rest | ok << 1 : ok | rest << 1));
}

static void store_half(struct walk *w, bool high)
{
	struct vec v = walk_vec(w, w->insn.reg, 16);

	if (w->ea_state != WALK_ADDRESS_KNOWN)
		w->memory_unknown = true;
	else
		walk_write_bytes(w, w->ea, 8,
				 v.known >> high & 1 ? v.bytes + (high ? 8 : 0) : NULL);
}

/* movd, movq from a general register or memory. */
static void from_general(struct walk *w)
{
	unsigned size = w->insn.w ? 8 : 4, k;
	struct val x = walk_get_rm(w, size);

	for (k = 0; k < 16; k++)
		w->operand[2][k] = k < size ? (uint8_t)(x.v >> 8 * k) : 0;
	walk_vec_set(w, w->insn.reg, 16, x.known ? 3 : 2);
}

static void to_general(struct walk *w)
{
	unsigned size = w->insn.w ? 8 : 4, k;
	struct vec v = walk_vec(w, w->insn.reg, size);
	struct val x = {0, v.known & 1};

	for (k = 0; k < size; k++)
		x.v |= (uint64_t)v.bytes[k] << 8 * k;
	walk_set_rm(w, size, x);
}

/* movq of 8 bytes, the rest cleared. */
static void move_quad(struct walk *w, bool out)
{
	struct vec v;

	if (out && w->insn.memory) {
		store_register(w, w->insn.reg, 8);
		return;
	}
	v = out ? walk_vec(w, w->insn.reg, 8) : walk_vec_rm(w, 8, 0);
	copy(w->operand[2], v.bytes, 8);
	clear(w->operand[2] + 8, 8);
	walk_vec_set(w, out ? w->insn.rm : w->insn.reg, 16, (v.known & 1) | 2);
}

/* movsldup, movshdup, movddup */
static void duplicate(struct walk *w, unsigned element, bool odd)
{
	unsigned bytes = w->insn.vbytes, k;
	struct vec v = walk_vec_rm(w, element == 8 && bytes == 16 ? 8 : bytes, 0);
	uint8_t is_known = 0;

	for (k = 0; k < bytes; k++) {
		unsigned from = (k & ~(2 * element - 1)) + (odd ? element : 0) + k % element;

		w->operand[2][k] = v.bytes[from];
		if (k % 8 == 0)
			is_known |= (uint8_t)((v.known >> from / 8 & 1) << k / 8);
	}
	walk_vec_set_masked(w, w->insn.reg, bytes, is_known, element);
}

static bool move_10_to_17(struct walk *w)
{
	unsigned op = w->insn.op, pp = w->insn.pp;

	if (op < 0x12) {
		if (pp >= INSN_PP_F3) {
			unsigned bytes = pp == INSN_PP_F2 ? 8 : 4;

			if (op & 1)
				store_scalar(w, bytes);
			else
				load_scalar(w, bytes);
		} else if (op & 1) {
			store_whole(w, pp ? 8 : 4);
		} else {
			load_whole(w, pp ? 8 : 4);
		}
		return true;
	}
	if (pp == INSN_PP_F3 && (op == 0x12 || op == 0x16)) {
		duplicate(w, 4, op == 0x16);
	} else if (pp == INSN_PP_F2 && op == 0x12) {
		duplicate(w, 8, false);
	} else if (op == 0x12 || op == 0x16) {
		load_half(w, op == 0x16);
	} else if ((op == 0x13 || op == 0x17) && w->insn.memory) {
		store_half(w, op == 0x17);
	} else {
		return false;
	}
	return true;
}

/* The size of the elements of 6f and 7f, for masks. */
static unsigned element_of(const struct insn *i)
{
	if (i->pp == INSN_PP_F2)
		return i->w ? 2 : 1;
	return i->w ? 8 : 4;
}

static bool move_map1(struct walk *w)
{
	unsigned op = w->insn.op, pp = w->insn.pp;

	if (op >= 0x10 && op < 0x18)
		return move_10_to_17(w);
	switch (op) {
	case 0x28:
		load_whole(w, pp ? 8 : 4);
		return true;
	case 0x2b:
		if (pp >= INSN_PP_F3) { /* movntss, movntsd */
			store_scalar(w, pp == INSN_PP_F2 ? 8 : 4);
			return true;
		}
		store_whole(w, 4);
		return true;
	case 0x29:
		store_whole(w, pp ? 8 : 4);
		return true;
	case 0x6e:
		from_general(w);
		return true;
	case 0x6f:
		load_whole(w, element_of(&w->insn));
		return true;
	case 0x7f:
		store_whole(w, element_of(&w->insn));
		return true;
	case 0x7e:
		if (pp == INSN_PP_F3)
			move_quad(w, false);
		else
			to_general(w);
		return true;
	case 0xd6:
		if (pp == INSN_PP_66)
			move_quad(w, true);
		return pp == INSN_PP_66;
	case 0xe7:
		store_whole(w, 4);
		return true;
	case 0xf0:
		load_whole(w, 4);
		return true;
	default:
		return false;
	}
}

/* Without a prefix these work on MMX registers. */
static bool is_mmx(const struct insn *i)
{
	return i->pp == INSN_PP_NONE && i->map == 1 && i->encoding == INSN_LEGACY &&
	       i->op >= 0x60 && i->op != 0xc2 && i->op != 0xc6;
}

bool walk_vec_move(struct walk *w)
{
	if (w->insn.map == 1)
		return move_map1(w);
	if (w->insn.map == 2 && w->insn.op == 0x2a && w->insn.pp == INSN_PP_66) {
		load_whole(w, 4);
		return true;
	}
	return false;
}

void walk_vector(struct walk *w)
{
	const struct insn *i = &w->insn;

	if (i->encoding == INSN_XOP || i->map > 3 || is_mmx(i) ||
	    !(walk_vec_move(w) || walk_vec_lanes(w) || walk_vec_compare(w) || walk_vec_mask(w) ||
	      walk_vec_scalar(w) || walk_vec_float(w) || walk_vec_shuffle(w) || walk_vec_bits(w) ||
	      walk_vec_strings(w)))
		walk_opaque(w);
}
