/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "listing/cycles/cycles.h"

#include <math.h>

#include "culprit/cause.h"
#include "stream/kinds.h"

/* An instruction's stalls, added up. */
struct stall_tally {
	double fixed;
	double dynamic; /* if `exact`, the sum; else at least the longest */
	double gain;
	double region; /* of a region that begins here */
	bool has_dynamic;
	bool exact; /* no two causes share cycles */
};

/* What a region loses, or gains, is said by all of its stalls. */
static void add_region_stall(const struct vt_stall *st, struct stall_tally *t)
{
	t->region = st->cause == VT_STALL_GAIN ? -st->cycles : st->cycles;
}

static double positive(double v)
{
	return v > 0 && isfinite(v) ? v : 0;
}

/* `cycles` are the instruction's: no stall is longer. */
static void add_stalls(struct vt_cyclesum *s, double cycles, const struct vt_stall *stalls,
		       size_t n, struct stall_tally *t)
{
	double longest = 0;
	size_t i;

	*t = (struct stall_tally){.exact = true};
	for (i = 0; i < n; i++) {
		const struct vt_stall *st = &stalls[i];
		double low = st->low, high = isinf(st->high) ? cycles : st->high;

		if ((unsigned)st->cause >= VT_NSTALLS || !isfinite(low) || !isfinite(high))
			continue;
		s->stalls = true;
		if (st->cause == VT_STALL_GAIN) {
			/* Accept either sign of a gain. */
			low = -fabs(low);
			high = -fabs(high);
			if (st->flags & VT_STALL_OF_REGION)
				add_region_stall(st, t);
			else
				t->gain += (low + high) / 2;
		} else if (st->flags & VT_STALL_OF_REGION) {
			add_region_stall(st, t);
		} else if (vt_stall_is_static(st->cause)) {
			t->fixed += (low + high) / 2;
		} else {
			t->has_dynamic = true;
			t->exact = t->exact && low == high;
			t->dynamic += low;
			longest = high > longest ? high : longest;
		}
		s->low[st->cause] += low;
		s->high[st->cause] += high;
	}
	if (!t->exact)
		t->dynamic = longest > t->dynamic ? longest : t->dynamic;
}

void vt_cyclesum_insn(struct vt_cyclesum *s, const struct vt_freq *f, const struct vt_stall *stalls,
		      size_t nstalls, bool judged)
{
	unsigned c = (unsigned)f->confidence < VT_NCONFIDENCES ? f->confidence : VT_CONFIDENCE_NONE;
	double executions = positive(f->executions);
	double cycles = positive(executions * f->cycles);
	double best, dynamic, rest;
	struct stall_tally t;

	s->samples_at[c] += (double)f->samples;
	s->cycles_at[c] += cycles;
	s->executions += executions;
	s->cycles += cycles;
	s->timed |= !isnan(f->cycles);
	add_stalls(s, cycles, stalls, nstalls, &t);
	dynamic = t.dynamic;
	if (isfinite(f->issue)) {
		s->schedule = true;
		best = executions * f->issue;
		/* Causes share the cycles that the schedule does not explain. */
		if (t.has_dynamic && !t.exact)
			dynamic = positive(cycles - best);
	} else {
		best = cycles - dynamic - t.gain;
	}
	s->best += best;
	s->fixed += t.fixed;
	s->execution += best - t.fixed;
	/* A region's are those of its instructions together. */
	s->dynamic += dynamic + t.gain + t.region;
	rest = cycles - best - dynamic - t.gain - t.region;
	if (judged)
		s->error += rest;
	else
		s->not_judged += rest;
}

double vt_cyclesum_not_judged(const struct vt_cyclesum *s)
{
	/* No stall is shorter than nothing: less is chance. */
	return s->stalls ? fmax(s->not_judged, 0) : 0;
}

double vt_cyclesum_dynamic(const struct vt_cyclesum *s)
{
	return s->stalls ? s->dynamic + vt_cyclesum_not_judged(s) : s->error + s->not_judged;
}

double vt_cyclesum_error(const struct vt_cyclesum *s)
{
	return s->stalls ? s->error + fmin(s->not_judged, 0) : 0;
}

double vt_cyclesum_high(const struct vt_cyclesum *s, enum vt_stall_cause cause)
{
	return fmin(s->high[cause] + (vt_stall_is_sought(cause) ? vt_cyclesum_not_judged(s) : 0),
		    s->cycles);
}

bool vt_cyclesum_is_untimed(const struct vt_cyclesum *s)
{
	return s->executions > 0 && !s->timed;
}

void vt_cyclesum_add(struct vt_cyclesum *s, const struct vt_freqprofile *p, uint32_t image,
		     uint64_t first, uint64_t end)
{
	size_t i, nfreqs, nstalls, k = 0;
	const struct vt_freq_at *freqs = vt_freqprofile_freqs(p, image, first, end, &nfreqs);
	const struct vt_stall *stalls = vt_freqprofile_stalls(p, image, first, end, &nstalls);

	for (i = 0; i < nfreqs; i++) {
		size_t from;

		while (k < nstalls && stalls[k].offset < freqs[i].offset)
			k++;
		for (from = k; k < nstalls && stalls[k].offset == freqs[i].offset; k++)
			continue;
		vt_cyclesum_insn(s, freqs[i].freq, stalls ? stalls + from : NULL, k - from,
				 vt_freqprofile_is_judged(p, image, freqs[i].offset));
	}
}

size_t vt_cyclesum_event(const struct vt_profile *p, uint64_t event)
{
	size_t i, n = vt_profile_nevents(p);

	for (i = 0; i < n; i++)
		if (vt_profile_event(p, i)->id == event)
			return i;
	return SIZE_MAX;
}

void vt_cyclesum_samples(struct vt_cyclesum *s, const struct vt_profile *p, size_t event,
			 uint32_t image, uint64_t first, uint64_t end)
{
	size_t i, n = vt_profile_nplaces(p);

	for (i = 0; i < n; i++) {
		const struct vt_place *place = vt_profile_place(p, i);

		if (place->event == event && place->image == image && place->offset >= first &&
		    place->offset < end)
			s->samples += (double)place->samples;
	}
}

static double estimated_samples(const struct vt_cyclesum *s)
{
	double sum = 0;
	unsigned i;

	for (i = 0; i < VT_NCONFIDENCES; i++)
		sum += s->samples_at[i];
	return sum;
}

double vt_cyclesum_all(const struct vt_cyclesum *s)
{
	double sum = estimated_samples(s);

	return s->samples > sum ? s->samples : sum;
}

double vt_cyclesum_share(const struct vt_cyclesum *s, enum vt_confidence confidence)
{
	double whole = vt_cyclesum_all(s), part = s->samples_at[confidence];

	if (confidence == VT_CONFIDENCE_NONE)
		part += whole - estimated_samples(s);
	if (whole <= 0) {
		whole = s->cycles;
		part = s->cycles_at[confidence];
	}
	return whole > 0 ? 100 * part / whole : 0;
}

/* ---- for people ---- */

void vt_cyclesum_print_shares(const struct vt_cyclesum *s, struct vt_output *out)
{
	static const enum vt_confidence order[] = {VT_CONFIDENCE_EXACT, VT_CONFIDENCE_HIGH,
						   VT_CONFIDENCE_MEDIUM, VT_CONFIDENCE_LOW};
	double none = vt_cyclesum_share(s, VT_CONFIDENCE_NONE);
	const char *sep = "";
	double samples = vt_cyclesum_all(s);
	unsigned i;

	vt_output_printf(out, "*** Confidence  ");
	for (i = 0; i < sizeof(order) / sizeof(*order); i++) {
		double share = vt_cyclesum_share(s, order[i]);

		if (order[i] == VT_CONFIDENCE_EXACT && share <= 0)
			continue;
		vt_output_printf(out, "%s%s %.1f%%", sep, vt_confidence_name(order[i]), share);
		sep = ", ";
	}
	vt_output_printf(out, ", no estimate %.1f%% of ", none);
	if (samples > 0)
		vt_output_printf(out, "%.0f sample%s\n", samples, samples == 1 ? "" : "s");
	else
		vt_output_text(out, "the cycles\n");
}

void vt_cyclesum_print_cpi(const struct vt_cyclesum *s, struct vt_output *out)
{
	double n = s->executions;

	if (n <= 0)
		return;
	if (s->schedule)
		vt_output_printf(out, "*** Best-case   %.0f/%.0f = %.2fCPI\n", s->best, n,
				 s->best / n);
	if (s->timed)
		vt_output_printf(out, "*** Actual      %.0f/%.0f = %.2fCPI\n", s->cycles, n,
				 s->cycles / n);
	else
		vt_output_text(out, "*** Actual      unknown: no samples of time\n");
}

static void print_rule(struct vt_output *out)
{
	vt_output_text(out, "*** ----------------------------------------\n");
}

static void print_share_line(const struct vt_cyclesum *s, const char *what, double v,
			     struct vt_output *out)
{
	double percent = 100 * v / s->cycles;

	/* Not "-0.0". */
	if (fabs(percent) < 0.05)
		percent = 0;
	vt_output_printf(out, "*** %-30s%9.1f%%\n", what, percent);
}

static void print_range(const struct vt_cyclesum *s, unsigned first, unsigned last,
			struct vt_output *out)
{
	unsigned i;

	for (i = first; i <= last; i++) {
		vt_output_printf(out, "***   %-26s%6.1f%% to %6.1f%%\n", vt_stall_text(i),
				 100 * s->low[i] / s->cycles,
				 100 * vt_cyclesum_high(s, i) / s->cycles);
	}
}

/* Of a sum that has no range. */
static void print_sum(const struct vt_cyclesum *s, const char *what, double cycles,
		      struct vt_output *out)
{
	vt_output_printf(out, "***   %-26s%11s%6.1f%%\n", what, "", 100 * cycles / s->cycles);
}

static void print_dynamic(const struct vt_cyclesum *s, struct vt_output *out)
{
	if (s->stalls) {
		print_range(s, VT_STALL_ICACHE, VT_STALL_FORWARD, out);
		vt_output_text(out, "***\n");
		print_range(s, VT_STALL_MISPREDICT, VT_STALL_OTHER, out);
		vt_output_text(out, "***\n");
		print_range(s, VT_STALL_UNEXPLAINED, VT_STALL_GAIN, out);
		if (vt_cyclesum_not_judged(s) > 0)
			print_sum(s, "not judged: too uncertain", vt_cyclesum_not_judged(s), out);
	} else {
		vt_output_text(out, "***   (no stalls have been explained: vculprit does that)\n");
	}
	print_rule(out);
	print_share_line(s, "Subtotal dynamic", vt_cyclesum_dynamic(s), out);
}

void vt_cyclesum_print(const struct vt_cyclesum *s, struct vt_output *out)
{
	double error = vt_cyclesum_error(s);
	double none;
	unsigned i;

	vt_cyclesum_print_shares(s, out);
	vt_cyclesum_print_cpi(s, out);
	vt_output_text(out, "***\n");
	if (s->cycles <= 0) {
		vt_output_text(out, "*** No cycles have been estimated here.\n");
		return;
	}
	none = vt_cyclesum_share(s, VT_CONFIDENCE_NONE);
	print_dynamic(s, out);
	vt_output_text(out, "***\n");
	for (i = VT_STALL_SLOTTING; i < VT_NSTALLS && s->stalls; i++)
		print_sum(s, vt_stall_text(i), (s->low[i] + s->high[i]) / 2, out);
	print_rule(out);
	print_share_line(s, "Subtotal static", s->fixed, out);
	print_rule(out);
	print_share_line(s, "Total stall", s->cycles - s->execution - error, out);
	print_share_line(s, s->stalls ? "Execution" : "Execution and static stalls", s->execution,
			 out);
	print_share_line(s, "Net sampling error", error, out);
	print_rule(out);
	print_share_line(s, "Total tallied", s->cycles, out);
	vt_output_printf(out, "***   (%.0f cycles, %.1f%% of all samples)\n", s->cycles,
			 100 - none);
}
