/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_FREQ_CHARGE_H
#define VT_FREQ_CHARGE_H

#include <stdint.h>

#include "base/error.h"
#include "freq/freq.h"
#include "machine/pipeline/core.h"
#include "profile/procedure_flow.h"
#include "stream/kinds.h"

/*
 * Which instruction the time of a sample is charged to.  That depends on how the address of the
 * sample was chosen, and on whether the processor retires instructions out of a reorder buffer.
 */
enum vt_charge {
	VT_CHARGE_SELF,	       /* to the instruction at the address */
	VT_CHARGE_PREDECESSOR, /* to the instruction that was executed before it */
};

/*
 * How samples of this policy are charged.  A processor that issues out of order takes an interrupt
 * when the oldest instruction retires, so that the address is that of its successor: on a Zen 5, 96
 * to 98 % of the samples of a load that misses lie on the next instruction.  In order, samples are
 * taken as DCPI's (4.1.2), at the instruction that waits.
 */
enum vt_charge vt_freq_charge_of(enum vt_policy policy, enum vt_order order);

/*
 * Charges samples, and the periods that they stand for, in place; both are by instruction of the
 * graph, and their sums do not change.  Samples of a block's first instruction are divided among
 * the last instructions of the blocks before it, in proportion to the executions of the edges in
 * `freqs`; if none of them is known, in proportion to the samples that those blocks have for each
 * instruction.  What comes from outside of the procedure stays where it is; so do samples of
 * repeated instructions, which are interrupted between two repetitions. Samples behind a call are
 * charged to the call.  0 or -VT_E_NOMEM.
 */
int vt_freq_charge(enum vt_charge how, const struct vt_procflow *f, const struct vt_freqs *freqs,
		   uint64_t *samples, uint64_t *period, struct vt_error *err);

#endif
