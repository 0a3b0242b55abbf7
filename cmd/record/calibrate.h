/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_RECORD_CALIBRATE_H
#define CMD_RECORD_CALIBRATE_H

#include <stdbool.h>

#include "calibrate/calibration.h"
#include "cmd/common/app.h"

/*
 * `vtrace record --calibrate`: samples planted loops, prints what the samples can be believed for,
 * and writes it to the stream `output` unless that is NULL.  Failure: the app's status.
 */
void record_calibrate(struct app *a, bool json, const char *output, const char *compress);

/* Reads what it wrote.  False after app_fail(). */
bool calibration_load(struct app *a, const char *path, struct vt_calibration *c);

/* The same, if it was found on this machine, for the event that samples time here. */
bool calibration_load_ours(struct app *a, const char *path, struct vt_calibration *c);

/* The name of this machine's processor, as perf records it: "AuthenticAMD,26,2,1". */
void calibration_name_cpu(char name[VT_CALIBRATION_TEXT]);

void calibration_show(struct app *a, const struct vt_calibration *c, bool json);

#endif
