/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * usage: calibration_make CPU EVENT FILE
 *
 * Writes a calibration of made-up figures, that of a machine with this processor and event.
 */
#include <stdio.h>

#include "calibrate/calibration.h"

int main(int argc, char **argv)
{
	struct vt_calibration c = {.nanoseconds = 1,
				   .period = 1000003,
				   .skid = {4000, 0.01, 0.96},
				   .clock = 3,
				   .spread = 0.01,
				   .tsc = 2.5,
				   .multiply = 3,
				   .bound = {2, 6, 40}};
	struct vt_writer_options o = {.compression = VT_COMPRESS_NONE};
	struct vt_error err = VT_ERROR_INIT;
	struct vt_writer *w;
	int i;

	if (argc != 4)
		return 2;
	snprintf(c.cpu, sizeof(c.cpu), "%s", argv[1]);
	snprintf(c.event, sizeof(c.event), "%s", argv[2]);
	for (i = 0; i < VT_CALIBRATION_RATES; i++)
		c.rates[i] = (struct vt_calibration_rate){1000, 1000, 3e-5, 0.03, 2.91, 0.01};
	for (i = 0; i < VT_CALIBRATION_LENGTHS; i++)
		c.lengths[i] = (struct vt_calibration_length){6 << i, 2000, 2, 0.5};
	w = vt_writer_open(argv[3], &o, &err);
	if (w)
		vt_calibration_write(&c, w);
	if (!w || vt_writer_close(w, VT_STATUS_COMPLETE, &err) < 0) {
		fprintf(stderr, "calibration_make: %s\n", err.text);
		return 4;
	}
	return 0;
}
