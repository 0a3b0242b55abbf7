/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VPROF_STYLE_H
#define CMD_VPROF_STYLE_H

#include <stdbool.h>

#include "base/opt.h"
#include "cmd/common/app.h"
#include "cmd/common/by.h"
#include "cmd/common/options.h"
#include "listing/profile/profile.h"

/* --style: the columns of another program. */
enum vprof_style {
	VPROF_STYLE_OWN,
	VPROF_STYLE_PERF,
};

extern const char *const vprof_style_words[];

#define VPROF_OPT_STYLE(variable)                                                                  \
	APP_CHOICE(0, "style", variable, "STYLE", vprof_style_words,                               \
		   "perf: the lines and columns of perf report --stdio (default vprof)")

struct vprof_style_how {
	const char *path; /* of the stream; NULL: standard input */
	const char *symfs;
	const char *output;
	const struct app_by *by;
	const struct vt_proflist_options *list;
	const struct vt_opt_list *events;
};

/* Whether perf report has such rows; false after app_usage(). */
bool vprof_style_check(struct app *a, const struct app_by *by);

/* Lists the stream in perf's style. */
void vprof_list_perf(struct app *a, const struct vprof_style_how *how);

#endif
