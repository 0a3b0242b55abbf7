/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/pipeline/symbolic.h"

#include <string.h>

/* Their value is part of no address, and not computed. */
#define FLAGS (UINT64_C(1) << VT_REG_FLAGS)

/* A number without a pattern, as of MurmurHash3's finalizer. */
static uint64_t scatter(uint64_t v)
{
	v = (v ^ v >> 33) * UINT64_C(0xff51afd7ed558ccd);
	v = (v ^ v >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return v ^ v >> 33;
}

void vti_symbolic_init(struct vti_symbolic *s)
{
	unsigned i;

	memset(s->memory, 0, sizeof(s->memory));
	s->filled = false;
	for (i = 0; i < VT_NREGS; i++)
		s->values[i] = scatter(i + 1);
}

/* The stack has memory of its own. */
#define STACK (UINT64_C(1) << 44)

void vti_symbolic_fill(struct vti_symbolic *s, uint64_t value)
{
	unsigned i;

	for (i = 0; i < VT_NREGS; i++)
		if (vt_reg_is_general(i))
			s->values[i] = value;
	s->values[VT_REG_FS] = s->values[VT_REG_GS] = 0;
	s->values[VT_REG_SP] = STACK;
	s->filled = true;
	s->fill = value;
}

static uint64_t value_of(const struct vti_symbolic *s, unsigned reg)
{
	return reg < VT_NREGS ? s->values[reg] : 0;
}

static uint64_t compute_sum(const struct vti_symbolic *s, const struct vt_mop_sum *m, uint64_t next)
{
	uint64_t base = m->base == VT_REG_IP ? next : value_of(s, m->base);

	return base + value_of(s, m->index) * m->scale + value_of(s, m->segment) +
	       (uint64_t)(int64_t)m->displacement;
}

static struct vt_ooo_place find_place(const struct vti_symbolic *s, const struct vt_mop_sum *m,
				      uint64_t next)
{
	if (!m->size || (m->base == VT_REG_IP && !next))
		return (struct vt_ooo_place){0};
	return (struct vt_ooo_place){compute_sum(s, m, next), m->size};
}

/* A number that follows from the instruction, its registers and what it loads. */
static uint64_t mix_operands(const struct vti_symbolic *s, const struct vt_mop *op, uint64_t loaded)
{
	uint64_t v = op->id + loaded, regs = op->reads & ~FLAGS;

	for (; regs; regs &= regs - 1)
		v = scatter(v) + s->values[__builtin_ctzll(regs)];
	return scatter(v);
}

static uint64_t load_value(const struct vti_symbolic *s, const struct vt_ooo_place *p)
{
	uint64_t at = scatter(p->addr) & (VTI_SYMBOLIC_MEMORY - 1);

	if (s->memory[at].addr == p->addr)
		return s->memory[at].value;
	return s->filled ? s->fill : scatter(p->addr + 1);
}

static void store_value(struct vti_symbolic *s, const struct vt_ooo_place *p, uint64_t value)
{
	uint64_t at = scatter(p->addr) & (VTI_SYMBOLIC_MEMORY - 1);

	s->memory[at].addr = p->addr;
	s->memory[at].value = value;
}

static uint64_t narrow(uint64_t value, unsigned size)
{
	return size == 4 ? (uint32_t)value : value;
}

/* What a push or a move stores is a register; others make it of all that they read. */
static bool stores_register(const struct vt_mop *op)
{
	return op->flags & (VT_FACT_MOVE | VT_FACT_PUSH) && !op->load.size && op->reads &&
	       !(op->reads & (op->reads - 1));
}

void vti_symbolic_run(struct vti_symbolic *s, const struct vt_mop *op, uint64_t next,
		      struct vt_ooo_place *load, struct vt_ooo_place *store)
{
	uint64_t loaded = 0, result = 0, mixed = 0, regs = op->writes & ~FLAGS, others = regs;
	bool plain, known;

	*load = find_place(s, &op->load, next);
	*store = find_place(s, &op->store, next);
	if (op->moves < 0)
		store->addr += (uint64_t)(int64_t)op->moves;
	if (load->size)
		loaded = load_value(s, load);
	if (op->target < VT_NREGS)
		others &= ~(UINT64_C(1) << op->target);
	plain = stores_register(op);
	known = op->result == VT_RESULT_SUM || (op->result == VT_RESULT_LOAD && load->size);
	/* Of most instructions, nobody asks for more than a sum or what is loaded. */
	if (!known || others || (store->size && !plain))
		result = mixed = mix_operands(s, op, loaded);
	if (op->result == VT_RESULT_SUM)
		result = narrow(compute_sum(s, &op->sum, 0), op->sum.size);
	else if (known)
		result = loaded;
	if (store->size)
		store_value(s, store,
			    narrow(plain ? s->values[__builtin_ctzll(op->reads)] : mixed,
				   op->store.size));
	for (; regs; regs &= regs - 1) {
		unsigned reg = (unsigned)__builtin_ctzll(regs);

		s->values[reg] = reg == op->target ? result : scatter(mixed + reg);
	}
	if (op->target != VT_REG_SP)
		s->values[VT_REG_SP] += (uint64_t)(int64_t)op->moves;
}
