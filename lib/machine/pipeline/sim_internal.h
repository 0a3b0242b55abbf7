/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_SIM_INTERNAL_H
#define VT_MACHINE_PIPELINE_SIM_INTERNAL_H

#include "machine/pipeline/astray.h"
#include "machine/pipeline/memo.h"
#include "machine/pipeline/memory.h"
#include "machine/pipeline/ooo.h"
#include "machine/pipeline/sim.h"
#include "machine/pipeline/sim_follow.h"

/* The state of a modelled machine, which running and following instructions share. */

/* A power of 2, more than instructions are fetched ahead. */
#define RING 64

/* More of what a block asks of memory is not remembered. */
#define EVENTS 256

/* What memory has answered. */
struct answer {
	struct vt_simmem_access access;
	bool went; /* an access was made */
};

/* A block is tried by what is known of it, or run to know more. */
struct trial {
	struct vti_simentry entry;
	uint32_t nanswers; /* of memory, so far */
	uint32_t given;	   /* of these again */
	struct answer answers[EVENTS];
	uint64_t front;		 /* of the machine, as far as it has been tried */
	uint64_t fetched;	 /* the cycle of the last fetch, likewise */
	struct vti_simrun *from; /* the last that was known, up to an event, */
	uint32_t at;		 /* which */
	bool failed;		 /* it is not to be remembered */
	uint64_t addr;		 /* where the block begins */
	uint32_t nevents;
	struct vti_simevent events[EVENTS];
	struct vti_simask asks[EVENTS];
	uint64_t issued[VTI_SIMMEMO_INSNS];
};

struct vt_simcore {
	const struct vt_core *core; /* borrowed */
	struct vt_sim_hooks hooks;
	struct vt_simmem *mem;
	struct vt_simbranch *branches;
	uint64_t line; /* the number of that which was fetched last */
	unsigned line_shift;
	const struct vt_sim_insn *insn; /* at hand */
	struct vt_sim_retired out;
	struct vti_follow follow;

	/* out of order */
	struct vt_ooo *ooo;	   /* NULL: in order */
	struct vti_astray *astray; /* NULL without code */
	uint64_t nastray;	   /* instructions of wrong paths so far, */
	uint64_t nempty;	   /* and slots of their fetch without one */
	uint64_t predicted;	   /* where the instruction at hand was thought to go */
	uint64_t lost_begin;	   /* from when on, if that was wrong, the wrong path is fetched */
	uint64_t lost_end;
	uint64_t cycle;

	/* in order */
	struct vt_inorder engine;
	uint64_t front; /* when the front end has mastered all misses and wrong branches so far */
	uint32_t ahead; /* instructions that are fetched before they can be issued */
	uint64_t issued[RING]; /* when the last instructions were */
	uint32_t at;
	struct trial *trial; /* at hand; NULL: none is */
	uint32_t nth;	     /* instruction of its block */
	struct trial room;
	struct vt_inorder before;

	struct vt_sim_followed followed; /* of `follow` */
};

/* Whether fetching these bytes may miss: only the first fetch from a line can. */
static inline bool enters_line(struct vt_simcore *s, uint64_t addr, uint32_t length)
{
	uint64_t first = addr >> s->line_shift, last = (addr + length - 1) >> s->line_shift;
	bool enters = first != s->line || last != first;

	s->line = last;
	return enters;
}

static inline struct vt_simmem_access fetch_bytes(struct vt_simcore *s, uint64_t cycle,
						  uint64_t addr, uint32_t length)
{
	struct vt_simmem_access none = {0};

	if (!enters_line(s, addr, length))
		return none;
	return vt_simmem_fetch(s->mem, cycle, addr, length);
}

/*
 * Fetches the wrong path from where the branch at hand, which has these flags, was predicted to go
 * until it is known to have been mispredicted.
 */
void vti_sim_go_astray(struct vt_simcore *s, uint32_t flags);

#endif
