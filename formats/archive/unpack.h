/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_ARCHIVE_UNPACK_H
#define FORMATS_ARCHIVE_UNPACK_H

#include <stdint.h>

#include "base/error.h"
#include "base/input.h"

/* What an archive may become. */
struct vt_unpack_limits {
	uint64_t bytes;	  /* of all its files */
	uint64_t members; /* files, links and directories */
};

/* A root directory of some machine, or a cache of thousands of images, is less. */
#define VT_UNPACK_LIMITS                                                                           \
	{                                                                                          \
		(uint64_t)1 << 33, (uint64_t)1 << 18                                               \
	}

/*
 * Unpacks a tar archive, plain or compressed as vt_decompress_input() knows, into the directory
 * `dir`, which is empty.  `in` stands at its first byte and is used up.  Nothing is written outside
 * of `dir`, and no link made leads out of it, whatever the archive has; only the user can read what
 * is made.  A later member replaces an earlier one of its name.
 *
 * 0, or -VT_E_FORMAT for what is no archive and for members that are refused: names that are
 * absolute or have "..", links that lead out, devices and other special files; -VT_E_LIMIT,
 * -VT_E_TRUNC, -VT_E_DAMAGED, -VT_E_READ, -VT_E_WRITE, -VT_E_NOMEM.  The text names the archive
 * and the member.  What was unpacked before an error stays in `dir`.
 */
int vt_unpack(struct vt_input *in, const char *dir, const struct vt_unpack_limits *limits,
	      struct vt_error *err);

#endif
