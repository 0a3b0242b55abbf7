/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/machine/lift/irops.h"

#include <stdlib.h>

#include <libvex.h>
#include <libvex_ir.h>

#include "machine/lift/fastop.h"

#define FAST1(name, irop, result)                                                                  \
	static void run_##name(const struct vti_fpmode *mode, struct vt_word *dst,                 \
			       const struct vt_word *const *args)                                  \
	{                                                                                          \
		const struct vt_word a = *args[0];                                                 \
                                                                                                   \
		(void)mode;                                                                        \
		*dst = result;                                                                     \
	}
#define FAST2(name, irop, result)                                                                  \
	static void run_##name(const struct vti_fpmode *mode, struct vt_word *dst,                 \
			       const struct vt_word *const *args)                                  \
	{                                                                                          \
		const struct vt_word a = *args[0], b = *args[1];                                   \
                                                                                                   \
		(void)mode;                                                                        \
		*dst = result;                                                                     \
	}
#define FASTN(name, irop, words, statement)                                                        \
	static void run_##name(const struct vti_fpmode *mode, struct vt_word *d,                   \
			       const struct vt_word *const *args)                                  \
	{                                                                                          \
		const struct vt_word *p = args[0], *q = args[1];                                   \
                                                                                                   \
		(void)mode;                                                                        \
		(void)q;                                                                           \
		statement;                                                                         \
	}
#include "machine/lift/fastop.def"

static void move_1(const struct vti_fpmode *mode, struct vt_word *dst,
		   const struct vt_word *const *args)
{
	(void)mode;
	vti_words_copy(dst, args[0], 1);
}

static void move_2(const struct vti_fpmode *mode, struct vt_word *dst,
		   const struct vt_word *const *args)
{
	(void)mode;
	vti_words_copy(dst, args[0], 2);
}

const struct vti_irop *irops_find(unsigned irop)
{
	static const struct vti_irop moves[] = {{move_1, 1, 1}, {move_2, 1, 2}};
	static struct vti_irop fast[VTI_FAST_END - VTI_FAST] = {
#define FAST1(name, irop, result)	    {run_##name, 1, 1},
#define FAST2(name, irop, result)	    {run_##name, 2, 1},
#define FASTN(name, irop, words, statement) {run_##name, 0, words},
#include "machine/lift/fastop.def"
	};
	IRType result, args[4] = {Ity_INVALID, Ity_INVALID, Ity_INVALID, Ity_INVALID};
	const unsigned opcode = vti_fast_op(irop);
	struct vti_irop *op;

	if (opcode < VTI_FAST)
		return opcode == 0	     ? vti_irop_find(irop)
		       : opcode == VTI_MOVE1 ? &moves[0]
					     : &moves[1];
	op = &fast[opcode - VTI_FAST];
	/* FASTN does not tell how many operands there are. */
	if (op->nargs == 0) {
		typeOfPrimop((IROp)irop, &result, &args[0], &args[1], &args[2], &args[3]);
		op->nargs = args[1] == Ity_INVALID ? 1 : 2;
	}
	return op;
}

unsigned irops_bits(int type)
{
	switch (type) {
	case Ity_I1:
		return 1;
	case Ity_I8:
		return 8;
	case Ity_I16:
	case Ity_F16:
		return 16;
	case Ity_I32:
	case Ity_F32:
		return 32;
	case Ity_I64:
	case Ity_F64:
		return 64;
	case Ity_I128:
	case Ity_V128:
		return 128;
	case Ity_V256:
		return 256;
	default:
		abort();
	}
}

/* Numbers that operators treat in their own ways, more often than chance would bring them. */
static uint64_t draw(struct vt_rng *rng)
{
	static const uint64_t doubles[] = {
		0x3ff0000000000000, 0xbff8000000000000, 0x4000000000000000, 0x7ff0000000000000,
		0xfff0000000000000, 0x7ff8000000000000, 0x7ff4000000000001, 0x0000000000000001,
		0x0010000000000000, 0x000fffffffffffff, 0x8000000000000000, 0x4330000000000001,
		0x41dfffffffe00000, 0xc1e0000000000000, 0x43e0000000000000, 0x3fdfffffffffffff};
	static const uint32_t floats[] = {0x3f800000, 0xbfc00000, 0x40000000, 0x7f800000,
					  0xff800000, 0x7fc00000, 0x7fa00001, 0x00000001,
					  0x00800000, 0x007fffff, 0x80000000, 0x4b000001,
					  0x4effffff, 0xcf000000, 0x477fefff, 0x33000001};
	const uint64_t any = vt_rng_next(rng);

	switch (vt_rng_below(rng, 8)) {
	case 0:
		return doubles[any % 16];
	case 1:
		return (uint64_t)floats[any % 16] << 32 | floats[any >> 8 & 15];
	case 2:
		return any & 0x0f0f0f0f0f0f0f0f;
	case 3:
		return any & 0x8f8f8f8f8f8f8f8f;
	case 4:
		return any % 70;
	case 5:
		return 0 - any % 3;
	case 6:
		/* Floats that are near enough to each other for their bits to meet. */
		return (any & 0x83ffffff83ffffff) | 0x3c0000003c000000;
	default:
		return any;
	}
}

void irops_random(struct vt_rng *rng, int type, struct vt_word *w)
{
	const unsigned bits = irops_bits(type);

	for (unsigned i = 0; i < (bits + 63) / 64; i++)
		w[i] = vt_word_of(draw(rng));
	if (bits < 64)
		w[0].value &= vt_low_bits(bits);
}
