/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "calibrate/clock.h"

#include <stdio.h>

#include "stream/meta.h"

/* A clock that is none, in GHz, or a rate; as vt_calibration_read() has it. */
#define MAX_CLOCK 1e3
#define MAX_RATE  1e9

static void take_number(const struct vt_record *rec, const char *key, double most, double *to)
{
	double v;

	if (vt_meta_f64(rec, key, &v))
		*to = v > 0 && v <= most ? v : 0;
}

void vt_calibrated_clock_feed(struct vt_calibrated_clock *c, const struct vt_record *rec)
{
	char key[64];
	size_t i;

	if (rec->kind != VT_META)
		return;
	take_number(rec, "record.calibrate.nanoseconds", 1, &c->nanoseconds);
	for (i = 0; i < VT_CALIBRATION_RATES; i++) {
		snprintf(key, sizeof(key), "record.calibrate.rate.%zu.hz", i);
		take_number(rec, key, MAX_RATE, &c->hz[i]);
		snprintf(key, sizeof(key), "record.calibrate.rate.%zu.effective", i);
		take_number(rec, key, MAX_CLOCK, &c->effective[i]);
	}
}

double vt_calibrated_clock_at(const struct vt_calibrated_clock *c, double hz)
{
	size_t i, below = SIZE_MAX, above = SIZE_MAX;
	double part;

	for (i = 0; i < VT_CALIBRATION_RATES && c->nanoseconds > 0; i++) {
		if (!(c->hz[i] > 0) || !(c->effective[i] > 0))
			continue;
		if (c->hz[i] <= hz && (below == SIZE_MAX || c->hz[i] > c->hz[below]))
			below = i;
		if (c->hz[i] >= hz && (above == SIZE_MAX || c->hz[i] < c->hz[above]))
			above = i;
	}
	if (below == SIZE_MAX)
		return above == SIZE_MAX ? 0 : c->effective[above];
	if (above == SIZE_MAX || above == below || c->hz[above] == c->hz[below])
		return c->effective[below];
	part = (hz - c->hz[below]) / (c->hz[above] - c->hz[below]);
	return c->effective[below] + part * (c->effective[above] - c->effective[below]);
}
