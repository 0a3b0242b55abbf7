/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_COMMON_DECOMPRESS_H
#define FORMATS_COMMON_DECOMPRESS_H

#include "base/error.h"
#include "base/input.h"

/* Bytes that a compressed input may become; more is -VT_E_LIMIT. */
#define VT_DECOMPRESS_MAX ((uint64_t)1 << 34)

/*
 * If `in`, which stands at its first byte, is compressed by bzip2, xz, zstd or gzip, as its first
 * bytes tell, it is decompressed from here on as it is read; offsets are then those of the
 * decompressed bytes.  Several compressed streams follow one another as if they were one; what
 * follows the last and is none is ignored.  Data that is cut or damaged ends with -VT_E_TRUNC or
 * -VT_E_DAMAGED from vt_input_fill().  0, or -VT_E_READ, -VT_E_NOMEM.
 */
int vt_decompress_input(struct vt_input *in, struct vt_error *err);

/* The same for gzip only (RFC 1952: 1f 8b). */
int vt_gunzip_input(struct vt_input *in, struct vt_error *err);

#endif
