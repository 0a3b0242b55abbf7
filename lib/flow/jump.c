/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "flow/internal.h"
#include "flow/state.h"
#include "flow/table.h"
#include "machine/insn/insn.h"

/* Compilers align procedures so, and hardly anything else that is not a loop. */
#define ALIGNED 16

/* A place is visited so often before what differs there is given up, and at the very most. */
#define WIDEN_AT   3
#define MAX_VISITS 24

/* Searches of one procedure.  Data that looks like code full of jumps could want any number. */
#define MAX_SEARCHES 64

/* Places whose states are known at a time: at 3 KB each. */
#define MAX_PLACES 32768

/* Joining states is as much work as so many instructions. */
#define JOINING 4

/* The instructions before a jump that are looked at first. */
#define PATH 96

/* The search for the targets of a procedure's indirect jumps. */
struct search {
	struct vti_walk *w;
	struct vti_targets t;
	uint32_t *before; /* by offset: the node from which alone control comes, from 1; or 0 */
	uint32_t *place;  /* by offset: number of the state there, from 1 */
	struct vti_flowstate *states;
	uint16_t *visits;
	bool *queued;
	size_t nstates;
	size_t states_cap;
	size_t visits_cap;
	size_t queued_cap;
	uint32_t *todo; /* offsets; a queue */
	size_t ntodo;
	size_t done;
	size_t todo_cap;
	size_t first;  /* node whose targets are wanted, and all after it */
	size_t njumps; /* what of w->jumps was there before */
	bool failed;   /* no memory */
};

/* Whether there was more to do than ever will be. */
static bool is_spent(const struct search *s)
{
	return s->w->work >= VTI_MAX_WORK || s->nstates >= MAX_PLACES;
}

/* ---- the states of places ---- */

static bool queue(struct search *s, uint32_t number, uint32_t offset)
{
	if (s->queued[number])
		return true;
	if (!vt_array_grow(&s->todo, &s->todo_cap, s->ntodo + 1, sizeof(*s->todo)))
		return false;
	s->queued[number] = true;
	s->todo[s->ntodo++] = offset;
	return true;
}

static bool new_place(struct search *s, uint32_t offset, const struct vti_flowstate *state)
{
	size_t n = s->nstates;

	if (!vt_array_grow(&s->states, &s->states_cap, n + 1, sizeof(*s->states)) ||
	    !vt_array_grow(&s->visits, &s->visits_cap, n + 1, sizeof(*s->visits)) ||
	    !vt_array_grow(&s->queued, &s->queued_cap, n + 1, sizeof(*s->queued)))
		return false;
	s->states[n] = *state;
	vti_flowstate_settle(&s->states[n]);
	s->visits[n] = 0;
	s->queued[n] = false;
	s->place[offset] = (uint32_t)++s->nstates;
	return queue(s, (uint32_t)n, offset);
}

/* Control gets to an offset with this state; `widen`: what differs there is given up at once. */
static void arrive(struct search *s, int64_t offset, const struct vti_flowstate *state, bool widen)
{
	uint32_t number;

	if (offset < 0 || (uint64_t)offset >= s->w->src->size || s->failed || is_spent(s))
		return;
	s->w->work += JOINING;
	if (!s->place[offset]) {
		s->failed = !new_place(s, (uint32_t)offset, state);
		return;
	}
	number = s->place[offset] - 1;
	if (vti_flowstate_join(&s->states[number], state, (uint32_t)offset,
			       widen || s->visits[number] >= WIDEN_AT) &&
	    s->visits[number] < MAX_VISITS)
		s->failed = !queue(s, number, (uint32_t)offset);
}

/* The table that a jump is known to have so far; interpreters have many and large ones. */
static void arrive_jumps(struct search *s, uint32_t from, const struct vti_flowstate *state)
{
	size_t i;

	for (i = vti_jumps_at(s->w, s->njumps, from); i < s->njumps && s->w->jumps[i].from == from;
	     i++)
		arrive(s, s->w->jumps[i].to, state, true);
}

static void leave_node(struct search *s, const struct vti_node *n, const struct vt_facts *f,
		       const struct vti_flowstate *state)
{
	struct vti_flowstate other = *state;

	switch ((enum vti_next)n->next) {
	case VTI_NEXT_CONDITIONAL:
		vti_flowstate_branch(&other, f, true);
		arrive(s, n->target, &other, false);
		other = *state;
		vti_flowstate_branch(&other, f, false);
		arrive(s, (int64_t)n->offset + n->length, &other, false);
		break;
	case VTI_NEXT_JUMP:
		arrive(s, n->target, state, false);
		break;
	case VTI_NEXT_INDIRECT:
		arrive_jumps(s, n->offset, state);
		break;
	default:
		break;
	}
}

static void take(struct search *s, struct vti_node *n, const struct vt_facts *f,
		 struct vti_flowstate *state)
{
	uint64_t vaddr = s->w->src->start + n->offset;
	struct vti_value v;

	if (n->next != VTI_NEXT_INDIRECT || !n->unknown || (size_t)(n - s->w->nodes) < s->first)
		return;
	v = vti_flowstate_target(state, f, vaddr, n->offset, &s->t.memory);
	vti_targets_take(&s->t, n, &v,
			 vti_flowstate_at_start(state) || vti_targets_at_start(&s->t, n));
}

/*
 * Goes from a place to where ways part, or meet others.  With `taking`, the targets of a jump are
 * taken and nothing is passed on.
 */
static void follow(struct search *s, uint32_t at, bool taking)
{
	struct vti_flowstate state = s->states[s->place[at] - 1];
	const struct vt_cfg_source *src = s->w->src;
	struct vt_facts f;
	struct vti_node *n;
	uint32_t first = at;

	for (; at < src->size && s->w->at[at]; at += n->length) {
		s->w->work++;
		n = &s->w->nodes[s->w->at[at] - 1];
		if (at != first && (s->w->mark[at] & VTI_LEADER)) {
			if (!taking)
				arrive(s, at, &state, false);
			return;
		}
		if (n->next == VTI_NEXT_BAD || !vt_facts_decode(src->code + at, src->size - at, &f))
			return;
		if (n->next != VTI_NEXT_FALL) {
			if (taking)
				take(s, n, &f, &state);
			else
				leave_node(s, n, &f, &state);
			return;
		}
		vti_flowstate_step(&state, &f, src->start + at, at, &s->t.memory);
	}
}

/* ---- procedures ---- */

static void start_places(struct search *s)
{
	struct vti_flowstate state;
	size_t i;

	for (i = 0; i < s->w->src->size && !s->failed; i++)
		if (s->w->mark[i] & VTI_ENTRY) {
			vti_flowstate_start(&state);
			/* Elsewhere than where procedures start, control comes with any stack. */
			if ((s->w->src->start + i) % ALIGNED)
				state.regs[VT_REG_SP] = vti_value_unknown(0);
			arrive(s, (int64_t)i, &state, false);
		}
}

static void find_states(struct search *s)
{
	start_places(s);
	while (s->done < s->ntodo && !s->failed && !is_spent(s)) {
		uint32_t at = s->todo[s->done++], number = s->place[at] - 1;

		s->queued[number] = false;
		s->visits[number]++;
		follow(s, at, false);
	}
}

static int by_jump(const void *x, const void *y)
{
	const struct vti_jump *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

static void sort_jumps(struct vti_walk *w)
{
	size_t i, n = 0;

	if (w->njumps)
		qsort(w->jumps, w->njumps, sizeof(*w->jumps), by_jump);
	for (i = 0; i < w->njumps; i++)
		if (!n || by_jump(&w->jumps[n - 1], &w->jumps[i]) != 0)
			w->jumps[n++] = w->jumps[i];
	w->njumps = n;
}

static void search_all(struct search *s)
{
	size_t i;

	sort_jumps(s->w);
	s->njumps = s->w->njumps;
	s->place = calloc(s->w->src->size, sizeof(*s->place));
	if (!s->place) {
		s->failed = true;
		return;
	}
	find_states(s);
	/* What is known of some places only is not true of all ways. */
	if (is_spent(s))
		return;
	for (i = 0; i < s->w->src->size && !s->failed && !s->t.failed; i++)
		if (s->place[i])
			follow(s, (uint32_t)i, true);
}

/* ---- jumps by what comes right before ---- */

#define MANY UINT32_MAX

static void comes_from(struct search *s, int64_t to, size_t node)
{
	if (to >= 0 && (uint64_t)to < s->w->src->size)
		s->before[to] = s->before[to] ? MANY : (uint32_t)node + 1;
}

static void find_before(struct search *s)
{
	const struct vti_walk *w = s->w;
	size_t i;

	for (i = 0; i < w->nnodes; i++) {
		const struct vti_node *n = &w->nodes[i];

		if (n->next == VTI_NEXT_FALL || n->next == VTI_NEXT_CONDITIONAL)
			comes_from(s, (int64_t)n->offset + n->length, i);
		if (n->next == VTI_NEXT_JUMP || n->next == VTI_NEXT_CONDITIONAL)
			comes_from(s, n->target, i);
	}
	for (i = 0; i < w->njumps; i++)
		s->before[w->jumps[i].to] = MANY;
	for (i = 0; i < w->src->size; i++)
		if (w->mark[i] & VTI_ENTRY)
			s->before[i] = MANY;
}

/* Does what the nodes do, path[n - 1] first, up to path[0], which it does not do. */
static bool go_along(struct search *s, const uint32_t *path, unsigned n,
		     struct vti_flowstate *state, struct vt_facts *f)
{
	const struct vt_cfg_source *src = s->w->src;

	vti_flowstate_start(state);
	state->regs[VT_REG_SP] = vti_value_unknown(0);
	while (n--) {
		const struct vti_node *node = &s->w->nodes[path[n]];

		if (!vt_facts_decode(src->code + node->offset, src->size - node->offset, f))
			return false;
		if (n && node->next == VTI_NEXT_CONDITIONAL)
			vti_flowstate_branch(state, f,
					     s->w->nodes[path[n - 1]].offset == node->target);
		else if (n && node->next == VTI_NEXT_FALL)
			vti_flowstate_step(state, f, src->start + node->offset, node->offset,
					   &s->t.memory);
	}
	return true;
}

/* Most compilers put all that a jump depends on right before it: much less work than a search. */
static void take_by_path(struct search *s, size_t node)
{
	struct vti_node *n = &s->w->nodes[node];
	uint32_t path[PATH], length = 0, at = (uint32_t)node;
	struct vti_flowstate state;
	struct vti_value v;
	struct vt_facts f;

	s->w->work += PATH;
	path[length++] = at;
	while (length < PATH) {
		uint32_t before = s->before[s->w->nodes[at].offset];

		if (!before || before == MANY)
			break;
		at = before - 1;
		path[length++] = at;
	}
	n->unknown = true;
	if (!go_along(s, path, length, &state, &f))
		return;
	v = vti_flowstate_target(&state, &f, s->w->src->start + n->offset, n->offset, &s->t.memory);
	if (v.entry || v.lo == v.hi || vti_flowstate_is_loaded(&v))
		vti_targets_take(&s->t, n, &v, vti_targets_at_start(&s->t, n));
}

/* Whether any jump needs a search. */
static bool take_easy(struct search *s)
{
	const struct vt_cfg_source *src = s->w->src;
	bool more = false;
	struct vt_facts f;
	size_t i;

	for (i = s->first; i < s->w->nnodes && !s->failed && !s->t.failed; i++) {
		struct vti_node *n = &s->w->nodes[i];

		if (n->next != VTI_NEXT_INDIRECT ||
		    !vt_facts_decode(src->code + n->offset, src->size - n->offset, &f) ||
		    vti_targets_fixed(&s->t, n, &f))
			continue;
		n->unknown = true;
		if (s->w->work >= VTI_MAX_WORK || (!s->before && s->w->searches++ >= MAX_SEARCHES))
			continue;
		if (!s->before) {
			s->before = calloc(src->size, sizeof(*s->before));
			s->failed = !s->before;
			if (s->before)
				find_before(s);
		}
		if (s->before)
			take_by_path(s, i);
		more |= n->unknown;
	}
	return more && s->before;
}

static void search_free(struct search *s)
{
	free(s->before);
	free(s->place);
	free(s->states);
	free(s->visits);
	free(s->queued);
	free(s->todo);
}

size_t vti_jumps_at(const struct vti_walk *w, size_t n, uint32_t offset)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (w->jumps[middle].from < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int vti_jumps_find(struct vti_walk *w, size_t first, struct vt_error *err)
{
	struct search s = {.w = w, .first = first};
	size_t i, had = w->njumps;

	for (i = first; i < w->nnodes && w->nodes[i].next != VTI_NEXT_INDIRECT; i++)
		;
	if (i == w->nnodes)
		return 0;
	vti_targets_open(&s.t, w);
	if (take_easy(&s))
		search_all(&s);
	search_free(&s);
	if (s.failed || s.t.failed)
		return vt_error_set(err, VT_E_NOMEM, "out of memory for a control-flow graph");
	if (w->njumps != had)
		sort_jumps(w);
	return 0;
}
