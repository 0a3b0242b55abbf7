/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_KCORE_H
#define VT_IMAGE_KCORE_H

#include <stdint.h>

#include "base/error.h"
#include "image/elf.h"

/*
 * A running kernel's code: /proc/kcore, or a copy of it, is an ELF core file whose segments are the
 * kernel's memory by address (fs/proc/kcore.c of Linux).  The code is what is there now: calls that
 * alternatives, static keys and tracing have patched are not those of the kernel's file.
 */
struct vt_kcore;

/* The code of Linux on x86-64 has some 20 MB, with everything built in 50 MB. */
#define VT_KCORE_LIMIT (UINT64_C(256) << 20)

/*
 * Reads the addresses text .. etext - 1, as symbols of the kernel tell them.  Owned by the caller.
 * NULL with VT_E_NOTFOUND: no such file; VT_E_READ: it cannot be read, as by anybody but root;
 * VT_E_FORMAT: it is no core file of 64 bits and this byte order; VT_E_LIMIT: an empty range, or
 * one above VT_KCORE_LIMIT; VT_E_DAMAGED: no segment has all of the range; VT_E_NOMEM.
 */
struct vt_kcore *vt_kcore_open(const char *path, uint64_t text, uint64_t etext,
			       struct vt_error *err);
void vt_kcore_close(struct vt_kcore *k);

/* The code as an image of one segment, without symbols; borrowed. */
const struct vt_elf *vt_kcore_elf(const struct vt_kcore *k);

#endif
