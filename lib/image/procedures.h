/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_PROCEDURES_H
#define VT_IMAGE_PROCEDURES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/elf.h"

/*
 * Reads the start vaddrs of procedures from .eh_frame_hdr (Linux Standard Base, Core, 10.6.2),
 * which stripped files have, too.  *starts is sorted like that table; the caller frees it with
 * free(). Returns their number; 0 if there is no table, or not in the form that linkers for x86-64
 * write; or -VT_E_NOMEM.
 */
int64_t vt_procedure_starts(const struct vt_elf *e, uint64_t **starts, struct vt_error *err);

#endif
