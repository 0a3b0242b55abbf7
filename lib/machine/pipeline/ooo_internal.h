/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_OOO_INTERNAL_H
#define VT_MACHINE_PIPELINE_OOO_INTERNAL_H

#include "machine/pipeline/ooo.h"
#include "machine/pipeline/ooo_places.h"

/* When a value is there, and by whom. */
struct value {
	uint64_t ready;
	uint64_t by;
	bool dynamic; /* it took longer than it must */
};

/* What a micro-operation's issue waited for last. */
enum bound { BOUND_FRONT, BOUND_OPERAND, BOUND_PREVIOUS, BOUND_ORDER };

struct running {
	enum bound bound;
	unsigned reg;	      /* BOUND_OPERAND: the latest */
	struct value operand; /* likewise, or what came before in the instruction */
	uint64_t ready;	      /* all operands are there */
	uint64_t issued;
	uint64_t made; /* if nothing dynamic had happened */
	uint32_t tlb;  /* and what has */
	uint32_t cache;
	uint32_t forward;
	uint64_t done;
};

/* What the front end was emptied by lately. */
struct front {
	uint8_t cause; /* enum vt_stall_cause */
	uint64_t by;
	uint64_t until; /* those that are fetched before may feel it */
};

/* What an instruction takes up until it retires, or leaves the queue. */
struct needs {
	uint32_t slots;
	uint32_t loads;
	uint32_t stores;
	uint32_t queued;
	uint32_t ints;
	uint32_t fps;
};

/* The instruction at hand. */
struct step {
	const struct vt_ooo_insn *in;
	struct needs needs;
	uint64_t begun;	    /* its fetch */
	struct front front; /* before that */
	uint64_t translated;
	uint64_t fetched;
	uint64_t placed;
	uint8_t late; /* why it was placed later than it came: enum vt_stall_cause */
	unsigned nuops;
	struct running uops[VT_MOP_UOPS];
	uint64_t done;
};

/* Tells what the slots between two retirements were lost to; `first` is after `before`. */
void vti_ooo_explain(const struct step *x, const struct lane *before, uint64_t first,
		     struct vt_inorder_cost *cost);

#endif
