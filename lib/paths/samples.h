/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PATHS_SAMPLES_H
#define VT_PATHS_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/intern.h"
#include "paths/places.h"
#include "profile/context.h"

/* The samples of a stream that tell of the path to an instruction. */

/* What is asked: the samples that ask the same are one. */
struct vt_pathquestion {
	uint64_t history;
	uint64_t event;
	uint32_t place;
	uint32_t other; /* the other instruction of a pair; VT_PATHPLACE_NONE */
	uint32_t distance;
	uint32_t branches; /* bits of `history` */
	uint32_t stack; /* of its branches, in vt_pathsamples.stacks; 0: none, or not to be used */
	uint32_t padding;
	uint64_t count;	   /* samples */
	double executions; /* that they stand for; 0: not known */
};

struct vt_pathsample {
	uint32_t question;
	uint32_t stack; /* the true branches; 0: none */
};

/* What branch stacks are for. */
enum vt_pathstacks {
	VT_PATHSTACKS_USED, /* they tell the path */
	VT_PATHSTACKS_UNUSED,
	VT_PATHSTACKS_TRUE, /* they tell whether the path is right that the history tells */
};

struct vt_pathsamples {
	struct vt_pathplaces *places; /* borrowed */
	struct vt_context *context;   /* borrowed */
	uint32_t branches;	      /* at most; 1 to 64 */
	enum vt_pathstacks use;
	struct vt_hash questions;
	struct vt_pathsample *list; /* with VT_PATHSTACKS_TRUE, each sample */
	size_t nlist;
	size_t list_cap;
	struct vt_intern *stacks; /* of uint32_t places: from, to, … the newest first */
	struct vt_hash firsts;	  /* of pairs, by thread and event */
	double ways;		  /* instructions of a group, if some are followed together */
	uint64_t samples;	  /* all */
	uint64_t aborted;	  /* of wrong paths */
	uint64_t untold;	  /* with neither a history nor a stack */
	uint64_t unmapped;
	uint64_t dropped; /* beyond what memory is for */
};

/* Zeroed *s becomes usable; -VT_E_NOMEM.  End with vt_pathsamples_fini() in either case. */
int vt_pathsamples_init(struct vt_pathsamples *s, struct vt_context *c, struct vt_pathplaces *p,
			uint32_t branches, enum vt_pathstacks use, struct vt_error *err);
void vt_pathsamples_fini(struct vt_pathsamples *s);

/* A vt_consume_record_fn for SAMPLE and META records.  -VT_E_NOMEM. */
int vt_pathsamples_feed(void *samples, const struct vt_record *rec, struct vt_error *err);

/*
 * Numbers a stack of branches, places from, to, from, … of `n` branches, the newest first; 0 of
 * none.  UINT32_MAX: out of memory.
 */
uint32_t vt_pathsamples_number(struct vt_pathsamples *s, const uint32_t *stack, size_t n);

/*
 * Adds a sample of an event at a place whose stack of branches has this number; it stands for so
 * many executions.  False: out of memory.
 */
bool vt_pathsamples_add(struct vt_pathsamples *s, uint64_t event, uint32_t place, uint32_t stack,
			double executions);

/*
 * Stores in *n how many samples are in images of which another stream, with images `others`, has no
 * places.  False: out of memory.
 */
bool vt_pathsamples_elsewhere(const struct vt_pathsamples *s, const struct vt_images *images,
			      const struct vt_pathplaces *other, const struct vt_images *others,
			      uint64_t *n);

/* The branches of the longest history, as far as they were asked for. */
uint32_t vt_pathsamples_longest(const struct vt_pathsamples *s);

/* The most branches of a stack that are kept. */
#define VT_PATHS_STACK 256

/* Stores the places of a stack: from, to, from, … of 2 * VT_PATHS_STACK at most.  Returns how many.
 */
size_t vt_pathsamples_stack(const struct vt_pathsamples *s, uint32_t stack, uint32_t *places);

#endif
