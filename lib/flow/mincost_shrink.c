/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "flow/mincost_internal.h"

#define NONE UINT32_MAX

/* Maximum cost of a removed arc, so that the sums do not overflow. */
#define CHEAP 1

static uint32_t list_to(uint32_t node)
{
	return 2 * node;
}

static uint32_t list_from(uint32_t node)
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
		s->first[list_to(s->arcs[i].to) + 1]++;
		s->first[list_from(s->arcs[i].from) + 1]++;
	}
	for (i = 1; i < 2 * nnodes + 1; i++)
		s->first[i] += s->first[i - 1];
	/* Filling backwards from the ends leaves the lists' starts. */
	for (i = 0; i < narcs; i++) {
		s->at[--s->first[list_to(s->arcs[i].to) + 1]] = i;
		s->at[--s->first[list_from(s->arcs[i].from) + 1]] = i;
	}
	for (i = 0; i < 2 * nnodes; i++)
		s->first[i] = s->first[i + 1];
	s->first[2 * nnodes] = (uint32_t)(2 * narcs);
	return true;
}

/* Returns the only arc of a list if it can be removed, else NONE. */
static uint32_t only_arc(const struct vti_shrink *s, uint32_t list)
{
	const struct vt_mincost_arc *a;

	if (s->first[list + 1] - s->first[list] != 1)
		return NONE;
	a = &s->arcs[s->at[s->first[list]]];
	return !a->want && a->at_most == VT_MINCOST_MAX && a->more <= CHEAP ? s->at[s->first[list]]
									    : NONE;
}

static uint32_t find_top(uint32_t *up, uint32_t node)
{
	while (up[node] != node)
		node = up[node] = up[up[node]];
	return node;
}

static void contract_arc(struct vti_shrink *s, uint32_t node, uint32_t arc)
{
	uint32_t from, to;

	if (arc == NONE || s->arc[node] != NONE)
		return;
	from = find_top(s->node, s->arcs[arc].from);
	to = find_top(s->node, s->arcs[arc].to);
	if (from == to)
		return;
	s->node[to] = from;
	s->arc[node] = arc;
	s->owner[arc] = node;
}

/* Returns the list of a node's arcs that imply the one it owns. */
static uint32_t implying_arcs(const struct vti_shrink *s, uint32_t node)
{
	return s->arcs[s->arc[node]].to == node ? list_from(node) : list_to(node);
}

/* Returns true if the arc that a node owns is implied only by arcs that no node owns. */
static bool is_free_owner(const struct vti_shrink *s, uint32_t node)
{
	const struct vt_mincost_arc *a = &s->arcs[s->arc[node]];
	uint32_t other = a->to == node ? a->from : a->to;

	/* The other end owns no arc, or its own is on the other side. */
	return s->arc[other] == NONE || (s->arcs[s->arc[other]].to == other) != (a->from == other);
}

static void order_owners(struct vti_shrink *s, uint32_t nnodes)
{
	uint32_t i, k;

	for (i = 0; i < nnodes; i++)
		if (s->arc[i] != NONE && is_free_owner(s, i))
			s->order[s->norder++] = i;
	for (i = 0; i < s->norder; i++) {
		uint32_t list = implying_arcs(s, s->order[i]), arc = s->arc[s->order[i]];
		int64_t cost = s->arcs[arc].more + s->carry[arc];

		for (k = s->first[list]; k < s->first[list + 1]; k++) {
			s->carry[s->at[k]] += cost;
			if (s->owner[s->at[k]] != NONE)
				s->order[s->norder++] = s->owner[s->at[k]];
		}
	}
}

/* Numbers the contracted nodes from 0. */
static bool number_nodes(struct vti_shrink *s, uint32_t nnodes)
{
	uint32_t *number = malloc(((size_t)nnodes + 1) * sizeof(*number)), i;

	if (!number)
		return false;
	for (i = 0; i < nnodes; i++)
		if (s->node[i] == i)
			number[i] = s->nnodes++;
	for (i = 0; i < nnodes; i++)
		s->node[i] = find_top(s->node, i);
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
		contract_arc(s, list / 2, only_arc(s, list));
	order_owners(s, nnodes);
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
		uint32_t list = implying_arcs(s, s->order[i]), arc = s->arc[s->order[i]];

		flow[arc] = 0;
		for (k = s->first[list]; k < s->first[list + 1]; k++)
			flow[arc] += flow[s->at[k]];
	}
}
