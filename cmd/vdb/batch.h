/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_VDB_BATCH_H
#define CMD_VDB_BATCH_H

#include "formats/db/store.h"
#include "merge/tally.h"

/* The sums of a stream as the database stores them.  Initially zero. */
struct batch_arrays {
	struct vt_db_event *events;
	struct vt_db_image *images;
	size_t nimages;
	struct vt_db_profile *profiles;
	size_t nprofiles;
	struct vt_db_loss *losses;
	struct vt_db_gap *gaps;
};

/*
 * Fills the events, images, profiles, losses and gaps of a batch from a tally that has ended.  They
 * borrow from both the tally and `a`.  -VT_E_NOMEM.
 */
int batch_fill(struct batch_arrays *a, const struct vt_stream_tally *t, struct vt_db_batch *b,
	       struct vt_error *err);
void batch_arrays_fini(struct batch_arrays *a);

/* A text of the tally's pool of strings; borrowed. */
struct vt_bytes batch_text(const struct vt_intern *strings, uint32_t string);

#endif
