/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cmd/common/truth.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/counts.h"
#include "cmd/common/profiles.h"
#include "cmd/common/stream.h"
#include "freq/compare.h"
#include "listing/json.h"
#include "stream/kinds.h"

/* The stream with estimates. */
struct estimate {
	struct app_warnings warnings;
	char *cache;
	struct vt_images *images;
	struct vt_context *context;
	struct vt_profile *profile;
	struct vt_freqprofile *freqs;
	uint64_t nfreqs;
	bool assumed; /* the clock */
};

static bool is_text(struct vt_bytes b, const char *text)
{
	return b.size == strlen(text) && memcmp(b.data, text, b.size) == 0;
}

static int note_freqs(void *arg, const struct vt_block *block, uint32_t first, uint32_t count,
		      struct vt_error *err)
{
	struct vt_record rec = {block, block->kind, first};
	struct estimate *e = arg;

	(void)err;
	if (rec.kind == VT_FREQ)
		e->nfreqs += count;
	for (; rec.kind == VT_META && rec.row - first < count; rec.row++)
		if (is_text(vt_record_bytes(&rec, VT_META_KEY), "vfreq.clock"))
			e->assumed = is_text(vt_record_bytes(&rec, VT_META_VALUE), "assumed");
	return 0;
}

static bool read_estimate(struct app *a, struct estimate *e, const struct app_truth *o)
{
	struct vt_error err = VT_ERROR_INIT;
	struct vt_reader *r;
	bool ok;

	e->images = app_images_open(a, &e->warnings, &e->cache, o->symfs);
	if (!e->images)
		return false;
	e->context = vt_context_new(e->images);
	e->profile = e->context ? vt_profile_new(e->context) : NULL;
	e->freqs = vt_freqprofile_new();
	if (!e->profile || !e->freqs)
		return app_no_memory(a);
	vt_context_add(e->context,
		       &(struct vt_consumer){.take = vt_profile_feed,
					     .arg = e->profile,
					     .kinds = ~(VT_KIND(VT_EXEC) | VT_KIND(VT_BLOCK))});
	vt_context_add(e->context,
		       &(struct vt_consumer){.take = vt_freqprofile_feed, .arg = e->freqs});
	vt_context_add(e->context, &(struct vt_consumer){.take = note_freqs, .arg = e});
	r = app_open_reader(a, o->estimate);
	ok = r && app_each_run(a, r, vt_context_feed, e->context);
	if (ok && vt_freqprofile_finish(e->freqs, &err) < 0)
		ok = app_fail(a, &err);
	if (ok && !e->nfreqs)
		ok = app_lacks(a, vt_reader_name(r), APP_NO_FREQS);
	vt_reader_close(r);
	return ok;
}

static void estimate_end(struct estimate *e)
{
	vt_profile_free(e->profile);
	vt_freqprofile_free(e->freqs);
	vt_context_free(e->context);
	app_images_close(e->images, &e->warnings, e->cache);
}

/* ---- printing ---- */

static const char *const limits[] = {"5", "10", "15"};

static double percent(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

static json_t *json_within(const struct vt_freqcompare_part *p)
{
	json_t *v = json_object();
	size_t i;

	for (i = 0; i < 3; i++)
		json_object_set_new(v, limits[i], json_real(percent(p->within[i], p->weight)));
	return v;
}

static json_t *json_buckets(const struct vt_freqcompare_part *p)
{
	json_t *v = json_array();
	size_t i;

	for (i = 0; i < VT_FREQCOMPARE_BUCKETS; i++)
		json_array_append_new(v, json_real(percent(p->buckets[i], p->weight)));
	return v;
}

/* Shares of everything by confidence, and how much of each is off by more than 15 %. */
static json_t *json_confidences(const struct vt_freqcompare_part *parts, double all)
{
	json_t *v = json_object();
	size_t i;

	for (i = VT_CONFIDENCE_LOW; i < VT_NCONFIDENCES; i++) {
		const struct vt_freqcompare_part *p = &parts[i];
		json_t *one = json_object();

		json_object_set_new(one, "share", json_real(percent(p->weight, all)));
		json_object_set_new(one, "within", json_within(p));
		json_object_set_new(one, "missed",
				    json_real(percent(p->weight - p->within[2], all)));
		json_object_set_new(v, vt_confidence_name(i), one);
	}
	return v;
}

static void print_json(const struct app *a, struct vt_output *out, const struct vt_freqcompare *c)
{
	json_t *doc = vt_json_doc("vcmp-truth/1");

	vt_json_losses(doc, &a->losses);
	json_object_set_new(doc, "within", json_within(&c->insns));
	json_object_set_new(doc, "edges_within_10",
			    json_real(percent(c->edges.within[1], c->edges.weight)));
	json_object_set_new(doc, "weighted_error",
			    json_real(percent(c->insns.error, c->insns.weight)));
	json_object_set_new(doc, "weighted_distance",
			    json_real(percent(c->insns.distance, c->insns.weight)));
	json_object_set_new(doc, "samples", vt_json_u64(c->samples));
	json_object_set_new(doc, "samples_not_counted", vt_json_u64(c->not_counted));
	json_object_set_new(doc, "samples_without_estimate", vt_json_u64(c->missing));
	json_object_set_new(doc, "scale", json_real(c->scale));
	json_object_set_new(doc, "by_confidence",
			    json_confidences(c->by_confidence, c->insns.weight));
	json_object_set_new(doc, "errors", json_buckets(&c->insns));
	json_object_set_new(doc, "edge_executions", json_real(c->edges.weight));
	json_object_set_new(doc, "edges_within", json_within(&c->edges));
	json_object_set_new(doc, "edges_weighted_error",
			    json_real(percent(c->edges.error, c->edges.weight)));
	json_object_set_new(doc, "edges_weighted_distance",
			    json_real(percent(c->edges.distance, c->edges.weight)));
	json_object_set_new(doc, "edges_by_confidence",
			    json_confidences(c->edges_by_confidence, c->edges.weight));
	json_object_set_new(doc, "edge_errors", json_buckets(&c->edges));
	vt_json_write(out, doc, true);
}

static void print_part(struct vt_output *out, const char *name, const struct vt_freqcompare_part *p,
		       double all)
{
	if (!(p->weight > 0))
		return;
	vt_output_printf(out, "%-18s %6.1f%% %7.1f%% %7.1f%% %7.1f%% %7.1f%% %7.1f%%\n", name,
			 percent(p->weight, all), percent(p->within[0], p->weight),
			 percent(p->within[1], p->weight), percent(p->within[2], p->weight),
			 percent(p->error, p->weight), percent(p->distance, p->weight));
}

static void print_text(struct vt_output *out, const struct vt_freqcompare *c)
{
	char name[40];
	size_t i;

	vt_output_printf(out, "%" PRIu64 " samples", c->samples);
	if (c->not_counted)
		vt_output_printf(out, ", %" PRIu64 " of them where nothing was counted",
				 c->not_counted);
	if (c->missing)
		vt_output_printf(out, ", %" PRIu64 " without an estimate", c->missing);
	if (c->scale != 1)
		vt_output_printf(out, "; estimates times %.4g, which fits best", c->scale);
	vt_output_text(out, "\n\n");
	vt_output_printf(out, "%-18s %7s %8s %8s %8s %8s %8s\n", "estimates", "share", "to 5%",
			 "to 10%", "to 15%", "error", "distance");
	print_part(out, "instructions", &c->insns, c->insns.weight);
	for (i = VT_NCONFIDENCES; i-- > VT_CONFIDENCE_LOW;) {
		snprintf(name, sizeof(name), "  %s", vt_confidence_name(i));
		print_part(out, name, &c->by_confidence[i], c->insns.weight);
	}
	print_part(out, "edges", &c->edges, c->edges.weight);
	for (i = VT_NCONFIDENCES; i-- > VT_CONFIDENCE_LOW;) {
		snprintf(name, sizeof(name), "  %s", vt_confidence_name(i));
		print_part(out, name, &c->edges_by_confidence[i], c->edges.weight);
	}
}

static bool compare(struct app *a, const struct app_truth *o, const struct estimate *e,
		    const struct app_counts *truth)
{
	const struct vt_freqcompare_input in = {
		.estimate = e->freqs,
		.samples = e->profile,
		.images = e->images,
		.truth = truth->counts,
		.truth_images = truth->images,
		.fit = e->assumed,
	};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_freqcompare c;
	struct vt_output *out;

	if (vt_freqcompare(&in, &c, &err) < 0)
		return app_fail(a, &err);
	out = app_text(a, o->output);
	if (!out)
		return false;
	if (o->json)
		print_json(a, out, &c);
	else
		print_text(out, &c);
	return true;
}

bool app_truth(struct app *a, const struct app_truth *o)
{
	struct estimate e = {.cache = NULL};
	struct app_counts truth;
	bool ok = app_counts_read(a, &truth, o->truth, o->symfs) && read_estimate(a, &e, o) &&
		  compare(a, o, &e, &truth);

	estimate_end(&e);
	app_counts_end(&truth);
	return ok;
}
