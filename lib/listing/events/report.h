/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_EVENTS_REPORT_H
#define VT_LISTING_EVENTS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "base/table.h"
#include "events/gather.h"
#include "events/stats.h"
#include "image/images.h"
#include "profile/context.h"
#include "profile/losses.h"
#include "profile/ranking.h"

/* The output of vevent: what samples of followed instructions tell, by place or by something else.
 */
struct vt_evreport {
	const struct vt_evgather *gather;
	struct vt_context *context;
	struct vt_images *images;
	enum vt_level level;	   /* of rows, unless */
	enum vt_evby by;	   /* says what they are of */
	const char *const *events; /* names of those that are listed; none: all */
	size_t nevents;
	const char *what; /* names of totals, with commas; NULL: some */
	bool together;	  /* events are added up */
	uint64_t top;	  /* the most rows; 0: all */
	int histogram;	  /* a total (latency) whose histogram is printed instead; -1: none */
	uint64_t bins;	  /* its rows; 0: as many as it needs */
	bool json;
	enum vt_table_form form; /* unless `json` */
	bool color;
	const struct vt_losses *losses;
};

/* The total with a name as in `vtrace dump`: "lat_load", "dcache_miss"; VT_EV_STATS: none. */
unsigned vt_evstat_named(const char *name, size_t size);

/*
 * Prints it.  -VT_E_USAGE: a name is none of a total; -VT_E_NOTFOUND: of an event; -VT_E_ABSENT: no
 * sample of an event that was asked for follows an instruction, or tells the latency; -VT_E_NOMEM.
 * Errors of writing stick to `out`.
 */
int vt_evreport_print(const struct vt_evreport *p, struct vt_output *out, struct vt_error *err);

#endif
