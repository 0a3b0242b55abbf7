/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_COUNTED_H
#define VT_FREQ_COUNTED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "freq/source.h"
#include "profile/context.h"
#include "stream/record.h"

/*
 * Counted executions of instructions, and of transfers between two instructions, from a stream:
 * from executed code (BLOCK and EXEC records), from exact FREQ and EDGE records, or from COUNT
 * records of an exact event "instructions".
 */
struct vt_flowcount;

/* `context` is borrowed.  Owned by the caller; NULL when memory runs out. */
struct vt_flowcount *vt_flowcount_new(const struct vt_context *context);
void vt_flowcount_free(struct vt_flowcount *c);

/*
 * A vt_consume_record_fn; `counts` is the struct vt_flowcount.  Records of executed code that
 * contradict themselves, or with impossible numbers, are left out and counted.  -VT_E_NOMEM.
 */
int vt_flowcount_feed(void *counts, const struct vt_record *rec, struct vt_error *err);

/* Finds the images and offsets of executed code.  Call it after the last record.  -VT_E_NOMEM. */
int vt_flowcount_finish(struct vt_flowcount *c, struct vt_error *err);

/* Whether the stream has mappings of a process, or of any: these ran in the run that it is of. */
bool vt_flowcount_ran(const struct vt_flowcount *c, int64_t pid);
bool vt_flowcount_ran_any(const struct vt_flowcount *c);

/* Records that were left out. */
uint64_t vt_flowcount_bad(const struct vt_flowcount *c);

/* Whether there are counts; whether an image has some. */
bool vt_flowcount_any(const struct vt_flowcount *c);
bool vt_flowcount_has(const struct vt_flowcount *c, uint32_t image);

/* Executions of the instruction at an offset of an image. */
double vt_flowcount_insn(const struct vt_flowcount *c, uint32_t image, uint64_t offset);

/*
 * How often control went from the instruction at `from` to the one at `to`.  A call is followed by
 * the instruction behind it.  False: the stream has no counts of edges.
 */
bool vt_flowcount_edge(const struct vt_flowcount *c, uint32_t image, uint64_t from, uint64_t to,
		       double *count);

/* Counts as a source: those of the procedures of `images`, by the same image of the samples. */
struct vt_flowcount_source {
	const struct vt_flowcount *counts; /* NULL: none */
	const struct vt_images *images;	   /* of the counted stream */
};

/* The `count` of a struct vt_count_source whose `source` is a struct vt_flowcount_source. */
int vt_flowcount_count(const void *source, const struct vt_count_request *r,
		       struct vt_freq_counts *c, struct vt_error *err);

#endif
