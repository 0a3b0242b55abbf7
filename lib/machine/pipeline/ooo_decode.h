/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_OOO_DECODE_H
#define VT_MACHINE_PIPELINE_OOO_DECODE_H

#include "machine/pipeline/core.h"

/*
 * The front end for code that no micro-op cache holds.  Each cycle, the lengths of instructions in
 * one aligned block of bytes are found, of so many at most; one whose opcode is in the block before
 * its last byte takes part of both.  They wait in a queue for the decoders, of which only the first
 * takes instructions of several slots.
 */
#define VTI_DECODE_QUEUE 256

struct vti_decode {
	uint64_t position; /* bytes before the instruction */
	uint64_t block;	   /* whose lengths are being found */
	uint64_t found;	   /* the cycle in which they are */
	uint32_t nfound;   /* instructions in that cycle */
	uint32_t cycles;   /* spent on the block, */
	uint32_t spare;	   /* and on the one before, which hides as much of the time of prefixes */
	uint64_t cycle;	   /* of the decoders */
	uint32_t used;	   /* decoders, */
	uint32_t slots;	   /* and slots in it */
	uint32_t next;
	uint64_t left[VTI_DECODE_QUEUE]; /* when each left the queue, a ring */
};

/* Empties it; it goes on in the cycle. */
void vti_decode_init(struct vti_decode *d, uint64_t cycle);

/* Returns the cycle in which the next instruction is decoded, which is not before `at`. */
uint64_t vti_decode_run(struct vti_decode *d, const struct vt_core *m, const struct vt_mop *op,
			uint64_t at);

#endif
