/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_REPLAYS_H
#define CMD_COMMON_REPLAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/common/app.h"
#include "cmd/common/tables.h"
#include "image/disasm.h"

/* How pairs of conflicting accesses are listed. */
struct app_replays {
	const char *input; /* NULL or "-": standard input */
	const char *symfs;
	const char *output;
	uint64_t top; /* 0: all */
	enum vt_syntax syntax;
	struct app_form form;
	int color;
};

/* Lists a stream's CONFLICT records.  A stream without is an error.  False after app_fail(). */
bool app_replays_list(struct app *a, const struct app_replays *o);

#endif
