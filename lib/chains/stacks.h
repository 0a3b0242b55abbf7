/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CHAINS_STACKS_H
#define VT_CHAINS_STACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "chains/gather.h"
#include "image/images.h"
#include "profile/profile.h"
#include "stacks/stacks.h"

/* A value of stacks: the samples of an event, or the sum of their periods. */
struct vt_callvalue {
	size_t event; /* index in the profile */
	const char *name;
	const char *unit;
	bool period;
};

struct vt_callstacks {
	const struct vt_callgather *gather; /* finished, at the level of instructions; borrowed */
	const struct vt_profile *profile;   /* of the same stream, with the same groups; borrowed */
	struct vt_images *images;	    /* borrowed */
	const struct vt_callvalue *values;
	size_t count;
	bool inlined; /* with inlined functions; otherwise a frame has one line, its procedure */
	bool lines;   /* with source files and lines */
};

/*
 * Makes counted stacks, with a root for each group of the profile; keys of processes, threads,
 * their names and CPUs are its label.  Samples without a chain, and what was counted otherwise (a
 * database's profiles, executed instructions), are stacks of one frame, so a value's total is the
 * profile's. Owned by the caller; NULL: VT_E_NOMEM.
 */
struct vt_stacks *vt_callstacks_make(const struct vt_callstacks *c, struct vt_error *err);

#endif
