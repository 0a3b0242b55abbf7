/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_STATE_H
#define VT_FLOW_STATE_H

#include "flow/value.h"
#include "machine/insn/insn.h"

/*
 * What is known of registers and memory at a place of a procedure, on whatever way control got
 * there; and how instructions change it, as far as compilers use them on the way to an indirect
 * jump.  What is not known to be of the kind is unknown afterwards.
 */

#define VTI_STATE_REGS	16
#define VTI_STATE_CELLS 16
#define VTI_STATE_FACTS 8

/* A word of memory. */
struct vti_flowcell {
	uint64_t sym; /* its address is sym + off; 0: off */
	uint64_t off;
	uint8_t size; /* bytes */
	struct vti_value value;
};

/* A value's range, by what comparisons told on the way. */
struct vti_known {
	uint64_t sym;
	uint64_t off;
	uint8_t width;
	uint64_t lo;
	uint64_t hi;
};

/* What flags tell: `value` was compared with `with`. */
struct vti_compare {
	bool valid;
	uint8_t width;
	uint64_t with;
	struct vti_value value;
};

struct vti_flowstate {
	struct vti_value regs[VTI_STATE_REGS]; /* by number in machine facts, gaps left out */
	struct vti_flowcell cells[VTI_STATE_CELLS];
	struct vti_known facts[VTI_STATE_FACTS];
	struct vti_compare compare;
	uint8_t ncells;
	uint8_t nfacts;
	uint8_t oldest; /* the cell to give up next */
};

/* Memory that stays as it is. */
struct vti_memory {
	void *arg;
	/* A place that has constants in it. */
	bool (*is_constant)(void *arg, uint64_t vaddr);
	/* The word there as the program finds it; false when it is not known. */
	bool (*read)(void *arg, uint64_t vaddr, unsigned size, uint64_t *value);
};

/* At the procedure's first instruction, or where nothing is known but the stack pointer's name. */
void vti_flowstate_start(struct vti_flowstate *s);

/* True for a value as it was in memory, or as a procedure returned it. */
bool vti_flowstate_is_loaded(const struct vti_value *v);

/* True when the stack is as at the procedure's first instruction. */
bool vti_flowstate_at_start(const struct vti_flowstate *s);

/* Does what the instruction at `vaddr` does; `offset` names it in the procedure. */
void vti_flowstate_step(struct vti_flowstate *s, const struct vt_facts *f, uint64_t vaddr,
			uint32_t offset, const struct vti_memory *m);

/* Takes into account that the conditional branch `f` was taken, or was not. */
void vti_flowstate_branch(struct vti_flowstate *s, const struct vt_facts *f, bool taken);

/* Where the indirect jump `f` goes, as a value. */
struct vti_value vti_flowstate_target(struct vti_flowstate *s, const struct vt_facts *f,
				      uint64_t vaddr, uint32_t offset, const struct vti_memory *m);

/* What comparisons told becomes part of the values: before others are joined. */
void vti_flowstate_settle(struct vti_flowstate *s);

/*
 * Adds what is known on another way to the place called `place`, and says whether that changed
 * anything.  With `widen`, what differs is given up at once.
 */
bool vti_flowstate_join(struct vti_flowstate *s, const struct vti_flowstate *other, uint32_t place,
			bool widen);

#endif
