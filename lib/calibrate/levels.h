/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CALIBRATE_LEVELS_H
#define VT_CALIBRATE_LEVELS_H

#include <stddef.h>
#include <stdint.h>

/* Which level of memory a load's latency tells: value sampling, section 3.3. */

#define VT_LEVELS_MAX 4 /* L1, L2, L3, memory */

/* The latencies of loads that are known to come from one level. */
struct vt_level_times {
	uint32_t *ticks;
	size_t count; /* 0: there is no such level */
};

/* Levels that the latencies do not tell apart are one class. */
struct vt_level_class {
	uint32_t levels; /* bit n: level n */
	uint32_t end;	 /* ticks: the class's are fewer; of the last UINT32_MAX */
	double right; /* the share of the measured loads of its levels that have such latencies */
};

/*
 * Finds classes of neighbouring levels, from the fastest on, and where each ends: where the fewest
 * loads of both sides are wrong.  Where more than one of ten would be, as the mean of both sides,
 * two classes become one, those with most wrong first.  Sorts the times.  Returns how many there
 * are.
 */
size_t vt_levels_find(struct vt_level_times times[VT_LEVELS_MAX],
		      struct vt_level_class classes[VT_LEVELS_MAX]);

/* The class of a latency. */
const struct vt_level_class *vt_levels_class(const struct vt_level_class *classes, size_t count,
					     uint32_t ticks);

#endif
