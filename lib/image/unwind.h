/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_IMAGE_UNWIND_H
#define VT_IMAGE_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "image/elf.h"

/*
 * Finds the return address of the current procedure from an x86-64 image's call frame information:
 * .eh_frame (Linux Standard Base, Core, 10.6), and .debug_frame (DWARF 5, 6.4) where that has none.
 *
 * Compilers for Linux write this information for each instruction.  The return address is unknown
 * for code that it does not cover, where it is undefined (the first procedure of a thread), where
 * the information is damaged or contradicts itself, and where it depends on an unknown register or
 * unknown memory.
 */
struct vt_unwind;

/* The known state of a thread.  Register numbers are those of linux's asm/perf_regs.h. */
struct vt_unwind_state {
	void *arg;
	/* Both return false if the value is unknown.  Not called for the instruction pointer. */
	bool (*reg)(void *arg, unsigned reg, uint64_t *value);
	bool (*load)(void *arg, uint64_t address, unsigned size, uint64_t *value); /* 1, 2, 4, 8 */
};

struct vt_return {
	uint64_t ret;	/* the return address */
	uint64_t slot;	/* its address in memory, or 0 */
	uint64_t entry; /* vaddr of the start of the procedure, or of the part with the instruction
			 */
};

/* `e` is borrowed and must outlive the result.  NULL: VT_E_NOMEM. */
struct vt_unwind *vt_unwind_new(const struct vt_elf *e, struct vt_error *err);
void vt_unwind_free(struct vt_unwind *u);

/*
 * Finds the return address before the instruction at `vaddr` is executed.  `bias` is the image's
 * address - vaddr.  Returns false if it is unknown, and in signal trampolines, which have none.
 */
bool vt_unwind_find(struct vt_unwind *u, uint64_t vaddr, uint64_t bias,
		    const struct vt_unwind_state *s, struct vt_return *f);

/* Whether call frame information covers the instruction at `vaddr`, whatever it tells. */
bool vt_unwind_covers(struct vt_unwind *u, uint64_t vaddr);

/*
 * Tells how the canonical frame address is computed before the instruction at `vaddr` is executed:
 * register `*reg`, by its number in linux's asm/perf_regs.h, + `*offset`.  Returns false if it is
 * unknown or computed otherwise.
 */
bool vt_unwind_cfa(struct vt_unwind *u, uint64_t vaddr, unsigned *reg, int64_t *offset);

/*
 * Tells where the return address lies before an instruction in [vaddr, *end) is executed: at
 * register `*reg`, by its number in linux's asm/perf_regs.h, + `*offset`.  Returns false if the
 * information for these instructions tells nothing, or nothing so simple.
 */
bool vt_unwind_slot(struct vt_unwind *u, uint64_t vaddr, uint64_t *end, unsigned *reg,
		    int64_t *offset);

/* Registers by their numbers in linux's asm/perf_regs.h. */
#define VT_UNWIND_REGS	    24
#define VT_UNWIND_SP	    7
#define VT_UNWIND_IP	    8
#define VT_UNWIND_PRESERVED 6

/* Those that procedures preserve for their callers: rbx, rbp, r12 to r15. */
extern const uint8_t vt_unwind_preserved[VT_UNWIND_PRESERVED];

struct vt_unwind_regs {
	uint64_t value[VT_UNWIND_REGS];
	uint32_t known;	  /* bit n: register n is */
	bool interrupted; /* the last step was out of a signal trampoline */
};

/*
 * Replaces the registers by those of the caller: where it goes on, its stack pointer, and what
 * procedures preserve for their callers, as far as that is known.  `vaddr` as above; of a procedure
 * that called another one, an address inside of the call.  A signal trampoline goes on where the
 * signal interrupted the thread: at an instruction that was not executed yet.  `load` and `arg` as
 * in struct vt_unwind_state.  Returns false, with *regs unchanged, if the return address or the
 * stack pointer is unknown.
 */
bool vt_unwind_step(struct vt_unwind *u, uint64_t vaddr, uint64_t bias, struct vt_unwind_regs *regs,
		    bool (*load)(void *arg, uint64_t address, unsigned size, uint64_t *value),
		    void *arg);

#endif
