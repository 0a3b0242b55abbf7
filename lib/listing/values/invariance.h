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

/* Value profiles as tables for people and programs: value/invariance.h has the figures. */

/* A place for people. */
struct vt_hot_place {
	const char *image;  /* the last component of its path: untrusted text; "[unmapped]" */
	uint64_t address;   /* in the image's own terms; where these are not known, the offset */
	const char *symbol; /* or NULL, and */
	const char *why;    /* the reason: "file not found" */
	uint64_t start;	    /* of the symbol */
};

/* `im` has the images of the stream that p read last. */
void vt_hot_place(const struct vt_hotprofile *p, struct vt_images *im, const struct vt_hot_key *key,
		  struct vt_hot_place *place);

/* The same of an image by its id in `im`; `place->image` stays as it is if `im` does not have it.
 */
void vt_image_place(struct vt_images *im, uint32_t id, uint64_t offset, struct vt_hot_place *place);

/*
 * Fills a new table with the means over all lists, weighted by executions: a row for each kind of
 * value (or only for that which `what` names), and one for all of them if there are several.
 */
void vt_invlist_overall(struct vt_table *t, const struct vt_hotprofile *p, uint32_t what);

/* Appends "procedure+1a", or in brackets why there is none, and the lane if it is not the first. */
void vt_invlist_place(struct vt_table *t, const struct vt_hot_place *place, uint32_t lane);

enum vt_invlist_by { VT_INVLIST_INSTRUCTION, VT_INVLIST_PROCEDURE, VT_INVLIST_IMAGE };

struct vt_invlist_options {
	uint32_t what; /* kinds, or VT_INV_EVERY */
	enum vt_invlist_by by;
	uint64_t top; /* rows; 0: all */
};

/* How vt_invlist_print() prints. */
struct vt_invlist_form {
	bool summary; /* only the means over all lists */
	bool json;
	enum vt_table_form table; /* unless `json` */
	bool color;
	const struct vt_losses *losses; /* of the stream, for JSON */
};

/*
 * Fills a new table with a row for each list, or with the weighted means over the lists of a
 * procedure or image; most executions first.  Returns how many rows were left out, or -VT_E_NOMEM.
 */
int64_t vt_invlist_fill(struct vt_table *t, const struct vt_hotprofile *p, struct vt_images *im,
			const struct vt_invlist_options *o, struct vt_error *err);

/* Prints both tables to `out`.  Errors of vt_table_print(); -VT_E_NOMEM. */
int vt_invlist_print(const struct vt_hotprofile *p, struct vt_images *im,
		     const struct vt_invlist_options *o, const struct vt_invlist_form *form,
		     struct vt_output *out, struct vt_error *err);

/* The columns of a comparison: one row for each second profile, filled by vt_invlist_compared(). */
void vt_invlist_comparison(struct vt_table *t);
void vt_invlist_compared(struct vt_table *t, const char *name, const struct vt_inv_comparison *c);

/* The same for a comparison of metrics over inputs (table 4 of the paper). */
void vt_invlist_inputs(struct vt_table *t);
void vt_invlist_inputs_compared(struct vt_table *t, const char *name,
				const struct vt_inv_comparison *c);

/*
 * Fills a new table with the `top` places that differ most: those that add most to Diff-Top.  `im`
 * has a's images.  Returns how many rows were left out, or -VT_E_NOMEM.
 */
int64_t vt_invlist_worst(struct vt_table *t, const struct vt_hotprofile *a, struct vt_images *im,
			 const struct vt_hotprofile *b, const struct vt_inv_pair *pairs, size_t n,
			 uint32_t m, uint64_t top, struct vt_error *err);

/*
 * The rows of a comparison and of its inputs as one array of objects, each with its table of worst
 * places unless that is NULL.  What cannot be computed is null.  A new reference.
 */
json_t *vt_invlist_compared_json(const struct vt_table *rows, const struct vt_table *inputs,
				 struct vt_table *const *worst, const int64_t *left_out, size_t n);

#endif
