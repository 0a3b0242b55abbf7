/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_COLLECTOR_H
#define VT_PROFILE_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/sample_table.h"
#include "stream/record.h"
#include "stream/writer.h"

/*
 * DCPI's collector, 4.2 and 4.3: samples are added up in a hash table for each processor, what is
 * thrown out of it goes to an overflow buffer, and a full buffer is put in order, looked up in the
 * images, and written as COUNT records.  Memory does not grow with the stream nor with the code.
 *
 * Tables are emptied when a mapping is about to change, so that each sample is looked up in what
 * was mapped at its time.
 */
struct vt_collector;

/* Processors that have tables of their own, at most; others share one. */
#define VT_COLLECTOR_CPUS 1024

struct vt_collector_counts {
	uint64_t samples;
	uint64_t written; /* COUNT records */
	uint64_t buffers; /* that were full */
	uint64_t emptied; /* tables, because mappings changed */
};

/*
 * `overflow` entries are in a buffer.  `w` is borrowed; NULL: nothing is written, for studies.
 * Owned by the caller; NULL when memory runs out.
 */
struct vt_collector *vt_collector_new(const struct vt_sampletable_shape *shape, size_t overflow,
				      struct vt_writer *w);
void vt_collector_free(struct vt_collector *c);

/*
 * Takes rows of a block: samples are added up, all else is copied to the writer in its place.
 * -VT_E_NOMEM, -VT_E_LIMIT.
 */
int vt_collector_feed(struct vt_collector *c, const struct vt_block *block, uint32_t first,
		      uint32_t count, struct vt_error *err);

/* Writes what is left. */
int vt_collector_finish(struct vt_collector *c, struct vt_error *err);

const struct vt_collector_counts *vt_collector_counts(const struct vt_collector *c);

/* What happened in all tables together. */
struct vt_sampletable_counts vt_collector_table_counts(const struct vt_collector *c);

/*
 * What a sample costs on the average, in cycles of the Alpha 21164: DCPI table 4, SPECint95,
 * default configuration: 430 for a hit, 654 for a miss, and in the daemon 245 for each sample
 * when 9.5 % of them become entries of their own.
 */
double vt_collector_cost(const struct vt_sampletable_counts *n);

#endif
