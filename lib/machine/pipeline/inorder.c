/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/pipeline/inorder.h"

#include <string.h>

/* The instruction at hand. */
struct issue {
	struct vt_inorder *e;
	const struct vt_mop *op;
	uint64_t tag;
	vt_inorder_access_fn *access;
	void *arg;
	struct vt_inorder_cost *cost;
	struct vti_inorder_value own; /* what its last micro-operation made */
	unsigned loads;		      /* micro-operations so far */
	unsigned stores;
};

void vt_inorder_init(struct vt_inorder *e, const struct vt_core *m)
{
	memset(e, 0, sizeof(*e));
	e->width = m->issue ? m->issue : 1;
	e->used = e->width;
	e->known = m->nunits < VT_CORE_UNITS ? (1u << m->nunits) - 1 : UINT32_MAX;
}

void vt_inorder_drain(struct vt_inorder *e)
{
	memset(e->values, 0, sizeof(e->values));
	memset(e->units, 0, sizeof(e->units));
	e->latest = 0;
	e->nholds = 0;
}

void vt_inorder_hold(struct vt_inorder *e, uint64_t cycle, enum vt_stall_cause cause, uint64_t by)
{
	uint32_t n = e->nholds;

	if (cycle <= e->cycle || (n && cycle <= e->holds[n - 1].cycle))
		return;
	if (n == VT_INORDER_HOLDS)
		n--;
	e->holds[n] = (struct vti_inorder_hold){cycle, by, (uint8_t)cause};
	e->nholds = n + 1;
}

uint32_t vti_cost_add_stall(struct vt_inorder_cost *c, uint8_t cause, uint64_t by, uint64_t slots)
{
	uint32_t n = slots > UINT32_MAX ? UINT32_MAX : (uint32_t)slots, i;

	for (i = 0; i < c->nstalls; i++) {
		if ((c->stalls[i].cause != cause || c->stalls[i].by != by) &&
		    i + 1 < VT_INORDER_STALLS)
			continue;
		c->stalls[i].slots += n;
		return n;
	}
	c->stalls[c->nstalls++] = (struct vt_inorder_stall){cause, n, by};
	return n;
}

/* What is left of the cycle at hand is lost, and those up to `cycle`, which is a later one. */
static void pass_cycles(struct issue *x, uint64_t cycle, uint8_t cause, uint64_t by)
{
	struct vt_inorder *e = x->e;
	uint64_t lost = (cycle - e->cycle) * e->width - e->used;

	if (lost)
		vti_cost_add_stall(x->cost, cause, by, lost);
	x->cost->head += cycle - e->cycle;
	x->cost->used += e->used;
	e->cycle = cycle;
	e->used = 0;
}

/* Nothing is issued before `cycle`. */
static inline void wait_until(struct issue *x, uint64_t cycle, uint8_t cause, uint64_t by)
{
	if (cycle > x->e->cycle)
		pass_cycles(x, cycle, cause, by);
}

/* ---- operands ---- */

uint8_t vti_operand_cause(const struct vt_mop *op, unsigned reg)
{
	uint64_t before = (op->reads | op->address_reads) & (((uint64_t)1 << reg) - 1);

	if (!before)
		return VT_STALL_OPERAND_A;
	return before & (before - 1) ? VT_STALL_OPERAND_C : VT_STALL_OPERAND_B;
}

static void wait_for_value(struct issue *x, const struct vti_inorder_value *v, uint8_t cause)
{
	wait_until(x, v->made, cause, v->by);
	wait_until(x, v->tlb, VT_STALL_DTLB, v->by);
	wait_until(x, v->ready, VT_STALL_DCACHE, v->by);
}

static void wait_for_operands(struct issue *x, const struct vt_uop *u)
{
	const struct vti_inorder_value *latest = NULL;
	uint64_t regs = (u->operands & VT_UOP_READS ? x->op->reads : 0) |
			(u->operands & VT_UOP_ADDRESS ? x->op->address_reads : 0);
	uint64_t ready = x->e->cycle;
	unsigned reg = 0, i;

	for (; regs; regs &= regs - 1) {
		i = (unsigned)__builtin_ctzll(regs);
		if (x->e->values[i].ready <= ready)
			continue;
		latest = &x->e->values[i];
		ready = latest->ready;
		reg = i;
	}
	if ((u->operands & VT_UOP_PREVIOUS) && x->own.ready > ready)
		wait_for_value(x, &x->own, VT_STALL_OPERAND_C);
	else if (latest)
		wait_for_value(x, latest, vti_operand_cause(x->op, reg));
}

uint64_t vt_inorder_ready(const struct vt_inorder *e, const struct vt_mop *op)
{
	unsigned operands = op->nuops ? op->uops[0].operands : 0;
	uint64_t regs = (operands & VT_UOP_READS ? op->reads : 0) |
			(operands & VT_UOP_ADDRESS ? op->address_reads : 0);
	uint64_t ready = 0;

	for (; regs; regs &= regs - 1) {
		const struct vti_inorder_value *v = &e->values[__builtin_ctzll(regs)];

		ready = v->ready > ready ? v->ready : ready;
	}
	return ready;
}

/* ---- units ---- */

uint8_t vti_unit_cause(uint8_t op_class)
{
	switch (op_class) {
	case VT_OP_MULTIPLY:
	case VT_OP_FMUL:
		return VT_STALL_MULTIPLIER;
	case VT_OP_DIVIDE:
	case VT_OP_FDIV:
		return VT_STALL_DIVIDER;
	default:
		return VT_STALL_UNIT;
	}
}

static uint8_t busy_cause(const struct vt_inorder *e, const struct vti_inorder_unit *u)
{
	/* It began in this very cycle, and could begin again in the next. */
	if (u->last == e->cycle && u->free == e->cycle + 1)
		return VT_STALL_SLOTTING;
	return vti_unit_cause(u->op_class);
}

/* A unit of these that is free, the first of them; NULL if none is. */
static struct vti_inorder_unit *free_unit(struct vt_inorder *e, uint32_t units)
{
	for (; units; units &= units - 1) {
		struct vti_inorder_unit *u = &e->units[__builtin_ctz(units)];

		if (u->free <= e->cycle)
			return u;
	}
	return NULL;
}

/*
 * Frees a unit that began in this cycle, if others can do what it and those after it do: what is
 * issued together is slotted together, so that its order does not matter.  A unit that could not be
 * freed once cannot be by another way either, so that each is `tried` once.  What it does next is
 * the caller's to say.
 */
static bool make_room(struct vt_inorder *e, uint32_t unit, uint32_t *tried)
{
	struct vti_inorder_unit *taken = &e->units[unit];
	uint32_t others;

	*tried |= 1u << unit;
	if (taken->last != e->cycle)
		return false;
	while ((others = taken->could & ~*tried)) {
		uint32_t i = (uint32_t)__builtin_ctz(others);

		if (e->units[i].free > e->cycle && !make_room(e, i, tried))
			continue;
		e->units[i] = *taken;
		return true;
	}
	return false;
}

/* A unit of these for the micro-operation at hand; NULL if all are taken. */
static struct vti_inorder_unit *find_unit(struct vt_inorder *e, uint32_t units)
{
	struct vti_inorder_unit *u = free_unit(e, units);
	uint32_t tried = 0;

	for (; !u && units; units &= units - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(units);

		if (!(tried >> i & 1) && make_room(e, i, &tried))
			u = &e->units[i];
	}
	return u;
}

/* Of those, that which is free first. */
static const struct vti_inorder_unit *first_unit(const struct vt_inorder *e, uint32_t units)
{
	const struct vti_inorder_unit *first = &e->units[__builtin_ctz(units)];

	for (units &= units - 1; units; units &= units - 1) {
		const struct vti_inorder_unit *u = &e->units[__builtin_ctz(units)];

		if (u->free < first->free)
			first = u;
	}
	return first;
}

static void wait_for_unit(struct issue *x, const struct vt_uop *uop)
{
	struct vt_inorder *e = x->e;
	uint32_t units = uop->units & e->known;
	struct vti_inorder_unit *u;

	if (!units)
		return;
	while (!(u = find_unit(e, units))) {
		const struct vti_inorder_unit *first = first_unit(e, units);

		wait_until(x, first->free, busy_cause(e, first), first->by);
	}
	u->free = e->cycle + (uop->busy ? uop->busy : 1);
	u->last = e->cycle;
	u->by = x->tag;
	u->could = units;
	u->op_class = uop->op_class;
}

/* ---- an instruction ---- */

static void wait_for_store(struct issue *x)
{
	struct vt_simmem_access a = x->access(x->arg, true, x->stores, x->e->cycle);

	wait_until(x, x->e->cycle + a.tlb, VT_STALL_DTLB, x->tag);
	if (a.cycles > a.tlb)
		wait_until(x, x->e->cycle + a.cycles - a.tlb,
			   a.buffer ? VT_STALL_WRITE_BUFFER : VT_STALL_DCACHE, x->tag);
}

static void wait_for_holds(struct issue *x)
{
	struct vt_inorder *e = x->e;
	uint32_t i;

	for (i = 0; i < e->nholds; i++)
		wait_until(x, e->holds[i].cycle, e->holds[i].cause, e->holds[i].by);
	e->nholds = 0;
}

static void publish_results(struct issue *x, const struct vt_uop *u)
{
	struct vt_inorder *e = x->e;
	struct vti_inorder_value v = {.made = e->cycle + u->latency, .by = x->tag};
	uint64_t regs;

	v.tlb = v.ready = v.made;
	if (u->op_class == VT_OP_LOAD && x->access) {
		struct vt_simmem_access a = x->access(x->arg, false, x->loads, e->cycle);

		v.tlb += a.tlb;
		v.ready += a.cycles;
	}
	x->own = v;
	if (v.ready > e->latest) {
		e->latest = v.ready;
		e->latest_by = x->tag;
	}
	if (!(u->operands & VT_UOP_WRITES))
		return;
	for (regs = x->op->writes; regs; regs &= regs - 1)
		e->values[__builtin_ctzll(regs)] = v;
}

static void issue_uop(struct issue *x, const struct vt_uop *u)
{
	struct vt_inorder *e = x->e;
	bool waits = u->op_class == VT_OP_SYNC || u->op_class == VT_OP_SLOW;

	if (e->nholds)
		wait_for_holds(x);
	wait_for_operands(x, u);
	if (waits)
		wait_until(x, e->latest, VT_STALL_SYNC, e->latest_by);
	if (e->used == e->width)
		wait_until(x, e->cycle + 1, VT_STALL_SLOTTING, x->tag);
	if (u->op_class == VT_OP_STORE && x->access)
		wait_for_store(x);
	wait_for_unit(x, u);
	e->used++;
	publish_results(x, u);
	x->loads += u->op_class == VT_OP_LOAD;
	x->stores += u->op_class == VT_OP_STORE;
	if (waits)
		vt_inorder_hold(e, e->cycle + u->latency, VT_STALL_UNIT, x->tag);
}

void vt_inorder_issue(struct vt_inorder *e, const struct vt_mop *op, uint64_t tag,
		      vt_inorder_access_fn *access, void *arg, struct vt_inorder_cost *cost)
{
	static const struct vt_uop nop = {.op_class = VT_OP_NOP, .latency = 1, .busy = 1};
	struct issue x;
	unsigned i, n = op->nuops < VT_MOP_UOPS ? op->nuops : VT_MOP_UOPS;

	x.e = e;
	x.op = op;
	x.tag = tag;
	x.access = access;
	x.arg = arg;
	x.cost = cost;
	x.own.ready = 0;
	x.loads = x.stores = 0;
	cost->head = cost->used = 0;
	cost->nstalls = 0;
	if (!n)
		issue_uop(&x, &nop);
	for (i = 0; i < n; i++)
		issue_uop(&x, &op->uops[i]);
	e->done = x.own.ready;
	cost->cycle = e->cycle;
}
