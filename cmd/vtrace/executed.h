/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VTRACE_EXECUTED_H
#define CMD_VTRACE_EXECUTED_H

#include <jansson.h>

#include "base/output.h"
#include "base/table.h"
#include "profile/executions.h"
#include "stream/record.h"

/* Values of one sort. */
struct executed_values {
	uint64_t count;
	uint64_t bytes;
};

/* What vtrace info tells of executed code and of values. */
struct executed {
	struct vt_execcount *count;
	uint64_t bad;	 /* records that contradict themselves */
	uint64_t blocks; /* different ones that were executed, and the instructions in them */
	uint64_t insns;
	uint64_t ends[VT_NENDS]; /* how the blocks that were executed to their end ended */
	struct executed_values values[VT_NWHATS];
};

/* False when memory ran out; executed_fini() is needed all the same. */
bool executed_init(struct executed *e);
void executed_fini(struct executed *e);

/* Takes a BLOCK, EXEC or VALUE record; VT_E_NOMEM. */
int executed_feed(struct executed *e, const struct vt_record *rec, struct vt_error *err);

/* To be called after the last. */
int executed_finish(struct executed *e, struct vt_error *err);

/* The two forms; nothing, and NULL, if nothing was executed and there are no values. */
void executed_print(const struct executed *e, uint64_t stream_bytes, struct vt_output *out);
struct vt_table *executed_values_table(const struct executed *e);
json_t *executed_json(const struct executed *e, uint64_t stream_bytes);

#endif
