/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_EXPAND_H
#define CMD_VTRACE_EXPAND_H

#include "cmd/common/app.h"
#include "stream/bblock.h"
#include "stream/record.h"

/* Prints what executed code consists of: a line for each value, or for each block. */
enum expand { EXPAND_NOTHING, EXPAND_VALUES, EXPAND_BLOCKS };

struct expander {
	enum expand what;
	struct app *app;
	struct vt_output *out;
	bool json;
	uint64_t limit; /* of lines; 0: none */
	uint64_t printed;
	struct vt_bblocks *dict;
	struct vt_buf line;
};

/* The names of a line's parts, separated by tabs. */
const char *expander_header(enum expand what);

/* A stream begins. */
int expander_begin(struct expander *e, struct vt_error *err);
void expander_fini(struct expander *e);

/*
 * Takes a record of any kind: 0, 1 when enough was printed, VT_E_NOMEM.  Records that contradict
 * themselves are left out and given to app_bad_record().
 */
int expander_record(struct expander *e, const struct vt_record *rec, struct vt_error *err);

#endif
