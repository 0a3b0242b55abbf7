/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_HELD_H
#define VT_STREAM_HELD_H

#include "stream/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Copies of records, for those who write them later than they read them.  Initialize with zeros,
 * free with vt_held_fini().
 */
struct vt_held {
	struct vt_held_record **list;
	size_t count;
	size_t cap;
	size_t bytes; /* that they take */
};

/* Appends a copy, whose kind is the reader's: borrowed.  False: out of memory. */
bool vt_held_add(struct vt_held *h, const struct vt_record *rec);

/* The i-th.  Borrowed until vt_held_clear(). */
const struct vt_record *vt_held_at(const struct vt_held *h, size_t i);

void vt_held_clear(struct vt_held *h);
void vt_held_fini(struct vt_held *h);

#ifdef __cplusplus
}
#endif
#endif
