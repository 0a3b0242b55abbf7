/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_LOSSES_H
#define VT_PROFILE_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "stream/record.h"

/* Records that an expression was asked about (stream/where.h). */
struct vt_picked {
	uint64_t seen;
	uint64_t passed;
	uint64_t unknown; /* whether they would: they did not pass */
};

/* Losses that a stream records, and what a stage before left out by an expression. */
struct vt_losses {
	uint64_t lost_places; /* LOST records */
	uint64_t lost;	      /* records lost while recording */
	uint64_t gaps;	      /* GAP records */
	uint64_t gap_bytes;   /* missing bytes and records, as far as known */
	uint64_t gap_records;
	struct vt_picked picked; /* META records VT_META_WHERE */
};

/* Adds a LOST, GAP or META record. */
void vt_losses_add(struct vt_losses *l, const struct vt_record *rec);

/* The key of a META record that says how many records of a kind were picked, and by what. */
#define VT_META_WHERE "where"

/* Appends the value of such a record. */
void vt_picked_value(const struct vt_picked *p, const char *kind, const char *expression,
		     struct vt_buf *b);

/*
 * Reads such a value; `kind` and `expression` are borrowed from it.  False: it is none.
 */
bool vt_picked_parse(struct vt_bytes value, struct vt_picked *p, struct vt_bytes *kind,
		     struct vt_bytes *expression);

void vt_picked_add(struct vt_picked *sum, const struct vt_picked *p);

/* Appends "12 of 40 records pass --where; of 3 it is not known". */
void vt_picked_text(const struct vt_picked *p, const char *what, struct vt_buf *b);

#endif
