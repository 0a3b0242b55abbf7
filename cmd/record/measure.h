/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_MEASURE_H
#define CMD_RECORD_MEASURE_H

#include "base/error.h"
#include "calibrate/calibration.h"
#include "cmd/record/probe.h"

/*
 * Samples planted loops by the event that samples time on this machine, for less than ten seconds,
 * and sets all of a calibration that is measured.  VT_E_SYSTEM, VT_E_NOMEM.
 */
int measure_machine(const struct probe *m, struct vt_calibration *c, struct vt_error *err);

#endif
