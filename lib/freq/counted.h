/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_COUNTED_H
#define VT_FREQ_COUNTED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/context.h"
#include "stream/record.h"

/*
 * How often instructions were executed, and how often control went from one to another, as far as a
 * stream has counted it: executed code (BLOCK and EXEC), FREQ and EDGE records that are exact, or
 * COUNT records of an exact event "instructions".
 */
struct vt_flowcount;

/* `context` is borrowed.  Owned by the caller; NULL when memory runs out. */
struct vt_flowcount *vt_flowcount_new(const struct vt_context *context);
void vt_flowcount_free(struct vt_flowcount *c);

/*
 * A vt_consume_record_fn; `counts` is the struct vt_flowcount.  -VT_E_NOMEM.  Executed code that
 * contradicts itself, and impossible numbers, are counted as bad.
 */
int vt_flowcount_feed(void *counts, const struct vt_record *rec, struct vt_error *err);

/* After the last record: finds where executed code lies.  -VT_E_NOMEM. */
int vt_flowcount_finish(struct vt_flowcount *c, struct vt_error *err);

/* Records that were left out. */
uint64_t vt_flowcount_bad(const struct vt_flowcount *c);

/* Whether anything was counted; whether of an image. */
bool vt_flowcount_any(const struct vt_flowcount *c);
bool vt_flowcount_has(const struct vt_flowcount *c, uint32_t image);

/* Executions of the instruction at an offset of an image. */
double vt_flowcount_insn(const struct vt_flowcount *c, uint32_t image, uint64_t offset);

/*
 * How often control went from the instruction at `from` to the one at `to`; from a call behind it,
 * when it came back.  False: edges were not counted.
 */
bool vt_flowcount_edge(const struct vt_flowcount *c, uint32_t image, uint64_t from, uint64_t to,
		       double *count);

#endif
