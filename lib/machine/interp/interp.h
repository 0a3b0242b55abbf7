/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_INTERP_H
#define VT_MACHINE_INTERP_INTERP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "machine/insn/insn.h"
#include "machine/interp/known_memory.h"
#include "machine/lift/word.h"

/*
 * An interpreter of user-mode x86-64 in which each bit of a register and each byte of memory is
 * known or unknown (value sampling 2.1.2, done offline).  Valgrind's VEX library lifts the code,
 * which is flattened and kept.  Known values are always right: an unknown condition ends a free
 * run, a store to an unknown address makes all memory that can be stored to unknown, and the
 * results of instructions that VEX cannot lift are unknown.
 *
 * x87 arithmetic is unknown (VEX computes with 64 bits where the machine has 80); so is what
 * depends on the machine: cpuid, rdtsc, rdrand, xgetbv.
 */
struct vt_interp;

/* Copies up to `size` bytes of the code at `addr` and returns their number; 0: no code. */
typedef size_t vt_fetch_fn(void *arg, uint64_t space, uint64_t addr, uint8_t *bytes, size_t size);

/* Callbacks that return recorded values when a path is followed; each may be NULL. */
struct vt_interp_hooks {
	void *arg;
	/*
	 * Returns the value that a load of `size` bytes reads, at instruction number `insn` of the
	 * piece that is followed.  There is one word for each 8 bytes, with the known bits of
	 * memory at first; `addr` may be unknown.  The words are used and stored in memory.
	 */
	void (*load)(void *arg, uint32_t insn, struct vt_word addr, unsigned size,
		     struct vt_word *words);
	/*
	 * Returns the value that an impure helper (cpuid, rdtsc …) wrote at an offset of VEX's
	 * guest state.
	 */
	void (*state)(void *arg, uint32_t insn, unsigned offset, unsigned size,
		      struct vt_word *words);
	/*
	 * Sets *done to whether a guarded load or store was executed.  Returns false if that is
	 * unknown.
	 */
	bool (*guard)(void *arg, uint32_t insn, bool *done);
};

struct vt_interp_options {
	vt_fetch_fn *fetch;
	void *fetch_arg;
	struct vt_interp_hooks hooks;
	/*
	 * Called in a free run after a call, a return, or an indirect jump.  `insn` is the number
	 * of the next instruction, which is at VT_REG_IP; registers and memory have their values
	 * before that instruction.  May be NULL.
	 */
	void (*transfer)(void *arg, uint32_t insn, bool call);
	void *transfer_arg;
	/* Kinds of values to capture, bits 1 << VT_WHAT_…; bit 0: a capture per instruction, too.
	 */
	uint32_t capture;
	/*
	 * The program ran under Valgrind: it rounds to nearest, honours denormals, and counts each
	 * repetition of a string instruction as an instruction.
	 */
	bool valgrind;
	/*
	 * The assumed MXCSR at first, after vt_interp_forget(), and after instructions that restore
	 * saved state and are not interpreted.  All zeros is unknown.  Bits 6, 13, 14 and 15 are
	 * used.
	 */
	struct vt_word mxcsr;
	/* Maximum bytes of lifted code; 0: 1 GiB.  When it is reached, all code is discarded. */
	size_t max_code;
};

/* Why a run ended. */
enum vt_stop {
	VT_STOP_LENGTH,	 /* all requested instructions were run */
	VT_STOP_BRANCH,	 /* the condition of a branch is unknown */
	VT_STOP_TARGET,	 /* the target of an indirect jump, call or return is unknown */
	VT_STOP_SYSCALL, /* before a system call; the address is that of the next instruction */
	VT_STOP_CODE,	 /* no code is known at the next address */
	VT_STOP_BAD,	 /* the bytes at the next address are no instruction */
	VT_STOP_TRAP,	 /* a breakpoint, a trap, a division by zero, a segment's fault */
	VT_STOP_PATH,	 /* known values contradict the path that is followed */
	VT_STOP_MEMORY,	 /* memory ran out: *err is set */
	VT_NSTOPS
};

/* Returns the text of a stop for summaries: "full length", "unknown branch" …; never NULL. */
const char *vt_stop_name(enum vt_stop why);

/*
 * One value that an instruction read, computed, wrote or jumped to.  A wide value has several
 * captures, one for each lane.
 */
struct vt_capture {
	uint64_t ip;
	uint64_t value; /* of lane `lane`; unknown bits are 0 */
	uint32_t insn;	/* number of the instruction, from 0 at the last vt_interp_clear() */
	uint16_t size;	/* bytes of the whole value */
	uint8_t what;	/* enum vt_what; VT_WHAT_UNKNOWN: this is the instruction itself */
	uint8_t reg;	/* enum vt_reg of a result, operand or argument; else 0 */
	uint8_t lane;	/* bytes 8 * lane and up */
	bool known;	/* each bit of it */
};

/*
 * Owned by the caller; `mem` is borrowed until vt_interp_free().  Returns NULL with VT_E_NOMEM or
 * VT_E_SYSTEM.
 */
struct vt_interp *vt_interp_new(const struct vt_interp_options *opt, struct vt_known_memory *mem,
				struct vt_error *err);
void vt_interp_free(struct vt_interp *m);

/* Discard: the values of registers; all lifted code; the lifted code of one space. */
void vt_interp_forget(struct vt_interp *m);
void vt_interp_forget_code(struct vt_interp *m);
void vt_interp_forget_space(struct vt_interp *m, uint64_t space);

/*
 * Declares that code may be other code from now on: lifted code is used again where fetch() still
 * returns the same bytes.  What it returns must then stay the same until the next call.
 */
void vt_interp_recheck_code(struct vt_interp *m);

/*
 * Return and set a register (enum vt_reg), or 8 bytes of a vector register (lane 0 to 3). VT_REG_FS
 * and VT_REG_GS are the bases of these segments, VT_REG_FLAGS is rflags.  Other segments and
 * registers that do not exist are unknown, and setting them does nothing.
 */
struct vt_word vt_interp_get(const struct vt_interp *m, unsigned reg, unsigned lane);
void vt_interp_set(struct vt_interp *m, unsigned reg, unsigned lane, struct vt_word w);

/*
 * Save and restore all registers in vt_interp_state_size() bytes, to switch between threads.  The
 * format of these bytes is private.
 */
size_t vt_interp_state_size(void);
void vt_interp_save(const struct vt_interp *m, void *state);
void vt_interp_restore(struct vt_interp *m, const void *state);

/* Replaces the memory; `mem` is borrowed as that of vt_interp_new(). */
void vt_interp_set_memory(struct vt_interp *m, struct vt_known_memory *mem);

/*
 * Sets the general registers of a mask (bit n: register n, up to VT_REG_R15) to known values.
 * `values` has an element for each bit of the mask.  VT_REG_FLAGS and registers that do not exist
 * are ignored.
 */
void vt_interp_set_general(struct vt_interp *m, uint64_t mask, const uint64_t *values);

/* Sets MXCSR, of which the rounding control and the flags for denormals are used. */
void vt_interp_set_mxcsr(struct vt_interp *m, uint32_t mxcsr);

/*
 * Makes a free run: runs at most `max` instructions from VT_REG_IP on.  `space` is the number of
 * the address space that code is fetched from; lifted code is kept by space and address.  *done
 * becomes the number of instructions.  Afterwards, VT_REG_IP is the address at which the run ended,
 * if it is known.
 */
enum vt_stop vt_interp_run(struct vt_interp *m, uint64_t space, uint64_t max, uint64_t *done,
			   struct vt_error *err);

/*
 * Runs the `ninsns` consecutive instructions at `addr` as a part of a path that continues at `next`
 * (0: unknown).  Branches follow the path.  The direction of a branch with an unknown condition is
 * used to infer values of registers and memory.  Returns VT_STOP_LENGTH when all were run, or
 * VT_STOP_PATH if known values contradict the path; then all values have become unknown.
 */
enum vt_stop vt_interp_follow(struct vt_interp *m, uint64_t space, uint64_t addr, uint32_t ninsns,
			      uint64_t next, struct vt_error *err);

/* Returns the captures since the last vt_interp_clear(), in order; borrowed until the next run. */
const struct vt_capture *vt_interp_captures(const struct vt_interp *m, size_t *count);
void vt_interp_clear(struct vt_interp *m);

/* Returns how many times the direction of a branch has made a value known. */
uint64_t vt_interp_inferred(const struct vt_interp *m);

/* Sets the numbers of lifted blocks, and of instructions in them that VEX could not lift. */
void vt_interp_lifted(const struct vt_interp *m, uint64_t *blocks, uint64_t *unlifted);

#endif
