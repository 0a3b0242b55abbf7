/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MEMORY_RECORDS_INTERNAL_H
#define VT_MEMORY_RECORDS_INTERNAL_H

#include "memory/objects.h"
#include "memory/records.h"

struct vt_memrecords {
	struct vti_objects objects;
	struct vt_memory_totals totals;
	uint64_t grain;
	uint64_t depth;
	bool given;
	struct vt_hash ids; /* of the stream's OBJECT records: struct vti_object_id */
};

/* Adds `from` to objects and totals.  Errors as vt_memrecords_join(). */
int vti_memrecords_add(struct vti_objects *objects, struct vt_memory_totals *totals,
		       const struct vt_memrecords *from, vt_memrecords_image_fn *image, void *arg,
		       struct vt_error *err);

/* What is written of a profile. */
struct vti_memory_output {
	struct vti_objects *objects; /* ranked */
	const struct vt_memory_totals *totals;
	uint64_t grain;
	uint64_t depth;
	const bool *objects_kept; /* by rank; NULL: all */
	const bool *kept;	  /* locations; NULL: all */
};

/* -VT_E_NOMEM. */
int vti_memory_put(const struct vti_memory_output *o, struct vt_writer *w, struct vt_error *err);

#endif
