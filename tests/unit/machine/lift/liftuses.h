/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_MACHINE_LIFT_LIFTUSES_H
#define TESTS_UNIT_MACHINE_LIFT_LIFTUSES_H

/* Which slots the operations of lifted code read and write, from what machine/lift/flat.h says. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <libvex_basictypes.h>
#include <libvex_ir.h>

#include "machine/lift/flat.h"

struct uses {
	struct {
		unsigned slot, words;
	} read[20], written[4];
	unsigned nread, nwritten;
};

static inline void reads(struct uses *u, unsigned slot, unsigned words)
{
	if (slot != VTI_NO_SLOT && words) {
		u->read[u->nread].slot = slot;
		u->read[u->nread++].words = words;
	}
}

static inline void writes(struct uses *u, unsigned slot, unsigned words)
{
	if (slot != VTI_NO_SLOT && words) {
		u->written[u->nwritten].slot = slot;
		u->written[u->nwritten++].words = words;
	}
}

static inline unsigned words_of(IRType type)
{
	return type == Ity_INVALID ? 0
	       : type == Ity_I1	   ? 1
				   : ((unsigned)sizeofIRType(type) + 7) / 8;
}

static inline void operator_uses(const struct vti_op *op, struct uses *u)
{
	IRType dst, a, b, c, d;

	typeOfPrimop((IROp)op->aux, &dst, &a, &b, &c, &d);
	reads(u, op->a, words_of(a));
	reads(u, op->b, words_of(b));
	reads(u, op->c, words_of(c));
	reads(u, op->d, words_of(d));
	writes(u, op->dst, words_of(dst));
}

static inline void call_uses(const struct vti_call *c, struct uses *u)
{
	unsigned i;

	for (i = 0; i < c->nargs; i++)
		reads(u, c->args[i], 1);
	reads(u, c->guard, 1);
	reads(u, c->address, 1);
	writes(u, c->dst, (c->result_size + 7u) / 8);
}

static inline void guarded_uses(const struct vti_guarded *g, struct uses *u)
{
	reads(u, g->address, 1);
	reads(u, g->guard, 1);
	reads(u, g->value, g->size > 8 ? g->size / 8u : 1);
	writes(u, g->dst, g->size > 8 ? g->size / 8u : 1);
}

static inline void swap_uses(const struct vti_cas *c, struct uses *u)
{
	unsigned i;

	reads(u, c->address, 1);
	for (i = 0; i < 2; i++) {
		reads(u, c->expected[i], 1);
		reads(u, c->data[i], 1);
		writes(u, c->old[i], 1);
	}
}

static inline unsigned sized_words(unsigned op, unsigned first)
{
	return op < first + 4 ? 1 : op == first + 4 ? 2 : 4;
}

static inline void find_uses(const struct vti_op *op, struct uses *u)
{
	unsigned o = op->op;

	u->nread = u->nwritten = 0;
	if (o >= VTI_FAST || o == VTI_IROP) {
		operator_uses(op, u);
	} else if (o >= VTI_GET1 && o <= VTI_GET32) {
		writes(u, op->dst, sized_words(o, VTI_GET1));
	} else if (o >= VTI_PUT1 && o <= VTI_PUT32) {
		reads(u, op->a, sized_words(o, VTI_PUT1));
	} else if (o >= VTI_LOAD1 && o <= VTI_LOAD32) {
		reads(u, op->a, 1);
		writes(u, op->dst, sized_words(o, VTI_LOAD1));
	} else if (o >= VTI_STORE1 && o <= VTI_STORE32) {
		reads(u, op->a, 1);
		reads(u, op->b, sized_words(o, VTI_STORE1));
	} else if (o >= VTI_MOVE1 && o <= VTI_MOVE4) {
		reads(u, op->a, 1u << (o - VTI_MOVE1));
		writes(u, op->dst, 1u << (o - VTI_MOVE1));
	} else if (o == VTI_ITE) {
		reads(u, op->a, 1);
		reads(u, op->b, op->aux);
		reads(u, op->c, op->aux);
		writes(u, op->dst, op->aux);
	} else if (o == VTI_GETI || o == VTI_PUTI) { /* of x87: elements of one word */
		reads(u, op->a, 1);
		reads(u, op->b, o == VTI_PUTI);
		writes(u, op->dst, o == VTI_GETI);
	} else if (o == VTI_UNKNOWN) {
		writes(u, op->dst, (op->aux + 7u) / 8);
	} else if (o == VTI_CCALL || o == VTI_DIRTY) {
		call_uses(op->data, u);
	} else if (o == VTI_CAS) {
		swap_uses(op->data, u);
	} else if (o == VTI_LOADG || o == VTI_STOREG) {
		guarded_uses(op->data, u);
	} else if (o == VTI_CAPTURE) {
		reads(u, op->a, (op->c + 7u) / 8);
	} else if (o == VTI_END || o == VTI_EXIT) {
		reads(u, op->a, 1);
		if (o == VTI_EXIT && op->d != VTI_EXIT_OTHER) {
			reads(u, op->b, 1);
			reads(u, op->c, 1);
		}
	}
}

static inline bool has_effects(unsigned op)
{
	return !(op >= VTI_FAST || (op >= VTI_GET1 && op <= VTI_GET32) ||
		 (op >= VTI_MOVE1 && op <= VTI_GETI) || op == VTI_IROP || op == VTI_UNKNOWN ||
		 op == VTI_CCALL);
}

/*
 * Each slot that is read is a constant or was written before, nothing is computed that nobody
 * reads, and no slot is there for nothing.
 */
static inline void check_uses(const struct vti_block *b)
{
	/* What is in a slot is known, and wanted: from the front, and from behind. */
	bool *full = calloc(b->nslots + 1, sizeof(*full));
	bool *wanted = calloc(b->nslots + 1, sizeof(*wanted));
	bool *used = calloc(b->nslots + 1, sizeof(*used));
	struct uses u;
	uint32_t i;
	unsigned k, w;

	assert_true(full && wanted && used);
	memset(full, 1, b->nconstants);
	for (i = 0; i < b->nops; i++) {
		find_uses(&b->ops[i], &u);
		for (k = 0; k < u.nread; k++)
			for (w = 0; w < u.read[k].words; w++) {
				assert_true(u.read[k].slot + w < b->nslots);
				assert_true(full[u.read[k].slot + w]);
				used[u.read[k].slot + w] = true;
			}
		for (k = 0; k < u.nwritten; k++)
			for (w = 0; w < u.written[k].words; w++) {
				assert_in_range(u.written[k].slot + w, b->nconstants,
						b->nslots - 1);
				full[u.written[k].slot + w] = true;
				used[u.written[k].slot + w] = true;
			}
	}
	while (i-- > 0) {
		bool needed = has_effects(b->ops[i].op);

		find_uses(&b->ops[i], &u);
		for (k = 0; k < u.nwritten; k++)
			for (w = 0; w < u.written[k].words; w++) {
				needed |= wanted[u.written[k].slot + w];
				wanted[u.written[k].slot + w] = false;
			}
		assert_true(needed);
		for (k = 0; k < u.nread; k++)
			memset(wanted + u.read[k].slot, 1, u.read[k].words);
	}
	for (i = 0; i < b->nslots; i++)
		assert_true(used[i] || i < b->nconstants);
	free(full);
	free(wanted);
	free(used);
}

#endif
