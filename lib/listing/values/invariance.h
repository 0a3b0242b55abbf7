/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_VALUES_INVARIANCE_H
#define VT_LISTING_VALUES_INVARIANCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/output.h"
#include "base/table.h"
#include "image/images.h"
#include "profile/losses.h"
#include "value/hot_profile.h"
#include "value/invariance.h"

/* Value profiles as tables.  value/invariance.h computes the metrics. */

/* A place as people know it. */
struct vt_hot_place {
	const char *image;  /* last component of the path, untrusted; or "[unmapped]" */
	uint64_t address;   /* vaddr in the image; if unknown, the offset */
	const char *symbol; /* NULL: unknown */
	const char *why;    /* the reason: "file not found" */
	uint64_t start;	    /* of the symbol */
};

/* Describes the place of a key.  `im` has the images of the stream that `p` read last. */
void vt_hot_place(const struct vt_hotprofile *p, struct vt_images *im, const struct vt_hot_key *key,
		  struct vt_hot_place *place);

/*
 * Describes an offset of the image with this id in `im`.  Leaves `place->image` alone if `im` does
 * not have the image.
 */
void vt_image_place(struct vt_images *im, uint32_t id, uint64_t offset, struct vt_hot_place *place);

/*
 * Fills an empty table with the means over all lists, weighted by executions: a row for each kind
 * of value in `what`, and one for all of them if there are several.
 */
void vt_invlist_overall(struct vt_table *t, const struct vt_hotprofile *p, uint32_t what);

/* Fills a cell with "procedure+1a", or "[reason]" without a symbol, and a lane other than 0. */
void vt_invlist_place(struct vt_table *t, const struct vt_hot_place *place, uint32_t lane);

enum vt_invlist_by { VT_INVLIST_INSTRUCTION, VT_INVLIST_PROCEDURE, VT_INVLIST_IMAGE };

struct vt_invlist_options {
	uint32_t what; /* kinds of values: see vt_inv_is_of() */
	enum vt_invlist_by by;
	uint64_t top; /* the most rows; 0: all */
};

/* How vt_invlist_print() prints. */
struct vt_invlist_form {
	bool summary; /* only the means over all lists */
	bool json;
	enum vt_table_form table; /* unless `json` */
	bool color;
	const struct vt_losses *losses; /* of the stream; used by JSON */
};

/*
 * Fills an empty table, most executions first: with a row for each list, or with the weighted means
 * over the lists of each procedure or image.  Returns how many rows were left out, or -VT_E_NOMEM.
 */
int64_t vt_invlist_fill(struct vt_table *t, const struct vt_hotprofile *p, struct vt_images *im,
			const struct vt_invlist_options *o, struct vt_error *err);

/* Prints both tables to `out`.  Errors of vt_table_print(); -VT_E_NOMEM. */
int vt_invlist_print(const struct vt_hotprofile *p, struct vt_images *im,
		     const struct vt_invlist_options *o, const struct vt_invlist_form *form,
		     struct vt_output *out, struct vt_error *err);

/* Adds the columns of a comparison; vt_invlist_compared() adds a row for a second profile. */
void vt_invlist_comparison(struct vt_table *t);
void vt_invlist_compared(struct vt_table *t, const char *name, const struct vt_inv_comparison *c);

/* The same for the comparison of two inputs of "Value Profiling and Optimization", table 4. */
void vt_invlist_inputs(struct vt_table *t);
void vt_invlist_inputs_compared(struct vt_table *t, const char *name,
				const struct vt_inv_comparison *c);

/*
 * Fills an empty table with the `top` places that add most to Diff-Top.  `im` has a's images; `m`
 * is the M of Inv-M.  Returns how many rows were left out, or -VT_E_NOMEM.
 */
int64_t vt_invlist_worst(struct vt_table *t, const struct vt_hotprofile *a, struct vt_images *im,
			 const struct vt_hotprofile *b, const struct vt_inv_pair *pairs, size_t n,
			 uint32_t m, uint64_t top, struct vt_error *err);

/*
 * Joins the rows of both tables of a comparison into an array of n objects.  worst[i], unless NULL,
 * is the i-th object's table of worst places.  Values that cannot be computed are null.  Returns a
 * new reference.
 */
json_t *vt_invlist_compared_json(const struct vt_table *rows, const struct vt_table *inputs,
				 struct vt_table *const *worst, const int64_t *left_out, size_t n);

#endif
