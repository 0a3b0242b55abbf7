/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "flow/layout_internal.h"

#define SWEEPS 16

/* A long edge bends less if its pieces pull harder than those between nodes. */
#define WEIGHT_MIXED 2
#define WEIGHT_BOTH  8

static bool is_node(const struct vti_layered *l, uint32_t vertex)
{
	return vertex < l->g->nnodes;
}

/* How far the middles of neighbours in a layer are apart, at least. */
static double distance(const struct vti_layered *l, uint32_t a, uint32_t b)
{
	double gap = is_node(l, a) || is_node(l, b) ? l->g->gap : l->g->gap / 2;

	return (l->vertices[a].width + l->vertices[b].width) / 2 + gap;
}

/* Vertices side by side that push each other: they move as one. */
struct pool {
	double sum; /* of weights times wishes, less their places in the pool */
	double weight;
	uint32_t first; /* in the layer */
};

static void wish(const struct vti_layered *l, uint32_t vertex, bool below, double *at,
		 double *weight)
{
	const struct vti_vertex *v = &l->vertices[vertex];
	const uint32_t *list = below ? l->down : l->up;
	uint32_t k, from = below ? v[0].down : v[0].up, to = below ? v[1].down : v[1].up;
	double sum = 0, total = 0;

	for (k = from; k < to; k++) {
		double w = is_node(l, vertex) && is_node(l, list[k])   ? 1
			   : is_node(l, vertex) || is_node(l, list[k]) ? WEIGHT_MIXED
								       : WEIGHT_BOTH;

		sum += w * l->vertices[list[k]].x;
		total += w;
	}
	/* One that nothing pulls stays, unless others need the place. */
	*weight = total > 0 ? total : 0.01;
	*at = total > 0 ? sum / total : v->x;
}

/*
 * The places nearest to what the vertices wish, by weighted squares, that keep order and distance:
 * with the distances taken off, an isotonic regression, which pooling adjacent violators solves.
 */
static void settle_layer(struct vti_layered *l, uint32_t layer, bool below, struct pool *pools,
			 double *offset)
{
	uint32_t first = l->layer_first[layer], n = l->layer_first[layer + 1] - first;
	uint32_t i, k, npools = 0;

	for (i = 0; i < n; i++) {
		double at, weight;
		struct pool *p;

		offset[i] = i ? offset[i - 1] + distance(l, l->layers[first + i - 1],
							 l->layers[first + i])
			      : 0;
		wish(l, l->layers[first + i], below, &at, &weight);
		pools[npools++] = (struct pool){weight * (at - offset[i]), weight, i};
		for (p = &pools[npools - 1];
		     npools > 1 && p[-1].sum / p[-1].weight > p[0].sum / p[0].weight; p--) {
			p[-1].sum += p[0].sum;
			p[-1].weight += p[0].weight;
			npools--;
		}
	}
	for (k = 0; k < npools; k++) {
		uint32_t end = k + 1 < npools ? pools[k + 1].first : n;

		for (i = pools[k].first; i < end; i++)
			l->vertices[l->layers[first + i]].x =
				pools[k].sum / pools[k].weight + offset[i];
	}
}

static void pack(struct vti_layered *l)
{
	uint32_t i, k;

	for (i = 0; i < l->nlayers; i++)
		for (k = l->layer_first[i] + 1; k < l->layer_first[i + 1]; k++)
			l->vertices[l->layers[k]].x = l->vertices[l->layers[k - 1]].x +
						      distance(l, l->layers[k - 1], l->layers[k]);
}

bool vti_layout_columns(struct vti_layered *l)
{
	struct pool *pools = calloc((size_t)l->nvertices + 1, sizeof(*pools));
	double *offset = calloc((size_t)l->nvertices + 1, sizeof(*offset));
	bool ok = pools && offset;
	uint32_t i, k;

	pack(l);
	for (i = 0; ok && i < SWEEPS; i++)
		for (k = 1; k < l->nlayers; k++)
			settle_layer(l, i % 2 ? l->nlayers - 1 - k : k, i % 2, pools, offset);
	free(pools);
	free(offset);
	return ok;
}
