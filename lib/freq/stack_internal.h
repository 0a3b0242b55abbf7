/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_STACK_INTERNAL_H
#define VT_FREQ_STACK_INTERNAL_H

#include "base/hash.h"
#include "base/ordered.h"
#include "freq/stack_count.h"
#include "freq/stack_length.h"

/* What collects stacks (stack_count.c) and what weighs them (stack_weigh.c) share. */

struct stack_source {
	struct vt_stackcount_event e; /* the key is its first field */
	uint64_t period;
	enum vt_stack_unit unit; /* of the period */
	bool all;		 /* the stacks have all branches */
	bool some;		 /* they have some, and are not the calls of a chain */
	bool settled;		 /* some were counted, with cycles or without */
	uint64_t zeros;		 /* branches that came in the same cycle as the one before, */
	uint64_t ones;		 /* and one later */
	uint64_t predicted;	 /* branches that were, */
	uint64_t mispredicted;	 /* and that were not */
	uint64_t filtered;	 /* stacks that the event's filter keeps branches out of */
};

/* Which link, in the order of the results. */
struct link_key {
	uint64_t event;
	uint64_t image;
	int64_t pid;
	uint64_t run;
	uint64_t from;
	uint64_t to;
};

struct link_entry {
	struct link_key key;
	uint32_t number;  /* of the entry, in the order of their making */
	uint32_t outcome; /* of a branch: the place of its outcomes, from 1 on; 0: none are noted */
	uint16_t insns;	  /* instructions of a run, once they were counted; 0: unknown */
	bool decoded;
	bool inner; /* a run that a stack has behind its newest branch */
};

/* Where control continues after a branch. */
struct run_start {
	uint64_t image;
	int64_t pid;
	uint64_t offset;
};

/*
 * The same, by how control got there: the time that follows often depends on it.  The distance
 * to the target of the previous branch identifies the way.
 */
struct run_context {
	uint64_t image;
	int64_t pid;
	uint64_t offset;
	uint64_t before;
	uint64_t bin; /* of the time between the two */
};

/* What a stack is weighed by: the taken branches in it, cycles, or instructions. */
enum stack_way { STACK_UNTIMED, STACK_TIMED, STACK_LENGTHS, STACK_UNUSED };

/* A branch of a stack, and the run before it, by the numbers of their entries. */
struct stack_branch {
	uint32_t branch; /* UINT32_MAX: none; likewise below */
	uint32_t run;
	uint32_t start;	  /* where runs have lengths */
	uint32_t context; /* where they have times; none for the oldest one */
	uint16_t cycles;  /* since the branch before; or instructions, 0: unknown */
};

/*
 * What a branch was found to be, which most are again and again.  Nothing else matters for that as
 * long as no mapping changes.
 */
struct known_branch {
	struct branch_key {
		uint64_t changes; /* of mappings; 0: it is none */
		uint64_t event;
		uint64_t from;
		uint64_t to;
		uint64_t before; /* where the branch before led */
		int32_t pid;
		uint16_t bin;	/* of the time between the two */
		uint16_t inner; /* it is not the newest */
	} key;
	struct stack_branch found;
};

#define KNOWN_BRANCHES 262144

/* Stacks, kept until other stacks have shown which runs there are, and how long they are. */
struct stack_batch {
	struct stack_branch *branches; /* newest first */
	size_t nbranches;
	struct waiting_stack {
		double period;
		size_t first; /* of its branches */
		size_t count;
		uint32_t source;
		uint8_t way; /* enum stack_way, as its branches were looked up */
		bool zeros; /* its processor reports 0 cycles; once all are there, likewise below */
		bool counted; /* the unit of its period is known */
	} * stacks;
	size_t nstacks;
};

/* ---- what is counted, by the numbers of entries ---- */

struct link_count {
	uint64_t stacks; /* that count for it */
	uint64_t last;	 /* the number of the last of them */
	double current;	 /* what that adds */
	struct vt_stackcount_sum sum;
};

struct start_count {
	struct vt_stackreach reach;
	double window; /* of `reach`, once all that wait are in it */
	struct vt_stacktimes times;
	struct vt_stacklength length;
};

struct source_count {
	uint64_t stacks;
	double weight;
};

/* Weighs stacks while others come: it uses nothing that their collection does. */
struct stack_weigher {
	struct stack_batch batch; /* at hand */
	struct link_count *links;
	struct start_count *starts;
	struct vt_stacktimes *contexts;
	struct source_count *sources;
	size_t nlinks;
	size_t links_cap;
	size_t nstarts;
	size_t starts_cap;
	size_t ncontexts;
	size_t contexts_cap;
	size_t nsources;
	size_t sources_cap;
	uint64_t stack;	   /* the number of the one at hand */
	bool instructions; /* stacks of instructions are there, or were */
};

/* As many wait at once, of as many branches all in all. */
#define MAX_STACKS   16384
#define MAX_BRANCHES (MAX_STACKS * 32)

/*
 * Of a branch, as predicted and as mispredicted: how often, and the cycles up to the next taken one
 * if that is `next`: the code between is the same then.
 */
struct stack_outcome {
	uint64_t next; /* address */
	uint64_t seen[2];
	uint64_t timed[2];
	double cycles[2];
	double squares[2];
};

struct vt_stackcount {
	const struct vt_context *stream;
	struct vt_hash starts;
	struct vt_hash contexts;
	struct vt_hash sources;
	struct vt_hash entries;
	struct stack_batch batch;   /* what waits */
	struct known_branch *known; /* KNOWN_BRANCHES, by hash of the key */
	bool instructions;	    /* stacks of instructions wait, or did */
	struct stack_weigher weigher;
	struct vt_ordered *threads; /* for one batch at a time; NULL: there was none */
	unsigned nthreads;
	struct stack_outcome *outcomes;
	size_t noutcomes;
	size_t outcomes_cap;
	struct link_key *keys;
	struct vt_stackcount_link *links;
	uint32_t *outcome_of; /* by link, as in its entry */
	size_t count;
};

/* What a branch of a stack counts for. */
struct stack_share {
	double parts[VT_STACK_PARTS]; /* by where in the window it may lie */
	double bias;		      /* deviation, as a part of all of them */
};

/* What is not known of the unit, a part of all counts; chosen, as no processor was at hand. */
#define VTI_STACK_UNIT_BIAS 0.02

/*
 * The same where cycles tell it, at the least: sums of all counts are 0.5 % off on a real recording
 * of a loop whose executions are known, and 0 to 3 % on four programs of the model (gzip, perl,
 * cc1, sqlite3).
 */
#define VTI_STACK_TIME_BIAS 0.04

/* A stack's part of an entry is known when another stack has it, or none comes. */
void vti_stack_settle(struct link_count *l);

/* Counts a branch of the stack at hand. */
void vti_stack_add(struct stack_weigher *c, uint32_t entry, const struct stack_share *s);

/* Counts the stacks of the batch, and forgets them. */
void vti_stack_weigh(struct stack_weigher *c);

#endif
