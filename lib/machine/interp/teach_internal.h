/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_TEACH_INTERNAL_H
#define VT_MACHINE_INTERP_TEACH_INTERNAL_H

#include "machine/lift/inverse.h"

/* What the halves of teaching share: from results to operands, and from operands to state. */

#define VTI_LESSON_FACTS 32   /* words that one lesson can teach; others are let go */
#define VTI_LESSON_SLOTS 4096 /* of blocks with more slots, only those can be taught */

/* What is taught of a slot, as long as it holds the same temporary. */
struct vti_fact {
	uint16_t slot;
	bool open;     /* its definition has not been met */
	uint32_t from; /* the operation that defines it, once that was met */
	uint32_t to;   /* the next one that writes the slot, or the exit */
	struct vt_word word;
};

/*
 * A walk from an exit backwards.  Temporaries share slots, so what a slot holds at the exit is not
 * what an earlier operation had there when another one has written it since.
 */
struct vti_lesson {
	struct vti_block *block;
	uint32_t exit;
	uint32_t at; /* the operation that is being looked at */
	struct vti_fact facts[VTI_LESSON_FACTS];
	unsigned nfacts;
	unsigned nopen;
	bool wrong;				 /* what was known says otherwise */
	struct vt_word result[4];		 /* of the operation at hand */
	uint64_t written[VTI_LESSON_SLOTS / 64]; /* slots that were, since */
};

/* What is known of a slot in front of the operation at hand.  VTI_NO_SLOT is the number 0. */
struct vt_word vti_lesson_word(const struct vti_lesson *l, unsigned slot);

/* It has these bits of `value`. */
void vti_lesson_learn(struct vti_lesson *l, unsigned slot, uint64_t value, uint64_t known);

/* From the result of the operation at hand, an operator or a helper's call, to its operands. */
void vti_lesson_operator(struct vti_lesson *l, const struct vti_op *op);
void vti_lesson_call(struct vti_lesson *l, const struct vti_call *call);

/*
 * Numbers of n bits in two slots are equal or not; the first is less than (or equal to) the second
 * or not.
 */
void vti_lesson_equal(struct vti_lesson *l, unsigned a, unsigned b, unsigned n, bool equal);
void vti_lesson_less(struct vti_lesson *l, unsigned a, unsigned b, unsigned n, bool is_signed,
		     bool or_equal, bool holds);

#endif
