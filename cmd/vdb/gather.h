/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VDB_GATHER_H
#define CMD_VDB_GATHER_H

#include "formats/db/store.h"
#include "stream/record.h"

/*
 * What of a stream goes into the database: the counts of samples (of executed code, the
 * instructions), where they are; what was lost; and the META records whose key occurs once and
 * whose value is a text.
 */
struct gather;

/* NULL when memory runs out. */
struct gather *gather_new(void);
void gather_free(struct gather *g);

/* Takes a run of records.  -VT_E_NOMEM, -VT_E_LIMIT. */
int gather_feed(struct gather *g, const struct vt_block *b, uint32_t first, uint32_t count,
		struct vt_error *err);

/* After the last: fills the parts of the batch that come from records; borrowed from `g`. */
int gather_finish(struct gather *g, struct vt_db_batch *batch, struct vt_error *err);

/* Records of executed code that contradict themselves and were left out. */
uint64_t gather_bad(const struct gather *g);

#endif
