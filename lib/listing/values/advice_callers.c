/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/hash.h"
#include "listing/values/advice.h"
#include "listing/values/advice_internal.h"
#include "profile/value_text.h"

/* The least share of the calls that a listed caller has. */
#define MIN_CALLS 0.01

/* No padding: the key of a table. */
struct call_edge_key {
	uint64_t entry; /* offset of the procedure */
	uint64_t from;	/* offset of the return address */
	uint32_t image;
	uint32_t from_image;
};

/* A procedure and one of the places that it was called from. */
struct call_edge {
	struct call_edge_key key;
	double calls;
	double share; /* of the calls of the procedure */
	double score;
	double time; /* of the procedure */
	size_t procedure;
	size_t order;
	size_t row; /* index of its first invariant argument, plus 1; 0: it has none */
};

/* The arguments of an edge form a chain. */
struct edge_argument {
	const struct vt_spec_row *row;
	size_t next; /* index plus 1; 0 at the end */
};

struct callers {
	const struct vt_spec_view *view;
	struct vt_hash edges;
	struct edge_argument *arguments;
	size_t narguments;
};

static struct call_edge *get_call_edge(struct callers *c, const struct vt_hot *h,
				       uint32_t from_image, uint64_t from)
{
	struct call_edge_key key = {h->key.offset, from, vt_spec_image(c->view->spec, h->key.image),
				    from_image};

	return vt_hash_add(&c->edges, &key, NULL);
}

/* Adds the callers in a list of return addresses. */
static int add_return_edges(struct callers *c, const struct vt_hot *h, struct vt_error *err)
{
	uint32_t i;

	for (i = 0; i < h->nvalues; i++) {
		uint32_t image;
		uint64_t offset;
		struct call_edge *e;

		if (!vt_context_find(vt_profile_context(c->view->profile), h->values[i], &image,
				     &offset))
			continue;
		e = get_call_edge(c, h, image, offset);
		if (!e)
			return vt_error_nomem(err);
		e->calls += vt_hot_estimate(h, i);
	}
	return 0;
}

/* Adds the caller of a list of arguments that is kept by caller. */
static int add_context_edge(struct callers *c, const struct vt_hot *h, struct vt_error *err)
{
	struct call_edge *e = get_call_edge(c, h, vt_spec_image(c->view->spec, h->key.caller_image),
					    h->key.caller);

	if (!e)
		return vt_error_nomem(err);
	if ((double)h->total > e->calls)
		e->calls = (double)h->total;
	return 0;
}

static int gather_call_edges(struct callers *c, struct vt_error *err)
{
	size_t i, n = vt_hotprofile_count(c->view->hot);
	int code = 0;

	for (i = 0; i < n && code == 0; i++) {
		const struct vt_hot *h = vt_hotprofile_at(c->view->hot, i);

		if (h->key.what == VT_WHAT_RETURN && h->key.image != VT_HOT_NO_IMAGE)
			code = add_return_edges(c, h, err);
	}
	for (i = 0; i < n && code == 0; i++) {
		const struct vt_hot *h = vt_hotprofile_at(c->view->hot, i);

		if (h->key.what == VT_WHAT_ARG && h->key.caller &&
		    h->key.image != VT_HOT_NO_IMAGE && !vt_spec_is_at_call(c->view->spec, h))
			code = add_context_edge(c, h, err);
	}
	return code;
}

/* Inserts an argument into the chain of its edge, which is ordered by number. */
static void chain_argument(struct callers *c, struct call_edge *e, const struct vt_spec_row *row)
{
	size_t *at = &e->row;

	while (*at && vt_argument_number(c->arguments[*at - 1].row->value.hot->key.reg) <=
			      vt_argument_number(row->value.hot->key.reg))
		at = &c->arguments[*at - 1].next;
	c->arguments[c->narguments] = (struct edge_argument){row, *at};
	*at = ++c->narguments;
}

static int attach_arguments(struct callers *c, struct vt_error *err)
{
	size_t i, n = vt_spec_nrows(c->view->spec);

	c->arguments = calloc(n + 1, sizeof(*c->arguments));
	if (!c->arguments)
		return vt_error_nomem(err);
	for (i = 0; i < n; i++) {
		const struct vt_spec_row *r = vt_spec_row(c->view->spec, i);
		const struct vt_hot *h = r->value.hot;
		struct call_edge *e;

		if (h->key.what != VT_WHAT_ARG || !h->key.caller || r->value.at_call)
			continue;
		e = get_call_edge(c, h, vt_spec_image(c->view->spec, h->key.caller_image),
				  h->key.caller);
		if (!e)
			return vt_error_nomem(err);
		chain_argument(c, e, r);
		if (r->verdict.low > e->score)
			e->score = r->verdict.low;
	}
	return 0;
}

/* Computes the edges' procedures, shares of the calls, and scores. */
static int weigh_call_edges(struct callers *c, struct vt_error *err)
{
	const struct vt_spec *spec = c->view->spec;
	size_t nprocedures = vt_spec_nprocedures(spec), i;
	double *calls = calloc(nprocedures + 1, sizeof(*calls));

	if (!calls)
		return vt_error_nomem(err);
	for (i = 0; i < c->edges.count; i++) {
		struct call_edge *e = vt_hash_at(&c->edges, i);

		e->order = i;
		e->procedure = vt_spec_find(spec, e->key.image, e->key.entry);
		if (e->procedure < nprocedures)
			calls[e->procedure] += e->calls;
	}
	for (i = 0; i < c->edges.count; i++) {
		struct call_edge *e = vt_hash_at(&c->edges, i);

		if (e->procedure >= nprocedures || calls[e->procedure] <= 0)
			continue;
		e->time = vt_spec_procedure(spec, e->procedure)->time;
		e->share = e->calls / calls[e->procedure];
		e->score *= e->share * e->time;
	}
	free(calls);
	return 0;
}

static int compare_call_edges(const void *a, const void *b)
{
	const struct call_edge *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	if (x->time * x->share != y->time * y->share)
		return x->time * x->share > y->time * y->share ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void add_caller_columns(struct vt_table *t)
{
	vt_table_column(t, "time", "time", VT_FORMAT_PERCENT);
	vt_table_column(t, "calls.percent", "of calls", VT_FORMAT_PERCENT);
	vt_table_column(t, "calls", "calls", VT_FORMAT_NUMBER);
	vt_table_column(t, "score", NULL, VT_FORMAT_PERCENT);
	vti_speclist_place_columns(t, "procedure", "procedure");
	vti_speclist_place_columns(t, "caller", "returns to");
	vt_table_column(t, "arguments", "for this caller", VT_FORMAT_TEXT);
}

static void add_caller_row(struct vt_table *t, const struct callers *c, const struct call_edge *e)
{
	struct vt_buf text = VT_BUF_INIT;
	size_t i;

	vt_table_row(t, VT_STYLE_PLAIN);
	vti_speclist_time(t, e->time);
	vti_speclist_share(t, e->share);
	vt_table_number(t, (uint64_t)(e->calls + 0.5));
	vt_table_real(t, e->score * 100);
	vti_speclist_place(t, c->view, e->key.image, e->key.entry, 0);
	vti_speclist_place(t, c->view, e->key.from_image, e->key.from, 1);
	for (i = e->row; i; i = c->arguments[i - 1].next) {
		const struct vt_spec_row *r = c->arguments[i - 1].row;
		struct vt_buf value = VT_BUF_INIT;

		vti_speclist_value(&value, c->view, &r->value);
		if (text.size)
			vt_buf_printf(&text, "; ");
		vt_spec_fact(&r->value, &r->verdict, vt_buf_str(&value), &text);
		vt_buf_free(&value);
	}
	vt_table_text(t, text.data, text.size);
	vt_buf_free(&text);
}

static bool is_edge_listed(const struct callers *c, const struct call_edge *e)
{
	return e->time >= c->view->opt.min_time && e->time > 0 && e->share >= MIN_CALLS;
}

static int64_t list_call_edges(struct vt_table *t, struct callers *c,
			       const struct vt_speclist_options *opt, struct vt_error *err)
{
	struct call_edge *sorted = calloc(c->edges.count + 1, sizeof(*sorted));
	size_t i, n = 0;

	if (!sorted)
		return vt_error_nomem(err);
	for (i = 0; i < c->edges.count; i++) {
		const struct call_edge *e = vt_hash_at(&c->edges, i);

		if (is_edge_listed(c, e))
			sorted[n++] = *e;
	}
	qsort(sorted, n, sizeof(*sorted), compare_call_edges);
	add_caller_columns(t);
	for (i = 0; i < n && (!opt->top || i < opt->top); i++)
		add_caller_row(t, c, &sorted[i]);
	free(sorted);
	return (int64_t)(n - i);
}

int64_t vt_speclist_callers(struct vt_table *t, const struct vt_spec_view *view,
			    const struct vt_speclist_options *opt, struct vt_error *err)
{
	struct callers c = {.view = view};
	int64_t left_out;

	vt_hash_init(&c.edges, sizeof(struct call_edge), sizeof(struct call_edge_key));
	left_out = gather_call_edges(&c, err);
	if (left_out == 0)
		left_out = attach_arguments(&c, err);
	if (left_out == 0)
		left_out = weigh_call_edges(&c, err);
	if (left_out == 0)
		left_out = list_call_edges(t, &c, opt, err);
	vt_hash_fini(&c.edges);
	free(c.arguments);
	return left_out;
}
