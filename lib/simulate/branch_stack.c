/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/internal.h"

/* Of struct perf_branch_entry, linux/perf_event.h. */
#define FLAG_MISPREDICTED (1u << 0)
#define FLAG_PREDICTED	  (1u << 1)
#define CYCLES_SHIFT	  4
#define CYCLES_MAX	  0xffffu

void vti_simstack_push(struct vti_simstack *k, const struct vti_simbranch *b)
{
	if (k->size)
		k->branches[k->count++ % k->size] = *b;
}

/* The one before the newest by `back`. */
static const struct vti_simbranch *at(const struct vti_simstack *k, uint64_t back)
{
	return &k->branches[(k->count - 1 - back) % k->size];
}

/* Of the oldest one, it is not known any more how long it took to come there. */
static uint64_t cycles(const struct vti_simstack *k, uint64_t back, uint64_t n)
{
	uint64_t since = back + 1 < n ? at(k, back)->cycle - at(k, back + 1)->cycle : 0;

	return since < CYCLES_MAX ? since : CYCLES_MAX;
}

void vti_simstack_write(const struct vti_simstack *k, struct vt_writer *w)
{
	uint64_t from[VT_SIMULATE_STACK], to[VT_SIMULATE_STACK], flags[VT_SIMULATE_STACK];
	size_t n = k->count < k->size ? k->count : k->size, i;

	for (i = 0; i < n; i++) {
		const struct vti_simbranch *b = at(k, i);

		from[i] = b->from;
		to[i] = b->to;
		flags[i] = (b->mispredicted ? FLAG_MISPREDICTED : FLAG_PREDICTED) |
			   cycles(k, i, n) << CYCLES_SHIFT;
	}
	vt_writer_words(w, VT_SAMPLE_BR_FROM, from, n);
	vt_writer_words(w, VT_SAMPLE_BR_TO, to, n);
	vt_writer_words(w, VT_SAMPLE_BR_FLAGS, flags, n);
}
