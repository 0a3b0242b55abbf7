/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_COMMON_TEMPFILE_H
#define FORMATS_COMMON_TEMPFILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "stream/reader.h"
#include "stream/writer.h"

/* Where temporary files are: `dir`, or /tmp for NULL. */
static inline const char *vt_tempdir(const char *dir)
{
	return dir ? dir : "/tmp";
}

/* A file in `dir` without a name: it goes with its descriptor.  -VT_E_WRITE, -VT_E_NOMEM. */
int vt_tempfile(const char *dir, struct vt_error *err);

/* Writes all of these bytes; `dir` is named by the message.  0 or -VT_E_WRITE. */
int vt_tempfile_put(int fd, const char *dir, const uint8_t *p, size_t size, struct vt_error *err);

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
