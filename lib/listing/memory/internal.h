/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_MEMORY_INTERNAL_H
#define VT_LISTING_MEMORY_INTERNAL_H

#include <jansson.h>

#include "base/buf.h"
#include "base/table.h"
#include "image/images.h"
#include "memory/memory.h"

/* The columns that objects, locations, types and members have. */

struct vti_memlist_numbers {
	const struct vt_memory_counts *counts;
	uint64_t whole;	       /* accesses of all */
	uint64_t top;	       /* loads with the most frequent value of their location, */
	uint64_t valued;       /* of so many */
	uint64_t whole_misses; /* of all */
	/* Of samples and misses. */
	uint64_t latency;
	uint64_t latencies;
	uint64_t whole_latency;
};

enum vti_memlist_told {
	VTI_MEMLIST_CODE,
	VTI_MEMLIST_MISSES, /* and misses */
	VTI_MEMLIST_SAMPLES,
};

/* What is told of the accesses. */
enum vti_memlist_told vti_memlist_told(const struct vt_memory *m);

void vti_memlist_columns(struct vt_table *t, enum vti_memlist_told told);
void vti_memlist_numbers(struct vt_table *t, const struct vti_memlist_numbers *n,
			 enum vti_memlist_told told);

/* What answered samples, and their misses in TLBs. */
void vti_memlist_source_columns(struct vt_table *t);
void vti_memlist_sources(struct vt_table *t, const struct vt_memory_sampled *s);

/* Sets members of a JSON object: the counts; null what samples do not tell. */
void vti_memlist_set_counts(json_t *o, const struct vt_memory_totals *t);

/*
 * Puts a value of `size` bytes into a cell: for people as vlist --values does, else as a number.
 * `text` is used for it.
 */
void vti_memlist_value(struct vt_table *t, struct vt_buf *text, uint64_t value, unsigned size,
		       bool people);

/* The name of an object, in `text`, which is emptied first.  Borrowed from it. */
const char *vti_memlist_name(struct vt_buf *text, struct vt_images *images,
			     const struct vt_memory_object *o);

#endif
