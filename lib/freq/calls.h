/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_CALLS_H
#define VT_FREQ_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "freq/freq.h"
#include "image/images.h"

/*
 * How often each procedure of an image is called: the summed frequencies of the direct calls and
 * jumps in the procedures that were analysed.  For a stub of the procedure linkage table this is
 * its number of executions, since nothing else leads there.
 */
struct vt_freqcalls {
	struct vt_hash targets;
};

void vt_freqcalls_init(struct vt_freqcalls *c);
void vt_freqcalls_fini(struct vt_freqcalls *c);

/* Removes all calls, before the next image. */
void vt_freqcalls_clear(struct vt_freqcalls *c);

/* What is asked for a procedure's instructions, and the answer that holds from `from` to `to`. */
struct vti_freq_owner {
	const struct vt_symbols *symbols; /* may be NULL */
	const struct vt_procflow *flow;
	uint64_t from;
	uint64_t to;
	bool own;
};

/*
 * Whether the instruction at `addr` belongs to a procedure.  Code below a symbol that begins in
 * the procedure and ends behind it belongs to that symbol.
 */
bool vti_freq_is_own(struct vti_freq_owner *o, uint64_t addr);

/* The target of a direct call, or of a direct jump or branch out of the procedure; false: none. */
bool vti_freq_leads_away(const struct vt_elf *elf, const struct vt_cfg *g, uint32_t insn,
			 uint64_t *vaddr);

/*
 * Adds a procedure and the calls in its own code, which has ops.  `symbols` may be NULL.
 * -VT_E_NOMEM.
 */
int vt_freqcalls_add(struct vt_freqcalls *c, struct vt_images *images,
		     const struct vt_symbols *symbols, const struct vt_procflow *f,
		     const struct vt_freqs *freqs, struct vt_error *err);

/* The calls of the procedure that begins at `vaddr`; executions are negative if there are none. */
struct vt_freq_measure vt_freqcalls_of(const struct vt_freqcalls *c, uint64_t vaddr);

/* Direct calls by whether they agree with how often what they call was entered. */
struct vt_freqcalls_sums {
	double compared;
	double disagree;
};

/*
 * Adds the calls of the image that can be compared: of a procedure with estimates that is entered
 * by direct calls and jumps alone, of known frequencies, as far as is known.  Its address is in no
 * data of its file, and no code that was added computes it.  They disagree if the interval of their
 * sum, of 95 % as the others, has nothing in common with that of the procedure's entry.
 */
void vt_freqcalls_compare(const struct vt_freqcalls *c, struct vt_images *images, uint32_t image,
			  struct vt_freqcalls_sums *sums);

#endif
