/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_MACHINE_LIFT_IROPS_H
#define TESTS_UNIT_MACHINE_LIFT_IROPS_H

#include "base/rng.h"
#include "machine/lift/irop.h"

/* Operators and operands for the tests of operators. */

#define IROPS_WORDS 4

/* A number of that type (IRType), in known words; zeros above its width. */
void irops_random(struct vt_rng *rng, int type, struct vt_word *w);

/*
 * The function of an operator: what the interpreter's loop computes for those of fastop.def, else
 * vti_irop_find()'s.  NULL: there is none.
 */
const struct vti_irop *irops_find(unsigned irop);

/* The bits that a number of that type has. */
unsigned irops_bits(int type);

#endif
