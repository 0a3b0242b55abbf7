/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cpuid.h>
#include <stddef.h>
#include <string.h>

#include "cmd/agent/agent.h"
#include "cmd/walker/walk.h"

/*
 * Where a signal frame has the vector registers: the legacy area of FXSAVE, whose last bytes tell
 * what follows (asm/sigcontext.h, struct _fpx_sw_bytes), then the header of XSAVE and its
 * components in the standard format, at the offsets that CPUID leaf 0DH tells (Intel SDM volume 1,
 * chapter 13).
 */
#define FXSAVE_MXCSR 24
#define FXSAVE_XMM   160
#define SW_MAGIC_AT  464
#define SW_MAGIC     0x46505853u
#define SW_SIZE_AT   480 /* u32 xstate_size */
#define XSTATE_BV_AT 512

enum agent_component { YMM_HIGH = 2, KMASK = 5, ZMM_HIGH = 6, HI_ZMM = 7, NCOMPONENTS };

static struct {
	uint32_t offset;
	uint32_t size;
} components[NCOMPONENTS];

void agent_find_xstate(void)
{
	static const uint8_t all[] = {YMM_HIGH, KMASK, ZMM_HIGH, HI_ZMM};
	unsigned a, b, c, d, i;

	for (i = 0; i < sizeof(all); i++) {
		if (!__get_cpuid_count(13, all[i], &a, &b, &c, &d))
			return;
		components[all[i]].size = a;
		components[all[i]].offset = b;
	}
}

static uint32_t read_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* A component; NULL: the frame does not have it, since it is all zero. */
static const uint8_t *find_component(const uint8_t *fx, unsigned i)
{
	if (read_u32(fx + SW_MAGIC_AT) != SW_MAGIC || !components[i].size ||
	    components[i].offset + components[i].size > read_u32(fx + SW_SIZE_AT) ||
	    !(read_u32(fx + XSTATE_BV_AT) >> i & 1))
		return NULL;
	return fx + components[i].offset;
}

void agent_get_vectors(struct walk_start *start, const void *fpregs)
{
	const uint8_t *fx = fpregs;

	start->mxcsr = 0;
	if (fx)
		memcpy(&start->mxcsr, fx + FXSAVE_MXCSR, sizeof(start->mxcsr));
	start->xmm = fx ? fx + FXSAVE_XMM : NULL;
	start->ymm_high = fx ? find_component(fx, YMM_HIGH) : NULL;
	start->zmm_high = fx ? find_component(fx, ZMM_HIGH) : NULL;
	start->hi_zmm = fx ? find_component(fx, HI_ZMM) : NULL;
	start->kmask = fx ? find_component(fx, KMASK) : NULL;
}

/* ---- of a sample ---- */

#define LOW_VECTORS 0xffffU

unsigned agent_most_state(const struct walk *w)
{
	unsigned low = w->wide ? (unsigned)__builtin_popcount(w->vec_loaded & LOW_VECTORS) : 0;

	return 6 * low + 8 * (unsigned)__builtin_popcount(w->vec_loaded >> 16) +
	       (unsigned)__builtin_popcount(w->kmask_loaded);
}

static void put_entry(uint8_t *to, unsigned reg, unsigned lane, uint64_t value)
{
	uint64_t at = 8 * (uint64_t)reg + lane;

	memcpy(to, &at, sizeof(at));
	memcpy(to + 8, &value, sizeof(value));
}

/* The entries of a register: those that are not zero, or its first; `bytes` NULL: all are. */
static unsigned put_lanes(uint8_t *to, unsigned reg, unsigned lane, const uint8_t *bytes,
			  unsigned lanes, bool first)
{
	unsigned i, n = 0;

	for (i = 0; i < lanes; i++) {
		uint64_t value = 0;

		if (bytes)
			memcpy(&value, bytes + 8 * (size_t)i, sizeof(value));
		if (value || (first && i == 0))
			put_entry(to + 16 * (size_t)n++, reg, lane + i, value);
	}
	return n;
}

static const uint8_t *at_or_null(const uint8_t *base, unsigned i, size_t size)
{
	return base ? base + i * size : NULL;
}

unsigned agent_put_state(uint8_t *to, const struct walk *w, const struct walk_start *start)
{
	uint32_t masks = w->kmask_loaded, vectors = w->vec_loaded;
	unsigned n = 0, i;

	if (!w->wide)
		vectors &= ~LOW_VECTORS;
	for (; masks; masks &= masks - 1) {
		i = (unsigned)__builtin_ctz(masks);
		n += put_lanes(to + 16 * (size_t)n, VT_VALUE_SAMPLE_MASK + i, 0,
			       at_or_null(start->kmask, i, 8), 1, true);
	}
	for (; vectors; vectors &= vectors - 1) {
		i = (unsigned)__builtin_ctz(vectors);
		if (i >= 16) {
			n += put_lanes(to + 16 * (size_t)n, VT_VALUE_SAMPLE_VECTOR + i, 0,
				       at_or_null(start->hi_zmm, i - 16, 64), 8, true);
			continue;
		}
		n += put_lanes(to + 16 * (size_t)n, VT_VALUE_SAMPLE_VECTOR + i, 2,
			       at_or_null(start->ymm_high, i, 16), 2, true);
		n += put_lanes(to + 16 * (size_t)n, VT_VALUE_SAMPLE_VECTOR + i, 4,
			       at_or_null(start->zmm_high, i, 32), 4, false);
	}
	return n;
}
