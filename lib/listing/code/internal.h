/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CODE_INTERNAL_H
#define VT_LISTING_CODE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/intern.h"
#include "image/lines.h"
#include "listing/code/listing.h"

/* The samples and hot lists at one address of the procedure. */
struct vti_point {
	uint64_t vaddr;
	uint64_t offset; /* in the image */
	const struct vt_tally *tallies;
	size_t list; /* the first of `nlists` */
	size_t nlists;
};

/* The parts of a hot list's line before the values; all lists of a listing stand in columns. */
enum { VTI_WHAT, VTI_EXECUTIONS, VTI_PER, VTI_DISTINCT, VTI_NPARTS };

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
	const struct vt_list_values *values;
	size_t nlists; /* that have rows */
	unsigned widths[VTI_NPARTS];
	struct vt_intern *texts;
	const char *missing;
	bool failed;
};

/* Finds what fell in the procedure: points, tallies, totals.  False: memory ran out. */
bool vti_listing_gather(struct vt_listing *l, const struct vt_profile *p);

/* Appends a row of a kind with nothing in it; never NULL: when memory runs out, `failed` is set
 * and the row goes nowhere. */
struct vt_list_row *vti_listing_row(struct vt_listing *l, enum vt_list_kind kind);

/* A copy of a text that lives as long as the listing; "" when memory runs out. */
const char *vti_listing_text(struct vt_listing *l, const void *text, size_t size);

/* The row of a source line, its text filled in where the file is at hand. */
void vti_listing_line(struct vt_listing *l, struct vt_sources *sources, const char *file,
		      unsigned line, const struct vt_tally *tallies);

/*
 * The rows of a point's hot lists, for an instruction of these bytes (NULL: they are not known, or
 * are not x86-64's); and their texts, when all rows are there.
 */
void vti_listing_values(struct vt_listing *l, const struct vti_point *point, const uint8_t *bytes,
			size_t size);
void vti_listing_values_finish(struct vt_listing *l);

/* True where too little was counted for the share of the list's i-th value to be more than a guess.
 */
bool vti_listing_is_guess(const struct vt_hot *h, uint32_t i);

/* One part of a hot list's line; its heading for a row without a list. */
void vti_listing_values_part(const struct vt_list_row *row, unsigned part, struct vt_buf *out);

/* What an address in an operand is called; `arg` is the image's struct vt_symbols, or NULL. */
void vti_listing_name(void *arg, uint64_t address, struct vt_buf *out);

/* Rows of the views: assembly (with source between for VT_LIST_MIXED), and source. */
void vti_listing_code(struct vt_listing *l, const struct vt_listing_options *opt);
void vti_listing_source(struct vt_listing *l, const struct vt_listing_options *opt);

#endif
