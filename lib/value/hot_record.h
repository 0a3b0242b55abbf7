/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_HOT_RECORD_H
#define VT_VALUE_HOT_RECORD_H

#include "base/error.h"
#include "stream/record.h"
#include "stream/writer.h"
#include "value/hot_profile.h"

/*
 * Fills *h from a HOT record; its key has the stream's own image ids.  Ended with vt_hot_fini().
 * -VT_E_DAMAGED: the record contradicts itself (the text says how) or exceeds VT_HOT_MAX_TOTAL;
 * -VT_E_NOMEM.  After an error there is nothing to end.
 */
int vt_hot_load(struct vt_hot *h, const struct vt_record *rec, struct vt_error *err);

/*
 * Writes the list as it is ordered, with these image ids: a HOT record, or several where it has
 * more values than there is room for in a frame, which vt_hotprofile_end() joins again.
 */
void vt_hot_put(const struct vt_hot *h, uint64_t image, uint64_t caller_image, struct vt_writer *w);

/*
 * The same, highest count first.  Errors of the writer stick to it;
 * -VT_E_NOMEM.
 */
int vt_hot_write(const struct vt_hot *h, uint64_t image, uint64_t caller_image, struct vt_writer *w,
		 struct vt_error *err);

/* Allocates the arrays for n values; all is 0.  `errors` is NULL unless asked for. */
int vt_hot_alloc(struct vt_hot *h, uint32_t n, bool errors, struct vt_error *err);

/* Frees the arrays. */
void vt_hot_fini(struct vt_hot *h);

/*
 * Puts the values in their order: highest estimate first, then highest count, then lowest value.
 * -VT_E_DAMAGED: a value comes twice; -VT_E_NOMEM.
 */
int vt_hot_sort(struct vt_hot *h, struct vt_error *err);

/* The order of keys: image, offset, what, reg, lane, caller's image, caller, `zero`. */
int vt_hot_key_compare(const struct vt_hot_key *a, const struct vt_hot_key *b);

#endif
