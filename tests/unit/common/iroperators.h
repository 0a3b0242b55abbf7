/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_COMMON_IROPERATORS_H
#define TESTS_UNIT_COMMON_IROPERATORS_H

#include <stddef.h>
#include <stdint.h>

/* The operators from whose results operands follow. */

/* Operators: bits of operands and of the result, and how they compute. */
struct operator
{
	uint16_t irop;
	uint8_t a, b, to; /* b 0: one operand */
	char how;
};

#define IROPERATORS 112

extern const struct operator iroperators[IROPERATORS];

uint64_t iroperator_compute(const struct operator* o, uint64_t a, uint64_t b);

/* The lowest `bits` bits of a number, with their sign. */
int64_t iroperator_signed(uint64_t v, unsigned bits);

#endif
