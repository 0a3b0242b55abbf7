/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_EVEX_ELEMENT_H
#define VT_MACHINE_LIFT_EVEX_ELEMENT_H

#include "machine/lift/evex.h"
#include "machine/lift/fastop.h"

/* Elements of 1, 2, 4 or 8 bytes of vectors.  Private to this folder. */

static inline struct vt_word vti_element_get(const struct vt_word *v, unsigned i, unsigned size)
{
	if (size == 8)
		return v[i];
	return vti_fast_field(v[i * size / 8], 8 * (i * size % 8), 8 * size);
}

static inline void vti_element_put(struct vt_word *v, unsigned i, unsigned size, struct vt_word w)
{
	struct vt_word *to = &v[i * size / 8];
	unsigned at = 8 * (i * size % 8);
	uint64_t place = vt_low_bits(8 * size) << at;

	to->value = (to->value & ~place) | (w.value << at & place);
	to->known = (to->known & ~place) | (w.known << at & place);
}

/* Computes the families that move elements; `out` is zeros before. */
void vti_evex_arrange(const struct vti_evex *e, const struct vt_word in[][VTI_ZMM_WORDS],
		      struct vt_word out[VTI_ZMM_WORDS]);

#endif
