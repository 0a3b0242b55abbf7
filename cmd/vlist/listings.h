/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VLIST_LISTINGS_H
#define CMD_VLIST_LISTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "cmd/common/app.h"
#include "cmd/common/cycles.h"
#include "cmd/common/slice.h"
#include "cmd/common/tables.h"
#include "listing/code/listing.h"
#include "listing/code/report.h"

/* The options of vlist. */
struct vlist_options {
	bool source, assembly, intel, att, all;
	bool with_values, with_events, replay, pairs, paths;
	bool top_given;
	bool value_option; /* one that only --values understands was given */
	uint64_t top;
	struct vt_opt_list events, dirs;
	struct app_form form;
	const char *input, *symfs, *what;
	const char *before; /* --diff: the other stream */
	int format;
	struct vt_list_values values;
	struct app_cycles cycles;
	struct vt_listing_options listing;
	struct app_slice slice;
};

/*
 * Adds the procedure that an operand names to those found, or with `several` all that it names;
 * says what is wrong with it.
 */
bool vlist_find_procedure(struct app *a, struct vt_listreport *r, const char *what, bool several);

/* Says that there are no such `sums` of the event that is asked for; false. */
bool vlist_lacks_event(struct app *a, const struct vlist_options *o, const char *sums);

/* After reading failed: says which operand may have been meant for a file, or that none is one. */
void vlist_hint_at_input(struct app *a, const struct vlist_options *o);

/* Lists the procedures that the operands name, or the hottest: code, a view of cycles, or a diff.
 */
void vlist_list_procedures(struct app *a, struct vlist_options *o);

/* Lists the pairs of accesses that conflict. */
void vlist_list_replays(struct app *a, const struct vlist_options *o);

/* Lists paths, those that lead to procedures that the operands name, or all. */
void vlist_list_paths(struct app *a, const struct vlist_options *o);

/* Lists procedures with what pairs of samples tell of their instructions. */
void vlist_list_pairs(struct app *a, struct vlist_options *o);

struct app_profile;

/* Lists memory locations with their values. */
void vlist_list_locations(struct app *a, const struct vlist_options *o,
			  const struct app_profile *data);

#endif
