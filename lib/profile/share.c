/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/share.h"

#include <math.h>

/* The normal distribution's quantile for 95 %, two-sided. */
#define Z 1.959963984540054

static double clamp(double v, double low, double high)
{
	return v < low ? low : v > high ? high : v;
}

static double root(double v)
{
	return v > 0 ? sqrt(v) : 0;
}

/* Newcombe's method 4.  Both bounds for a share of `n` samples, which need not be an integer. */
static void bound_share(struct vt_share *s)
{
	const double p = s->part, n = s->samples, q = 1 - p, zz = Z * Z;
	double low = 2 * n * p + zz - 1 - Z * root(zz - 2 - 1 / n + 4 * p * (n * q + 1));
	double high = 2 * n * p + zz + 1 + Z * root(zz + 2 - 1 / n + 4 * p * (n * q - 1));

	s->low = p > 0 ? clamp(low / (2 * (n + zz)), 0, p) : 0;
	s->high = p < 1 ? clamp(high / (2 * (n + zz)), p, 1) : 1;
}

static double squares_of(struct vt_tally t)
{
	return t.squares > 0 ? t.squares : vt_tally_squares(t.samples, t.period);
}

/*
 * The variance of sum(w of the part) / sum(w) is, to first order,
 * ((1 - p)^2 sum(w^2 of the part) + p^2 sum(w^2 of the rest)) / sum(w)^2: Cochran, Sampling
 * Techniques, 1977, 6.
 */
static double effective_samples(struct vt_tally part, struct vt_tally whole, double p)
{
	double sum = (double)whole.period, all = squares_of(whole);
	double in = fmin(squares_of(part), all);
	double variance = ((1 - p) * (1 - p) * in + p * p * (all - in)) / (sum * sum);
	double n = fmin((double)whole.samples, sum * sum / all);

	if (p > 0 && p < 1 && variance > 0)
		n = fmin(n, p * (1 - p) / variance);
	return n;
}

struct vt_share vt_share_of_part(double part, double samples)
{
	struct vt_share s = {.known = samples > 0, .part = clamp(part, 0, 1), .samples = samples};

	if (s.known)
		bound_share(&s);
	return s;
}

struct vt_share vt_share_of(struct vt_tally part, struct vt_tally whole, bool by_period)
{
	struct vt_share s = {.known = whole.samples > 0 && (!by_period || whole.period > 0)};

	if (!s.known)
		return s;
	if (by_period) {
		s.part = clamp((double)part.period / (double)whole.period, 0, 1);
		s.samples = effective_samples(part, whole, s.part);
	} else {
		s.part = clamp((double)part.samples / (double)whole.samples, 0, 1);
		s.samples = (double)whole.samples;
	}
	bound_share(&s);
	return s;
}

struct vt_share vt_share_of_event(const struct vt_profile_event *e, struct vt_tally part,
				  bool by_period)
{
	const struct vt_tally whole = {e->samples, e->period, e->squares};

	if (e->kind != VT_PROFILE_EVENT || e->sampling == 1)
		return (struct vt_share){.known = false};
	return vt_share_of(part, whole, by_period);
}

double vt_share_half(const struct vt_share *s)
{
	return fmax(s->part - s->low, s->high - s->part);
}

uint64_t vt_share_missing(const struct vt_share *s, uint64_t samples, double half)
{
	struct vt_share try = *s;
	/* At 50 %, the widest, Z / (2 half) squared samples and the correction's 1 / half. */
	double low = s->samples, high = fmax(s->samples, 4 / (half * half) + 8 / half);
	double more;

	if (vt_share_half(s) <= half)
		return 0;
	while (high - low > 1e-9 * high) {
		try.samples = (low + high) / 2;
		bound_share(&try);
		if (vt_share_half(&try) <= half)
			high = try.samples;
		else
			low = try.samples;
	}
	more = ceil((high / s->samples - 1) * (double)samples - 1e-6);
	return more < 1e18 ? (uint64_t)more : UINT64_C(1000000000000000000);
}
