/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_PIPELINE_SIM_FOLLOW_H
#define VT_MACHINE_PIPELINE_SIM_FOLLOW_H

#include "machine/pipeline/astray.h"
#include "machine/pipeline/ooo.h"
#include "machine/pipeline/sim.h"

/*
 * Following instructions through a modelled machine: a counter of fetched instructions chooses
 * them, and what becomes of each one is put together until it has left the machine.
 */

struct vti_follow {
	uint64_t left;	   /* instructions to be fetched up to the next one that is followed */
	uint64_t history;  /* directions of conditional branches: bit 0 is the newest, 1 taken */
	uint32_t nhistory; /* bits of it that are known */
	bool on;	   /* the instruction at hand is followed: */
	struct vt_sim_followed *f; /* borrowed: apart from what each instruction needs */
	vt_sim_follow_fn *tell;
	void *arg;
};

/* *f is borrowed. */
void vti_follow_init(struct vti_follow *w, const struct vt_sim_hooks *hooks,
		     struct vt_sim_followed *f);

static inline void vti_follow_note_direction(struct vti_follow *w, uint32_t flags, bool taken)
{
	if (!(flags & VT_FACT_CONDITIONAL))
		return;
	w->history = w->history << 1 | taken;
	w->nhistory += w->nhistory < 64;
}

/* An executed instruction is fetched. */
void vti_follow_begin(struct vti_follow *w, const struct vt_sim_insn *insn);

/* The cycles that the n-th load of an instruction takes from issue to data, if it hits. */
uint32_t vti_follow_latency(const struct vt_mop *op, unsigned nth);

/* The n-th load or store of the instruction at hand is made, and misses what `missed` has. */
void vti_follow_access(struct vti_follow *w, bool store, unsigned nth, uint32_t missed,
		       const struct vt_simmem_access *a);

/* It has left the machine, which knows this of it; out of order, with its times. */
void vti_follow_end(struct vti_follow *w, const struct vt_sim_retired *r,
		    const struct vt_ooo_times *times);

/* What is fetched on a wrong path, at a cycle and up to another one, and aborted at `end`. */
struct vti_follow_wrong {
	const struct vti_astray_insn *insn;
	uint64_t begin;
	uint64_t placed; /* 0: it is aborted before */
	uint64_t end;
	uint32_t fetch_missed;
	uint64_t history;
	uint32_t nhistory;
};

void vti_follow_wrong(struct vti_follow *w, const struct vti_follow_wrong *wrong);

#endif
