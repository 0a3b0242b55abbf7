/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CHAINS_UNWOUND_H
#define VT_CHAINS_UNWOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "chains/chain.h"
#include "image/addrspace.h"
#include "image/images.h"
#include "stream/record.h"

/* Takes the address of an instruction that was looked at. */
typedef void vt_chain_visit_fn(void *arg, uint64_t address);

/*
 * Appends the part in user mode to a chain that has none, from the sample's registers and its copy
 * of the stack, by the call frame information of the images (unwind.h), and the code where there is
 * none (flow/leave.h).  It ends where the return address is unknown, and where nothing is mapped.
 *
 * `mask` tells which registers of linux's asm/perf_regs.h the sample has.  Only x86-64 is known.
 * `visit`, unless NULL, is called for each instruction of code that was followed.
 * Returns false, with the chain unchanged, if the sample has no such registers or no stack, or if
 * the chain goes on in user mode already.
 */
bool vt_chain_unwind(struct vt_chain *c, const struct vt_record *sample, uint64_t mask,
		     struct vt_images *images, struct vt_addrspace *space, vt_chain_visit_fn *visit,
		     void *arg);

#endif
