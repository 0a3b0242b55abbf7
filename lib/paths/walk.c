/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "paths/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "machine/insn/insn.h"

/* Bounds on the work for an instruction. */
#define MAX_STATES 2048
#define MAX_LINKS  8192
#define MAX_STACKS 2048
#define SLOTS	   8192	 /* of hash tables; a power of 2 */
#define MAX_ROOTS  64	 /* states behind a branch that are followed */
#define MAX_DEPTH  256	 /* of calls that are open */
#define MAX_STEPS  65536 /* of a path by counts */

#define NONE UINT32_MAX

/*
 * How much less likely a path is that has the other instruction nearer than at its distance, as
 * where instructions of a wrong path were fetched in between; and that of a path too short to have
 * it, to whose beginning the other instruction may have led in any way.
 */
#define NEARER	  0.02
#define TOO_SHORT 0.02

/* Of an instruction with so many states, edges with a lesser part are not followed. */
#define ALL	   128
#define ALL_LEARNT 64 /* likewise, to learn */
#define RARE	   0.02

enum seen { UNSEEN, SEEN, SEEN_THERE };

/* A node, and what is left: paths that come to equal ones go on alike. */
struct key {
	uint32_t node;
	uint32_t stack; /* index; 0: no call is open */
	uint32_t seen;	/* distance << 2 | enum seen, for pairs; 0 without */
	uint32_t level; /* branches passed */
};

struct state {
	struct key key;
	uint32_t links;	 /* the first in walk.links; NONE */
	uint32_t before; /* on the likeliest path: the state nearer to the instruction */
	uint8_t color;	 /* of the search: 0 new, 1 under way, 2 done */
	uint8_t paths;	 /* from the instruction to here: 0, 1, 2 or more */
	double sum;	 /* of their weights */
	double best;	 /* of the likeliest */
	double rest;	 /* of all ways to go on: for learning */
};

struct link {
	uint32_t next; /* of the same state */
	uint32_t to;   /* a state; NONE: the path ends */
	uint32_t edge;
	double part;
};

struct stack {
	uint32_t below;
	uint32_t site;
	uint32_t depth;
};

struct table {
	uint32_t at[SLOTS];
	uint32_t stamp[SLOTS];
	uint32_t now;
};

struct frame {
	uint32_t state;
	uint32_t edge;
};

struct root {
	double sum;
	uint32_t state;
};

struct vt_pathwalk {
	const struct vt_pathgraph *g;
	const struct vt_pathask *ask;
	bool pairs;
	uint32_t all; /* states up to which all edges are followed */
	struct state states[MAX_STATES];
	uint32_t nstates;
	struct link links[MAX_LINKS];
	uint32_t nlinks;
	struct stack stacks[MAX_STACKS];
	uint32_t nstacks;
	struct table known;	    /* states of all levels */
	struct table stacked;	    /* stacks */
	uint32_t order[MAX_STATES]; /* states, each before those that it leads to */
	uint32_t norder;
	struct frame frames[MAX_STATES];
	struct root roots[MAX_STATES]; /* the states behind the next branch */
	struct root now[MAX_ROOTS];    /* those behind the last one */
	uint32_t nroots;
	uint32_t level; /* branches passed */
	uint32_t *path;
	size_t path_cap;
	double total;
	bool open, capped, looped;
};

struct vt_pathwalk *vt_pathwalk_new(const struct vt_pathgraph *g)
{
	struct vt_pathwalk *w = calloc(1, sizeof(*w));

	if (w)
		w->g = g;
	return w;
}

void vt_pathwalk_free(struct vt_pathwalk *w)
{
	if (w)
		free(w->path);
	free(w);
}

static void clear_table(struct table *t)
{
	if (++t->now == 0) {
		memset(t->stamp, 0, sizeof(t->stamp));
		t->now = 1;
	}
}

static uint32_t mix(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	uint64_t h = ((uint64_t)a << 32 | b) * UINT64_C(0x9e3779b97f4a7c15);

	h ^= h >> 29;
	h = (h ^ ((uint64_t)c << 32 | d)) * UINT64_C(0xbf58476d1ce4e5b9);
	return (uint32_t)(h >> 40) & (SLOTS - 1);
}

/* ---- states ---- */

/* The state with a key, which is made if it is new.  NONE: there are too many. */
static uint32_t find_state(struct vt_pathwalk *w, const struct key *k)
{
	uint32_t i = mix(k->node, k->stack, k->seen, k->level);
	struct table *t = &w->known;

	for (; t->stamp[i] == t->now; i = (i + 1) & (SLOTS - 1))
		if (memcmp(&w->states[t->at[i]].key, k, sizeof(*k)) == 0)
			return t->at[i];
	if (w->nstates == MAX_STATES) {
		w->capped = true;
		return NONE;
	}
	if (!w->nstates || k->level > w->level)
		w->roots[w->nroots++].state = w->nstates;
	t->stamp[i] = t->now;
	t->at[i] = w->nstates;
	w->states[w->nstates] = (struct state){.key = *k, .links = NONE, .before = NONE};
	return w->nstates++;
}

/* The stack with one more call; NONE: too many. */
static uint32_t push_call(struct vt_pathwalk *w, uint32_t below, uint32_t site)
{
	uint32_t i = mix(below, site, 0, 0), depth = w->stacks[below].depth + 1;
	struct table *t = &w->stacked;

	for (; t->stamp[i] == t->now; i = (i + 1) & (SLOTS - 1))
		if (w->stacks[t->at[i]].below == below && w->stacks[t->at[i]].site == site)
			return t->at[i];
	if (w->nstacks == MAX_STACKS || depth > MAX_DEPTH) {
		w->capped = true;
		return NONE;
	}
	t->stamp[i] = t->now;
	t->at[i] = w->nstacks;
	w->stacks[w->nstacks] = (struct stack){below, site, depth};
	return w->nstacks++;
}

static void add_link(struct vt_pathwalk *w, uint32_t from, uint32_t to, uint32_t edge, double part)
{
	if (w->nlinks == MAX_LINKS) {
		w->capped = true;
		return;
	}
	w->links[w->nlinks] = (struct link){w->states[from].links, to, edge, part};
	w->states[from].links = w->nlinks++;
}

/*
 * Whether the other instruction is among the first `n` of a node, of which the last is `distance`
 * + 1 before the instruction.  False: it should be, and is not.
 */
static bool look_for_other(const struct vt_pathwalk *w, uint32_t node, uint32_t n, uint32_t *seen)
{
	const struct vt_pathask *ask = w->ask;
	uint32_t distance = *seen >> 2, found = *seen & 3, at;

	if (!w->pairs || distance >= ask->distance)
		return true;
	if (node == ask->other && ask->other_nth < n) {
		at = distance + n - ask->other_nth;
		if (at == ask->distance)
			found = SEEN_THERE;
		else if (at < ask->distance && found == UNSEEN)
			found = SEEN;
	}
	/* Once it is where it should be, it does not matter where. */
	distance =
		found != SEEN_THERE && n < ask->distance - distance ? distance + n : ask->distance;
	*seen = distance << 2 | found;
	return distance < ask->distance || found != UNSEEN;
}

/* How likely a path that ends is by what it has of a pair. */
static double weigh_pair(const struct vt_pathwalk *w, const struct state *s)
{
	if (!w->pairs || (s->key.seen & 3) == SEEN_THERE)
		return 1;
	return (s->key.seen & 3) == SEEN ? NEARER : TOO_SHORT;
}

/* ---- the search ---- */

/*
 * The share of an edge among those to its node that the open calls permit; 0: they do not.  Behind
 * a return, only the call that it matches is left of all.
 */
static double share_of_edge(const struct vt_pathwalk *w, const struct state *s,
			    const struct vt_pathedge *e)
{
	if (!s->key.stack || e->kind != VT_PATHEDGE_CALL)
		return e->part;
	return w->stacks[s->key.stack].site == e->from ? w->g->nodes[e->to].calls : 0;
}

/* Where an edge leads to, backwards.  NONE: nowhere. */
static uint32_t follow_edge(struct vt_pathwalk *w, const struct state *s,
			    const struct vt_pathedge *e)
{
	const struct vt_pathask *ask = w->ask;
	struct key k = s->key;

	if (e->bit != VT_PATHEDGE_NOBIT) {
		if (e->bit != (ask->history >> k.level & 1))
			return NONE;
		k.level++;
	}
	k.node = e->from;
	if (e->kind == VT_PATHEDGE_RETURN)
		k.stack = push_call(w, k.stack, e->site);
	else if (e->kind == VT_PATHEDGE_CALL && k.stack)
		k.stack = w->stacks[k.stack].below;
	if (k.stack == NONE || !look_for_other(w, e->from, w->g->nodes[e->from].ninsns, &k.seen))
		return NONE;
	return find_state(w, &k);
}

/* Follows an edge from a state.  Returns a state to go on with, or NONE. */
static uint32_t take_edge(struct vt_pathwalk *w, uint32_t state, uint32_t edge)
{
	const struct vt_pathedge *e = &w->g->edges[edge];
	double part = share_of_edge(w, &w->states[state], e);
	uint32_t to;

	if (!(part > 0))
		return NONE;
	if (part < RARE && w->nstates > w->all) {
		w->capped = true;
		return NONE;
	}
	if (e->kind == VT_PATHEDGE_STOP) {
		if (!w->states[state].key.stack)
			add_link(w, state, NONE, edge, part);
		return NONE;
	}
	to = follow_edge(w, &w->states[state], e);
	if (to == NONE)
		return NONE;
	if (w->states[to].color == 1) {
		w->looped = true;
		return NONE;
	}
	add_link(w, state, to, edge, part);
	return w->states[to].color == 0 ? to : NONE;
}

/* Searches in depth from a state, as far as no branch is passed. */
static void search_from(struct vt_pathwalk *w, uint32_t root)
{
	uint32_t n = 1;

	w->frames[0] = (struct frame){root, 0};
	w->states[root].color = 1;
	while (n) {
		struct frame *f = &w->frames[n - 1];
		struct state *s = &w->states[f->state];
		const struct vt_pathnode *node = &w->g->nodes[s->key.node];
		uint32_t to;

		if (f->edge == node->count) {
			w->open |= node->open;
			s->color = 2;
			w->order[w->norder++] = f->state;
			n--;
			continue;
		}
		to = take_edge(w, f->state, node->first + f->edge++);
		if (to == NONE || w->states[to].key.level != s->key.level)
			continue;
		w->states[to].color = 1;
		w->frames[n++] = (struct frame){to, 0};
	}
}

/* ---- weights ---- */

static void pass_on(struct vt_pathwalk *w, uint32_t from)
{
	const struct state *s = &w->states[from];
	uint32_t l;

	for (l = s->links; l != NONE; l = w->links[l].next) {
		struct state *t;
		double best = s->best * w->links[l].part;

		if (w->links[l].to == NONE)
			continue;
		t = &w->states[w->links[l].to];
		t->sum += s->sum * w->links[l].part;
		t->paths = (uint8_t)(t->paths + s->paths < 2 ? t->paths + s->paths : 2);
		if (best > t->best) {
			t->best = best;
			t->before = from;
		}
	}
}

/* The part of a state's paths that end there. */
static double ends_here(const struct vt_pathwalk *w, const struct state *s, uint32_t *ways)
{
	double part = 0;
	uint32_t l;

	*ways = 0;
	if (s->key.level == w->ask->branches) {
		*ways = 1;
		return weigh_pair(w, s);
	}
	for (l = s->links; l != NONE; l = w->links[l].next)
		if (w->links[l].to == NONE) {
			part += w->links[l].part;
			(*ways)++;
		}
	return part * weigh_pair(w, s);
}

/* How likely the branches that are left are on a path of which nothing is known. */
static double guess_rest(const struct vt_pathwalk *w, const struct state *s)
{
	double pair = w->pairs ? TOO_SHORT : 1;

	return ldexp(pair, (int)s->key.level - (int)w->ask->branches);
}

/* The part of a state's paths that come from code that is not known. */
static double comes_from_unknown(const struct vt_pathwalk *w, const struct state *s)
{
	const struct vt_pathnode *n = &w->g->nodes[s->key.node];

	if (s->key.level == w->ask->branches || !n->open)
		return 0;
	return n->unknown * guess_rest(w, s);
}

/* ---- from branch to branch ---- */

static int compare_sums(const void *x, const void *y)
{
	const struct root *a = x, *b = y;

	if (a->sum != b->sum)
		return a->sum > b->sum ? -1 : 1;
	return (a->state > b->state) - (a->state < b->state);
}

/* Leaves out all but the likeliest states that a branch led to. */
static void narrow(struct vt_pathwalk *w)
{
	uint32_t i;

	if (w->nroots <= MAX_ROOTS)
		return;
	for (i = 0; i < w->nroots; i++)
		w->roots[i].sum = w->states[w->roots[i].state].sum;
	qsort(w->roots, w->nroots, sizeof(*w->roots), compare_sums);
	for (i = MAX_ROOTS; i < w->nroots; i++) {
		const struct state *s = &w->states[w->roots[i].state];

		w->total += s->sum * guess_rest(w, s);
	}
	w->nroots = MAX_ROOTS;
	w->capped = true;
}

/* Goes back over a branch: from the states that the one before led to. */
static void go_back(struct vt_pathwalk *w)
{
	uint32_t i, n, first = w->norder;

	narrow(w);
	n = w->nroots;
	memcpy(w->now, w->roots, n * sizeof(*w->roots));
	w->nroots = 0;
	for (i = 0; i < n; i++)
		if (w->states[w->now[i].state].color == 0)
			search_from(w, w->now[i].state);
	/* Each comes before those that it leads to. */
	for (i = first, n = w->norder; i + 1 < n; i++) {
		uint32_t t = w->order[i];

		w->order[i] = w->order[--n];
		w->order[n] = t;
	}
	for (i = first; i < w->norder; i++)
		pass_on(w, w->order[i]);
}

static void search(struct vt_pathwalk *w)
{
	uint32_t level, i;

	w->states[0].sum = w->states[0].best = w->states[0].paths = 1;
	for (level = 0; level < w->ask->branches && w->nroots; level++) {
		w->level = level;
		go_back(w);
	}
	narrow(w);
	for (i = 0; i < w->nroots; i++)
		w->order[w->norder++] = w->roots[i].state;
}

/* Adds all weights up; returns the state at which the likeliest path ends, or NONE. */
static uint32_t sum_up(struct vt_pathwalk *w, uint32_t *paths)
{
	uint32_t i, last = NONE;
	double best = 0;

	*paths = 0;
	for (i = 0; i < w->norder; i++) {
		const struct state *s = &w->states[w->order[i]];
		uint32_t ways;
		double ends = ends_here(w, s, &ways);

		w->total += s->sum * (ends + comes_from_unknown(w, s));
		*paths += ways ? (ways > 1 ? 2 : s->paths) : 0;
		*paths = *paths < 2 ? *paths : 2;
		if (s->best * ends > best) {
			best = s->best * ends;
			last = w->order[i];
		}
	}
	return last;
}

static bool put_path(struct vt_pathwalk *w, uint32_t last, struct vt_pathanswer *a)
{
	uint32_t n = 0, i, k;

	for (i = last; i != NONE; i = w->states[i].before)
		n++;
	if (!vt_array_grow(&w->path, &w->path_cap, n, sizeof(*w->path)))
		return false;
	for (i = last, k = n; i != NONE; i = w->states[i].before)
		w->path[--k] = w->states[i].key.node;
	a->nodes = w->path;
	a->nnodes = n;
	return true;
}

static int walk(struct vt_pathwalk *w, const struct vt_pathask *ask, bool pairs,
		struct vt_pathanswer *a, struct vt_error *err)
{
	struct key start = {.node = ask->node};
	uint32_t last, paths;

	*a = (struct vt_pathanswer){.some = false};
	w->ask = ask;
	w->pairs = pairs && ask->paired && ask->distance && ask->distance <= VT_PATHWALK_DISTANCE;
	w->nstates = w->nlinks = w->norder = w->nroots = w->level = 0;
	w->nstacks = 1;
	w->stacks[0] = (struct stack){0, 0, 0};
	w->open = w->capped = w->looped = false;
	clear_table(&w->known);
	clear_table(&w->stacked);
	w->total = 0;
	/* A repeated instruction may have come itself at any distance. */
	if (w->pairs && ask->node == ask->other && ask->nth == ask->other_nth &&
	    w->g->nodes[ask->node].repeats)
		start.seen = SEEN;
	if (!look_for_other(w, ask->node, ask->nth, &start.seen))
		return 0;
	find_state(w, &start);
	search(w);
	last = sum_up(w, &paths);
	a->open = w->open;
	a->capped = w->capped;
	a->looped = w->looped;
	a->some = last != NONE;
	a->only = paths == 1 && !w->open && !w->capped && !w->looped;
	if (!a->some)
		return 0;
	a->probability = w->states[last].best;
	a->probability *= ends_here(w, &w->states[last], &paths) / w->total;
	return put_path(w, last, a) ? 0 : vt_error_nomem(err);
}

int vt_pathwalk_find(struct vt_pathwalk *w, const struct vt_pathask *ask, bool pairs,
		     struct vt_pathanswer *a, struct vt_error *err)
{
	w->all = ALL;
	return walk(w, ask, pairs, a, err);
}

static void learn_walk(struct vt_pathwalk *w, struct vt_pathgraph *g, double weight)
{
	uint32_t i, l, ways;

	/* From the ends of the paths on. */
	for (i = w->norder; i-- > 0;) {
		struct state *s = &w->states[w->order[i]];
		bool known = s->key.stack != 0;
		double unknown = comes_from_unknown(w, s);

		s->rest = unknown;
		if (s->key.level == w->ask->branches)
			s->rest = ends_here(w, s, &ways);
		g->nodes[s->key.node].learned += weight * s->sum * unknown / w->total;
		for (l = s->links; l != NONE; l = w->links[l].next) {
			const struct link *k = &w->links[l];
			double rest = k->part *
				      (k->to == NONE ? weigh_pair(w, s) : w->states[k->to].rest);

			s->rest += rest;
			if (!known || g->edges[k->edge].kind != VT_PATHEDGE_CALL)
				g->edges[k->edge].learned += weight * s->sum * rest / w->total;
		}
	}
}

int vt_pathwalk_learn(struct vt_pathwalk *w, struct vt_pathgraph *g, const struct vt_pathask *ask,
		      double weight, struct vt_error *err)
{
	struct vt_pathanswer a;
	int code;

	w->all = ALL_LEARNT;
	code = walk(w, ask, false, &a, err);
	if (code == 0 && w->total > 0)
		learn_walk(w, g, weight);
	return code;
}

/* ---- the most frequent edges ---- */

/* The most frequent edge to a node that the open calls permit; NULL: none. */
static const struct vt_pathedge *most_frequent(const struct vt_pathwalk *w, uint32_t node,
					       uint32_t stack)
{
	const struct vt_pathnode *n = &w->g->nodes[node];
	const struct vt_pathedge *best = NULL;
	uint32_t i;

	for (i = n->first; i < n->first + n->count; i++) {
		const struct vt_pathedge *e = &w->g->edges[i];

		if (stack && (e->kind == VT_PATHEDGE_STOP ||
			      (e->kind == VT_PATHEDGE_CALL && w->stacks[stack].site != e->from)))
			continue;
		if (!best || e->part > best->part)
			best = e;
	}
	return best;
}

bool vt_pathwalk_counts(struct vt_pathwalk *w, const struct vt_pathask *ask, const uint32_t **nodes,
			uint32_t *n)
{
	uint32_t node = ask->node, stack = 0, branches = 0;

	w->nstacks = 1;
	w->stacks[0] = (struct stack){0, 0, 0};
	clear_table(&w->stacked);
	for (*n = 0; *n < MAX_STEPS;) {
		const struct vt_pathedge *e;

		if (!vt_array_grow(&w->path, &w->path_cap, *n + 1, sizeof(*w->path)))
			return false;
		w->path[(*n)++] = node;
		*nodes = w->path;
		if (branches == ask->branches)
			return true;
		e = most_frequent(w, node, stack);
		if (!e)
			return false;
		if (e->kind == VT_PATHEDGE_STOP)
			return true;
		if (e->kind == VT_PATHEDGE_RETURN)
			stack = push_call(w, stack, e->site);
		else if (e->kind == VT_PATHEDGE_CALL && stack)
			stack = w->stacks[stack].below;
		if (stack == NONE)
			return false;
		branches += e->bit != VT_PATHEDGE_NOBIT;
		node = e->from;
	}
	return false;
}
