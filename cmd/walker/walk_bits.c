/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Single bits and fields of them, and what VEX encodes of general registers. */
#include "cmd/walker/walk_bits.h"

#define bytes_in(size) (8 * (size))

/* ---- bt, bts, btr, btc ---- */

static uint64_t changed(unsigned operation, uint64_t v, uint64_t mask)
{
	return operation == 1	? v | mask
	       : operation == 2 ? v & ~mask
	       : operation == 3 ? v ^ mask
				: v;
}

/* The bit string's element that holds the bit. */
static void find_element(struct walk *w, unsigned size, struct val at)
{
	unsigned shift = size == 8 ? 6 : size == 4 ? 5 : 4;

	if (!at.known || w->insn.addr32)
		w->ea_state = WALK_ADDRESS_UNKNOWN;
	w->ea += (uint64_t)((int64_t)sign_extend(at.v, size) >> shift) * size;
}

/* The operation: 0 bt, 1 bts, 2 btr, 3 btc. */
void walk_bit_test(struct walk *w, unsigned operation, bool immediate)
{
	unsigned size = op_size(&w->insn);
	struct val at = immediate ? known((uint64_t)w->insn.imm & 0xff)
				  : walk_get_reg(w, w->insn.reg, size);
	struct val a;
	bool ok;

	if (w->insn.memory && !immediate)
		find_element(w, size, at);
	a = walk_get_rm(w, size);
	ok = a.known && at.known;
	at.v &= bytes_in(size) - 1;
	set_flags(w, FLAG_C, a.v >> at.v & 1, ok);
	set_flags(w, FLAG_O | FLAG_S | FLAG_A | FLAG_P, 0, false);
	if (operation)
		walk_set_rm(w, size,
			    (struct val){changed(operation, a.v, UINT64_C(1) << at.v), ok});
}

/* ---- bsf, bsr, tzcnt, lzcnt, popcnt ---- */

void walk_bit_scan(struct walk *w, bool reverse)
{
	unsigned size = op_size(&w->insn);
	struct val a = walk_get_rm(w, size), r = unknown();

	if (a.known && a.v)
		r = known((uint64_t)(reverse ? 63 - __builtin_clzll(a.v) : __builtin_ctzll(a.v)));
	set_flags(w, FLAGS6, 0, false);
	set_flags(w, FLAG_Z, a.v ? 0 : FLAG_Z, a.known);
	/* Of zero, the result is undefined, all 8 bytes of it. */
	walk_set_reg(w, w->insn.reg, r.known ? size : 8, r);
}

void walk_count_zeros(struct walk *w, bool leading)
{
	unsigned size = op_size(&w->insn), bits = bytes_in(size);
	struct val a = walk_get_rm(w, size), r = {bits, a.known};

	if (a.v)
		r.v = (uint64_t)(leading ? __builtin_clzll(a.v) - (64 - (int)bits)
					 : __builtin_ctzll(a.v));
	set_flags(w, FLAGS6, 0, false);
	set_flags(w, FLAG_Z | FLAG_C, (r.v ? 0 : FLAG_Z) | (a.v ? 0 : FLAG_C), a.known);
	walk_set_reg(w, w->insn.reg, size, r);
}

/* Without the instruction, and without a table or a function of the compiler's library. */
static uint64_t count_ones(uint64_t v)
{
	v -= v >> 1 & UINT64_C(0x5555555555555555);
	v = (v & UINT64_C(0x3333333333333333)) + (v >> 2 & UINT64_C(0x3333333333333333));
	v = (v + (v >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return v * UINT64_C(0x0101010101010101) >> 56;
}

void walk_count_ones(struct walk *w)
{
	unsigned size = op_size(&w->insn);
	struct val a = walk_get_rm(w, size);

	set_flags(w, FLAGS6, a.v ? 0 : FLAG_Z, a.known);
	walk_set_reg(w, w->insn.reg, size, (struct val){count_ones(a.v), a.known});
}

/* ---- crc32 ---- */

/* The polynomial of Castagnoli, its bits reversed, as the instruction has it. */
#define CRC32C 0x82f63b78U

void walk_crc32(struct walk *w)
{
	unsigned size = w->insn.op == 0xf0 ? 1 : op_size(&w->insn), n;
	struct val a = walk_get_rm(w, size), c = walk_get_reg(w, w->insn.reg, 4);
	uint64_t v = a.v;
	uint32_t crc = (uint32_t)c.v;

	if (a.known && c.known)
		for (n = 0; n < 8 * size; n++, v >>= 1)
			crc = crc >> 1 ^ ((crc ^ v) & 1 ? CRC32C : 0);
	walk_set_reg(w, w->insn.reg, w->insn.w ? 8 : 4, (struct val){crc, a.known && c.known});
}

/* adcx, adox */
void walk_add_carry(struct walk *w, uint32_t flag)
{
	unsigned size = w->insn.w ? 8 : 4, top = 8 * size - 1;
	struct val a = walk_get_reg(w, w->insn.reg, size), b = walk_get_rm(w, size);
	struct val c = get_flag(w, flag);
	bool ok = a.known && b.known && c.known;
	uint64_t r = (a.v + b.v + c.v) & bits_of(size);

	set_flags(w, flag, ((a.v & b.v) | ((a.v | b.v) & ~r)) >> top & 1 ? flag : 0, ok);
	walk_set_reg(w, w->insn.reg, size, (struct val){r, ok});
}

/* ---- BMI1, BMI2 ---- */

bool walk_is_vex_integer(const struct insn *i)
{
	if (i->encoding != INSN_VEX)
		return false;
	if (i->map == 3)
		return i->op == 0xf0;
	return i->map == 2 && (i->op == 0xf2 || i->op == 0xf3 || (i->op >= 0xf5 && i->op <= 0xf7));
}

static uint64_t deposit(uint64_t v, uint64_t mask)
{
	uint64_t r = 0;

	for (; mask; mask &= mask - 1, v >>= 1)
		if (v & 1)
			r |= mask & -mask;
	return r;
}

static uint64_t extract(uint64_t v, uint64_t mask)
{
	uint64_t r = 0, to = 1;

	for (; mask; mask &= mask - 1, to <<= 1)
		if (v & mask & -mask)
			r |= to;
	return r;
}

/* Zero, sign and carry of a result; overflow is 0, the rest undefined. */
static void field_flags(struct walk *w, unsigned size, struct val r, bool carry)
{
	uint64_t flags = flags_of(r.v, size) & (FLAG_Z | FLAG_S);

	set_flags(w, FLAGS6, 0, false);
	set_flags(w, FLAG_Z | FLAG_S | FLAG_C | FLAG_O, flags | carry, r.known);
}

static void and_not(struct walk *w, unsigned size)
{
	struct val a = get_gpr(w, w->insn.vvvv, size), b = walk_get_rm(w, size);
	struct val r = {~a.v & b.v, a.known && b.known};

	field_flags(w, size, r, false);
	walk_set_reg(w, w->insn.reg, size, r);
}

/* blsr, blsmsk, blsi */
static void lowest_bit(struct walk *w, unsigned size)
{
	struct val a = walk_get_rm(w, size), r = a;
	unsigned operation = w->insn.modrm >> 3 & 7;
	bool carry = a.v == 0;

	if (operation == 1) {
		r.v = a.v & (a.v - 1);
	} else if (operation == 2) {
		r.v = (a.v ^ (a.v - 1)) & bits_of(size);
	} else {
		r.v = a.v & -a.v;
		carry = !carry;
	}
	field_flags(w, size, r, carry);
	set_gpr(w, w->insn.vvvv, size, r);
}

static void zero_high(struct walk *w, unsigned size)
{
	struct val a = walk_get_rm(w, size), n = get_gpr(w, w->insn.vvvv, size);
	unsigned at = n.v & 0xff, bits = bytes_in(size);
	struct val r = {at < bits ? a.v & ((UINT64_C(1) << at) - 1) : a.v, a.known && n.known};

	field_flags(w, size, r, at >= bits);
	walk_set_reg(w, w->insn.reg, size, r);
}

static void scatter_bits(struct walk *w, unsigned size)
{
	struct val a = get_gpr(w, w->insn.vvvv, size), m = walk_get_rm(w, size);
	struct val r = {w->insn.pp == INSN_PP_F2 ? deposit(a.v, m.v) : extract(a.v, m.v),
			a.known && m.known};

	walk_set_reg(w, w->insn.reg, size, r);
}

static void multiply_wide(struct walk *w, unsigned size)
{
	struct val a = get_gpr(w, DX, size), b = walk_get_rm(w, size);
	unsigned __int128 p = (unsigned __int128)a.v * b.v;
	bool ok = a.known && b.known;

	set_gpr(w, w->insn.vvvv, size, (struct val){(uint64_t)p & bits_of(size), ok});
	walk_set_reg(w, w->insn.reg, size,
		     (struct val){(uint64_t)(p >> (8 * size)) & bits_of(size), ok});
}

static void field(struct walk *w, unsigned size)
{
	struct val a = walk_get_rm(w, size), c = get_gpr(w, w->insn.vvvv, size), r;
	unsigned start = c.v & 0xff, length = c.v >> 8 & 0xff;

	r = (struct val){start < 64 ? a.v >> start : 0, a.known && c.known};
	if (length < 64)
		r.v &= (UINT64_C(1) << length) - 1;
	set_flags(w, FLAGS6, 0, false);
	set_flags(w, FLAG_Z | FLAG_C | FLAG_O, r.v ? 0 : FLAG_Z, r.known);
	walk_set_reg(w, w->insn.reg, size, r);
}

/* shlx, sarx, shrx: no flags */
static void plain_shift(struct walk *w, unsigned size)
{
	struct val a = walk_get_rm(w, size), n = get_gpr(w, w->insn.vvvv, size), r = a;
	unsigned by = (unsigned)n.v & (bytes_in(size) - 1);

	if (w->insn.pp == INSN_PP_66)
		r.v = a.v << by;
	else if (w->insn.pp == INSN_PP_F2)
		r.v = a.v >> by;
	else
		r.v = (uint64_t)((int64_t)sign_extend(a.v, size) >> by);
	r.v &= bits_of(size);
	r.known = a.known && n.known;
	walk_set_reg(w, w->insn.reg, size, r);
}

static void plain_rotate(struct walk *w, unsigned size)
{
	struct val a = walk_get_rm(w, size);
	unsigned bits = bytes_in(size), by = (unsigned)w->insn.imm & (bits - 1);

	if (by)
		a.v = (a.v >> by | a.v << (bits - by)) & bits_of(size);
	walk_set_reg(w, w->insn.reg, size, a);
}

void walk_vex_integer(struct walk *w)
{
	unsigned size = w->insn.w ? 8 : 4, op = w->insn.op, pp = w->insn.pp;
	unsigned group = w->insn.modrm >> 3 & 7;

	if (w->insn.map == 3)
		plain_rotate(w, size);
	else if (op == 0xf2 && !pp)
		and_not(w, size);
	else if (op == 0xf3 && !pp && group >= 1 && group <= 3)
		lowest_bit(w, size);
	else if (op == 0xf5 && !pp)
		zero_high(w, size);
	else if (op == 0xf5 && pp >= INSN_PP_F3)
		scatter_bits(w, size);
	else if (op == 0xf6 && pp == INSN_PP_F2)
		multiply_wide(w, size);
	else if (op == 0xf7 && !pp)
		field(w, size);
	else if (op == 0xf7)
		plain_shift(w, size);
	else
		end_walk(w, WALK_INSN);
}
