/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_RECORDING_RECORDING_H
#define FORMATS_RECORDING_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/reader.h"
#include "stream/writer.h"

/*
 * The reader of `vtrace record --full`: reads the rings that the recorder fills in each process
 * (formats/recording/ring.h) and writes the stream.
 *
 * Rings are not trusted, since a recorded program could write to its ring: every offset and count
 * is checked, and a contradictory ring is a GAP.
 */

struct vt_recording_options {
	/* The window, in instructions of each process; with `toggle`, of the recorded ones. */
	uint64_t skip;
	uint64_t count;	  /* 0: all */
	bool toggle;	  /* records only between the recorder's TOGGLE events */
	bool follow;	  /* forked processes may be recorded, too */
	vt_warn_fn *warn; /* gets a line for each thing that is left out; may be NULL */
	void *warn_arg;
};

struct vt_recording_summary {
	uint64_t processes;  /* programs that were started, including those after an exec */
	uint64_t insns;	     /* recorded */
	uint64_t blocks;     /* executions of blocks recorded */
	uint64_t data;	     /* bytes of values recorded */
	uint64_t gaps;	     /* damaged places, each a GAP record */
	uint64_t cut;	     /* processes that died without an EXIT event */
	uint64_t left_out;   /* LOST records */
	uint64_t unfollowed; /* unrecorded: forked processes, and programs run by exec */
};

struct vt_recording;

/*
 * Prepares an empty, private directory for recorders.  Records go to `w`; once writing has failed,
 * the recorders are stopped.  NULL: VT_E_SYSTEM, VT_E_NOMEM.
 */
struct vt_recording *vt_recording_open(const char *dir, struct vt_writer *w,
				       const struct vt_recording_options *opt,
				       struct vt_error *err);

/* The file descriptor to poll for reading before vt_recording_read(). */
int vt_recording_fd(const struct vt_recording *r);

/*
 * Reads the messages of recorders, and the buffers that they announce; does not wait.  1: there
 * were some; 0: there are none now; -VT_E_NOMEM, -VT_E_SYSTEM.
 */
int vt_recording_read(struct vt_recording *r, struct vt_error *err);

/* The i-th process that has not ended, as far as is known, or 0.  See vt_recording_dead(). */
int32_t vt_recording_running(const struct vt_recording *r, size_t i);

/* Reports that a process is dead: reads all that it had written, to the last instruction. */
int vt_recording_dead(struct vt_recording *r, int32_t pid, struct vt_error *err);

/* Stops the recorders: their programs run on unrecorded. */
void vt_recording_stop(struct vt_recording *r);

/* The summary so far. */
const struct vt_recording_summary *vt_recording_summary(const struct vt_recording *r);

/* Removes all files made in the directory, and frees. */
void vt_recording_close(struct vt_recording *r);

#endif
