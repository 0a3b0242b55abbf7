/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_STREAM_CHANNEL_H
#define VT_STREAM_CHANNEL_H

#include "stream/reader.h"
#include "stream/writer.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A stream between two threads of a process: one writes it, one reads it.  Frames are handed over
 * in memory, neither encoded nor decoded, so there are no checksums and no offsets.  While the
 * reader uses one frame, the writer fills the next, and then waits.
 */
struct vt_channel;

/* Owned by the caller; NULL when memory runs out. */
struct vt_channel *vt_channel_new(void);

/* To be called once the writer is closed; a reader that is still open stays valid.  NULL allowed.
 */
void vt_channel_free(struct vt_channel *c);

/* Nothing more is read: what the writer still writes is dropped, and it waits no longer. */
void vt_channel_stop(struct vt_channel *c);

/*
 * Like vt_writer_open(), into a channel that has had no writer; `name` is for messages.  If it
 * fails, the reader finds that the stream ended before its header.
 */
struct vt_writer *vt_writer_open_channel(struct vt_channel *c, const char *name,
					 const struct vt_writer_options *opt, struct vt_error *err);

/*
 * Like vt_reader_open(), from a channel that has had no reader: waits for the header.  -VT_E_TRUNC
 * if the writer ended before it.
 */
struct vt_reader *vt_reader_open_channel(struct vt_channel *c, const char *name,
					 struct vt_error *err);

#ifdef __cplusplus
}
#endif
#endif
