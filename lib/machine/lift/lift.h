/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_LIFT_H
#define VT_MACHINE_LIFT_LIFT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "machine/lift/flat.h"

/* From bytes to flat code, by way of VEX.  Private to lib/machine and its tests. */

/*
 * Lifts the straight piece of code at `addr`, of which `size` bytes are there (at least 1; cut off
 * where the code ends), up to and with its first branch, or at most `max_insns` instructions.
 * `capture` as in vt_interp_options.  Owned by the caller; NULL: -VT_E_NOMEM, or VT_E_SYSTEM when
 * VEX gave up.
 *
 * The registers of the guest state are right in front of each instruction, but for the address and
 * the flags: those are right only where the block ends or an exit is taken.
 *
 * Not safe for several threads: VEX keeps its state in variables.
 */
struct vti_block *vti_lift(uint64_t addr, const uint8_t *bytes, size_t size, unsigned max_insns,
			   uint32_t capture, struct vt_error *err);
void vti_block_free(struct vti_block *b);

#endif
