/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PAIRS_RECORD_H
#define VT_PAIRS_RECORD_H

#include "pairs/pairs.h"
#include "stream/record.h"
#include "stream/writer.h"

/* A PAIRSTAT record.  Texts are borrowed from the record that was read. */
struct vt_pairstat {
	uint64_t offset;
	uint64_t event;	 /* id */
	uint32_t image;	 /* id */
	uint32_t method; /* enum vt_method */
	struct vt_bytes metric;
	struct vt_bytes split;
	struct vt_pairsum sum;
};

/* Reads one; its value is to be computed from the sums.  False: it has sums that cannot be. */
bool vt_pairstat_read(const struct vt_record *rec, struct vt_pairstat *s);

/* Writes one, with the value that follows from its sums. */
void vt_pairstat_write(const struct vt_pairstat *s, struct vt_writer *w);

/* Whether a metric with this text is a total: vt_pairmetric_is_total(). */
bool vt_pairstat_is_total(const struct vt_pairstat *s);

/*
 * Writes the sums of all places, by image, offset and event, as records of the metric with this
 * text.  Each place is to have a row of its own.  -VT_E_NOMEM.
 */
int vt_pairs_write(const struct vt_pairs *p, const char *metric, const char *split,
		   struct vt_writer *w, struct vt_error *err);

#endif
