/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_LIFT_LIFT_H
#define VT_MACHINE_LIFT_LIFT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "machine/lift/flat.h"

/* Translates instructions to flat code with VEX.  Private to lib/machine and its tests. */

/*
 * Lifts the straight-line code at `addr`, of which `size` bytes are available (at least 1), up to
 * and including its first branch, and at most `max_insns` instructions.  `capture` is as in
 * vt_interp_options.  The block is owned by the caller.  Returns NULL with VT_E_NOMEM, or
 * VT_E_SYSTEM if VEX failed.
 *
 * Before each instruction, the registers in the guest state are valid, except for the address and
 * the flags, which are only valid at the end of the block or when an exit is taken.
 *
 * Not safe for several threads: VEX keeps its state in variables.
 */
struct vti_block *vti_lift(uint64_t addr, const uint8_t *bytes, size_t size, unsigned max_insns,
			   uint32_t capture, struct vt_error *err);
void vti_block_free(struct vti_block *b);

#endif
