/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_REGION_RECORDS_H
#define VT_FREQ_REGION_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "freq/freq.h"
#include "image/images.h"
#include "machine/pipeline/core.h"
#include "profile/procedure_flow.h"
#include "stream/writer.h"

/* The regions (region.h) of the procedures of an image, and what the code that they call takes. */

/* A procedure whose executions and time are known. */
struct vt_region_source {
	const struct vt_core *core;
	const struct vt_procflow *flow; /* with costs */
	const struct vt_elf *elf;	/* to see what is called; may be NULL */
	const struct vt_symbols *symbols;
	const struct vt_freqs *freqs;
	const uint64_t *samples; /* by instruction that they are charged to */
	const double *cycles;	 /* of all executions, likewise */
	uint64_t offset;	 /* of the procedure in its image */
	uint64_t event;		 /* id of the event of the samples */
};

struct vti_listed_region;
struct vti_call_site;

/* Empty when all zeros. */
struct vt_regionlist {
	struct vti_listed_region *regions;
	size_t count;
	size_t cap;
	struct vti_call_site *sites;
	size_t nsites;
	size_t sites_cap;
	uint64_t *words; /* ranges of the regions */
	size_t nwords;
	size_t words_cap;
	struct vt_hash procedures; /* by vaddr */
	bool started;
};

/*
 * Adds the regions of a procedure that were executed; `s` is borrowed for the call.  All of an
 * image are added before they are written.  0 or -VT_E_NOMEM.
 */
int vt_regionlist_add(struct vt_regionlist *l, const struct vt_region_source *s,
		      struct vt_error *err);

/*
 * Writes a REGION record for each region that has samples, itself or in what it calls, in the order
 * in which they were added, and removes all of them.  A call takes the mean of all calls of that
 * procedure, with what that calls.  0 or -VT_E_NOMEM; errors of the writer stick to it.
 */
int vt_regionlist_write(struct vt_regionlist *l, struct vt_writer *w, struct vt_error *err);
void vt_regionlist_fini(struct vt_regionlist *l);

#endif
