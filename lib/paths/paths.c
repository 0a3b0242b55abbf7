/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "paths/paths.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "machine/insn/insn.h"

const char *vt_pathway_name(enum vt_pathway way)
{
	static const char *const names[VT_NPATHWAYS] = {"counts", "history", "history+pairs",
							"likely", "likely+pairs"};

	return (unsigned)way < VT_NPATHWAYS ? names[way] : "?";
}

static enum vt_path_method get_method(enum vt_pathway way)
{
	static const enum vt_path_method methods[VT_NPATHWAYS] = {VT_PATH_COUNTS, VT_PATH_HISTORY,
								  VT_PATH_HISTORY_PAIRS,
								  VT_PATH_LIKELY, VT_PATH_LIKELY};

	return methods[way];
}

/* ---- questions ---- */

/* Where each place is in the graph. */
struct spot {
	uint32_t node;
	uint32_t nth;
};

static void make_ask(const struct vt_pathquestion *q, const struct spot *spots,
		     struct vt_pathask *ask)
{
	*ask = (struct vt_pathask){.node = spots[q->place].node,
				   .nth = spots[q->place].nth,
				   .branches = q->branches,
				   .history = q->history};
	if (q->other == VT_PATHPLACE_NONE || spots[q->other].node == VT_PATHNODE_NONE)
		return;
	ask->paired = true;
	ask->other = spots[q->other].node;
	ask->other_nth = spots[q->other].nth;
	ask->distance = q->distance;
}

static bool make_asks(struct vt_paths *p)
{
	const struct vt_hash *questions = &p->samples->questions;
	size_t i, n = p->samples->places->places.count;
	struct spot *spots = calloc(n + 1, sizeof(*spots));

	p->asks = malloc((questions->count + 1) * sizeof(*p->asks));
	for (i = 0; spots && i < n; i++)
		spots[i].node = vt_pathgraph_find(p->g, (uint32_t)i, &spots[i].nth);
	for (i = 0; spots && p->asks && i < questions->count; i++)
		make_ask(vt_hash_at(questions, i), spots, &p->asks[i]);
	free(spots);
	return spots && p->asks;
}

int vt_paths_init(struct vt_paths *p, struct vt_pathgraph *g, const struct vt_pathsamples *s,
		  struct vt_error *err)
{
	p->g = g;
	p->samples = s;
	vt_hash_init(&p->list, sizeof(struct vt_path), offsetof(struct vt_path, branches));
	p->walk = vt_pathwalk_new(g);
	p->lists = vt_intern_new();
	return p->walk && p->lists && make_asks(p) ? 0 : vt_error_nomem(err);
}

void vt_paths_fini(struct vt_paths *p)
{
	vt_pathwalk_free(p->walk);
	vt_intern_free(p->lists);
	vt_hash_fini(&p->list);
	free(p->asks);
}

/* ---- finding paths ---- */

/* A path by one way; *n is 0 if there is none. */
struct found {
	const uint32_t *nodes;
	uint32_t n;
	double probability;
	struct vt_pathanswer answer;
};

static int find_path(struct vt_paths *p, const struct vt_pathask *ask, enum vt_pathway way,
		     struct found *f, struct vt_error *err)
{
	bool pairs = way == VT_PATHWAY_HISTORY_PAIRS || way == VT_PATHWAY_LIKELY_PAIRS;
	bool all = way == VT_PATHWAY_HISTORY || way == VT_PATHWAY_HISTORY_PAIRS;
	int code = 0;

	*f = (struct found){.probability = 0};
	if (way == VT_PATHWAY_COUNTS) {
		if (!vt_pathwalk_counts(p->walk, ask, &f->nodes, &f->n))
			f->n = 0;
		return 0;
	}
	code = vt_pathwalk_find(p->walk, ask, pairs, all, &f->answer, err);
	f->nodes = f->answer.nodes;
	f->n = f->answer.nnodes;
	f->probability = f->answer.probability;
	if (all && !f->answer.only)
		f->n = 0;
	return code;
}

/* Those that lead on to the last node. */
static uint32_t count_branches(const struct vt_paths *p, const struct found *f)
{
	uint32_t count = 0, i;

	for (i = 1; i < f->n; i++)
		count += (p->g->nodes[f->nodes[i]].flags & VT_FACT_CONDITIONAL) != 0;
	return count;
}

static bool add_path(struct vt_paths *p, const struct vt_pathquestion *q, const struct found *f,
		     enum vt_path_method method)
{
	struct vt_path key = {.event = q->event, .place = q->place, .method = (uint32_t)method};
	uint32_t *list = malloc(f->n * sizeof(*list)), i;
	struct vt_path *path;
	double share;

	if (!list)
		return false;
	for (i = 0; i < f->n; i++)
		list[i] = f->nodes[f->n - 1 - i];
	key.nodes = vt_intern_add(p->lists, list, f->n * sizeof(*list));
	free(list);
	path = key.nodes == UINT32_MAX ? NULL : vt_hash_add(&p->list, &key, NULL);
	if (!path)
		return false;
	path->branches = count_branches(p, f);
	share = f->probability > 0 ? f->probability : 1;
	path->found += q->count;
	path->samples += share * (double)q->count;
	path->executions += share * q->executions;
	path->probability = f->probability > 0 ? path->samples / (double)path->found : 0;
	return true;
}

static int find_by_history(struct vt_paths *p, size_t i, enum vt_pathway way, struct vt_error *err)
{
	const struct vt_pathquestion *q = vt_hash_at(&p->samples->questions, i);
	struct vt_paths_totals *t = &p->totals;
	struct found f;

	if (find_path(p, &p->asks[i], way, &f, err) < 0)
		return -(int)err->code;
	t->open += f.answer.open ? q->count : 0;
	t->capped += f.answer.capped ? q->count : 0;
	t->left_out += f.answer.left_out * (double)q->count;
	if (f.n)
		t->found += q->count;
	else if (f.answer.some)
		t->several += q->count;
	else if (!f.answer.capped)
		t->none += q->count;
	else
		t->given_up += q->count;
	return !f.n || add_path(p, q, &f, get_method(way)) ? 0 : vt_error_nomem(err);
}

static int find_by_stack(struct vt_paths *p, size_t i, uint32_t *nodes, struct vt_error *err)
{
	const struct vt_pathquestion *q = vt_hash_at(&p->samples->questions, i);
	struct vt_pathask ask = p->asks[i];
	uint32_t stack[2 * VT_PATHS_STACK];
	size_t n = vt_pathsamples_stack(p->samples, q->stack, stack);
	struct found f = {.nodes = nodes, .probability = 1};
	bool whole;

	ask.branches = p->samples->branches;
	if (vt_paths_true(p->g, &ask, stack, n, nodes, &f.n, &whole) < 0)
		p->totals.ended += q->count;
	p->totals.found += q->count;
	return add_path(p, q, &f, VT_PATH_EXACT) ? 0 : vt_error_nomem(err);
}

int vt_paths_find(struct vt_paths *p, enum vt_pathway way, struct vt_error *err)
{
	uint32_t *nodes = malloc(VT_PATHS_NODES * sizeof(*nodes));
	size_t i;
	int code = nodes ? 0 : vt_error_nomem(err);

	for (i = 0; i < p->samples->questions.count && code == 0; i++) {
		const struct vt_pathquestion *q = vt_hash_at(&p->samples->questions, i);

		p->totals.samples += q->count;
		if (p->asks[i].node == VT_PATHNODE_NONE)
			p->totals.outside += q->count;
		else
			code = q->stack ? find_by_stack(p, i, nodes, err)
					: find_by_history(p, i, way, err);
	}
	free(nodes);
	return code;
}

/* ---- the true paths ---- */

/* What the ways say of the question looked at last: the samples of one come in runs. */
struct opinion {
	uint32_t *nodes;
	uint32_t n;
	size_t cap;
	bool only, capped;
	double probability;
};

struct scorer {
	struct vt_paths *p;
	struct vt_pathscore *score;
	struct vt_pathask ask;
	struct opinion opinions[VT_NPATHWAYS];
	uint32_t *nodes;   /* of the true path */
	uint32_t branches; /* that are asked for */
};

static int ask_all(struct scorer *s, struct vt_error *err)
{
	struct found f;
	int way;

	for (way = 0; way < VT_NPATHWAYS; way++) {
		struct opinion *o = &s->opinions[way];

		if (find_path(s->p, &s->ask, (enum vt_pathway)way, &f, err) < 0)
			return -(int)err->code;
		if (!vt_array_grow(&o->nodes, &o->cap, (size_t)f.n + 1, sizeof(*o->nodes)))
			return vt_error_nomem(err);
		if (f.n)
			memcpy(o->nodes, f.nodes, f.n * sizeof(*o->nodes));
		o->n = f.n;
		o->only = f.answer.only;
		o->capped = f.answer.capped;
		o->probability = f.probability;
	}
	return 0;
}

static void judge(struct scorer *s, uint32_t n)
{
	struct vt_pathscore *score = s->score;
	int way;

	score->samples++;
	for (way = 0; way < VT_NPATHWAYS; way++) {
		const struct opinion *o = &s->opinions[way];
		bool right = o->n == n && memcmp(o->nodes, s->nodes, n * sizeof(*s->nodes)) == 0;

		score->ways[way].right += right;
		score->ways[way].only += o->only;
		score->ways[way].wrong += o->only && !right;
		score->ways[way].capped += o->capped;
		if (way == VT_PATHWAY_LIKELY_PAIRS && o->n) {
			int bin = (int)(o->probability * VT_PATHS_BINS);

			bin = bin < VT_PATHS_BINS ? bin : VT_PATHS_BINS - 1;
			score->bins[bin].samples++;
			score->bins[bin].right += right;
			score->bins[bin].sum += o->probability;
			if (o->probability < .85 || o->probability >= .95)
				continue;
			score->near.samples++;
			score->near.right += right;
			score->near.sum += o->probability;
		}
	}
}

/* Whether a sample has a true path, which is in s->nodes then. */
static bool find_truth(struct scorer *s, const struct vt_pathsample *sample, uint32_t *n)
{
	const struct vt_pathask *ask = &s->ask;
	uint32_t stack[2 * VT_PATHS_STACK];
	bool whole;

	int branches;

	if (ask->node == VT_PATHNODE_NONE) {
		s->score->outside++;
		return false;
	}
	if (ask->branches < s->branches) {
		s->score->brief++;
		return false;
	}
	branches = vt_paths_true(s->p->g, ask, stack,
				 vt_pathsamples_stack(s->p->samples, sample->stack, stack),
				 s->nodes, n, &whole);
	s->score->untrue += branches < 0;
	s->score->cut += branches >= 0 && !whole;
	return branches >= 0 && whole;
}

static int compare_samples(const void *x, const void *y)
{
	const struct vt_pathsample *a = x, *b = y;

	if (a->question != b->question)
		return a->question < b->question ? -1 : 1;
	return (a->stack > b->stack) - (a->stack < b->stack);
}

static int score_samples(struct scorer *s, struct vt_pathsample *list, struct vt_error *err)
{
	uint32_t asked = UINT32_MAX, n = 0;
	size_t i;

	for (i = 0; i < s->p->samples->nlist; i++) {
		s->ask = s->p->asks[list[i].question];
		if (s->ask.branches > s->branches)
			s->ask.branches = s->branches;
		if (!find_truth(s, &list[i], &n))
			continue;
		if (list[i].question != asked && ask_all(s, err) < 0)
			return -(int)err->code;
		asked = list[i].question;
		judge(s, n);
	}
	return 0;
}

int vt_paths_score(struct vt_paths *p, uint32_t branches, struct vt_pathscore *score,
		   struct vt_error *err)
{
	size_t n = p->samples->nlist;
	struct vt_pathsample *list = malloc((n + 1) * sizeof(*list));
	struct scorer s = {.p = p,
			   .score = score,
			   .branches = branches,
			   .nodes = malloc(VT_PATHS_NODES * sizeof(uint32_t))};
	int code = list && s.nodes ? 0 : vt_error_nomem(err), way;

	memset(score, 0, sizeof(*score));
	if (code == 0) {
		if (n)
			memcpy(list, p->samples->list, n * sizeof(*list));
		qsort(list, n, sizeof(*list), compare_samples);
		code = score_samples(&s, list, err);
	}
	for (way = 0; way < VT_NPATHWAYS; way++)
		free(s.opinions[way].nodes);
	free(s.nodes);
	free(list);
	return code;
}
