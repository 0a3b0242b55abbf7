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
#include "profile/runs.h"
#include "profile/share.h"

/* Listings of a profile, as by dcpiprof (DCPI paper, section 3.1, figure 1). */

struct vt_proflist_options {
	bool by_period;	    /* percentages are shares of the period, not of the samples */
	uint64_t top;	    /* maximum number of rows; 0: all */
	double min_percent; /* of the first event: leaves out rows with less */
};

/* A profile with its ranking and the chosen events; all borrowed. */
struct vt_proflist_side {
	const struct vt_profile *profile;
	const struct vt_ranking *ranking; /* sorted */
	struct vt_images *images;
	const struct vt_event_choice *events;
};

/*
 * Prints the lines above the table: for each event the total samples, how their addresses were
 * chosen, and the share of unknown samples; then losses.
 */
void vt_proflist_header(const struct vt_profile *p, const struct vt_ranking *r,
			const struct vt_event_choice *events, struct vt_output *out);

/* What the numbers of a table are, for the lines that explain them. */
struct vt_proflist_legend {
	bool by_period;
	bool diff;
	bool children;
	bool intervals;
	bool unequal; /* samples of an event have unequal periods */
};

/* Prints the lines between header and table, which explain the numbers. */
void vt_proflist_legend(const struct vt_proflist_legend *l, struct vt_output *out);

/* Prints what the sign ± of an interval means. */
void vt_proflist_sign(struct vt_output *out);

/*
 * Prints whether there are enough samples to know the share `s` of a listing's first row to one
 * percentage point; nothing if it has no interval.  `samples` is the number that is there.
 */
void vt_proflist_enough(const struct vt_share *s, uint64_t samples, struct vt_output *out);

/* The share of the listing's first row among the samples of the first event, which the rows are
 * sorted by; not `known` where it has no interval. */
struct vt_share vt_proflist_first(const struct vt_proflist_side *side, bool by_period);

/*
 * Fills an empty table.  Percentages are shares of the event's total, including unknown samples.
 * Returns the number of rows that were left out.  Errors stick to the table.
 */
uint64_t vt_proflist_fill(struct vt_table *t, const struct vt_proflist_side *side,
			  const struct vt_proflist_options *opt);

/* Options of a comparison of two sets of profiles. */
struct vt_profdiff_options {
	struct vt_proflist_options list;
	double rate;   /* of false discoveries among significant rows; the level of the total's test
			*/
	double check;  /* least change to report, in percent of the total before; NaN: none */
	bool children; /* the rankings' samples are vt_callgather_rank_children()'s */
};

/* The profiles of one run, or of several runs of the same work. */
struct vt_profdiff_set {
	const struct vt_proflist_side *runs; /* borrowed; their rankings are of one level */
	size_t count;
};

/* The number of changes that are named; others are only counted. */
#define VT_PROFDIFF_NAMED 5

/* The rows, and the total, that changed by `check` or more in one direction. */
struct vt_profdiff_moved {
	uint64_t count;
	struct vt_buf names; /* of the greatest: "work in prog (+12.1%), the total (+10%)" */
};

/* All samples of an event: one question of its own, tested by itself at the level `rate`. */
struct vt_profdiff_total {
	const char *label; /* borrowed from a run's events */
	double before;	   /* samples of a run, on the average */
	double after;
	double by;	  /* the change in percent of all before; NaN: there are none before */
	double p;	  /* the probability that it is due to chance; NaN: not tested */
	bool significant; /* p is at most the rate */
	double least;	  /* no change below so many percent would be; NaN: not known */
};

struct vt_profdiff_result {
	uint64_t left_out;    /* rows */
	uint64_t significant; /* rows with a significant change of the first event */
	struct vt_profdiff_moved grown;
	struct vt_profdiff_moved shrunk;
	bool total_grown; /* the total is among `grown` */
	/* The greatest percentage of the first event that a run has in vt_runs_unknown() rows. */
	double unknown;
	size_t unknown_run; /* of the runs before, then those after */
	size_t unknown_event;
	struct vt_buf alone;	/* "a, b": events that only one set has, which are left out */
	struct vt_buf stripped; /* "prog (after)": images without symbols in one set only */
	struct vt_profdiff_total *total; /* of each event that is compared */
	size_t ntotals;
};

/*
 * Fills an empty table with the differences of two sets of rankings.  Rows match as in struct
 * vt_runs; events match by label, or by name without modifiers if only one event has that name.
 * For several runs the means are shown.  Rows are sorted by the absolute difference of the first
 * event.
 *
 * The probability that a difference is due to chance is vt_share_test() if both sets have several
 * runs, else vt_count_test(); that of the total is the greater one of vt_mean_test() and
 * vt_count_test().  vt_runs_unknown() rows are not tested.  -VT_E_NOMEM; -VT_E_FORMAT if
 * the sets have no event in common.  Call vt_profdiff_result_fini() also after an error.
 */
int vt_proflist_diff(struct vt_table *t, const struct vt_profdiff_set sets[2],
		     const struct vt_profdiff_options *opt, struct vt_profdiff_result *result,
		     struct vt_error *err);
void vt_profdiff_result_fini(struct vt_profdiff_result *r);

/* "12%", "0.30%", "<0.01%": a probability that is not NaN. */
void vti_put_chance(struct vt_buf *out, double p);

/* "+12.3%": three digits, and more only of whole percents. */
void vti_put_change(struct vt_buf *out, double by);

/* The style of a share of the samples. */
enum vt_style vt_heat(uint64_t part, uint64_t whole);

/* A longer procedure name does not widen its column. */
#define VTI_NAME_WIDTH 48

/*
 * Adds a column of an event.  Its key is the event's label, a dot and `member`; the label alone if
 * that is "samples".
 */
void vti_event_column(struct vt_table *t, const char *label, const char *member,
		      const char *heading, enum vt_format format);

/* Adds the column "±" of a share's interval, which people see, and fills it. */
void vti_sign_column(struct vt_table *t);
void vti_sign_cell(struct vt_table *t, const struct vt_share *s);

/* Adds the columns of the bounds, by these keys, which programs see, and fills them. */
void vti_bound_columns(struct vt_table *t, const char *low, const char *high);
void vti_bound_cells(struct vt_table *t, const struct vt_share *s);

/* Adds the column of procedures or lines, if the level has one, and the column of images. */
void vti_name_columns(struct vt_table *t, enum vt_level level);

/* Fills these two for a row of several runs. */
void vti_name_cells(struct vt_table *t, enum vt_level level, const struct vt_runs *runs,
		    size_t row);

/* The samples and period of an event. */
struct vt_tally vti_event_total(const struct vt_profile *p, size_t event);

/* Whether two names of events differ at most in modifiers, such as "cycles" and "cycles:u". */
bool vti_same_event(const char *a, const char *b);

/* Fills a cell with cycles / executions; empty without executions. */
void vti_cpi_cell(struct vt_table *t, struct vt_tally cycles, struct vt_tally executions);

static inline uint64_t vti_weigh(struct vt_tally t, bool by_period)
{
	return by_period ? t.period : t.samples;
}

#endif
