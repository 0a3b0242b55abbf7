/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "culprit/internal.h"
#include "machine/insn/insn.h"

/*
 * How often a load or store can come to a page that the data TLB has not got, or to a line that the
 * data cache has not.
 *
 * In a loop that calls nothing, an address whose registers do not change stays on its page, and one
 * whose registers are only stepped by constants moves on by that much; an entry of a table is on
 * one of its pages if the index has a largest value; any other may go to a new page each time.  A
 * page that is used again is missed only after so many other pages as the TLB has entries: those
 * that all accesses of the loop bring in, together, bound how often that happens.  It is the same
 * with lines.
 */

/* Registers of a loop. */
struct motion {
	double bytes[VT_NREGS]; /* that steps move it by, on all iterations together */
	bool jumps[VT_NREGS];	/* it is set in another way */
};

bool vti_culprit_decode(const struct vti_culprit *c, uint32_t insn, struct vt_facts *f)
{
	uint64_t at = c->cfg->insns[insn].addr - c->cfg->start;

	return c->in->code && at < c->in->code_size &&
	       vt_facts_decode(c->in->code + at, c->in->code_size - (size_t)at, f);
}

static double get_executions(const struct vti_culprit *c, uint32_t insn)
{
	double n = c->in->insns[insn].executions;

	return n > 0 ? n : 0;
}

/* A constant that an instruction adds to its only result; false if it does something else. */
static bool get_constant_step(const struct vt_facts *f, double *by)
{
	const struct vt_memory *m = &f->memories[0];

	if (f->nresults != 1 || f->results[0].where != VT_WHERE_REGISTER ||
	    f->results[0].reg >= VT_NREGS)
		return false;
	if (f->flags & VT_FACT_LEA) {
		*by = fabs((double)m->displacement);
		return m->base == f->results[0].reg && m->index == VT_REG_NONE;
	}
	if (f->mnemonic[0] == 'i' || f->mnemonic[0] == 'd') {
		*by = 1;
		return f->mnemonic[1] == 'n' || f->mnemonic[1] == 'e' /* inc, dec */
			       ? f->mnemonic[2] == 'c' && !f->mnemonic[3] && !f->nmemories
			       : false;
	}
	*by = fabs((double)f->immediate);
	return f->has_immediate && !f->nmemories &&
	       ((f->mnemonic[0] == 'a' && f->mnemonic[1] == 'd' && f->mnemonic[2] == 'd') ||
		(f->mnemonic[0] == 's' && f->mnemonic[1] == 'u' && f->mnemonic[2] == 'b')) &&
	       !f->mnemonic[3];
}

static void add_motion(const struct vti_culprit *c, uint32_t insn, struct motion *m)
{
	uint64_t writes = c->ops[insn].writes;
	struct vt_facts f;
	double by;

	if (!writes)
		return;
	if (vti_culprit_decode(c, insn, &f) && get_constant_step(&f, &by)) {
		m->bytes[f.results[0].reg] += by * get_executions(c, insn);
		writes &= ~(UINT64_C(1) << f.results[0].reg);
	}
	for (; writes; writes &= writes - 1)
		m->jumps[__builtin_ctzll(writes)] = true;
}

static bool has_access(const struct vt_mop *op)
{
	return vt_mop_has(op, 1U << VT_OP_LOAD | 1U << VT_OP_STORE);
}

/* How far an address register goes; INFINITY: anywhere. */
static double get_register_distance(const struct motion *m, unsigned reg, unsigned scale)
{
	if (reg >= VT_NREGS || reg == VT_REG_IP)
		return 0;
	return m->jumps[reg] ? INFINITY : m->bytes[reg] * scale;
}

/* What accesses bring in: lines of the data cache, or pages. */
struct unit {
	uint32_t size; /* bytes */
	uint32_t ways;
	double *most;	   /* by instruction: the bound to set */
	bool used_in_turn; /* what is used in each round is given up last */
};

/* Those of a table, from the first to the last entry; INFINITY: an index may be anything. */
static double count_table_units(const struct vti_culprit *c, uint32_t insn,
				const struct vt_memory *at, double entries, uint32_t size)
{
	if (at->index >= VT_NREGS)
		return INFINITY;
	return entries * (1 + vti_culprit_largest(c, insn, at->index) * at->scale / size);
}

/* New lines (pages) that an instruction's accesses come to in a loop that is entered so often. */
static double count_loop_units(const struct vti_culprit *c, uint32_t insn, const struct motion *m,
			       double entries, uint32_t size)
{
	double n = get_executions(c, insn), units = 0;
	struct vt_facts f;
	unsigned i;

	if (!vti_culprit_decode(c, insn, &f) || !f.nmemories || (f.flags & VT_FACT_STRING))
		return n;
	for (i = 0; i < f.nmemories; i++) {
		const struct vt_memory *at = &f.memories[i];
		double base = get_register_distance(m, at->base, 1);
		double index = get_register_distance(m, at->index, at->scale);
		double far = entries + (base + index) / size;

		if (at->gather)
			return n;
		if (base == 0 && isinf(index))
			far = count_table_units(c, insn, at, entries, size);
		units += far;
	}
	return fmin(n, units);
}

/* A loop's body, and its accesses, whose new lines (pages) compete. */
struct body {
	const uint32_t *blocks;
	uint32_t nblocks;
	double entries;
	struct motion motion;
	uint32_t count;	   /* of accesses */
	double executions; /* of them all */
	double units;
};

/* Whether the few accesses of each round leave what the others use where it is. */
static bool is_used_in_turn(const struct vti_culprit *c, const struct body *b,
			    const struct unit *unit, uint32_t insn)
{
	double rounds = get_executions(c, c->cfg->blocks[b->blocks[0]].insn);

	return unit->used_in_turn && get_executions(c, insn) >= rounds &&
	       b->executions < unit->ways * rounds;
}

static void bound_access(struct vti_culprit *c, struct body *b, const struct unit *unit,
			 uint32_t insn)
{
	double own = count_loop_units(c, insn, &b->motion, b->entries, unit->size), n;

	if (is_used_in_turn(c, b, unit, insn))
		n = own;
	else if (b->count * 2 >= unit->ways)
		return;
	else
		n = own + (b->units - own) / (unit->ways - b->count);
	if (n < unit->most[insn])
		unit->most[insn] = n;
}

typedef void access_fn(struct vti_culprit *c, struct body *b, const struct unit *unit,
		       uint32_t insn);

static void count_access(struct vti_culprit *c, struct body *b, const struct unit *unit,
			 uint32_t insn)
{
	b->units += count_loop_units(c, insn, &b->motion, b->entries, unit->size);
	b->executions += get_executions(c, insn);
	b->count++;
}

/* False: an instruction has any number of accesses. */
static bool each_access(struct vti_culprit *c, struct body *b, const struct unit *unit,
			access_fn *fn)
{
	uint32_t at, i;

	for (at = 0; at < b->nblocks; at++) {
		const struct vt_cfg_block *block = &c->cfg->blocks[b->blocks[at]];

		for (i = block->insn; i < block->insn + block->ninsns; i++) {
			if (!has_access(&c->ops[i]))
				continue;
			if (c->ops[i].flags & VT_FACT_REPEATED)
				return false;
			fn(c, b, unit, i);
		}
	}
	return true;
}

void vti_culprit_take_loop(struct vti_culprit *c, const uint32_t *body, uint32_t nbody,
			   double entries)
{
	const struct vt_core *m = c->core;
	bool in_turn = m->order == VT_OUT_OF_ORDER;
	const struct unit units[] = {{m->dtlb.page, m->dtlb.ways, c->data_pages, in_turn},
				     {m->dcache.line, m->dcache.ways, c->data_lines, in_turn}};
	struct body b = {.blocks = body, .nblocks = nbody, .entries = entries};
	uint32_t at, i;

	if (!c->in->code || isinf(entries))
		return;
	for (at = 0; at < nbody; at++)
		for (i = 0; i < c->cfg->blocks[body[at]].ninsns; i++)
			add_motion(c, c->cfg->blocks[body[at]].insn + i, &b.motion);
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!units[i].size || !units[i].ways)
			continue;
		b.count = 0;
		b.executions = b.units = 0;
		if (each_access(c, &b, &units[i], count_access))
			each_access(c, &b, &units[i], bound_access);
	}
}

/* ---- neighbours ---- */

static const struct vt_memory *find_only_memory(const struct vt_facts *f)
{
	const struct vt_memory *m = &f->memories[0];

	if (f->nmemories != 1 || m->gather || (f->flags & VT_FACT_STRING) ||
	    (m->base == VT_REG_NONE && m->index == VT_REG_NONE) || m->base == VT_REG_IP)
		return NULL;
	return m;
}

static bool is_near(const struct vt_memory *a, const struct vt_memory *b, double *far)
{
	*far = fabs((double)a->displacement - (double)b->displacement);
	return a->base == b->base && a->index == b->index && a->segment == b->segment &&
	       (a->index == VT_REG_NONE || a->scale == b->scale);
}

bool vti_culprit_are_near(const struct vti_culprit *c, uint32_t a, uint32_t b, double *far)
{
	struct vt_facts f, g;
	const struct vt_memory *x, *y;

	if (!vti_culprit_decode(c, a, &f) || !vti_culprit_decode(c, b, &g))
		return false;
	x = find_only_memory(&f);
	y = find_only_memory(&g);
	return x && y && is_near(x, y, far);
}

/*
 * Where the same registers have just been the address of another access of the block, the page is
 * there, unless the few bytes between the two are those at its end.
 */
static void find_neighbour(struct vti_culprit *c, uint32_t insn)
{
	uint32_t first = c->cfg->blocks[c->block[insn]].insn, i;
	uint64_t regs = c->ops[insn].address_reads;
	struct vt_facts f, g;
	const struct vt_memory *m = NULL, *before;
	double far, pages;

	for (i = insn; i > first; i--) {
		const struct vt_mop *op = &c->ops[i - 1];

		if ((op->flags & (VT_FACT_CALL | VT_FACT_SYSCALL)) || (op->writes & regs))
			return;
		if (!has_access(op) || op->address_reads != regs)
			continue;
		if (!m)
			m = vti_culprit_decode(c, insn, &f) ? find_only_memory(&f) : NULL;
		if (!m)
			return;
		if (!vti_culprit_decode(c, i - 1, &g))
			continue;
		before = find_only_memory(&g);
		if (!before || !is_near(m, before, &far))
			continue;
		pages = get_executions(c, insn) * fmin(1, far / c->core->dtlb.page);
		c->data_pages[insn] = fmin(c->data_pages[insn], pages);
		return;
	}
}

void vti_culprit_neighbours(struct vti_culprit *c)
{
	uint32_t i;

	for (i = 0; i < c->cfg->ninsns && c->core->dtlb.entries && c->in->code; i++)
		if (has_access(&c->ops[i]) && get_executions(c, i) > 0)
			find_neighbour(c, i);
}

/* ---- places that do not move ---- */

static bool is_on_stack(const struct vt_mop *op)
{
	const uint32_t implied = VT_FACT_PUSH | VT_FACT_POP | VT_FACT_CALL | VT_FACT_RETURN;
	const uint64_t sp = UINT64_C(1) << VT_REG_SP;

	return op->address_reads == sp || ((op->flags & implied) && !(op->address_reads & ~sp));
}

bool vti_culprit_is_fixed(const struct vti_culprit *c, uint32_t insn)
{
	const struct vt_mop *op = &c->ops[insn];
	struct vt_facts f;

	if (!has_access(op) || (op->flags & VT_FACT_REPEATED))
		return false;
	if (is_on_stack(op))
		return true;
	return !op->address_reads && vti_culprit_decode(c, insn, &f) && !(f.flags & VT_FACT_STRING);
}

/*
 * The stack's top is used by every call, return and push, so that its page is the last one that a
 * TLB would give up.
 */
void vti_culprit_stack(struct vti_culprit *c)
{
	uint32_t i;

	for (i = 0; i < c->cfg->ninsns; i++)
		if (has_access(&c->ops[i]) && is_on_stack(&c->ops[i]))
			c->data_pages[i] = 0;
}
