/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_EVENTS_CODE_H
#define VT_EVENTS_CODE_H

#include <stdint.h>

#include "base/error.h"
#include "events/stats.h"
#include "image/images.h"
#include "machine/pipeline/core.h"
#include "profile/block_code.h"

/* What the code of sampled places tells of the samples. */
struct vt_evcode_source {
	struct vt_evstats *stats;
	struct vt_images *images;
	const struct vt_blockcode *code; /* code that no file has; may be NULL */
	const struct vt_core *core;	 /* for micro-operations; NULL: no model is known */
};

/*
 * Checks the samples of each event against chance (struct vt_evcheck), block by block, and divides
 * those of micro-operations by the micro-operations of their instructions.  Only instructions that
 * an event can choose are compared: if all of its samples are loads, loads.  -VT_E_NOMEM.
 */
int vt_evcode_run(const struct vt_evcode_source *src, struct vt_error *err);

#endif
