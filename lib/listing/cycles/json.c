/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/cycles/json.h"

#include <string.h>

#include "culprit/cause.h"
#include "listing/json.h"

/* ---- sums ---- */

static json_t *make_shares(const struct vt_cyclesum *s)
{
	json_t *v = json_object();
	unsigned i;

	for (i = VT_NCONFIDENCES; i-- > 0;)
		json_object_set_new(v, vt_confidence_name(i),
				    vt_json_real(vt_cyclesum_share(s, (enum vt_confidence)i)));
	return v;
}

static json_t *make_stall_sums(const struct vt_cyclesum *s)
{
	json_t *v = json_object();
	unsigned i;

	for (i = 0; i < VT_NSTALLS; i++) {
		json_t *one = json_object();

		json_object_set_new(one, "low", vt_json_real(100 * s->low[i] / s->cycles));
		json_object_set_new(one, "high",
				    vt_json_real(100 * vt_cyclesum_high(s, i) / s->cycles));
		json_object_set_new(one, "low_cycles", vt_json_real(s->low[i]));
		json_object_set_new(one, "high_cycles", vt_json_real(vt_cyclesum_high(s, i)));
		json_object_set_new(v, vt_stall_name(i), one);
	}
	return v;
}

json_t *vt_json_cyclesum(const struct vt_cyclesum *s)
{
	json_t *v = json_object();
	bool untimed = vt_cyclesum_is_untimed(s);

	json_object_set_new(v, "samples", vt_json_real(vt_cyclesum_all(s)));
	json_object_set_new(v, "confidence", make_shares(s));
	json_object_set_new(v, "instructions", vt_json_real(s->executions));
	json_object_set_new(v, "cycles", untimed ? json_null() : vt_json_real(s->cycles));
	json_object_set_new(v, "best_cycles", s->schedule ? vt_json_real(s->best) : json_null());
	json_object_set_new(v, "cpi",
			    untimed ? json_null() : vt_json_real(s->cycles / s->executions));
	json_object_set_new(v, "best_cpi",
			    s->schedule ? vt_json_real(s->best / s->executions) : json_null());
	if (s->stalls)
		json_object_set_new(v, "stalls", make_stall_sums(s));
	json_object_set_new(v, "dynamic", vt_json_real(100 * vt_cyclesum_dynamic(s) / s->cycles));
	json_object_set_new(v, "static", vt_json_real(100 * s->fixed / s->cycles));
	json_object_set_new(v, "execution", vt_json_real(100 * s->execution / s->cycles));
	json_object_set_new(v, "net_sampling_error",
			    vt_json_real(100 * vt_cyclesum_error(s) / s->cycles));
	json_object_set_new(v, "not_judged",
			    vt_json_real(100 * vt_cyclesum_not_judged(s) / s->cycles));
	return v;
}

/* ---- procedures ---- */

static json_t *make_stall_json(const struct vt_calc *c, const struct vt_stall *s)
{
	char letter[2] = {vt_stall_letter(s->cause), '\0'};
	json_t *v = json_object(), *culprits = json_array();
	size_t i;

	json_object_set_new(v, "cause", json_string(vt_stall_name(s->cause)));
	json_object_set_new(v, "letter", json_string(letter));
	json_object_set_new(v, "low", vt_json_real(s->low));
	json_object_set_new(v, "high", vt_json_real(s->high));
	json_object_set_new(v, "confidence", json_string(vt_confidence_name(s->confidence)));
	for (i = 0; i < s->nculprits; i++)
		json_array_append_new(culprits, vt_json_hex(s->culprits[i] + c->base));
	json_object_set_new(v, "culprits", culprits);
	if (s->why)
		json_object_set_new(v, "why", json_string(vt_stall_why_text(s->cause, s->why)));
	return v;
}

/* ---- regions ---- */

/* The stalls in a list that are of a region. */
static json_t *make_region_stalls(const struct vt_calc *c, const struct vt_regionfreq *r,
				  const struct vt_stall *list, size_t n)
{
	json_t *v = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		if ((list[i].flags & VT_STALL_OF_REGION) && list[i].offset == r->offset &&
		    !(r->flags & VT_REGION_IS_LOOP) == !(list[i].flags & VT_STALL_OF_LOOP))
			json_array_append_new(v, make_stall_json(c, &list[i]));
	return v;
}

static json_t *make_region_json(const struct vt_calc *c, const struct vt_regionfreq *r)
{
	json_t *v = json_object(), *ranges = json_array();
	uint32_t i;

	json_object_set_new(v, "address", vt_json_hex(r->offset + c->base));
	json_object_set_new(v, "loop", json_boolean(r->flags & VT_REGION_IS_LOOP));
	for (i = 0; i < r->nranges; i += 2)
		json_array_append_new(ranges, json_pack("{s:o, s:o}", "start",
							vt_json_hex(r->ranges[i] + c->base), "end",
							vt_json_hex(r->ranges[i + 1] + c->base)));
	json_object_set_new(v, "ranges", ranges);
	json_object_set_new(v, "samples", vt_json_u64(r->samples));
	json_object_set_new(v, "visits", vt_json_real(r->visits));
	json_object_set_new(v, "rounds", vt_json_real(r->rounds));
	json_object_set_new(v, "insns", vt_json_real(r->insns));
	json_object_set_new(v, "cycles", vt_json_real(r->cycles));
	json_object_set_new(v, "cycles_low", vt_json_real(r->low));
	json_object_set_new(v, "cycles_high", vt_json_real(r->high));
	json_object_set_new(v, "best_cycles", vt_json_real(r->best));
	json_object_set_new(v, "least_cycles", vt_json_real(r->least));
	if (r->flags & VT_REGION_CALLS) {
		json_object_set_new(v, "with_calls", vt_json_real(r->with_calls));
		json_object_set_new(v, "with_calls_low", vt_json_real(r->with_calls_low));
		json_object_set_new(v, "with_calls_high", vt_json_real(r->with_calls_high));
	}
	json_object_set_new(v, "calls_unknown", json_boolean(r->flags & VT_REGION_CALLS_UNKNOWN));
	json_object_set_new(v, "overlaps", json_boolean(r->flags & VT_REGION_OVERLAPS));
	json_object_set_new(v, "wide", json_boolean(r->flags & VT_REGION_IS_WIDE));
	json_object_set_new(v, "stalls", make_region_stalls(c, r, c->stalls, c->nstalls));
	json_object_set_new(v, "ruled_out",
			    make_region_stalls(c, r, c->acquittals, c->nacquittals));
	return v;
}

static void set_regions(json_t *v, const struct vt_calc *c)
{
	json_t *regions = json_array();
	size_t i;

	for (i = 0; i < c->nregions; i++)
		json_array_append_new(regions, make_region_json(c, &c->regions[i]));
	json_object_set_new(v, "regions", regions);
}

static void set_executions(json_t *v, double executions, double low, double high,
			   enum vt_confidence confidence)
{
	bool known = confidence != VT_CONFIDENCE_NONE;

	json_object_set_new(v, "executions", known ? vt_json_real(executions) : json_null());
	json_object_set_new(v, "low", vt_json_real(low));
	json_object_set_new(v, "high", vt_json_real(high));
	json_object_set_new(v, "confidence", json_string(vt_confidence_name(confidence)));
}

static void set_freq(json_t *v, const struct vt_freq *f)
{
	set_executions(v, f->executions, f->low, f->high, f->confidence);
	json_object_set_new(v, "method", json_string(vt_method_name(f->method)));
}

static json_t *make_insn_json(const struct vt_calc *c, const struct vt_calc_insn *in)
{
	json_t *v = json_object(), *stalls = json_array(), *ruled_out = json_array();
	size_t i;

	json_object_set_new(v, "address", vt_json_hex(in->address));
	json_object_set_new(v, "code", vt_json_text(in->text, in->size));
	if (in->line) {
		json_object_set_new(v, "file", vt_json_text(in->file, strlen(in->file)));
		json_object_set_new(v, "line", vt_json_u64(in->line));
	}
	if (in->freq) {
		json_object_set_new(v, "samples", vt_json_u64(in->freq->samples));
		set_freq(v, in->freq);
		json_object_set_new(v, "cycles", vt_json_real(in->freq->cycles));
		json_object_set_new(v, "issue", vt_json_real(in->freq->issue));
	}
	for (i = 0; i < in->nstalls; i++)
		json_array_append_new(stalls, make_stall_json(c, &in->stalls[i]));
	for (i = 0; i < in->nacquittals; i++)
		json_array_append_new(ruled_out, make_stall_json(c, &in->acquittals[i]));
	json_object_set_new(v, "stalls", stalls);
	json_object_set_new(v, "ruled_out", ruled_out);
	return v;
}

static json_t *make_edge_json(const struct vt_calc *c, const struct vt_calc_edge *e)
{
	const struct vt_edgefreq *f = e->freq;
	json_t *v = json_object();

	if (e->edge->to != VT_CFG_EXIT)
		json_object_set_new(v, "to", vt_json_hex(c->cfg->blocks[e->edge->to].start));
	else
		json_object_set_new(v, "to", json_null());
	if (f)
		set_executions(v, f->executions, f->low, f->high, f->confidence);
	return v;
}

static json_t *make_block_json(const struct vt_calc *c, const struct vt_calc_block *b)
{
	json_t *v = json_object(), *edges = json_array(), *insns = json_array();
	bool untimed = vt_cyclesum_is_untimed(&b->sum);
	uint32_t i;

	json_object_set_new(v, "start", vt_json_hex(b->block->start));
	json_object_set_new(v, "end", vt_json_hex(b->block->end));
	json_object_set_new(v, "incomplete", json_boolean(b->block->incomplete));
	json_object_set_new(v, "percent", vt_json_real(vt_calc_block_share(c, b)));
	if (b->freq)
		set_freq(v, b->freq);
	json_object_set_new(v, "cycles", untimed ? json_null() : vt_json_real(b->sum.cycles));
	json_object_set_new(v, "best_cycles",
			    b->sum.schedule ? vt_json_real(b->sum.best) : json_null());
	json_object_set_new(
		v, "cpi", untimed ? json_null() : vt_json_real(b->sum.cycles / b->sum.executions));
	for (i = b->block->out; i < b->block->out + b->block->nout; i++)
		json_array_append_new(edges, make_edge_json(c, &c->edges[i]));
	json_object_set_new(v, "next", edges);
	for (i = 0; i < b->block->ninsns; i++)
		json_array_append_new(insns, make_insn_json(c, &b->insns[i]));
	json_object_set_new(v, "instructions", insns);
	return v;
}

json_t *vt_json_calc(const struct vt_calc *c, double cutoff)
{
	json_t *v = json_object(), *blocks = json_array();
	uint32_t b;

	json_object_set_new(v, "procedure", vt_json_text(c->proc.name, strlen(c->proc.name)));
	if (c->image)
		json_object_set_new(v, "image",
				    vt_json_text(c->image->path, strlen(c->image->path)));
	json_object_set_new(v, "start", vt_json_hex(c->proc.start));
	json_object_set_new(v, "end", vt_json_hex(c->proc.end));
	json_object_set_new(v, "complete", json_boolean(c->cfg->complete));
	json_object_set_new(v, "summary", vt_json_cyclesum(&c->sum));
	set_regions(v, c);
	for (b = VT_CFG_FIRST; b < c->cfg->nblocks; b++)
		if (cutoff <= 0 || vt_calc_block_share(c, &c->blocks[b]) >= cutoff)
			json_array_append_new(blocks, make_block_json(c, &c->blocks[b]));
	json_object_set_new(v, "blocks", blocks);
	return v;
}
