/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TOOLS_TRUTH_RUN_H
#define TOOLS_TRUTH_RUN_H

#include "base/buf.h"
#include "base/rng.h"
#include "tests/tools/common/accesses.h"
#include "tests/tools/common/shadow.h"
#include "tests/tools/common/truth.h"

/* Interpreters beside a recording: see interp_truth.c. */

/* The ways of running. */
enum way {
	WAY_FOLLOW,   /* along the recording, told what loads read */
	WAY_FREE,     /* with all registers and all memory that the recording tells */
	WAY_VALGRIND, /* the same, by Valgrind's rules */
	WAY_SAMPLE,   /* with what a sample has: general registers and the stack */
	WAY_PART,     /* with some registers and some memory */
	WAY_PATH,     /* the same, along the recording, told nothing */
	NWAYS
};

/* A store within the window, to be undone. */
struct stored {
	uint64_t addr;
	const uint8_t *value;
	uint32_t size;
	size_t old; /* bytes and their marks, in truth.old */
};

struct runner {
	struct truth *truth;
	struct vt_known_memory *mem;
	struct vt_interp *m;
};

struct truth {
	int64_t pid, tid; /* whose registers the follower has */
	struct shadow *memory, *code;
	struct vt_known_memory *known; /* the follower's memory */
	struct vt_interp *follower;
	struct registers recorded;
	struct runner runners[NWAYS];
	struct tally tallies[NWAYS];
	struct vt_rng rng;
	uint64_t countdown; /* instructions up to the next window */
	uint64_t falsify;   /* one result in so many is made wrong, or 0 */
	uint64_t falsified;
	struct vt_capture *false_captures;
	size_t false_cap;

	/* the step at hand, for hooks */
	const struct vt_step *step;
	struct access *accesses;
	size_t naccesses, accesses_cap;
	bool *taken;
	size_t taken_cap;
	uint32_t guard_insn, guards; /* how many guards of which instruction were asked for */

	/* the window */
	bool open;
	bool spoilt; /* code has changed within it */
	enum way way;
	uint64_t length, insns;
	size_t first; /* step */
	struct registers start, start_recorded;
	struct stored *stored;
	size_t nstored, stored_cap;
	struct vt_buf old;
	uint64_t secret; /* by which parts are hidden */
};

bool truth_init(struct truth *t, uint64_t seed, struct vt_error *err);
void truth_fini(struct truth *t);

/* Where a step begins. */
uint64_t truth_addr(const struct vt_step *s);

/* Steps of one thread, one after the other; `next` is where they lead, or 0.  May split them. */
void truth_steps(struct truth *t, struct vt_step *steps, size_t n, uint64_t next);

void truth_forget_code(struct truth *t, int64_t pid);

/* ---- what interpreters ask (interp.h, known_memory.h); arg: struct truth, of truth_fill struct
 * runner
 * ---- */

size_t truth_fetch(void *arg, uint64_t space, uint64_t addr, uint8_t *bytes, size_t size);
void truth_load(void *arg, uint32_t insn, struct vt_word addr, unsigned size,
		struct vt_word *words);
void truth_state(void *arg, uint32_t insn, unsigned offset, unsigned size, struct vt_word *words);
bool truth_guard(void *arg, uint32_t insn, bool *done);
uint64_t truth_fill(void *arg, uint64_t addr, uint8_t bytes[VT_KNOWN_LINE], bool lasting);

/* Takes code that is in no file's mapping, or is other than it was. */
void truth_learn_code(struct truth *t, const struct vt_bblock *b);

/* False when there was a difference, or nothing to compare. */
bool truth_report(const struct truth *t, bool verbose);

#endif
