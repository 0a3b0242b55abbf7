/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "flow/mincost_internal.h"

#define NONE UINT32_MAX

/* Costs of more could add up to more than fits. */
#define CHEAP 1

static uint32_t to_it(uint32_t node)
{
	return 2 * node;
}

static uint32_t from_it(uint32_t node)
{
	return 2 * node + 1;
}

static bool list_arcs(struct vti_shrink *s, size_t narcs, uint32_t nnodes)
{
	uint32_t i;

	s->first = calloc(2 * (size_t)nnodes + 2, sizeof(*s->first));
	s->at = malloc((2 * narcs + 1) * sizeof(*s->at));
	if (!s->first || !s->at)
		return false;
	for (i = 0; i < narcs; i++) {
		s->first[to_it(s->arcs[i].to) + 1]++;
		s->first[from_it(s->arcs[i].from) + 1]++;
	}
	for (i = 1; i < 2 * nnodes + 1; i++)
		s->first[i] += s->first[i - 1];
	/* Filled from their ends, so that each list's start is right afterwards. */
	for (i = 0; i < narcs; i++) {
		s->at[--s->first[to_it(s->arcs[i].to) + 1]] = i;
		s->at[--s->first[from_it(s->arcs[i].from) + 1]] = i;
	}
	for (i = 0; i < 2 * nnodes; i++)
		s->first[i] = s->first[i + 1];
	s->first[2 * nnodes] = (uint32_t)(2 * narcs);
	return true;
}

/* The only arc of a list, if it takes any flow; NONE: there is no such. */
static uint32_t only_arc(const struct vti_shrink *s, uint32_t list)
{
	const struct vt_mincost_arc *a;

	if (s->first[list + 1] - s->first[list] != 1)
		return NONE;
	a = &s->arcs[s->at[s->first[list]]];
	return !a->want && a->at_most == VT_MINCOST_MAX && a->more <= CHEAP ? s->at[s->first[list]]
									    : NONE;
}

static uint32_t top_of(uint32_t *up, uint32_t node)
{
	while (up[node] != node)
		node = up[node] = up[up[node]];
	return node;
}

static void take_arc(struct vti_shrink *s, uint32_t node, uint32_t arc)
{
	uint32_t from, to;

	if (arc == NONE || s->arc[node] != NONE)
		return;
	from = top_of(s->node, s->arcs[arc].from);
	to = top_of(s->node, s->arcs[arc].to);
	if (from == to)
		return;
	s->node[to] = from;
	s->arc[node] = arc;
	s->owner[arc] = node;
}

/* Those of a node that imply the one it owns. */
static uint32_t others(const struct vti_shrink *s, uint32_t node)
{
	return s->arcs[s->arc[node]].to == node ? from_it(node) : to_it(node);
}

/* Whether what a node owns is implied by others only that no node owns so far. */
static bool is_first(const struct vti_shrink *s, uint32_t node)
{
	const struct vt_mincost_arc *a = &s->arcs[s->arc[node]];
	uint32_t other = a->to == node ? a->from : a->to;

	/* It stands on the other side of its other end's own arc, or that has none. */
	return s->arc[other] == NONE || (s->arcs[s->arc[other]].to == other) != (a->from == other);
}

static void find_order(struct vti_shrink *s, uint32_t nnodes)
{
	uint32_t i, k;

	for (i = 0; i < nnodes; i++)
		if (s->arc[i] != NONE && is_first(s, i))
			s->order[s->norder++] = i;
	for (i = 0; i < s->norder; i++) {
		uint32_t list = others(s, s->order[i]), arc = s->arc[s->order[i]];
		int64_t cost = s->arcs[arc].more + s->carry[arc];

		for (k = s->first[list]; k < s->first[list + 1]; k++) {
			s->carry[s->at[k]] += cost;
			if (s->owner[s->at[k]] != NONE)
				s->order[s->norder++] = s->owner[s->at[k]];
		}
	}
}

/* Those that are left, from 0. */
static bool number_nodes(struct vti_shrink *s, uint32_t nnodes)
{
	uint32_t *number = malloc(((size_t)nnodes + 1) * sizeof(*number)), i;

	if (!number)
		return false;
	for (i = 0; i < nnodes; i++)
		if (s->node[i] == i)
			number[i] = s->nnodes++;
	for (i = 0; i < nnodes; i++)
		s->node[i] = top_of(s->node, i);
	for (i = 0; i < nnodes; i++)
		s->node[i] = number[s->node[i]];
	free(number);
	return true;
}

bool vti_shrink_init(struct vti_shrink *s, const struct vt_mincost_arc *arcs, size_t narcs,
		     uint32_t nnodes)
{
	uint32_t i, list;

	*s = (struct vti_shrink){
		.arcs = arcs,
		.node = calloc((size_t)nnodes + 1, sizeof(*s->node)),
		.carry = calloc(narcs + 1, sizeof(*s->carry)),
		.owner = malloc((narcs + 1) * sizeof(*s->owner)),
		.order = malloc(((size_t)nnodes + 1) * sizeof(*s->order)),
		.arc = malloc(((size_t)nnodes + 1) * sizeof(*s->arc)),
	};
	if (!s->node || !s->carry || !s->owner || !s->order || !s->arc)
		return false;
	if (!list_arcs(s, narcs, nnodes))
		return false;
	for (i = 0; i < nnodes; i++) {
		s->node[i] = i;
		s->arc[i] = NONE;
	}
	for (i = 0; i < narcs; i++)
		s->owner[i] = NONE;
	for (list = 0; list < 2 * nnodes; list++)
		take_arc(s, list / 2, only_arc(s, list));
	find_order(s, nnodes);
	return number_nodes(s, nnodes);
}

void vti_shrink_fini(struct vti_shrink *s)
{
	free(s->node);
	free(s->carry);
	free(s->owner);
	free(s->order);
	free(s->arc);
	free(s->first);
	free(s->at);
}

void vti_shrink_flow(const struct vti_shrink *s, int64_t *flow)
{
	uint32_t i, k;

	for (i = s->norder; i-- > 0;) {
		uint32_t list = others(s, s->order[i]), arc = s->arc[s->order[i]];

		flow[arc] = 0;
		for (k = s->first[list]; k < s->first[list + 1]; k++)
			flow[arc] += flow[s->at[k]];
	}
}
