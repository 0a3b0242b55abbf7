/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_EVENTS_CODE_H
#define VT_LISTING_EVENTS_CODE_H

#include "base/error.h"
#include "base/output.h"
#include "base/table.h"
#include "events/gather.h"
#include "listing/code/listing.h"
#include "profile/losses.h"

/*
 * Procedures, instruction by instruction, with the events and mean latencies that samples tell of
 * each: of the one event of the stream that has most samples, or that is named.
 */
struct vt_evlisting {
	const struct vt_profile *profile;
	struct vt_images *images;
	const struct vt_evgather *gather;
	const char *event; /* NULL: that with most samples */
	const struct vt_listing_options *options;
	const struct vt_losses *losses;
	bool json;
	enum vt_table_form form; /* unless `json` */
	bool color;
	struct vt_output *out;
	void (*note)(void *arg, const char *text); /* for procedures without code */
	void *arg;
};

/* -VT_E_NOTFOUND: there is no such event; -VT_E_NOMEM.  Errors of writing stick to the output. */
int vt_evlisting_print(const struct vt_evlisting *l, const struct vt_found *found,
		       struct vt_error *err);

#endif
