/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_BASE_RNG_H
#define VT_BASE_RNG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The random number generator xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom
 * number generators", 2018).  As its authors recommend, splitmix64 fills the state from the seed.
 * The same seed gives the same numbers on every machine.
 */
struct vt_rng {
	uint64_t s[4];
};

void vt_rng_init(struct vt_rng *r, uint64_t seed);
uint64_t vt_rng_next(struct vt_rng *r);

/* Returns a number below `bound`, uniformly distributed without bias; `bound` > 0. */
uint64_t vt_rng_below(struct vt_rng *r, uint64_t bound);

#ifdef __cplusplus
}
#endif
#endif
