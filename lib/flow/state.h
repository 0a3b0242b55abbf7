/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_STATE_H
#define VT_FLOW_STATE_H

#include "flow/value.h"
#include "machine/insn/insn.h"

/*
 * The abstract state of registers and memory at a place in a procedure, valid for all paths to it,
 * and its change by instructions that compilers use on the way to an indirect jump.  The results of
 * all other instructions are unknown.
 */

#define VTI_STATE_REGS	16
#define VTI_STATE_CELLS 16
#define VTI_STATE_FACTS 8

/* A word of memory. */
struct vti_flowcell {
	uint64_t sym; /* its address is sym + off, or off if sym is 0 */
	uint64_t off;
	uint8_t size; /* bytes */
	struct vti_value value;
};

/* A value's range according to comparisons on the path. */
struct vti_known {
	uint64_t sym;
	uint64_t off;
	uint8_t width;
	uint64_t lo;
	uint64_t hi;
};

/* The comparison that set the flags: `value` with `with`. */
struct vti_compare {
	bool valid;
	uint8_t width;
	uint64_t with;
	struct vti_value value;
};

struct vti_flowstate {
	struct vti_value regs[VTI_STATE_REGS]; /* by register number, without gaps */
	struct vti_flowcell cells[VTI_STATE_CELLS];
	struct vti_known facts[VTI_STATE_FACTS];
	struct vti_compare compare;
	uint8_t ncells;
	uint8_t nfacts;
	uint8_t oldest; /* the cell to replace next */
};

/* Memory that does not change. */
struct vti_memory {
	void *arg;
	/* Returns true for the address of constants. */
	bool (*is_constant)(void *arg, uint64_t vaddr);
	/* Reads a word as the program does.  Returns false if it is unknown. */
	bool (*read)(void *arg, uint64_t vaddr, unsigned size, uint64_t *value);
};

/* Sets the state at the procedure's first instruction, where only names of registers are known. */
void vti_flowstate_start(struct vti_flowstate *s);

/* Returns true for a value loaded from memory or returned by a procedure, unchanged. */
bool vti_flowstate_is_loaded(const struct vti_value *v);

/* Returns true if the stack pointer is as at the procedure's first instruction. */
bool vti_flowstate_at_start(const struct vti_flowstate *s);

/* Applies the instruction at `vaddr`; its offset in the procedure names its results. */
void vti_flowstate_step(struct vti_flowstate *s, const struct vt_facts *f, uint64_t vaddr,
			uint32_t offset, const struct vti_memory *m);

/* Applies the knowledge that the conditional branch `f` was taken or not. */
void vti_flowstate_branch(struct vti_flowstate *s, const struct vt_facts *f, bool taken);

/* Returns the target of the indirect jump `f`. */
struct vti_value vti_flowstate_target(struct vti_flowstate *s, const struct vt_facts *f,
				      uint64_t vaddr, uint32_t offset, const struct vti_memory *m);

/* Narrows all values by the known results of comparisons; call it before the first join. */
void vti_flowstate_settle(struct vti_flowstate *s);

/*
 * Joins the state of another path to the place named `place`.  Returns true if that changed
 * anything.  With `widen`, values that differ become unknown at once.
 */
bool vti_flowstate_join(struct vti_flowstate *s, const struct vti_flowstate *other, uint32_t place,
			bool widen);

#endif
