/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Vector instructions whose results are general registers and flags. */
#include "cmd/walker/walk_vec.h"

/* pmovmskb, movmskps, movmskpd: the upper bits of the elements. */
static void move_signs(struct walk *w, unsigned element)
{
	unsigned bytes = w->insn.vbytes, k;
	struct vec v = walk_vec(w, w->insn.rm, bytes);
	uint64_t r = 0;

	for (k = element - 1; k < bytes; k += element)
		r |= (uint64_t)(v.bytes[k] >> 7) << k / element;
	set_gpr(w, w->insn.reg & 15, 8, (struct val){r, all_known(v, bytes)});
}

/* ptest; vtestps and vtestpd test the signs alone and are left out. */
static void test(struct walk *w)
{
	unsigned bytes = w->insn.vbytes, k;
	struct vec a = walk_vec(w, w->insn.reg, bytes), b = walk_vec_rm(w, bytes, 0);
	uint8_t both = 0, only = 0;

	for (k = 0; k < bytes; k++) {
		both |= a.bytes[k] & b.bytes[k];
		only |= (uint8_t)(~a.bytes[k] & b.bytes[k]);
	}
	set_flags(w, FLAGS6, (both ? 0 : FLAG_Z) | (only ? 0 : FLAG_C),
		  all_known(a, bytes) && all_known(b, bytes));
}

/* ---- compares of floating point ---- */

/* Bits below the exponent. */
static unsigned fraction_bits(unsigned size)
{
	return size == 8 ? 52 : 23;
}

static bool is_nan(uint64_t v, unsigned size)
{
	uint64_t infinity = (size == 8 ? UINT64_C(0x7ff) : UINT64_C(0xff)) << fraction_bits(size);

	return (v & (bits_of(size) >> 1)) > infinity;
}

/* What MXCSR may take for zero, which is not known here. */
static bool is_denormal(uint64_t v, unsigned size)
{
	v &= bits_of(size) >> 1;
	return v && v >> fraction_bits(size) == 0;
}

/* A number in the order of the values; both zeros are the same. */
static int64_t ordered(uint64_t v, unsigned size)
{
	int64_t magnitude = (int64_t)(v & (bits_of(size) >> 1));

	return v >> (8 * size - 1) ? -magnitude : magnitude;
}

static void compare_scalar(struct walk *w, unsigned size)
{
	struct vec va = walk_vec(w, w->insn.reg, size), vb = walk_vec_rm(w, size, 0);
	uint64_t a = bits_of_element(va.bytes, size), b = bits_of_element(vb.bytes, size),
		 flags = 0;
	bool ok = va.known & vb.known & 1;

	if (is_nan(a, size) || is_nan(b, size))
		flags = FLAG_Z | FLAG_P | FLAG_C;
	else if (is_denormal(a, size) || is_denormal(b, size))
		ok = false;
	else if (ordered(a, size) < ordered(b, size))
		flags = FLAG_C;
	else if (ordered(a, size) == ordered(b, size))
		flags = FLAG_Z;
	set_flags(w, FLAGS6, flags, ok);
}

/* cvttss2si, cvttsd2si: towards zero, whatever MXCSR says. */
static void truncate(struct walk *w, unsigned size)
{
	unsigned wide = w->insn.w ? 8 : 4, fraction = fraction_bits(size);
	struct vec v = walk_vec_rm(w, size, 0);
	uint64_t x = bits_of_element(v.bytes, size), m;
	int exponent = (int)(x >> fraction & (size == 8 ? 0x7ff : 0xff)) - (size == 8 ? 1023 : 127);

	m = (x & ((UINT64_C(1) << fraction) - 1)) | UINT64_C(1) << fraction;
	if (exponent < 0)
		m = 0;
	else if (exponent >= (int)(8 * wide - 1)) /* the indefinite integer, or the smallest */
		m = UINT64_C(1) << (8 * wide - 1);
	else
		m = exponent < (int)fraction ? m >> ((int)fraction - exponent)
					     : m << (exponent - (int)fraction);
	if (x >> (8 * size - 1))
		m = -m;
	set_gpr(w, w->insn.reg & 15, wide, (struct val){m & bits_of(wide), v.known & 1});
}

/* cvtsi2ss, cvtsi2sd of numbers that are exact: rounding does not count. */
static void from_integer(struct walk *w, unsigned size)
{
	unsigned wide = w->insn.w ? 8 : 4, fraction = fraction_bits(size), k;
	struct val x = walk_get_rm(w, wide);
	struct vec a = walk_vec_first(w, 16);
	int64_t v = (int64_t)sign_extend(x.v, wide);
	uint64_t m = v < 0 ? -(uint64_t)v : (uint64_t)v, r = 0;
	unsigned top = m ? 63 - (unsigned)__builtin_clzll(m) : 0;

	x.known = x.known && top <= fraction;
	if (m && x.known)
		r = ((m << (fraction - top)) & ((UINT64_C(1) << fraction) - 1)) |
		    (uint64_t)(top + (size == 8 ? 1023 : 127)) << fraction |
		    (uint64_t)(v < 0) << (8 * size - 1);
	for (k = 0; k < 16; k++)
		w->operand[2][k] = k < size ? (uint8_t)(r >> 8 * k) : a.bytes[k];
	walk_vec_set(w, w->insn.reg, 16,
		     (uint8_t)((a.known & 2) | (x.known && (size == 8 || a.known & 1))));
}

/* ---- the maps ---- */

static bool is_scalar_prefix(const struct insn *i)
{
	return i->pp >= INSN_PP_F3;
}

static bool map1(struct walk *w)
{
	const struct insn *i = &w->insn;
	unsigned size = i->pp == INSN_PP_F2 ? 8 : 4;

	switch (i->op) {
	case 0x2a:
		if (!is_scalar_prefix(i) || (i->encoding == INSN_EVEX && i->bcst))
			return false;
		from_integer(w, size);
		return true;
	case 0x2c:
		if (!is_scalar_prefix(i))
			return false;
		truncate(w, size);
		return true;
	case 0x2e:
	case 0x2f:
		if (is_scalar_prefix(i))
			return false;
		compare_scalar(w, i->pp ? 8 : 4);
		return true;
	case 0x50:
		move_signs(w, i->pp ? 8 : 4);
		return true;
	case 0xd7:
		if (i->pp != INSN_PP_66)
			return false;
		move_signs(w, 1);
		return true;
	default:
		return false;
	}
}

/* vzeroall: registers 0 to 15. */
static void zero_all(struct walk *w)
{
	unsigned n, k;

	for (k = 0; k < 16; k++)
		w->operand[2][k] = 0;
	for (n = 0; n < 16; n++)
		walk_vec_set(w, n, 16, 3);
}

bool walk_vec_scalar(struct walk *w)
{
	const struct insn *i = &w->insn;

	if (i->map == 1 && i->op == 0x77 && i->encoding == INSN_VEX) {
		if (i->vbytes == 32)
			zero_all(w);
		else
			walk_vec_zero_upper(w);
		return true;
	}
	if (i->map == 1)
		return map1(w);
	if (i->map == 2 && i->op == 0x17 && i->pp == INSN_PP_66) {
		test(w);
		return true;
	}
	return false;
}
