/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MEMORY_RECORDS_H
#define VT_MEMORY_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/record.h"
#include "stream/writer.h"

/*
 * Memory profiles as records: ACCESSES, OBJECT and LOCATION.  They are read, added to those of
 * other streams, and written.
 *
 *	r = vt_memrecords_new(&err);
 *	vt_memrecords_feed(r, rec, &err);		... each record of a stream
 *	vt_memrecords_join(sum, r, image, arg, &err);
 *	vt_memrecords_write(sum, image, arg, w, &err);
 */
struct vt_memrecords;

/* Stream kinds that vt_memrecords_feed() takes. */
#define VT_MEMRECORDS (VT_KIND(VT_ACCESSES) | VT_KIND(VT_OBJECT) | VT_KIND(VT_LOCATION))

/* No number of such a record is higher, so that sums of hundreds of streams do not overflow. */
#define VT_MEMRECORDS_MAX (UINT64_C(1) << 55)

/* Owned by the caller; NULL with VT_E_NOMEM. */
struct vt_memrecords *vt_memrecords_new(struct vt_error *err);
void vt_memrecords_free(struct vt_memrecords *r);

/* Whether a stream had such records. */
bool vt_memrecords_given(const struct vt_memrecords *r);

/* Whether it has samples or misses, which depend on the processor. */
bool vt_memrecords_depend_on_model(const struct vt_memrecords *r);

/*
 * After the last record of a stream: if the objects together have more accesses than the totals
 * say, these become the sum.  Returns 1 then, else 0.
 */
unsigned vt_memrecords_mend(struct vt_memrecords *r);

/*
 * Takes a record of these kinds, and ignores others.  0; -VT_E_FORMAT: it contradicts itself or
 * those before, and is left out; -VT_E_NOMEM.
 */
int vt_memrecords_feed(struct vt_memrecords *r, const struct vt_record *rec, struct vt_error *err);

/* What is told of that. */
#define VT_MEMRECORDS_RAISED                                                                       \
	"the objects have more accesses than the totals (ACCESSES) say: the sum of the objects "   \
	"is the total"

/* Gives the number of an image, for one of `from` or `r`; false when memory runs out. */
typedef bool vt_memrecords_image_fn(void *arg, uint32_t image, uint32_t *number);

/*
 * Adds `from` to `to`: counts are added, the most frequent values of a location are those of both
 * (vt_hot_merge()), and `size` and `peak` are the highest of each.  Objects are the same if their
 * types, places and names are.  -VT_E_MISMATCH: the two have locations of different size, tell
 * allocations apart by another number of callers, or keep lists of another capacity; or only one is
 * of samples, or has misses.  -VT_E_LIMIT: a sum is too high.  -VT_E_NOMEM.
 */
int vt_memrecords_join(struct vt_memrecords *to, const struct vt_memrecords *from,
		       vt_memrecords_image_fn *image, void *arg, struct vt_error *err);

/*
 * Writes all, the objects with most accesses first.  Their images are then those of the stream that
 * is written.  -VT_E_NOMEM.
 */
int vt_memrecords_write(struct vt_memrecords *r, vt_memrecords_image_fn *image, void *arg,
			struct vt_writer *w, struct vt_error *err);

#endif
