/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_MACHINE_INSN_NATIVERUN_H
#define TESTS_UNIT_MACHINE_INSN_NATIVERUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs a few instructions on the processor itself, from chosen registers, in this process. */

#define NATIVE_CODE 512	 /* bytes of code, at most */
#define NATIVE_DATA 1024 /* bytes of memory for it to work on */

/* Registers; the general ones by their numbers in machine code: rax, rcx, rdx, rbx, rsp, … */
struct native_state {
	uint64_t gpr[16];
	uint64_t flags;
	uint64_t vector[16][4];
	uint64_t gs; /* base of the segment; it is not changed by what is run */
	uint32_t mxcsr;
};

/* Where the code left. */
enum native_exit {
	NATIVE_THROUGH, /* behind its last byte */
	NATIVE_BRANCH,	/* at the address for branches */
	NATIVE_SIGNAL,	/* with a signal */
};

struct native_result {
	enum native_exit exit;
	int signal;
	struct native_state state;
};

struct native {
	uint8_t *code; /* both below 2 GiB, so that 32 bits name any address in them */
	uint8_t *data;
	uint64_t code_addr;
	uint64_t data_addr;
	bool has_avx; /* else the upper halves of vector registers mean nothing */
};

/* One at a time in a process: it catches signals.  False: the system does not let us. */
bool native_open(struct native *n);
void native_close(struct native *n);

/* The two addresses at which code of so many bytes comes out. */
uint64_t native_through(const struct native *n, size_t size);
uint64_t native_branch(const struct native *n, size_t size);

/* Runs the `size` bytes from n->code on, on what is in n->data. */
void native_run(struct native *n, size_t size, const struct native_state *in,
		struct native_result *out);

/* Where it keeps the stack that code leaves on: this far in native_area. */
#define NATIVE_STACK_AT 144
extern struct native_area native_area;

#endif
