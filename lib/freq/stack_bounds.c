/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "freq/internal.h"

/*
 * Replaces the estimate of a class, which rests on its time, by the counts of branch stacks where
 * these are more certain.
 */

/*
 * Issue points that a count is worth, since it has no stalls.  Chosen (scripts/tune/constants
 * POINTS); it limits the relative deviation of a count to at least 1/57.
 */
#define POINTS 20.0

/* The sum over the instructions and edges of a class that have a count. */
struct class_sum {
	double f;
	double variance;
	double parts;
};

static void add_measure(struct class_sum *s, const struct vt_freq_measure *m)
{
	if (m->executions < 0)
		return;
	s->f += m->executions;
	s->variance += m->sigma * m->sigma;
	s->parts++;
}

static struct class_sum *sum_classes(const struct vti_freqwork *w)
{
	const struct vt_classes *c = w->in->flow->classes;
	struct class_sum *sums = calloc((size_t)c->count + 1, sizeof(*sums));
	uint32_t i;

	for (i = 0; sums && i < w->g->ninsns; i++)
		if (!vti_freq_repeats(w, i))
			add_measure(&sums[c->block[w->in->flow->block[i]]], &w->in->measured[i]);
	for (i = 0; sums && i < w->g->nedges; i++)
		add_measure(&sums[c->edge[i]], &w->in->measured_edges[i]);
	return sums;
}

/*
 * Counts added to the variance, for what chance may have hidden: as the adjusted interval of
 * Agresti and Coull, which adds two successes.
 */
#define MORE 2.0

/* The counts of a class are of the same executions: their mean is no more certain than each. */
static struct vti_estimate mean_estimate(const struct vti_freqwork *w, const struct class_sum *s,
					 double scale)
{
	struct vti_estimate e = {.known = true, .points = POINTS, .counted = true};
	double unit = w->in->measure_unit;

	e.f = scale * s->f / s->parts;
	e.sigma = scale * sqrt(s->variance / s->parts + MORE * unit * unit);
	return e;
}

/* ---- the unit ---- */

static int compare_ratios(const void *x, const void *y)
{
	const struct vti_estimate *a = x, *b = y;

	return (a->f > b->f) - (a->f < b->f);
}

/*
 * The relative deviation of the unit if all classes stall alike.  Twice that of one point: of 64
 * intervals in tests/pipe/vfreq-counts.t without times, 60 hold with it, 56 with that of one point.
 */
#define UNIT_DOUBT (2 * VTI_FREQ_ALONE)

/*
 * Finds the executions in a unit of the counts: the median ratio of the classes' estimates to their
 * counts, weighted by samples.  Sets *doubt to its relative deviation.
 */
static double fit_unit(const struct vti_freqwork *w, const struct class_sum *sums,
		       struct vti_estimate *ratios, double *doubt)
{
	double all = 0, sum = 0, squares = 0, median = 0;
	uint32_t i, n = 0;

	for (i = 0; i < w->in->flow->classes->count; i++) {
		const struct vti_estimate *e = &w->classes[i];

		if (!sums[i].parts || !(sums[i].f > 0) || !e->known || !(e->f > 0))
			continue;
		ratios[n].f = e->f * sums[i].parts / sums[i].f;
		ratios[n].points = (e->f / e->sigma) * (e->f / e->sigma);
		all += ratios[n++].points;
	}
	qsort(ratios, n, sizeof(*ratios), compare_ratios);
	for (i = 0; i < n && sum < all / 2; i++) {
		sum += ratios[i].points;
		median = ratios[i].f;
	}
	for (i = 0; i < n; i++)
		squares += ratios[i].points * log(ratios[i].f / median) * log(ratios[i].f / median);
	*doubt = n ? hypot(UNIT_DOUBT, sqrt(squares / all)) : 0;
	return median;
}

/*
 * Whether a count is more certain than the estimate from time.  It always is for skewed samples:
 * the time of a class may contain all that others waited for, or nothing.  Compares the deviations
 * at the larger frequency, since a smaller frequency has a smaller deviation.
 */
static bool is_better(const struct vti_freqwork *w, const struct vti_estimate *count,
		      const struct vti_estimate *time)
{
	struct vti_estimate a = *count, b = *time;

	a.f = b.f = fmax(count->f, time->f);
	return w->in->skewed || vti_freq_doubt(w, &a) <= vti_freq_doubt(w, &b);
}

int vti_freq_stacks(struct vti_freqwork *w, struct vt_error *err)
{
	uint32_t i, n = w->in->flow->classes->count;
	struct class_sum *sums;
	struct vti_estimate *ratios;
	double scale = 1;

	w->unit_doubt = 0;
	if (!w->in->measured)
		return 0;
	sums = sum_classes(w);
	ratios = calloc((size_t)n + 1, sizeof(*ratios));
	if (sums && ratios && !w->in->measure_timed)
		scale = fit_unit(w, sums, ratios, &w->unit_doubt);
	for (i = 0; sums && ratios && i < n && scale > 0; i++) {
		struct vti_estimate e;

		if (!sums[i].parts)
			continue;
		e = mean_estimate(w, &sums[i], scale);
		if (is_better(w, &e, &w->classes[i]))
			w->classes[i] = e;
	}
	free(ratios);
	if (!sums || !ratios) {
		free(sums);
		return vt_error_nomem(err);
	}
	free(sums);
	return 0;
}
