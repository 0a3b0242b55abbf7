/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CHAINS_SUMS_H
#define VT_CHAINS_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "chains/tree.h"
#include "profile/ranking.h"

/* A procedure of a call tree: a key, or VT_CALL_CUT. */
struct vt_callsum {
	uint64_t key;
	struct vt_tally self;  /* samples in it */
	struct vt_tally total; /* samples in it or in what it called, directly or not */
	uint64_t active;       /* 0 */
};

/* A caller and a callee.  An outermost procedure has the caller VT_CALL_NONE. */
struct vt_calledge {
	uint32_t caller;
	uint32_t callee;
	struct vt_tally total; /* samples in the callee or below, as called by this caller */
	uint64_t active;       /* 0 */
};

/*
 * The sums over all chains of a root.  A sample counts once for each procedure and each edge in its
 * chain, however often the procedure calls itself: as with perf report --children.
 */
struct vt_callsums {
	struct vt_hash procedures; /* struct vt_callsum, by key */
	struct vt_hash edges;	   /* struct vt_calledge, by caller and callee */
};

/* `root` is a node of a sorted tree, or VT_CALL_NONE for none.  -VT_E_NOMEM.  Call
 * vt_callsums_fini() in either case. */
int vt_callsums_init(struct vt_callsums *s, const struct vt_calltree *t, uint32_t root,
		     struct vt_error *err);
void vt_callsums_fini(struct vt_callsums *s);

#endif
