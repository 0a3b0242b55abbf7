/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_PROCEDURES_H
#define VT_IMAGE_PROCEDURES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/elf.h"

/*
 * Where procedures begin, as the table of call frames tells (.eh_frame_hdr: Linux Standard Base,
 * Core, 10.6.2), which files that were stripped of symbols have, too.
 *
 * The vaddrs in *starts, sorted as the table is; to be freed by the caller.  Returns how many; 0 if
 * there is no such table or it is of another form than linkers for x86-64 write; -VT_E_NOMEM.
 */
int64_t vt_procedure_starts(const struct vt_elf *e, uint64_t **starts, struct vt_error *err);

#endif
