/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_COMMON_WHOLEFILE_H
#define FORMATS_COMMON_WHOLEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/input.h"

/* Bytes of a file that is read into memory; more is -VT_E_LIMIT. */
#define VT_WHOLEFILE_MAX ((uint64_t)1 << 32)

/*
 * The bytes of a whole file at once: mapped, or read into memory if it is a pipe or is
 * gzip-compressed.
 */
struct vt_wholefile {
	uint8_t *bytes; /* may be written to, which does not change the file */
	size_t size;
	bool mapped;
};

/* Opens a path, "-" being standard input.  -VT_E_READ, or as vt_gunzip_input().  End with fini().
 */
int vt_wholefile_open(struct vt_wholefile *f, const char *path, struct vt_error *err);

/* The same of an input that stands at its first byte, which is used up. */
int vt_wholefile_take(struct vt_wholefile *f, struct vt_input *in, struct vt_error *err);

void vt_wholefile_fini(struct vt_wholefile *f);

#endif
