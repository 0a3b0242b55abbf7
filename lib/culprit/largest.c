/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdint.h>

#include "culprit/internal.h"
#include "machine/insn/insn.h"

/*
 * The largest number that an index can be, by the instructions just before: bytes and words that
 * are widened, masks, logical shifts, and a comparison that leads around the block.  So a table
 * has an end, such as that of a switch.
 */

/* Copies from register to register that are followed. */
#define MAX_COPIES 4

/* The low bytes of a register, as an unsigned number. */
struct sought {
	unsigned reg;
	unsigned bytes;
	double most;
};

static double get_largest_of(unsigned bytes)
{
	return bytes <= 4 ? ldexp(1, 8 * (int)bytes) - 1 : INFINITY;
}

/* An instruction that sets a register as a whole, and does nothing else. */
static bool decode_setter(const struct vti_culprit *c, uint32_t insn, unsigned reg,
			  struct vt_facts *f)
{
	return vti_culprit_decode(c, insn, f) && f->nresults == 1 &&
	       f->results[0].where == VT_WHERE_REGISTER && f->results[0].reg == reg &&
	       f->results[0].size >= 4;
}

/* Follows a copy, widened or not, to its source; false if it is none. */
static bool follow_copy(const struct vt_facts *f, struct sought *s)
{
	bool widened = vt_facts_has_mnemonic(f, "movzx");

	if ((!widened && !vt_facts_has_mnemonic(f, "mov")) || f->nmemories || f->nsources != 1 ||
	    f->sources[0].where != VT_WHERE_REGISTER || f->sources[0].high)
		return false;
	s->reg = f->sources[0].reg;
	if (f->sources[0].size < s->bytes)
		s->bytes = f->sources[0].size;
	s->most = fmin(s->most, get_largest_of(f->sources[0].size));
	return true;
}

static double get_largest_result(const struct vt_facts *f)
{
	double bits = 8.0 * f->results[0].size - (double)f->immediate;

	if (vt_facts_has_mnemonic(f, "movzx"))
		return get_largest_of(f->nmemories ? f->memories[0].size : f->sources[0].size);
	if (vt_facts_has_mnemonic(f, "and") && f->has_immediate && f->immediate >= 0)
		return (double)f->immediate;
	if (vt_facts_has_mnemonic(f, "shr") && f->has_immediate && f->immediate > 0 && bits > 0)
		return ldexp(1, (int)bits) - 1;
	return get_largest_of(f->results[0].size);
}

/* What a block's instructions before `end` say; true if they set the register. */
static bool search_setters(const struct vti_culprit *c, const struct vt_cfg_block *b, uint32_t end,
			   struct sought *s)
{
	struct vt_facts f;
	unsigned copies = 0;
	uint32_t i;

	for (i = end; i > b->insn; i--) {
		if (!(c->ops[i - 1].writes & UINT64_C(1) << s->reg))
			continue;
		if (!decode_setter(c, i - 1, s->reg, &f))
			return true;
		if (follow_copy(&f, s)) {
			if (copies++ == MAX_COPIES)
				return true;
			continue;
		}
		s->most = fmin(s->most, get_largest_result(&f));
		return true;
	}
	return false;
}

/*
 * `cmp $n,reg` and a jump elsewhere if that is above, which end the only block before this one.
 * That compares the register's low bytes only, unless the others were set to 0.
 */
static void search_comparison(const struct vti_culprit *c, const struct vt_cfg_block *b,
			      struct sought *s)
{
	const struct vt_cfg_edge *e = &c->cfg->edges[c->cfg->in[b->in]];
	const struct vt_cfg_block *before = &c->cfg->blocks[e->from];
	struct sought whole = {s->reg, 8, INFINITY};
	struct vt_facts compare, jump;
	uint32_t last;

	if (b->nin != 1 || e->kind != VT_EDGE_FALL || before->ninsns < 2 || !c->cfg->complete)
		return;
	last = before->insn + before->ninsns - 1;
	search_setters(c, before, last - 1, &whole);
	s->most = fmin(s->most, whole.most);
	if (!vti_culprit_decode(c, last, &jump) || !vti_culprit_decode(c, last - 1, &compare) ||
	    !vt_facts_has_mnemonic(&jump, "jnbe") || !vt_facts_has_mnemonic(&compare, "cmp") ||
	    compare.nmemories || !compare.has_immediate || compare.immediate < 0 ||
	    compare.nsources != 1 || compare.sources[0].high || compare.sources[0].reg != s->reg)
		return;
	if (compare.sources[0].size >= s->bytes ||
	    s->most <= get_largest_of(compare.sources[0].size))
		s->most = fmin(s->most, (double)compare.immediate);
}

double vti_culprit_largest(const struct vti_culprit *c, uint32_t insn, unsigned reg)
{
	const struct vt_cfg_block *b = &c->cfg->blocks[c->block[insn]];
	struct sought s = {reg, 8, INFINITY};

	if (!search_setters(c, b, insn, &s) && b->nin)
		search_comparison(c, b, &s);
	return s.most;
}
