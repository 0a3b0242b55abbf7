/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/chains/internal.h"

struct tree_listing {
	struct vt_callreport *report;
	struct vt_tally whole;
	struct vt_hash shown; /* struct shown_children */
	bool failed;	      /* memory ran out */
};

/* How many children of a node have a row. */
struct shown_children {
	uint64_t parent;
	uint64_t count;
};

/* Whether the node is one of its parent's first children, as many as are to be shown. */
static bool is_among_first(struct tree_listing *l, const struct vt_callnode *n)
{
	const uint64_t parent = n->parent;
	struct shown_children *s;

	if (!l->report->how.list.top)
		return true;
	s = vt_hash_add(&l->shown, &parent, NULL);
	if (!s)
		l->failed = true;
	return s && s->count++ < l->report->how.list.top;
}

static bool enter_node(void *arg, uint32_t node, unsigned depth)
{
	struct tree_listing *l = arg;
	struct vt_callreport *r = l->report;
	const struct vt_callnode *n = vt_calltree_at(vt_callgather_tree(r->gather), node);
	uint64_t limit = r->how.depth;

	if (vti_call_is_small(r, n->total) || (limit && depth >= limit) || !is_among_first(l, n)) {
		r->left_out++;
		return false;
	}
	vt_table_row(r->table, VT_STYLE_PLAIN);
	vti_call_share_cells(r, n->total, l->whole, true);
	vti_call_share_cells(r, n->self, l->whole, false);
	vt_table_number(r->table, depth);
	vti_call_name_cell(r, n->key, "", depth);
	vti_call_name_cell(r, n->key, "", 0);
	vt_table_str(r->table, vti_call_image(r, n->key));
	vti_call_bound_cells(r, n->total, l->whole);
	vti_call_bound_cells(r, n->self, l->whole);
	return true;
}

int vti_fill_tree(struct vt_callreport *r, struct vt_error *err)
{
	struct tree_listing l = {.report = r, .whole = vti_call_whole(r)};
	const struct vt_calltree_visitor v = {enter_node, NULL, &l};
	uint32_t root = vti_call_root(r);

	vt_table_column(r->table, "children", "children", VT_FORMAT_NUMBER);
	vt_table_column(r->table, "children_percent", "%", VT_FORMAT_PERCENT);
	vti_call_sign_column(r);
	vt_table_column(r->table, "self", "self", VT_FORMAT_NUMBER);
	vt_table_column(r->table, "self_percent", "%", VT_FORMAT_PERCENT);
	vt_table_column(r->table, "depth", NULL, VT_FORMAT_NUMBER);
	vt_table_column_max(r->table, NULL, vti_call_word(r), VT_FORMAT_NAME, VTI_NAME_WIDTH);
	vt_table_column(r->table, "procedure", NULL, VT_FORMAT_TEXT);
	vti_call_image_column(r, "image");
	vti_bound_columns(r->table, "children_low", "children_high");
	vti_bound_columns(r->table, "self_low", "self_high");
	vt_hash_init(&l.shown, sizeof(struct shown_children), sizeof(uint64_t));
	if (root != VT_CALL_NONE)
		vt_calltree_walk(vt_callgather_tree(r->gather), root, &v);
	vt_hash_fini(&l.shown);
	return l.failed ? vt_error_nomem(err) : 0;
}
