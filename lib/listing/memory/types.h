/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_MEMORY_TYPES_H
#define VT_LISTING_MEMORY_TYPES_H

#include "listing/memory/objects.h"
#include "memory/typed.h"

/*
 * Fills a table, which is empty, with the types of a profile, each with its members if the options
 * ask for a layout.  Takes `rows`, `top`, `each`, `pattern` and `people` of them; the pattern is of
 * types.  Returns the number of types that are left out, or -VT_E_NOMEM.
 */
int64_t vt_memlist_types(struct vt_table *t, struct vt_memory *m, struct vt_images *images,
			 const struct vt_memlist_options *o, struct vt_error *err);

/* Prints the JSON document "vmem-types/1". */
void vt_memlist_types_json(const struct vt_memory *m, const struct vt_table *t, int64_t left_out,
			   const struct vt_losses *losses, struct vt_output *out);

#endif
