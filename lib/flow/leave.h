/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FLOW_LEAVE_H
#define VT_FLOW_LEAVE_H

#include <stdbool.h>
#include <stdint.h>

#include "image/addrspace.h"
#include "image/images.h"
#include "image/unwind.h"

/* What is known of a process. */
struct vt_leave {
	struct vt_images *images;
	struct vt_addrspace *space;
	int32_t pid;
	/* Returns false if the value is unknown; not called below the stack pointer. */
	bool (*load)(void *arg, uint64_t address, unsigned size, uint64_t *value);
	void *arg;
	/* Told of each instruction that was looked at; NULL: nobody. */
	void (*visit)(void *visit_arg, uint64_t address);
	void *visit_arg;
};

/*
 * Steps out of a procedure that call frame information does not cover, such as those that the C
 * compiler's start files run at the end of a program: the code is followed from regs' instruction
 * pointer to a return, past calls and both ways at conditional jumps.
 *
 * Replaces the registers as vt_unwind_step() does.  Returns false, with *regs unchanged, if call
 * frame information covers the instruction, if no return is found in 1000 instructions, or two
 * returns disagree, or the word that is returned to does not follow a call.
 */
bool vt_leave_by_code(const struct vt_leave *how, struct vt_unwind_regs *regs);

#endif
