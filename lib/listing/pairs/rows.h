/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_PAIRS_ROWS_H
#define VT_LISTING_PAIRS_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "base/table.h"
#include "image/images.h"
#include "pairs/pairs.h"
#include "profile/losses.h"
#include "profile/ranking.h"

/* What pairs of samples tell, by instruction, line, procedure or image. */
struct vt_pairrows;

/* Borrows the images.  Owned by the caller; NULL: VT_E_NOMEM. */
struct vt_pairrows *vt_pairrows_new(struct vt_images *images, enum vt_level level,
				    struct vt_error *err);
void vt_pairrows_free(struct vt_pairrows *r);

/* A vt_pairs_row_fn: `arg` is the struct vt_pairrows. */
int vt_pairrows_find(void *arg, const struct vt_place *place, uint64_t event, uint32_t *row,
		     struct vt_error *err);

/* What is printed, and how; borrowed. */
struct vt_pairrows_options {
	const struct vt_pairs *pairs; /* whose rows these are */
	struct vt_images *images;
	const char *metric;
	const char *split; /* NULL: none */
	const char *core;  /* the machine; NULL: unknown */
	const struct vt_losses *losses;
	uint64_t top; /* the most rows; 0: all */
	bool json;
	enum vt_table_form form; /* unless `json`; text has a header */
	bool color;
};

/*
 * Prints the rows, the largest total first, or of ratios that of the most pairs, with each side of
 * a split.  -VT_E_NOMEM.
 */
int vt_pairrows_print(struct vt_pairrows *r, const struct vt_pairrows_options *o,
		      struct vt_output *out, struct vt_error *err);

/*
 * Draws a dot for each row: its cycles in progress, and slots wasted in them, after figure 7 of
 * ProfileMe; the metric is `wasted`.  -VT_E_NOMEM, and the errors of vt_output_open() and
 * vt_output_close().
 */
int vt_pairrows_draw(const struct vt_pairrows *r, const struct vt_pairrows_options *o,
		     const char *path, struct vt_error *err);

#endif
