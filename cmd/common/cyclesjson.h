/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_CYCLESJSON_H
#define CMD_COMMON_CYCLESJSON_H

#include <jansson.h>

#include "listing/cycles/calc.h"
#include "listing/cycles/cycles.h"

/* Where cycles went, as JSON: cycles, and percentages of them.  NULL when memory runs out. */
json_t *app_json_cyclesum(const struct vt_cyclesum *s);

/* A procedure by blocks and instructions, all but blocks of less than `cutoff` percent. */
json_t *app_json_calc(const struct vt_calc *c, double cutoff);

#endif
