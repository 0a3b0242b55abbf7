/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_PROFILE_PROFILE_H
#define VT_LISTING_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/output.h"
#include "base/table.h"
#include "profile/event_choice.h"
#include "profile/profile.h"
#include "profile/ranking.h"

/* Listings of a profile, as dcpiprof made them (DCPI paper, section 3.1, figure 1). */

struct vt_proflist_options {
	bool by_period;	    /* percentages are shares of the period, not of the samples */
	uint64_t top;	    /* so many rows; 0: all */
	double min_percent; /* of the first event */
};

/* One profile with what it was made into: all borrowed. */
struct vt_proflist_side {
	const struct vt_profile *profile;
	const struct vt_ranking *ranking; /* sorted */
	struct vt_images *images;
	const struct vt_event_choice *events;
};

/*
 * The lines above the table: total samples of each event, how its pc was chosen, the share of
 * unknown samples, what was lost.
 */
void vt_proflist_header(const struct vt_profile *p, const struct vt_ranking *r,
			const struct vt_event_choice *events, struct vt_output *out);

/* The lines between those and the table, which say what its numbers are. */
void vt_proflist_legend(bool by_period, bool diff, struct vt_output *out);

/*
 * Fills an empty table.  Percentages are shares of the event's total, unknown samples included.
 * Returns how many rows were left out.  Want of memory sticks to the table.
 */
uint64_t vt_proflist_fill(struct vt_table *t, const struct vt_proflist_side *side,
			  const struct vt_proflist_options *opt);

/* How two sets of profiles are compared. */
struct vt_profdiff_options {
	struct vt_proflist_options list;
	double rate;  /* of false discoveries among the changes that are called significant */
	double check; /* percent of the total before; NaN: nothing is checked */
};

/* One set of profiles: of one run, or of several of the same work. */
struct vt_profdiff_set {
	const struct vt_proflist_side *runs; /* borrowed; their rankings are of one level */
	size_t count;
};

/* So many changes are named, the others counted. */
#define VT_PROFDIFF_NAMED 5

/* What changed by `check` or more, one way: rows, and the total. */
struct vt_profdiff_moved {
	uint64_t count;
	struct vt_buf names; /* "work in prog (+12.1%), the total (+10%)": of the greatest */
};

struct vt_profdiff_result {
	uint64_t left_out;    /* rows */
	uint64_t significant; /* rows whose first event changed by more than chance */
	struct vt_profdiff_moved grown;
	struct vt_profdiff_moved shrunk;
	/* Of the first event, the greatest percentage that a run has in rows that name nothing. */
	double unknown;
	size_t unknown_run; /* number of the run, those before counted first */
	size_t unknown_event;
	struct vt_buf alone; /* "a, b": the events that only one set has, which are left out */
	/* "prog (after), lib.so (before)": images that were stripped of symbols there alone. */
	struct vt_buf stripped;
};

/*
 * Fills an empty table with the differences of two sets of rankings: rows match by the image's file
 * name and what they are called, events by label, or by name without modifiers where there is one
 * such event.  Of several runs, the means are shown.  The greatest difference of the first event,
 * of either sign, comes first.
 *
 * How likely chance alone makes such a difference is tested with vt_share_test() where both sets
 * have several runs, and with vt_count_test() else; rows that are named by why their samples have
 * no name are not tested, nor are those of images that only some runs have symbols of. -VT_E_NOMEM;
 * -VT_E_FORMAT if the sets have no event in common.  End the result in either case.
 */
int vt_proflist_diff(struct vt_table *t, const struct vt_profdiff_set sets[2],
		     const struct vt_profdiff_options *opt, struct vt_profdiff_result *result,
		     struct vt_error *err);
void vt_profdiff_result_fini(struct vt_profdiff_result *r);

/* How hot a share of the samples is. */
enum vt_style vt_heat(uint64_t part, uint64_t whole);

/* A longer procedure name does not push the image's column to the right in all other rows. */
#define VTI_NAME_WIDTH 48

/*
 * A column of an event: `member` says what of it.  A line's key is the label, a dot and that; the
 * label alone for "samples".
 */
void vti_event_column(struct vt_table *t, const char *label, const char *member,
		      const char *heading, enum vt_format format);

/* Whether two events are the same but for modifiers: "cycles" and "cycles:u". */
bool vti_same_event(const char *a, const char *b);

/* Cycles by executions: empty if there are none. */
void vti_cpi_cell(struct vt_table *t, struct vt_tally cycles, struct vt_tally executions);

static inline uint64_t vti_weigh(struct vt_tally t, bool by_period)
{
	return by_period ? t.period : t.samples;
}

#endif
