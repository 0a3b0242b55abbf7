/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_EXECUTIONS_H
#define VT_PROFILE_EXECUTIONS_H

#include <stdint.h>

#include "base/error.h"
#include "stream/bblock.h"
#include "stream/record.h"

/*
 * How often each instruction of each block was executed.  A block that runs from its first to its
 * last instruction costs one addition; parts of blocks are counted apart.  Memory grows with the
 * program's code, not with the stream.
 */
struct vt_execcount;

struct vt_execcount_totals {
	uint64_t runs;	 /* EXEC records */
	uint64_t blocks; /* executed, in part or whole; one in two EXEC records counts in both */
	uint64_t insns;
	uint64_t bytes; /* of values */
};

/*
 * `dict` holds the blocks of the stream, as far as their records have come; it is borrowed.  Owned
 * by the caller; NULL when memory runs out.
 */
struct vt_execcount *vt_execcount_new(const struct vt_bblocks *dict);
void vt_execcount_free(struct vt_execcount *c);

/*
 * Takes an EXEC record.  -VT_E_FORMAT: it contradicts itself; what was executed before the
 * contradiction counts.  -VT_E_NOMEM.
 */
int vt_execcount_exec(struct vt_execcount *c, const struct vt_record *rec, struct vt_error *err);

/* Borrowed, as long as c. */
const struct vt_execcount_totals *vt_execcount_totals(const struct vt_execcount *c);

/* How often instruction `insn` of a block was executed. */
uint64_t vt_execcount_of(const struct vt_execcount *c, uint64_t id, uint32_t insn);

#endif
