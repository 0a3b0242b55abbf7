/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_EXECUTIONS_H
#define VT_PROFILE_EXECUTIONS_H

#include <stdint.h>

#include "base/error.h"
#include "stream/bblock.h"
#include "stream/record.h"

/*
 * The executions of each instruction of each block.  A complete execution of a block costs one
 * addition; incomplete ones are counted by instruction.  Memory grows with the program's code, not
 * with the stream.
 */
struct vt_execcount;

struct vt_execcount_totals {
	uint64_t runs;	 /* EXEC records */
	uint64_t blocks; /* executions, complete or not; one split over two EXEC records counts
			    twice */
	uint64_t insns;
	uint64_t bytes; /* of values */
};

/* Borrows `dict`, the blocks of the stream so far.  Owned by the caller; NULL: out of memory. */
struct vt_execcount *vt_execcount_new(const struct vt_bblocks *dict);
void vt_execcount_free(struct vt_execcount *c);

/*
 * Takes an EXEC record.  -VT_E_FORMAT: it contradicts itself; the executions before the
 * contradiction are counted.  -VT_E_NOMEM.
 */
int vt_execcount_exec(struct vt_execcount *c, const struct vt_record *rec, struct vt_error *err);

/* Borrowed from c. */
const struct vt_execcount_totals *vt_execcount_totals(const struct vt_execcount *c);

/* The executions of instruction `insn` of a block. */
uint64_t vt_execcount_of(const struct vt_execcount *c, uint64_t id, uint32_t insn);

#endif
