/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/charge.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum vt_charge vt_freq_charge_of(enum vt_policy policy, enum vt_order order)
{
	static const enum vt_charge out_of_order[VT_NPOLICIES] = {
		[VT_POLICY_UNKNOWN] = VT_CHARGE_PREDECESSOR,
		[VT_POLICY_INTERRUPT] = VT_CHARGE_PREDECESSOR,
		/* The next to retire, as a reorder buffer's head. */
		[VT_POLICY_PRECISE] = VT_CHARGE_SELF,
		[VT_POLICY_DISPATCH] = VT_CHARGE_SELF,
		[VT_POLICY_MODEL] = VT_CHARGE_SELF,
		[VT_POLICY_EXACT] = VT_CHARGE_SELF,
	};

	return order == VT_OUT_OF_ORDER ? out_of_order[policy] : VT_CHARGE_SELF;
}

/* Samples before and after they are charged, by instruction. */
struct charged {
	const struct vt_procflow *f;
	const struct vt_freqs *freqs;
	const uint64_t *samples;
	const uint64_t *period;
	uint64_t *to_samples;
	uint64_t *to_period;
};

/* A part of a line of marks: whole at its end, so that no rounding loses any. */
static uint64_t mark_at(uint64_t whole, double part)
{
	return part < 1 ? (uint64_t)(part * (double)whole + 0.5) : whole;
}

/* Charges to `to` what an instruction has between two marks of its samples and its period. */
static void move_part(const struct charged *c, uint32_t from, double first, double end, uint32_t to)
{
	c->to_samples[to] += mark_at(c->samples[from], end) - mark_at(c->samples[from], first);
	c->to_period[to] += mark_at(c->period[from], end) - mark_at(c->period[from], first);
}

static double edge_weight(const struct charged *c, uint32_t edge)
{
	double n = c->freqs->edge[edge].executions;

	return c->freqs->edge[edge].confidence != VT_CONFIDENCE_NONE && n > 0 ? n : 0;
}

/* The last instruction of the block that an edge comes from, or `self` if there is none. */
static uint32_t edge_source(const struct charged *c, uint32_t edge, uint32_t self)
{
	const struct vt_cfg *g = c->f->cfg;
	const struct vt_cfg_block *from = &g->blocks[g->edges[edge].from];

	return from->ninsns ? from->insn + from->ninsns - 1 : self;
}

/* The samples that an edge's block has for each of its instructions. */
static double edge_time(const struct charged *c, uint32_t edge)
{
	const struct vt_cfg *g = c->f->cfg;
	const struct vt_cfg_block *from = &g->blocks[g->edges[edge].from];
	double sum = 0;
	uint32_t i;

	for (i = from->insn; i < from->insn + from->ninsns; i++)
		sum += (double)c->samples[i];
	return from->ninsns ? sum / from->ninsns : 0;
}

static double sum_weights(const struct charged *c, const struct vt_cfg_block *b,
			  double (*weigh)(const struct charged *c, uint32_t edge))
{
	double all = 0;
	uint32_t i;

	for (i = 0; i < b->nin; i++)
		all += weigh(c, c->f->cfg->in[b->in + i]);
	return all;
}

/* Each edge gets the part of the samples that its weight is of the weights of all. */
static void divide_samples(const struct charged *c, uint32_t insn)
{
	const struct vt_cfg *g = c->f->cfg;
	const struct vt_cfg_block *b = &g->blocks[c->f->block[insn]];
	double (*weigh)(const struct charged *c, uint32_t edge) = edge_weight;
	double all = sum_weights(c, b, weigh), sum = 0, first = 0;
	uint32_t i;

	if (!(all > 0) || isinf(all)) {
		weigh = edge_time;
		all = sum_weights(c, b, weigh);
	}
	for (i = 0; i < b->nin && all > 0; i++) {
		uint32_t edge = g->in[b->in + i];

		sum += weigh(c, edge);
		move_part(c, insn, first, sum / all, edge_source(c, edge, insn));
		first = sum / all;
	}
	if (first == 0)
		move_part(c, insn, 0, 1, insn);
}

static void charge_predecessors(const struct charged *c)
{
	const struct vt_cfg *g = c->f->cfg;
	uint32_t i;

	for (i = 0; i < g->ninsns; i++) {
		if (!c->samples[i])
			continue;
		if (g->insns[i].flags & VT_FACT_REPEATED)
			move_part(c, i, 0, 1, i);
		else if (i == g->blocks[c->f->block[i]].insn)
			divide_samples(c, i);
		else
			move_part(c, i, 0, 1, i - 1);
	}
}

static uint64_t sum_up(const uint64_t *list, uint32_t n)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < n; i++)
		sum += list[i];
	return sum;
}

int vt_freq_charge(enum vt_charge how, const struct vt_procflow *f, const struct vt_freqs *freqs,
		   uint64_t *samples, uint64_t *period, struct vt_error *err)
{
	uint32_t n = f->cfg->ninsns;
	struct charged c = {.f = f, .freqs = freqs, .samples = samples, .period = period};
	uint64_t *to;

	if (how == VT_CHARGE_SELF)
		return 0;
	to = calloc(2 * (size_t)n + 1, sizeof(*to));
	if (!to)
		return vt_error_nomem(err);
	c.to_samples = to;
	c.to_period = to + n;
	charge_predecessors(&c);
	assert(sum_up(to, n) == sum_up(samples, n));
	memcpy(samples, c.to_samples, n * sizeof(*samples));
	memcpy(period, c.to_period, n * sizeof(*period));
	free(to);
	return 0;
}
