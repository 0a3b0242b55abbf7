/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "freq/internal.h"

/*
 * A maximum likelihood estimate.  The ratio of a point without stalls, its cycles by its best
 * cycles, is the frequency of its class but for errors of sampling and of the schedule.  A stalled
 * point has a larger ratio: the logarithm of the factor is exponentially distributed.  A few points
 * have a smaller ratio, since a stall before them hides what the schedule lets them wait for.
 *
 * Of the stalled points, many wait for the second cache each time: code that is too much for the
 * first one.  The cycles of such a stall are nearly known, so these points agree on a frequency as
 * those without stalls do, and have more samples.
 *
 * This form is a model; its constants were chosen on programs in the simulator, and
 * scripts/tune/constants measures their effect.  MAX_STARTS and ROUNDS bound the time.
 */
#define ABOVE	   1.0	 /* mean logarithm of the factor of stalled points */
#define BELOW	   1.0	 /* likewise of points that waited before */
#define BELOW_PART 0.03	 /* part of the points that waited before */
#define MODEL	   0.015 /* relative error of the schedule */
#define MISSES	   0.2	 /* part of the stalled points that miss the first cache each time */
#define MISS_ERROR 0.7	 /* deviation of the cycles that this costs */
#define MAX_STARTS 48
#define ROUNDS	   6

/* The logarithm of a point's ratio and its deviation; also without its extra samples. */
struct seen_point {
	double log;
	double sigma;
	double log_less;
	double sigma_less;
	double log_missed; /* if it misses each time */
	double sigma_missed;
	const struct vti_freq_point *p;
};

struct vti_freq_seen {
	struct vti_freq_point *points;
	struct seen_point *list;
	size_t n;
};

/* The likelihood of a point at a frequency, and its parts without a stall. */
struct density {
	double all;
	double whole;  /* all samples are the point's */
	double less;   /* all but the extra samples are */
	double missed; /* with a miss each time */
};

static double normal(double x, double sigma)
{
	return exp(-0.5 * (x / sigma) * (x / sigma)) / (2.5066282746310002 * sigma);
}

/* An exponential distribution, smoothed by the error of sampling. */
static double tail(double x, double mean, double sigma)
{
	double rise = 0.5 * erfc(-x / (sigma * 1.4142135623730951));

	return rise * exp(-fmax(x, 0) / mean) / mean;
}

static struct density density(const struct seen_point *s, double log_f)
{
	double x = s->log - log_f, known = 1 - BELOW_PART;
	double stalled = known * (1 - s->p->prior), misses = s->p->miss > 0 ? MISSES : 0;
	struct density d;

	d.whole = s->p->shift * known * s->p->prior * normal(x, s->sigma);
	d.less = (1 - s->p->shift) * known * s->p->prior *
		 normal(s->log_less - log_f, s->sigma_less);
	d.missed =
		misses > 0 ? stalled * misses * normal(s->log_missed - log_f, s->sigma_missed) : 0;
	d.all = d.whole + d.less + d.missed + stalled * (1 - misses) * tail(x, ABOVE, s->sigma) +
		BELOW_PART * tail(-x, BELOW, s->sigma);
	return d;
}

static double likelihood_at(const struct seen_point *seen, size_t n, double log_f)
{
	double likelihood = 0;
	size_t i;

	for (i = 0; i < n; i++)
		likelihood += log(fmax(density(&seen[i], log_f).all, 1e-30));
	return likelihood;
}

/* What a point is worth if it misses each time: less, for the time of a miss is uncertain. */
static double miss_weight(const struct seen_point *s)
{
	return s->sigma * s->sigma / (s->sigma_missed * s->sigma_missed);
}

/* Climbs to a local maximum by expectation maximisation; returns its log likelihood. */
static double climb(const struct seen_point *seen, size_t n, double log_f, struct vti_estimate *e)
{
	size_t i;
	int round;

	for (round = 0; round < ROUNDS; round++) {
		double cycles = 0, best = 0, samples = 0, points = 0, squares = 0;

		for (i = 0; i < n; i++) {
			const struct vti_freq_point *p = seen[i].p;
			struct density d = density(&seen[i], log_f);
			double whole = d.all > 0 ? d.whole / d.all : 0;
			double less = d.all > 0 ? d.less / d.all : 0;
			double missed = d.all > 0 ? d.missed / d.all * miss_weight(&seen[i]) : 0;
			double x = seen[i].log - log_f, y = seen[i].log_less - log_f;

			cycles +=
				(whole + missed) * p->cycles + less * (p->cycles - p->extra_cycles);
			samples += (whole + missed) * p->samples +
				   less * (p->samples - p->extra_samples);
			best += (whole + less) * p->best + missed * (p->best + p->miss);
			points += whole + less;
			squares += whole * x * x + less * y * y;
		}
		if (!(cycles > 0) || !(best > 0))
			return -INFINITY;
		e->f = cycles / best;
		e->points = points;
		e->spread = points > 0 ? sqrt(squares / points) : 0;
		e->sigma = e->f * sqrt(1 / fmax(samples, 1) + MODEL * MODEL / fmax(points, 1));
		log_f = log(e->f);
	}
	e->known = true;
	return likelihood_at(seen, n, log_f);
}

static int compare_seen(const void *x, const void *y)
{
	const struct seen_point *a = x, *b = y;

	return (a->log > b->log) - (a->log < b->log);
}

static double deviation(double samples)
{
	return sqrt(1 / fmax(samples, 1) + MODEL * MODEL);
}

struct vti_freq_seen *vti_freq_see(struct vti_freq_point *points, size_t n)
{
	struct vti_freq_seen *s = calloc(1, sizeof(*s));
	size_t i;

	if (s)
		s->list = malloc((n + 1) * sizeof(*s->list));
	if (!s || !s->list) {
		free(s);
		free(points);
		return NULL;
	}
	s->points = points;
	for (i = 0; i < n; i++) {
		const struct vti_freq_point *p = &points[i];
		struct seen_point *seen = &s->list[s->n];
		double less = p->cycles - p->extra_cycles;

		if (!(p->cycles > 0) || !(p->samples > 0))
			continue;
		seen->p = p;
		seen->log = log(p->cycles / p->best);
		seen->sigma = deviation(p->samples);
		seen->log_less = less > 0 ? log(less / p->best) : seen->log;
		seen->sigma_less = deviation(p->samples - p->extra_samples);
		seen->log_missed = log(p->cycles / (p->best + p->miss));
		seen->sigma_missed = hypot(seen->sigma, MISS_ERROR / (p->best + p->miss));
		s->n++;
	}
	qsort(s->list, s->n, sizeof(*s->list), compare_seen);
	return s;
}

void vti_freq_unsee(struct vti_freq_seen *s)
{
	if (!s)
		return;
	free(s->points);
	free(s->list);
	free(s);
}

struct vti_estimate vti_freq_mode(const struct vti_freq_seen *s)
{
	const struct seen_point *seen = s->list;
	struct vti_estimate best = {.sigma = INFINITY};
	double most = -INFINITY;
	size_t i, step = s->n / MAX_STARTS + 1;

	for (i = 0; i < s->n; i += step) {
		const double starts[] = {seen[i].log, seen[i].log_less, seen[i].log_missed};
		size_t way;

		for (way = 0; way < 3; way++) {
			struct vti_estimate e = {.sigma = INFINITY};
			double likelihood = climb(seen, s->n, starts[way], &e);

			if (likelihood > most) {
				most = likelihood;
				best = e;
			}
		}
	}
	return best;
}

/* ---- all classes ---- */

static int see_class(struct vti_freqwork *w, uint32_t class_, struct vt_error *err)
{
	struct vti_freq_point *points;
	int64_t n = vti_freq_stretches(w, class_, &points, err);

	if (n < 0)
		return (int)n;
	vti_freq_unsee(w->seen[class_]);
	w->seen[class_] = vti_freq_see(points, (size_t)n);
	return w->seen[class_] ? 0 : vt_error_nomem(err);
}

int vti_freq_likely(struct vti_freqwork *w, struct vt_error *err)
{
	uint32_t c;

	for (c = 0; c < w->in->flow->classes->count; c++) {
		struct vti_estimate mode;
		int code;

		w->classes[c] = vti_freq_sum(w, c);
		if (w->in->skewed || !w->classes[c].known || !(w->classes[c].f > 0))
			continue;
		code = see_class(w, c, err);
		if (code < 0)
			return code;
		mode = vti_freq_mode(w->seen[c]);
		if (mode.known)
			w->classes[c] = mode;
	}
	return 0;
}

void vti_freq_forget(struct vti_freqwork *w)
{
	uint32_t c;

	for (c = 0; w->seen && c < w->in->flow->classes->count; c++)
		vti_freq_unsee(w->seen[c]);
	free(w->seen);
}

double vti_freq_unlikely(const struct vti_freqwork *w, uint32_t class_, double f)
{
	const struct vti_freq_seen *s = w->seen[class_];

	if (!s || !s->n || !(f > 0) || w->classes[class_].counted)
		return NAN;
	return -likelihood_at(s->list, s->n, log(f));
}
