/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/cycles/estimates.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "listing/json.h"
#include "profile/locate.h"

/* ---- what became of the samples ---- */

static json_t *json_other_run(const struct vt_otherrun_factor *f)
{
	json_t *v;

	if (f->verdict == VT_OTHERRUN_SAME)
		return json_null();
	v = json_object();
	json_object_set_new(v, "verdict", json_string(vt_otherrun_name(f->verdict)));
	json_object_set_new(v, "factor", json_real(f->factor));
	json_object_set_new(v, "doubt", isfinite(f->doubt) ? json_real(f->doubt) : json_null());
	json_object_set_new(v, "spread", json_real(f->spread));
	json_object_set_new(v, "elsewhere", json_real(f->elsewhere));
	json_object_set_new(v, "loops", vt_json_u64(f->loops));
	json_object_set_new(v, "clock", f->clock > 0 ? json_real(f->clock) : json_null());
	return v;
}

static double disagreeing_percent(const struct vt_freqrun_totals *t)
{
	return 100 * t->calls.disagree / t->calls.compared;
}

void vt_freqrun_print(const struct vt_freqrun_options *o, const struct vt_freqrun_totals *t,
		      const struct vt_losses *losses, struct vt_output *out)
{
	const char *event =
		o->event == SIZE_MAX ? NULL : vt_profile_event(o->profile, o->event)->name;
	json_t *doc = vt_json_doc("vfreq/1"), *by = json_object();
	size_t i;

	vt_json_losses(doc, losses);
	for (i = 0; i < VT_NCONFIDENCES; i++)
		json_object_set_new(by, vt_confidence_name(i), vt_json_u64(t->by_confidence[i]));
	json_object_set_new(doc, "cpu", json_string(o->core->name));
	json_object_set_new(doc, "event", event ? vt_json_text(event, strlen(event)) : json_null());
	json_object_set_new(doc, "method", json_string(vt_method_name(o->method)));
	json_object_set_new(doc, "clock", t->clock ? json_string(t->clock) : json_null());
	json_object_set_new(doc, "cycles_per_unit", json_real(t->scale));
	json_object_set_new(doc, "slowed", json_real(t->slowed));
	json_object_set_new(doc, "other_run", json_other_run(&t->other));
	json_object_set_new(doc, "procedures", vt_json_u64(t->procedures));
	json_object_set_new(doc, "complete", vt_json_u64(t->complete));
	json_object_set_new(doc, "samples", vt_json_u64(t->samples));
	json_object_set_new(doc, "by_confidence", by);
	json_object_set_new(doc, "unmapped", vt_json_u64(t->unmapped));
	json_object_set_new(doc, "outside", vt_json_u64(t->outside));
	json_object_set_new(doc, "no_code", vt_json_u64(t->no_code));
	json_object_set_new(doc, "stray", vt_json_u64(t->stray));
	json_object_set_new(doc, "estimated", vt_json_u64(t->estimated));
	json_object_set_new(doc, "calls_compared", json_real(t->calls.compared));
	json_object_set_new(doc, "calls_disagree",
			    t->calls.compared > 0 ? json_real(disagreeing_percent(t))
						  : json_null());
	vt_json_write(out, doc, true);
}

/* The least share worth a message: every program has a few, in its loader or a signal. */
#define TELL_FROM 0.01

void vt_freqrun_uncounted(const struct vt_freqrun_options *o, const struct vt_freqrun_totals *t,
			  struct vt_buf *b)
{
	uint64_t none = t->by_confidence[VT_CONFIDENCE_NONE];

	if (o->core->order == VT_IN_ORDER || !none || (double)none < TELL_FROM * (double)t->samples)
		return;
	vt_buf_printf(b,
		      "%" PRIu64 " of %" PRIu64 " samples are in code whose executions nothing has "
		      "counted; time does not tell them on %s, which issues out of order: "
		      "vtrace record --full -o counts.vt PROGRAM and vfreq --exact counts.vt count "
		      "them, or vtrace record --branch",
		      none, t->samples, o->core->name);
}

void vt_freqrun_other_run(const struct vt_freqrun_options *o, const struct vt_freqrun_totals *t,
			  struct vt_buf *b)
{
	const struct vt_otherrun_factor *f = &t->other;

	if (f->clock > 0)
		vt_buf_printf(
			b,
			"the counts are of another run, which was not as long: for that, what "
			"nothing stalls (%zu loop%s) would run at %.3g %s: ratios only",
			f->loops, f->loops == 1 ? "" : "s", f->clock,
			o->clock ? "GHz" : "cycles a cycle");
	else if (f->verdict == VT_OTHERRUN_RATIOS && f->loops < 2)
		vt_buf_printf(b,
			      "the counts are of another run, which did something else (%.0f %% of "
			      "the time is in procedures that it did not execute): ratios only",
			      100 * f->elsewhere);
	else if (f->verdict == VT_OTHERRUN_RATIOS)
		vt_buf_printf(b,
			      "the counts are of another run, which did something else (%.0f %% of "
			      "the time is in procedures that it did not execute; %zu loops that "
			      "nothing stalls differ by %.0f %%): ratios only",
			      100 * f->elsewhere, f->loops, 100 * (exp(f->spread) - 1));
	else if (f->verdict == VT_OTHERRUN_SCALED)
		vt_buf_printf(
			b,
			"the counts are of another run, and multiplied by %.3g (%.3g to %.3g), "
			"which %zu loops that nothing stalls show",
			f->factor, f->factor * fmax(1 - 2 * f->doubt, 0),
			f->factor * (1 + 2 * f->doubt), f->loops);
	else if (f->verdict == VT_OTHERRUN_UNTOLD)
		vt_buf_printf(
			b, "the counts are of another run, taken to be as long as this one: %s",
			o->untimed	? "the event is not time"
			: o->fit_clock	? "without --clock, nanoseconds do not tell"
			: f->spread > 0 ? "the loops that nothing stalls differ too much to tell"
					: "fewer than three loops that nothing stalls tell");
}

void vt_freqrun_left_out(const struct vt_freqrun_options *o, const struct vt_freqrun_totals *t,
			 struct vt_buf *b)
{
	const struct {
		uint64_t samples;
		const char *where;
	} parts[] = {
		{t->unmapped, "in no known memory"},
		{t->no_code, "in procedures whose code is not there"},
		{t->stray, "at no instruction"},
		{t->outside, "in no procedure"},
	};
	uint64_t sum = t->unmapped + t->outside + t->no_code + t->stray;
	const char *before = ": ";
	size_t i;

	if (!sum || (double)sum < TELL_FROM * (double)t->samples)
		return;
	vt_buf_printf(b, "%" PRIu64 " of %" PRIu64 " samples are left out", sum, t->samples);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!parts[i].samples)
			continue;
		vt_buf_printf(b, "%s%" PRIu64 " %s", before, parts[i].samples, parts[i].where);
		before = ", ";
	}
	if (t->outside) {
		vt_buf_printf(b, "; most of those: ");
		vt_locate_unknown(o->profile, o->images, o->event, b);
	}
}

/* The least percentage worth a message: as many may disagree by chance, and more. */
#define DISAGREE_FROM 2

void vt_freqrun_disagreeing(const struct vt_freqrun_totals *t, struct vt_buf *b)
{
	if (t->calls.compared > 0 && disagreeing_percent(t) > DISAGREE_FROM)
		vt_buf_printf(b,
			      "%.0f%% of direct calls disagree with how often what they call was "
			      "entered, by more than the intervals of both",
			      disagreeing_percent(t));
}

/* ---- how good they are ---- */

static const char *const limits[] = {"5", "10", "15"};

static double weight_percent(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

static json_t *json_within(const struct vt_freqcompare_part *p)
{
	json_t *v = json_object();
	size_t i;

	for (i = 0; i < 3; i++)
		json_object_set_new(v, limits[i],
				    json_real(weight_percent(p->within[i], p->weight)));
	return v;
}

static json_t *json_buckets(const struct vt_freqcompare_part *p)
{
	json_t *v = json_array();
	size_t i;

	for (i = 0; i < VT_FREQCOMPARE_BUCKETS; i++)
		json_array_append_new(v, json_real(weight_percent(p->buckets[i], p->weight)));
	return v;
}

/* For each confidence, its share, its accuracy, and the share that is off by more than 15 %. */
static json_t *json_confidences(const struct vt_freqcompare_part *parts, double all)
{
	json_t *v = json_object();
	size_t i;

	for (i = VT_CONFIDENCE_LOW; i < VT_NCONFIDENCES; i++) {
		const struct vt_freqcompare_part *p = &parts[i];
		json_t *one = json_object();

		json_object_set_new(one, "share", json_real(weight_percent(p->weight, all)));
		json_object_set_new(one, "within", json_within(p));
		json_object_set_new(one, "missed",
				    json_real(weight_percent(p->weight - p->within[2], all)));
		json_object_set_new(v, vt_confidence_name(i), one);
	}
	return v;
}

static void print_compared_json(const struct vt_freqcompare *c, const struct vt_losses *losses,
				struct vt_output *out)
{
	json_t *doc = vt_json_doc("vcmp-truth/1");

	vt_json_losses(doc, losses);
	json_object_set_new(doc, "within", json_within(&c->insns));
	json_object_set_new(doc, "edges_within_10",
			    json_real(weight_percent(c->edges.within[1], c->edges.weight)));
	json_object_set_new(doc, "weighted_error",
			    json_real(weight_percent(c->insns.error, c->insns.weight)));
	json_object_set_new(doc, "weighted_distance",
			    json_real(weight_percent(c->insns.distance, c->insns.weight)));
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
			    json_real(weight_percent(c->edges.error, c->edges.weight)));
	json_object_set_new(doc, "edges_weighted_distance",
			    json_real(weight_percent(c->edges.distance, c->edges.weight)));
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
	vt_output_printf(
		out, "%-18s %6.1f%% %7.1f%% %7.1f%% %7.1f%% %7.1f%% %7.1f%%\n", name,
		weight_percent(p->weight, all), weight_percent(p->within[0], p->weight),
		weight_percent(p->within[1], p->weight), weight_percent(p->within[2], p->weight),
		weight_percent(p->error, p->weight), weight_percent(p->distance, p->weight));
}

/* Everything, then by confidence. */
static void print_parts(struct vt_output *out, const char *name,
			const struct vt_freqcompare_part *all,
			const struct vt_freqcompare_part *by_confidence)
{
	char text[40];
	size_t i;

	print_part(out, name, all, all->weight);
	for (i = VT_NCONFIDENCES; i-- > VT_CONFIDENCE_LOW;) {
		snprintf(text, sizeof(text), "  %s", vt_confidence_name(i));
		print_part(out, text, &by_confidence[i], all->weight);
	}
}

static void print_compared(const struct vt_freqcompare *c, struct vt_output *out)
{
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
	print_parts(out, "instructions", &c->insns, c->by_confidence);
	print_parts(out, "edges", &c->edges, c->edges_by_confidence);
}

void vt_freqcompare_print(const struct vt_freqcompare *c, const struct vt_losses *losses,
			  struct vt_output *out)
{
	if (losses)
		print_compared_json(c, losses, out);
	else
		print_compared(c, out);
}
