/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CONFLICT_REPLAY_INTERNAL_H
#define VT_CONFLICT_REPLAY_INTERNAL_H

#include "base/hash.h"
#include "conflict/replay.h"
#include "interpret/interpret.h"
#include "machine/insn/access.h"
#include "profile/profile.h"

/*
 * Symbolic addresses, for accesses with unknown addresses.  An unknown value that a register had at
 * some time has a symbol, and an address is a symbol and an offset.
 */
#define VTI_BASED 24 /* VT_REG_AX to VT_REG_R15, with unused numbers among them */

struct vti_based {
	uint64_t symbol; /* from 1 on */
	uint64_t offset;
};

struct vti_bases {
	struct vti_based regs[VTI_BASED];
	uint64_t next;
	struct vt_hash pairs; /* symbols of a base and an index */
};

/* A memory operand; its base is VT_REG_NONE if it has no symbolic address. */
struct vti_base_operand {
	uint8_t base;
	uint8_t index; /* VT_REG_NONE: it has none */
	uint8_t scale;
	int64_t displacement;
};

/* Effect of an instruction: `to` becomes `from` + `step`; the others of `lost` get new symbols. */
struct vti_base_code {
	uint32_t lost;
	uint8_t to; /* VT_REG_NONE: none */
	uint8_t from;
	int64_t step;
};

void vti_bases_init(struct vti_bases *b);
void vti_bases_fini(struct vti_bases *b);

/* Begins a run: each register gets a new symbol. */
void vti_bases_begin(struct vti_bases *b);

void vti_bases_operand(const struct vt_facts *f, bool store, struct vti_base_operand *o);
void vti_bases_make(struct vti_base_code *c, const struct vt_facts *f);

/* Sets an access's base and address if the operand has one.  Returns false without memory. */
bool vti_bases_find(struct vti_bases *b, const struct vti_base_operand *o, struct vt_access *a);

/* Applies the effect of an executed instruction. */
void vti_bases_step(struct vti_bases *b, const struct vti_base_code *c);

/* An instruction's place: the key has no padding. */
struct vti_place {
	uint64_t offset;
	uint32_t image;
	uint32_t pid; /* of code in no image, else 0 */
};

/* The decoded instructions and accesses of a block. */
struct vti_block {
	struct vt_conflict_code *code;	  /* of each instruction */
	struct vt_access_slots *accesses; /* in the order of instructions */
	size_t naccesses;
	size_t accesses_cap;
	size_t most; /* of one instruction */
};

/* A pair of instructions in the output. */
struct vti_replay_pair {
	uint32_t image; /* id, or VT_UNMAPPED_IMAGE; the later instruction */
	uint32_t earlier_image;
	uint64_t offset;
	uint64_t earlier;
	enum vt_conflict type;
	uint64_t count;
	uint64_t executions;
	uint64_t distance;
	uint64_t nearest;
	uint64_t samples;
};

struct vt_replay {
	struct vt_replay_options o;
	struct vt_conflicts *conflicts;
	struct vt_context *context;
	struct vt_profile *profile;
	struct vt_interpret *interpret[VT_REPLAY_NSOURCES]; /* those that may be needed, or NULL */
	struct vt_hash places;
	struct vt_hash insns; /* that were interpreted */
	struct vti_bases bases;
	enum vt_replay_source source;
	bool has_addresses;	  /* a block has, that is */
	struct vti_block *blocks; /* by id */
	size_t nblocks;
	struct vt_access *accesses; /* of the instruction at hand */
	size_t accesses_cap;
	/* Where the last run ended. */
	bool runs;
	int64_t pid;
	int64_t tid;
	uint64_t next;
	struct vti_replay_pair *pairs; /* by image, offset, type and distance */
	size_t npairs;
	struct vt_replay_totals totals;
};

#endif
