/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_COMMON_GUNZIP_H
#define FORMATS_COMMON_GUNZIP_H

#include "base/error.h"
#include "base/input.h"

/* Bytes that a compressed input may become; more is -VT_E_LIMIT. */
#define VT_GUNZIP_MAX ((uint64_t)1 << 34)

/*
 * If `in`, which stands at its first byte, is gzip-compressed (RFC 1952: 1f 8b), it is decompressed
 * from here on as it is read; offsets are then those of the decompressed bytes.  Several members
 * follow one another as if they were one.  Data that is cut or damaged ends with -VT_E_TRUNC or
 * -VT_E_DAMAGED from vt_input_fill().  0, or -VT_E_READ, -VT_E_NOMEM.
 */
int vt_gunzip_input(struct vt_input *in, struct vt_error *err);

#endif
