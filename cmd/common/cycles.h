/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_CYCLES_H
#define CMD_COMMON_CYCLES_H

#include "base/opt.h"
#include "cmd/common/app.h"
#include "cmd/common/profiles.h"
#include "cmd/common/tables.h"
#include "image/disasm.h"
#include "profile/locate.h"

/* What a stream's FREQ, EDGE and STALL records say of its procedures, printed. */

enum app_cycles_view {
	APP_CYCLES_NONE,
	APP_CYCLES_CALC,    /* block by block: DCPI figure 2 */
	APP_CYCLES_SUMMARY, /* where the cycles went: figure 4 */
	APP_CYCLES_STALL,   /* the procedures that one cause of stalls costs most */
	APP_CYCLES_GRAPH,   /* the flow graph */
};

/* For a CHOICE option --cfg: the words of enum app_cycles_graph. */
enum app_cycles_graph { APP_GRAPH_SVG, APP_GRAPH_DOT };
extern const char *const app_graph_words[];

struct app_cycles {
	bool calc; /* which view was asked for; and by `stall` */
	bool summary;
	bool draw;
	enum app_cycles_view view;
	struct vt_opt_list images; /* of a summary, and of the procedures of STALL; empty: all */
	const char *stall;	   /* the cause, by name or letter */
	bool has_cutoff;	   /* it was given */
	double cutoff; /* percent: blocks, and procedures of STALL, with less are left out */
	uint64_t top;  /* procedures of STALL; 0: all */
	int graph;     /* enum app_cycles_graph */
	enum vt_syntax syntax;
	struct vt_sources *sources; /* borrowed; NULL: no text */
	struct app_form form;
	const char *output;
	int color;
};

/* The rows for an option table. */
#define APP_OPT_CYCLES(cycles)                                                                     \
	{.name = "calc",                                                                           \
	 .type = VT_OPT_FLAG,                                                                      \
	 .value = &(cycles).calc,                                                                  \
	 .help = "cycles, stalls and culprits, block by block (vculprit)"},                        \
		{.name = "summary",                                                                \
		 .type = VT_OPT_FLAG,                                                              \
		 .value = &(cycles).summary,                                                       \
		 .help = "where the cycles of procedures or images went"},                         \
		{.name = "cfg",                                                                    \
		 .type = VT_OPT_CHOICE_OR_NOT,                                                     \
		 .value = &(cycles).graph,                                                         \
		 .arg = "FORM",                                                                    \
		 .choices = app_graph_words,                                                       \
		 .given = &(cycles).draw,                                                          \
		 .help = "the flow graph: svg (default) or dot"},                                  \
		{.name = "image",                                                                  \
		 .type = VT_OPT_LIST,                                                              \
		 .value = &(cycles).images,                                                        \
		 .arg = "FILE",                                                                    \
		 .help = "with --summary and --stall: this image; repeat for more"},               \
		{.name = "cutoff",                                                                 \
		 .type = VT_OPT_F64,                                                               \
		 .value = &(cycles).cutoff,                                                        \
		 .arg = "P",                                                                       \
		 .given = &(cycles).has_cutoff,                                                    \
		 .help = "leave out what has less than P percent: values (default 1), blocks"},    \
	{                                                                                          \
		.name = "stall", .type = VT_OPT_STRING, .value = &(cycles).stall, .arg = "KIND",   \
		.help = "the procedures that lose most to one cause: dcache, dtlb, …"            \
	}

/*
 * Prints a view of these procedures; SUMMARY and STALL need none, and only GRAPH does without
 * frequencies.  `p` was read by
 * app_profile_read_freqs().  False after app_fail() or app_usage().
 */
bool app_cycles_list(struct app *a, const struct app_cycles *o, const struct app_profile *p,
		     const struct vt_found *found);

#endif
