/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_MERGETABLE_H
#define CMD_VTRACE_MERGETABLE_H

#include "cmd/common/app.h"
#include "cmd/common/tables.h"

/* `vtrace merge --table`: adds up one stream's samples as DCPI's collector did. */
struct merge_table_options {
	const char *table; /* "4096x4" */
	uint64_t overflow; /* entries of a buffer */
	bool front;	   /* swap to front */
	bool stats;	   /* no stream, but what other tables would have made of it */
	struct app_form form;
	const char *output;
	const char *compress;
	int color;
};

/* False after app_fail() or app_usage(). */
bool merge_table(struct app *a, const struct merge_table_options *o);

#endif
