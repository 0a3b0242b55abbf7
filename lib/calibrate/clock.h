/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CALIBRATE_CLOCK_H
#define VT_CALIBRATE_CLOCK_H

#include "calibrate/calibration.h"
#include "stream/record.h"

/* The effective clocks of a calibration that a recording keeps, for samples of nanoseconds. */
struct vt_calibrated_clock {
	double nanoseconds; /* above 0 if the calibration was of such */
	double hz[VT_CALIBRATION_RATES];
	double effective[VT_CALIBRATION_RATES]; /* GHz */
};

/* Takes a record of the stream; `c` is zero at first.  What is no number that can be counts as 0.
 */
void vt_calibrated_clock_feed(struct vt_calibrated_clock *c, const struct vt_record *rec);

/*
 * The effective clock in GHz of samples at a rate: what interrupts take grows with it.  Beyond the
 * rates that were calibrated it is that of the nearest; 0 if it is not known.
 */
double vt_calibrated_clock_at(const struct vt_calibrated_clock *c, double hz);

#endif
