/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_LISTING_CYCLES_VIEWS_H
#define VT_LISTING_CYCLES_VIEWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/output.h"
#include "base/table.h"
#include "listing/cycles/calc.h"
#include "profile/locate.h"
#include "profile/losses.h"
#include "stream/reader.h"

/* Prints what a stream's FREQ, EDGE and STALL records say about its procedures. */

enum vt_cycleview {
	VT_CYCLES_NONE,
	VT_CYCLES_CALC,	   /* block by block: DCPI figure 2 */
	VT_CYCLES_SUMMARY, /* where the cycles went: DCPI figure 4 */
	VT_CYCLES_STALL,   /* procedures by what one cause of stalls costs them */
	VT_CYCLES_GRAPH,   /* the flow graph */
};

/* The caller sets all but the last members, and owns what they point to. */
struct vt_cyclelist {
	enum vt_cycleview view;
	struct vt_calc_source src;    /* vt_cyclelist_print() sets its event */
	const struct vt_hash *images; /* uint32_t: with frequencies, then others with samples */
	const char *const *names;     /* the images of STALL and of a SUMMARY; none: all */
	size_t nnames;
	double cutoff;		    /* least percentage of a block, or of a procedure of STALL */
	uint64_t top;		    /* the most procedures of STALL; 0: all */
	unsigned cause;		    /* of STALL */
	bool dot;		    /* GRAPH: in the DOT language, not SVG */
	struct vt_sources *sources; /* NULL: no source text */
	const struct vt_losses *losses; /* print JSON, with these; NULL: print text */
	enum vt_table_form form;	/* of STALL, unless JSON */
	bool color;
	struct vt_output *out;
	vt_warn_fn *warn; /* called for procedures without code if there are others */
	void *arg;

	size_t count; /* procedures printed by CALC and GRAPH */
	json_t *list; /* of procedures or images */
};

/* The first of `names` that is not an image; NULL if all are. */
const char *vt_cyclelist_unknown(const struct vt_cyclelist *l);

/*
 * Prints the view of these procedures.  STALL ignores them; a SUMMARY without procedures is of
 * images.  For a single procedure, errors of vt_calc_new(); -VT_E_LIMIT: a picture is too large.
 */
int vt_cyclelist_print(struct vt_cyclelist *l, const struct vt_found *found, struct vt_error *err);

#endif
