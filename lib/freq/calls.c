/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/calls.h"

#include <math.h>

#include "base/bytes.h"
#include "machine/insn/insn.h"

/* What is called, or analysed, at an address. */
struct call_target {
	uint64_t vaddr;
	uint64_t sites;
	double executions; /* of the sites */
	double variance;
	bool hidden;	/* it may be entered in another way, or more often */
	bool procedure; /* that was analysed; what follows is of its entry */
	struct vt_freq_value entry;
};

void vt_freqcalls_init(struct vt_freqcalls *c)
{
	vt_hash_init(&c->targets, sizeof(struct call_target), sizeof(uint64_t));
}

void vt_freqcalls_fini(struct vt_freqcalls *c)
{
	vt_hash_fini(&c->targets);
}

void vt_freqcalls_clear(struct vt_freqcalls *c)
{
	vt_hash_clear(&c->targets);
}

bool vti_freq_leads_away(const struct vt_elf *elf, const struct vt_cfg *g, uint32_t insn,
			 uint64_t *vaddr)
{
	const struct vt_cfg_insn *i = &g->insns[insn];
	const uint8_t *bytes;
	struct vt_flow f;
	size_t avail = 0;

	if (!(i->flags & VT_FACT_BRANCH) || i->flags & VT_FACT_INDIRECT)
		return false;
	bytes = vt_elf_bytes(elf, i->addr, &avail);
	if (!bytes || !vt_flow_decode(bytes, avail, &f) || !f.has_target)
		return false;
	*vaddr = i->addr + (uint64_t)f.target;
	return i->flags & VT_FACT_CALL
		       ? *vaddr == g->start || *vaddr - g->start >= g->end - g->start
		       : *vaddr - g->start >= g->end - g->start;
}

static bool count_call(struct vt_freqcalls *c, uint64_t vaddr, uint32_t flags,
		       const struct vt_freq_value *v)
{
	struct call_target *t = vt_hash_add(&c->targets, &vaddr, NULL);
	double sigma = (v->high - v->executions) / 2;

	if (!t)
		return false;
	/* How often a branch is taken out of the procedure is not among its estimates. */
	t->hidden |= v->confidence == VT_CONFIDENCE_NONE || flags & VT_FACT_CONDITIONAL;
	if (!(v->executions > 0) || flags & VT_FACT_CONDITIONAL)
		return true;
	t->sites++;
	t->executions += v->executions;
	t->variance += sigma * sigma;
	return true;
}

/* An address that an instruction computes may be called from anywhere. */
static bool hide_computed(struct vt_freqcalls *c, const struct vt_elf *elf, const struct vt_mop *op,
			  uint64_t next)
{
	uint64_t vaddr = (uint64_t)(int64_t)op->sum.displacement;
	struct call_target *t;

	if (!op->sum.size || op->sum.index != VT_REG_NONE ||
	    (op->sum.base != VT_REG_IP && op->sum.base != VT_REG_NONE))
		return true;
	if (op->sum.base == VT_REG_IP)
		vaddr += next;
	if (!vt_elf_is_code(elf, vaddr))
		return true;
	t = vt_hash_add(&c->targets, &vaddr, NULL);
	if (t)
		t->hidden = true;
	return t != NULL;
}

static bool add_entry(struct vt_freqcalls *c, const struct vt_procflow *f,
		      const struct vt_freqs *freqs)
{
	const struct vt_cfg_block *entry = &f->cfg->blocks[VT_CFG_ENTRY];
	struct call_target *t = vt_hash_add(&c->targets, &f->proc.start, NULL);
	uint32_t i;

	for (i = entry->out; t && i < entry->out + entry->nout; i++)
		if (f->cfg->blocks[f->cfg->edges[i].to].start == f->proc.start) {
			t->procedure = true;
			t->entry = freqs->edge[i];
			/* Who calls it may have been counted in code that is not analysed. */
			t->hidden |= freqs->insn[0].method == VT_METHOD_COUNTED;
		}
	return t != NULL;
}

bool vti_freq_is_own(struct vti_freq_owner *o, uint64_t addr)
{
	const struct vt_symbol *sym;

	if (!o->symbols)
		return true;
	if (addr >= o->from && addr < o->to)
		return o->own;
	sym = vt_symbols_find_until(o->symbols, addr, &o->to);
	o->from = addr;
	o->own = !sym || vt_symbols_outermost(o->symbols, sym)->start == o->flow->proc.start;
	return o->own;
}

int vt_freqcalls_add(struct vt_freqcalls *c, struct vt_images *images,
		     const struct vt_symbols *symbols, const struct vt_procflow *f,
		     const struct vt_freqs *freqs, struct vt_error *err)
{
	enum vt_unknown why;
	const struct vt_elf *elf = vt_images_elf(images, f->proc.image, &why);
	struct vti_freq_owner owner = {.symbols = symbols, .flow = f};
	bool ok = add_entry(c, f, freqs);
	uint32_t i;

	for (i = 0; i < f->cfg->ninsns && elf && ok; i++) {
		const struct vt_cfg_insn *insn = &f->cfg->insns[i];
		uint64_t vaddr;

		if (!vti_freq_is_own(&owner, insn->addr))
			continue;
		ok = hide_computed(c, elf, &f->ops[i], insn->addr + insn->length);
		if (ok && vti_freq_leads_away(elf, f->cfg, i, &vaddr))
			ok = count_call(c, vaddr, insn->flags, &freqs->insn[i]);
	}
	return ok ? 0 : vt_error_nomem(err);
}

struct vt_freq_measure vt_freqcalls_of(const struct vt_freqcalls *c, uint64_t vaddr)
{
	const struct call_target *t = vt_hash_find(&c->targets, &vaddr);

	if (!t || !t->sites)
		return (struct vt_freq_measure){.executions = -1};
	return (struct vt_freq_measure){t->executions, sqrt(t->variance)};
}

/* ---- calls and entries ---- */

/* The targets that data name: pointers, addends of relocations, and symbols for other files. */
static void hide_named(const struct vt_freqcalls *c, const struct vt_elf *elf)
{
	const struct vt_elf_segment *list;
	const uint8_t *bytes;
	struct call_target *t;
	size_t i, at, n, size;
	uint64_t word;

	list = vt_elf_segments(elf, &n);
	for (i = 0; i < n; i++) {
		bytes = list[i].exec ? NULL : vt_elf_bytes(elf, list[i].vaddr, &size);
		for (at = -list[i].vaddr % 8; bytes && at + 8 <= size; at += 8) {
			word = vt_le64(bytes + at);
			t = word && vt_elf_is_code(elf, word) ? vt_hash_find(&c->targets, &word)
							      : NULL;
			if (t)
				t->hidden = true;
		}
	}
}

void vt_freqcalls_compare(const struct vt_freqcalls *c, struct vt_images *images, uint32_t image,
			  struct vt_freqcalls_sums *sums)
{
	enum vt_unknown why;
	const struct vt_elf *elf = vt_images_elf(images, image, &why);
	size_t i;

	if (!elf)
		return;
	hide_named(c, elf);
	for (i = 0; i < c->targets.count; i++) {
		const struct call_target *t = vt_hash_at(&c->targets, i);
		double half = 2 * sqrt(t->variance);

		if (!t->procedure || !t->sites || t->hidden ||
		    t->entry.confidence == VT_CONFIDENCE_NONE ||
		    t->vaddr == vt_elf_info(elf)->entry)
			continue;
		sums->compared += t->executions;
		if (t->executions + half < t->entry.low || t->executions - half > t->entry.high)
			sums->disagree += t->executions;
	}
}
