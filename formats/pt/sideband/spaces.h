/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_SIDEBAND_SPACES_H
#define FORMATS_PT_SIDEBAND_SPACES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "formats/pt/code.h"
#include "formats/pt/decode/emit.h"
#include "formats/pt/sideband/files.h"
#include "stream/record.h"

/*
 * The code of each process of a recording, at the current moment of its stream: what MAP and THREAD
 * records say, with the bytes of the files that are mapped.  Kernel code is shared by all.
 */
struct vt_pt_spaces;

/* Mappings of one process that are kept until its code is first asked for. */
#define VT_PT_MAX_PENDING 65536

/*
 * `files`, `kernel`, `symfs` (where dumps of generated code are looked for) and `conv` (which makes
 * nanoseconds of dumps' ticks) are borrowed and outlive it; all but the first may be NULL.
 * `timed`: records of the kernel's have times, so that a process without one was found running and
 * inherits nothing.  Owned by the caller; NULL: no memory.
 */
struct vt_pt_spaces *vt_pt_spaces_new(struct vt_pt_files *files, struct vt_pt_code *kernel,
				      const char *symfs, const struct vt_pt_timeconv *conv,
				      bool timed);
void vt_pt_spaces_free(struct vt_pt_spaces *s);

/*
 * Takes a record: MAP, THREAD, ITRACE and SWITCH count.  0 or -VT_E_NOMEM.
 */
int vt_pt_spaces_feed(struct vt_pt_spaces *s, const struct vt_record *rec, struct vt_error *err);

/*
 * The code of a process as it is now; that of a process of which nothing is known has the kernel's
 * only.  It stays at its place, changing, until the process has ended and its number is used
 * again; *generation (never 0) tells one from the other.  NULL: no memory.
 */
const struct vt_pt_code *vt_pt_spaces_code(struct vt_pt_spaces *s, int64_t pid,
					   uint64_t *generation);

/* Up to this time (ns) code that programs generated is there, in the next call of the above. */
void vt_pt_spaces_jit_time(struct vt_pt_spaces *s, uint64_t time);

/* The process of a thread, as records have told; -1: not known. */
int64_t vt_pt_spaces_process_of(const struct vt_pt_spaces *s, int64_t tid);

#endif
