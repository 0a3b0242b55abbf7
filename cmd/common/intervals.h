/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_INTERVALS_H
#define CMD_COMMON_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "cmd/common/app.h"
#include "image/images.h"
#include "value/collect.h"
#include "value/intervals.h"
#include "value/invariance.h"
#include "value/sites.h"

/* Interval invariance of a recording, which is read twice (value/intervals.h). */

struct app_intervals_options {
	uint32_t k;
	uint32_t what; /* kinds: bits of enum vt_what, or VT_INV_EVERY */
	uint64_t min;  /* only instructions that were executed more often */
	const char *symfs;
};

/* An instruction. */
struct app_interval_row {
	size_t site; /* index of its list in the sites */
	uint64_t executions;
	const float *shares; /* k of them */
	double mean;
	double lowest;
	double highest;
};

struct app_intervals {
	struct app_warnings warnings; /* about images */
	char *cache;
	struct vt_images *images;
	struct vt_sites *sites;
	struct vt_collect *collect;
	struct vt_intervals *intervals;
	uint64_t *totals;
	size_t ntotals;
	uint64_t *ids; /* of the stream's images */
	size_t nids;
	size_t ids_cap;
	uint32_t *stream_id; /* by the sites' number of an image; or UINT32_MAX */
	size_t nstream_id;
	struct app_interval_row *rows; /* the lowest mean first */
	size_t nrows;
};

/*
 * Reads the recording twice; `path` names a file.  False after app_fail(); end with
 * app_intervals_end() in either case.
 */
bool app_intervals_read(struct app *a, struct app_intervals *iv, const char *path,
			const struct app_intervals_options *o);
void app_intervals_end(struct app_intervals *iv);

/* Fills a new table: a row for each instruction, a column for each interval. */
void app_intervals_fill(struct app_intervals *iv, const struct app_intervals_options *o,
			struct vt_table *t);

#endif
