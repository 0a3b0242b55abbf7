/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_CYCLES_H
#define CMD_COMMON_CYCLES_H

#include "analysis/locate.h"
#include "base/opt.h"
#include "cmd/common/app.h"
#include "cmd/common/profiles.h"
#include "cmd/common/tables.h"
#include "image/disasm.h"

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
	enum app_cycles_view view;
	struct vt_opt_list images; /* of a summary, and of the procedures of STALL; empty: all */
	const char *stall;	   /* the cause, by name or letter */
	double cutoff; /* percent: blocks, and procedures of STALL, with less are left out */
	uint64_t top;  /* procedures of STALL; 0: all */
	int graph;     /* enum app_cycles_graph */
	enum vt_syntax syntax;
	struct app_form form;
	const char *output;
	int color;
};

/*
 * Prints a view of these procedures; SUMMARY and STALL need none, and only GRAPH does without
 * frequencies.  `p` was read by
 * app_profile_read_freqs().  False after app_fail() or app_usage().
 */
bool app_cycles_list(struct app *a, const struct app_cycles *o, const struct app_profile *p,
		     const struct vt_found *found);

#endif
