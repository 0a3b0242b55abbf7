/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TESTS_UNIT_FLOW_FLOWSTATES_H
#define TESTS_UNIT_FLOW_FLOWSTATES_H

/* States of registers and memory on the way to an indirect jump, and values in them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "flow/state_internal.h"

#define M16 UINT64_C(0xffff)
#define M32 UINT64_C(0xffffffff)
#define M64 UINT64_MAX

#define TABLE	  UINT64_C(0x402000)
#define TABLE_END UINT64_C(0x403000)

#define BIG UINT64_C(0xffffffff) /* indexes of which nothing is known */

static inline bool is_constant(void *arg, uint64_t vaddr)
{
	(void)arg;
	return (vaddr >= TABLE && vaddr < TABLE_END) || vaddr == 63 || vaddr == 64;
}

/* The word at TABLE + 0x10 is its own address plus its size, others are not known. */
static inline bool read_word(void *arg, uint64_t vaddr, unsigned size, uint64_t *value)
{
	(void)arg;
	*value = vaddr + size;
	return vaddr == TABLE + 0x10;
}

static const struct vti_memory memory = {NULL, is_constant, read_word};

/* lo, lo + stride, ... hi. */
static inline struct vti_value range(uint64_t sym, uint64_t lo, uint64_t hi, uint64_t stride)
{
	struct vti_value v = vti_value_unknown(sym);

	v.lo = lo;
	v.hi = hi;
	v.stride = stride;
	return v;
}

static inline struct vti_value at(uint64_t sym, uint64_t off, unsigned width)
{
	struct vti_value v = vti_value_range(sym, vti_mask(width));

	v.off = off;
	v.width = (uint8_t)width;
	return v;
}

static inline struct vti_value an_entry(uint64_t lo, unsigned size)
{
	struct vti_value v = range(0, lo, lo + 7 * size, size);

	v.entry = true;
	v.size = (uint8_t)size;
	return v;
}

static inline void expect_range(const struct vti_value *v, uint64_t lo, uint64_t hi,
				uint64_t stride)
{
	assert_int_equal(v->lo, lo);
	assert_int_equal(v->hi, hi);
	assert_int_equal(v->stride, stride);
}

static inline struct vti_flowstate fresh(void)
{
	struct vti_flowstate s;

	vti_flowstate_start(&s);
	return s;
}

#endif
