/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_DECODE_LAZY_H
#define FORMATS_PT_DECODE_LAZY_H

#include "formats/pt/decode/walk.h"

/*
 * The lazy state of a walk (walk.h) as a value: one walk can continue where another one stopped.
 */
struct vti_pt_lazy {
	const uint8_t *pos;
	const uint8_t *sync; /* the PSB where decoding began: no earlier one is tried */
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

	/* Return addresses, the newest last. */
	uint32_t high; /* the most that there have been */
	uint32_t nreturns;
	uint64_t returns[VTI_PT_RETURNS];
};

void vti_pt_lazy_get(const struct vti_pt_walk *w, struct vti_pt_lazy *s);
void vti_pt_lazy_set(struct vti_pt_walk *w, const struct vti_pt_lazy *s);

/*
 * Restarts a walk at the first PSB at or after `at`.  Only its clock knows earlier packets: those
 * from `warm` on.
 */
void vti_pt_lazy_restart(struct vti_pt_walk *w, const uint8_t *warm, const uint8_t *at);

/*
 * A walk began at a PSB without knowing the trace before, and went from the state `from` to the
 * state `to`.  In `from`, `high` has been set to nreturns.  Returns true if a walk in the state
 * *now would have given the same output, provided that it returned only to addresses that it
 * pushed. *now is then the state after it, and *cycles has to be added to all cycle counts in the
 * output.
 */
bool vti_pt_lazy_join(struct vti_pt_lazy *now, const struct vti_pt_lazy *from,
		      const struct vti_pt_lazy *to, uint64_t *cycles);

#endif
