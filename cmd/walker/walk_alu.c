/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Integer arithmetic and its flags.  Source of each rule: Intel SDM volume 2, "Flags Affected" and
 * "Operation"; what is undefined there becomes unknown.
 */
#include "cmd/walker/walk_state.h"

static bool bit(uint64_t v, unsigned n)
{
	return v >> n & 1;
}

/* ---- add, or, adc, sbb, and, sub, xor, cmp ---- */

void walk_logic_flags(struct walk *w, unsigned size, struct val r)
{
	set_flags(w, FLAGS6 & ~FLAG_A, flags_of(r.v, size), r.known);
	set_flags(w, FLAG_A, 0, false);
}

static struct val add(struct walk *w, unsigned size, uint64_t a, uint64_t b, unsigned carry)
{
	unsigned top = 8 * size - 1;
	uint64_t r = (a + b + carry) & bits_of(size);
	uint64_t flags = flags_of(r, size) | ((a ^ b ^ r) & FLAG_A);

	if (bit((a & b) | ((a | b) & ~r), top))
		flags |= FLAG_C;
	if (bit((a ^ r) & (b ^ r), top))
		flags |= FLAG_O;
	set_flags(w, FLAGS6, flags, true);
	return known(r);
}

static struct val subtract(struct walk *w, unsigned size, uint64_t a, uint64_t b, unsigned borrow)
{
	unsigned top = 8 * size - 1;
	uint64_t r = (a - b - borrow) & bits_of(size);
	uint64_t flags = flags_of(r, size) | ((a ^ b ^ r) & FLAG_A);

	if (bit((~a & b) | ((~a | b) & r), top))
		flags |= FLAG_C;
	if (bit((a ^ b) & (a ^ r), top))
		flags |= FLAG_O;
	set_flags(w, FLAGS6, flags, true);
	return known(r);
}

static struct val logic(struct walk *w, unsigned operation, unsigned size, struct val a,
			struct val b)
{
	struct val r = {0, a.known && b.known};

	r.v = (operation == 1 ? a.v | b.v : operation == 4 ? a.v & b.v : a.v ^ b.v) & bits_of(size);
	walk_logic_flags(w, size, r);
	return r;
}

struct val walk_alu(struct walk *w, unsigned operation, unsigned size, struct val a, struct val b)
{
	bool with_carry = operation == 2 || operation == 3;
	struct val carry = get_flag(w, FLAG_C);

	if (operation == 1 || operation == 4 || operation == 6)
		return logic(w, operation, size, a, b);
	if (!a.known || !b.known || (with_carry && !carry.known)) {
		set_flags(w, FLAGS6, 0, false);
		return unknown();
	}
	a.v &= bits_of(size);
	b.v &= bits_of(size);
	carry.v = with_carry ? carry.v : 0;
	if (operation == 0 || operation == 2)
		return add(w, size, a.v, b.v, (unsigned)carry.v);
	return subtract(w, size, a.v, b.v, (unsigned)carry.v);
}

/* ---- shifts and rotations ---- */

static struct val rotate(struct walk *w, bool right, unsigned size, uint64_t a, unsigned count)
{
	unsigned bits = 8 * size, n = count % bits;
	uint64_t r = a;
	bool carry, overflow;

	if (right)
		n = (bits - n) % bits;
	if (n)
		r = (a << n | a >> (bits - n)) & bits_of(size);
	carry = bit(r, right ? bits - 1 : 0);
	overflow = right ? bit(r, bits - 1) != bit(r, bits - 2) : bit(r, bits - 1) != carry;
	set_flags(w, FLAG_C, carry, true);
	set_flags(w, FLAG_O, overflow ? FLAG_O : 0, count == 1);
	return known(r);
}

static struct val rotate_carry(struct walk *w, bool right, unsigned size, uint64_t a,
			       unsigned count)
{
	unsigned bits = 8 * size, n = count % (bits + 1), i;
	struct val carry = get_flag(w, FLAG_C);
	bool overflow, out;

	if (!carry.known) {
		set_flags(w, FLAG_C | FLAG_O, 0, false);
		return unknown();
	}
	overflow = bit(a, bits - 1) != carry.v;
	for (i = 0; i < n; i++) {
		out = bit(a, right ? 0 : bits - 1);
		a = right ? a >> 1 | carry.v << (bits - 1) : (a << 1 | carry.v) & bits_of(size);
		carry.v = out;
	}
	if (!right)
		overflow = bit(a, bits - 1) != carry.v;
	set_flags(w, FLAG_C, carry.v, true);
	set_flags(w, FLAG_O, overflow ? FLAG_O : 0, count == 1);
	return known(a);
}

static struct val shift(struct walk *w, unsigned operation, unsigned size, uint64_t a,
			unsigned count)
{
	unsigned bits = 8 * size;
	bool carry, overflow = false, carry_known = count < bits || operation == 7;
	uint64_t r;

	if (operation == 5) {
		r = a >> count;
		carry = bit(a, count - 1);
		overflow = bit(a, bits - 1);
	} else if (operation == 7) {
		int64_t s = (int64_t)sign_extend(a, size);

		r = (uint64_t)(s >> count) & bits_of(size);
		carry = s >> (count - 1) & 1;
	} else {
		r = a << count & bits_of(size);
		carry = count <= bits && bit(a, bits - count);
		overflow = bit(r, bits - 1) != carry;
	}
	set_flags(w, FLAG_Z | FLAG_S | FLAG_P, flags_of(r, size), true);
	set_flags(w, FLAG_C, carry, carry_known);
	set_flags(w, FLAG_O, overflow ? FLAG_O : 0, count == 1);
	set_flags(w, FLAG_A, 0, false);
	return known(r);
}

/* The operation is that of ModRM's field: rol, ror, rcl, rcr, shl, shr, shl, sar. */
struct val walk_shift(struct walk *w, unsigned operation, unsigned size, struct val a,
		      struct val count)
{
	unsigned n = (unsigned)count.v & (size == 8 ? 63 : 31);

	if (count.known && n == 0)
		return a;
	if (!count.known || !a.known) {
		set_flags(w, operation < 4 ? FLAG_C | FLAG_O : FLAGS6, 0, false);
		return unknown();
	}
	if (operation < 2)
		return rotate(w, operation & 1, size, a.v, n);
	if (operation < 4)
		return rotate_carry(w, operation & 1, size, a.v, n);
	return shift(w, operation, size, a.v, n);
}

struct val walk_shift_double(struct walk *w, bool right, unsigned size, struct val a, struct val b,
			     struct val count)
{
	unsigned n = (unsigned)count.v & (size == 8 ? 63 : 31), bits = 8 * size;
	uint64_t r;
	bool carry;

	if (count.known && n == 0)
		return a;
	if (!count.known || !a.known || !b.known || n >= bits) {
		set_flags(w, FLAGS6, 0, false);
		return unknown();
	}
	if (right)
		r = (a.v >> n | b.v << (bits - n)) & bits_of(size);
	else
		r = (a.v << n | b.v >> (bits - n)) & bits_of(size);
	carry = bit(a.v, right ? n - 1 : bits - n);
	set_flags(w, FLAG_Z | FLAG_S | FLAG_P | FLAG_C, flags_of(r, size) | carry, true);
	set_flags(w, FLAG_O, bit(a.v ^ r, bits - 1) ? FLAG_O : 0, n == 1);
	set_flags(w, FLAG_A, 0, false);
	return known(r);
}

/* ---- multiplication ---- */

static void multiply_flags(struct walk *w, bool overflow, bool is_known)
{
	set_flags(w, FLAG_C | FLAG_O, overflow ? FLAG_C | FLAG_O : 0, is_known);
	set_flags(w, FLAG_Z | FLAG_S | FLAG_P | FLAG_A, 0, false);
}

/* The two halves of a product; *overflow: the upper one counts. */
static void product(bool is_signed, unsigned size, uint64_t a, uint64_t b, uint64_t half[2],
		    bool *overflow)
{
	if (is_signed) {
		__int128 p =
			(__int128)(int64_t)sign_extend(a, size) * (int64_t)sign_extend(b, size);

		half[0] = (uint64_t)p & bits_of(size);
		half[1] = (uint64_t)(p >> (8 * size)) & bits_of(size);
		*overflow = p != (int64_t)sign_extend(half[0], size);
	} else {
		unsigned __int128 p = (unsigned __int128)a * b;

		half[0] = (uint64_t)p & bits_of(size);
		half[1] = (uint64_t)(p >> (8 * size)) & bits_of(size);
		*overflow = half[1] != 0;
	}
}

void walk_multiply(struct walk *w, bool is_signed, unsigned size, struct val a)
{
	struct val b = get_gpr(w, AX, size);
	bool overflow, ok = a.known && b.known;
	uint64_t half[2];

	product(is_signed, size, a.v, b.v, half, &overflow);
	if (size == 1) {
		set_gpr(w, AX, 2, (struct val){half[0] | half[1] << 8, ok});
	} else {
		set_gpr(w, AX, size, (struct val){half[0], ok});
		set_gpr(w, DX, size, (struct val){half[1], ok});
	}
	multiply_flags(w, overflow, ok);
}

struct val walk_multiply_low(struct walk *w, unsigned size, struct val a, struct val b)
{
	uint64_t half[2];
	bool overflow;

	product(true, size, a.v, b.v, half, &overflow);
	multiply_flags(w, overflow, a.known && b.known);
	return (struct val){half[0], a.known && b.known};
}

/* ---- division ---- */

/* Of 128 by 64 bits, where the quotient fits. */
static uint64_t divide_wide(uint64_t high, uint64_t low, uint64_t divisor, uint64_t *rest)
{
	uint64_t q, r;

	__asm__("divq %4" : "=a"(q), "=d"(r) : "0"(low), "1"(high), "r"(divisor) : "cc");
	*rest = r;
	return q;
}

static bool divide_unsigned(unsigned size, uint64_t high, uint64_t low, uint64_t d, uint64_t *q,
			    uint64_t *r)
{
	if (high >= d)
		return false;
	if (size == 8) {
		*q = divide_wide(high, low, d, r);
	} else {
		low |= high << 8 * size;
		*q = low / d;
		*r = low % d;
	}
	return true;
}

static bool divide_signed(unsigned size, uint64_t high, uint64_t low, uint64_t d, uint64_t *q,
			  uint64_t *r)
{
	bool minus = bit(high, 8 * size - 1), minus_d = bit(d, 8 * size - 1);
	uint64_t limit = UINT64_C(1) << (8 * size - 1), bits = bits_of(size);

	if (minus) {
		low = -low & bits;
		high = (~high + (low == 0)) & bits;
	}
	if (minus_d)
		d = -d & bits;
	if (!divide_unsigned(size, high, low, d, q, r))
		return false;
	if (*q > limit || (*q == limit && minus == minus_d))
		return false;
	if (minus != minus_d)
		*q = -*q & bits;
	if (minus)
		*r = -*r & bits;
	return true;
}

void walk_divide(struct walk *w, bool is_signed, unsigned size, struct val a)
{
	struct val low = get_gpr(w, AX, size);
	struct val high = size == 1
				  ? (struct val){w->gpr[AX] >> 8 & 0xff, w->gpr_known[AX] >> 1 & 1}
				  : get_gpr(w, DX, size);
	bool ok = a.known && low.known && high.known;
	uint64_t q = 0, r = 0;

	if (a.known && a.v == 0)
		end_walk(w, WALK_TRAP);
	else if (ok && !(is_signed ? divide_signed(size, high.v, low.v, a.v, &q, &r)
				   : divide_unsigned(size, high.v, low.v, a.v, &q, &r)))
		end_walk(w, WALK_TRAP);
	set_flags(w, FLAGS6, 0, false);
	if (size == 1) {
		set_gpr(w, AX, 2, (struct val){q | r << 8, ok});
	} else {
		set_gpr(w, AX, size, (struct val){q, ok});
		set_gpr(w, DX, size, (struct val){r, ok});
	}
}

/* ---- conditions ---- */

static struct val either(struct val a, struct val b)
{
	if (a.known && a.v)
		return a;
	if (b.known && b.v)
		return b;
	return (struct val){0, a.known && b.known};
}

struct val walk_condition(const struct walk *w, unsigned cc)
{
	static const uint16_t single[6] = {FLAG_O, FLAG_C, FLAG_Z, 0, FLAG_S, FLAG_P};
	struct val r, s = get_flag(w, FLAG_S), o = get_flag(w, FLAG_O), z = get_flag(w, FLAG_Z);
	struct val less = {s.v != o.v, s.known && o.known};

	if (cc >> 1 == 3)
		r = either(get_flag(w, FLAG_C), z);
	else if (cc >> 1 < 6)
		r = get_flag(w, single[cc >> 1]);
	else
		r = cc >> 1 == 6 ? less : either(less, z);
	r.v ^= cc & 1;
	return r;
}
