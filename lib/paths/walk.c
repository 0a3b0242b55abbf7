/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "paths/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/prefetch.h"
#include "machine/insn/insn.h"

/* Bounds on the work for an instruction. */
#define MAX_STATES 16384
#define MAX_LINKS  32768
#define MAX_STACKS 4096
#define SLOTS	   32768 /* of hash tables; a power of 2 */
#define MAX_DEPTH  256	 /* of calls that are open */
#define MAX_PATH   65536 /* nodes of a path by counts */

/*
 * Between two branches, the states that are gone on from, the likeliest first; and what part of the
 * weight may be left out.
 */
#define STEPS_ALL   128 /* to find all */
#define STEPS	    64
#define MORE_STATES 4 /* that each step may lead to, on the mean */
#define LEAST	    1e-3
#define MAX_STEPS   (STEPS_ALL * VT_PATHWALK_BRANCHES)

#define NONE UINT32_MAX

/*
 * How much less likely a path is that has the other instruction nearer than at its distance, as
 * where instructions of a wrong path were fetched in between; and that of a path too short to have
 * it, to whose beginning the other instruction may have led in any way.
 */
#define NEARER	  0.02
#define TOO_SHORT 0.02

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
	uint32_t links;	  /* the first in walk.links; NONE */
	uint32_t before;  /* on the likeliest path: the state nearer to the instruction */
	uint32_t in_heap; /* its place + 1; 0: it is not there */
	uint32_t step;	  /* the last one from here */
	uint8_t paths;	  /* from the instruction to here: 0, 1, 2 or more */
	uint8_t waiting;  /* those of them that did not go on yet */
	bool expanded;
	double sum;	/* of their weights */
	double pending; /* of those that did not go on yet */
	double best;	/* of the likeliest */
	double skipped; /* the part of all ways to go on that is left out */
	double rest;	/* of all ways to go on: for learning */
};

/* A state to go on from, and its pending weight. */
struct waiting {
	double mass;
	uint32_t state;
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
	struct slot {
		uint32_t stamp; /* `now`: it is used */
		uint32_t at;
	} slots[SLOTS];
	uint32_t now;
};

struct vt_pathwalk {
	const struct vt_pathgraph *g;
	const struct vt_pathask *ask;
	bool pairs;
	uint32_t steps_max; /* of a level */
	double least;
	struct state states[MAX_STATES];
	uint32_t nstates;
	struct link links[MAX_LINKS];
	uint32_t nlinks;
	struct stack stacks[MAX_STACKS];
	uint32_t nstacks;
	struct table known;   /* states */
	struct table stacked; /* stacks */
	struct waiting heap[MAX_STATES];
	uint32_t nheap;
	uint32_t steps[MAX_STEPS]; /* the state of each */
	uint32_t nsteps;
	/* Of the level: */
	uint32_t level;
	uint32_t nstates_max;
	double least_mass; /* paths of less weight are left out */
	double left_out;   /* weight */
	/* By level: the factor that makes up for the weight left out so far. */
	double scale[VT_PATHWALK_BRANCHES + 1];
	/* By branches that are left: how likely they are, if nothing is known of them. */
	double unknown[VT_PATHWALK_BRANCHES + 1];
	uint32_t *path;
	size_t path_cap;
	double total;
	bool open, capped;
};

struct vt_pathwalk *vt_pathwalk_new(const struct vt_pathgraph *g)
{
	struct vt_pathwalk *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->g = g;
	vt_pathwalk_guess(w, .5);
	return w;
}

void vt_pathwalk_free(struct vt_pathwalk *w)
{
	if (w)
		free(w->path);
	free(w);
}

void vt_pathwalk_guess(struct vt_pathwalk *w, double direction)
{
	uint32_t i;

	w->unknown[0] = 1;
	for (i = 1; i <= VT_PATHWALK_BRANCHES; i++)
		w->unknown[i] = w->unknown[i - 1] * direction;
}

static void clear_table(struct table *t)
{
	if (++t->now == 0) {
		memset(t->slots, 0, sizeof(t->slots));
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

/* ---- the states to go on from, the heaviest first ---- */

static bool is_heavier(const struct waiting *a, const struct waiting *b)
{
	return a->mass > b->mass || (a->mass == b->mass && a->state < b->state);
}

static void put_in_heap(struct vt_pathwalk *w, uint32_t at, const struct waiting *x)
{
	w->heap[at] = *x;
	w->states[x->state].in_heap = at + 1;
}

/* Adds a state, or moves one up whose weight grew. */
static void raise_in_heap(struct vt_pathwalk *w, uint32_t state)
{
	const struct state *s = &w->states[state];
	const struct waiting x = {s->pending, state};
	uint32_t at = s->in_heap ? s->in_heap - 1 : w->nheap++;

	for (; at && is_heavier(&x, &w->heap[(at - 1) / 2]); at = (at - 1) / 2)
		put_in_heap(w, at, &w->heap[(at - 1) / 2]);
	put_in_heap(w, at, &x);
}

static uint32_t take_heaviest(struct vt_pathwalk *w)
{
	const uint32_t top = w->heap[0].state;
	const struct waiting last = w->heap[--w->nheap];
	uint32_t at = 0, child;

	w->states[top].in_heap = 0;
	if (!w->nheap)
		return top;
	while ((child = 2 * at + 1) < w->nheap) {
		if (child + 1 < w->nheap && is_heavier(&w->heap[child + 1], &w->heap[child]))
			child++;
		if (!is_heavier(&w->heap[child], &last))
			break;
		put_in_heap(w, at, &w->heap[child]);
		at = child;
	}
	put_in_heap(w, at, &last);
	return top;
}

/* ---- states ---- */

static bool is_same_key(const struct key *a, const struct key *b)
{
	return a->node == b->node && a->stack == b->stack && a->seen == b->seen &&
	       a->level == b->level;
}

/* The state with a key, which is made if it is new.  NONE: there are too many. */
static uint32_t find_state(struct vt_pathwalk *w, const struct key *k)
{
	uint32_t i = mix(k->node, k->stack, k->seen, k->level);
	struct table *t = &w->known;

	for (; t->slots[i].stamp == t->now; i = (i + 1) & (SLOTS - 1))
		if (is_same_key(&w->states[t->slots[i].at].key, k))
			return t->slots[i].at;
	if (w->nstates == MAX_STATES)
		return NONE;
	t->slots[i] = (struct slot){t->now, w->nstates};
	w->states[w->nstates] = (struct state){.key = *k, .links = NONE, .before = NONE};
	return w->nstates++;
}

/* The stack with one more call; NONE: too many. */
static uint32_t push_call(struct vt_pathwalk *w, uint32_t below, uint32_t site)
{
	uint32_t i = mix(below, site, 0, 0), depth = w->stacks[below].depth + 1;
	struct table *t = &w->stacked;

	for (; t->slots[i].stamp == t->now; i = (i + 1) & (SLOTS - 1))
		if (w->stacks[t->slots[i].at].below == below &&
		    w->stacks[t->slots[i].at].site == site)
			return t->slots[i].at;
	if (w->nstacks == MAX_STACKS || depth > MAX_DEPTH)
		return NONE;
	t->slots[i] = (struct slot){t->now, w->nstacks};
	w->stacks[w->nstacks] = (struct stack){below, site, depth};
	return w->nstacks++;
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

/* How likely what a path has of a pair is. */
static double weigh_seen(uint32_t seen)
{
	return (seen & 3) == SEEN ? NEARER : 1;
}

/* How likely the branches that are left are, on a way to a state of which nothing is known. */
static double guess_rest(const struct vt_pathwalk *w, const struct state *s)
{
	return w->unknown[w->ask->branches - s->key.level];
}

/* How likely it is that a path with so much of a pair ends. */
static double weigh_end(const struct vt_pathwalk *w, const struct state *s)
{
	return w->pairs && (s->key.seen & 3) == UNSEEN ? TOO_SHORT : 1;
}

/* ---- ways to go on ---- */

/*
 * What is left behind an edge, backwards.  False: nothing, by the pair; a stack of NONE: there are
 * too many.
 */
static bool follow_edge(struct vt_pathwalk *w, struct key *k, const struct vt_pathchoice *e)
{
	k->level += e->bit != VT_PATHEDGE_NOBIT;
	k->node = e->from;
	if (!look_for_other(w, e->from, e->ninsns, &k->seen))
		return false;
	if (e->kind == VT_PATHEDGE_RETURN)
		k->stack = push_call(w, k->stack, e->site);
	else if (e->kind == VT_PATHEDGE_CALL && k->stack)
		k->stack = w->stacks[k->stack].below;
	return true;
}

/* Links a state to what an edge leads to.  False: there is no more room. */
static bool add_link(struct vt_pathwalk *w, uint32_t from, const struct vt_pathchoice *e,
		     double part)
{
	struct key k = w->states[from].key;
	uint32_t to = NONE, seen = k.seen;

	/* A path does not end in a call that returned. */
	if (e->kind == VT_PATHEDGE_STOP && k.stack)
		return true;
	if (w->nlinks == MAX_LINKS)
		return false;
	if (e->kind == VT_PATHEDGE_STOP) {
		part *= guess_rest(w, &w->states[from]);
	} else {
		if (!follow_edge(w, &k, e))
			return true;
		to = k.stack == NONE ? NONE : find_state(w, &k);
		if (to == NONE)
			return false;
		/* They are in memory by the time that the walk gets there. */
		VT_PREFETCH(&w->g->nodes[e->from]);
		VT_PREFETCH(&w->g->choices[e->first]);
		part *= weigh_seen(k.seen) / weigh_seen(seen);
	}
	w->links[w->nlinks] = (struct link){w->states[from].links, to, e->edge, part};
	w->states[from].links = w->nlinks++;
	return true;
}

/* Goes on over an edge if it matters by what the state weighs now. */
static void try_edge(struct vt_pathwalk *w, uint32_t state, const struct vt_pathchoice *e,
		     double part)
{
	struct state *s = &w->states[state];

	if (part * s->pending < w->least_mass || w->nstates >= w->nstates_max ||
	    !add_link(w, state, e, part))
		s->skipped += part;
}

/* Goes on by some of the edges to a node, the likeliest first. */
static void try_choices(struct vt_pathwalk *w, uint32_t state, uint32_t first, uint32_t end)
{
	struct state *s = &w->states[state];
	uint32_t bit = w->ask->history >> s->key.level & 1, i;
	double least = w->least_mass / s->pending;

	for (i = first; i < end; i++) {
		const struct vt_pathchoice *c = &w->g->choices[i];

		if (c->part < least || !(c->part > 0)) {
			s->skipped += c->rest[bit];
			break;
		}
		if (c->bit != 1 - bit)
			try_edge(w, state, c, c->part);
	}
}

/* The call that an open one came from: behind a return, it is the only one that is left of all. */
static void try_call(struct vt_pathwalk *w, uint32_t state)
{
	const struct vt_pathgraph *g = w->g;
	const struct vt_pathnode *n = &g->nodes[w->states[state].key.node];
	uint32_t site = w->stacks[w->states[state].key.stack].site;
	uint32_t low = n->first, end = low + n->count, high = end;

	if (!(n->calls > 0))
		return;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (g->edges[mid].from < site)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < end && g->edges[low].from == site; low++)
		if (g->edges[low].kind == VT_PATHEDGE_CALL) {
			const struct vt_pathchoice c = vt_pathchoice_make(g, low);

			try_edge(w, state, &c, n->calls);
		}
}

/* Finds the ways to go on from a state that the open calls and the history permit. */
static void expand_state(struct vt_pathwalk *w, uint32_t state)
{
	struct state *s = &w->states[state];
	const struct vt_pathnode *n = &w->g->nodes[s->key.node];

	s->expanded = true;
	w->open |= n->open;
	try_choices(w, state, n->first, n->first + n->others);
	if (s->key.stack)
		try_call(w, state);
	else
		try_choices(w, state, n->first + n->others, n->first + n->count);
}

/* ---- the search ---- */

static void pass_on(struct vt_pathwalk *w, uint32_t from, const struct link *k, double mass,
		    uint8_t paths)
{
	const struct state *s = &w->states[from];
	struct state *t = &w->states[k->to];
	double best = s->best * k->part;

	mass *= k->part;
	t->sum += mass;
	t->pending += mass;
	t->waiting = (uint8_t)(t->waiting + (t->paths + paths <= 2 ? paths : 2 - t->paths));
	t->paths = (uint8_t)(t->paths + paths <= 2 ? t->paths + paths : 2);
	if (best > t->best) {
		t->best = best;
		t->before = from;
	}
	if (t->key.level == w->level)
		raise_in_heap(w, k->to);
}

/* Goes one node back from a state with all that came to it since the last time. */
static void step_back(struct vt_pathwalk *w, uint32_t state)
{
	struct state *s = &w->states[state];
	double mass = s->pending;
	uint8_t paths = s->waiting;
	uint32_t l;

	if (!s->expanded)
		expand_state(w, state);
	s->pending = 0;
	s->waiting = 0;
	s->step = w->nsteps;
	w->steps[w->nsteps++] = state;
	w->left_out += mass * s->skipped;
	for (l = s->links; l != NONE; l = w->links[l].next)
		if (w->links[l].to != NONE)
			pass_on(w, state, &w->links[l], mass, paths);
}

/*
 * Goes back to the next branches from all states of the level, which are among those from `first`
 * on.  A state goes on again if more comes to it, so that a way round without a branch counts as
 * often as it is gone.
 */
static void search_level(struct vt_pathwalk *w, uint32_t first)
{
	double mass = 0, *scale = &w->scale[w->level];
	uint32_t i, last = w->nsteps + w->steps_max;

	w->nheap = 0;
	w->left_out = 0;
	for (i = first; i < w->nstates; i++)
		if (w->states[i].key.level == w->level) {
			mass += w->states[i].pending;
			raise_in_heap(w, i);
		}
	w->nstates_max = w->nstates + MORE_STATES * w->steps_max;
	w->least_mass = mass * w->least;
	while (w->nheap && w->nsteps < last && w->heap[0].mass >= w->least_mass)
		step_back(w, take_heaviest(w));
	for (i = 0; i < w->nheap; i++)
		w->left_out += w->heap[i].mass;
	if (w->left_out > 0) {
		w->capped = true;
		*scale *= w->left_out < mass ? mass / (mass - w->left_out) : 0;
	}
	w->scale[w->level + 1] = *scale;
}

static void search(struct vt_pathwalk *w)
{
	uint32_t first = 0, next;

	w->scale[0] = 1;
	for (w->level = 0; w->level < w->ask->branches; w->level++) {
		next = w->nstates;
		search_level(w, first);
		first = next;
	}
}

/* ---- weights ---- */

/* The part of a state's paths that end there. */
static double ends_here(const struct vt_pathwalk *w, const struct state *s, uint32_t *ways)
{
	double part = 0;
	uint32_t l;

	*ways = 0;
	if (s->key.level == w->ask->branches) {
		*ways = 1;
		return weigh_end(w, s);
	}
	for (l = s->links; l != NONE; l = w->links[l].next)
		if (w->links[l].to == NONE) {
			part += w->links[l].part;
			(*ways)++;
		}
	return part * weigh_end(w, s);
}

/* The part of a state's paths that come from code that is not known. */
static double comes_from_unknown(const struct vt_pathwalk *w, const struct state *s)
{
	const struct vt_pathnode *n = &w->g->nodes[s->key.node];

	if (s->key.level == w->ask->branches || !n->open)
		return 0;
	return n->unknown * weigh_end(w, s) * guess_rest(w, s);
}

/* The weight of the paths to a state that were gone on with, or that end there. */
static double weight_of(const struct vt_pathwalk *w, const struct state *s)
{
	return s->key.level == w->ask->branches ? s->sum : s->sum - s->pending;
}

/* Adds all weights up; returns the state at which the likeliest path ends, or NONE. */
static uint32_t sum_up(struct vt_pathwalk *w, uint32_t *paths)
{
	uint32_t i, last = NONE, ways;
	double best = 0;

	*paths = 0;
	for (i = 0; i < w->nstates; i++) {
		const struct state *s = &w->states[i];
		double ends = ends_here(w, s, &ways), scale = w->scale[s->key.level];

		w->total += scale * weight_of(w, s) * (ends + comes_from_unknown(w, s));
		*paths += ways ? (ways > 1 ? 2 : s->paths) : 0;
		*paths = *paths < 2 ? *paths : 2;
		if (s->best * ends > best) {
			best = s->best * ends;
			last = i;
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

/* Clears what the last walk left, and begins with the instruction.  False: it has no path. */
static bool start_walk(struct vt_pathwalk *w, const struct vt_pathask *ask, bool pairs)
{
	struct key start = {.node = ask->node};
	struct state *s;

	w->ask = ask;
	w->pairs = pairs && ask->paired && ask->distance && ask->distance <= VT_PATHWALK_DISTANCE;
	w->nstates = w->nlinks = w->nsteps = 0;
	w->nstacks = 1;
	w->stacks[0] = (struct stack){0, 0, 0};
	w->open = w->capped = false;
	clear_table(&w->known);
	clear_table(&w->stacked);
	w->total = 0;
	/* A repeated instruction may have come itself at any distance. */
	if (w->pairs && ask->node == ask->other && ask->nth == ask->other_nth &&
	    w->g->nodes[ask->node].repeats)
		start.seen = SEEN;
	if (!look_for_other(w, ask->node, ask->nth, &start.seen))
		return false;
	s = &w->states[find_state(w, &start)];
	s->sum = s->pending = s->best = weigh_seen(start.seen);
	s->paths = s->waiting = 1;
	return true;
}

static int walk(struct vt_pathwalk *w, const struct vt_pathask *ask, bool pairs,
		struct vt_pathanswer *a, struct vt_error *err)
{
	uint32_t last, paths;

	*a = (struct vt_pathanswer){.some = false};
	if (!start_walk(w, ask, pairs))
		return 0;
	search(w);
	last = sum_up(w, &paths);
	a->open = w->open;
	a->capped = w->capped;
	a->left_out = 1 - 1 / w->scale[ask->branches];
	a->some = last != NONE && w->total > 0;
	a->only = a->some && paths == 1 && !w->open && !w->capped;
	if (!a->some)
		return 0;
	a->probability = w->states[last].best;
	a->probability *= ends_here(w, &w->states[last], &paths) / w->total;
	return put_path(w, last, a) ? 0 : vt_error_nomem(err);
}

int vt_pathwalk_find(struct vt_pathwalk *w, const struct vt_pathask *ask, bool pairs, bool all,
		     struct vt_pathanswer *a, struct vt_error *err)
{
	int code = 0;

	if (!all) {
		w->steps_max = STEPS;
		w->least = LEAST;
		code = walk(w, ask, pairs, a, err);
		if (code < 0 || a->some || !a->capped)
			return code;
	}
	w->steps_max = STEPS_ALL;
	w->least = 0;
	return walk(w, ask, pairs, a, err);
}

/* ---- learning ---- */

/* What the ways on from a state weigh, of which each was taken with a known probability. */
static void learn_state(struct vt_pathwalk *w, struct vt_pathgraph *g, struct state *s,
			double weight)
{
	double unknown = comes_from_unknown(w, s);
	double mass = weight * weight_of(w, s) * w->scale[s->key.level] / w->total;
	uint32_t l;

	s->rest = unknown;
	g->nodes[s->key.node].learned += mass * unknown;
	for (l = s->links; l != NONE; l = w->links[l].next) {
		const struct link *k = &w->links[l];
		const struct state *to = k->to == NONE ? NULL : &w->states[k->to];
		double rest = k->part;

		if (to)
			rest *= to->rest * w->scale[to->key.level] / w->scale[s->key.level];
		s->rest += rest;
		/* The caller was known by the return: it says nothing of other calls. */
		if (!s->key.stack || g->edges[k->edge].kind != VT_PATHEDGE_CALL)
			g->edges[k->edge].learned += mass * rest;
	}
}

static void learn_walk(struct vt_pathwalk *w, struct vt_pathgraph *g, double weight)
{
	uint32_t i;

	for (i = 0; i < w->nstates; i++)
		w->states[i].rest = w->states[i].key.level == w->ask->branches;
	/* From the ends of the paths on. */
	for (i = w->nsteps; i-- > 0;) {
		struct state *s = &w->states[w->steps[i]];

		if (s->step == i)
			learn_state(w, g, s, weight);
	}
}

int vt_pathwalk_learn(struct vt_pathwalk *w, struct vt_pathgraph *g, const struct vt_pathask *ask,
		      double weight, struct vt_error *err)
{
	struct vt_pathanswer a;
	int code;

	w->steps_max = STEPS;
	w->least = LEAST;
	code = walk(w, ask, false, &a, err);
	if (code == 0 && w->total > 0)
		learn_walk(w, g, weight);
	return code;
}

int vt_pathwalk_weigh(struct vt_pathwalk *w, const struct vt_pathask *ask, double *probability,
		      struct vt_error *err)
{
	struct vt_pathanswer a;

	w->steps_max = STEPS;
	w->least = LEAST;
	*probability = 0;
	if (walk(w, ask, false, &a, err) < 0)
		return -(int)err->code;
	/* Rounding may make it more than certain. */
	if (a.some)
		*probability = w->total < 1 ? w->total : 1;
	return 0;
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
	for (*n = 0; *n < MAX_PATH;) {
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
