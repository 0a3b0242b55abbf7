/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "freq/freq.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "freq/internal.h"

/*
 * The greatest relative deviations for high and medium confidence.  15 % is the limit of DCPI's
 * figures of accuracy; the other is what six points that agree give (VTI_FREQ_ALONE / 6).
 */
#define HIGH_TRUST   0.06
#define MEDIUM_TRUST 0.15

static int list_class_insns(struct vti_freqwork *w, struct vt_error *err)
{
	const struct vt_procflow *f = w->in->flow;
	struct vti_freq_members *m = &w->members;
	uint32_t i;

	m->first = calloc((size_t)f->classes->count + 2, sizeof(*m->first));
	m->insns = calloc((size_t)w->g->ninsns + 1, sizeof(*m->insns));
	if (!m->first || !m->insns)
		return vt_error_nomem(err);
	for (i = 0; i < w->g->ninsns; i++)
		m->first[f->classes->block[f->block[i]] + 2]++;
	for (i = 2; i < f->classes->count + 2; i++)
		m->first[i] += m->first[i - 1];
	for (i = 0; i < w->g->ninsns; i++)
		m->insns[m->first[f->classes->block[f->block[i]] + 1]++] = i;
	assert(m->first[f->classes->count] <= w->g->ninsns);
	return 0;
}

/*
 * Sets the time of each instruction to that of its number of samples, at the mean period.  Where
 * intervals are drawn at random, each cycle is as likely to be sampled as any other, and the
 * interval before a sample tells nothing of the place that it falls on.  The sum of n geometric
 * intervals of mean m deviates by m sqrt(n); this adds to the deviation of n itself, so that half
 * of the samples would be wasted.  The mean of the whole profile deviates least.
 *
 * A sum that deviates by more than CHANCE times that is no accident: a period that follows the load
 * (perf record -F) was another in some phase of the program, and such a procedure has its own mean
 * period, such an instruction its own time.
 */
#define CHANCE 4.0

static bool is_chance(double samples, double cycles, double period)
{
	return fabs(cycles - samples * period) <= CHANCE * period * sqrt(samples);
}

static void even_periods(struct vti_freqwork *w)
{
	const struct vt_freq_input *in = w->in;
	double samples = 0, cycles = 0;
	uint32_t i;

	for (i = 0; i < w->g->ninsns; i++) {
		samples += (double)in->samples[i];
		cycles += in->cycles[i];
	}
	if (in->period > 0 && is_chance(samples, cycles, in->period))
		w->period = in->period;
	else
		w->period = samples > 0 ? cycles / samples : 1;
	for (i = 0; i < w->g->ninsns; i++) {
		double n = (double)in->samples[i];

		w->cycles[i] =
			is_chance(n, in->cycles[i], w->period) ? n * w->period : in->cycles[i];
	}
}

static int freqwork_init(struct vti_freqwork *w, struct vt_error *err)
{
	w->classes = calloc((size_t)w->in->flow->classes->count + 1, sizeof(*w->classes));
	w->blocks = calloc((size_t)w->g->nblocks + 1, sizeof(*w->blocks));
	w->edges = calloc((size_t)w->g->nedges + 1, sizeof(*w->edges));
	w->seen = calloc((size_t)w->in->flow->classes->count + 1, sizeof(struct vti_freq_seen *));
	w->left = calloc((size_t)w->g->nblocks + 1, sizeof(*w->left));
	w->cycles = calloc((size_t)w->g->ninsns + 1, sizeof(*w->cycles));
	if (!w->classes || !w->blocks || !w->edges || !w->seen || !w->left || !w->cycles)
		return vt_error_nomem(err);
	even_periods(w);
	return list_class_insns(w, err);
}

static void freqwork_fini(struct vti_freqwork *w)
{
	vti_freq_forget(w);
	free(w->members.first);
	free(w->members.insns);
	free(w->classes);
	free(w->blocks);
	free(w->edges);
	free(w->left);
	free(w->cycles);
}

/* ---- results ---- */

static enum vt_confidence rate_confidence(const struct vti_estimate *e)
{
	if (!e->known)
		return VT_CONFIDENCE_NONE;
	if (!(e->f > 0) || !isfinite(e->sigma) || e->sigma > MEDIUM_TRUST * e->f)
		return VT_CONFIDENCE_LOW;
	return e->sigma > HIGH_TRUST * e->f ? VT_CONFIDENCE_MEDIUM : VT_CONFIDENCE_HIGH;
}

static struct vt_freq_value value_of(const struct vti_estimate *e, enum vt_method method)
{
	struct vt_freq_value v = {
		.executions = e->f,
		.low = fmax(e->f - 2 * e->sigma, 0),
		.high = e->f + 2 * e->sigma,
		.confidence = rate_confidence(e),
		.method = method,
	};

	/* An unknown frequency has no value and an infinite range. */
	assert(e->known ? e->f >= 0 && v.low <= v.executions : e->f == 0 && isinf(v.high));
	return v;
}

static struct vt_freq_value counted_value(const struct vti_freqwork *w, double f)
{
	double doubt = w->in->exact_doubt;
	const struct vti_estimate e = {
		.known = true, .f = f, .sigma = isinf(doubt) ? doubt : doubt * f};

	if (doubt > 0)
		return value_of(&e, VT_METHOD_COUNTED);
	return (struct vt_freq_value){f, f, f, VT_CONFIDENCE_EXACT, VT_METHOD_COUNTED};
}

/*
 * Estimates an instruction alone, as if it never stalled.  It needs at least an issue slot of a
 * processor that issues four instructions per cycle, as DCPI's.
 */
#define SLOT 0.25 /* cycles */

static struct vti_estimate lone_estimate(const struct vti_freqwork *w, uint32_t insn)
{
	double best = fmax((double)w->in->flow->costs[insn].head, SLOT);
	double samples = fmax((double)w->in->samples[insn], 1);

	return (struct vti_estimate){
		.known = true,
		.f = w->cycles[insn] / best,
		.sigma = fmax(w->cycles[insn], w->period) / best / sqrt(samples),
		.points = 1,
	};
}

static enum vt_method method_of(const struct vti_freqwork *w, uint32_t class_)
{
	return w->classes[class_].counted ? VT_METHOD_BRANCHES : w->in->method;
}

static struct vt_freq_value value_of_insn(const struct vti_freqwork *w, uint32_t insn)
{
	const struct vt_freq_input *in = w->in;
	struct vti_estimate e = {.sigma = INFINITY};

	if (in->exact && in->exact[insn] >= 0)
		return counted_value(w, in->exact[insn]);
	if (!vti_freq_repeats(w, insn))
		return value_of(&w->blocks[in->flow->block[insn]],
				method_of(w, in->flow->classes->block[in->flow->block[insn]]));
	/* Its stalls and its repetitions look alike. */
	if (!in->counts_only)
		e = lone_estimate(w, insn);
	e.sigma = vti_freq_doubt(w, &e);
	return value_of(&e, in->method);
}

static void take_results(const struct vti_freqwork *w, struct vt_freqs *out)
{
	const struct vt_freq_input *in = w->in;
	uint32_t i;

	for (i = 0; i < w->g->ninsns; i++)
		out->insn[i] = value_of_insn(w, i);
	for (i = 0; i < w->g->nedges; i++)
		out->edge[i] =
			in->exact_edges && in->exact_edges[i] >= 0
				? counted_value(w, in->exact_edges[i])
				: value_of(&w->edges[i], method_of(w, in->flow->classes->edge[i]));
}

/* ---- methods ---- */

static void estimate_naively(const struct vti_freqwork *w, struct vt_freqs *out)
{
	uint32_t i;

	for (i = 0; i < w->g->ninsns; i++) {
		struct vti_estimate e = lone_estimate(w, i);

		out->insn[i] = value_of(&e, VT_METHOD_NAIVE);
		out->insn[i].confidence = VT_CONFIDENCE_LOW;
	}
}

/* Sets the deviations after the paper's steps; propagated estimates have no points. */
static void doubt_all(struct vti_freqwork *w)
{
	uint32_t i;

	for (i = 0; i < w->g->nblocks; i++)
		w->blocks[i].sigma = vti_freq_doubt(w, &w->blocks[i]);
	for (i = 0; i < w->g->nedges; i++)
		w->edges[i].sigma = vti_freq_doubt(w, &w->edges[i]);
}

/*
 * Takes the frequency of the entry's class from the calls.  Its own samples mislead: stalls add to
 * some, and a caller may already have waited for others.  Ignores a number of calls that leaves
 * less than a cycle for each, since an execution begins behind a jump; allows a quarter more for
 * errors of both.  CALLERS was chosen, within the range of most blocks.
 */
#define CALLERS 4 /* points that the calls count as */

static void estimate_from_callers(struct vti_freqwork *w)
{
	const struct vt_freq_measure *n = &w->in->entries;
	double cycles = w->period;
	uint32_t i;

	for (i = 0; i < w->g->ninsns; i++)
		cycles += w->cycles[i];
	if (!(n->executions > 0) || n->executions > 1.25 * cycles)
		return;
	w->classes[w->in->flow->classes->block[VT_CFG_ENTRY]] = (struct vti_estimate){
		.known = true,
		.f = n->executions,
		.sigma = fmax(n->sigma, 0.01 * n->executions),
		.points = CALLERS,
		/* Where time tells nothing, the callers were counted. */
		.counted = w->in->counts_only,
	};
}

/* Forgets the frequencies of all classes but those that were counted. */
static void keep_counted_classes(struct vti_freqwork *w)
{
	uint32_t i;

	for (i = 0; i < w->in->flow->classes->count; i++)
		if (!w->classes[i].counted)
			w->classes[i] = (struct vti_estimate){.sigma = INFINITY};
}

static int estimate_by_flow(struct vti_freqwork *w, struct vt_error *err)
{
	int code = vt_freqs_need_schedule(w->in) ? vti_freq_likely(w, err) : 0;

	estimate_from_callers(w);
	if (code == 0)
		code = vti_freq_stacks(w, err);
	if (code == 0 && w->in->counts_only)
		keep_counted_classes(w);
	return code < 0 ? code : vti_freq_solve(w, err);
}

/* Schedules a procedure by its edges, for the first time; what did not run takes no time. */
static int schedule_executed(const struct vti_freqwork *w, const double *edges,
			     struct vt_error *err)
{
	const struct vt_freq_input *in = w->in;
	bool *executed = calloc((size_t)w->g->nblocks + 1, sizeof(*executed));
	uint32_t i;
	int code;

	if (!executed)
		return vt_error_nomem(err);
	for (i = 0; i < w->g->ninsns; i++) {
		uint32_t block = in->flow->block[i];

		executed[block] |= w->blocks[block].f > 0 || (in->exact && in->exact[i] > 0);
	}
	code = vt_procflow_schedule_used(in->flow, in->core, edges, executed, false, err);
	free(executed);
	return code;
}

/* The time of a block depends on its predecessor.  Edge frequencies are available now. */
static int reschedule_procedure(struct vti_freqwork *w, struct vt_error *err)
{
	double *edges = malloc(((size_t)w->g->nedges + 1) * sizeof(*edges));
	uint32_t i;
	int code;

	if (!edges)
		return vt_error_nomem(err);
	for (i = 0; i < w->g->nedges; i++) {
		edges[i] = w->edges[i].f;
		w->left[w->g->edges[i].from] += edges[i];
	}
	if (vt_freqs_need_schedule(w->in))
		code = vt_procflow_weigh(w->in->flow, w->in->core, edges, err);
	else
		code = schedule_executed(w, edges, err);
	free(edges);
	return code;
}

static int estimate_procedure(struct vti_freqwork *w, struct vt_freqs *out, struct vt_error *err)
{
	int code;

	if (w->in->method == VT_METHOD_NAIVE) {
		estimate_naively(w, out);
		return 0;
	}
	if (w->in->method == VT_METHOD_PAPER) {
		code = vti_freq_paper(w, err);
		if (code == 0)
			code = vti_freq_propagate(w, err);
		if (code == 0)
			doubt_all(w);
	} else {
		code = estimate_by_flow(w, err);
		if (code == 0 && w->in->core)
			code = reschedule_procedure(w, err);
		/* Counts do not depend on the schedule. */
		if (code == 0 && w->in->core && vt_freqs_need_schedule(w->in))
			code = estimate_by_flow(w, err);
		if (code == 0)
			vti_freq_trust(w);
	}
	if (code == 0)
		take_results(w, out);
	return code;
}

/* Out of order, nothing is known where nothing was counted. */
static void leave_unknown(const struct vt_freq_input *in, struct vt_freqs *out)
{
	const struct vti_estimate unknown = {.sigma = INFINITY};
	uint32_t i;

	for (i = 0; i < in->flow->cfg->ninsns; i++)
		out->insn[i] = value_of(&unknown, in->method);
	for (i = 0; i < in->flow->cfg->nedges; i++)
		out->edge[i] = value_of(&unknown, in->method);
}

static int estimate_all(const struct vt_freq_input *in, struct vt_freqs *out, struct vt_error *err)
{
	struct vti_freqwork w = {.in = in, .g = in->flow->cfg};
	int code = freqwork_init(&w, err);

	if (code == 0)
		code = estimate_procedure(&w, out, err);
	freqwork_fini(&w);
	return code;
}

bool vt_freqs_need_classes(const struct vt_freq_input *in)
{
	return !in->counts_only || in->exact || in->measured || in->entries.executions > 0;
}

bool vt_freqs_need_schedule(const struct vt_freq_input *in)
{
	/* Time tells the unit of counts that are only proportional to executions. */
	return !in->counts_only || (in->measured && !in->measure_timed);
}

struct vt_freqs *vt_freqs_new(const struct vt_freq_input *in, struct vt_error *err)
{
	const struct vt_cfg *g = in->flow->cfg;
	struct vt_freqs *out = calloc(1, sizeof(*out));
	int code = 0;

	if (out) {
		out->insn = calloc((size_t)g->ninsns + 1, sizeof(*out->insn));
		out->edge = calloc((size_t)g->nedges + 1, sizeof(*out->edge));
	}
	if (!out || !out->insn || !out->edge)
		code = vt_error_nomem(err);
	else if (vt_freqs_need_classes(in))
		code = estimate_all(in, out, err);
	else
		leave_unknown(in, out);
	if (code < 0) {
		vt_freqs_free(out);
		return NULL;
	}
	return out;
}

void vt_freqs_free(struct vt_freqs *f)
{
	if (!f)
		return;
	free(f->insn);
	free(f->edge);
	free(f);
}
