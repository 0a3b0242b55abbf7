/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "analysis/freq_internal.h"
#include "base/buf.h"

/*
 * What branch stacks counted of the code and edges of each class, instead of what its time says
 * where that is less certain.
 */
#define POINTS 20.0 /* issue points that a count is worth: nothing stalls */

/* Sums over the blocks and edges of a class that have a count. */
struct sum {
	double f;
	double variance;
	double parts;
};

static void add(struct sum *s, const struct vt_freq_measure *m)
{
	if (m->executions < 0)
		return;
	s->f += m->executions;
	s->variance += m->sigma * m->sigma;
	s->parts++;
}

static struct sum *sum_classes(const struct vti_freqwork *w)
{
	const struct vt_classes *c = w->in->flow->classes;
	struct sum *sums = calloc((size_t)c->count + 1, sizeof(*sums));
	uint32_t i;

	for (i = 0; sums && i < w->g->ninsns; i++)
		if (!vti_freq_repeats(w, i))
			add(&sums[c->block[w->in->flow->block[i]]], &w->in->measured[i]);
	for (i = 0; sums && i < w->g->nedges; i++)
		add(&sums[c->edge[i]], &w->in->measured_edges[i]);
	return sums;
}

/* Their counts are of the same executions: together they are no more certain than each. */
static struct vti_estimate mean(const struct vti_freqwork *w, const struct sum *s, double scale)
{
	struct vti_estimate e = {.known = true, .points = POINTS};

	e.f = scale * s->f / s->parts;
	e.sigma = scale * fmax(sqrt(s->variance / s->parts), s->f > 0 ? 0 : w->in->measure_unit);
	return e;
}

/* ---- the unit ---- */

static int by_f(const void *x, const void *y)
{
	const struct vti_estimate *a = x, *b = y;

	return (a->f > b->f) - (a->f < b->f);
}

/*
 * Executions in a unit of the counts, if that is not known: the median over the classes of what
 * their time says, by their samples.
 */
static double fit(const struct vti_freqwork *w, const struct sum *sums, struct vti_estimate *ratios)
{
	double all = 0, sum = 0;
	uint32_t i, n = 0;

	for (i = 0; i < w->in->flow->classes->count; i++) {
		const struct vti_estimate *e = &w->classes[i];

		if (!sums[i].parts || !(sums[i].f > 0) || !e->known || !(e->f > 0))
			continue;
		ratios[n].f = e->f * sums[i].parts / sums[i].f;
		ratios[n].points = (e->f / e->sigma) * (e->f / e->sigma);
		all += ratios[n++].points;
	}
	qsort(ratios, n, sizeof(*ratios), by_f);
	for (i = 0; i < n; i++) {
		sum += ratios[i].points;
		if (sum >= all / 2)
			return ratios[i].f;
	}
	return 0;
}

int vti_freq_stacks(struct vti_freqwork *w, struct vt_error *err)
{
	uint32_t i, n = w->in->flow->classes->count;
	struct sum *sums;
	struct vti_estimate *ratios;
	double scale = 1;

	if (!w->in->measured)
		return 0;
	sums = sum_classes(w);
	ratios = calloc((size_t)n + 1, sizeof(*ratios));
	if (sums && ratios && !w->in->measure_timed)
		scale = fit(w, sums, ratios);
	for (i = 0; sums && ratios && i < n && scale > 0; i++) {
		struct vti_estimate e;

		if (!sums[i].parts)
			continue;
		e = mean(w, &sums[i], scale);
		if (vti_freq_doubt(w, &e) > vti_freq_doubt(w, &w->classes[i]))
			continue;
		w->classes[i] = e;
		w->classes[i].counted = true;
	}
	free(ratios);
	if (!sums || !ratios) {
		free(sums);
		return vt_error_nomem(err);
	}
	free(sums);
	return 0;
}
