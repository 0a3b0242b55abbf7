/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CONFLICT_REPLAY_H
#define VT_CONFLICT_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "conflict/conflict.h"
#include "image/images.h"
#include "interpret/interpret.h"
#include "stream/record.h"
#include "stream/writer.h"

/*
 * Finds pairs of conflicting accesses in a stream: vreplay of value sampling 3.2, done offline.
 * Uses executed code with recorded addresses, or interprets executed code along its path, or
 * interprets code from samples with registers.
 */
struct vt_replay;

struct vt_replay_options {
	const struct vt_conflict_model *model; /* copied */
	bool dependent;			       /* as vt_conflicts_new() */
	const char *image; /* path or file name; only pairs with a later instruction in it */
	const char *const *events; /* whose samples rank the pairs; none: all that fit a type */
	size_t nevents;
	struct vt_images *images; /* borrowed; receives the records of vt_replay_feed() */
	uint32_t length;	  /* instructions in a run from a sample, at least 1 */
	unsigned trust;		  /* VT_TRUST_ of interpret.h */
	/* Called for records that contradict themselves, which are not used; may be NULL. */
	void (*warn)(void *arg, const char *text);
	void *warn_arg;
};

/*
 * Where memory accesses come from.  The first record with executed code, or sample with registers,
 * determines it for the stream.
 */
enum vt_replay_source {
	VT_REPLAY_NOTHING,  /* no executed code and no sample with registers so far */
	VT_REPLAY_RECORDED, /* executed code with addresses */
	VT_REPLAY_PATH,	    /* executed code without addresses, interpreted along its path */
	VT_REPLAY_SAMPLES,  /* samples with registers, from which code is interpreted */
	VT_REPLAY_NSOURCES
};

/* Owned by the caller; borrows strings of the options.  Returns NULL with VT_E_NOMEM or VT_E_USAGE.
 */
struct vt_replay *vt_replay_new(const struct vt_replay_options *opt, struct vt_error *err);
void vt_replay_free(struct vt_replay *rp);

/* Reads rows first .. first+count-1 of a block.  Returns 0, -VT_E_NOMEM or -VT_E_LIMIT. */
int vt_replay_feed(struct vt_replay *rp, const struct vt_block *block, uint32_t first,
		   uint32_t count, struct vt_error *err);
enum vt_replay_source vt_replay_source(const struct vt_replay *rp);

/*
 * Sorts the pairs and counts their samples, after the last record.  Returns 0, -VT_E_NOMEM, or
 * -VT_E_NOTFOUND for an event that the stream does not have.
 */
int vt_replay_finish(struct vt_replay *rp, struct vt_error *err);

struct vt_replay_totals {
	struct vt_conflict_totals of;
	uint64_t bad;	  /* records that contradict themselves */
	uint64_t ignored; /* records of executed code, if samples came first */
	uint64_t pairs[VT_NCONFLICTS];
	uint64_t met[VT_NCONFLICTS];
	uint64_t samples; /* of the events that rank the pairs, on later instructions */
};

const struct vt_replay_totals *vt_replay_totals(const struct vt_replay *rp);

/*
 * Writes the pairs as CONFLICT records, the samples by instruction as COUNT records, and the totals
 * as META records replay.model, replay.distance, replay.insns, replay.accesses, replay.known ….
 * The writer keeps its errors.
 */
void vt_replay_write(const struct vt_replay *rp, struct vt_writer *w);

#endif
