/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CYCLES_CALIBRATION_H
#define VT_LISTING_CYCLES_CALIBRATION_H

#include <jansson.h>

#include "base/error.h"
#include "base/output.h"
#include "calibrate/calibration.h"

/* Reports what samples on a machine can be believed for. */

/* Prints the figures, then what follows from them, in sentences.  0 or -VT_E_NOMEM. */
int vt_calibration_print(const struct vt_calibration *c, struct vt_output *out,
			 struct vt_error *err);

/* The same as a document.  NULL when memory runs out. */
json_t *vt_calibration_json(const struct vt_calibration *c);

#endif
