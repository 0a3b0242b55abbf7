/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef LISTING_CYCLES_JSON_H
#define LISTING_CYCLES_JSON_H

#include <jansson.h>

#include "listing/cycles/calc.h"
#include "listing/cycles/cycles.h"

/*
 * Where cycles went, in cycles and in percent of all of them; a new reference, NULL when memory
 * runs out.
 */
json_t *vt_json_cyclesum(const struct vt_cyclesum *s);

/* A procedure by blocks and instructions, without the blocks of less than `cutoff` percent. */
json_t *vt_json_calc(const struct vt_calc *c, double cutoff);

#endif
