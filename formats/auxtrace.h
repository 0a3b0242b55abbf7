/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_AUXTRACE_H
#define FORMATS_AUXTRACE_H

#include "formats/common/format.h"
#include "stream/reader.h"

/*
 * Inputs with AUX areas: a perf.data, or a stream that was made from one and has its areas still
 * raw.  The table of decoders in auxtrace.c says who decodes an area; areas of other types become
 * GAP records.  An area is decoded in two passes (struct vt_aux_decoder): the records of the input
 * are first put into a temporary file.
 */

/* vt_input_format.decode() of perf.data: vt_perfdata_decode(), and its AUX areas decoded. */
int vt_auxtrace_decode(struct vt_input *in, struct vt_writer *w,
		       const struct vt_format_options *opt, struct vt_format_summary *sum,
		       struct vt_error *err);

/* A stream that is copied, with its raw AUX areas decoded. */
struct vt_auxtrace_stream;

/*
 * `r` is one of the inputs of `w`.  All arguments are borrowed until the stream is freed.  Owned by
 * the caller; NULL and *err on failure.
 */
struct vt_auxtrace_stream *vt_auxtrace_stream_new(const struct vt_reader *r, struct vt_writer *w,
						  const struct vt_format_options *opt,
						  struct vt_error *err);
void vt_auxtrace_stream_free(struct vt_auxtrace_stream *s);

/* Takes the next `count` records of the stream, from row `first` of `b` on.  0 or an error. */
int vt_auxtrace_stream_take(struct vt_auxtrace_stream *s, const struct vt_block *b, uint32_t first,
			    uint32_t count, struct vt_error *err);

/* The stream has ended: writes what is left, and fills *sum.  0 or a negative error. */
int vt_auxtrace_stream_end(struct vt_auxtrace_stream *s, struct vt_format_summary *sum,
			   struct vt_error *err);

#endif
