/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cpuid.h>
#include <stddef.h>
#include <string.h>

#include "cmd/agent/agent.h"
#include "cmd/agent/walk.h"

/*
 * Where a signal frame has the vector registers: the legacy area of FXSAVE, whose last bytes tell
 * what follows (asm/sigcontext.h, struct _fpx_sw_bytes), then the header of XSAVE and its
 * components in the standard format, at the offsets that CPUID leaf 0DH tells (Intel SDM volume 1,
 * chapter 13).
 */
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

	start->xmm = fx ? fx + FXSAVE_XMM : NULL;
	start->ymm_high = fx ? find_component(fx, YMM_HIGH) : NULL;
	start->zmm_high = fx ? find_component(fx, ZMM_HIGH) : NULL;
	start->hi_zmm = fx ? find_component(fx, HI_ZMM) : NULL;
	start->kmask = fx ? find_component(fx, KMASK) : NULL;
}
