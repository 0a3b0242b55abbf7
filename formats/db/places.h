/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_DB_PLACES_H
#define FORMATS_DB_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/* The samples of one event at one offset of an image. */
struct vt_db_place {
	uint64_t offset;
	uint64_t samples;
	uint64_t period; /* the sum of their periods */
};

/* A profile: places in the order of their offsets, each offset once. */
struct vt_db_places {
	struct vt_db_place *items; /* owned */
	size_t count;
	size_t cap;
};

void vt_db_places_fini(struct vt_db_places *p);

/* Appends a place, at or after the last offset.  -VT_E_NOMEM; -VT_E_LIMIT if a sum is too high. */
int vt_db_places_add(struct vt_db_places *p, const struct vt_db_place *place, struct vt_error *err);

/* Sums up all samples and periods; -VT_E_LIMIT if a sum is above INT64_MAX. */
int vt_db_places_sum(const struct vt_db_places *p, uint64_t *samples, uint64_t *period,
		     struct vt_error *err);

/* Adds the places of `more`.  Errors as above; then `p` is as it was. */
int vt_db_places_merge(struct vt_db_places *p, const struct vt_db_places *more,
		       struct vt_error *err);

/*
 * Packs a profile as bytes: the format's number, 1; the number of places; the period of each
 * sample, if all have the same, else 0; then of each place the distance from the previous offset,
 * the samples, and the period unless all have the same.  All are varints.  Or, if that is shorter:
 * 2, the number of these bytes, and the bytes compressed (zlib, RFC 1950).  out->failed: no memory.
 */
void vt_db_places_pack(const struct vt_db_places *p, struct vt_buf *out);

/* Unpacks a profile from untrusted bytes: -VT_E_DAMAGED, -VT_E_VERSION, -VT_E_NOMEM. */
int vt_db_places_unpack(struct vt_db_places *p, const void *data, size_t size,
			struct vt_error *err);

#endif
