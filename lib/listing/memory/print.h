/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_MEMORY_PRINT_H
#define VT_LISTING_MEMORY_PRINT_H

#include "listing/memory/loads.h"
#include "listing/memory/objects.h"
#include "listing/memory/sharing.h"
#include "listing/memory/types.h"

/* A listing of a memory profile: how its table is filled, and what is printed with it. */
struct vt_memlist {
	int64_t (*fill)(struct vt_table *t, struct vt_memory *m, struct vt_images *images,
			const struct vt_memlist_options *o, struct vt_error *err);
	void (*header)(const struct vt_memory *m, struct vt_output *out);
	void (*json)(const struct vt_memory *m, const struct vt_table *t, int64_t left_out,
		     const struct vt_losses *losses, struct vt_output *out);
};

extern const struct vt_memlist vt_memlist_objects; /* and locations */
extern const struct vt_memlist vt_memlist_by_type;
extern const struct vt_memlist vt_memlist_sharing;
extern const struct vt_memlist vt_memlist_static_loads;

/* How it is printed; all borrowed. */
struct vt_memlist_form {
	enum vt_table_form form;
	bool json; /* instead */
	bool color;
	const struct vt_losses *losses; /* of JSON */
	struct vt_output *out;
};

/* Prints a listing: as text, under the totals, with the number of rows that are left out.
 * -VT_E_NOMEM. */
int vt_memlist_print(const struct vt_memlist *l, struct vt_memory *m, struct vt_images *images,
		     const struct vt_memlist_options *o, const struct vt_memlist_form *f,
		     struct vt_error *err);

#endif
