/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_READER_INTERNAL_H
#define VT_STREAM_READER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/input.h"
#include "stream/block_internal.h"
#include "stream/channel_internal.h"
#include "stream/compress_internal.h"
#include "stream/reader.h"

/*
 * The reader: load.c reads and decodes frames, take.c takes them from a channel, reader.c returns
 * their records.
 */

/* A kind of the stream and its block in the current frame. */
struct vti_slot {
	struct vti_block_store store;
	struct vt_buf raw; /* the payload, unless it is used in the input's window */
	bool loaded;
	uint32_t given; /* rows already returned */
};

/* A damaged place for which no GAP record was returned yet. */
struct vti_gap {
	bool open;
	char reason[128];
	uint64_t offset;
	uint64_t bytes;
	uint64_t records;
};

struct vt_reader {
	struct vt_reader_rows at; /* first: vt_reader_next() relies on it */
	struct vt_input in;
	struct vt_channel *channel; /* instead of bytes; or NULL */
	struct vt_schema schema;    /* the known kinds and the foreign ones */
	struct vt_schema wire;	    /* as the stream declares them */
	struct vt_header header;
	struct vti_slot *slots; /* one for each kind of `wire` */

	/* The current frame. */
	struct vti_run *runs;
	size_t nruns;
	size_t runs_cap;
	size_t run;
	bool ordered;
	bool loading;
	uint32_t frame;
	uint32_t frame_records;
	size_t budget;
	size_t spent; /* of the budgets of all frames since trim_slots() last freed memory */
	size_t held;  /* bytes of the window in use by the frame */

	uint64_t next_record; /* number of the next record */
	uint32_t chain;	      /* CRC-32 over the payload CRCs of all blocks read so far */
	struct vti_compressor compressor;
	struct vti_gap gap;
	struct vti_block_store gap_store;
	struct vt_damage damage;
	enum vt_status status;
	struct vt_failure failure; /* none if `program` is empty */
	bool at_end;
	bool trunc_reported;
	vt_warn_fn *warn;
	void *warn_arg;
};

/*
 * Loads blocks until a frame is complete or the input ends.  Records damage in the reader.  Returns
 * 0, or a negative error if reading stops: VT_E_READ, VT_E_NOMEM.
 */
int vti_load_frame(struct vt_reader *r, struct vt_error *err);

/* The same from a channel, whose frames are complete and good. */
int vti_take_frame(struct vt_reader *r, struct vt_error *err);

#endif
