/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_ARCHIVE_TAR_H
#define FORMATS_ARCHIVE_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/input.h"

/* Bytes of a member's name, and of what a link leads to; more is -VT_E_LIMIT. */
#define VT_TAR_NAME_MAX 4095

enum vt_tar_type {
	VT_TAR_FILE,
	VT_TAR_DIR,
	VT_TAR_SYMLINK,
	VT_TAR_HARDLINK,
	VT_TAR_OTHER, /* devices, FIFOs, sparse files, and what is unknown */
};

/* A member of an archive; the strings are borrowed until the next one is read. */
struct vt_tar_member {
	enum vt_tar_type type;
	const char *name; /* as it is in the archive: not checked */
	const char *link; /* "" of what is no link */
	uint64_t size;	  /* bytes of a file's contents; 0 of other types */
};

/*
 * Reads a tar archive, of POSIX (ustar, pax), of GNU tar or an older one, front to back.  Messages
 * name the input and the member.  Begin with zeros and `in`, which is borrowed.
 */
struct vt_tar {
	struct vt_input *in;
	uint64_t left;	  /* bytes of the member's contents to be read */
	uint64_t padding; /* bytes behind them */
	struct vt_buf name, link;
};

/* Whether the input, which stands at its first byte, begins as an archive does, or a negative
 * error. */
int vt_tar_check(struct vt_input *in, struct vt_error *err);

/*
 * Goes on to the next member: 1; 0 after the last; or -VT_E_READ, -VT_E_TRUNC, -VT_E_DAMAGED,
 * -VT_E_LIMIT, -VT_E_NOMEM.
 */
int vt_tar_next(struct vt_tar *t, struct vt_tar_member *m, struct vt_error *err);

/* Reads some of the member's contents, borrowed until the next call: 1; 0 at their end; or a
 * negative error. */
int vt_tar_read(struct vt_tar *t, const uint8_t **bytes, size_t *size, struct vt_error *err);

void vt_tar_fini(struct vt_tar *t);

#endif
