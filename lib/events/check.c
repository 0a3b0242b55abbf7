/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "events/check.h"

#include <math.h>

void vt_evcheck_add(struct vt_evcheck *c, const double *samples, const double *shares, unsigned n)
{
	double all = 0, whole = 0;
	unsigned i;

	for (i = 0; i < n; i++) {
		all += samples[i];
		whole += shares ? shares[i] : 1;
	}
	if (n < 2 || !(all > 0))
		return;
	for (i = 0; i < n; i++) {
		double expected = all * (shares ? shares[i] : 1) / whole;

		c->squares += (samples[i] - expected) * (samples[i] - expected) / expected;
	}
	c->freedom += n - 1;
}

/* The normal approximation of Wilson and Hilferty (1931); 3.09 is the 99.9 % quantile. */
bool vt_evcheck_differs(const struct vt_evcheck *c)
{
	double part;

	if (!vt_evcheck_known(c))
		return false;
	part = 2 / (9 * c->freedom);
	return (cbrt(c->squares / c->freedom) - (1 - part)) / sqrt(part) > 3.09;
}

double vt_evcheck_factor(const struct vt_evcheck *c)
{
	return vt_evcheck_differs(c) ? c->squares / c->freedom : 1;
}
