/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_INTERVALS_H
#define VT_VALUE_INTERVALS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/images.h"
#include "value/hot_list.h"
#include "value/sites.h"

/*
 * Interval invariance (value profiling 8, figure 17): the executions of each instruction are
 * divided into k equal parts, and Inv-Top is computed for each part.  This requires the number of
 * executions in advance, so a stream is read twice: first into lists of any algorithm, whose totals
 * are the numbers of executions, and then, in the same order, into TNV tables.
 *
 * Memory: one table and k numbers for each list.
 */
struct vt_intervals;

#define VT_MAX_INTERVALS 1000

/*
 * totals[i] is the number of values that the i-th list will receive; `totals` is borrowed.  Returns
 * NULL when memory runs out.
 */
struct vt_intervals *vt_intervals_new(uint32_t k, const uint64_t *totals, size_t n);
void vt_intervals_free(struct vt_intervals *iv);

/* Attaches to a set of lists of VT_ALGO_TNV; call it before the first list is added. */
void vt_intervals_watch(struct vt_intervals *iv, struct vt_hotlists *s);

/*
 * Returns the Inv-Top of each of the k intervals of a list, borrowed, after its last value.
 * Intervals without executions have 0.  Returns NULL for a list beyond the n ones.
 */
const float *vt_intervals_of(struct vt_intervals *iv, struct vt_hotlists *s, struct vt_hotlist *l);

/*
 * Interval invariance of the instructions of a recording, which is read twice.
 *
 *	p = vt_intervalprofile_new(&options, &err);
 *	twice: vt_intervalprofile_feed() with all records, then vt_intervalprofile_end_pass();
 *	for (i = 0; i < vt_intervalprofile_count(p); i++) ... vt_intervalprofile_at(p, i) ...
 */
struct vt_intervalprofile;

struct vt_intervalprofile_options {
	uint32_t k;		  /* intervals of each instruction, up to VT_MAX_INTERVALS */
	uint32_t what;		  /* bits of enum vt_what, or VT_INV_EVERY */
	uint64_t min;		  /* only instructions that were executed more often */
	struct vt_images *images; /* borrowed; receives the records of the second pass */
	vt_warn_fn *warn;	  /* called for each bad record of the first pass; may be NULL */
	void *warn_arg;
};

/* An instruction. */
struct vt_interval_row {
	const struct vt_site *site;
	const char *path; /* of its image: untrusted text */
	uint32_t image;	  /* the image's id in the stream, or VT_SITES_NO_IMAGE */
	uint32_t size;	  /* of its values, in bytes */
	uint64_t executions;
	const float *shares; /* of the top value in each of k intervals, from 0 to 1 */
	double mean;
	double lowest;
	double highest;
	size_t list; /* the index of its list */
};

/* Owned by the caller.  Returns NULL with VT_E_NOMEM. */
struct vt_intervalprofile *vt_intervalprofile_new(const struct vt_intervalprofile_options *o,
						  struct vt_error *err);
void vt_intervalprofile_free(struct vt_intervalprofile *p);

/*
 * A vt_consume_fn: reads rows first .. first+count-1 of a block.  `profile` is the struct
 * vt_intervalprofile.  Returns 0, an error of vt_images_feed(), or -VT_E_NOMEM.
 */
int vt_intervalprofile_feed(void *profile, const struct vt_block *block, uint32_t first,
			    uint32_t count, struct vt_error *err);

/*
 * Ends the first or second pass.  The second creates the rows.  Returns 0, -VT_E_ABSENT if the
 * stream has no values, or -VT_E_NOMEM.
 */
int vt_intervalprofile_end_pass(struct vt_intervalprofile *p, struct vt_error *err);

/* The rows, the lowest mean first.  Borrowed. */
size_t vt_intervalprofile_count(const struct vt_intervalprofile *p);
const struct vt_interval_row *vt_intervalprofile_at(const struct vt_intervalprofile *p, size_t i);

#endif
