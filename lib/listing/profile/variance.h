/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_PROFILE_VARIANCE_H
#define VT_LISTING_PROFILE_VARIANCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "base/table.h"
#include "profile/ranking.h"
#include "profile/runs.h"

/* The variation of samples between runs, as by dcpistats: DCPI 3.3, figure 3. */

enum vt_stat_order {
	VT_STAT_RANGE, /* by (max - min) / sum, greatest first; likewise the others */
	VT_STAT_DEVIATION,
	VT_STAT_NOISE,
	VT_STAT_SUM,
	VT_NSTATORDERS
};

struct vt_statlist_options {
	enum vt_stat_order order;
	bool by_period;
	uint64_t top;	    /* maximum number of rows; 0: all */
	double min_percent; /* of the sum over all rows */
};

/*
 * Fills an empty table with the rows of the runs that have samples of the first event.  `level`
 * determines the columns.  `total` is the sum over all runs.  Returns the number of rows that were
 * left out, or -VT_E_NOMEM.
 */
int64_t vt_statlist_fill(struct vt_table *t, const struct vt_runs *runs, enum vt_level level,
			 uint64_t total, const struct vt_statlist_options *opt,
			 struct vt_error *err);

/* A run of a report. */
struct vt_statrun {
	const char *path; /* borrowed */
	struct vt_tally total;
	struct vt_losses loss;
};

/* The output of vstats; all borrowed except the table. */
struct vt_statreport {
	const char *event; /* NULL if no run has one */
	enum vt_level level;
	const struct vt_runs *rows;
	const struct vt_statrun *runs;
	size_t count;
	struct vt_statlist_options how;
	struct vt_table *table; /* filled by vt_statreport_fill() */
	int64_t left_out;	/* rows */
};

/* Computes the rows.  -VT_E_NOMEM.  Call vt_statreport_fini() also after an error. */
int vt_statreport_fill(struct vt_statreport *r, struct vt_error *err);
void vt_statreport_fini(struct vt_statreport *r);

/* The report as a JSON document; a new reference, NULL when memory runs out. */
json_t *vt_statreport_json(const struct vt_statreport *r);

/*
 * Prints the table, as VT_TABLE_TEXT with the lines above and below it.  -VT_E_NOMEM; errors of
 * writing stick to `out`.
 */
int vt_statreport_print(const struct vt_statreport *r, enum vt_table_form form, bool color,
			struct vt_output *out, struct vt_error *err);

#endif
