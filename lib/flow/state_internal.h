/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_STATE_INTERNAL_H
#define VT_FLOW_STATE_INTERNAL_H

#include "flow/state.h"

/* Sorts of names, above any offset in a procedure. */
#define VTI_NAME_START (UINT64_C(1) << 60) /* what a register had at the start, by number */
#define VTI_NAME_MADE  (UINT64_C(2) << 60) /* an instruction's result, by offset */
#define VTI_NAME_LOAD  (UINT64_C(3) << 60) /* what it loaded */
#define VTI_NAME_JOIN  (UINT64_C(4) << 60) /* what is in a place where ways meet */

#define VTI_NAME_STACK (VTI_NAME_START | VT_REG_SP)

/* Where a register is in vti_flowstate.regs; -1: nowhere. */
int vti_flowstate_index(unsigned reg);

/* With what comparisons told of it. */
struct vti_value vti_flowstate_evaluate(const struct vti_flowstate *s, const struct vti_value *v);
void vti_flowstate_learn(struct vti_flowstate *s, const struct vti_value *v, uint64_t lo,
			 uint64_t hi);

/*
 * Says that a name is given anew: whatever still has the old value of that name has none any more.
 * Returns the name.
 */
uint64_t vti_flowstate_rename(struct vti_flowstate *s, uint64_t sym);

struct vti_value vti_flowstate_get(const struct vti_flowstate *s, unsigned reg, unsigned width);
struct vti_value vti_flowstate_get_operand(const struct vti_flowstate *s,
					   const struct vt_operand *o);
void vti_flowstate_put(struct vti_flowstate *s, unsigned reg, const struct vti_value *v);

/* What an instruction writes; writing a part of a register, it changes all of it. */
void vti_flowstate_put_operand(struct vti_flowstate *s, const struct vt_operand *o,
			       const struct vti_value *v, uint32_t offset);

/* The address of a memory operand of the instruction before the vaddr `next`. */
struct vti_value vti_flowstate_address(struct vti_flowstate *s, const struct vt_memory *a,
				       uint64_t next, const struct vti_memory *m);
struct vti_value vti_flowstate_load(struct vti_flowstate *s, const struct vti_value *address,
				    unsigned size, bool is_signed, uint32_t offset,
				    const struct vti_memory *m);
void vti_flowstate_store(struct vti_flowstate *s, const struct vti_value *address, unsigned size,
			 const struct vti_value *v, const struct vti_memory *m);

/* Memory changes that is not at `c`, or anywhere (NULL). */
void vti_flowstate_forget(struct vti_flowstate *s, const struct vti_flowcell *c,
			  const struct vti_memory *m);

#endif
