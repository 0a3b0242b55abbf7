/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_COMMON_PROCS_H
#define TESTS_UNIT_COMMON_PROCS_H

#include <stdint.h>

#include "culprit/culprit.h"
#include "flow/cfg.h"
#include "machine/pipeline/core.h"
#include "machine/pipeline/schedule.h"

/* Procedures for the tests of culprits. Each function fails the running test when it cannot do its
 * work. */

#define PROC_START 0x401000
#define PROC_MAX   420
#define PROC_EACH  1000.0 /* executions */

/* A procedure of hand-written code, each block scheduled for itself, and nothing stalls in it. */
struct proc {
	struct vt_core core;
	struct vt_procflow flow;
	struct vt_mop ops[PROC_MAX];
	struct vt_schedule_cost costs[PROC_MAX];
	uint32_t block[PROC_MAX];
	struct vt_culprit_insn insns[PROC_MAX];
	double edges[PROC_MAX];
	struct vt_culprit_input in;
	struct vt_culprit_stalls stalls;
};

/* `code` is to be of a core of this name. */
struct proc *proc_make(const char *core, const uint8_t *code, size_t size);
void proc_drop(struct proc *p);

/*
 * One for the Alpha whose instructions are what the test says: of one micro-operation each, which
 * does nothing and touches no register.  The n-th is executed 10 (n + 1) times.
 */
struct proc *proc_make_plain(const uint8_t *code, size_t size);

/*
 * Such a one with two ways to a loop, entered 300 times:
 *
 *  0: 85 ff           test             1 micro-operation
 *  2: 74 03           je 7             2
 *  4: 90              nop              3
 *  5: eb 01           jmp 8            4
 *  7: 90              nop              9
 *  8: 90              nop              6 (the loop: 8 to c)
 *  9: 90              nop              7
 *  a: 75 fc           jne 8            8
 *  c: c3              ret              1
 */
enum {
	WAYS_TEST,
	WAYS_JE,
	WAYS_SHORT,
	WAYS_JMP,
	WAYS_LONG,
	WAYS_HEAD,
	WAYS_SECOND,
	WAYS_JNE,
	WAYS_RET,
	PROC_WAYS
};
struct proc *proc_make_ways(void);

/* Which instruction is at an offset. */
uint32_t proc_at(const struct proc *p, uint64_t offset);

/* How often control goes from the block of an instruction to the one that begins at another. */
void proc_set_edge(struct proc *p, uint64_t from, uint64_t to, double n);

/* How often control comes by each of the ways into the procedure. */
void proc_set_entry(struct proc *p, double n);

#endif
