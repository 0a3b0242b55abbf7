/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_UNWIND_H
#define VT_IMAGE_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/elf.h"

/*
 * Where the procedure at hand returns to, from an x86-64 image's call frame information: .eh_frame
 * (Linux Standard Base, Core, 10.6), and .debug_frame (DWARF 5, 6.4) for what that leaves out.
 *
 * Compilers for Linux write this information for each instruction.  What it does not cover, what it
 * calls undefined (the first procedure of a thread), a signal's trampoline, what is damaged or
 * contradicts itself, and what depends on a register or memory that is unknown: all that is
 * unknown.
 */
struct vt_unwind;

/* What is known of the moment; numbers of registers are those of linux's asm/perf_regs.h. */
struct vt_unwind_state {
	void *arg;
	/* Each false when the value is not known.  Never asked for the instruction pointer. */
	bool (*reg)(void *arg, unsigned reg, uint64_t *value);
	bool (*load)(void *arg, uint64_t address, unsigned size, uint64_t *value); /* 1, 2, 4, 8 */
};

struct vt_return {
	uint64_t ret;	/* the return address */
	uint64_t slot;	/* where in memory it stands, or 0 */
	uint64_t entry; /* vaddr at which the procedure's part begins that has the instruction */
};

/* `e` is borrowed and must stay.  NULL when memory runs out: VT_E_NOMEM. */
struct vt_unwind *vt_unwind_new(const struct vt_elf *e, struct vt_error *err);
void vt_unwind_free(struct vt_unwind *u);

/*
 * In front of the instruction at `vaddr`, where the image lies at address - vaddr = `bias`.  False:
 * unknown.
 */
bool vt_unwind_find(struct vt_unwind *u, uint64_t vaddr, uint64_t bias,
		    const struct vt_unwind_state *s, struct vt_return *f);

#endif
