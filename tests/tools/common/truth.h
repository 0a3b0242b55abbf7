/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TOOLS_TRUTH_H
#define TOOLS_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/interp/interp.h"
#include "stream/exec.h"

/* What an interpreter says, beside what was recorded. */

struct registers {
	struct vt_word w[VT_NREGS][8]; /* by lane */
};

void registers_get(struct registers *r, const struct vt_interp *m);
void registers_set(struct vt_interp *m, const struct registers *r);

/* The register that a slot tells the content of, from a lane on, or VT_NREGS. */
unsigned slot_register(const struct vt_slot *t, unsigned *lane);

/* Takes the results of a recorded instruction, whose slots are `slot` to `end` - 1. */
void registers_learn(struct registers *r, const struct vt_step *s, uint32_t slot, uint32_t end);

/* What came of one way of running. */
struct tally {
	const char *name;
	bool loads_given; /* they are what was recorded, and are not compared */
	uint64_t runs, insns;
	uint64_t captured;	      /* values, known or not */
	uint64_t compared[VT_NWHATS]; /* known ones that have a recorded value beside them */
	uint64_t uncompared;	      /* known ones that have none */
	uint64_t registers;	      /* looked at where runs end */
	uint64_t differences;
	uint64_t shown;
	uint64_t stops[VT_NSTOPS];
};

/* All that were compared. */
uint64_t tally_values(const struct tally *t);

/* Says that something differs; the first of them are told. */
void tally_differ(struct tally *t, const struct vt_step *s, uint32_t insn, const char *what,
		  unsigned reg, uint64_t got, uint64_t recorded);

/*
 * Compares what was captured of instructions that ran one after the other with the recording of
 * them; `next` is where they led, or 0.  `r` is what is recorded of the registers in front of the
 * first, and is what is recorded behind the last afterwards.
 */
void compare_captures(struct tally *t, const struct vt_capture *captures, size_t n,
		      const struct vt_step *steps, size_t nsteps, uint64_t next,
		      struct registers *r);

/* Two that both know something of the same registers must know the same. */
void compare_registers(struct tally *t, const struct vt_step *last, const struct registers *got,
		       const struct registers *want);

#endif
