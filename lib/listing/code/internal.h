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

/* An address of the procedure that has samples or hot lists. */
struct vti_point {
	uint64_t vaddr;
	uint64_t offset;		/* in the image */
	const struct vt_tally *tallies; /* by event */
	size_t list;			/* index of the first of `nlists` hot lists */
	size_t nlists;
};

/* The parts of a hot list's line before its values.  They are aligned over the whole listing. */
enum { VTI_WHAT, VTI_EXECUTIONS, VTI_PER, VTI_DISTINCT, VTI_NPARTS };

struct vt_listing {
	struct vt_procedure proc;
	const struct vt_image *image;
	struct vt_images *images;
	size_t nevents;
	struct vt_tally *total;	  /* of the procedure, by event */
	struct vt_tally *tallies; /* of the points */
	struct vti_point *points; /* by address */
	size_t npoints;
	struct vt_tally *line_tallies; /* of source lines; source view only */
	struct vt_list_row *rows;
	size_t nrows;
	size_t rows_cap;
	const struct vt_list_values *values;
	size_t nlists; /* hot lists that have rows */
	unsigned widths[VTI_NPARTS];
	struct vt_intern *texts;
	const char *missing; /* why there is no code or source; NULL if there is */
	bool failed;	     /* memory ran out */
};

/* Fills the points, their tallies and the totals.  False when memory runs out. */
bool vti_listing_gather(struct vt_listing *l, const struct vt_profile *p);

/*
 * Appends an empty row.  Never returns NULL: when memory runs out, sets `failed` and returns a row
 * that will be discarded.  The row moves when the next one is added.
 */
struct vt_list_row *vti_listing_row(struct vt_listing *l, enum vt_list_kind kind);

/*
 * Interns a text for the lifetime of the listing.  When memory runs out, sets `failed` and returns
 * "".
 */
const char *vti_listing_text(struct vt_listing *l, const void *text, size_t size);

/* Does so with the content of a buffer, which it frees. */
const char *vti_listing_keep(struct vt_listing *l, struct vt_buf *b);

/*
 * Appends the row of a source line, with its text if the file can be read.  Line 0 stands for code
 * without a line.
 */
void vti_listing_line(struct vt_listing *l, struct vt_sources *sources, const char *file,
		      unsigned line, const struct vt_tally *tallies);

/*
 * Appends the rows of a point's hot lists.  The instruction's bytes decide the types of the values;
 * they are NULL if unknown or not x86-64 code.  vti_listing_values_finish() composes the texts of
 * all these rows once the widths of their columns are known.
 */
void vti_listing_values(struct vt_listing *l, const struct vti_point *point, const uint8_t *bytes,
			size_t size);
void vti_listing_values_finish(struct vt_listing *l);

/* True if the count of a thinned list's i-th value is too small for a reliable share. */
bool vti_listing_is_guess(const struct vt_hot *h, uint32_t i);

/* Appends a part of a hot list's line; if the row is NULL or has no list, its heading. */
void vti_listing_values_part(const struct vt_list_row *row, unsigned part, struct vt_buf *out);

/* Append the rows of a view: assembly, with source lines between for VT_LIST_MIXED; or source. */
void vti_listing_code(struct vt_listing *l, const struct vt_listing_options *opt);
void vti_listing_source(struct vt_listing *l, const struct vt_listing_options *opt);

#endif
