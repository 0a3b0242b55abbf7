/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/layout.h"

#include <stdlib.h>
#include <string.h>

#include "listing/layout_internal.h"

/* More than anybody could read; this many take a few seconds. */
#define MAX_VERTICES 400000

/* ---- layers ---- */

/* The edges of nodes, by the node that they leave. */
struct layout_walk {
	uint32_t *first; /* by node, and one more */
	uint32_t *edges;
	uint32_t *next; /* by node: the next edge to follow */
	uint32_t *stack;
	uint8_t *state;
	uint32_t *post; /* nodes in postorder */
	uint32_t npost;
};

enum { UNSEEN, OPEN, CLOSED };

static bool walk_init(struct layout_walk *w, const struct vt_layout *g)
{
	uint32_t e, n;

	w->first = calloc((size_t)g->nnodes + 1, sizeof(*w->first));
	w->edges = calloc((size_t)g->nedges + 1, sizeof(*w->edges));
	w->next = calloc((size_t)g->nnodes + 1, sizeof(*w->next));
	w->stack = calloc((size_t)g->nnodes + 1, sizeof(*w->stack));
	w->post = calloc((size_t)g->nnodes + 1, sizeof(*w->post));
	w->state = calloc((size_t)g->nnodes + 1, sizeof(*w->state));
	if (!w->first || !w->edges || !w->next || !w->stack || !w->post || !w->state)
		return false;
	for (e = 0; e < g->nedges; e++)
		w->first[g->edges[e].from + 1]++;
	for (n = 0; n < g->nnodes; n++)
		w->first[n + 1] += w->first[n];
	memcpy(w->next, w->first, g->nnodes * sizeof(*w->next));
	for (e = 0; e < g->nedges; e++)
		w->edges[w->next[g->edges[e].from]++] = e;
	memcpy(w->next, w->first, g->nnodes * sizeof(*w->next));
	return true;
}

static void walk_fini(struct layout_walk *w)
{
	free(w->first);
	free(w->edges);
	free(w->next);
	free(w->stack);
	free(w->post);
	free(w->state);
}

/* Visits nodes depth first; an edge to an open node closes a loop and is reversed. */
static void walk_from(struct layout_walk *w, struct vti_layered *l, uint32_t node)
{
	uint32_t depth = 0;

	if (w->state[node] != UNSEEN)
		return;
	w->stack[depth++] = node;
	w->state[node] = OPEN;
	while (depth) {
		uint32_t at = w->stack[depth - 1], e, to;

		if (w->next[at] == w->first[at + 1]) {
			w->state[at] = CLOSED;
			w->post[w->npost++] = at;
			depth--;
			continue;
		}
		e = w->edges[w->next[at]++];
		to = l->g->edges[e].to;
		if (w->state[to] == OPEN) {
			l->reversed[e] = to != at;
		} else if (w->state[to] == UNSEEN) {
			w->state[to] = OPEN;
			w->stack[depth++] = to;
		}
	}
}

/*
 * Sets the layer of each node to the length of the longest path to it.  Without the reversed edges,
 * reverse postorder is a topological order.
 */
static void assign_layers(const struct layout_walk *w, struct vti_layered *l)
{
	uint32_t i, k;

	for (i = w->npost; i-- > 0;) {
		uint32_t at = w->post[i], layer = l->vertices[at].layer;

		for (k = w->first[at]; k < w->first[at + 1]; k++) {
			uint32_t e = w->edges[k], to = l->g->edges[e].to;

			if (to != at && !l->reversed[e] && l->vertices[to].layer <= layer)
				l->vertices[to].layer = layer + 1;
		}
		/* The sources of reversed edges are below: they were reached from here. */
		if (layer >= l->nlayers)
			l->nlayers = layer + 1;
	}
}

static bool find_layers(struct vti_layered *l)
{
	struct layout_walk w = {0};
	bool ok = walk_init(&w, l->g);
	uint32_t n;

	for (n = 0; ok && n < l->g->nnodes; n++)
		walk_from(&w, l, n);
	if (ok)
		assign_layers(&w, l);
	walk_fini(&w);
	return ok;
}

/* ---- vertices and segments ---- */

static uint32_t layer_of(const struct vti_layered *l, uint32_t edge, bool upper)
{
	const struct vt_layout_edge *e = &l->g->edges[edge];

	return l->vertices[upper != l->reversed[edge] ? e->from : e->to].layer;
}

/* How many segments an edge has; 0: from a node to itself. */
static uint32_t count_segments(const struct vti_layered *l, uint32_t edge)
{
	return layer_of(l, edge, false) - layer_of(l, edge, true);
}

static bool split_edges(struct vti_layered *l)
{
	uint32_t e, i, at = l->g->nnodes;
	struct vti_vertex *grown =
		realloc(l->vertices, ((size_t)l->nvertices + 1) * sizeof(*l->vertices));

	if (!grown)
		return false;
	l->vertices = grown;
	memset(grown + at, 0, ((size_t)l->nvertices + 1 - at) * sizeof(*grown));
	l->segments = calloc((size_t)l->nsegments + 1, sizeof(*l->segments));
	l->edge_first = calloc((size_t)l->g->nedges + 1, sizeof(*l->edge_first));
	if (!l->segments || !l->edge_first)
		return false;
	l->nsegments = 0;
	for (e = 0; e < l->g->nedges; e++) {
		const struct vt_layout_edge *edge = &l->g->edges[e];
		uint32_t n = count_segments(l, e);
		uint32_t last = l->reversed[e] ? edge->to : edge->from;

		l->edge_first[e] = l->nsegments;
		for (i = 1; i <= n; i++) {
			uint32_t to = l->reversed[e] ? edge->from : edge->to;

			if (i < n) {
				to = at++;
				l->vertices[to].layer = l->vertices[last].layer + 1;
			}
			l->segments[l->nsegments++] = (struct vti_segment){last, to};
			last = to;
		}
	}
	l->edge_first[e] = l->nsegments;
	return true;
}

/* Lists the upper and lower neighbours of each vertex, by a counting sort. */
static bool join_vertices(struct vti_layered *l)
{
	struct vti_vertex *v = l->vertices;
	uint32_t i;

	l->up = calloc((size_t)l->nsegments + 1, sizeof(*l->up));
	l->down = calloc((size_t)l->nsegments + 1, sizeof(*l->down));
	if (!l->up || !l->down)
		return false;
	for (i = 0; i < l->nsegments; i++) {
		v[l->segments[i].lower].up++;
		v[l->segments[i].upper].down++;
	}
	for (i = 1; i <= l->nvertices; i++) {
		v[i].up += v[i - 1].up;
		v[i].down += v[i - 1].down;
	}
	for (i = l->nsegments; i-- > 0;) {
		l->up[--v[l->segments[i].lower].up] = l->segments[i].upper;
		l->down[--v[l->segments[i].upper].down] = l->segments[i].lower;
	}
	return true;
}

void vti_layout_number(struct vti_layered *l)
{
	uint32_t i, k;

	for (i = 0; i < l->nlayers; i++)
		for (k = l->layer_first[i]; k < l->layer_first[i + 1]; k++)
			l->vertices[l->layers[k]].order = k - l->layer_first[i];
}

static bool fill_layers(struct vti_layered *l)
{
	uint32_t i;

	l->layers = calloc((size_t)l->nvertices + 1, sizeof(*l->layers));
	l->layer_first = calloc((size_t)l->nlayers + 2, sizeof(*l->layer_first));
	if (!l->layers || !l->layer_first)
		return false;
	for (i = 0; i < l->nvertices; i++)
		l->layer_first[l->vertices[i].layer + 2]++;
	for (i = 2; i <= l->nlayers; i++)
		l->layer_first[i] += l->layer_first[i - 1];
	for (i = 0; i < l->nvertices; i++) {
		uint32_t *at = &l->layer_first[l->vertices[i].layer + 1];

		l->layers[(*at)++] = i;
	}
	vti_layout_number(l);
	return true;
}

/* ---- order in layers ---- */

/* The maximum number of sweeps, down and up in turn. */
#define ORDER_SWEEPS 24

/* ---- crossings ---- */

/* Counts inversions with a binary indexed tree over the positions in the layer below. */
static uint64_t count_crossings_below(const struct vti_layered *l, uint32_t layer, uint32_t *tree)
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

static uint64_t count_crossings(const struct vti_layered *l, uint32_t *tree)
{
	uint64_t count = 0;
	uint32_t i;

	for (i = 0; i + 1 < l->nlayers; i++)
		count += count_crossings_below(l, i, tree);
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

/* Sorts a layer by the mean position of each vertex's neighbours, or its own without any. */
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

static void sweep_layers(struct vti_layered *l, bool down, struct wish *wishes)
{
	uint32_t i;

	for (i = 1; i < l->nlayers; i++)
		order_layer(l, down ? i : l->nlayers - 1 - i, !down, wishes);
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
		fewest = count_crossings(l, tree);
		for (i = 0; i < ORDER_SWEEPS && fewest; i++) {
			sweep_layers(l, i % 2 == 0, wishes);
			count = count_crossings(l, tree);
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

/* ---- columns ---- */

/* The number of sweeps, down and up in turn. */
#define COLUMN_SWEEPS 16

/* Segments of long edges have higher weights, which keeps these straight. */
#define WEIGHT_MIXED 2
#define WEIGHT_BOTH  8

static bool is_node(const struct vti_layered *l, uint32_t vertex)
{
	return vertex < l->g->nnodes;
}

/* The least distance of the middles of two neighbours in a layer. */
static double least_distance(const struct vti_layered *l, uint32_t a, uint32_t b)
{
	double gap = is_node(l, a) || is_node(l, b) ? l->g->gap : l->g->gap / 2;

	return (l->vertices[a].width + l->vertices[b].width) / 2 + gap;
}

/* Adjacent vertices that move as one. */
struct pool {
	double sum; /* of weights times wishes, less their places in the pool */
	double weight;
	uint32_t first; /* in the layer */
};

static void find_wish(const struct vti_layered *l, uint32_t vertex, bool below, double *at,
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
	/* A vertex without neighbours stays unless others need its place. */
	*weight = total > 0 ? total : 0.01;
	*at = total > 0 ? sum / total : v->x;
}

/*
 * Moves the vertices of a layer to the wished places that order and distance allow, by weighted
 * least squares.  Less the distances, this is an isotonic regression, solved by pooling adjacent
 * violators.
 */
static void settle_layer(struct vti_layered *l, uint32_t layer, bool below, struct pool *pools,
			 double *offset)
{
	uint32_t first = l->layer_first[layer], n = l->layer_first[layer + 1] - first;
	uint32_t i, k, npools = 0;

	for (i = 0; i < n; i++) {
		double at, weight;
		struct pool *p;

		offset[i] = i ? offset[i - 1] + least_distance(l, l->layers[first + i - 1],
							       l->layers[first + i])
			      : 0;
		find_wish(l, l->layers[first + i], below, &at, &weight);
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

static void pack_layers(struct vti_layered *l)
{
	uint32_t i, k;

	for (i = 0; i < l->nlayers; i++)
		for (k = l->layer_first[i] + 1; k < l->layer_first[i + 1]; k++)
			l->vertices[l->layers[k]].x =
				l->vertices[l->layers[k - 1]].x +
				least_distance(l, l->layers[k - 1], l->layers[k]);
}

bool vti_layout_columns(struct vti_layered *l)
{
	struct pool *pools = calloc((size_t)l->nvertices + 1, sizeof(*pools));
	double *offset = calloc((size_t)l->nvertices + 1, sizeof(*offset));
	bool ok = pools && offset;
	uint32_t i, k;

	pack_layers(l);
	for (i = 0; ok && i < COLUMN_SWEEPS; i++)
		for (k = 1; k < l->nlayers; k++)
			settle_layer(l, i % 2 ? l->nlayers - 1 - k : k, i % 2, pools, offset);
	free(pools);
	free(offset);
	return ok;
}

/* ---- the layered graph ---- */

static int build_layers(struct vti_layered *l, struct vt_error *err)
{
	struct vt_layout *g = l->g;
	uint64_t segments = 0, vertices = g->nnodes;
	bool ok;
	uint32_t e, n;

	l->vertices = calloc((size_t)g->nnodes + 1, sizeof(*l->vertices));
	l->reversed = calloc((size_t)g->nedges + 1, sizeof(*l->reversed));
	ok = l->vertices && l->reversed && find_layers(l);
	for (e = 0; ok && e < g->nedges; e++) {
		n = count_segments(l, e);
		segments += n;
		vertices += n ? n - 1 : 0;
	}
	if (ok && (vertices > MAX_VERTICES || segments > MAX_VERTICES))
		return vt_error_set(err, VT_E_LIMIT, "the graph is too large to be drawn");
	l->nvertices = (uint32_t)vertices;
	l->nsegments = (uint32_t)segments;
	ok = ok && split_edges(l);
	for (n = 0; ok && n < g->nnodes; n++)
		l->vertices[n].width = g->nodes[n].width;
	if (!ok || !join_vertices(l) || !fill_layers(l) || !vti_layout_order(l) ||
	    !vti_layout_columns(l))
		return vt_error_nomem(err);
	return 0;
}

/* ---- places ---- */

struct band {
	double top;
	double bottom;
};

/* Stacks the layers, and moves all vertices so that the picture begins at 0, 0. */
static void place_nodes(struct vti_layered *l, struct band *bands)
{
	struct vt_layout *g = l->g;
	double left = 0, y = 0;
	uint32_t i, k;

	for (i = 0; i < l->nvertices; i++) {
		double x = l->vertices[i].x - l->vertices[i].width / 2;

		left = i == 0 || x < left ? x : left;
	}
	for (i = 0; i < l->nlayers; i++) {
		double height = 0;

		for (k = l->layer_first[i]; k < l->layer_first[i + 1]; k++)
			if (l->layers[k] < g->nnodes && g->nodes[l->layers[k]].height > height)
				height = g->nodes[l->layers[k]].height;
		bands[i] = (struct band){y, y + height};
		y += height + g->gap;
	}
	g->height = y > 0 ? y - g->gap : 0;
	for (i = 0; i < l->nvertices; i++) {
		struct vti_vertex *v = &l->vertices[i];
		double right;

		v->x -= left;
		right = v->x + v->width / 2;
		g->width = right > g->width ? right : g->width;
	}
	for (i = 0; i < g->nnodes; i++) {
		const struct vti_vertex *v = &l->vertices[i];

		g->nodes[i].x = v->x - v->width / 2;
		g->nodes[i].y = bands[v->layer].top;
	}
}

/* An end of an edge at a node; the ends are spread along its side by their directions. */
struct port {
	double toward;
	uint32_t node;
	uint32_t edge;
};

static int by_node(const void *a, const void *b)
{
	const struct port *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->toward != y->toward)
		return x->toward < y->toward ? -1 : 1;
	return x->edge < y->edge ? -1 : x->edge > y->edge;
}

/* Finds x of each edge's end at its upper node, or if `lower` at its lower node. */
static bool find_ports(const struct vti_layered *l, bool lower, double *x)
{
	struct port *ports = calloc((size_t)l->g->nedges + 1, sizeof(*ports));
	uint32_t e, i, n = 0, same;

	if (!ports)
		return false;
	for (e = 0; e < l->g->nedges; e++) {
		uint32_t first = l->edge_first[e], last = l->edge_first[e + 1];
		const struct vti_segment *s;

		if (first == last)
			continue;
		s = &l->segments[lower ? last - 1 : first];
		ports[n++] = (struct port){l->vertices[lower ? s->upper : s->lower].x,
					   lower ? s->lower : s->upper, e};
	}
	qsort(ports, n, sizeof(*ports), by_node);
	for (i = 0; i < n; i += same) {
		const struct vti_vertex *v = &l->vertices[ports[i].node];
		uint32_t k;

		for (same = 1; i + same < n && ports[i + same].node == ports[i].node; same++)
			;
		for (k = 0; k < same; k++)
			x[ports[i + k].edge] =
				v->x + v->width * ((k + 1.0) / (same + 1.0) - 0.5) * 0.8;
	}
	free(ports);
	return true;
}

static void put_point(struct vt_layout *g, double x, double y)
{
	g->points[g->npoints++] = (struct vt_layout_point){x, y};
}

static void reverse_points(struct vt_layout_point *p, size_t n)
{
	size_t i;

	for (i = 0; i < n / 2; i++) {
		struct vt_layout_point t = p[i];

		p[i] = p[n - 1 - i];
		p[n - 1 - i] = t;
	}
}

static void route_edge(struct vti_layered *l, uint32_t number, const struct band *bands, double out,
		       double in)
{
	struct vt_layout *g = l->g;
	struct vt_layout_edge *e = &g->edges[number];
	uint32_t s, first = l->edge_first[number], last = l->edge_first[number + 1];

	e->first = g->npoints;
	if (first == last) {
		const struct vt_layout_node *n = &g->nodes[e->from];

		put_point(g, n->x + n->width, n->y + n->height * 0.75);
		put_point(g, n->x + n->width, n->y + n->height * 0.25);
		e->npoints = 2;
		return;
	}
	s = l->segments[first].upper;
	put_point(g, out, g->nodes[s].y + g->nodes[s].height);
	/* Pass taller neighbours straight. */
	if (bands[l->vertices[s].layer].bottom > g->nodes[s].y + g->nodes[s].height) {
		put_point(g, out, bands[l->vertices[s].layer].bottom);
		put_point(g, out, bands[l->vertices[s].layer].bottom);
	}
	for (s = first; s + 1 < last; s++) {
		const struct vti_vertex *v = &l->vertices[l->segments[s].lower];

		put_point(g, v->x, bands[v->layer].top);
		put_point(g, v->x, bands[v->layer].bottom);
	}
	put_point(g, in, g->nodes[l->segments[last - 1].lower].y);
	e->npoints = g->npoints - e->first;
	if (l->reversed[number])
		reverse_points(g->points + e->first, e->npoints);
}

static int place_graph(struct vti_layered *l, struct vt_error *err)
{
	struct vt_layout *g = l->g;
	struct band *bands = calloc((size_t)l->nlayers + 1, sizeof(*bands));
	double *out = calloc((size_t)g->nedges + 1, sizeof(*out));
	double *in = calloc((size_t)g->nedges + 1, sizeof(*in));
	uint32_t e;
	bool ok;

	g->points =
		calloc(2 * ((size_t)l->nsegments + 2 * (size_t)g->nedges) + 1, sizeof(*g->points));
	ok = bands && out && in && g->points;
	if (ok)
		place_nodes(l, bands);
	ok = ok && find_ports(l, false, out) && find_ports(l, true, in);
	for (e = 0; ok && e < g->nedges; e++)
		route_edge(l, e, bands, out[e], in[e]);
	free(bands);
	free(out);
	free(in);
	return ok ? 0 : vt_error_nomem(err);
}

int vt_layout_place(struct vt_layout *g, struct vt_error *err)
{
	struct vti_layered l = {.g = g};
	int rc;

	g->points = NULL;
	g->npoints = 0;
	g->width = g->height = 0;
	rc = build_layers(&l, err);
	if (rc == 0)
		rc = place_graph(&l, err);
	free(l.reversed);
	free(l.edge_first);
	free(l.vertices);
	free(l.segments);
	free(l.up);
	free(l.down);
	free(l.layers);
	free(l.layer_first);
	return rc;
}

void vt_layout_fini(struct vt_layout *g)
{
	free(g->points);
	g->points = NULL;
	g->npoints = 0;
}
