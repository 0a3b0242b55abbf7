/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_PROFILE_PERF_STYLE_H
#define VT_LISTING_PROFILE_PERF_STYLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "image/images.h"
#include "profile/event_choice.h"
#include "profile/losses.h"
#include "profile/profile.h"

/*
 * A profile in the form of `perf report --stdio --no-children -g none`: a section for each event,
 * its rows in perf's order, shares of the events' periods.  Code without a symbol has a row for
 * each address.
 */

/* The keys that are columns: VT_GROUP_COMM, VT_GROUP_THREAD and VT_GROUP_CPU. */
#define VT_PERF_STYLE_KEYS 3

struct vt_perf_style {
	/* Its groups are by the keys that are columns, then VT_GROUP_MODE and VT_GROUP_ADDRESS. */
	const struct vt_profile *profile;
	struct vt_images *images;
	const struct vt_event_choice *events;
	const struct vt_losses *losses;
	bool image;	    /* the columns after those of the keys: Shared Object, */
	bool procedure;	    /* and Symbol, which wants the image, too */
	uint64_t top;	    /* rows of each event, at most; 0: all */
	double min_percent; /* leaves out rows with less */
};

/* -VT_E_NOMEM; errors of writing stick to `out`.  Names are escaped. */
int vt_perf_style_print(const struct vt_perf_style *s, struct vt_output *out, struct vt_error *err);

#endif
