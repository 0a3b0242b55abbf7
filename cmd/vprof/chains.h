/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VPROF_CHAINS_H
#define CMD_VPROF_CHAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "cmd/common/app.h"
#include "cmd/common/profiles.h"
#include "cmd/common/tables.h"
#include "listing/profile/profile.h"

/* The options of the reports of call chains. */
struct vprof_chains {
	bool children, callers, callees, tree;
	const char *pattern;
	uint64_t depth;
};

/* The rows of an option table. */
#define VPROF_OPT_CHAINS(c)                                                                        \
	APP_FLAG(0, "children", (c).children,                                                      \
		 "from call chains: samples in each procedure and what it called"),                \
		APP_FLAG(0, "callers", (c).callers,                                                \
			 "from call chains: who called each procedure"),                           \
		APP_FLAG(0, "callees", (c).callees,                                                \
			 "from call chains: whom each procedure called"),                          \
		APP_FLAG(0, "tree", (c).tree,                                                      \
			 "from call chains: the tree of calls, outermost procedures first"),       \
		APP_STRING(0, "procedure", (c).pattern, "PATTERN",                                 \
			   "with --children, --callers, --callees: procedures of such names"),     \
		APP_U64(0, "depth", (c).depth, "N", "with --tree: N levels of calls at most")

/* What else of the command line matters to them. */
struct vprof_chains_how {
	const char *path; /* NULL: standard input */
	const char *symfs;
	enum vt_level level;
	const struct vt_proflist_options *list;
	const struct vt_opt_list *events;
	const struct app_form *form;
};

/* Whether a report of call chains was asked for. */
bool vprof_chains_asked(const struct vprof_chains *c);

/* Whether the chosen events, or the first of them with call chains, have any. */
bool vprof_chains_have(const struct app_profile *p, const struct vt_event_choice *events);

/* Says that they have none, or that nothing was sampled at all; false. */
bool vprof_chains_lack(struct app *a, const struct app_profile *p);

/* False after app_usage() if the options do not go together; `diff` tells whether --diff is one. */
bool vprof_chains_check(struct app *a, const struct vprof_chains *c,
			const struct vprof_chains_how *how, bool diff);

/* Reads the stream and prints the report. */
void vprof_list_chains(struct app *a, const struct vprof_chains *c,
		       const struct vprof_chains_how *how);

#endif
