/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/paths/score.h"

#include <inttypes.h>

#include "base/table.h"
#include "listing/chart.h"
#include "listing/json.h"

static double share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* ---- for people ---- */

static void print_ways(const struct vt_pathscores *s, struct vt_output *out)
{
	uint32_t i;
	int way;

	vt_output_printf(out, "%8s  %9s", "branches", "samples");
	for (way = 0; way < VT_NPATHWAYS; way++)
		vt_output_printf(out, "  %13s", vt_pathway_name((enum vt_pathway)way));
	vt_output_printf(out, "\n");
	for (i = 0; i < s->count; i++) {
		const struct vt_pathscore *p = &s->list[i];

		vt_output_printf(out, "%8" PRIu32 "  %9" PRIu64, s->first + i, p->samples);
		for (way = 0; way < VT_NPATHWAYS; way++)
			vt_output_printf(out, "  %12.2f%%", share(p->ways[way].right, p->samples));
		vt_output_printf(out, "\n");
	}
}

static void print_bins(const struct vt_pathscore *p, struct vt_output *out)
{
	int i;

	vt_output_printf(out, "\nprobability    samples     mean    right\n");
	for (i = 0; i < VT_PATHS_BINS; i++) {
		if (!p->bins[i].samples)
			continue;
		vt_output_printf(out, "  %.1f to %.1f  %9" PRIu64 "  %6.2f%%  %6.2f%%\n",
				 (double)i / VT_PATHS_BINS, (double)(i + 1) / VT_PATHS_BINS,
				 p->bins[i].samples,
				 100 * p->bins[i].sum / (double)p->bins[i].samples,
				 share(p->bins[i].right, p->bins[i].samples));
	}
}

static void print_near(const struct vt_pathscore *p, struct vt_output *out)
{
	if (p->near.samples)
		vt_output_printf(out, " .85 to .95  %9" PRIu64 "  %6.2f%%  %6.2f%%\n",
				 p->near.samples, 100 * p->near.sum / (double)p->near.samples,
				 share(p->near.right, p->near.samples));
}

static void print_rest(const struct vt_pathscore *p, struct vt_output *out)
{
	const struct {
		uint64_t n;
		const char *text;
	} rows[] = {
		{p->ways[VT_PATHWAY_HISTORY].wrong, "only one path by history, and it is wrong"},
		{p->ways[VT_PATHWAY_HISTORY_PAIRS].wrong,
		 "only one path by history+pairs, and it is wrong"},
		{p->ways[VT_PATHWAY_LIKELY_PAIRS].capped,
		 "not all paths looked at, to bound the work"},
		{p->brief, "not scored: the history is shorter"},
		{p->cut, "not scored: the branch stack is shorter"},
		{p->untrue, "not scored: the branch stack is not in the graph"},
		{p->outside, "not scored: in no procedure with code"},
	};
	size_t i;

	vt_output_printf(out, "\n");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		vt_output_printf(out, "%9" PRIu64 "  %s\n", rows[i].n, rows[i].text);
}

/* ---- for programs ---- */

static json_t *make_way(const struct vt_pathscore *p, int way)
{
	json_t *o = json_object();

	json_object_set_new(o, "method", json_string(vt_pathway_name((enum vt_pathway)way)));
	json_object_set_new(o, "right", vt_json_u64(p->ways[way].right));
	json_object_set_new(o, "only", vt_json_u64(p->ways[way].only));
	json_object_set_new(o, "only_wrong", vt_json_u64(p->ways[way].wrong));
	json_object_set_new(o, "capped", vt_json_u64(p->ways[way].capped));
	return o;
}

static json_t *make_bin(const struct vt_pathscore *p, int i)
{
	json_t *o = json_object();

	json_object_set_new(o, "from", vt_json_real((double)i / VT_PATHS_BINS));
	json_object_set_new(o, "samples", vt_json_u64(p->bins[i].samples));
	json_object_set_new(o, "right", vt_json_u64(p->bins[i].right));
	json_object_set_new(
		o, "probability",
		vt_json_real(p->bins[i].samples ? p->bins[i].sum / (double)p->bins[i].samples : 0));
	return o;
}

static json_t *make_score(const struct vt_pathscore *p, uint32_t branches)
{
	json_t *o = json_object(), *ways = json_array(), *bins = json_array();
	int i;

	for (i = 0; i < VT_NPATHWAYS; i++)
		json_array_append_new(ways, make_way(p, i));
	for (i = 0; i < VT_PATHS_BINS; i++)
		json_array_append_new(bins, make_bin(p, i));
	json_object_set_new(o, "branches", json_integer(branches));
	json_object_set_new(o, "samples", vt_json_u64(p->samples));
	json_object_set_new(o, "brief", vt_json_u64(p->brief));
	json_object_set_new(o, "cut", vt_json_u64(p->cut));
	json_object_set_new(o, "untrue", vt_json_u64(p->untrue));
	json_object_set_new(o, "outside", vt_json_u64(p->outside));
	json_object_set_new(o, "methods", ways);
	json_object_set_new(o, "probabilities", bins);
	return o;
}

void vt_pathsamples_json(json_t *doc, const struct vt_pathsamples *s)
{
	json_object_set_new(doc, "samples", vt_json_u64(s->samples));
	json_object_set_new(doc, "wrong_path", vt_json_u64(s->aborted));
	json_object_set_new(doc, "untold", vt_json_u64(s->untold));
	json_object_set_new(doc, "dropped", vt_json_u64(s->dropped));
}

int vt_pathscores_print(const struct vt_pathscores *s, const struct vt_losses *losses,
			struct vt_output *out, struct vt_error *err)
{
	json_t *doc, *list;
	uint32_t i;

	if (!losses) {
		vt_output_printf(out, "paths %s, found right:\n\n",
				 s->across ? "across calls" : "within procedures");
		print_ways(s, out);
		print_bins(&s->list[s->count - 1], out);
		print_near(&s->list[s->count - 1], out);
		print_rest(&s->list[s->count - 1], out);
		return 0;
	}
	doc = vt_json_doc("vpath-truth/1");
	list = json_array();
	if (!doc || !list) {
		json_decref(doc);
		json_decref(list);
		return vt_error_nomem(err);
	}
	json_object_set_new(doc, "across_calls", json_boolean(s->across));
	for (i = 0; i < s->count; i++)
		json_array_append_new(list, make_score(&s->list[i], s->first + i));
	vt_pathsamples_json(doc, s->samples);
	json_object_set_new(doc, "unmapped", vt_json_u64(s->samples->unmapped));
	json_object_set_new(doc, "scores", list);
	vt_json_losses(doc, losses);
	vt_json_write(out, doc, true);
	return 0;
}

/* ---- a chart ---- */

int vt_pathscores_draw(const struct vt_pathscores *s, const char *path, struct vt_error *err)
{
	double x[VT_PATHWALK_BRANCHES], y[VT_NPATHWAYS][VT_PATHWALK_BRANCHES];
	struct vt_chart_series series[VT_NPATHWAYS];
	const struct vt_chart c = {.title = s->across ? "Paths found, across calls"
						      : "Paths found, within procedures",
				   .x_label = "conditional branches",
				   .y_label = "right (%)",
				   .x_max = s->first + s->count - 1,
				   .y_max = 100,
				   .series = series,
				   .nseries = VT_NPATHWAYS};
	struct vt_output out;
	uint32_t i;
	int way;

	for (way = 0; way < VT_NPATHWAYS; way++) {
		for (i = 0; i < s->count && i < VT_PATHWALK_BRANCHES; i++) {
			x[i] = s->first + i;
			y[way][i] = share(s->list[i].ways[way].right, s->list[i].samples);
		}
		series[way] = (struct vt_chart_series){vt_pathway_name((enum vt_pathway)way), x,
						       y[way], i};
	}
	if (vt_output_open(&out, path, err) < 0)
		return -(int)err->code;
	vt_chart_write(&c, &out);
	return vt_output_close(&out, err);
}
