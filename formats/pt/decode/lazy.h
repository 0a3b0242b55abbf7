/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_DECODE_LAZY_H
#define FORMATS_PT_DECODE_LAZY_H

#include "formats/pt/decode/walk.h"

/*
 * The lazy state of a walk (walk.h) as a value: what one walk leaves, another one can go on from.
 */
struct vti_pt_lazy {
	const uint8_t *pos;
	const uint8_t *sync; /* the PSB that all began at: no earlier one is tried */
	uint64_t ip;
	uint64_t last_ip;
	bool has_last_ip;
	bool ip_suppressed;
	bool branched;
	bool has_mode;
	bool has_tsc; /* of struct vti_pt_query */
	bool has_tma;
	uint8_t mode;
	struct vti_pt_cursor cursor;
	struct vti_pt_marked marked;
	struct vti_pt_reported reported;

	/* Return addresses, the newest last; the most that there have been. */
	uint32_t high;
	uint32_t nreturns;
	uint64_t returns[VTI_PT_RETURNS];
};

void vti_pt_lazy_get(const struct vti_pt_walk *w, struct vti_pt_lazy *s);
void vti_pt_lazy_set(struct vti_pt_walk *w, const struct vti_pt_lazy *s);

/*
 * Makes a walk begin at the first PSB at or behind `at`, knowing nothing but what the clock has
 * seen of the packets from `warm` on.
 */
void vti_pt_lazy_restart(struct vti_pt_walk *w, const uint8_t *warm, const uint8_t *at);

/*
 * A walk that began at a PSB without knowing what was before it was in the state `from`, `high`
 * being made the number of return addresses that it had there, and left the state `to`.  Would it
 * have done the same had it come there in the state *now, as long as it returned only to addresses
 * of its own?  If so *now becomes what it would have left, and *cycles is what all that it said of
 * cycles lacks.
 */
bool vti_pt_lazy_join(struct vti_pt_lazy *now, const struct vti_pt_lazy *from,
		      const struct vti_pt_lazy *to, uint64_t *cycles);

#endif
