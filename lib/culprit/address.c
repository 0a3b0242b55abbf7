/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "culprit/internal.h"
#include "machine/insn/insn.h"

/*
 * How often a load or store can come to a page that the data TLB has not got.
 *
 * In a loop that calls nothing, an address whose registers do not change stays on its page, and one
 * whose registers are only stepped by constants moves on by that much; any other may go to a new
 * page each time.  A page that is used again is missed only after so many other pages as the TLB
 * has entries: those that all accesses of the loop bring in, together, bound how often that
 * happens.
 */

/* Registers of a loop. */
struct motion {
	double bytes[VT_NREGS]; /* that steps move it by, on all iterations together */
	bool jumps[VT_NREGS];	/* it is set in another way */
};

static bool decode_procedure_insn(const struct vti_culprit *c, uint32_t insn, struct vt_facts *f)
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
	if (decode_procedure_insn(c, insn, &f) && get_constant_step(&f, &by)) {
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

/* New pages that an instruction's accesses come to in a loop that is entered so often. */
static double count_loop_pages(const struct vti_culprit *c, uint32_t insn, const struct motion *m,
			       double entries)
{
	double n = get_executions(c, insn), pages = 0;
	struct vt_facts f;
	unsigned i;

	if (!decode_procedure_insn(c, insn, &f) || !f.nmemories || (f.flags & VT_FACT_STRING))
		return n;
	for (i = 0; i < f.nmemories; i++) {
		const struct vt_memory *at = &f.memories[i];
		double far = get_register_distance(m, at->base, 1) +
			     get_register_distance(m, at->index, at->scale);

		if (at->gather)
			return n;
		pages += entries + far / c->core->dtlb.page;
	}
	return fmin(n, pages);
}

/* The accesses of a loop's body, whose new pages compete. */
struct accesses {
	double pages;
	uint32_t count;
};

static void bound_data_pages(struct vti_culprit *c, uint32_t insn, double pages,
			     const struct accesses *all)
{
	uint32_t ways = c->core->dtlb.ways;
	double n;

	if (all->count * 2 >= ways)
		return;
	n = pages + (all->pages - pages) / (ways - all->count);
	if (n < c->data_pages[insn])
		c->data_pages[insn] = n;
}

void vti_culprit_take_loop(struct vti_culprit *c, const uint32_t *body, uint32_t nbody,
			   double entries)
{
	struct motion m = {{0}, {false}};
	struct accesses all = {0};
	uint32_t at, i;

	if (!c->core->dtlb.entries || !c->in->code || isinf(entries))
		return;
	for (at = 0; at < nbody; at++)
		for (i = 0; i < c->cfg->blocks[body[at]].ninsns; i++)
			add_motion(c, c->cfg->blocks[body[at]].insn + i, &m);
	for (at = 0; at < nbody; at++)
		for (i = 0; i < c->cfg->blocks[body[at]].ninsns; i++) {
			uint32_t insn = c->cfg->blocks[body[at]].insn + i;

			if (!has_access(&c->ops[insn]))
				continue;
			if (c->ops[insn].flags & VT_FACT_REPEATED)
				return;
			all.pages += count_loop_pages(c, insn, &m, entries);
			all.count++;
		}
	for (at = 0; at < nbody; at++)
		for (i = 0; i < c->cfg->blocks[body[at]].ninsns; i++) {
			uint32_t insn = c->cfg->blocks[body[at]].insn + i;

			if (has_access(&c->ops[insn]))
				bound_data_pages(c, insn, count_loop_pages(c, insn, &m, entries),
						 &all);
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
			m = decode_procedure_insn(c, insn, &f) ? find_only_memory(&f) : NULL;
		if (!m)
			return;
		if (!decode_procedure_insn(c, i - 1, &g))
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

/* ---- the stack ---- */

/*
 * The stack's top is used by every call, return and push, so that its page is the last one that a
 * TLB would give up.
 */
void vti_culprit_stack(struct vti_culprit *c)
{
	const uint32_t implied = VT_FACT_PUSH | VT_FACT_POP | VT_FACT_CALL | VT_FACT_RETURN;
	const uint64_t sp = UINT64_C(1) << VT_REG_SP;
	uint32_t i;

	for (i = 0; i < c->cfg->ninsns; i++) {
		const struct vt_mop *op = &c->ops[i];

		if (has_access(op) && (op->address_reads == sp ||
				       ((op->flags & implied) && !(op->address_reads & ~sp))))
			c->data_pages[i] = 0;
	}
}
