/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TOOLS_TRACEE_H
#define TOOLS_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "machine/insn/insn.h"

/* A program that the processor executes step by step, by way of ptrace(2).  Errors end the program
 * that calls. */

#define TRACEE_XMM_AT 160  /* in the standard form of XSAVE's area: Intel SDM volume 1, 13.4 */
#define TRACEE_YMM_AT 576  /* the upper halves */
#define TRACEE_MXCSR  24   /* 4 bytes */
#define TRACEE_XSTATE 4096 /* bytes that are asked for */

struct tracee {
	pid_t pid;
	uint64_t gpr[VT_REG_R15 + 1]; /* with VT_REG_IP and VT_REG_FLAGS */
	uint64_t fs_base, gs_base;
	bool in_syscall; /* it was stopped there: the kernel may change registers yet */
	uint8_t xstate[TRACEE_XSTATE];
	bool has_components;
	size_t components[8]; /* of that: their places, by Intel's numbers */
};

/* An error of the last system call. */
void tracee_die(const char *what);

/* A number as the pointer that a system call takes. */
void *tracee_pointer(uint64_t number);

/*
 * Starts argv[0], as execvp() finds it, its standard output thrown away, its addresses not made
 * random, in front of its first instruction.  Ends with status 3 where that is not possible.
 */
void tracee_start(struct tracee *t, char **argv);

/* Ends it, too. */
void tracee_kill(struct tracee *t);

/* Reads the registers, the vector registers. */
void tracee_registers(struct tracee *t);
void tracee_vectors(struct tracee *t);

/*
 * Set *value to 8 bytes, number 0 to 7, of a vector register 0 to 31, and to a mask register.
 * False: this processor or kernel has no such register.
 */
bool tracee_vector(const struct tracee *t, unsigned reg, unsigned lane, uint64_t *value);
bool tracee_mask(const struct tracee *t, unsigned reg, uint64_t *value);

/* How many of `size` bytes can be read. */
size_t tracee_read(const struct tracee *t, uint64_t addr, void *data, size_t size);

/* One step, without reading registers.  False: it ended, or was stopped by something else. */
bool tracee_step(struct tracee *t);

#endif
