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
 * Finds pairs of instructions whose memory accesses may conflict in a processor that executes them
 * out of order (value sampling 3.2).  The input is runs of instructions with their memory accesses.
 * For each pair, counts how often the later instruction was close enough behind the earlier one.
 *
 * A pair is a possible conflict.  Whether it occurred and what it cost can only be measured with
 * events of the processor.
 */

#define VT_CONFLICT_MAX_DISTANCE 960 /* instructions: the window is a set of 16 words of bits */
#define VT_CONFLICT_MAX_ACCESS	 64  /* bytes; cores split wider accesses (xsave, fxsave) */

/* The properties of a processor that determine conflicts. */
struct vt_conflict_model {
	const char *name;
	uint32_t types;	   /* bits 1 << VT_CONFLICT_… */
	uint32_t distance; /* instructions in flight, at most VT_CONFLICT_MAX_DISTANCE */
	uint32_t stores;   /* entries of the store queue, the pair's store included; 0: no limit */
	/*
	 * Maximum distance of two loads, which is higher if loads retire before their data arrives:
	 * value sampling 3.2.  0: as other pairs.
	 */
	uint32_t loads_distance;
	uint32_t crossing; /* bytes: accesses across a multiple are not forwarded; 0: they are */
	/* A load may be executed before a store only if the store's address is known late. */
	bool late_address;
	bool youngest; /* a load only conflicts with the last store to the same bytes */
	uint32_t cache_size;
	uint32_t cache_ways;
	uint32_t cache_line; /* a power of 2 */
};

/*
 * skylake: Intel's optimisation reference manual (248966), 224 instructions and 56 stores in
 * flight (2.5.4), loads forwarded from a store that holds all their bytes (3.6.4), aliasing of
 * 4096 bytes (3.6.8).  zen4: AMD's optimisation guide (57647), 320 in the retire queue, 64 in
 * the store queue, the same forwarding.  generic: the narrower bounds of both, and all types.
 * alpha: the 21264 of value sampling 3.2.  Returns NULL for other names.
 */
const struct vt_conflict_model *vt_conflict_model(const char *name);

/*
 * Returns whether the event with this name, in perf's spelling and perhaps with modifiers, measures
 * the cost of conflicts of a type.
 */
bool vt_conflict_event_fits(enum vt_conflict type, const char *event);

/*
 * Sets a model's cache from the text "SIZE:WAYS:LINE", with SIZE in bytes, or in KiB with the
 * suffix k.  Returns 0, or -VT_E_USAGE if the text has another form, its numbers are inconsistent,
 * or the model has no conflicts of caches.
 */
int vt_conflict_model_cache(struct vt_conflict_model *m, const char *text, struct vt_error *err);

/* What an instruction reads and writes; computed once from its facts. */
struct vt_conflict_code {
	uint32_t place;	   /* the caller's number of the instruction, dense from 0 */
	bool slow;	   /* a division: its results are late */
	bool barrier;	   /* it waits until all stores before it are written */
	bool repeated;	   /* processors combine its accesses, so they are ignored */
	uint64_t loads;	   /* address registers of its loads (bits by number) */
	uint64_t stores;   /* address registers of its stores */
	uint64_t reads;	   /* all registers that it depends on (not those of xor eax, eax) */
	uint64_t results;  /* registers that receive loaded or computed values */
	uint64_t updates;  /* address registers that it only increments: rsp, rsi, rdi */
	uint64_t replaced; /* results of which no old bits remain */
};

void vt_conflict_code_make(struct vt_conflict_code *code, const struct vt_facts *f);

struct vt_access {
	uint64_t addr; /* 0 if not known */
	uint64_t base; /* 0, or the number of the unknown value that `addr` is relative to */
	uint16_t size; /* bytes */
	bool store;
	bool known; /* `addr` is known, with a `base` as an offset */
};

struct vt_conflict_pair {
	uint32_t later; /* places */
	uint32_t earlier;
	uint32_t type;
	uint32_t zero;	/* the key has no padding */
	uint64_t count; /* executions of the later one that may conflict with the earlier one */
	uint64_t distance;
	uint64_t nearest;
	uint64_t last;
};

struct vt_conflict_totals {
	uint64_t runs;
	uint64_t insns;
	uint64_t accesses;
	uint64_t known;	    /* accesses with a known address */
	uint64_t relative;  /* accesses whose address is known relative to an unknown value */
	uint64_t apart;	    /* ignored: repeated, or wider than any access of a core */
	uint64_t ruled_out; /* conflicts that are impossible because one depends on the other */
};

struct vt_conflicts;

/*
 * Owned by the caller; copies the model.  With `dependent`, pairs count even if the later
 * instruction depends on the earlier one.  Returns NULL with VT_E_NOMEM, or VT_E_USAGE for an
 * invalid model.
 */
struct vt_conflicts *vt_conflicts_new(const struct vt_conflict_model *m, bool dependent,
				      struct vt_error *err);
void vt_conflicts_free(struct vt_conflicts *c);

/* Begins a run: the next instruction does not follow the last one. */
void vt_conflicts_begin(struct vt_conflicts *c);

/*
 * Adds the next executed instruction, with its `n` accesses in their order.  Returns 0 or
 * -VT_E_NOMEM.
 */
int vt_conflicts_insn(struct vt_conflicts *c, const struct vt_conflict_code *code,
		      const struct vt_access *accesses, size_t n, struct vt_error *err);

/* The pairs in the order of their first conflicts, borrowed until the next instruction. */
size_t vt_conflicts_count(const struct vt_conflicts *c);
const struct vt_conflict_pair *vt_conflicts_at(const struct vt_conflicts *c, size_t i);

/* Returns the executions of an instruction that has accessed memory; 0 for others. */
uint64_t vt_conflicts_executions(const struct vt_conflicts *c, uint32_t place);
const struct vt_conflict_totals *vt_conflicts_totals(const struct vt_conflicts *c);

#endif
