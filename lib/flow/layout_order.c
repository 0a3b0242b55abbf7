/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "flow/layout_internal.h"

/* Up and down so often, at the most. */
#define SWEEPS 24

/* ---- crossings ---- */

/* Inversions, counted with a binary indexed tree over the places of the layer below. */
static uint64_t crossings_below(const struct vti_layered *l, uint32_t layer, uint32_t *tree)
{
	uint32_t width = l->layer_first[layer + 2] - l->layer_first[layer + 1];
	uint64_t count = 0;
	uint32_t i, k, j, seen = 0;

	memset(tree, 0, ((size_t)width + 1) * sizeof(*tree));
	for (i = l->layer_first[layer]; i < l->layer_first[layer + 1]; i++) {
		const struct vti_vertex *v = &l->vertices[l->layers[i]];

		for (k = v[0].down; k < v[1].down; k++) {
			uint32_t before = 0;

			for (j = l->vertices[l->down[k]].order + 1; j; j &= j - 1)
				before += tree[j];
			count += seen - before;
		}
		for (k = v[0].down; k < v[1].down; k++, seen++)
			for (j = l->vertices[l->down[k]].order + 1; j <= width; j += j & -j)
				tree[j]++;
	}
	return count;
}

static uint64_t crossings(const struct vti_layered *l, uint32_t *tree)
{
	uint64_t count = 0;
	uint32_t i;

	for (i = 0; i + 1 < l->nlayers; i++)
		count += crossings_below(l, i, tree);
	return count;
}

/* ---- sweeps ---- */

struct wish {
	double at;
	uint32_t order;
	uint32_t vertex;
};

static int by_wish(const void *a, const void *b)
{
	const struct wish *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Each vertex to the mean of its neighbours' places; one without neighbours stays. */
static void order_layer(struct vti_layered *l, uint32_t layer, bool below, struct wish *wishes)
{
	uint32_t first = l->layer_first[layer], n = l->layer_first[layer + 1] - first;
	uint32_t i, k;

	for (i = 0; i < n; i++) {
		const struct vti_vertex *v = &l->vertices[l->layers[first + i]];
		const uint32_t *list = below ? l->down : l->up;
		uint32_t from = below ? v[0].down : v[0].up, to = below ? v[1].down : v[1].up;
		double sum = 0;

		for (k = from; k < to; k++)
			sum += l->vertices[list[k]].order;
		wishes[i] = (struct wish){to > from ? sum / (to - from) : v->order, v->order,
					  l->layers[first + i]};
	}
	qsort(wishes, n, sizeof(*wishes), by_wish);
	for (i = 0; i < n; i++) {
		l->layers[first + i] = wishes[i].vertex;
		l->vertices[wishes[i].vertex].order = i;
	}
}

static void sweep(struct vti_layered *l, bool down, struct wish *wishes)
{
	uint32_t i;

	for (i = 1; i < l->nlayers; i++)
		order_layer(l, down ? i : l->nlayers - 1 - i, !down, wishes);
}

void vti_layout_number(struct vti_layered *l)
{
	uint32_t i, k;

	for (i = 0; i < l->nlayers; i++)
		for (k = l->layer_first[i]; k < l->layer_first[i + 1]; k++)
			l->vertices[l->layers[k]].order = k - l->layer_first[i];
}

bool vti_layout_order(struct vti_layered *l)
{
	struct wish *wishes = calloc((size_t)l->nvertices + 1, sizeof(*wishes));
	uint32_t *tree = calloc((size_t)l->nvertices + 2, sizeof(*tree));
	uint32_t *best = calloc((size_t)l->nvertices + 1, sizeof(*best));
	bool ok = wishes && tree && best;
	uint64_t fewest, count;
	uint32_t i;

	if (ok) {
		memcpy(best, l->layers, l->nvertices * sizeof(*best));
		fewest = crossings(l, tree);
		for (i = 0; i < SWEEPS && fewest; i++) {
			sweep(l, i % 2 == 0, wishes);
			count = crossings(l, tree);
			if (count < fewest) {
				fewest = count;
				memcpy(best, l->layers, l->nvertices * sizeof(*best));
			}
		}
		memcpy(l->layers, best, l->nvertices * sizeof(*best));
		vti_layout_number(l);
	}
	free(wishes);
	free(tree);
	free(best);
	return ok;
}
