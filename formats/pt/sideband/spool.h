/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_SIDEBAND_SPOOL_H
#define FORMATS_PT_SIDEBAND_SPOOL_H

#include "base/error.h"
#include "stream/reader.h"
#include "stream/writer.h"

/* Records that are put aside in an unlinked temporary file and read again, more than once. */
struct vt_pt_spool {
	struct vt_writer *w;
	struct vt_reader *r;
	const char *dir;
	int fd;
};

/* `in` is the stream that records will be copied from, or NULL.  -VT_E_WRITE, -VT_E_NOMEM. */
int vt_pt_spool_open(struct vt_pt_spool *s, const char *tmpdir, const struct vt_reader *in,
		     struct vt_error *err);

/* Ends the writing, if it has not ended, and reads from the start: s->r.  Negative errors. */
int vt_pt_spool_rewind(struct vt_pt_spool *s, struct vt_error *err);

void vt_pt_spool_close(struct vt_pt_spool *s);

#endif
