/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>
#include <string.h>

#include <libvex_guest_amd64.h>

#include "machine/lift/amend.h"

/*
 * bt, bts, btr and btc of registers, by a register.  VEX has them push the one onto the stack and
 * work there, where the machine writes nothing; so this is done without it.
 */

/* VEX's, which no header of it declares: all flags. */
unsigned long amd64g_calculate_rflags_all(unsigned long op, unsigned long dep1, unsigned long dep2,
					  unsigned long ndep);

#define CC(field) ((unsigned)offsetof(VexGuestAMD64State, guest_CC_##field))
#define CARRY	  0x001
#define ZERO	  0x040
#define UNDEFINED 0x894 /* overflow, sign, adjust, parity: Intel SDM volume 2, BT */

bool vti_is_register_bit_test(const struct vt_facts *f)
{
	const char *m = f->mnemonic;

	return m[0] == 'b' && m[1] == 't' && (m[2] == '\0' || (strchr("src", m[2]) && !m[3])) &&
	       !f->nmemories && !f->has_immediate && f->nsources == 2;
}

static uint16_t all_flags(struct vti_build *b)
{
	struct vti_call c;

	memset(&c, 0, sizeof(c));
	c.fn = (void *)amd64g_calculate_rflags_all;
	c.name = "amd64g_calculate_rflags_all";
	c.result_size = 8;
	c.guard = c.address = VTI_NO_SLOT;
	c.nargs = 4;
	c.args[0] = vti_emit_get(b, CC(OP));
	c.args[1] = vti_emit_get(b, CC(DEP1));
	c.args[2] = vti_emit_get(b, CC(DEP2));
	c.args[3] = vti_emit_get(b, CC(NDEP));
	c.dst = vti_build_temp(b, 1);
	vti_build_add(b,
		      (struct vti_op){.op = VTI_CCALL,
				      .dst = c.dst,
				      .imm = vti_build_more(b, &c, sizeof(c))},
		      (struct vti_widths){0});
	return c.dst;
}

static uint16_t shift(struct vti_build *b, IROp op, uint16_t x, uint16_t count)
{
	return vti_emit_operator(b, op, x, count);
}

/* Zero is left alone, the carry is the bit; what is undefined stays unknown. */
static void put_flags(struct vti_build *b, uint16_t bit)
{
	const struct vt_word undefined = {0, ~(uint64_t)UNDEFINED};
	uint16_t zero = vti_emit_operator(b, Iop_And64, all_flags(b), vti_build_u64(b, ZERO));
	uint16_t flags = vti_emit_operator(b, Iop_Or64, zero, bit);

	vti_emit_put(b, CC(DEP1),
		     vti_emit_operator(b, Iop_Xor64, flags, vti_build_const(b, &undefined, 1)));
	vti_emit_put(b, CC(OP), vti_build_u64(b, 0)); /* the flags themselves are in DEP1 */
	vti_emit_put(b, CC(DEP2), vti_build_u64(b, 0));
	vti_emit_put(b, CC(NDEP), vti_build_u64(b, 0));
}

static void put_result(struct vti_build *b, const struct vt_facts *f, uint16_t old, uint16_t mask)
{
	unsigned size = f->sources[0].size, at = vti_register_at(f->sources[0].reg);
	const uint64_t all = vt_low_bits(8 * size);
	uint16_t now;

	if (f->mnemonic[2] == 's')
		now = vti_emit_operator(b, Iop_Or64, old, mask);
	else if (f->mnemonic[2] == 'c')
		now = vti_emit_operator(b, Iop_Xor64, old, mask);
	else
		now = vti_emit_operator(
			b, Iop_And64, old,
			vti_emit_operator(b, Iop_Xor64, mask, vti_build_u64(b, UINT64_MAX)));
	/* 32 bits of a register clear those above, 16 do not. */
	if (size == 4)
		now = vti_emit_operator(b, Iop_And64, now, vti_build_u64(b, all));
	vti_emit_put(b, at, now);
	vti_capture_put(b, at, size, false);
}

void vti_lift_bit_test(struct vti_build *b)
{
	const struct vt_facts *f = &b->insns[b->emitted].facts;
	uint16_t from, index, count, bit;

	vti_insn_begin(b);
	from = vti_emit_get(b, vti_register_at(f->sources[0].reg));
	index = vti_emit_get(b, vti_register_at(f->sources[1].reg));
	count = vti_emit_operator(b, Iop_And64, index,
				  vti_build_u64(b, 8u * f->sources[0].size - 1));
	bit = vti_emit_operator(b, Iop_And64, shift(b, Iop_Shr64, from, count),
				vti_build_u64(b, CARRY));
	put_flags(b, bit);
	if (f->mnemonic[2])
		put_result(b, f, from, shift(b, Iop_Shl64, vti_build_u64(b, 1), count));
	vti_capture_results(b);
}
