/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef LISTING_CYCLES_JSON_H
#define LISTING_CYCLES_JSON_H

#include <jansson.h>

#include "listing/cycles/calc.h"
#include "listing/cycles/cycles.h"

/*
 * Both functions return a new reference, or NULL when memory runs out.
 *
 * Where cycles went, in cycles and in percent of the sum.
 */
json_t *vt_json_cyclesum(const struct vt_cyclesum *s);

/* A procedure by blocks and instructions; blocks below `cutoff` percent are left out. */
json_t *vt_json_calc(const struct vt_calc *c, double cutoff);

#endif
