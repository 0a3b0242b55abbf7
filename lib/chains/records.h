/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CHAINS_RECORDS_H
#define VT_CHAINS_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "chains/tree.h"
#include "stream/record.h"

/*
 * The CHAIN records of a stream: nodes that are added to a call tree, each below an earlier one.
 *
 * Memory: an entry for each id up to VT_CHAIN_IDS.
 */
struct vti_chainrecords;

/* `tree` is borrowed.  Owned by the caller; NULL when memory runs out. */
struct vti_chainrecords *vti_chainrecords_new(struct vt_calltree *tree);
void vti_chainrecords_free(struct vti_chainrecords *c);

/*
 * Whether a record fits those before it.  0, or -VT_E_FORMAT: its id is not above theirs or above
 * VT_CHAIN_IDS, its parent is not one of them or is of another event, its chain has more than
 * VT_CHAIN_MAX frames or goes on where there was no room, or a root has samples or flags.
 */
int vti_chainrecords_check(const struct vti_chainrecords *c, const struct vt_record *rec,
			   struct vt_error *err);

/*
 * Adds a record that fits.  `root` is the key of its event's root; `key` that of its place, which
 * is unused for a root and where the record has none.  -VT_E_NOMEM.
 */
int vti_chainrecords_add(struct vti_chainrecords *c, const struct vt_record *rec, uint32_t root,
			 uint32_t key, struct vt_error *err);

#endif
