/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_CYCLES_H
#define CMD_COMMON_CYCLES_H

#include "base/opt.h"
#include "cmd/common/options.h"
#include "cmd/common/profiles.h"
#include "cmd/common/tables.h"
#include "listing/cycles/views.h"

/* The options of vlist's views of cycles. */

/* For a CHOICE option --cfg: the words of enum app_cycles_graph. */
enum app_cycles_graph { APP_GRAPH_SVG, APP_GRAPH_DOT };
extern const char *const app_graph_words[];

struct app_cycles {
	bool calc; /* which view was asked for; and by `stall` */
	bool summary;
	bool draw;
	enum vt_cycleview view;
	struct vt_opt_list images; /* of a summary, and of the procedures of STALL; empty: all */
	const char *stall;	   /* the cause, by name or letter */
	bool has_cutoff;	   /* it was given */
	double cutoff; /* percent: blocks, and procedures of STALL, with less are left out */
	uint64_t top;  /* procedures of STALL; 0: all */
	int graph;     /* enum app_cycles_graph */
	enum vt_syntax syntax;
	struct vt_sources *sources; /* borrowed; NULL: no text */
	struct app_form form;
};

/* The rows for an option table. */
/* clang-format off */
#define APP_OPT_CYCLES(o)                                                                          \
	APP_FLAG(0, "calc", (o).calc, "cycles, stalls and culprits, block by block (vculprit)"),   \
	APP_FLAG(0, "summary", (o).summary, "where the cycles of procedures or images went"),      \
	{0, "cfg", VT_OPT_CHOICE_OR_NOT, &(o).graph, .arg = "FORM", .choices = app_graph_words,    \
	 .given = &(o).draw, .help = "the flow graph: svg (default) or dot"},                      \
	APP_LIST(0, "image", (o).images, "FILE",                                                   \
		 "with --summary and --stall: this image; repeat for more"),                       \
	{0, "cutoff", VT_OPT_F64, &(o).cutoff, .arg = "P", .given = &(o).has_cutoff,               \
	 .help = "leave out what has less than P percent: values (default 1), blocks"},            \
	APP_STRING(0, "stall", (o).stall, "KIND",                                                  \
		   "the procedures that lose most to one cause: dcache, dtlb, …")
/* clang-format on */

/* Whether a view of cycles was asked for. */
bool app_cycles_asked(const struct app_cycles *o);

/*
 * Checks the options of one that was, and sets the view.  `other`: another listing was asked for,
 * too; `top`: the hottest procedures are listed, or all.  False after app_usage().
 */
bool app_cycles_check(struct app *a, struct app_cycles *o, bool other, bool top);

/*
 * Prints a view of these procedures; SUMMARY and STALL need none, and only GRAPH does without
 * frequencies.  `p` was read by app_profile_read_freqs().  False after app_fail() or app_usage().
 */
bool app_cycles_list(struct app *a, const struct app_cycles *o, const struct app_profile *p,
		     const struct vt_found *found);

#endif
