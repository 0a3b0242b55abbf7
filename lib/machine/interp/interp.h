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
 * known or not (value sampling 2.1.2, done afterwards).  Code is lifted by Valgrind's VEX library,
 * flattened, and kept.  A value that it calls known is right: an unknown condition ends a free run,
 * a store to an unknown address forgets all memory that can be stored to, and what VEX cannot lift
 * leaves what it writes unknown.
 *
 * x87 arithmetic is unknown (VEX computes with 64 bits where the machine has 80); so is what
 * depends on the machine: cpuid, rdtsc, rdrand, xgetbv.
 */
struct vt_interp;

/* Copies at most `size` bytes of the code at `addr` and says how many there were; 0: none. */
typedef size_t vt_fetch_fn(void *arg, uint64_t space, uint64_t addr, uint8_t *bytes, size_t size);

/* Answers from a recording, where the path is followed; each may be NULL. */
struct vt_interp_hooks {
	void *arg;
	/*
	 * What a load of `size` bytes at instruction number `insn` of the piece being followed
	 * reads, one word for each 8 bytes, which already hold what memory is known to have; `addr`
	 * may be unknown.  What it makes known is believed and remembered.
	 */
	void (*load)(void *arg, uint32_t insn, struct vt_word addr, unsigned size,
		     struct vt_word *words);
	/* What a helper that is not pure (cpuid, rdtsc …) left at an offset of VEX's guest state.
	 */
	void (*state)(void *arg, uint32_t insn, unsigned offset, unsigned size,
		      struct vt_word *words);
	/* Whether a guarded load or store happened: true when it knows, then in *done. */
	bool (*guard)(void *arg, uint32_t insn, bool *done);
};

struct vt_interp_options {
	vt_fetch_fn *fetch;
	void *fetch_arg;
	struct vt_interp_hooks hooks;
	/*
	 * In a free run: a call, a return, or a jump to an address that is not in the instruction
	 * was run.  `insn` is the number of the instruction that comes next, at VT_REG_IP; all
	 * registers and memory are as they are then.  May be NULL.
	 */
	void (*turn)(void *arg, uint32_t insn, bool call);
	void *turn_arg;
	/* Bits 1 << VT_WHAT_…: what is captured; bit 0: also one capture for each instruction. */
	uint32_t capture;
	/*
	 * The program ran under Valgrind: it rounds to nearest, honours denormals, and counts each
	 * repetition of a string instruction as an instruction.
	 */
	bool valgrind;
	/*
	 * What MXCSR is taken to be where nothing is known otherwise: at first, after
	 * vt_interp_forget(), and behind what restores saved state without being understood.  All
	 * zeros is unknown.  Bits 6, 13, 14 and 15 count.
	 */
	struct vt_word mxcsr;
	size_t max_code; /* bytes of memory for lifted code; 0: 1 GiB.  When full, all is lifted
			    anew */
};

/* Why a run ended. */
enum vt_stop {
	VT_STOP_LENGTH,	 /* all that was asked for was run */
	VT_STOP_BRANCH,	 /* the condition of a branch is unknown */
	VT_STOP_TARGET,	 /* so is where an indirect jump, call or return goes */
	VT_STOP_SYSCALL, /* in front of a system call: the address is that of the next instruction
			  */
	VT_STOP_CODE,	 /* no code is known at the address that comes next */
	VT_STOP_BAD,	 /* the bytes there are no instruction */
	VT_STOP_TRAP,	 /* a breakpoint, a trap, a division by zero, a segment's fault */
	VT_STOP_PATH,	 /* what is known contradicts the path that is followed */
	VT_STOP_MEMORY,	 /* memory ran out: *err tells */
	VT_NSTOPS
};

/* "full length", "unknown branch" …: for summaries; never NULL. */
const char *vt_stop_name(enum vt_stop why);

/* One value that an instruction read, computed, wrote or went to; wide ones are several, by lane.
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

/* `mem` is borrowed for as long as the interpreter lives.  NULL on error: VT_E_NOMEM, VT_E_SYSTEM.
 */
struct vt_interp *vt_interp_new(const struct vt_interp_options *opt, struct vt_known_memory *mem,
				struct vt_error *err);
void vt_interp_free(struct vt_interp *m);

/* Forgets the registers; lifted code; the code of one space. */
void vt_interp_forget(struct vt_interp *m);
void vt_interp_forget_code(struct vt_interp *m);
void vt_interp_forget_space(struct vt_interp *m, uint64_t space);

/*
 * A register (enum vt_reg), or 8 bytes of a vector register (lane 0 to 3).  VT_REG_FS and VT_REG_GS
 * are the bases of these segments, VT_REG_FLAGS is rflags.  Other segments and what does not exist
 * are unknown, and setting them does nothing.
 */
struct vt_word vt_interp_get(const struct vt_interp *m, unsigned reg, unsigned lane);
void vt_interp_set(struct vt_interp *m, unsigned reg, unsigned lane, struct vt_word w);

/*
 * All registers together, in vt_interp_state_size() bytes: to go on with another thread.  Nothing
 * else may read or write them.
 */
size_t vt_interp_state_size(void);
void vt_interp_save(const struct vt_interp *m, void *state);
void vt_interp_restore(struct vt_interp *m, const void *state);

/* From now on this is the memory; borrowed as that of vt_interp_new(). */
void vt_interp_set_memory(struct vt_interp *m, struct vt_known_memory *mem);

/*
 * The general registers of a mask (bit n: register n, up to VT_REG_R15), known, from `values`,
 * which has one for each bit of the mask.  VT_REG_FLAGS and what does not exist are passed over.
 */
void vt_interp_set_general(struct vt_interp *m, uint64_t mask, const uint64_t *values);

/* MXCSR's rounding control and whether denormals count as zero, from here on. */
void vt_interp_set_mxcsr(struct vt_interp *m, uint32_t mxcsr);

/*
 * Runs at most `max` instructions from VT_REG_IP on, wherever they lead.  `space` names the address
 * space that code is fetched from: code is kept by space and address.  *done counts the
 * instructions.  VT_REG_IP is afterwards where the run ended, as far as that is known.
 */
enum vt_stop vt_interp_run(struct vt_interp *m, uint64_t space, uint64_t max, uint64_t *done,
			   struct vt_error *err);

/*
 * Runs the `ninsns` instructions at `addr`, which follow each other in memory, as a part of a path
 * that goes on at `next` (0: not known where).  Branches go where the path goes, whatever is known
 * of their conditions.  From the way of a branch with an unknown condition, what registers and
 * memory must hold is inferred, and known from then on.  VT_STOP_LENGTH when all were run;
 * VT_STOP_PATH: what is known says otherwise, and everything was forgotten.
 */
enum vt_stop vt_interp_follow(struct vt_interp *m, uint64_t space, uint64_t addr, uint32_t ninsns,
			      uint64_t next, struct vt_error *err);

/* What was captured since the last vt_interp_clear(), in order; borrowed until the next run. */
const struct vt_capture *vt_interp_captures(const struct vt_interp *m, size_t *count);
void vt_interp_clear(struct vt_interp *m);

/* How many times so far the way of a path made something known of a register or of memory. */
uint64_t vt_interp_inferred(const struct vt_interp *m);

/* Blocks that were lifted so far, and instructions in them that VEX could not lift. */
void vt_interp_lifted(const struct vt_interp *m, uint64_t *blocks, uint64_t *unlifted);

#endif
