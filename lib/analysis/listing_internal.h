/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_ANALYSIS_LISTING_INTERNAL_H
#define VT_ANALYSIS_LISTING_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/listing.h"
#include "base/intern.h"
#include "image/lines.h"

/* The samples at one address of the procedure. */
struct vti_point {
	uint64_t vaddr;
	const struct vt_tally *tallies;
};

struct vt_listing {
	struct vt_procedure proc;
	const struct vt_image *image;
	struct vt_images *images;
	size_t nevents;
	struct vt_tally *total;
	struct vt_tally *tallies; /* of the points */
	struct vti_point *points; /* by address */
	size_t npoints;
	struct vt_tally *line_tallies; /* of source lines, in the source view */
	struct vt_list_row *rows;
	size_t nrows;
	size_t rows_cap;
	struct vt_intern *texts;
	const char *missing;
	bool failed;
};

/* Appends a row of a kind with nothing in it; never NULL: when memory runs out, `failed` is set
 * and the row goes nowhere. */
struct vt_list_row *vti_listing_row(struct vt_listing *l, enum vt_list_kind kind);

/* A copy of a text that lives as long as the listing; "" when memory runs out. */
const char *vti_listing_text(struct vt_listing *l, const void *text, size_t size);

/* The row of a source line, its text filled in where the file is at hand. */
void vti_listing_line(struct vt_listing *l, struct vt_sources *sources, const char *file,
		      unsigned line, const struct vt_tally *tallies);

/* Rows of the views: assembly (with source between for VT_LIST_MIXED), and source. */
void vti_listing_code(struct vt_listing *l, const struct vt_listing_options *opt);
void vti_listing_source(struct vt_listing *l, const struct vt_listing_options *opt);

#endif
