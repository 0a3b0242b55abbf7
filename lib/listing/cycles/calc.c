/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/cycles/calc.h"

#include <elf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "culprit/cause.h"
#include "image/lines.h"
#include "listing/code/internal.h"
#include "profile/procedure_code.h"

bool vt_calc_range(const struct vt_calc_source *src, const struct vt_procedure *proc,
		   uint64_t *first, uint64_t *end)
{
	*first = 0;
	*end = UINT64_MAX;
	if (proc->image == VT_UNMAPPED_IMAGE)
		return false;
	if (!proc->symbol)
		return true;
	if (!vt_images_offset(src->images, proc->image, proc->start, first) ||
	    proc->end < proc->start || proc->end - proc->start > UINT64_MAX - *first)
		return false;
	*end = *first + (proc->end - proc->start);
	return true;
}

void vt_calc_add(const struct vt_calc_source *src, const struct vt_procedure *proc,
		 struct vt_cyclesum *sum)
{
	uint64_t first, end;

	if (!vt_calc_range(src, proc, &first, &end))
		return;
	vt_cyclesum_add(sum, src->freqs, proc->image, first, end);
	vt_cyclesum_samples(sum, src->profile, src->event, proc->image, first, end);
}

/* ---- instructions ---- */

static const char *keep_text(struct vt_calc *c, const char *text)
{
	uint32_t id = vt_intern_str(c->texts, text);

	return id == UINT32_MAX ? "" : vt_intern_get(c->texts, id);
}

struct naming {
	struct vt_symbols *symbols;
	const struct vt_procedure *proc;
};

/* Places in the procedure itself are among its blocks, and names can be long. */
static void name_other(void *arg, uint64_t address, struct vt_buf *out)
{
	const struct naming *n = arg;

	if (address <= n->proc->start || address >= n->proc->end)
		vt_disasm_name_symbol(n->symbols, address, out);
}

static bool disassemble_insns(struct vt_calc *c, const struct vt_calc_source *src,
			      const struct vt_proccode *code, struct vt_error *err)
{
	enum vt_unknown why;
	struct vt_lines *lines = vt_images_lines(src->images, c->proc.image);
	struct vt_disasm *d = vt_disasm_new(EM_X86_64, 64, false, src->syntax, err);
	struct naming n = {.proc = &c->proc};
	uint32_t i;

	if (!d)
		return false;
	n.symbols = vt_images_symbols(src->images, c->proc.image, c->proc.pid, &why);
	vt_disasm_set_symbols(d, name_other, &n);
	for (i = 0; i < c->cfg->ninsns; i++) {
		const struct vt_cfg_insn *in = &c->cfg->insns[i];
		uint64_t at = in->addr - c->proc.start;
		struct vt_insn insn = {.text = ""};
		struct vt_line line = {.file = ""};

		if (at < code->size)
			vt_disasm_at(d, code->bytes + at, code->size - (size_t)at, in->addr, &insn);
		if (lines && !vt_lines_at(lines, in->addr, &line))
			line = (struct vt_line){.file = ""};
		c->insns[i] = (struct vt_calc_insn){.address = in->addr,
						    .text = keep_text(c, insn.text),
						    .file = keep_text(c, line.file),
						    .line = line.line};
		c->insns[i].size = strlen(c->insns[i].text);
	}
	vt_disasm_free(d);
	return true;
}

static int compare_insn_to_address(const void *key, const void *insn)
{
	uint64_t a = *(const uint64_t *)key, b = ((const struct vt_calc_insn *)insn)->address;

	return a < b ? -1 : a > b;
}

static struct vt_calc_insn *find_calc_insn(const struct vt_calc *c, uint64_t offset)
{
	uint64_t address = offset + c->base;

	return bsearch(&address, c->insns, c->cfg->ninsns, sizeof(*c->insns),
		       compare_insn_to_address);
}

static void place_records(struct vt_calc *c, const struct vt_calc_source *src)
{
	uint64_t first = c->cfg->start - c->base, end = c->cfg->end - c->base;
	size_t i, k, n;
	const struct vt_freq_at *f =
		vt_freqprofile_freqs(src->freqs, c->proc.image, first, end, &n);
	const struct vt_stall *s;

	for (i = 0; i < n; i++) {
		struct vt_calc_insn *insn = find_calc_insn(c, f[i].offset);

		if (insn) {
			insn->freq = f[i].freq;
			insn->judged =
				vt_freqprofile_is_judged(src->freqs, c->proc.image, f[i].offset);
		}
	}
	c->stalls = s = vt_freqprofile_stalls(src->freqs, c->proc.image, first, end, &n);
	c->nstalls = n;
	for (i = 0; i < n; i = k) {
		struct vt_calc_insn *insn = find_calc_insn(c, s[i].offset);

		for (k = i; k < n && s[k].offset == s[i].offset; k++)
			if (insn && !(s[k].flags & VT_STALL_OF_REGION))
				insn->nstalls++;
		if (insn)
			insn->stalls = &s[i];
	}
	c->acquittals = s =
		vt_freqprofile_acquittals(src->freqs, c->proc.image, first, end, &c->nacquittals);
	for (i = 0; i < c->nacquittals; i = k) {
		struct vt_calc_insn *insn = find_calc_insn(c, s[i].offset);

		for (k = i; k < c->nacquittals && s[k].offset == s[i].offset; k++)
			if (insn && !(s[k].flags & VT_STALL_OF_REGION))
				insn->nacquittals++;
		if (insn)
			insn->acquittals = &s[i];
	}
}

const struct vt_calc_insn *vt_calc_insn_at(const struct vt_calc *c, uint64_t offset)
{
	return find_calc_insn(c, offset);
}

/* Regions of one event; those of others are their own. */
static void place_regions(struct vt_calc *c, const struct vt_calc_source *src)
{
	uint64_t first = c->cfg->start - c->base, end = c->cfg->end - c->base;
	size_t i;
	uint32_t k, at;

	c->regions = vt_freqprofile_regions(src->freqs, c->proc.image, first, end, &c->nregions);
	for (i = 0; i < c->nregions; i++) {
		const struct vt_regionfreq *r = &c->regions[i];

		for (k = 0, at = 0; k < r->nranges; k += 2) {
			while (at < c->cfg->ninsns && c->insns[at].address - c->base < r->ranges[k])
				at++;
			for (; at < c->cfg->ninsns &&
			       c->insns[at].address - c->base < r->ranges[k + 1];
			     at++)
				c->insns[at].region = r;
		}
	}
}

/* ---- blocks ---- */

static void sum_blocks(struct vt_calc *c)
{
	uint32_t b, i;

	for (b = VT_CFG_FIRST; b < c->cfg->nblocks; b++) {
		struct vt_calc_block *block = &c->blocks[b];

		for (i = 0; i < block->block->ninsns; i++) {
			const struct vt_calc_insn *insn = &block->insns[i];

			if (!insn->freq)
				continue;
			if (!block->freq)
				block->freq = insn->freq;
			vt_cyclesum_insn(&block->sum, insn->freq, insn->stalls, insn->nstalls,
					 insn->judged);
		}
	}
}

/* The record of an edge says where the jump is, and where it goes. */
static void place_edges(struct vt_calc *c, const struct vt_calc_source *src)
{
	uint32_t e;

	for (e = 0; e < c->cfg->nedges; e++) {
		const struct vt_cfg_edge *edge = &c->cfg->edges[e];
		const struct vt_cfg_block *from = &c->cfg->blocks[edge->from];
		const struct vt_edgefreq *f;
		uint64_t offset;
		size_t i, n;

		c->edges[e].edge = edge;
		if (!from->ninsns || edge->to < VT_CFG_FIRST)
			continue;
		offset = c->insns[from->insn + from->ninsns - 1].address - c->base;
		f = vt_freqprofile_edges(src->freqs, c->proc.image, offset, offset + 1, &n);
		for (i = 0; i < n && !c->edges[e].freq; i++)
			if (f[i].to + c->base == c->cfg->blocks[edge->to].start)
				c->edges[e].freq = &f[i];
	}
}

static bool fill_calc(struct vt_calc *c, const struct vt_calc_source *src,
		      const struct vt_proccode *code, struct vt_error *err)
{
	uint32_t b;

	c->insns = calloc((size_t)c->cfg->ninsns + 1, sizeof(*c->insns));
	c->blocks = calloc((size_t)c->cfg->nblocks + 1, sizeof(*c->blocks));
	c->edges = calloc((size_t)c->cfg->nedges + 1, sizeof(*c->edges));
	c->texts = vt_intern_new();
	if (!c->insns || !c->blocks || !c->edges || !c->texts) {
		vt_error_nomem(err);
		return false;
	}
	if (!disassemble_insns(c, src, code, err))
		return false;
	for (b = 0; b < c->cfg->nblocks; b++) {
		c->blocks[b].block = &c->cfg->blocks[b];
		c->blocks[b].insns = c->insns + c->cfg->blocks[b].insn;
	}
	place_records(c, src);
	place_regions(c, src);
	sum_blocks(c);
	place_edges(c, src);
	return true;
}

static bool build_calc(struct vt_calc *c, const struct vt_calc_source *src,
		       struct vt_proccode *code, struct vt_error *err)
{
	struct vt_cfg_source flow = {
		.start = c->proc.start, .images = src->images, .image = c->proc.image};

	if (vt_proccode_find(src->images, src->code, &c->proc, code, err) < 0)
		return false;
	flow.code = code->bytes;
	flow.size = code->size;
	c->cfg = vt_cfg_new(&flow, err);
	return c->cfg && fill_calc(c, src, code, err);
}

struct vt_calc *vt_calc_new(const struct vt_calc_source *src, const struct vt_procedure *proc,
			    struct vt_error *err)
{
	struct vt_calc *c = calloc(1, sizeof(*c));
	struct vt_proccode code = {0};
	uint64_t first, end;
	bool ok;

	if (!c) {
		vt_error_nomem(err);
		return NULL;
	}
	c->proc = *proc;
	c->image = vt_images_get(src->images, proc->image);
	if (!proc->symbol || !vt_calc_range(src, proc, &first, &end)) {
		vt_error_set(err, VT_E_ABSENT, "%s: no procedure: %s",
			     c->image ? c->image->path : "?", vt_unknown_text(proc->why));
		free(c);
		return NULL;
	}
	c->base = proc->start - first;
	ok = build_calc(c, src, &code, err);
	vt_proccode_fini(&code);
	if (!ok) {
		vt_calc_free(c);
		return NULL;
	}
	vt_calc_add(src, proc, &c->sum);
	return c;
}

void vt_calc_free(struct vt_calc *c)
{
	if (!c)
		return;
	vt_cfg_free(c->cfg);
	vt_intern_free(c->texts);
	free(c->insns);
	free(c->blocks);
	free(c->edges);
	free(c);
}

bool vt_calc_shares_samples(const struct vt_calc *c)
{
	return !(c->sum.cycles > 0) && vt_cyclesum_all(&c->sum) > 0;
}

double vt_calc_block_share(const struct vt_calc *c, const struct vt_calc_block *b)
{
	if (vt_calc_shares_samples(c))
		return 100 * vt_cyclesum_all(&b->sum) / vt_cyclesum_all(&c->sum);
	return c->sum.cycles > 0 ? 100 * b->sum.cycles / c->sum.cycles : 0;
}

double vt_calc_dynamic(const struct vt_calc_insn *insn)
{
	struct vt_cyclesum sum = {0};
	double v;

	if (!insn->freq || insn->freq->executions <= 0)
		return 0;
	vt_cyclesum_insn(&sum, insn->freq, insn->stalls, insn->nstalls, insn->judged);
	v = (sum.dynamic - (sum.low[VT_STALL_GAIN] + sum.high[VT_STALL_GAIN]) / 2) /
	    insn->freq->executions;
	return v > 0 && isfinite(v) ? v : 0;
}

bool vt_calc_is_timed(const struct vt_calc *c, const struct vt_calc_insn *insn)
{
	size_t i;

	if (!c->nregions)
		return true;
	for (i = 0; i < insn->nstalls; i++)
		if (!vt_stall_is_static(insn->stalls[i].cause))
			return true;
	return false;
}
