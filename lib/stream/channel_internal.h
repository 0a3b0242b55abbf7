/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_CHANNEL_INTERNAL_H
#define VT_STREAM_CHANNEL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "stream/channel.h"

/* Consecutive records of one kind, by its index among those that the header declares. */
struct vti_run {
	uint32_t kind;
	uint32_t count;
};

/* A field of the records that a writer has gathered: v[] exists only once its values differ. */
struct vti_frame_column {
	uint64_t *v;
	size_t cap;
	uint64_t constant; /* of all rows, as long as !varies */
	bool varies;
	struct vt_buf var; /* types S, B and A: the bytes of all rows, in order */
};

/* The records of one kind in a frame. */
struct vti_frame_kind {
	struct vti_frame_column *columns;
	uint32_t ncolumns;
	size_t nrows;
};

void vti_frame_kind_fini(struct vti_frame_kind *k);

/* The frame that is handed over: of one side at a time. */
struct vti_frame {
	struct vti_frame_kind *kinds;
	uint32_t nkinds;
	struct vti_run *runs;
	size_t nruns;
	size_t runs_cap;
};

/* ---- the writer's side ---- */

/* Makes the frame for these kinds and hands the encoded header over; false: memory ran out. */
bool vti_channel_begin(struct vt_channel *c, const struct vt_schema *kinds,
		       const struct vt_buf *header);

/* Waits for the frame, to be filled and then handed over; NULL if nothing more is read. */
struct vti_frame *vti_channel_claim(struct vt_channel *c);
void vti_channel_hand_over(struct vt_channel *c);

/* Ends the stream; VT_STATUS_MISSING: without an END record. */
void vti_channel_end(struct vt_channel *c, enum vt_status status, const struct vt_failure *failure);

/* ---- the reader's side ---- */

/* Becomes an owner besides the creator; waits for the header: NULL if there is none. */
const struct vt_buf *vti_channel_join(struct vt_channel *c);

/* Gives the frame back, if the reader has it, and waits for the next: NULL at the end. */
const struct vti_frame *vti_channel_next(struct vt_channel *c);

/* How the stream ended, after vti_channel_next() gave NULL; *failure is set if there is one. */
enum vt_status vti_channel_status(const struct vt_channel *c, struct vt_failure *failure);

#endif
