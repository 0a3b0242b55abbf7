/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "conflict/conflict.h"

#define BIT(reg) (UINT64_C(1) << (reg))

static uint64_t bit(unsigned reg)
{
	return reg < VT_NREGS && reg != VT_REG_IP ? BIT(reg) : 0;
}

static bool is_barrier(const struct vt_facts *f)
{
	static const char *const names[] = {"mfence", "cpuid", "serialize", "iretq", "rsm"};
	size_t i;

	if (f->flags & (VT_FACT_ATOMIC | VT_FACT_SYSCALL))
		return true;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(f->mnemonic, names[i]) == 0)
			return true;
	return false;
}

/* xor, sub and the like of a register with itself: the result is the same whatever it held. */
static bool breaks_dependence(const struct vt_facts *f)
{
	static const char *const names[] = {"xor", "sub", "pxor", "vpxor", "xorps", "vxorps"};
	uint64_t read = f->reads & ~BIT(VT_REG_FLAGS);
	size_t i;

	if (f->nmemories || f->has_immediate || f->nresults != 1 || !read || (read & (read - 1)))
		return false;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(f->mnemonic, names[i]) == 0)
			return f->results[0].size >= 4;
	return false;
}

void vt_conflict_code_make(struct vt_conflict_code *code, const struct vt_facts *f)
{
	uint64_t kept = 0;
	unsigned i;

	memset(code, 0, sizeof(*code));
	code->slow = f->flags & VT_FACT_DIVIDE;
	code->barrier = is_barrier(f);
	code->repeated = f->flags & VT_FACT_REPEATED;
	for (i = 0; i < f->nmemories; i++) {
		const struct vt_memory *m = &f->memories[i];
		uint64_t regs = bit(m->base) | bit(m->index) | bit(m->segment);

		code->loads |= m->read ? regs : 0;
		code->stores |= m->written ? regs : 0;
	}
	if (!breaks_dependence(f))
		code->reads = f->reads & ~BIT(VT_REG_IP);
	code->results = f->writes & ~BIT(VT_REG_IP);
	/* Of what a push, pop, call or leave writes, rsp is the one that facts keep out of results.
	 */
	code->updates = code->results & BIT(VT_REG_SP);
	for (i = 0; i < f->nresults; i++) {
		const struct vt_operand *r = &f->results[i];

		code->updates &= ~bit(r->reg);
		if (r->reg < VT_REG_VECTOR && r->size < 4)
			kept |= bit(r->reg);
	}
	if (f->flags & VT_FACT_STRING)
		code->updates |= code->results & (BIT(VT_REG_SI) | BIT(VT_REG_DI) | BIT(VT_REG_CX));
	code->results &= ~code->updates;
	if ((f->flags & VT_FACT_MASKED) || strncmp(f->mnemonic, "cmov", 4) == 0)
		kept = code->results;
	code->replaced = code->results & ~kept;
}
