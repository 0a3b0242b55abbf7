/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/hash.h"
#include "machine/pipeline/core_internal.h"

/* ---- prefixes ---- */

static bool is_legacy_prefix(uint8_t b)
{
	return b && strchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3", b);
}

/* Opcodes of one byte whose immediate number has the size of the operands, but b8 to bf. */
static bool has_wide_immediate(const uint8_t *opcode)
{
	if (*opcode == 0xf7)
		return (opcode[1] >> 3 & 7) < 2;
	return (*opcode & 0xf8) == 0xb8 ||
	       (*opcode && strchr("\x05\x0d\x15\x1d\x25\x2d\x35\x3d\x68\x69\x81\xa9\xc7", *opcode));
}

/* Of a whole instruction: an opcode follows, and what belongs to it. */
static void find_prefixes(const uint8_t *code, struct vt_mop *op)
{
	bool narrow = false;
	unsigned n = 0;

	for (; is_legacy_prefix(code[n]); n++)
		narrow |= code[n] == 0x66;
	if ((code[n] & 0xf0) == 0x40)
		narrow &= !(code[n++] & 8);
	op->prefixes = (uint8_t)n;
	/* "pop %rsp" and "pop %r12" */
	op->ends_group = code[n] == 0x5c;
	op->changes_size = narrow && has_wide_immediate(code + n);
}

/* ---- addresses and values ---- */

static struct vt_mop_sum sum_of(const struct vt_memory *m)
{
	struct vt_mop_sum s = {
		(int32_t)m->displacement, m->size, m->base, m->index, m->scale, m->segment};

	if (m->displacement != s.displacement || m->gather)
		s.size = 0;
	return s;
}

static struct vt_mop_sum sum(unsigned base, int64_t displacement, unsigned size)
{
	return (struct vt_mop_sum){.displacement = (int32_t)displacement,
				   .size = displacement == (int32_t)displacement ? (uint16_t)size
										 : 0,
				   .base = (uint8_t)base,
				   .index = VT_REG_NONE,
				   .segment = VT_REG_NONE};
}

static void find_places(const struct vt_facts *f, struct vt_mop *op)
{
	unsigned i;

	for (i = 0; i < f->nmemories && !(f->flags & VT_FACT_LEA); i++) {
		const struct vt_memory *m = &f->memories[i];

		if (m->read && !op->load.size)
			op->load = sum_of(m);
		if (m->written && !op->store.size)
			op->store = sum_of(m);
	}
	if (f->flags & (VT_FACT_PUSH | VT_FACT_CALL) && op->store.size) {
		op->moves = (int16_t)-op->store.size;
		op->store.displacement = 0;
	} else if (f->flags & (VT_FACT_POP | VT_FACT_RETURN)) {
		op->moves = (int16_t)op->load.size;
	}
}

/* What is added to a register, as far as that is a number; false: something else happens. */
static bool find_addend(const struct vt_facts *f, int64_t *n)
{
	*n = f->has_immediate ? f->immediate : 1;
	if (vt_facts_has_mnemonic(f, "add") || vt_facts_has_mnemonic(f, "inc"))
		return f->has_immediate || f->mnemonic[0] == 'i';
	if (vt_facts_has_mnemonic(f, "sub") || vt_facts_has_mnemonic(f, "dec")) {
		*n = -*n;
		return f->has_immediate || f->mnemonic[0] == 'd';
	}
	return false;
}

static void find_result(const struct vt_facts *f, struct vt_mop *op)
{
	const struct vt_operand *to = &f->results[0], *from = &f->sources[0];
	int64_t n;

	op->target = VT_REG_NONE;
	if (f->nresults != 1 || !vt_reg_is_general(to->reg) || to->size < 4)
		return;
	op->target = to->reg;
	if (f->flags & VT_FACT_LEA) {
		op->sum = sum_of(&f->memories[0]);
		op->sum.size = to->size;
	} else if (f->flags & VT_FACT_POP || vt_facts_has_mnemonic(f, "mov")) {
		if (f->flags & VT_FACT_LOAD)
			op->result = VT_RESULT_LOAD;
		else if (f->nsources == 1)
			op->sum = sum(from->reg, 0, to->size);
		else if (f->has_immediate)
			op->sum = sum(VT_REG_NONE, f->immediate, to->size);
	} else if (!f->nmemories && find_addend(f, &n)) {
		op->sum = sum(to->reg, n, to->size);
	}
	/* Where the instruction is in memory is not known here. */
	if (op->sum.size && op->sum.base != VT_REG_IP)
		op->result = VT_RESULT_SUM;
}

void vti_core_identify(const uint8_t *code, size_t size, struct vt_mop *op)
{
	op->id = (uint32_t)vt_hash_bytes(code, size);
}

void vti_core_values(const struct vt_facts *f, const uint8_t *code, struct vt_mop *op)
{
	vti_core_identify(code, f->length, op);
	find_prefixes(code, op);
	find_places(f, op);
	find_result(f, op);
}
