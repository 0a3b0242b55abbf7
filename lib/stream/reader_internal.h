/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_READER_INTERNAL_H
#define VT_STREAM_READER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/input.h"
#include "stream/block_internal.h"
#include "stream/compress_internal.h"
#include "stream/reader.h"

/*
 * What the two halves of the reader share: load.c reads frames, reader.c gives their records out.
 */

/* One kind of the stream, and its block in the frame at hand. */
struct vti_slot {
	struct vti_block_store store;
	struct vt_buf raw; /* the decoded payload, where the input's window can't serve */
	bool loaded;
	uint32_t given; /* rows already given out */
};

struct vti_run {
	uint32_t slot;
	uint32_t count;
};

/* A damaged place that has not been told downstream yet. */
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
	struct vt_schema schema; /* the known kinds and the foreign ones */
	struct vt_schema wire;	 /* as the stream declares them */
	struct vt_header header;
	struct vti_slot *slots; /* one for each kind of `wire` */

	/* the frame at hand */
	struct vti_run *runs;
	size_t nruns;
	size_t runs_cap;
	size_t run;
	bool ordered;
	bool loading;
	uint32_t frame;
	uint32_t frame_records;
	size_t budget;
	size_t spent; /* of the budgets of all frames since the slots were last looked through */
	size_t held;  /* bytes of the window that the frame points into */

	uint64_t next_record; /* number of the first record not seen yet */
	uint32_t chain;
	struct vti_compressor compressor;
	struct vti_gap gap;
	struct vti_block_store gap_store;
	struct vt_damage damage;
	enum vt_status status;
	struct vt_failure failure; /* without a program: none */
	bool at_end;
	bool trunc_told;
	vt_warn_fn *warn;
	void *warn_arg;
};

/*
 * Loads blocks until a frame is complete or the input ends.  Damage is noted in the reader; a
 * negative error (VT_E_READ, VT_E_NOMEM) is for what stops reading.
 */
int vti_load_frame(struct vt_reader *r, struct vt_error *err);

#endif
