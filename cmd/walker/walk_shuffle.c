/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vector instructions that move lanes to other places. */
#include "cmd/walker/walk_vec.h"

static void copy(uint8_t *to, const uint8_t *from, unsigned n)
{
	while (n--)
		*to++ = *from++;
}

static uint8_t all_or_nothing(struct vec a, struct vec b, unsigned bytes)
{
	return all_known(a, bytes) && all_known(b, bytes) ? 0xff : 0;
}

/* punpck, unpck: the lower or upper halves of each 16 bytes, interleaved.  Elements of 1 << log. */
static void interleave(struct walk *w, unsigned log, bool high)
{
	unsigned bytes = w->insn.vbytes, k, half = high ? 8 : 0, from;
	struct vec a = walk_vec_first(w, bytes),
		   b = walk_vec_rm(w, bytes, log >= 2 ? 1U << log : 0);
	uint8_t both = a.known & b.known, is_known = 0;

	for (k = 0; k < bytes; k++) {
		unsigned odd = k >> log & 1;

		from = (k & ~15U) + half + ((k & 15) >> (log + 1) << log) + (k & ((1U << log) - 1));
		w->operand[2][k] = odd ? b.bytes[from] : a.bytes[from];
		if (k % 8 == 0)
			is_known |= (uint8_t)(((log < 3 ? both
						: odd	? b.known
							: a.known) >>
						       from / 8 &
					       1)
					      << k / 8);
	}
	walk_vec_set_masked(w, w->insn.reg, bytes, is_known, 1U << log);
}

/* pshufd; pshuflw and pshufhw, which have words of one half. */
static void shuffle(struct walk *w, unsigned element, unsigned from_byte)
{
	unsigned bytes = w->insn.vbytes, block, k, imm = w->insn.imm & 0xff;
	struct vec v = walk_vec_rm(w, bytes, element == 4 ? 4 : 0);
	uint8_t is_known = v.known & (uint8_t)(v.known >> 1) & 0x55;

	copy(w->operand[2], v.bytes, bytes);
	for (block = from_byte; block < bytes; block += 16)
		for (k = 0; k < 4; k++)
			copy(w->operand[2] + block + k * element,
			     v.bytes + block + (size_t)(imm >> 2 * k & 3) * element, element);
	walk_vec_set_masked(w, w->insn.reg, bytes, (uint8_t)(is_known | is_known << 1), element);
}

/* shufps, shufpd */
static void shuffle_two(struct walk *w, unsigned element)
{
	unsigned bytes = w->insn.vbytes, k, n = 16 / element, bits = element == 4 ? 2 : 1;
	struct vec a = walk_vec_first(w, bytes), b = walk_vec_rm(w, bytes, element);
	uint8_t is_known = all_or_nothing(a, b, bytes);

	for (k = 0; k < bytes / element; k++) {
		unsigned in = k % n, at = bits == 2 ? in : k;
		unsigned pick = (unsigned)w->insn.imm >> (at * bits) & (n - 1);
		const uint8_t *from = in < n / 2 ? a.bytes : b.bytes;

		copy(w->operand[2] + k * element, from + (k - in + pick) * element, element);
	}
	walk_vec_set_masked(w, w->insn.reg, bytes, is_known, element);
}

static void shuffle_bytes(struct walk *w)
{
	unsigned bytes = w->insn.vbytes, k;
	struct vec a = walk_vec_first(w, bytes), b = walk_vec_rm(w, bytes, 0);

	for (k = 0; k < bytes; k++)
		w->operand[2][k] = b.bytes[k] & 0x80 ? 0 : a.bytes[(k & ~15U) + (b.bytes[k] & 15)];
	walk_vec_set_masked(w, w->insn.reg, bytes, all_or_nothing(a, b, bytes), 1);
}

static void align_bytes(struct walk *w)
{
	unsigned bytes = w->insn.vbytes, k, by = w->insn.imm & 0xff, from;
	struct vec a = walk_vec_first(w, bytes), b = walk_vec_rm(w, bytes, 0);

	for (k = 0; k < bytes; k++) {
		from = (k & 15) + by;
		w->operand[2][k] = from < 16   ? b.bytes[(k & ~15U) + from]
				   : from < 32 ? a.bytes[(k & ~15U) + from - 16]
					       : 0;
	}
	walk_vec_set_masked(w, w->insn.reg, bytes, all_or_nothing(a, b, bytes), 1);
}

/* valignd, valignq: across the whole register. */
static void align_elements(struct walk *w, unsigned element)
{
	unsigned bytes = w->insn.vbytes, k, by = ((unsigned)w->insn.imm & 0xff) * element % bytes;
	struct vec a = walk_vec_first(w, bytes), b = walk_vec_rm(w, bytes, element);

	for (k = 0; k < bytes; k++)
		w->operand[2][k] = k + by < bytes ? b.bytes[k + by] : a.bytes[k + by - bytes];
	walk_vec_set_masked(w, w->insn.reg, bytes, all_or_nothing(a, b, bytes), element);
}

/* ---- parts ---- */

static void insert(struct walk *w, unsigned element)
{
	struct vec a = walk_vec_first(w, 16);
	unsigned at = ((unsigned)w->insn.imm & (16 / element - 1)) * element, k;
	struct val x =
		w->insn.memory ? walk_get_rm(w, element) : get_gpr(w, w->insn.rm & 15, element);
	uint8_t lane = (uint8_t)(1U << at / 8), rest = a.known & 3;

	copy(w->operand[2], a.bytes, 16);
	for (k = 0; k < element; k++)
		w->operand[2][at + k] = (uint8_t)(x.v >> 8 * k);
	if (!x.known)
		rest &= (uint8_t)~lane;
	else if (element == 8)
		rest |= lane;
	walk_vec_set(w, w->insn.reg, 16, rest);
}

/* To memory of the element's size, or to a register, where the rest becomes zero. */
static void extract(struct walk *w, unsigned element, unsigned from, bool to_rm)
{
	struct vec v = walk_vec(w, from, 16);
	unsigned at = ((unsigned)w->insn.imm & (16 / element - 1)) * element, k;
	struct val x = {0, v.known >> at / 8 & 1};

	for (k = 0; k < element; k++)
		x.v |= (uint64_t)v.bytes[at + k] << 8 * k;
	if (to_rm && w->insn.memory)
		walk_set_rm(w, element, x);
	else
		set_gpr(w, (to_rm ? w->insn.rm : w->insn.reg) & 15, 8, x);
}

/* Known bits of a part of so many bytes of a register. */
static uint8_t known_part(uint8_t is_known, unsigned at, unsigned bytes)
{
	return (uint8_t)(is_known >> at / 8 & lanes_of(bytes));
}

static void insert_part(struct walk *w, unsigned part, unsigned element)
{
	unsigned bytes = w->insn.vbytes, at = (unsigned)w->insn.imm % (bytes / part) * part;
	struct vec a = walk_vec_first(w, bytes), b = walk_vec_rm(w, part, 0);
	uint8_t lanes = (uint8_t)(lanes_of(part) << at / 8);

	copy(w->operand[2], a.bytes, bytes);
	copy(w->operand[2] + at, b.bytes, part);
	walk_vec_set_masked(
		w, w->insn.reg, bytes,
		(uint8_t)((a.known & ~lanes) | (known_part(b.known, 0, part) << at / 8)), element);
}

static void extract_part(struct walk *w, unsigned part, unsigned element)
{
	unsigned bytes = w->insn.vbytes, at = (unsigned)w->insn.imm % (bytes / part) * part;
	struct vec v = walk_vec(w, w->insn.reg, bytes);
	uint8_t is_known = known_part(v.known, at, part);

	if (!w->insn.memory) {
		copy(w->operand[2], v.bytes + at, part);
		walk_vec_set_masked(w, w->insn.rm, part, is_known, element);
		return;
	}
	if (w->ea_state != WALK_ADDRESS_KNOWN)
		w->memory_unknown = true;
	else
		walk_write_bytes(w, w->ea, part,
				 is_known == lanes_of(part) && !w->insn.aaa ? v.bytes + at : NULL);
}

/* vperm2i128, vperm2f128 */
static void permute_halves(struct walk *w)
{
	struct vec a = walk_vec_first(w, 32), b = walk_vec_rm(w, 32, 0);
	unsigned half, k, pick, part;
	uint8_t is_known = 0;

	for (half = 0; half < 2; half++) {
		const uint8_t *from;

		pick = (unsigned)w->insn.imm >> 4 * half & 15;
		from = (pick & 2 ? b.bytes : a.bytes) + (size_t)16 * (pick & 1);
		for (k = 0; k < 16; k++)
			w->operand[2][16 * half + k] = pick & 8 ? 0 : from[k];
		part = pick & 2 ? b.known : a.known;
		part = pick & 8 ? 3 : part >> 2 * (pick & 1) & 3;
		is_known |= (uint8_t)(part << 2 * half);
	}
	walk_vec_set(w, w->insn.reg, 32, is_known);
}

/* vpermq, vpermpd by an immediate */
static void permute_quads(struct walk *w)
{
	unsigned bytes = w->insn.vbytes, k, from;
	struct vec v = walk_vec_rm(w, bytes, 8);
	uint8_t is_known = 0;

	for (k = 0; k < bytes / 8; k++) {
		from = (k & ~3U) + ((unsigned)w->insn.imm >> 2 * (k & 3) & 3);
		copy(w->operand[2] + (size_t)8 * k, v.bytes + (size_t)8 * from, 8);
		is_known |= (uint8_t)((v.known >> from & 1) << k);
	}
	walk_vec_set_masked(w, w->insn.reg, bytes, is_known, 8);
}

/* ---- broadcasts and extensions ---- */

static void broadcast(struct walk *w, unsigned part, unsigned element)
{
	unsigned k;
	struct vec v = walk_vec_rm(w, part, 0);
	bool ok = all_known(v, part);

	for (k = 0; k < w->insn.vbytes; k += part)
		copy(w->operand[2] + k, v.bytes, part);
	walk_vec_set_masked(w, w->insn.reg, w->insn.vbytes, ok ? 0xff : 0, element);
}

static void broadcast_general(struct walk *w, unsigned element)
{
	struct val x = get_gpr(w, w->insn.rm & 15, element);
	unsigned k;

	for (k = 0; k < w->insn.vbytes; k++)
		w->operand[2][k] = (uint8_t)(x.v >> 8 * (k % element));
	walk_vec_set_masked(w, w->insn.reg, w->insn.vbytes, x.known ? 0xff : 0, element);
}

/* pmovsx, pmovzx */
static void extend(struct walk *w, bool is_signed)
{
	static const uint8_t from_size[6] = {1, 1, 1, 2, 2, 4}, to_size[6] = {2, 4, 8, 4, 8, 8};
	unsigned n = w->insn.op & 15, from = from_size[n], to = to_size[n];
	unsigned bytes = w->insn.vbytes, part = bytes / (to / from), k, j;
	struct vec v = walk_vec_rm(w, part, 0);
	bool ok = all_known(v, part);

	for (k = 0; k < bytes / to; k++) {
		const uint8_t *x = v.bytes + k * from;
		uint8_t fill = is_signed && x[from - 1] & 0x80 ? 0xff : 0;

		for (j = 0; j < to; j++)
			w->operand[2][k * to + j] = j < from ? x[j] : fill;
	}
	walk_vec_set_masked(w, w->insn.reg, bytes, ok ? 0xff : 0, to);
}

/* ---- the maps ---- */

static bool map1(struct walk *w)
{
	const struct insn *i = &w->insn;
	unsigned op = i->op;

	if ((op == 0x14 || op == 0x15) && i->pp < INSN_PP_F3) {
		interleave(w, i->pp ? 3 : 2, op & 1);
	} else if (op == 0xc6 && i->pp < INSN_PP_F3) {
		shuffle_two(w, i->pp ? 8 : 4);
	} else if (op == 0x70 && i->pp) {
		shuffle(w, i->pp == INSN_PP_66 ? 4 : 2, i->pp == INSN_PP_F3 ? 8 : 0);
	} else if (i->pp != INSN_PP_66) {
		return false;
	} else if ((op >= 0x60 && op <= 0x62) || (op >= 0x68 && op <= 0x6a)) {
		interleave(w, op & 3, op >= 0x68);
	} else if (op == 0x6c || op == 0x6d) {
		interleave(w, 3, op & 1);
	} else if (op == 0xc4) {
		insert(w, 2);
	} else if (op == 0xc5) {
		extract(w, 2, i->rm, false);
	} else {
		return false;
	}
	return true;
}

static bool broadcasts(struct walk *w)
{
	const struct insn *i = &w->insn;
	unsigned w_element = i->w ? 8 : 4;

	switch (i->op) {
	case 0x18:
	case 0x58:
		broadcast(w, 4, 4);
		return true;
	case 0x19:
	case 0x59:
		broadcast(w, 8, w_element);
		return true;
	case 0x1a:
	case 0x5a:
		broadcast(w, 16, w_element);
		return true;
	case 0x1b:
	case 0x5b:
		broadcast(w, 32, w_element);
		return true;
	case 0x78:
		broadcast(w, 1, 1);
		return true;
	case 0x79:
		broadcast(w, 2, 2);
		return true;
	case 0x7a:
	case 0x7b:
		broadcast_general(w, i->op == 0x7a ? 1 : 2);
		return true;
	case 0x7c:
		broadcast_general(w, w_element);
		return true;
	default:
		return false;
	}
}

static bool map2(struct walk *w)
{
	const struct insn *i = &w->insn;
	unsigned op = i->op;

	if (op == 0) {
		shuffle_bytes(w);
		return true;
	}
	if (((op & 0xf8) == 0x20 || (op & 0xf8) == 0x30) && (op & 7) < 6) {
		extend(w, op < 0x30);
		return true;
	}
	return i->encoding != INSN_LEGACY && broadcasts(w);
}

static bool parts(struct walk *w)
{
	const struct insn *i = &w->insn;
	unsigned element = i->w ? 8 : 4;

	/* 18 to 1b and 38 to 3b have parts of 16 or 32 bytes of what is longer. */
	if ((i->op & 0xdc) == 0x18 && i->vbytes <= ((i->op & 2) ? 32 : 16))
		return false;
	switch (i->op) {
	case 0x00:
	case 0x01:
		if (!i->w || i->vbytes < 32)
			return false;
		permute_quads(w);
		return true;
	case 0x03:
		if (i->encoding != INSN_EVEX)
			return false;
		align_elements(w, element);
		return true;
	case 0x06:
	case 0x46:
		if (i->encoding != INSN_VEX)
			return false;
		permute_halves(w);
		return true;
	case 0x18:
	case 0x38:
		insert_part(w, 16, element);
		return true;
	case 0x19:
	case 0x39:
		extract_part(w, 16, element);
		return true;
	case 0x1a:
	case 0x3a:
		insert_part(w, 32, element);
		return true;
	case 0x1b:
	case 0x3b:
		extract_part(w, 32, element);
		return true;
	default:
		return false;
	}
}

static bool map3(struct walk *w)
{
	const struct insn *i = &w->insn;
	unsigned op = i->op;

	if (op == 0x0f) {
		align_bytes(w);
	} else if (op >= 0x14 && op <= 0x17) {
		extract(w,
			op == 0x14	     ? 1
			: op == 0x15	     ? 2
			: op == 0x16 && i->w ? 8
					     : 4,
			i->reg, true);
	} else if (op == 0x20) {
		insert(w, 1);
	} else if (op == 0x22) {
		insert(w, i->w ? 8 : 4);
	} else {
		return i->encoding != INSN_LEGACY && parts(w);
	}
	return true;
}

bool walk_vec_shuffle(struct walk *w)
{
	const struct insn *i = &w->insn;

	if (i->map == 1)
		return map1(w);
	if (i->pp != INSN_PP_66)
		return false;
	return i->map == 2 ? map2(w) : i->map == 3 && map3(w);
}
