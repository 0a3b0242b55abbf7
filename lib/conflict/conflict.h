/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CONFLICT_CONFLICT_H
#define VT_CONFLICT_CONFLICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "machine/insn/insn.h"
#include "stream/kinds.h"

/*
 * Pairs of instructions whose memory accesses may conflict in a processor that runs them out of
 * order (value sampling 3.2).  Fed with runs of instructions and where they access memory, it
 * counts how often the later instruction of a pair met the earlier one.
 *
 * What is found may happen: whether it did, and what it cost, events of the processor tell.
 */

#define VT_CONFLICT_MAX_DISTANCE 960 /* instructions: the window is kept in 16 words of bits */
#define VT_CONFLICT_MAX_ACCESS	 64  /* bytes: wider ones (xsave, fxsave) are several on any core */

/* What of a processor matters. */
struct vt_conflict_model {
	const char *name;
	uint32_t types;	   /* bits 1 << VT_CONFLICT_… */
	uint32_t distance; /* instructions in flight, at most VT_CONFLICT_MAX_DISTANCE */
	uint32_t stores;   /* that wait to be written, the pair's own included; 0: no bound */
	/*
	 * Two loads may be further apart, as loads retire before their data is back: value
	 * sampling 3.2.  0: as any other pair.
	 */
	uint32_t loads_distance;
	uint32_t crossing; /* bytes: an access that crosses a multiple is not forwarded; 0: it is */
	/* The order of loads and stores is lost only where the store's address is late. */
	bool late_address;
	bool youngest; /* of stores to the same bytes, only the last one matters */
	uint32_t cache_size;
	uint32_t cache_ways;
	uint32_t cache_line; /* a power of 2 */
};

/*
 * skylake: Intel's optimisation reference manual (248966), 224 instructions and 56 stores in
 * flight (2.5.4), loads forwarded from a store that holds all their bytes (3.6.4), aliasing of
 * 4096 bytes (3.6.8).  zen4: AMD's optimisation guide (57647), 320 in the retire queue, 64 in
 * the store queue, the same forwarding.  generic: the narrower bounds of both, all types.
 * alpha: the 21264 of value sampling 3.2.  NULL for another name.
 */
const struct vt_conflict_model *vt_conflict_model(const char *name);

/*
 * Whether an event of this name, as perf spells it, modifiers and all, counts what conflicts of a
 * type cost.
 */
bool vt_conflict_event_fits(enum vt_conflict type, const char *event);

/*
 * Gives a model a cache of "SIZE:WAYS:LINE", SIZE in bytes or with k for 1024 of them.
 * -VT_E_USAGE: it is not of that form, its parts do not fit, or the model has no such conflicts.
 */
int vt_conflict_model_cache(struct vt_conflict_model *m, const char *text, struct vt_error *err);

/* What an instruction does to registers, as far as it matters here: made once from its facts. */
struct vt_conflict_code {
	uint32_t place;	   /* the caller's number of the instruction, dense from 0 */
	bool slow;	   /* a division: its results are late */
	bool barrier;	   /* it waits until all stores before it are written */
	bool repeated;	   /* a processor does many of its accesses at a time: not looked at */
	uint64_t loads;	   /* registers that the addresses of its loads are made of */
	uint64_t stores;   /* the same of its stores */
	uint64_t reads;	   /* all registers that it reads, but to break dependence (xor eax, eax) */
	uint64_t results;  /* registers that get what was loaded or computed */
	uint64_t updates;  /* those that only move on with the address: rsp, rsi, rdi */
	uint64_t replaced; /* results whose old value is gone */
};

void vt_conflict_code_make(struct vt_conflict_code *code, const struct vt_facts *f);

struct vt_access {
	uint64_t addr; /* 0 if not known */
	uint64_t base; /* 0, or the number of what is not known that `addr` is relative to */
	uint16_t size; /* bytes */
	bool store;
	bool known; /* as far as `base` says */
};

struct vt_conflict_pair {
	uint32_t later; /* places */
	uint32_t earlier;
	uint32_t type;
	uint32_t zero;	/* the key has no padding */
	uint64_t count; /* executions of the later one that met the earlier one */
	uint64_t distance;
	uint64_t nearest;
	uint64_t last;
};

struct vt_conflict_totals {
	uint64_t runs;
	uint64_t insns;
	uint64_t accesses;
	uint64_t known;	    /* whose address is known */
	uint64_t relative;  /* whose address is known relative to something */
	uint64_t apart;	    /* left out: repeated, or wider than any access of a core */
	uint64_t ruled_out; /* conflicts, but one depends on the other */
};

struct vt_conflicts;

/*
 * The model is copied.  `dependent`: pairs are told even if the later instruction depends on the
 * earlier one.  Owned by the caller.  NULL: VT_E_NOMEM, VT_E_USAGE for a model that makes no sense.
 */
struct vt_conflicts *vt_conflicts_new(const struct vt_conflict_model *m, bool dependent,
				      struct vt_error *err);
void vt_conflicts_free(struct vt_conflicts *c);

/* What comes next does not follow on what came before. */
void vt_conflicts_begin(struct vt_conflicts *c);

/*
 * The next instruction that was executed, with its `n` accesses in their order.  0 or -VT_E_NOMEM.
 */
int vt_conflicts_insn(struct vt_conflicts *c, const struct vt_conflict_code *code,
		      const struct vt_access *accesses, size_t n, struct vt_error *err);

/* In the order in which they were first met.  Borrowed until the next instruction. */
size_t vt_conflicts_count(const struct vt_conflicts *c);
const struct vt_conflict_pair *vt_conflicts_at(const struct vt_conflicts *c, size_t i);

/* How often an instruction was executed, if it ever accessed memory; else 0. */
uint64_t vt_conflicts_executions(const struct vt_conflicts *c, uint32_t place);
const struct vt_conflict_totals *vt_conflicts_totals(const struct vt_conflicts *c);

#endif
