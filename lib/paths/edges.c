/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "machine/insn/insn.h"
#include "paths/internal.h"

/* Edges beyond these are left out, which the nodes that they lead to tell as `open`. */
#define MAX_EDGES (UINT32_C(1) << 25)

/* Procedures that may return in the place of one that jumped to them. */
#define MAX_TAILS 256

/* A procedure that jumps to another; or a node that calls a procedure. */
struct tail {
	uint64_t from; /* first: the key */
	uint32_t to;
};

struct maker {
	struct vt_pathgraph *g;
	const struct vt_pathgraph_options *o;
	struct vt_pathedge *edges; /* some more than once */
	size_t nedges;
	size_t edges_cap;
	struct tail *tails; /* sorted */
	size_t ntails;
	size_t tails_cap;
	uint32_t marks;
	bool failed;
};

/* ---- edges ---- */

static uint8_t get_bit(const struct vt_pathnode *n, bool taken)
{
	return n->flags & VT_FACT_CONDITIONAL ? taken : VT_PATHEDGE_NOBIT;
}

static void add_edge(struct maker *m, uint32_t from, uint32_t to, uint32_t site, uint8_t bit,
		     enum vt_pathedge_kind kind, double count)
{
	const struct vt_pathgraph *g = m->g;
	struct vt_pathedge e = {.from = from,
				.to = to,
				.site = site,
				.bit = bit,
				.kind = (uint8_t)kind,
				.count = count};

	if (!g->across && (kind != VT_PATHEDGE_PLAIN || g->nodes[from].proc != g->nodes[to].proc))
		e = (struct vt_pathedge){.from = to,
					 .to = to,
					 .bit = VT_PATHEDGE_NOBIT,
					 .kind = VT_PATHEDGE_STOP,
					 .count = count};
	if (m->nedges >= MAX_EDGES)
		m->g->nodes[to].open = true;
	else if (!vt_array_grow(&m->edges, &m->edges_cap, m->nedges + 1, sizeof(*m->edges)))
		m->failed = true;
	else
		m->edges[m->nedges++] = e;
}

/* Edges within a procedure, and out of it by direct jumps. */
static void add_procedure_edges(struct maker *m, uint32_t proc)
{
	struct vt_pathgraph *g = m->g;
	const struct vt_pathproc *p = &g->procs[proc];
	uint32_t i;

	for (i = 0; p->cfg && i < p->cfg->nedges; i++) {
		const struct vt_cfg_edge *e = &p->cfg->edges[i];
		const struct vt_cfg_block *a = &p->cfg->blocks[e->from];
		const struct vt_cfg_block *b = &p->cfg->blocks[e->to];
		uint32_t from;

		if (e->from < VT_CFG_FIRST || e->to < VT_CFG_FIRST || !a->ninsns || !b->ninsns)
			continue;
		from = p->node[a->insn + a->ninsns - 1];
		if (!(g->nodes[from].flags & VT_FACT_CALL))
			add_edge(m, from, p->node[b->insn], 0,
				 get_bit(&g->nodes[from], e->kind != VT_EDGE_FALL),
				 VT_PATHEDGE_PLAIN, 0);
	}
}

static void add_tail(struct maker *m, uint32_t from, uint32_t to)
{
	uint32_t a = m->g->nodes[from].proc, b = m->g->nodes[to].proc;

	if (a == b)
		return;
	if (!vt_array_grow(&m->tails, &m->tails_cap, m->ntails + 1, sizeof(*m->tails)))
		m->failed = true;
	else
		m->tails[m->ntails++] = (struct tail){a, b};
}

/* The edge of a direct call, or of a jump out of the procedure. */
static void add_direct_edge(struct maker *m, uint32_t node)
{
	struct vt_pathgraph *g = m->g;
	const struct vt_pathnode *n = &g->nodes[node];
	const struct vt_procedure *p = &g->procs[n->proc].proc;
	bool call = n->flags & VT_FACT_CALL;
	uint32_t to;

	if (!n->target || (!call && n->target >= p->start && n->target < p->end))
		return;
	to = vti_pathgraph_begins(g, p->image, p->pid, n->target);
	if (to == VT_PATHNODE_NONE) {
		g->nodes[node].leaves = true;
		return;
	}
	add_edge(m, node, to, call ? node : 0, call ? VT_PATHEDGE_NOBIT : get_bit(n, true),
		 call ? VT_PATHEDGE_CALL : VT_PATHEDGE_PLAIN, 0);
	if (!call)
		add_tail(m, node, to);
}

/* ---- edges that control was seen to take ---- */

static void add_seen_edge(struct maker *m, uint32_t from, uint32_t to, double count)
{
	struct vt_pathgraph *g = m->g;
	const struct vt_pathnode *f = &g->nodes[from], *t = &g->nodes[to];
	bool falls = f->end == t->start && f->proc == t->proc;

	if (f->flags & VT_FACT_CALL) {
		/* What falls through a call was not executed in between. */
		if (!falls)
			add_edge(m, from, to, from, VT_PATHEDGE_NOBIT, VT_PATHEDGE_CALL, count);
	} else if (f->flags & VT_FACT_RETURN) {
		if (t->site != VT_PATHNODE_NONE)
			add_edge(m, from, to, t->site, VT_PATHEDGE_NOBIT, VT_PATHEDGE_RETURN,
				 count);
		else
			add_edge(m, from, to, 0, VT_PATHEDGE_NOBIT, VT_PATHEDGE_PLAIN, count);
	} else if (f->flags & VT_FACT_BRANCH || falls) {
		bool jumps = f->flags & (VT_FACT_JUMP | VT_FACT_INDIRECT);

		if (!jumps && !falls && f->target != t->start)
			return;
		add_edge(m, from, to, 0, get_bit(f, !falls), VT_PATHEDGE_PLAIN, count);
		add_tail(m, from, to);
	}
}

static void add_seen_edges(struct maker *m)
{
	const struct vt_pathplaces *places = m->o->places;
	struct vt_pathgraph *g = m->g;
	size_t i;

	for (i = 0; i < places->transfers.count; i++) {
		const struct vt_pathtransfer *t = vt_hash_at(&places->transfers, i);
		uint32_t nth = 0, into = 0;
		uint32_t from = vt_pathgraph_find(g, t->from, &nth);
		uint32_t to = from == VT_PATHNODE_NONE ? from : vt_pathgraph_find(g, t->to, &into);

		if (to == VT_PATHNODE_NONE || nth + 1 != g->nodes[from].ninsns || into)
			continue;
		add_seen_edge(m, from, to, m->o->counted ? (double)t->count : 0);
	}
}

/* ---- returns ---- */

static int compare_tails(const void *x, const void *y)
{
	const struct tail *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->to > b->to) - (a->to < b->to);
}

/* Whether all is known of where a procedure goes on: its returns and jumps. */
static bool add_returns_of(struct maker *m, uint32_t proc, uint32_t site, uint32_t behind)
{
	const struct vt_pathproc *p = &m->g->procs[proc];
	bool known = p->cfg != NULL;
	uint32_t i;

	for (i = p->first; i < p->first + p->count; i++) {
		const struct vt_pathnode *n = &m->g->nodes[i];

		known = known && !n->incomplete && !n->leaves;
		if (n->flags & VT_FACT_RETURN)
			add_edge(m, i, behind, site, VT_PATHEDGE_NOBIT, VT_PATHEDGE_RETURN, 0);
	}
	return known;
}

/* The returns that may end the call of a procedure: its own, and of what it jumps to. */
static bool add_returns(struct maker *m, uint32_t proc, uint32_t site, uint32_t behind)
{
	struct vt_pathgraph *g = m->g;
	uint32_t todo[MAX_TAILS], n = 0, done = 0;
	bool known = true;
	size_t i;

	m->marks++;
	todo[n++] = proc;
	g->procs[proc].mark = m->marks;
	while (done < n) {
		uint32_t at = todo[done++];

		known &= add_returns_of(m, at, site, behind);
		for (i = vt_array_below(m->tails, m->ntails, sizeof(*m->tails), at);
		     i < m->ntails && m->tails[i].from == at; i++) {
			uint32_t to = m->tails[i].to;

			if (g->procs[to].mark == m->marks)
				continue;
			if (n == MAX_TAILS)
				return false;
			g->procs[to].mark = m->marks;
			todo[n++] = to;
		}
	}
	return known;
}

static struct tail *list_calls(const struct maker *m, size_t *count)
{
	struct tail *list = malloc((m->nedges + 1) * sizeof(*list));
	size_t i, n = 0;

	for (i = 0; list && i < m->nedges; i++) {
		const struct vt_pathedge *e = &m->edges[i];

		if (e->kind == VT_PATHEDGE_CALL)
			list[n++] = (struct tail){e->from, m->g->nodes[e->to].proc};
	}
	if (list)
		qsort(list, n, sizeof(*list), compare_tails);
	*count = n;
	return list;
}

static void add_all_returns(struct maker *m)
{
	struct vt_pathgraph *g = m->g;
	size_t n = 0, i, k;
	struct tail *calls = list_calls(m, &n);

	if (m->tails)
		qsort(m->tails, m->ntails, sizeof(*m->tails), compare_tails);
	for (i = 0; calls && i < g->nnodes; i++) {
		uint32_t site = g->nodes[i].site;
		bool known;

		if (site == VT_PATHNODE_NONE)
			continue;
		k = vt_array_below(calls, n, sizeof(*calls), site);
		known = k < n && calls[k].from == site && g->nodes[site].target;
		for (; k < n && calls[k].from == site; k++)
			if (!k || compare_tails(&calls[k], &calls[k - 1]) != 0)
				known &= add_returns(m, calls[k].to, site, (uint32_t)i);
		g->nodes[i].open |= !known;
	}
	m->failed |= !calls;
	free(calls);
}

/* ---- what is not known ---- */

/* Of a procedure with a jump to unknown targets, each block may be one. */
static void open_procedure(struct maker *m, uint32_t proc)
{
	struct vt_pathgraph *g = m->g;
	const struct vt_pathproc *p = &g->procs[proc];
	bool incomplete = false;
	uint32_t i;

	for (i = p->first; i < p->first + p->count; i++)
		incomplete |= g->nodes[i].incomplete;
	for (i = p->first; i < p->first + p->count; i++) {
		struct vt_pathnode *n = &g->nodes[i];

		n->open |= incomplete && n->site == VT_PATHNODE_NONE;
		if (!g->across && (n->entry || n->site != VT_PATHNODE_NONE))
			add_edge(m, i, i, 0, VT_PATHEDGE_NOBIT, VT_PATHEDGE_STOP, 0);
		else
			n->open |= n->entry;
	}
}

/* ---- the edges to each node ---- */

static int compare_edges(const void *x, const void *y)
{
	const struct vt_pathedge *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	if (a->bit != b->bit)
		return a->bit < b->bit ? -1 : 1;
	return (a->kind > b->kind) - (a->kind < b->kind);
}

/* Adds equal edges to a node up, and moves what is left to the end of the finished ones. */
static void merge_edges(struct vt_pathgraph *g, struct vt_pathnode *n, bool counted)
{
	struct vt_pathedge *e = g->edges + n->first, *end = e + n->count;

	if (n->count > 1)
		qsort(e, n->count, sizeof(*e), compare_edges);
	n->first = (uint32_t)g->nedges;
	while (e < end) {
		struct vt_pathedge one = *e++;

		for (; e < end && compare_edges(e, &one) == 0; e++)
			one.count += e->count;
		if (!counted || one.count > 0)
			g->edges[g->nedges++] = one;
	}
	n->count = (uint32_t)g->nedges - n->first;
}

static bool take_edges(struct maker *m)
{
	struct vt_pathgraph *g = m->g;
	uint32_t first = 0;
	size_t i;

	g->edges = malloc((m->nedges + 1) * sizeof(*g->edges));
	if (!g->edges)
		return false;
	for (i = 0; i < m->nedges; i++)
		g->nodes[m->edges[i].to].count++;
	for (i = 0; i < g->nnodes; i++) {
		g->nodes[i].first = first;
		first += g->nodes[i].count;
		g->nodes[i].count = 0;
	}
	for (i = 0; i < m->nedges; i++) {
		struct vt_pathnode *n = &g->nodes[m->edges[i].to];

		g->edges[n->first + n->count++] = m->edges[i];
	}
	for (i = 0; i < g->nnodes; i++)
		merge_edges(g, &g->nodes[i], m->o->counted);
	g->choices = malloc((g->nedges + 1) * sizeof(*g->choices));
	return g->choices;
}

int vti_pathedges_make(struct vt_pathgraph *g, const struct vt_pathgraph_options *o,
		       struct vt_error *err)
{
	struct maker m = {.g = g, .o = o};
	size_t i;

	for (i = 0; i < g->nprocs; i++)
		add_procedure_edges(&m, (uint32_t)i);
	for (i = 0; i < g->nnodes; i++)
		add_direct_edge(&m, (uint32_t)i);
	add_seen_edges(&m);
	if (g->across && !o->counted)
		add_all_returns(&m);
	for (i = 0; i < g->nprocs && !o->counted; i++)
		open_procedure(&m, (uint32_t)i);
	m.failed = m.failed || !take_edges(&m);
	free(m.tails);
	free(m.edges);
	if (!m.failed)
		vt_pathgraph_weigh(g);
	return m.failed ? vt_error_nomem(err) : 0;
}
