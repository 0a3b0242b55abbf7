/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_COMMON_CONVERT_H
#define FORMATS_COMMON_CONVERT_H

#include <pthread.h>

#include "formats/common/format.h"
#include "stream/channel.h"

/* An input that a thread converts to a stream, which the caller reads through a channel. */
struct vt_conversion {
	struct vt_input *in; /* borrowed */
	vt_decode_fn *decode;
	struct vt_format_options options;
	const struct vt_stage *stage;
	struct vt_channel *channel; /* NULL: nothing is running */
	pthread_t thread;
	/* Valid after vt_conversion_end(). */
	struct vt_format_summary summary;
	struct vt_error err; /* why decoding failed */
};

/*
 * Starts converting `in`, which stands at its first byte and must not be touched before
 * vt_conversion_end(); the thread calls the functions of the options.  `stage`, which may be NULL,
 * becomes the stream's provenance, and is used by this call only.  The stream ends with
 * VT_STATUS_LOSSY if `decode` counts damage; it is cut off if `decode` fails.  Returns the reader,
 * owned by the caller; NULL with *err: VT_E_NOMEM, or why the thread could write nothing.  Nothing
 * is left running then.
 */
struct vt_reader *vt_conversion_start(struct vt_conversion *c, struct vt_input *in,
				      vt_decode_fn *decode, const struct vt_format_options *options,
				      const struct vt_stage *stage, struct vt_error *err);

/*
 * Waits until the input is converted, whether or not the reader has seen all of it: it sees no more
 * of it, and may be closed before or after.  May be called
 * again, and for a conversion that is all zero.
 */
void vt_conversion_end(struct vt_conversion *c);

#endif
