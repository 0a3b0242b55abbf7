/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_KCORE_H
#define VT_IMAGE_KCORE_H

#include <stdint.h>

#include "base/error.h"
#include "image/elf.h"

/*
 * A running kernel's code, from /proc/kcore or a copy of it: an ELF core file whose segments are
 * the kernel's memory by address (fs/proc/kcore.c of Linux).  It is the current code, patched by
 * alternatives, static keys and tracing, and therefore differs from the kernel's file.
 */
struct vt_kcore;

/* Maximum bytes of code; Linux on x86-64 has some 20 MB, with everything built in 50 MB. */
#define VT_KCORE_LIMIT (UINT64_C(256) << 20)

/*
 * Reads the code at [text, etext), the addresses of the kernel's symbols.  Owned by the caller.
 * NULL: VT_E_NOTFOUND (no such file), VT_E_READ (cannot be read; usually only root can),
 * VT_E_FORMAT (not a 64-bit core file of this byte order), VT_E_LIMIT (the range is empty or
 * exceeds VT_KCORE_LIMIT), VT_E_DAMAGED (no segment has all of the range), VT_E_NOMEM.
 */
struct vt_kcore *vt_kcore_open(const char *path, uint64_t text, uint64_t etext,
			       struct vt_error *err);
void vt_kcore_close(struct vt_kcore *k);

/* Returns the code as an ELF file of one segment without symbols.  Borrowed. */
const struct vt_elf *vt_kcore_elf(const struct vt_kcore *k);

#endif
