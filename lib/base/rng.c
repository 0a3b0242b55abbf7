/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/rng.h"

#include <assert.h>

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

void vt_rng_init(struct vt_rng *r, uint64_t seed)
{
	int i;

	for (i = 0; i < 4; i++) {
		uint64_t z = seed += 0x9e3779b97f4a7c15u;

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
		r->s[i] = z ^ (z >> 31);
	}
}

uint64_t vt_rng_next(struct vt_rng *r)
{
	uint64_t *s = r->s;
	uint64_t out = rotl(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return out;
}

uint64_t vt_rng_below(struct vt_rng *r, uint64_t bound)
{
	uint64_t min, x;

	assert(bound > 0);
	/* Numbers below 2^64 mod `bound` would make small results more likely: reject them. */
	min = (0 - bound) % bound;
	do {
		x = vt_rng_next(r);
	} while (x < min);
	return x % bound;
}
