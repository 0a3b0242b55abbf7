/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flow/layout.h"

#include <stdlib.h>
#include <string.h>

#include "flow/layout_internal.h"

/* More than anybody could read, and what takes a few seconds. */
#define MAX_VERTICES 400000

/* ---- layers ---- */

/* The edges of nodes, by the node that they leave. */
struct walk {
	uint32_t *first; /* by node, and one more */
	uint32_t *edges;
	uint32_t *next; /* by node: the next edge to follow */
	uint32_t *stack;
	uint8_t *state;
	uint32_t *post; /* nodes in the order in which they were left */
	uint32_t npost;
};

enum { UNSEEN, OPEN, CLOSED };

static bool walk_init(struct walk *w, const struct vt_layout *g)
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

static void walk_fini(struct walk *w)
{
	free(w->first);
	free(w->edges);
	free(w->next);
	free(w->stack);
	free(w->post);
	free(w->state);
}

/* Depth first from a node; an edge to a node that is still open closes a loop. */
static void walk_from(struct walk *w, struct vti_layered *l, uint32_t node)
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
 * The longest way from above.  An edge that was reversed leads to a node that was left before: the
 * nodes in the opposite order of leaving are sorted by all the others.
 */
static void assign_layers(const struct walk *w, struct vti_layered *l)
{
	uint32_t i, k;

	for (i = w->npost; i-- > 0;) {
		uint32_t at = w->post[i], layer = l->vertices[at].layer;

		for (k = w->first[at]; k < w->first[at + 1]; k++) {
			uint32_t e = w->edges[k], to = l->g->edges[e].to;

			if (to != at && !l->reversed[e] && l->vertices[to].layer <= layer)
				l->vertices[to].layer = layer + 1;
		}
		/* The other ends of reversed edges are below anyway: they were reached from here.
		 */
		if (layer >= l->nlayers)
			l->nlayers = layer + 1;
	}
}

static bool find_layers(struct vti_layered *l)
{
	struct walk w = {0};
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
static uint32_t span(const struct vti_layered *l, uint32_t edge)
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
		uint32_t n = span(l, e);
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

/* Counts first, then fills in: each vertex's neighbours above and below stand together. */
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

static int build(struct vti_layered *l, struct vt_error *err)
{
	struct vt_layout *g = l->g;
	uint64_t segments = 0, vertices = g->nnodes;
	bool ok;
	uint32_t e, n;

	l->vertices = calloc((size_t)g->nnodes + 1, sizeof(*l->vertices));
	l->reversed = calloc((size_t)g->nedges + 1, sizeof(*l->reversed));
	ok = l->vertices && l->reversed && find_layers(l);
	for (e = 0; ok && e < g->nedges; e++) {
		n = span(l, e);
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

/* Layers one below the other, nodes in their middle; everything is moved to begin at 0, 0. */
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

/* The ends of edges at a node, spread along its side in the order of where they go. */
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

/* x of each edge's end at the lower side of its upper node, or at the upper side of its lower one.
 */
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

static void turn_round(struct vt_layout_point *p, size_t n)
{
	size_t i;

	for (i = 0; i < n / 2; i++) {
		struct vt_layout_point t = p[i];

		p[i] = p[n - 1 - i];
		p[n - 1 - i] = t;
	}
}

static void route(struct vti_layered *l, uint32_t number, const struct band *bands, double out,
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
	/* Straight down past taller neighbours. */
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
		turn_round(g->points + e->first, e->npoints);
}

static int place(struct vti_layered *l, struct vt_error *err)
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
		route(l, e, bands, out[e], in[e]);
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
	rc = build(&l, err);
	if (rc == 0)
		rc = place(&l, err);
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
