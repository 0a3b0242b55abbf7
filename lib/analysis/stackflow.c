/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/stackflow.h"

#include <math.h>
#include <stdlib.h>

/* Executions and variance; of an instruction, of it and of what follows it without a branch. */
struct tally {
	double count;
	double variance;
	double on;
	double on_variance;
};

static struct vt_freq_measure measure(double count, double variance)
{
	return (struct vt_freq_measure){count, sqrt(fmax(variance, 0))};
}

/* Each run adds to the instructions from its first to its last: differences, summed up after. */
static void add_runs(const struct vt_stackcount_link *links, size_t n, const struct vt_cfg *g,
		     uint64_t bias, double scale, struct tally *tallies)
{
	size_t i;

	for (i = 0; i < n; i++) {
		uint32_t first = vt_cfg_insn_at(g, links[i].from - bias);
		uint32_t last = vt_cfg_insn_at(g, links[i].to - bias);
		double count = links[i].count * scale;
		double variance = links[i].variance * scale * scale;

		/* One that goes on into the next procedure, or begins within an instruction. */
		if (first == UINT32_MAX || last == UINT32_MAX || last < first)
			continue;
		tallies[first].count += count;
		tallies[first].variance += variance;
		tallies[last + 1].count -= count;
		tallies[last + 1].variance -= variance;
		tallies[first].on += count;
		tallies[first].on_variance += variance;
		tallies[last].on -= count;
		tallies[last].on_variance -= variance;
	}
}

static void sum_up(struct tally *tallies, uint32_t n)
{
	uint32_t i;

	for (i = 1; i < n; i++) {
		tallies[i].count += tallies[i - 1].count;
		tallies[i].variance += tallies[i - 1].variance;
		tallies[i].on += tallies[i - 1].on;
		tallies[i].on_variance += tallies[i - 1].on_variance;
	}
}

/* The links are sorted by where they are from. */
static struct vt_freq_measure branches(const struct vt_stackcount_link *links, size_t n,
				       uint64_t from, uint64_t to, double scale)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (links[mid].from < from || (links[mid].from == from && links[mid].to < to))
			low = mid + 1;
		else
			high = mid;
	}
	if (low < n && links[low].from == from && links[low].to == to)
		return measure(links[low].count * scale, links[low].variance * scale * scale);
	return measure(0, 0);
}

static struct vt_freq_measure edge_measure(const struct vt_cfg *g, const struct vt_cfg_edge *e,
					   const struct tally *tallies,
					   const struct vt_stackcount_link *links, size_t n,
					   uint64_t bias, double scale)
{
	const struct vt_cfg_block *from = &g->blocks[e->from], *to = &g->blocks[e->to];
	static const struct vt_freq_measure unknown = {-1, 0};
	uint32_t last;

	if (!from->ninsns || !to->ninsns)
		return unknown;
	last = from->insn + from->ninsns - 1;
	if (e->kind == VT_EDGE_TAKEN || e->kind == VT_EDGE_SWITCH)
		return branches(links, n, g->insns[last].addr + bias, to->start + bias, scale);
	/* Behind a call, control is another run's. */
	if (e->kind != VT_EDGE_FALL || g->insns[last].flags & VT_FACT_CALL)
		return unknown;
	return measure(fmax(tallies[last].on, 0), tallies[last].on_variance);
}

int vt_stackflow_init(struct vt_stackflow *s, const struct vt_stackcount *c, uint64_t event,
		      const struct vt_procflow *f, uint64_t offset, double scale,
		      struct vt_error *err)
{
	const struct vt_cfg *g = f->cfg;
	int32_t pid = (int32_t)f->proc.pid;
	uint64_t end = offset + (f->proc.end - f->proc.start), bias = offset - f->proc.start;
	const struct vt_stackcount_link *runs, *links;
	size_t nruns, nlinks;
	struct tally *tallies;
	uint32_t i;

	*s = (struct vt_stackflow){.insns = NULL};
	runs = vt_stackcount_links(c, event, f->proc.image, pid, true, offset, end, &nruns);
	links = vt_stackcount_links(c, event, f->proc.image, pid, false, offset, end, &nlinks);
	if (!nruns)
		return 0;
	tallies = calloc((size_t)g->ninsns + 2, sizeof(*tallies));
	s->insns = calloc((size_t)g->ninsns + 1, sizeof(*s->insns));
	s->edges = calloc((size_t)g->nedges + 1, sizeof(*s->edges));
	if (!tallies || !s->insns || !s->edges) {
		free(tallies);
		return vt_error_nomem(err);
	}
	add_runs(runs, nruns, g, bias, scale, tallies);
	sum_up(tallies, g->ninsns + 1);
	for (i = 0; i < g->ninsns; i++)
		s->insns[i] = measure(fmax(tallies[i].count, 0), tallies[i].variance);
	for (i = 0; i < g->nedges; i++)
		s->edges[i] = edge_measure(g, &g->edges[i], tallies, links, nlinks, bias, scale);
	free(tallies);
	return 0;
}

void vt_stackflow_fini(struct vt_stackflow *s)
{
	free(s->insns);
	free(s->edges);
}
