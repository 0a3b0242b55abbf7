/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_SIDEBAND_KERNEL_H
#define FORMATS_PT_SIDEBAND_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/pt/code.h"
#include "stream/record.h"

/*
 * The kernel's code, from its ELF file, or a copy of its core (/proc/kcore; `perf record --kcore`
 * makes one), which has its modules and generated code, too.
 */
struct vti_pt_kernel;

/*
 * `text`: where the recorded kernel's _text was, for the ELF file, whose first executable segment
 * begins there; 0: where the file says.  A core lies above all else.  Owned by the caller.  NULL:
 * -VT_E_READ, -VT_E_FORMAT, -VT_E_NOMEM.
 */
struct vti_pt_kernel *vti_pt_kernel_new(const char *const *paths, size_t n, uint64_t text,
					struct vt_error *err);
void vti_pt_kernel_free(struct vti_pt_kernel *k);

struct vt_pt_code *vti_pt_kernel_code(struct vti_pt_kernel *k);

/* A TEXTPOKE record: the kernel has changed its code.  0 or -VT_E_NOMEM. */
int vti_pt_kernel_poke(struct vti_pt_kernel *k, const struct vt_record *rec, struct vt_error *err);

#endif
