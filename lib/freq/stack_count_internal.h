/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_STACK_COUNT_INTERNAL_H
#define VT_FREQ_STACK_COUNT_INTERNAL_H

#include "base/hash.h"
#include "freq/stack_count.h"
#include "image/addrspace.h"

struct vti_stacksource {
	struct vt_stackcount_event e; /* the key is its first field */
	uint64_t period;
	bool all;	/* the stacks have all branches */
	uint64_t zeros; /* branches that came in the same cycle as the one before, */
	uint64_t ones;	/* and one later */
};

/* Which link, in the order of the results. */
struct vti_stackkey {
	uint64_t event;
	uint64_t image;
	int64_t pid;
	uint64_t run;
	uint64_t from;
	uint64_t to;
};

struct vti_stackentry {
	struct vti_stackkey key;
	uint64_t stacks; /* that count for it */
	uint64_t last;	 /* the number of the last of them */
	double current;	 /* what that adds */
	struct vt_stackcount_sum sum;
};

/* Where control continues after a branch. */
struct vti_stackstart {
	uint64_t image;
	int64_t pid;
	uint64_t offset;
	struct vt_stackreach reach;
	struct vt_stacktimes times;
};

/*
 * The same, by how control got there: how long what follows takes often hangs on that.  Where the
 * branch before led is told by how far that is.
 */
struct vti_stackcontext {
	uint64_t image;
	int64_t pid;
	uint64_t offset;
	uint64_t before;
	uint64_t bin; /* of the time between the two */
	struct vt_stacktimes times;
};

/* A branch of a stack, and the run before it, by the numbers of their entries. */
struct vti_stackbranch {
	uint32_t branch; /* UINT32_MAX: none; likewise below */
	uint32_t run;
	uint32_t start;
	uint32_t context; /* NONE for the oldest one */
	uint16_t cycles;  /* since the branch before */
};

/* Stacks with times that wait for what others tell of how long runs take. */
struct vti_stackbatch {
	struct vti_stackbranch *branches; /* newest first */
	size_t nbranches;
	struct vti_stackwaiting {
		double period;
		size_t first; /* of its branches; they end where those of the next one begin */
		size_t source;
	} * stacks;
	size_t nstacks;
};

/* As many wait at once, of as many branches all in all. */
#define VTI_STACKBATCH_STACKS	16384
#define VTI_STACKBATCH_BRANCHES (VTI_STACKBATCH_STACKS * 32)

struct vt_stackcount {
	struct vt_addrspace *space;
	struct vt_hash starts;
	struct vt_hash contexts;
	struct vt_hash sources;
	struct vt_hash entries;
	struct vti_stackbatch batch;
	uint64_t stack; /* the number of the one at hand */
	struct vti_stackkey *keys;
	struct vt_stackcount_link *links;
	size_t count;
};

/* What a branch of a stack counts for. */
struct vti_stackshare {
	double parts[VT_STACK_PARTS]; /* by where in the window it may lie */
	double bias;		      /* deviation, as a part of all of them */
};

/* Counts a branch of the stack at hand. */
void vti_stackcount_add(struct vt_stackcount *c, uint32_t entry, const struct vti_stackshare *s);

/* Counts the stacks that wait, and forgets them. */
void vti_stackbatch_flush(struct vt_stackcount *c);

#endif
