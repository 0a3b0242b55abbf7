/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_MACHINE_LIFT_IROPS_H
#define TESTS_UNIT_MACHINE_LIFT_IROPS_H

#include "base/rng.h"
#include "machine/lift/irop.h"

/* Operands for the tests of operators. */

#define IROPS_WORDS 4

/* A number of that type (IRType), in known words; zeros above its width. */
void irops_random(struct vt_rng *rng, int type, struct vt_word *w);

/* The bits that a number of that type has. */
unsigned irops_bits(int type);

#endif
