/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_VALUE_COLLECT_INTERNAL_H
#define VT_VALUE_COLLECT_INTERNAL_H

#include "base/hash.h"
#include "flow/callstack.h"
#include "image/addrspace.h"
#include "stream/bblock.h"
#include "value/collect.h"

/* A place in the numbering of the sites. */
struct place {
	uint64_t offset;
	uint32_t image;
};

/* Eight bytes, or fewer, of a slot, and the list that gets them. */
struct take {
	struct vt_hotlist *list; /* NULL: nobody wants it, but a guard may be about it */
	uint32_t offset;	 /* in the values of the block */
	uint16_t slot;
	uint8_t unused; /* bits of the eight bytes that are not its */
};

/* The lists of a block, in a context. */
struct plan {
	struct plan *next;
	uint64_t caller;
	struct vt_hotlist *target; /* of the indirect jump or call at its end; or NULL */
	uint32_t ntakes;
	struct take takes[];
};

/* A list of values that belong to a procedure's first instruction. */
struct entry_list {
	uint64_t caller;
	uint32_t what;
	uint32_t reg;
	uint32_t lane;
	struct vt_hotlist *list;
};

/* A block of the stream, once it was executed. */
struct code {
	struct plan *plans; /* the one that was used last comes first */
	uint64_t *part;	    /* for each instruction: executions of parts that begin there, less
			     * those that end before it; or NULL */
	struct place place; /* of its first instruction */
	bool mapped;	    /* it lies in an image */
	bool guarded;	    /* it has guards */
	bool leads;	    /* what comes next matters */
	uint32_t nargs;	    /* values of arguments (lanes) captured at its call */
	struct entry_list *entry;
	uint32_t nentry;
	size_t entry_cap;
};

/* What most executions of a block need, by its id. */
struct quick {
	struct plan *plan; /* NULL: not to be taken quickly */
	uint64_t whole;	   /* executions of all of it */
	uint32_t insns;
	uint32_t data_size;
	struct code *code; /* NULL: it was not executed yet */
};

/* An argument on its way to the procedure called. */
struct pending_arg {
	uint64_t value;
	uint32_t reg;
	uint32_t lane;
	uint32_t size;
};

struct thread {
	int64_t pid; /* with `tid`, the key */
	int64_t tid;
	uint64_t epoch; /* of its process when it ran last */
	struct vt_hotlist *target;
	struct vt_callstack stack; /* by caller only */
	struct pending_arg *args;
	size_t args_cap;
	uint32_t nargs;
	bool called;   /* the last block called, and nothing but a stub has run since */
	uint64_t back; /* the return address of that call */
};

struct process {
	int64_t pid;
	uint64_t next;	/* instructions before the run that continues the last one */
	uint64_t epoch; /* one more each time that the order breaks off */
};

struct vt_collect {
	struct vt_sites *sites;
	struct vt_hotlists *lists;
	struct vt_collect_options options;
	struct vt_collect_stats stats;
	uint32_t instructions; /* the event */

	/* Of the stream at hand. */
	struct vt_addrspace *space;
	struct vt_bblocks *dict;
	struct quick *blocks; /* by id */
	size_t nblocks;
	struct vt_hash images;	  /* id -> number in the sites */
	struct vt_hash processes; /* struct process */
	struct vt_hash threads;	  /* struct thread * by pid, tid */
	struct vt_hash values;	  /* lists of VALUE rows */
};

/* The place of an address; *mapped says if it is known. */
int vti_collect_place(struct vt_collect *c, int64_t pid, uint64_t address, struct place *place,
		      bool *mapped, struct vt_error *err);

/* Says what is wrong with a record, and goes on: 0. */
int vti_collect_damaged(struct vt_collect *c, const struct vt_error *why);

/* The list for a kind of value at a place, called from `caller`.  NULL: -VT_E_NOMEM. */
struct vt_hotlist *vti_collect_list(struct vt_collect *c, const struct place *at, int64_t pid,
				    uint64_t caller, const struct vt_slot *slot, uint32_t lane);

static inline bool vti_collect_wants(const struct vt_collect *c, uint32_t what)
{
	return what < VT_NWHATS && (c->options.what >> what & 1);
}

static inline bool vti_collect_calls(const struct vt_bblock *b)
{
	return b->end == VT_END_CALL || b->end == VT_END_CALL_INDIRECT;
}

static inline uint32_t vti_collect_lanes(const struct vt_slot *slot)
{
	return (slot->size + 7u) / 8;
}

/* Arguments at the call that ends the block go to the procedure called. */
static inline bool vti_collect_passes(const struct vt_bblock *b, const struct vt_slot *slot)
{
	return slot->what == VT_WHAT_ARG && vti_collect_calls(b) && slot->insn + 1u == b->ninsns;
}

/* ---- the lists of a block: value/collect_plan.c ---- */

/* A block that is executed for the first time.  NULL: -VT_E_NOMEM. */
struct quick *vti_collect_add_block(struct vt_collect *c, const struct vt_bblock *b,
				    struct vt_error *err);

/* The plan for a context, which becomes the first of the block's.  NULL: -VT_E_NOMEM. */
struct plan *vti_collect_find_plan(struct vt_collect *c, const struct vt_bblock *b,
				   struct code *code, uint64_t caller, struct vt_error *err);

void vti_collect_free_code(struct code *code);

/* ---- executed blocks: value/collect_exec.c ---- */

int vti_collect_exec(struct vt_collect *c, const struct vt_record *rec, struct vt_error *err);

/* Sums up what was executed, and adds it to the counts of instructions if they are wanted. */
int vti_collect_counts(struct vt_collect *c, bool wanted, struct vt_error *err);

/* The order of a process's instructions breaks off here; pid 0: that of all. */
void vti_collect_break(struct vt_collect *c, int64_t pid);

/* A signal's handler is about to run. */
void vti_collect_signal(struct vt_collect *c, int64_t pid, int64_t tid);

#endif
