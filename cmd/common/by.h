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
	bool inlined;	     /* rows of procedures become rows of inlined functions, too */
	enum vt_level level; /* VT_LEVEL_ALL: only groups are named */
	enum vt_group_key keys[VT_NGROUPS];
	size_t nkeys;
};

#define APP_BY_INIT                                                                                \
	{                                                                                          \
		.slice = 0.1                                                                       \
	}

/* The rows of an option table. */
/* clang-format off */
#define APP_OPT_BY(by)                                                                             \
	{.letter = 'b', .name = "by", .type = VT_OPT_STRING, .value = &(by).text, .arg = "KEYS",   \
	 .help = "one row for each procedure (default), image, line, instruction, inlined\n"      \
		 "function, process, comm, thread, cpu, time, source or page; several with\n"      \
		 "commas"},                                                                        \
	{.name = "inline", .type = VT_OPT_FLAG, .value = &(by).inlined,                            \
	 .help = "functions that are inlined have rows of their own, as with --by inlined"},       \
	{.name = "slice", .type = VT_OPT_F64, .value = &(by).slice, .given = &(by).slice_given,    \
	 .arg = "SECONDS", .help = "the slices of --by time (default 0.1)"}
/* clang-format on */

/* Reads the options; false after app_usage(). */
bool app_by_parse(struct app *a, struct app_by *by);

/* The groups that the keys make.  Owned by the caller; NULL when memory runs out. */
struct vt_groups *app_by_groups(const struct app_by *by);

#endif
