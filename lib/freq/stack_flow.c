/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/stack_flow.h"

#include <math.h>
#include <stdlib.h>

/* Of an instruction; of it and of what follows it without a branch. */
struct tally {
	struct vt_stackcount_sum all;
	struct vt_stackcount_sum on;
};

static struct vt_freq_measure measure_sum(const struct vt_stackcount_sum *s, double scale)
{
	double count = vt_stackcount_count(s);

	/* Differences of sums may be less than nothing by how these were rounded. */
	return (struct vt_freq_measure){fmax(count, 0) * scale, vt_stackcount_sigma(s) * scale};
}

static void add_stack_sum(struct vt_stackcount_sum *to, const struct vt_stackcount_sum *s,
			  double sign)
{
	size_t i;

	for (i = 0; i < VT_STACK_PARTS; i++)
		to->parts[i] += sign * s->parts[i];
	to->variance += sign * s->variance;
	to->bias += sign * s->bias;
}

/* Each run adds to the instructions from its first to its last: differences, summed up after. */
static void add_run_tallies(const struct vt_stackcount_link *links, size_t n,
			    const struct vt_cfg *g, uint64_t bias, struct tally *tallies)
{
	size_t i;

	for (i = 0; i < n; i++) {
		uint32_t first = vt_cfg_insn_at(g, links[i].from - bias);
		uint32_t last = vt_cfg_insn_at(g, links[i].to - bias);

		/* One that goes on into the next procedure, or begins within an instruction. */
		if (first == UINT32_MAX || last == UINT32_MAX)
			continue;
		add_stack_sum(&tallies[first].all, &links[i].sum, 1);
		add_stack_sum(&tallies[last + 1].all, &links[i].sum, -1);
		add_stack_sum(&tallies[first].on, &links[i].sum, 1);
		add_stack_sum(&tallies[last].on, &links[i].sum, -1);
	}
}

static void sum_up_tallies(struct tally *tallies, uint32_t n)
{
	uint32_t i;

	for (i = 1; i < n; i++) {
		add_stack_sum(&tallies[i].all, &tallies[i - 1].all, 1);
		add_stack_sum(&tallies[i].on, &tallies[i - 1].on, 1);
	}
}

/* The links are sorted by where they are from.  NULL: there is none. */
static const struct vt_stackcount_link *find_branch_link(const struct vt_stackcount_link *links,
							 size_t n, uint64_t from, uint64_t to)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (links[mid].from < from || (links[mid].from == from && links[mid].to < to))
			low = mid + 1;
		else
			high = mid;
	}
	return low < n && links[low].from == from && links[low].to == to ? &links[low] : NULL;
}

static bool block_falls_through(const struct vt_cfg *g, uint32_t block)
{
	const struct vt_cfg_block *b = &g->blocks[block];
	uint32_t i;

	for (i = 0; i < b->nout; i++)
		if (g->edges[b->out + i].kind == VT_EDGE_FALL)
			return true;
	return false;
}

static struct vt_freq_measure edge_measure(const struct vt_cfg *g, const struct vt_cfg_edge *e,
					   const struct tally *tallies,
					   const struct vt_stackcount_link *links, size_t n,
					   uint64_t bias, double scale)
{
	const struct vt_cfg_block *from = &g->blocks[e->from], *to = &g->blocks[e->to];
	static const struct vt_freq_measure unknown = {-1, 0};
	const struct vt_stackcount_link *link;
	const struct vt_cfg_insn *last;
	struct vt_stackcount_sum sum = {.variance = 0};

	if (!from->ninsns || !to->ninsns)
		return unknown;
	last = &g->insns[from->insn + from->ninsns - 1];
	if (e->kind == VT_EDGE_TAKEN || e->kind == VT_EDGE_SWITCH) {
		link = find_branch_link(links, n, last->addr + bias, to->start + bias);
		if (link)
			add_stack_sum(&sum, &link->sum, 1);
		/* A jump to the instruction behind it may not have been recorded as a branch. */
		if (to->start == last->addr + last->length && !block_falls_through(g, e->from))
			add_stack_sum(&sum, &tallies[last - g->insns].on, 1);
		return measure_sum(&sum, scale);
	}
	/* Behind a call, control is another run's. */
	if (e->kind != VT_EDGE_FALL || last->flags & VT_FACT_CALL)
		return unknown;
	return measure_sum(&tallies[last - g->insns].on, scale);
}

int vt_stackflow_measure(const struct vt_stackcount *c, uint64_t event, const struct vt_procflow *f,
			 uint64_t offset, double scale, struct vt_freq_counts *counts,
			 struct vt_error *err)
{
	const struct vt_cfg *g = f->cfg;
	int32_t pid = (int32_t)f->proc.pid;
	uint64_t end = offset + (f->proc.end - f->proc.start), bias = offset - f->proc.start;
	const struct vt_stackcount_link *runs, *links;
	size_t nruns, nlinks;
	struct tally *tallies;
	uint32_t i;

	runs = vt_stackcount_links(c, event, f->proc.image, pid, true, offset, end, &nruns);
	links = vt_stackcount_links(c, event, f->proc.image, pid, false, offset, end, &nlinks);
	if (!nruns)
		return 0;
	tallies = calloc((size_t)g->ninsns + 2, sizeof(*tallies));
	counts->measured = calloc((size_t)g->ninsns + 1, sizeof(*counts->measured));
	counts->measured_edges = calloc((size_t)g->nedges + 1, sizeof(*counts->measured_edges));
	if (!tallies || !counts->measured || !counts->measured_edges) {
		free(tallies);
		return vt_error_nomem(err);
	}
	add_run_tallies(runs, nruns, g, bias, tallies);
	sum_up_tallies(tallies, g->ninsns + 1);
	for (i = 0; i < g->ninsns; i++)
		counts->measured[i] = measure_sum(&tallies[i].all, scale);
	for (i = 0; i < g->nedges; i++)
		counts->measured_edges[i] =
			edge_measure(g, &g->edges[i], tallies, links, nlinks, bias, scale);
	free(tallies);
	return 0;
}

int vt_stackflow_count(const void *source, const struct vt_count_request *r,
		       struct vt_freq_counts *c, struct vt_error *err)
{
	const struct vt_stackcount *stacks = source;
	const struct vt_stackcount_event *e = stacks ? vt_stackcount_best(stacks, r->event) : NULL;
	double scale = e && e->counted ? 1 : r->scale;

	if (!e)
		return 0;
	c->measure_unit = e->weight * scale;
	c->measure_timed = e->counted || (e->timed && e->id == r->event);
	return vt_stackflow_measure(stacks, e->id, r->flow, r->offset, scale, c, err);
}

bool vt_stackflow_place(const void *source, uint64_t event, size_t i, struct vt_place *place)
{
	const struct vt_stackcount *stacks = source;
	const struct vt_stackcount_event *e = stacks ? vt_stackcount_best(stacks, event) : NULL;

	return e && vt_stackcount_place(stacks, e->id, i, place);
}
