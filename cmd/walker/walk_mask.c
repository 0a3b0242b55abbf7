/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Instructions on mask registers. */
#include "cmd/walker/walk_vec.h"

/* Bytes of kand and its like; of kmov to and from general registers. */
static unsigned mask_size(const struct insn *i)
{
	if (i->pp >= INSN_PP_F3)
		return i->w ? 8 : 4;
	return i->w ? i->pp ? 4 : 8 : i->pp ? 1 : 2;
}

static struct val mask_of(struct walk *w, unsigned n, unsigned size)
{
	struct val m = walk_mask(w, n);

	m.v &= bits_of(size);
	return m;
}

static bool binary(struct walk *w)
{
	unsigned op = w->insn.op, size = mask_size(&w->insn), n;
	struct val a = mask_of(w, w->insn.vvvv, size), b = mask_of(w, w->insn.rm, size);
	uint64_t r;

	switch (op) {
	case 0x41:
		r = a.v & b.v;
		break;
	case 0x42:
		r = ~a.v & b.v;
		break;
	case 0x45:
		r = a.v | b.v;
		break;
	case 0x46:
		r = ~(a.v ^ b.v);
		break;
	case 0x47:
		r = a.v ^ b.v;
		break;
	case 0x4a:
		r = a.v + b.v;
		break;
	case 0x4b: /* kunpckbw has prefix 66, as kandb; the result is twice its size */
		size = w->insn.pp ? 2 : w->insn.w ? 8 : 4;
		n = 4 * size;
		a = walk_mask(w, w->insn.vvvv);
		b = walk_mask(w, w->insn.rm);
		r = a.v << n | (b.v & (bits_of(size) >> n));
		break;
	default:
		return false;
	}
	/* A register with itself: kxor and kxnor do not depend on it. */
	a.known =
		(a.known && b.known) || ((op == 0x46 || op == 0x47) && w->insn.vvvv == w->insn.rm);
	walk_set_mask(w, w->insn.reg, (struct val){r & bits_of(size), a.known});
	return true;
}

/* kortest, ktest */
static void test_masks(struct walk *w, unsigned size)
{
	struct val a = mask_of(w, w->insn.reg, size), b = mask_of(w, w->insn.rm, size);
	bool zero, carry;

	if (w->insn.op == 0x98) {
		zero = (a.v | b.v) == 0;
		carry = (a.v | b.v) == bits_of(size);
	} else {
		zero = (a.v & b.v) == 0;
		carry = (~a.v & b.v) == 0;
	}
	set_flags(w, FLAGS6, (zero ? FLAG_Z : 0) | (carry ? FLAG_C : 0), a.known && b.known);
}

static void move_mask(struct walk *w)
{
	unsigned size = mask_size(&w->insn);
	struct val x;

	switch (w->insn.op) {
	case 0x90:
		x = w->insn.memory ? walk_get_rm(w, size) : mask_of(w, w->insn.rm, size);
		walk_set_mask(w, w->insn.reg, x);
		break;
	case 0x91:
		walk_set_rm(w, size, mask_of(w, w->insn.reg, size));
		break;
	case 0x92:
		x = get_gpr(w, w->insn.rm & 15, size < 4 ? 4 : size);
		x.v &= bits_of(size);
		walk_set_mask(w, w->insn.reg, x);
		break;
	default:
		set_gpr(w, w->insn.reg & 15, size < 4 ? 4 : size, mask_of(w, w->insn.rm, size));
		break;
	}
}

static void shift_mask(struct walk *w)
{
	unsigned op = w->insn.op, size = (op & 1 ? 4U : 1U) << w->insn.w, n = w->insn.imm & 0xff;
	struct val m = mask_of(w, w->insn.rm, size);

	if (n >= 8 * size)
		m.v = 0;
	else
		m.v = op < 0x32 ? m.v >> n : m.v << n & bits_of(size);
	walk_set_mask(w, w->insn.reg, m);
}

bool walk_vec_mask(struct walk *w)
{
	const struct insn *i = &w->insn;
	struct val m;

	if (i->encoding != INSN_VEX)
		return false;
	if (i->map == 3 && i->op >= 0x30 && i->op < 0x34) {
		shift_mask(w);
		return true;
	}
	if (i->map != 1)
		return false;
	if (i->op >= 0x90 && i->op <= 0x93) {
		move_mask(w);
		return true;
	}
	if (i->op == 0x98 || i->op == 0x99) {
		test_masks(w, mask_size(i));
		return true;
	}
	if (i->op == 0x44) {
		m = mask_of(w, i->rm, mask_size(i));
		m.v = ~m.v & bits_of(mask_size(i));
		walk_set_mask(w, i->reg, m);
		return true;
	}
	return i->op >= 0x41 && i->op <= 0x4b && binary(w);
}
