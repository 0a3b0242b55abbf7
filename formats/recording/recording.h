/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_RECORDING_RECORDING_H
#define FORMATS_RECORDING_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/reader.h"
#include "stream/writer.h"

/*
 * The receiving side of `vtrace record --full`: reads the rings that the recorder fills in each
 * process (formats/recording/ring.h) and writes the stream.
 *
 * Rings are not trusted, since the recorded program could write to its own: every offset and count
 * is checked, and a ring that contradicts itself is a GAP.
 */

struct vt_recording_options {
	/* The window, in instructions of each process; with `toggle` of those that count. */
	uint64_t skip;
	uint64_t count;	  /* 0: all */
	bool toggle;	  /* only what happens between the recorder's TOGGLE events */
	bool follow;	  /* processes that are forked may be recorded, too */
	vt_warn_fn *warn; /* told one line for each thing that is left out; may be NULL */
	void *warn_arg;
};

struct vt_recording_summary {
	uint64_t processes;  /* programs that were begun, those after an exec included */
	uint64_t insns;	     /* recorded */
	uint64_t blocks;     /* executions of blocks recorded */
	uint64_t data;	     /* bytes of values recorded */
	uint64_t gaps;	     /* damaged places, each a GAP record */
	uint64_t cut;	     /* processes that ended without a word: read up to there */
	uint64_t left_out;   /* LOST records */
	uint64_t unfollowed; /* processes that were forked, and programs run by exec, unrecorded */
};

struct vt_recording;

/*
 * Prepares a directory that is empty and private for recorders.  Records go to `w`, whose errors
 * stick to it: once it has failed, recorders are told to stop.  NULL: VT_E_SYSTEM, VT_E_NOMEM.
 */
struct vt_recording *vt_recording_open(const char *dir, struct vt_writer *w,
				       const struct vt_recording_options *opt,
				       struct vt_error *err);

/* To be polled for reading before vt_recording_read(). */
int vt_recording_fd(const struct vt_recording *r);

/*
 * Takes in what recorders have said; does not wait.  1: there was something; 0: there is nothing
 * now; -VT_E_NOMEM, -VT_E_SYSTEM.
 */
int vt_recording_read(struct vt_recording *r, struct vt_error *err);

/*
 * The i-th process that has not ended as far as is known, or 0: whoever can find out that it is
 * dead tells by vt_recording_dead().
 */
int32_t vt_recording_running(const struct vt_recording *r, size_t i);

/* A process is dead: what it had written is read, to the last instruction. */
int vt_recording_dead(struct vt_recording *r, int32_t pid, struct vt_error *err);

/* Tells the recorders that no more is wanted. */
void vt_recording_stop(struct vt_recording *r);

/* What came of it so far. */
const struct vt_recording_summary *vt_recording_summary(const struct vt_recording *r);

/* Removes all that was made in the directory, and frees. */
void vt_recording_close(struct vt_recording *r);

#endif
