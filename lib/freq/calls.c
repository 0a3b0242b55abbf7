/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/calls.h"

#include <math.h>

#include "machine/insn/insn.h"

struct call_target {
	uint64_t vaddr;
	double executions;
	double variance;
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

	if (!(i->flags & (VT_FACT_CALL | VT_FACT_JUMP)) || i->flags & VT_FACT_INDIRECT)
		return false;
	bytes = vt_elf_bytes(elf, i->addr, &avail);
	if (!bytes || !vt_flow_decode(bytes, avail, &f) || !f.has_target)
		return false;
	*vaddr = i->addr + (uint64_t)f.target;
	return *vaddr < g->start || *vaddr >= g->end;
}

static bool count_call(struct vt_freqcalls *c, uint64_t vaddr, const struct vt_freq_value *v)
{
	struct call_target *t = vt_hash_add(&c->targets, &vaddr, NULL);
	double sigma = (v->high - v->executions) / 2;

	if (!t)
		return false;
	t->executions += v->executions;
	t->variance += sigma * sigma;
	return true;
}

bool vti_freq_is_own(const struct vt_symbols *symbols, const struct vt_procflow *f, uint64_t addr)
{
	const struct vt_symbol *sym = symbols ? vt_symbols_find(symbols, addr) : NULL;

	return !sym || vt_symbols_outermost(symbols, sym)->start == f->proc.start;
}

int vt_freqcalls_add(struct vt_freqcalls *c, struct vt_images *images,
		     const struct vt_symbols *symbols, const struct vt_procflow *f,
		     const struct vt_freqs *freqs, struct vt_error *err)
{
	enum vt_unknown why;
	const struct vt_elf *elf = vt_images_elf(images, f->proc.image, &why);
	uint32_t i;

	for (i = 0; i < f->cfg->ninsns && elf; i++) {
		uint64_t vaddr;

		if (!(freqs->insn[i].executions > 0) ||
		    !vti_freq_is_own(symbols, f, f->cfg->insns[i].addr) ||
		    !vti_freq_leads_away(elf, f->cfg, i, &vaddr))
			continue;
		if (!count_call(c, vaddr, &freqs->insn[i]))
			return vt_error_nomem(err);
	}
	return 0;
}

struct vt_freq_measure vt_freqcalls_of(const struct vt_freqcalls *c, uint64_t vaddr)
{
	const struct call_target *t = vt_hash_find(&c->targets, &vaddr);

	if (!t)
		return (struct vt_freq_measure){.executions = -1};
	return (struct vt_freq_measure){t->executions, sqrt(t->variance)};
}
