/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_COMMON_SPOOL_H
#define FORMATS_COMMON_SPOOL_H

#include "base/error.h"
#include "stream/reader.h"
#include "stream/writer.h"

/* A stream in an unlinked temporary file: written once, then read any number of times. */
struct vt_spool {
	struct vt_writer *w; /* NULL once it has been rewound */
	struct vt_reader *r; /* NULL before */
	const char *dir;
	int fd;
};

/*
 * Opens s->w on a file in `tmpdir`, borrowed.  `in` is the stream whose records will be copied, or
 * NULL.  0, -VT_E_WRITE, -VT_E_NOMEM.
 */
int vt_spool_open(struct vt_spool *s, const char *tmpdir, const struct vt_reader *in,
		  struct vt_error *err);

/* Closes s->w if it is open and opens s->r at the first record.  0 or a negative error. */
int vt_spool_rewind(struct vt_spool *s, struct vt_error *err);

/* Closes everything.  An `fd` below 0 is permitted: nothing was opened. */
void vt_spool_close(struct vt_spool *s);

#endif
