/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_EVENTS_INTERNAL_H
#define VT_LISTING_EVENTS_INTERNAL_H

#include <jansson.h>

#include "base/hash.h"
#include "listing/events/report.h"

/* A row: the totals of one event at places of one name. */
struct vti_evrow {
	uint64_t name; /* with `event` the key: a row of the ranking, or of the groups */
	uint64_t event;
	struct vt_evtotal all; /* its samples */
	struct vt_evtotal total[VT_EV_STATS];
	struct vt_evbins bins[VT_EV_LATENCIES];
};

/* A source, page or address of data. */
struct vti_evgroup {
	uint64_t value;
	uint64_t known; /* enum vt_evgroup */
};

struct vti_evrows {
	const struct vt_evreport *report;
	struct vt_ranking *ranking; /* NULL: groups */
	struct vt_hash groups;	    /* struct vti_evgroup */
	struct vt_hash rows;
	struct vti_evrow *sums;	   /* by event: of all rows */
	struct vt_evevent *events; /* likewise */
	char **labels;		   /* their names */
	size_t nevents;
	const struct vti_evrow **order; /* the rows, sorted */
};

/* Adds up the totals by row.  Errors of vt_evreport_print().  End with vti_evrows_fini(). */
int vti_evrows_init(struct vti_evrows *r, const struct vt_evreport *report, struct vt_error *err);
void vti_evrows_fini(struct vti_evrows *r);

/* Sorts the rows by a total, largest first; VT_EV_STATS: by their samples.  -VT_E_NOMEM. */
int vti_evrows_sort(struct vti_evrows *r, unsigned stat, struct vt_error *err);

/* Prints what is known of an event of the stream: its samples, and whether they are random. */
void vti_event_header(const char *label, const struct vt_evevent *e, const struct vt_evtotal *all,
		      struct vt_output *out);

/* Prints the lines above a table: events, and whether their samples are random. */
void vti_evrows_header(const struct vti_evrows *r, struct vt_output *out);

/* The same of each event as JSON. */
json_t *vti_evrows_json(const struct vti_evrows *r);

/* Prints a histogram of each event.  -VT_E_NOMEM. */
int vti_evrows_histogram(const struct vti_evrows *r, struct vt_output *out, struct vt_error *err);

#endif
