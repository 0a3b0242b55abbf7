/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_COPROCESSOR_MACHINE_INTERNAL_H
#define VT_COPROCESSOR_MACHINE_INTERNAL_H

#include "base/bytes.h"
#include "coprocessor/machine.h"

#define VTI_DONE      64
#define VTI_INTERRUPT 65

/* What a word has to do besides its branch. */
#define VTI_WORK_ALU	1
#define VTI_WORK_CAM	2
#define VTI_WORK_MEMORY 4
#define VTI_WORK_STEP	8
#define VTI_WORK_RANDOM 16
#define VTI_WORK_X	32 /* an operand is an index register */

/* A word with what follows from its registers. */
struct vti_uop {
	struct vt_uword w;
	uint8_t to;	/* the word that its branch goes to, VTI_DONE or VTI_INTERRUPT */
	uint8_t work;	/* VTI_WORK_ bits */
	uint8_t log2;	/* of the bytes of an element */
	uint32_t start; /* of the array */
	uint64_t most;	/* the largest number of an element */
};

struct vt_coproc {
	const struct vt_ucode *u;
	struct vti_uop uops[VT_UCODE_WORDS];
	uint64_t in[VT_NOPERANDS]; /* what each operand reads; v0 to v3 and the latches live here */
	uint16_t x[VT_UCODE_INDEXES];
	uint16_t xmax[VT_UCODE_INDEXES];
	uint8_t predictors[VT_UCODE_WORDS]; /* 0, 1: not taken; 2, 3: taken */
	uint32_t lfsr;
	uint8_t *data;

	/* The associative array, whose valid entries are chained by a hash of their keys: entry
	 * numbers + 1. */
	uint64_t *keys;
	uint8_t *valid;
	uint16_t *chain;
	uint16_t *heads;
	uint32_t nheads;
	unsigned shift;
	uint64_t key_mask;

	unsigned word; /* executed last */
	struct vt_coproc_stats stats;
	vt_coproc_trace_fn *trace;
	void *trace_arg;
};

#endif
