/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_SIDEBAND_LBR_H
#define FORMATS_PT_SIDEBAND_LBR_H

#include "base/error.h"
#include "formats/pt/decode/emit.h"
#include "formats/pt/sideband/spaces.h"
#include "stream/record.h"
#include "stream/writer.h"

/*
 * Branch stacks as executed code: between the target of a recorded branch and the source of the
 * next one there is no taken branch, so that the code in between was executed from end to end.
 * Each sample's stack becomes an EXEC record of its thread, the oldest branch first; what the code
 * contradicts is a GAP.
 */
struct vti_pt_lbr;

/* All borrowed.  Owned by the caller; NULL: no memory. */
struct vti_pt_lbr *vti_pt_lbr_new(struct vt_pt_spaces *spaces, struct vt_pt_emit *emit,
				  struct vt_writer *w);
void vti_pt_lbr_free(struct vti_pt_lbr *l);

/* True of a SAMPLE record with a stack that says something. */
bool vti_pt_lbr_has_stack(const struct vt_record *rec);

/* Takes an EVENT record: which branches its stacks have.  0 or -VT_E_NOMEM. */
int vti_pt_lbr_event(struct vti_pt_lbr *l, const struct vt_record *rec, struct vt_error *err);

/* Takes a SAMPLE record.  0 or a negative error. */
int vti_pt_lbr_sample(struct vti_pt_lbr *l, const struct vt_record *rec, struct vt_error *err);

/* Writes the GAP records that were only counted. */
int vti_pt_lbr_end(struct vti_pt_lbr *l, struct vt_error *err);

/* Stretches that could not be used, so far. */
uint64_t vti_pt_lbr_gaps(const struct vti_pt_lbr *l);

#endif
