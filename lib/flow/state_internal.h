/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_STATE_INTERNAL_H
#define VT_FLOW_STATE_INTERNAL_H

#include "flow/state.h"

/* Classes of names, in the bits above any offset in a procedure. */
#define VTI_NAME_START (UINT64_C(1) << 60) /* a register at the start, by number */
#define VTI_NAME_MADE  (UINT64_C(2) << 60) /* an instruction's result, by offset */
#define VTI_NAME_LOAD  (UINT64_C(3) << 60) /* an instruction's load, by offset */
#define VTI_NAME_JOIN  (UINT64_C(4) << 60) /* a register where paths join */

#define VTI_NAME_STACK (VTI_NAME_START | VT_REG_SP)

/* Returns a register's index in vti_flowstate.regs, or -1. */
int vti_flowstate_index(unsigned reg);

/* Returns a value narrowed by the known results of comparisons. */
struct vti_value vti_flowstate_evaluate(const struct vti_flowstate *s, const struct vti_value *v);

/* Records that a comparison restricts a value to [lo, hi]. */
void vti_flowstate_learn(struct vti_flowstate *s, const struct vti_value *v, uint64_t lo,
			 uint64_t hi);

/*
 * Invalidates a name for reuse: removes it from all values and facts that still have it.  Returns
 * the name.
 */
uint64_t vti_flowstate_rename(struct vti_flowstate *s, uint64_t sym);

struct vti_value vti_flowstate_get(const struct vti_flowstate *s, unsigned reg, unsigned width);
struct vti_value vti_flowstate_get_operand(const struct vti_flowstate *s,
					   const struct vt_operand *o);
void vti_flowstate_put(struct vti_flowstate *s, unsigned reg, const struct vti_value *v);

/* Sets a result operand.  Writing a part of a register makes all of it unknown. */
void vti_flowstate_put_operand(struct vti_flowstate *s, const struct vt_operand *o,
			       const struct vti_value *v, uint32_t offset);

/* Returns the address of a memory operand of the instruction that ends at the vaddr `next`. */
struct vti_value vti_flowstate_address(struct vti_flowstate *s, const struct vt_memory *a,
				       uint64_t next, const struct vti_memory *m);
struct vti_value vti_flowstate_load(struct vti_flowstate *s, const struct vti_value *address,
				    unsigned size, bool is_signed, uint32_t offset,
				    const struct vti_memory *m);
void vti_flowstate_store(struct vti_flowstate *s, const struct vti_value *address, unsigned size,
			 const struct vti_value *v, const struct vti_memory *m);

/* Forgets cells that a store to `c`, or to an unknown address (NULL), may change. */
void vti_flowstate_forget(struct vti_flowstate *s, const struct vti_flowcell *c,
			  const struct vti_memory *m);

#endif
