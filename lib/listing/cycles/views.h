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

/* What a stream's FREQ, EDGE and STALL records say of its procedures, printed. */

enum vt_cycleview {
	VT_CYCLES_NONE,
	VT_CYCLES_CALC,	   /* block by block: DCPI figure 2 */
	VT_CYCLES_SUMMARY, /* where the cycles went: figure 4 */
	VT_CYCLES_STALL,   /* the procedures that one cause of stalls costs most */
	VT_CYCLES_GRAPH,   /* the flow graph */
};

/* All but the last members are set by the caller, who owns what they point to. */
struct vt_cyclelist {
	enum vt_cycleview view;
	struct vt_calc_source src; /* its event is found here */
	const struct vt_hash
		*images;	  /* uint32_t: those with frequencies, then others with samples */
	const char *const *names; /* the images of STALL and of a SUMMARY; none: all */
	size_t nnames;
	double cutoff;	/* percent: blocks, and procedures of STALL, with less are left out */
	uint64_t top;	/* procedures of STALL; 0: all */
	unsigned cause; /* of STALL */
	bool dot;	/* GRAPH: for Graphviz, not as SVG */
	struct vt_sources *sources;	/* NULL: no text */
	const struct vt_losses *losses; /* of a JSON document; NULL: not JSON */
	enum vt_table_form form;	/* of STALL, unless JSON */
	bool color;
	struct vt_output *out;
	vt_warn_fn *warn; /* told of procedures without code, where others are listed */
	void *arg;

	size_t count; /* procedures that were listed block by block, or drawn */
	json_t *list; /* of procedures or images */
};

/* The first of `names` that is none of `images`; NULL: there is none. */
const char *vt_cyclelist_unknown(const struct vt_cyclelist *l);

/*
 * Prints the view of these procedures; STALL needs none, nor does a SUMMARY, which is of images
 * then.  vt_calc_new()'s errors for a single procedure; -VT_E_LIMIT for too large a picture.
 */
int vt_cyclelist_print(struct vt_cyclelist *l, const struct vt_found *found, struct vt_error *err);

#endif
