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
 * The code of each process of a recording at the current time of its stream, from MAP and THREAD
 * records and the bytes of the mapped files.  All processes share the kernel's code.
 */
struct vt_pt_spaces;

/* The most mappings of a process that are kept until its code is first needed. */
#define VT_PT_MAX_PENDING 65536

/*
 * `files`, `kernel`, `symfs` (the root directory of dumps of generated code) and `conv` (converts
 * ticks of dumps to nanoseconds) are borrowed and must outlive it; all but the first may be NULL.
 * `timed`: the kernel's records have times, so a process without one was already running and
 * inherits no code.  Owned by the caller; NULL: no memory.
 */
struct vt_pt_spaces *vt_pt_spaces_new(struct vt_pt_files *files, struct vt_pt_code *kernel,
				      const char *symfs, const struct vt_pt_timeconv *conv,
				      bool timed);
void vt_pt_spaces_free(struct vt_pt_spaces *s);

/* Takes a record of any kind; uses MAP, THREAD, ITRACE and SWITCH.  0 or -VT_E_NOMEM. */
int vt_pt_spaces_feed(struct vt_pt_spaces *s, const struct vt_record *rec, struct vt_error *err);

/*
 * The code of a process as it is now; that of an unknown process is only the kernel's.  The pointer
 * stays valid, and the code changes, until the pid is used by another process: then *generation,
 * which is never 0, differs.  NULL: no memory.
 */
const struct vt_pt_code *vt_pt_spaces_code(struct vt_pt_spaces *s, int64_t pid,
					   uint64_t *generation);

/* Sets the time (ns) up to which the next vt_pt_spaces_code() adds generated code. */
void vt_pt_spaces_jit_time(struct vt_pt_spaces *s, uint64_t time);

/* The process of a thread, from the records so far; -1: not known. */
int64_t vt_pt_spaces_process_of(const struct vt_pt_spaces *s, int64_t tid);

#endif
