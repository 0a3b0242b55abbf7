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
 * How often the procedures of an image are called, by the frequencies of the direct calls and jumps
 * of those that were analysed.  For a stub of the procedure linkage table that is how often it was
 * executed: nothing else leads there.
 */
struct vt_freqcalls {
	struct vt_hash targets;
};

void vt_freqcalls_init(struct vt_freqcalls *c);
void vt_freqcalls_fini(struct vt_freqcalls *c);

/* Forgets all: another image begins. */
void vt_freqcalls_clear(struct vt_freqcalls *c);

/*
 * Adds the calls of a procedure; of code in it that is another symbol's, by `symbols` (NULL: none
 * is), it is for that one to tell.  -VT_E_NOMEM.
 */
int vt_freqcalls_add(struct vt_freqcalls *c, struct vt_images *images,
		     const struct vt_symbols *symbols, const struct vt_procflow *f,
		     const struct vt_freqs *freqs, struct vt_error *err);

/* Calls of the procedure that begins at `vaddr`; executions are negative if none was seen. */
struct vt_freq_entries vt_freqcalls_of(const struct vt_freqcalls *c, uint64_t vaddr);

#endif
