/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_PROFILE_VARIANCE_H
#define VT_LISTING_PROFILE_VARIANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/table.h"
#include "profile/ranking.h"
#include "profile/runs.h"

/* How much the samples of procedures vary between runs: dcpistats; DCPI 3.3, figure 3. */

enum vt_stat_order {
	VT_STAT_RANGE, /* the greatest share between the least and the most first */
	VT_STAT_DEVIATION,
	VT_STAT_NOISE,
	VT_STAT_SUM,
	VT_NSTATORDERS
};

struct vt_statlist_options {
	enum vt_stat_order order;
	bool by_period;
	uint64_t top;	    /* so many rows; 0: all */
	double min_percent; /* of the sum over all rows */
};

/*
 * Fills an empty table with a row for each of the runs' rows that has samples of their first event;
 * the level only says which columns there are.  `total` is the sum over all runs.  Returns how many
 * rows were left out; -VT_E_NOMEM.
 */
int64_t vt_statlist_fill(struct vt_table *t, const struct vt_runs *runs, enum vt_level level,
			 uint64_t total, const struct vt_statlist_options *opt,
			 struct vt_error *err);

#endif
