/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_VALUES_COMPARISON_H
#define VT_LISTING_VALUES_COMPARISON_H

#include "listing/values/invariance.h"

/* The listing of vcmp: value profiles, each compared with a first one.  All borrowed. */
struct vt_comparelist_options {
	const struct vt_hotprofile *first;
	struct vt_images *images; /* of `first` */
	const char *name;	  /* of `first` */
	struct vt_inv_options how;
	uint64_t worst; /* places that differ most to list for each profile; 0: none */
};

struct vt_comparelist;

/* Returns NULL when memory runs out. */
struct vt_comparelist *vt_comparelist_new(const struct vt_comparelist_options *o);
void vt_comparelist_free(struct vt_comparelist *l);

/*
 * Compares a profile with the first and adds its rows.  Returns how many instructions the two have
 * in common, or -VT_E_NOMEM.
 */
int64_t vt_comparelist_add(struct vt_comparelist *l, const char *name,
			   const struct vt_hotprofile *second, struct vt_error *err);

/*
 * Prints what was added; `form->summary` is ignored.  CSV and TSV have one table: that of the first
 * profile's worst places if these were asked for.  Errors of vt_table_print().
 */
int vt_comparelist_print(const struct vt_comparelist *l, const struct vt_invlist_form *form,
			 struct vt_output *out, struct vt_error *err);

#endif
