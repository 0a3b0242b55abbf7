/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/tools/common/truth.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <libvex_guest_amd64.h>

#include "tests/tools/common/accesses.h"

#define MOST_SHOWN 20

/* ---- registers ---- */

void registers_get(struct registers *r, const struct vt_interp *m)
{
	unsigned reg, lane;

	for (reg = 0; reg < VT_REG_VECTOR; reg++)
		r->w[reg][0] = vt_interp_get(m, reg, 0);
	for (reg = VT_REG_VECTOR; reg < VT_NREGS; reg++)
		for (lane = 0; lane < 8; lane++)
			r->w[reg][lane] = vt_interp_get(m, reg, lane);
}

void registers_set(struct vt_interp *m, const struct registers *r)
{
	unsigned reg, lane;

	for (reg = 0; reg < VT_REG_VECTOR; reg++)
		vt_interp_set(m, reg, 0, r->w[reg][0]);
	for (reg = VT_REG_VECTOR; reg < VT_NREGS; reg++)
		for (lane = 0; lane < 8; lane++)
			vt_interp_set(m, reg, lane, r->w[reg][lane]);
}

/* perf's numbers of VEX's general registers, which are in the order of their encoding. */
static const uint8_t perf_number[16] = {
	VT_REG_AX,     VT_REG_CX,     VT_REG_DX,     VT_REG_BX,	    VT_REG_SP,	   VT_REG_BP,
	VT_REG_SI,     VT_REG_DI,     VT_REG_R8,     VT_REG_R8 + 1, VT_REG_R8 + 2, VT_REG_R8 + 3,
	VT_REG_R8 + 4, VT_REG_R8 + 5, VT_REG_R8 + 6, VT_REG_R15,
};

#define GENERAL offsetof(VexGuestAMD64State, guest_RAX)
#define VECTOR	offsetof(VexGuestAMD64State, guest_YMM0)

unsigned slot_register(const struct vt_slot *t, unsigned *lane)
{
	*lane = 0;
	if (t->what == VT_WHAT_RESULT)
		return t->reg < VT_NREGS ? t->reg : VT_NREGS;
	if (t->what != VT_WHAT_STATE || t->reg % 8)
		return VT_NREGS;
	if (t->reg >= GENERAL && t->reg < GENERAL + 8 * 16 && t->size == 8)
		return perf_number[(t->reg - GENERAL) / 8];
	if (t->reg < VECTOR || t->reg >= VECTOR + 32 * 16 || t->size % 8)
		return VT_NREGS;
	*lane = (unsigned)((t->reg - VECTOR) % 32 / 8);
	return VT_REG_VECTOR + (unsigned)(t->reg - VECTOR) / 32;
}

/* Of the upper half of a vector register it is not recorded when it is cleared. */
static void learn_vector(struct vt_word *lanes, const struct vt_step *s, uint32_t slot,
			 unsigned first)
{
	unsigned size = s->block->slots[slot].size, lane;
	uint64_t low;

	if (size < 8) {
		low = vt_low_bits(8 * size);
		lanes[0].value = (lanes[0].value & ~low) | (vt_step_value(s, slot, 0) & low);
		lanes[0].known |= low;
	}
	for (lane = 0; lane < size / 8 && first + lane < 2; lane++)
		lanes[first + lane] = vt_word_of(vt_step_value(s, slot, lane));
	lanes[2] = lanes[3] = vt_word_unknown(64);
}

void registers_learn(struct registers *r, const struct vt_step *s, uint32_t slot, uint32_t end)
{
	unsigned reg, lane;

	for (; slot < end; slot++) {
		reg = slot_register(&s->block->slots[slot], &lane);
		if (reg >= VT_REG_VECTOR && reg < VT_NREGS)
			learn_vector(r->w[reg], s, slot, lane);
		else if (reg < VT_NREGS)
			r->w[reg][0] = vt_word_of(vt_step_value(s, slot, 0));
	}
}

/* ---- tallies ---- */

uint64_t tally_values(const struct tally *t)
{
	uint64_t n = 0;
	unsigned i;

	for (i = 0; i < VT_NWHATS; i++)
		n += t->compared[i];
	return n;
}

void tally_differ(struct tally *t, const struct vt_step *s, uint32_t insn, const char *what,
		  unsigned reg, uint64_t got, uint64_t recorded)
{
	const struct vt_bblock *b = s->block;
	uint64_t addr = vt_bblock_insn_addr(b, insn);
	struct vt_facts f = {.mnemonic = "?"};
	unsigned i;

	t->differences++;
	if (t->shown++ >= MOST_SHOWN)
		return;
	if (b->code)
		vt_facts_decode(b->code + (addr - b->addr), b->lengths[insn], &f);
	fprintf(stderr, "%s: at %#" PRIx64 ", %s", t->name, addr, f.mnemonic ? f.mnemonic : "?");
	for (i = 0; b->code && i < b->lengths[insn]; i++)
		fprintf(stderr, " %02x", b->code[addr - b->addr + i]);
	fprintf(stderr, ": %s %s is %#" PRIx64 ", recorded %#" PRIx64 "\n", what,
		reg < VT_NREGS ? vt_reg_name(reg, 8) : "", got, recorded);
}

/* ---- one instruction ---- */

struct insn {
	struct tally *tally;
	const struct vt_step *step;
	uint32_t number; /* in the block */
	uint32_t slot, slot_end;
	const struct vt_capture *captures;
	size_t ncaptures;
	struct access *accesses;
	size_t naccesses;
	uint64_t next; /* where it leads, or 0 */
	const struct registers *before;
};

/* How many values like this one stand before it, and in all; wide ones are several captures. */
static unsigned ordinal(const struct insn *n, const struct vt_capture *c, unsigned *all)
{
	unsigned upto = 0;
	size_t i;

	*all = 0;
	for (i = 0; i < n->ncaptures; i++) {
		const struct vt_capture *d = &n->captures[i];

		if (d->what != c->what || d->reg != c->reg || d->lane)
			continue;
		upto += d <= c;
		++*all;
	}
	return upto - 1;
}

static void compare(const struct insn *n, const struct vt_capture *c, uint64_t recorded,
		    unsigned size)
{
	uint64_t mask = vt_low_bits(size < 8 ? 8 * size : 64);

	n->tally->compared[c->what]++;
	if ((c->value ^ recorded) & mask)
		tally_differ(n->tally, n->step, n->number, vt_what_name(c->what),
			     c->reg ? c->reg : VT_NREGS, c->value & mask, recorded & mask);
}

/* A result or argument, among several of the same register in their order. */
static bool compare_slot(const struct insn *n, const struct vt_capture *c)
{
	const struct vt_slot *t;
	unsigned all, nth = ordinal(n, c, &all), size;
	uint32_t i;

	for (i = n->slot; i < n->slot_end; i++) {
		t = &n->step->block->slots[i];
		if (t->what != c->what || t->reg != c->reg || nth--)
			continue;
		size = t->size < c->size ? t->size : c->size;
		if (size <= 8u * c->lane)
			return false;
		compare(n, c, vt_step_value(n->step, i, c->lane), size - 8u * c->lane);
		return true;
	}
	return false;
}

static bool compare_access(const struct insn *n, const struct vt_capture *c)
{
	bool store = c->what == VT_WHAT_STORE || c->what == VT_WHAT_STORE_ADDRESS;
	bool addr = c->what == VT_WHAT_STORE_ADDRESS || c->what == VT_WHAT_LOAD_ADDRESS;
	const struct access *found = NULL;
	unsigned all, nth = ordinal(n, c, &all), count = 0;
	const uint8_t *bytes;
	unsigned size;
	size_t i;

	for (i = 0; i < n->naccesses; i++)
		if (n->accesses[i].store == store && count++ == nth)
			found = &n->accesses[i];
	if (!found || all != count)
		return false;
	bytes = addr ? found->addr : found->value;
	size = addr ? found->addr_size : found->size;
	if (!bytes || size != c->size)
		return false;
	if (!found->happened) {
		tally_differ(n->tally, n->step, n->number,
			     "an access that did not happen:", VT_NREGS, c->value, 0);
		return true;
	}
	size -= 8u * c->lane;
	compare(n, c, bytes_number(bytes + 8 * (size_t)c->lane, size < 8 ? size : 8), size);
	return true;
}

static bool compare_operand(const struct insn *n, const struct vt_capture *c)
{
	struct vt_word w;

	if (c->reg >= VT_NREGS || c->lane > 1)
		return false;
	w = n->before->w[c->reg][c->lane];
	if (!vt_word_is_known(w))
		return false;
	compare(n, c, w.value, c->size - 8u * c->lane);
	return true;
}

static bool compare_capture(const struct insn *n, const struct vt_capture *c)
{
	switch (c->what) {
	case VT_WHAT_RESULT:
	case VT_WHAT_ARG:
		return compare_slot(n, c);
	case VT_WHAT_LOAD:
	case VT_WHAT_LOAD_ADDRESS:
	case VT_WHAT_STORE:
	case VT_WHAT_STORE_ADDRESS:
		return compare_access(n, c);
	case VT_WHAT_OPERAND:
		return compare_operand(n, c);
	case VT_WHAT_TARGET:
		if (n->next)
			compare(n, c, n->next, 8);
		return n->next;
	default:
		return false;
	}
}

/* False: the interpreter has gone elsewhere. */
static bool compare_insn(struct insn *n)
{
	uint64_t addr = vt_bblock_insn_addr(n->step->block, n->number);
	struct tally *t = n->tally;
	size_t i;

	n->naccesses =
		n->slot < n->slot_end ? accesses_of(n->step, n->slot, n->slot_end, n->accesses) : 0;
	for (i = 0; i < n->ncaptures; i++) {
		const struct vt_capture *c = &n->captures[i];

		if (c->ip != addr) {
			tally_differ(t, n->step, n->number, "the path", VT_NREGS, c->ip, addr);
			return false;
		}
		if (c->what == VT_WHAT_UNKNOWN) {
			t->insns++;
			continue;
		}
		t->captured++;
		if (c->known && !(t->loads_given && c->what == VT_WHAT_LOAD) &&
		    !compare_capture(n, c))
			t->uncompared++;
	}
	return true;
}

/* ---- runs ---- */

static uint64_t after_step(const struct vt_step *steps, size_t i, size_t nsteps, uint64_t next)
{
	return i + 1 < nsteps ? vt_bblock_insn_addr(steps[i + 1].block, steps[i + 1].insn) : next;
}

void compare_captures(struct tally *t, const struct vt_capture *captures, size_t n,
		      const struct vt_step *steps, size_t nsteps, uint64_t next,
		      struct registers *r)
{
	struct access accesses[MOST_ACCESSES];
	uint32_t number = 0;
	size_t at = 0, i;

	for (i = 0; i < nsteps; i++) {
		const struct vt_step *s = &steps[i];
		uint32_t slot = s->slot, insn;

		for (insn = s->insn; insn < s->insn_end; insn++, number++) {
			struct insn in = {.tally = t, .step = s, .number = insn, .before = r};

			in.accesses = accesses;
			in.slot = slot;
			while (slot < s->slot_end && s->block->slots[slot].insn == insn)
				slot++;
			in.slot_end = slot;
			in.captures = at < n ? &captures[at] : NULL;
			for (in.ncaptures = 0; at < n && captures[at].insn == number; at++)
				in.ncaptures++;
			if (insn + 1 == s->insn_end)
				in.next = after_step(steps, i, nsteps, next);
			else
				in.next = vt_bblock_insn_addr(s->block, insn + 1);
			if (!compare_insn(&in))
				return;
			registers_learn(r, s, in.slot, in.slot_end);
		}
	}
}

void compare_registers(struct tally *t, const struct vt_step *last, const struct registers *got,
		       const struct registers *want)
{
	unsigned reg, lane;

	for (reg = 0; reg < VT_REG_VECTOR + 16; reg++) {
		for (lane = 0; lane < (reg < VT_REG_VECTOR ? 1 : 4); lane++) {
			struct vt_word a = got->w[reg][lane], b = want->w[reg][lane];

			t->registers += (a.known & b.known) == UINT64_MAX;
			if ((a.value ^ b.value) & a.known & b.known)
				tally_differ(t, last, last->insn_end - 1, "afterwards,", reg,
					     a.value, b.value & a.known & b.known);
		}
	}
}
