/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_SIDEBAND_LBR_H
#define FORMATS_PT_SIDEBAND_LBR_H

#include "base/error.h"
#include "formats/pt/decode/emit.h"
#include "formats/pt/sideband/spaces.h"
#include "stream/record.h"
#include "stream/writer.h"

/*
 * Makes executed code of branch stacks: no branch is taken between the target of a recorded branch
 * and the source of the next one, so the code in between was executed completely.  Each sample's
 * stack becomes an EXEC record of its thread, the oldest branch first.  What contradicts the code
 * becomes a GAP.
 */
struct vti_pt_lbr;

/* All borrowed.  Owned by the caller; NULL: no memory. */
struct vti_pt_lbr *vti_pt_lbr_new(struct vt_pt_spaces *spaces, struct vt_pt_emit *emit,
				  struct vt_writer *w);
void vti_pt_lbr_free(struct vti_pt_lbr *l);

/* True if a SAMPLE record has a stack of at least two branches. */
bool vti_pt_lbr_has_stack(const struct vt_record *rec);

/* Takes an EVENT record: the kinds of branches in its stacks.  0 or -VT_E_NOMEM. */
int vti_pt_lbr_event(struct vti_pt_lbr *l, const struct vt_record *rec, struct vt_error *err);

/* Takes a SAMPLE record.  0 or a negative error. */
int vti_pt_lbr_sample(struct vti_pt_lbr *l, const struct vt_record *rec, struct vt_error *err);

/* Writes GAP records of all stretches that could not be used. */
int vti_pt_lbr_end(struct vti_pt_lbr *l, struct vt_error *err);

/* The number of stretches that could not be used so far. */
uint64_t vti_pt_lbr_gaps(const struct vti_pt_lbr *l);

#endif
