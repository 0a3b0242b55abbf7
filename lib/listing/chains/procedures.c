/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>

#include "base/buf.h"
#include "base/pattern.h"
#include "listing/chains/internal.h"

/* ---- which procedures, in which order ---- */

struct sorted_sum {
	const struct vt_callsum *sum;
	uint64_t total;
	uint64_t self;
	uint64_t order;
};

static int compare_sums(const void *pa, const void *pb)
{
	const struct sorted_sum *a = pa, *b = pb;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static bool matches_pattern(const struct vt_callreport *r, uint32_t key)
{
	struct vt_buf label = VT_BUF_INIT;
	bool ok;

	if (!r->how.pattern)
		return true;
	vti_call_label(r, key, "", &label);
	ok = vt_pattern_names(r->how.pattern, vt_buf_str(&label));
	vt_buf_free(&label);
	if (!ok && key != VT_CALL_CUT) {
		const struct vt_rank *k = vt_ranking_at(vt_callgather_rows(r->gather), key);

		ok = vt_pattern_matches(r->how.pattern, k->symbol) ||
		     (k->inlined && vt_pattern_names(r->how.pattern, k->procedure));
	}
	return ok;
}

/* Takes those to be listed to the front of an array; returns their number. */
static size_t keep_listed(struct vt_callreport *r, const struct sorted_sum *sorted, size_t n,
			  const struct vt_callsum **list)
{
	size_t i, kept = 0;

	for (i = 0; i < n; i++) {
		if ((r->how.list.top && kept == r->how.list.top) ||
		    vti_call_is_small(r, sorted[i].sum->total))
			r->left_out++;
		else
			list[kept++] = sorted[i].sum;
	}
	return kept;
}

const struct vt_callsum **vti_sort_procedures(struct vt_callreport *r, size_t *count,
					      struct vt_error *err)
{
	size_t i, n = 0, all = r->sums.procedures.count;
	struct sorted_sum *sorted = calloc(all + 1, sizeof(*sorted));
	const struct vt_callsum **list = calloc(all + 1, sizeof(struct vt_callsum *));
	const uint32_t *order = vt_callgather_order(r->gather);
	bool by_period = r->how.list.by_period;

	if (!sorted || !list) {
		free(sorted);
		free(list);
		vt_error_nomem(err);
		return NULL;
	}
	for (i = 0; i < all; i++) {
		const struct vt_callsum *s = vt_hash_at(&r->sums.procedures, i);

		if (matches_pattern(r, (uint32_t)s->key))
			sorted[n++] = (struct sorted_sum){
				s, vti_weigh(s->total, by_period), vti_weigh(s->self, by_period),
				s->key == VT_CALL_CUT ? VT_CALL_CUT : order[s->key]};
	}
	if (!n && r->how.pattern) {
		free(sorted);
		free(list);
		vt_error_set(err, VT_E_NOTFOUND, "%s: no such procedure in the call chains",
			     r->how.pattern);
		return NULL;
	}
	qsort(sorted, n, sizeof(*sorted), compare_sums);
	*count = keep_listed(r, sorted, n, list);
	free(sorted);
	return list;
}

/* ---- procedures with and without their callees ---- */

int vti_fill_children(struct vt_callreport *r, struct vt_error *err)
{
	const struct vt_ranking *rows = vt_callgather_rows(r->gather);
	struct vt_tally whole = vti_call_whole(r);
	const struct vt_callsum **list;
	size_t i, n;

	list = vti_sort_procedures(r, &n, err);
	if (!list)
		return -(int)err->code;
	vt_table_column(r->table, "children", "children", VT_FORMAT_NUMBER);
	vt_table_column(r->table, "children_percent", "%", VT_FORMAT_PERCENT);
	vti_call_sign_column(r);
	vt_table_column(r->table, "self", "self", VT_FORMAT_NUMBER);
	vt_table_column(r->table, "self_percent", "%", VT_FORMAT_PERCENT);
	vt_table_column_max(r->table, "procedure", vti_call_word(r), VT_FORMAT_NAME,
			    VTI_NAME_WIDTH);
	vti_call_image_column(r, "image");
	vt_table_column(r->table, "symbol", NULL, VT_FORMAT_TEXT);
	vti_bound_columns(r->table, "children_low", "children_high");
	vti_bound_columns(r->table, "self_low", "self_high");
	for (i = 0; i < n; i++) {
		uint32_t key = (uint32_t)list[i]->key;

		vt_table_row(r->table, VT_STYLE_PLAIN);
		vti_call_share_cells(r, list[i]->total, whole, true);
		vti_call_share_cells(r, list[i]->self, whole, false);
		vti_call_name_cell(r, key, "", 0);
		vt_table_str(r->table, vti_call_image(r, key));
		vt_table_str(r->table, key == VT_CALL_CUT ? "" : vt_ranking_at(rows, key)->symbol);
		vti_call_bound_cells(r, list[i]->total, whole);
		vti_call_bound_cells(r, list[i]->self, whole);
	}
	free(list);
	return 0;
}
