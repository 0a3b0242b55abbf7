/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/chains/chains.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buf.h"
#include "listing/chains/internal.h"
#include "listing/json.h"
#include "listing/profile/json.h"

static const struct {
	const char *schema;
	const char *legend;
} views[VT_NCALLVIEWS] = {
	[VT_CALLVIEW_CHILDREN] = {"vprof-children/1",
				  "children: samples in a procedure or in what it called; self: in "
				  "it alone."},
	[VT_CALLVIEW_CALLERS] = {"vprof-callers/1",
				 "Below each procedure, its callers: samples that each was "
				 "responsible for;\nof: their share of the procedure's."},
	[VT_CALLVIEW_CALLEES] = {"vprof-callees/1",
				 "Below each procedure, what it called: samples there and "
				 "below;\nof: their share of the procedure's."},
	[VT_CALLVIEW_TREE] = {"vprof-tree/1",
			      "children: samples in a chain of calls and below; self: at its end."},
};

static const struct vt_profile_event *get_event(const struct vt_callreport *r)
{
	return vt_profile_event(r->profile->profile, r->profile->events->index[0]);
}

struct vt_tally vti_call_whole(const struct vt_callreport *r)
{
	uint32_t root = vti_call_root(r);

	if (root == VT_CALL_NONE)
		return (struct vt_tally){0};
	return vt_calltree_at(vt_callgather_tree(r->gather), root)->total;
}

uint32_t vti_call_root(const struct vt_callreport *r)
{
	return r->profile->events->count ? vt_callgather_root(r->gather, get_event(r))
					 : VT_CALL_NONE;
}

bool vti_call_is_small(const struct vt_callreport *r, struct vt_tally part)
{
	bool by_period = r->how.list.by_period;

	return 100.0 * (double)vti_weigh(part, by_period) <
	       r->how.list.min_percent * (double)vti_weigh(vti_call_whole(r), by_period);
}

void vti_call_label(const struct vt_callreport *r, uint32_t key, const char *none,
		    struct vt_buf *out)
{
	const struct vt_ranking *rows = vt_callgather_rows(r->gather);
	const struct vt_rank *rank;

	if (key == VT_CALL_NONE || key == VT_CALL_CUT) {
		vt_buf_printf(out, "%s", key == VT_CALL_NONE ? none : "[call tree is full]");
		return;
	}
	rank = vt_ranking_at(rows, key);
	if (vt_ranking_level(rows) == VT_LEVEL_IMAGE && rank->image != VT_UNMAPPED_IMAGE)
		vt_buf_printf(out, "%s", rank->path);
	else
		vt_rank_label(rank, vt_ranking_level(rows), out);
}

const char *vti_call_image(const struct vt_callreport *r, uint32_t key)
{
	if (key == VT_CALL_NONE || key == VT_CALL_CUT)
		return "";
	return vt_ranking_at(vt_callgather_rows(r->gather), key)->path;
}

static bool has_intervals(const struct vt_callreport *r)
{
	const struct vt_tally none = {0};

	return r->profile->events->count && vt_share_of_event(get_event(r), none, false).known;
}

struct vt_share vti_call_share(const struct vt_callreport *r, struct vt_tally part,
			       struct vt_tally whole)
{
	if (!has_intervals(r))
		return (struct vt_share){.known = false};
	return vt_share_of(part, whole, r->how.list.by_period);
}

void vti_call_sign_column(struct vt_callreport *r)
{
	if (has_intervals(r))
		vti_sign_column(r->table);
}

void vti_call_share_cells(struct vt_callreport *r, struct vt_tally part, struct vt_tally whole,
			  bool shown)
{
	const struct vt_share share = vti_call_share(r, part, whole);
	bool by_period = r->how.list.by_period;
	uint64_t p = vti_weigh(part, by_period), w = vti_weigh(whole, by_period);

	vt_table_number(r->table, part.samples);
	vt_table_percent(r->table, p, w);
	vt_table_cell_style(r->table, p ? vt_heat(p, w) : VT_STYLE_FAINT);
	if (shown && has_intervals(r))
		vti_sign_cell(r->table, &share);
}

const char *vti_call_word(const struct vt_callreport *r)
{
	enum vt_level level = vt_ranking_level(vt_callgather_rows(r->gather));

	return vt_level_words[level == VT_LEVEL_INLINED ? VT_LEVEL_PROCEDURE : level];
}

void vti_call_image_column(struct vt_callreport *r, const char *key)
{
	bool images = vt_ranking_level(vt_callgather_rows(r->gather)) == VT_LEVEL_IMAGE;

	vt_table_column(r->table, key, images ? NULL : "image", VT_FORMAT_PATH);
}

void vti_call_bound_cells(struct vt_callreport *r, struct vt_tally part, struct vt_tally whole)
{
	const struct vt_share share = vti_call_share(r, part, whole);

	vti_bound_cells(r->table, &share);
}

void vti_call_name_cell(struct vt_callreport *r, uint32_t key, const char *none, unsigned depth)
{
	struct vt_buf b = VT_BUF_INIT;

	/* Deeper levels than any terminal is wide are told by the column of depths. */
	vt_buf_printf(&b, "%*s", depth < 100 ? 2 * (int)depth : 200, "");
	vti_call_label(r, key, none, &b);
	vt_table_text(r->table, vt_buf_str(&b), b.size);
	vt_buf_free(&b);
}

int vt_callreport_fill(struct vt_callreport *r, struct vt_error *err)
{
	r->left_out = 0;
	r->table = vt_table_new();
	if (vt_callsums_init(&r->sums, vt_callgather_tree(r->gather), vti_call_root(r), err) < 0)
		return -VT_E_NOMEM;
	if (!r->table)
		return vt_error_nomem(err);
	if (r->how.view == VT_CALLVIEW_CHILDREN)
		return vti_fill_children(r, err);
	if (r->how.view == VT_CALLVIEW_TREE)
		return vti_fill_tree(r, err);
	return vti_fill_edges(r, err);
}

void vt_callreport_fini(struct vt_callreport *r)
{
	vt_table_free(r->table);
	vt_callsums_fini(&r->sums);
}

/* ---- the whole report ---- */

static struct vt_callcounts get_counts(const struct vt_callreport *r)
{
	if (!r->profile->events->count)
		return (struct vt_callcounts){0};
	return vt_callgather_counts(r->gather, get_event(r));
}

json_t *vt_callreport_json(const struct vt_callreport *r)
{
	const struct vt_proflist_side *side = r->profile;
	enum vt_level level = vt_ranking_level(vt_callgather_rows(r->gather));
	struct vt_callcounts n = get_counts(r);
	json_t *doc = vt_json_doc(views[r->how.view].schema);

	vt_json_profile(doc, side->profile, side->events, side->ranking);
	json_object_set_new(doc, "chains", vt_json_u64(n.chains));
	json_object_set_new(doc, "unwound_chains", vt_json_u64(n.unwound));
	json_object_set_new(doc, "damaged_chains", vt_json_u64(n.damaged));
	json_object_set_new(doc, "cut_chains", vt_json_u64(n.cut));
	json_object_set_new(doc, "shortened_chains", vt_json_u64(n.shortened));
	json_object_set_new(doc, "by", json_string(vt_level_words[level]));
	json_object_set_new(doc, "rows", vt_json_table(r->table));
	json_object_set_new(doc, "rows_left_out", vt_json_u64(r->left_out));
	return doc;
}

static void print_header(const struct vt_callreport *r, struct vt_output *out)
{
	const struct vt_proflist_side *side = r->profile;
	struct vt_callcounts n = get_counts(r);

	vt_proflist_header(side->profile, side->ranking, side->events, out);
	vt_output_printf(out, "%s with a call chain: %" PRIu64,
			 get_event(r)->kind == VT_PROFILE_EXECUTED ? "Instructions" : "Samples",
			 n.chains);
	if (n.unwound)
		vt_output_printf(out, ", unwound %" PRIu64, n.unwound);
	if (n.damaged)
		vt_output_printf(out, ", damaged %" PRIu64, n.damaged);
	if (n.cut)
		vt_output_printf(out, ", cut %" PRIu64, n.cut);
	if (n.shortened)
		vt_output_printf(
			out,
			", shortened %" PRIu64
			"\nThe callers of shortened chains lie beyond the copied part of the "
			"stack: record more of it,\nsuch as with vtrace record --call-graph "
			"dwarf,16384 (at most 65528).",
			n.shortened);
	vt_output_printf(out, "\n\n%s\n", views[r->how.view].legend);
	if (r->how.list.by_period)
		vt_output_text(out, "The percentages weigh each sample by its period.\n");
	if (vti_call_share(r, vti_call_whole(r), vti_call_whole(r)).known)
		vt_proflist_sign(out);
	vt_output_text(out, "============================================================="
			    "===================\n");
}

int vt_callreport_print(const struct vt_callreport *r, enum vt_table_form form, bool color,
			struct vt_output *out, struct vt_error *err)
{
	int code;

	if (form == VT_TABLE_TEXT)
		print_header(r, out);
	code = vt_table_print(r->table, out, form, color, err);
	if (code == 0 && form == VT_TABLE_TEXT)
		vt_table_print_left_out(out, r->left_out);
	return code;
}
