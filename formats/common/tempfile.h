/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_COMMON_TEMPFILE_H
#define FORMATS_COMMON_TEMPFILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Where temporary files are: `dir`, or /tmp for NULL. */
static inline const char *vt_tempdir(const char *dir)
{
	return dir ? dir : "/tmp";
}

/* A file in `dir` without a name: it goes with its descriptor.  -VT_E_WRITE, -VT_E_NOMEM. */
int vt_tempfile(const char *dir, struct vt_error *err);

/* Writes all of these bytes; `dir` is named by the message.  0 or -VT_E_WRITE. */
int vt_tempfile_put(int fd, const char *dir, const uint8_t *p, size_t size, struct vt_error *err);

#endif
