/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_SIDEBAND_KERNEL_H
#define FORMATS_PT_SIDEBAND_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/pt/code.h"
#include "stream/record.h"

/*
 * The kernel's code, from its ELF file, or from a copy of its core (/proc/kcore; `perf record
 * --kcore` makes one), which also has its modules and generated code.
 */
struct vti_pt_kernel;

/*
 * `text`: the address of the recorded kernel's _text, where the first executable segment of the ELF
 * file is then put; 0: as in the file.  A core replaces what files have.  Owned by the caller.
 * NULL: -VT_E_READ, -VT_E_FORMAT, -VT_E_NOMEM.
 */
struct vti_pt_kernel *vti_pt_kernel_new(const char *const *paths, size_t n, uint64_t text,
					struct vt_error *err);
void vti_pt_kernel_free(struct vti_pt_kernel *k);

struct vt_pt_code *vti_pt_kernel_code(struct vti_pt_kernel *k);

/* Takes a TEXTPOKE record: the kernel has changed its code.  0 or -VT_E_NOMEM. */
int vti_pt_kernel_poke(struct vti_pt_kernel *k, const struct vt_record *rec, struct vt_error *err);

#endif
