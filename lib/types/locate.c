/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dwarf.h>

#include "machine/insn/insn.h"
#include "types/internal.h"

static const struct vti_location nowhere;

/* Converts DWARF's number of a register (System V ABI for AMD64, figure 3.36). */
static bool read_register(uint64_t n, unsigned *reg)
{
	static const uint8_t general[8] = {VT_REG_AX, VT_REG_DX, VT_REG_CX, VT_REG_BX,
					   VT_REG_SI, VT_REG_DI, VT_REG_BP, VT_REG_SP};

	if (n > 15)
		return false;
	*reg = n < 8 ? general[n] : VT_REG_R8 + (unsigned)n - 8;
	return true;
}

/* Makes a place relative to the CFA if it is known how that is computed at `pc`. */
static struct vti_location in_memory(struct vt_types *t, uint64_t pc, unsigned reg, int64_t offset)
{
	unsigned cfa_reg;
	int64_t cfa;

	if (t->unwind && vt_unwind_cfa(t->unwind, pc, &cfa_reg, &cfa) && cfa_reg == reg)
		return (struct vti_location){true, VT_LOCAL_CFA, 0,
					     (int64_t)((uint64_t)offset - (uint64_t)cfa)};
	return (struct vti_location){true, VT_LOCAL_MEMORY, reg, offset};
}

/* The registers whose value an operation names, DW_OP_bregN or DW_OP_bregx. */
static bool read_base(const Dwarf_Op *op, unsigned *reg, int64_t *offset)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*offset = (int64_t)op->number;
		return read_register(op->atom - DW_OP_breg0, reg);
	}
	if (op->atom != DW_OP_bregx)
		return false;
	*offset = (int64_t)op->number2;
	return read_register(op->number, reg);
}

static bool read_named(const Dwarf_Op *op, unsigned *reg)
{
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		return read_register(op->atom - DW_OP_reg0, reg);
	return op->atom == DW_OP_regx && read_register(op->number, reg);
}

/* Where DW_OP_fbreg counts from. */
static struct vti_location frame_base(struct vt_types *t, Dwarf_Die *function, uint64_t pc)
{
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	size_t n;
	unsigned reg;
	int64_t offset;

	if (!dwarf_attr_integrate(function, DW_AT_frame_base, &a) ||
	    dwarf_getlocation_addr(&a, pc, &ops, &n, 1) != 1 || n != 1)
		return nowhere;
	if (ops[0].atom == DW_OP_call_frame_cfa)
		return (struct vti_location){true, VT_LOCAL_CFA, 0, 0};
	if (read_named(&ops[0], &reg))
		return in_memory(t, pc, reg, 0);
	if (read_base(&ops[0], &reg, &offset))
		return in_memory(t, pc, reg, offset);
	return nowhere;
}

struct vti_location vti_locate(struct vt_types *t, Dwarf_Die *die, Dwarf_Die *function, uint64_t pc)
{
	struct vti_location p;
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	size_t n;
	unsigned reg;
	int64_t offset;

	if (!dwarf_attr(die, DW_AT_location, &a) ||
	    dwarf_getlocation_addr(&a, pc, &ops, &n, 1) != 1 || !n)
		return nowhere;
	if (n == 2 && ops[1].atom == DW_OP_stack_value && read_base(&ops[0], &reg, &offset) &&
	    !offset)
		return (struct vti_location){true, VT_LOCAL_REGISTER, reg, 0};
	if (n != 1)
		return nowhere;
	if (read_named(&ops[0], &reg))
		return (struct vti_location){true, VT_LOCAL_REGISTER, reg, 0};
	if (read_base(&ops[0], &reg, &offset))
		return in_memory(t, pc, reg, offset);
	if (ops[0].atom != DW_OP_fbreg)
		return nowhere;
	p = frame_base(t, function, pc);
	p.offset = (int64_t)((uint64_t)p.offset + ops[0].number);
	return p;
}
