/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_COLLECT_INTERNAL_H
#define VT_VALUE_COLLECT_INTERNAL_H

#include "base/hash.h"
#include "value/collect.h"

/* A place, with the image numbers of vt_sites. */
struct place {
	uint64_t offset;
	uint32_t image;
};

struct vt_collect {
	struct vt_sites *sites;
	struct vt_hotlists *lists;
	struct vt_collect_options options;
	struct vt_collect_stats stats;

	/* Of the current stream: */
	struct vt_context *context; /* borrowed */
	struct quick *blocks;	    /* by id */
	size_t nblocks;
	struct vt_hash images;	  /* id -> number in the sites */
	struct vt_hash processes; /* struct process */
	struct vt_hash threads;	  /* struct thread * by pid, tid */
	struct vt_hash values;	  /* lists of VALUE rows */
};

/* Sets *place to the place of an address, and *mapped to whether the address is mapped. */
int vti_collect_place(struct vt_collect *c, int64_t pid, uint64_t address, struct place *place,
		      bool *mapped, struct vt_error *err);

/*
 * Returns the list of a slot's kind of value at a place whose procedure returns to `caller`.
 * Returns NULL when memory runs out.
 */
struct vt_hotlist *vti_collect_list(struct vt_collect *c, const struct place *at, int64_t pid,
				    uint64_t caller, const struct vt_slot *slot, uint32_t lane);

static inline bool vti_collect_wants(const struct vt_collect *c, uint32_t what)
{
	return what < VT_NWHATS && (c->options.what >> what & 1);
}

/* ---- executed blocks: value/collect_exec.c ---- */

/* Initialize the data of executions, and free them at the end of a stream. */
void vti_collect_init_exec(struct vt_collect *c);
void vti_collect_forget_exec(struct vt_collect *c);

int vti_collect_exec(struct vt_collect *c, const struct vt_record *rec, struct vt_error *err);

/*
 * Sums up the executions of instructions and, if `wanted`, adds them to the counts of the sites.
 * Returns 0 or -VT_E_NOMEM.
 */
int vti_collect_counts(struct vt_collect *c, bool wanted, struct vt_error *err);

/* The order of the instructions of a process, or of all processes, is interrupted here. */
void vti_collect_break(struct vt_collect *c, int64_t pid);
void vti_collect_break_all(struct vt_collect *c);

/* A signal handler is about to run in this thread. */
void vti_collect_signal(struct vt_collect *c, int64_t pid, int64_t tid);

#endif
