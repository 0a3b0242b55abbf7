/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_MEMORY_OBJECTS_H
#define VT_LISTING_MEMORY_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/output.h"
#include "base/table.h"
#include "image/images.h"
#include "memory/memory.h"
#include "profile/losses.h"
#include "profile/value_text.h"

/* Lists of objects and of their locations. */

enum vt_memlist_rows {
	VT_MEMLIST_OBJECTS,
	VT_MEMLIST_LOCATIONS, /* those with most accesses first */
	VT_MEMLIST_LAYOUT,    /* objects, each with its locations by offset */
	VT_NMEMLISTS
};

struct vt_memlist_options {
	enum vt_memlist_rows rows;
	uint64_t top;	     /* rows, of a layout objects; 0: all */
	uint64_t each;	     /* of a layout: locations of an object; 0: all */
	uint32_t types;	     /* bits 1 << enum vt_object_type */
	const char *pattern; /* objects whose names match it (base/pattern.h); NULL: all */
	bool people;	     /* for people, not for programs */
	/* VT_MEMLIST_LOCATIONS: the `show` most frequent values that `cutoff` percent of loads had.
	 */
	const struct vt_value_style *style; /* NULL: the most frequent value alone, without share */
	uint64_t show;
	double cutoff;
};

/*
 * Appends the name of an object: "counter", "make t.cc:8 < main t.cc:14", "sum (stack)".  Names in
 * it are untrusted.
 */
void vt_memory_name(struct vt_buf *out, struct vt_images *images, const struct vt_memory_object *o);

/* Whether an object is of the types and the names that are asked for, and was accessed. */
bool vt_memlist_wants(const struct vt_memlist_options *o, struct vt_images *images,
		      const struct vt_memory_object *object);

/*
 * Fills a table, which is empty.  Returns the number of rows (of a layout: objects) that are left
 * out, or -VT_E_NOMEM.
 */
int64_t vt_memlist_table(struct vt_table *t, struct vt_memory *m, struct vt_images *images,
			 const struct vt_memlist_options *o, struct vt_error *err);

/* Prints the totals, above the table. */
void vt_memlist_header(const struct vt_memory *m, struct vt_output *out);

/* Prints the JSON document "vmem/1". */
void vt_memlist_json(const struct vt_memory *m, const struct vt_table *t, int64_t left_out,
		     const struct vt_losses *losses, struct vt_output *out);

#endif
