/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_BY_H
#define CMD_COMMON_BY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/opt.h"
#include "cmd/common/app.h"
#include "profile/groups.h"
#include "profile/ranking.h"

/* What the rows of a listing of samples are: --by, with --slice for the slices of time. */
struct app_by {
	const char *text; /* NULL: procedures */
	double slice;	  /* seconds */
	bool slice_given;
	enum vt_level level; /* VT_LEVEL_ALL: only groups are named */
	enum vt_group_key keys[VT_NGROUPS];
	size_t nkeys;
};

#define APP_BY_INIT                                                                                \
	{                                                                                          \
		.slice = 0.1                                                                       \
	}

/* The two rows of an option table. */
/* clang-format off */
#define APP_OPT_BY(by)                                                                             \
	{.letter = 'b', .name = "by", .type = VT_OPT_STRING, .value = &(by).text, .arg = "KEYS",   \
	 .help = "one row for each procedure (default), image, line or instruction, or for\n"      \
		 "each process, comm, thread, cpu, time, source or page; several with commas"},    \
	{.name = "slice", .type = VT_OPT_F64, .value = &(by).slice, .given = &(by).slice_given,    \
	 .arg = "SECONDS", .help = "the slices of --by time (default 0.1)"}
/* clang-format on */

/* Reads the options; false after app_usage(). */
bool app_by_parse(struct app *a, struct app_by *by);

/* The groups that the keys make.  Owned by the caller; NULL when memory runs out. */
struct vt_groups *app_by_groups(const struct app_by *by);

#endif
