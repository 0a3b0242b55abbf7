/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_BRANCH_H
#define VT_MACHINE_PIPELINE_BRANCH_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/pipeline/core.h"

/*
 * The branch predictor of a modelled machine: directions (by the machine's `predictor`), targets of
 * indirect jumps and calls (a branch target buffer), returns (a stack).  Without a predictor no
 * conditional branch is predicted to be taken.
 */
struct vt_simbranch;

/* Owned by the caller; `m` is borrowed.  Returns NULL when memory runs out. */
struct vt_simbranch *vt_simbranch_new(const struct vt_core *m);
void vt_simbranch_free(struct vt_simbranch *s);

/*
 * Predicts the branch at `addr` (flags: enum vt_fact), updates the predictor with its true next
 * address, `next`, and returns the predicted one, which is `next` if the prediction was right.
 * `fall` is the address behind the branch, `target` that of a direct branch.  Unknown indirect
 * jumps are predicted to go to `fall`.
 */
uint64_t vt_simbranch_predict(struct vt_simbranch *s, uint64_t addr, uint32_t flags, uint64_t fall,
			      uint64_t target, uint64_t next);

#endif
