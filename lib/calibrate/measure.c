/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/measure.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fewer samples show no policy; of those, so large a part has to follow it. */
#define MIN_SAMPLES 100
#define MIN_SHARE   0.8

/* Errors of lengths agree if they lie no further apart; so many lengths have to. */
#define AGREE_SIGMAS 3.5
#define MIN_LENGTHS  3
#define SURE_SIGMAS  1.96 /* 95 % */

static int compare_values(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

double vt_median(double *v, size_t n)
{
	if (!n)
		return 0;
	qsort(v, n, sizeof(*v), compare_values);
	return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

/* ---- where samples lie ---- */

struct vt_skid vt_skid_find(const uint64_t *samples, size_t insns, size_t load)
{
	struct vt_skid s = {0};
	size_t i;

	assert(load < insns);
	for (i = 0; i < insns; i++)
		s.samples += (double)samples[i];
	if (s.samples > 0) {
		s.own = (double)samples[load] / s.samples;
		s.next = (double)samples[(load + 1) % insns] / s.samples;
	}
	return s;
}

enum vt_policy vt_skid_policy(const struct vt_skid *s)
{
	if (s->samples < MIN_SAMPLES)
		return VT_POLICY_UNKNOWN;
	return s->own >= MIN_SHARE    ? VT_POLICY_PRECISE
	       : s->next >= MIN_SHARE ? VT_POLICY_INTERRUPT
				      : VT_POLICY_UNKNOWN;
}

void vt_skid_charge(enum vt_policy policy, uint64_t *samples, size_t insns)
{
	uint64_t first;

	if (policy != VT_POLICY_INTERRUPT || !insns)
		return;
	first = samples[0];
	memmove(samples, samples + 1, (insns - 1) * sizeof(*samples));
	samples[insns - 1] = first;
}

/* ---- clocks, and what interrupts cost ---- */

static struct vt_spread find_spread(const double *v, size_t n)
{
	struct vt_spread s = {0};
	double low = INFINITY, high = -INFINITY;
	size_t i;

	for (i = 0; i < n; i++) {
		s.mean += v[i] / (double)n;
		low = fmin(low, v[i]);
		high = fmax(high, v[i]);
	}
	if (s.mean > 0)
		s.width = (high - low) / s.mean;
	return s;
}

#define MAX_LOOPS 16

struct vt_spread vt_clock_bare(const struct vt_timed_loop *l, size_t n)
{
	double clock[MAX_LOOPS];
	size_t i;

	assert(n <= MAX_LOOPS);
	for (i = 0; i < n; i++)
		clock[i] = l[i].cycles / l[i].bare_ns;
	return find_spread(clock, n);
}

struct vt_spread vt_clock_effective(const struct vt_timed_loop *l, size_t n, double period)
{
	double clock[MAX_LOOPS], units = 0, ns = 0;
	size_t i;

	assert(n <= MAX_LOOPS);
	for (i = 0; i < n; i++) {
		units += l[i].samples * period;
		ns += l[i].sampled_ns;
	}
	if (!(units > 0))
		return (struct vt_spread){0};
	for (i = 0; i < n; i++)
		clock[i] = l[i].cycles / (l[i].sampled_ns * units / ns);
	return find_spread(clock, n);
}

struct vt_interrupts vt_interrupts_find(const struct vt_timed_loop *l, size_t n)
{
	double bare = 0, sampled = 0, samples = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		bare += l[i].bare_ns;
		sampled += l[i].sampled_ns;
		samples += l[i].samples;
	}
	if (!(samples > 0) || !(sampled > 0))
		return (struct vt_interrupts){0};
	return (struct vt_interrupts){.rate = samples / (sampled * 1e-9),
				      .cost = (sampled - bare) * 1e-9 / samples,
				      .lost = (sampled - bare) / sampled};
}

/* ---- regions ---- */

struct vt_serial_errors vt_serial_compare(const struct vt_serial *r)
{
	struct vt_serial_errors e = {0};
	double all = 0, samples = 0, share;
	size_t i;

	assert(r->count <= VT_SERIAL_MAX);
	for (i = 0; i < r->count; i++) {
		all += r->cycles[i];
		samples += (double)r->samples[i];
	}
	if (!(samples > 0))
		return e;
	e.count = r->count;
	e.cycles = all / (double)r->count;
	e.samples = samples;
	for (i = 0; i < r->count; i++) {
		share = (double)r->samples[i] / samples;
		e.error[i] = share * all - r->cycles[i];
		/* Of the known share, which is none of 0 or 1. */
		share = r->cycles[i] / all;
		e.sigma[i] = all * sqrt(share * (1 - share) / samples);
	}
	return e;
}

size_t vt_serial_worst(const struct vt_serial_errors *e)
{
	size_t i, worst = 0;

	for (i = 1; i < e->count; i++)
		if (fabs(e->error[i]) > fabs(e->error[worst]))
			worst = i;
	return worst;
}

/* The error of a region by all of these lengths; false if they do not agree. */
static bool mean_error(const struct vt_serial_errors *e, size_t n, size_t region, double *mean,
		       double *sigma)
{
	double sum = 0, weights = 0, weight;
	size_t i;

	for (i = 0; i < n; i++) {
		if (region >= e[i].count)
			return false;
		weight = 1 / (e[i].sigma[region] * e[i].sigma[region]);
		sum += weight * e[i].error[region];
		weights += weight;
	}
	*mean = sum / weights;
	*sigma = sqrt(1 / weights);
	for (i = 0; i < n; i++)
		if (fabs(e[i].error[region] - *mean) > AGREE_SIGMAS * e[i].sigma[region])
			return false;
	return true;
}

/* The error of any region by all of these lengths, with what chance may hide of it. */
static bool largest_error(const struct vt_serial_errors *e, size_t n, double *error)
{
	double mean, sigma;
	size_t i;

	*error = 0;
	for (i = 0; i < e->count; i++) {
		if (!mean_error(e, n, i, &mean, &sigma))
			return false;
		*error = fmax(*error, fabs(mean) + SURE_SIGMAS * sigma);
	}
	return e->count > 0;
}

bool vt_serial_bound(const struct vt_serial_errors *e, size_t n, struct vt_serial_bound *b)
{
	size_t i;

	for (i = 0; i + MIN_LENGTHS <= n; i++) {
		if (!largest_error(e + i, n - i, &b->error))
			continue;
		b->from = e[i].cycles;
		b->least = ceil(fmax(b->from, b->error / VT_SERIAL_BAR));
		return b->least <= e[n - 1].cycles;
	}
	return false;
}
