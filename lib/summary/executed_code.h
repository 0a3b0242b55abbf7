/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_SUMMARY_EXECUTED_CODE_H
#define VT_SUMMARY_EXECUTED_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/executions.h"
#include "stream/record.h"

/* How much code a stream says was executed, and how many values it holds. */

/* Values of one sort. */
struct vt_value_total {
	uint64_t count;
	uint64_t bytes;
};

struct vt_executed_code {
	struct vt_bblocks *dict;
	struct vt_execcount *count;
	uint64_t bad;		 /* records that contradict themselves and are left out */
	uint64_t blocks;	 /* distinct blocks of which something was executed */
	uint64_t insns;		 /* distinct instructions executed, by process and address */
	uint64_t ends[VT_NENDS]; /* executions of a block's last instruction */
	struct vt_value_total values[VT_NWHATS]; /* of VALUE records and of executed blocks */
};

/* Returns false when memory runs out.  vt_executed_code_fini() is needed in both cases. */
bool vt_executed_code_init(struct vt_executed_code *e);
void vt_executed_code_fini(struct vt_executed_code *e);

/* Takes a BLOCK, EXEC or VALUE record.  -VT_E_NOMEM. */
int vt_executed_code_feed(struct vt_executed_code *e, const struct vt_record *rec,
			  struct vt_error *err);

/* Computes what the whole stream is needed for; to be called once, at its end.  -VT_E_NOMEM. */
int vt_executed_code_finish(struct vt_executed_code *e, struct vt_error *err);

#endif
