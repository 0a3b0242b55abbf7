/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_PROFILE_PROCEDURE_CHAIN_H
#define VT_PROFILE_PROCEDURE_CHAIN_H

#include "profile/procedure_flow.h"

/*
 * The blocks of a procedure one behind the other on a machine that issues in order: each begins
 * with the machine as the block before it on its most likely way left it.
 */
struct vti_chain;

/* So many instructions before a place that those before them hardly matter there. */
#define VTI_CHAIN_WARM 40

/*
 * Behind a call, what the called procedure ends with is issued: its return, and some cycles' worth
 * of other instructions, which returns stand for as well.
 */
#define VTI_CHAIN_RETURNS 3

/* A repeated instruction is one execution each time, of which all but the first follow another. */
#define VTI_CHAIN_REPEATS 4

/*
 * All borrowed: `f` with its ops; `ret`, what a return needs; `before`, by block the edge that
 * control most likely comes by, or UINT32_MAX.  NULL: no memory, or the procedure is too large to
 * keep a machine for each block.
 */
struct vti_chain *vti_chain_new(const struct vt_procflow *f, const struct vt_core *m,
				const struct vt_mop *ret, const uint32_t *before);
void vti_chain_free(struct vti_chain *c);

/* The costs of a block's instructions when control comes by `edge`; UINT32_MAX: from elsewhere. */
void vti_chain_behind(struct vti_chain *c, uint32_t block, uint32_t edge,
		      struct vt_schedule_cost *costs);

#endif
