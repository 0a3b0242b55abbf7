/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "machine/insn/insn.h"
#include "paths/internal.h"
#include "paths/paths.h"

/* The way back along a stack. */
struct way {
	const struct vt_pathgraph *g;
	const struct vt_pathask *ask;
	uint32_t *nodes;
	uint32_t n;
	uint32_t branches;
	bool done;
};

/* One node further back, from whose end control came by a branch or past it.  False: too many. */
static bool go_back(struct way *w, uint32_t node)
{
	if (w->n == VT_PATHS_NODES)
		return false;
	w->nodes[w->n++] = node;
	w->branches += (w->g->nodes[node].flags & VT_FACT_CONDITIONAL) != 0;
	w->done = w->branches == w->ask->branches;
	return true;
}

/* The node that ends where one begins, from which control may just go on; VT_PATHNODE_NONE. */
static uint32_t find_before(const struct vt_pathgraph *g, uint32_t at)
{
	const struct vt_procedure *p = &g->procs[g->nodes[at].proc].proc;
	uint32_t before = at ? at - 1 : VT_PATHNODE_NONE;

	/* Hand-written code may run on into the next procedure. */
	if (g->nodes[at].start == p->start)
		before = vti_pathgraph_ends(g, p->image, p->pid, p->start);
	else if (at && g->nodes[before].proc != g->nodes[at].proc)
		before = VT_PATHNODE_NONE;
	if (before == VT_PATHNODE_NONE || g->nodes[before].end != g->nodes[at].start ||
	    g->nodes[before].flags & (VT_FACT_CALL | VT_FACT_RETURN | VT_FACT_JUMP))
		return VT_PATHNODE_NONE;
	return before;
}

/* Back to the node that begins where a branch went, through those in between.  False: no such way.
 */
static bool fall_back(struct way *w, uint32_t to)
{
	uint32_t at = w->nodes[w->n - 1];

	while (at != to && !w->done) {
		uint32_t before = find_before(w->g, at);

		if (before == VT_PATHNODE_NONE)
			return false;
		if (!w->g->across && w->g->nodes[before].proc != w->g->nodes[at].proc) {
			w->done = true;
			return true;
		}
		if (!go_back(w, before))
			return false;
		at = before;
	}
	return true;
}

/*
 * Whether control just went on from an instruction to the next one: a trace of executed blocks
 * tells that, too, as it does not tell which blocks end in a branch.
 */
static bool goes_on(const struct vt_pathgraph *g, uint32_t from, uint32_t nth, uint32_t to,
		    uint32_t into)
{
	const struct vt_pathnode *a = &g->nodes[from];
	const uint32_t branches = VT_FACT_BRANCH | VT_FACT_CALL | VT_FACT_RETURN | VT_FACT_JUMP;

	if (nth + 1 < a->ninsns)
		return from == to && into == nth + 1;
	return !(a->flags & branches) && !into && find_before(g, to) == from;
}

/* Back over a branch that was taken.  False: no such way; the path is right as far as it goes. */
static bool jump_back(struct way *w, uint32_t from_place, uint32_t to_place)
{
	const struct vt_pathnode *nodes = w->g->nodes;
	uint32_t nth = 0, into = 0, n = w->n, branches = w->branches;
	uint32_t from = from_place == VT_PATHPLACE_NONE ? VT_PATHNODE_NONE
							: vt_pathgraph_find(w->g, from_place, &nth);
	uint32_t to = to_place == VT_PATHPLACE_NONE ? VT_PATHNODE_NONE
						    : vt_pathgraph_find(w->g, to_place, &into);

	/* A repeated instruction goes back to itself. */
	if (from != VT_PATHNODE_NONE && from_place == to_place &&
	    !(nodes[from].flags & VT_FACT_BRANCH && nth + 1 == nodes[from].ninsns))
		return true;
	if (from != VT_PATHNODE_NONE && to != VT_PATHNODE_NONE &&
	    goes_on(w->g, from, nth, to, into))
		return true;
	if (to == VT_PATHNODE_NONE || into || !fall_back(w, to)) {
		w->n = n;
		w->branches = branches;
		return false;
	}
	if (w->done)
		return true;
	if (!w->g->across && (from == VT_PATHNODE_NONE || nodes[from].proc != nodes[to].proc ||
			      nodes[from].flags & (VT_FACT_CALL | VT_FACT_RETURN))) {
		w->done = true;
		return true;
	}
	return from != VT_PATHNODE_NONE && nth + 1 == nodes[from].ninsns && go_back(w, from);
}

int vt_paths_true(const struct vt_pathgraph *g, const struct vt_pathask *ask, const uint32_t *stack,
		  size_t nstack, uint32_t *nodes, uint32_t *n, bool *whole)
{
	struct way w = {.g = g, .ask = ask, .nodes = nodes, .n = 1};
	size_t i;

	nodes[0] = ask->node;
	w.done = ask->branches == 0;
	for (i = 0; i + 1 < nstack && !w.done; i += 2)
		if (!jump_back(&w, stack[i], stack[i + 1]))
			break;
	*n = w.n;
	*whole = w.done;
	return w.done || i + 1 >= nstack ? (int)w.branches : -1;
}
