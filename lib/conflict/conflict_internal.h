/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CONFLICT_CONFLICT_INTERNAL_H
#define VT_CONFLICT_CONFLICT_INTERNAL_H

#include "conflict/conflict.h"

/*
 * What registers and stored bytes depend on: sets of instructions of the window.  Instruction
 * number n, counted from the beginning of the run, is bit n % 64 of word n / 64 % words; a word is
 * cleared in all registers when it is used anew.
 */
#define VTI_MAX_WORDS 16

/* Sets are joined four words at a time. */
#define VTI_FOUR 4
typedef uint64_t vti_four __attribute__((vector_size(VTI_FOUR * sizeof(uint64_t))));

/* Sets begin cache lines of the host, so that no four words lie in two. */
#define VTI_HOST_LINE 64

struct vti_set {
	_Alignas(VTI_HOST_LINE) union {
		uint64_t w[VTI_MAX_WORDS];
		vti_four v[VTI_MAX_WORDS / VTI_FOUR];
	};
};

/* The data in the window of an instruction that accessed memory. */
struct vti_past {
	struct vti_set data;	     /* accesses that the stored data depends on */
	struct vti_set data_late;    /* accesses that end before the stored data is known */
	struct vti_set address_late; /* accesses that end before the store's address is known */
};

/* A cache line of memory, and the last instruction that loaded from it. */
struct vti_line {
	uint64_t line;
	uint64_t number;
	bool used;
};

#define VTI_LINES     256
#define VTI_LINE_SIZE 64

struct vti_depends {
	uint64_t window; /* instructions; those before it have been executed */
	unsigned words;	 /* a power of 2, at least VTI_FOUR */
	uint64_t number; /* of the instruction at hand */
	struct vti_set access[VT_NREGS];
	struct vti_set late[VT_NREGS];
	struct vti_past *past; /* 64 * words of them, by number */
	struct vti_line lines[VTI_LINES];

	/* Sets of accesses for the current instruction: */
	struct vti_set load_access; /* the addresses of its loads depend on these */
	struct vti_set load_late;   /* the addresses of its loads wait for these */
	struct vti_set store_late;  /* the addresses of its stores wait for these */
	struct vti_set all_access;  /* it depends on these, other than through its loads */
	struct vti_set all_late;
	struct vti_set loaded; /* the loaded values depend on these */
	struct vti_set loaded_late;
	bool loads;
	bool stores;
};

/* `window` is in instructions, at most VT_CONFLICT_MAX_DISTANCE.  Returns false without memory. */
bool vti_depends_init(struct vti_depends *d, uint64_t window);
void vti_depends_fini(struct vti_depends *d);
void vti_depends_begin(struct vti_depends *d);

/*
 * Begins instruction `number`, which is one more than the last, and computes the sets of its
 * operands.  `memory`: it has accesses.
 */
void vti_depends_open(struct vti_depends *d, uint64_t number, const struct vt_conflict_code *code,
		      bool memory);

/* Adds a load or a store to the current instruction. */
void vti_depends_load(struct vti_depends *d, const struct vt_access *a, bool forwarded);
void vti_depends_store(struct vti_depends *d);

/* Some or all loaded bytes come from the store of instruction `number`. */
void vti_depends_forward(struct vti_depends *d, uint64_t number);

/* Ends the current instruction: sets the accesses that its results depend on. */
void vti_depends_close(struct vti_depends *d, const struct vt_conflict_code *code);

static inline bool vti_set_has(const struct vti_depends *d, const struct vti_set *s,
			       uint64_t number)
{
	return s->w[number / 64 & (d->words - 1)] >> number % 64 & 1;
}

/*
 * Returns whether a load of the current instruction may be executed before the address of the store
 * of instruction `number` is known.
 */
bool vti_depends_may_pass(const struct vti_depends *d, uint64_t number);

#endif
