/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "machine/insn/insn.h"
#include "paths/paths.h"

/* The questions that are looked at: to learn counts, and how predictable branches are. */
#define QUESTIONS	20000
#define GUESS_QUESTIONS 2000

/* The samples that what is known without histories counts for, of the edges to a node. */
#define PRIOR 2

/* How many samples begin in each node at least. */
#define LEAST_WEIGHT 0.05

/* Of all the ways to a node that are not known: samples, as far as no sample tells. */
#define UNSEEN 0.5

/* Before anything is learned: the same, as a part of the ways that are known. */
#define FIRST_UNSEEN 0.01

/* Executions of each node, from the samples in it, in any unit. */
static double *weigh_nodes(const struct vt_paths *p)
{
	const struct vt_pathgraph *g = p->g;
	double *weight = calloc(g->nnodes + 1, sizeof(*weight));
	size_t i;

	for (i = 0; weight && i < p->samples->questions.count; i++) {
		const struct vt_pathquestion *q = vt_hash_at(&p->samples->questions, i);

		if (p->asks[i].node != VT_PATHNODE_NONE)
			weight[p->asks[i].node] += (double)q->count;
	}
	for (i = 0; weight && i < g->nnodes; i++)
		weight[i] = (weight[i] + LEAST_WEIGHT) / g->nodes[i].ninsns;
	return weight;
}

/* The first estimate: control leaves a node by each of its edges alike. */
static void start_counts(struct vt_pathgraph *g, const double *weight, uint32_t *out)
{
	double known;
	uint32_t k;
	size_t i;

	for (i = 0; i < g->nedges; i++)
		out[g->edges[i].from]++;
	for (i = 0; i < g->nedges; i++) {
		struct vt_pathedge *e = &g->edges[i];

		e->count = weight[e->from] / out[e->from];
		if (e->kind == VT_PATHEDGE_RETURN && weight[e->site] < e->count)
			e->count = weight[e->site];
	}
	for (i = 0; i < g->nnodes; i++) {
		struct vt_pathnode *n = &g->nodes[i];

		for (known = 0, k = n->first; k < n->first + n->count; k++)
			known += g->edges[k].count;
		n->elsewhere = known > 0 ? FIRST_UNSEEN * known : 1;
		n->elsewhere *= n->open;
	}
	vt_pathgraph_weigh(g);
}

static int learn_once(struct vt_paths *p, size_t step, struct vt_error *err)
{
	struct vt_pathgraph *g = p->g;
	size_t i;

	for (i = 0; i < g->nedges; i++)
		g->edges[i].learned = 0;
	for (i = 0; i < g->nnodes; i++)
		g->nodes[i].learned = 0;
	for (i = 0; i < p->samples->questions.count; i += step) {
		const struct vt_pathquestion *q = vt_hash_at(&p->samples->questions, i);

		if (p->asks[i].node == VT_PATHNODE_NONE || q->stack)
			continue;
		if (vt_pathwalk_learn(p->walk, g, &p->asks[i], (double)q->count, err) < 0)
			return -(int)err->code;
	}
	return 0;
}

/* The part of control that comes from elsewhere, of all nodes to which it may. */
static double part_from_elsewhere(const struct vt_pathgraph *g)
{
	double elsewhere = UNSEEN, all = UNSEEN;
	size_t i;
	uint32_t k;

	for (i = 0; i < g->nnodes; i++) {
		const struct vt_pathnode *n = &g->nodes[i];

		if (!n->open)
			continue;
		elsewhere += n->learned;
		all += n->learned;
		for (k = n->first; k < n->first + n->count; k++)
			all += g->edges[k].learned;
	}
	return elsewhere / all;
}

/* What was learned of an edge counts as samples do, and what it began with as PRIOR of them. */
static void take_learned(struct vt_pathgraph *g, const double *first)
{
	double part = part_from_elsewhere(g);
	size_t i;

	for (i = 0; i < g->nedges; i++)
		g->edges[i].count = g->edges[i].learned + PRIOR * first[i];
	for (i = 0; i < g->nnodes; i++)
		g->nodes[i].elsewhere = g->nodes[i].open ? g->nodes[i].learned + UNSEEN * part : 0;
	vt_pathgraph_weigh(g);
}

int vt_paths_learn(struct vt_paths *p, struct vt_error *err)
{
	struct vt_pathgraph *g = p->g;
	double *weight = weigh_nodes(p), *first = calloc(g->nedges + 1, sizeof(*first));
	uint32_t *out = calloc(g->nnodes + 1, sizeof(*out));
	size_t i, step = 1 + p->samples->questions.count / QUESTIONS;
	int code = weight && first && out ? 0 : vt_error_nomem(err);

	if (code == 0)
		start_counts(g, weight, out);
	for (i = 0; code == 0 && i < g->nedges; i++)
		first[i] = g->edges[i].part;
	/* Once: a second time would make likely paths likelier than they are. */
	if (code == 0)
		code = learn_once(p, step, err);
	if (code == 0)
		take_learned(g, first);
	free(weight);
	free(first);
	free(out);
	return code;
}

/*
 * Code that is not known is taken to be as predictable as that of the samples: the geometric mean
 * of how likely each branch before them went as it did.
 */
int vt_paths_guess(struct vt_paths *p, struct vt_error *err)
{
	size_t n = p->samples->questions.count, i;
	double sum = 0, branches = 0, probability;

	for (i = 0; i < n; i += 1 + n / GUESS_QUESTIONS) {
		const struct vt_pathquestion *q = vt_hash_at(&p->samples->questions, i);
		const struct vt_pathask *ask = &p->asks[i];

		if (ask->node == VT_PATHNODE_NONE || q->stack)
			continue;
		if (vt_pathwalk_weigh(p->walk, ask, &probability, err) < 0)
			return -(int)err->code;
		if (!(probability > 0))
			continue;
		sum += log(probability) * (double)q->count;
		branches += (double)ask->branches * (double)q->count;
	}
	if (branches > 0)
		vt_pathwalk_guess(p->walk, exp(sum / branches));
	return 0;
}
