/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "listing/chains/internal.h"

/* An edge of a procedure, seen from there. */
struct sorted_edge {
	uint64_t procedure;
	uint64_t weight;
	uint64_t order;
	uint32_t other; /* VT_CALL_NONE: a caller that there is not, or the procedure itself */
	struct vt_tally total;
};

static int compare_edges(const void *pa, const void *pb)
{
	const struct sorted_edge *a = pa, *b = pb;

	if (a->procedure != b->procedure)
		return a->procedure < b->procedure ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static struct sorted_edge make_edge(const struct vt_callreport *r, uint32_t procedure,
				    uint32_t other, struct vt_tally total)
{
	bool named = other != VT_CALL_NONE && other != VT_CALL_CUT;

	return (struct sorted_edge){procedure, vti_weigh(total, r->how.list.by_period),
				    named ? vt_callgather_order(r->gather)[other] : other, other,
				    total};
}

/*
 * All edges, those of a procedure together.  Among what a procedure called is the time in itself.
 */
static struct sorted_edge *sort_edges(const struct vt_callreport *r, size_t *count)
{
	const struct vt_hash *edges = &r->sums.edges, *procedures = &r->sums.procedures;
	bool callees = r->how.view == VT_CALLVIEW_CALLEES;
	struct sorted_edge *list = calloc(edges->count + procedures->count + 1, sizeof(*list));
	size_t i, n = 0;

	for (i = 0; i < edges->count && list; i++) {
		const struct vt_calledge *e = vt_hash_at(edges, i);

		if (!callees)
			list[n++] = make_edge(r, e->callee, e->caller, e->total);
		else if (e->caller != VT_CALL_NONE)
			list[n++] = make_edge(r, e->caller, e->callee, e->total);
	}
	for (i = 0; i < procedures->count && list && callees; i++) {
		const struct vt_callsum *s = vt_hash_at(procedures, i);

		if (s->self.samples)
			list[n++] = make_edge(r, (uint32_t)s->key, VT_CALL_NONE, s->self);
	}
	if (list)
		qsort(list, n, sizeof(*list), compare_edges);
	*count = n;
	return list;
}

static size_t find_first(const struct sorted_edge *list, size_t n, uint64_t procedure)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (list[middle].procedure < procedure)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add_columns(struct vt_callreport *r)
{
	char heading[32];
	bool callees = r->how.view == VT_CALLVIEW_CALLEES;
	struct vt_table *t = r->table;

	vt_table_column(t, "samples", "samples", VT_FORMAT_NUMBER);
	vt_table_column(t, "percent", "%", VT_FORMAT_PERCENT);
	vti_call_sign_column(r);
	vt_table_column(t, "share", "of", VT_FORMAT_PERCENT);
	snprintf(heading, sizeof(heading), "%s, %s", vti_call_word(r),
		 callees ? "callees" : "callers");
	vt_table_column_max(t, NULL, heading, VT_FORMAT_NAME, VTI_NAME_WIDTH);
	vti_call_image_column(r, NULL);
	vt_table_column(t, "procedure", NULL, VT_FORMAT_TEXT);
	vt_table_column(t, "image", NULL, VT_FORMAT_TEXT);
	vt_table_column(t, callees ? "callee" : "caller", NULL, VT_FORMAT_TEXT);
	vt_table_column(t, callees ? "callee_image" : "caller_image", NULL, VT_FORMAT_TEXT);
	vti_bound_columns(t, "low", "high");
}

/* A procedure's own row. */
static void add_procedure_row(struct vt_callreport *r, const struct vt_callsum *s)
{
	uint32_t key = (uint32_t)s->key;

	vt_table_row(r->table, VT_STYLE_HEADING);
	vti_call_share_cells(r, s->total, vti_call_whole(r), true);
	vt_table_empty(r->table);
	vti_call_name_cell(r, key, "", 0);
	vt_table_str(r->table, vti_call_image(r, key));
	vti_call_name_cell(r, key, "", 0);
	vt_table_str(r->table, vti_call_image(r, key));
	vt_table_empty(r->table);
	vt_table_empty(r->table);
	vti_call_bound_cells(r, s->total, vti_call_whole(r));
}

static void add_edge_row(struct vt_callreport *r, const struct vt_callsum *s,
			 const struct sorted_edge *e)
{
	const char *none = r->how.view == VT_CALLVIEW_CALLEES ? "[self]" : "[no caller]";
	bool by_period = r->how.list.by_period;
	uint32_t key = (uint32_t)s->key;

	vt_table_row(r->table, VT_STYLE_PLAIN);
	vti_call_share_cells(r, e->total, vti_call_whole(r), true);
	vt_table_percent(r->table, e->weight, vti_weigh(s->total, by_period));
	vti_call_name_cell(r, e->other, none, 1);
	vt_table_str(r->table, vti_call_image(r, e->other));
	vti_call_name_cell(r, key, "", 0);
	vt_table_str(r->table, vti_call_image(r, key));
	vti_call_name_cell(r, e->other, none, 0);
	vt_table_str(r->table, vti_call_image(r, e->other));
	vti_call_bound_cells(r, e->total, vti_call_whole(r));
}

int vti_fill_edges(struct vt_callreport *r, struct vt_error *err)
{
	const struct vt_callsum **list;
	size_t i, at, n, nedges;
	struct sorted_edge *edges = sort_edges(r, &nedges);

	if (!edges)
		return vt_error_nomem(err);
	list = vti_sort_procedures(r, &n, err);
	if (!list) {
		free(edges);
		return -(int)err->code;
	}
	add_columns(r);
	for (i = 0; i < n; i++) {
		add_procedure_row(r, list[i]);
		at = find_first(edges, nedges, list[i]->key);
		for (; at < nedges && edges[at].procedure == list[i]->key; at++) {
			if (vti_call_is_small(r, edges[at].total))
				r->left_out++;
			else
				add_edge_row(r, list[i], &edges[at]);
		}
	}
	free(list);
	free(edges);
	return 0;
}
