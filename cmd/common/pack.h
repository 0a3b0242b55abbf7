/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_PACK_H
#define CMD_COMMON_PACK_H

#include "calibrate/calibration.h"
#include "cmd/common/app.h"

/* How a stream is packed; NULL: not given. */
struct app_pack {
	const char *output;
	const char *compress;
	const char *symfs;
	const struct vt_calibration *calibration; /* of where it was recorded */
};

/*
 * Writes a stream anew, with what listings need of the files of its images.  `path` as
 * app_open_reader() has it.  Failure: the app's status.
 */
void app_pack(struct app *a, const struct app_pack *o, const char *path);

#endif
