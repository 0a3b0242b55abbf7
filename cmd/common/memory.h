/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CMD_COMMON_MEMORY_H
#define CMD_COMMON_MEMORY_H

#include "cmd/common/app.h"
#include "cmd/common/tables.h"
#include "listing/memory/objects.h"

/* A listing of a memory profile: how its table is filled, and what is printed with it. */
struct app_memory_listing {
	int64_t (*fill)(struct vt_table *t, struct vt_memory *m, struct vt_images *images,
			const struct vt_memlist_options *o, struct vt_error *err);
	void (*header)(const struct vt_memory *m, struct vt_output *out);
	void (*json)(const struct vt_memory *m, const struct vt_table *t, int64_t left_out,
		     const struct vt_losses *losses, struct vt_output *out);
};

/* Objects and locations. */
extern const struct app_memory_listing app_memory_objects;

/* Prints a listing.  False after app_fail(). */
bool app_list_memory(struct app *a, const struct app_form *form, const struct app_memory_listing *l,
		     struct vt_memory *memory, struct vt_images *images,
		     const struct vt_memlist_options *o);

#endif
