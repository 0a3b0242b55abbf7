/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_CHAINS_CHAIN_H
#define VT_CHAINS_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/record.h"

/* Maximum frames of a sample.  The kernel records 127, unless its administrator asks for more. */
#define VT_CHAIN_MAX 1024

/* The modes of linux/perf_event.h (PERF_RECORD_MISC_CPUMODE_MASK). */
enum vt_frame_mode {
	VT_FRAME_UNKNOWN,
	VT_FRAME_KERNEL,
	VT_FRAME_USER,
	VT_FRAME_HYPERVISOR,
	VT_FRAME_GUEST_KERNEL,
	VT_FRAME_GUEST_USER,
};

/* A procedure that was active when a sample was taken. */
struct vt_frame {
	uint64_t address; /* in the procedure: of a caller, the last byte of its call at the latest
			   */
	enum vt_frame_mode mode;
};

/*
 * The frames of a sample, innermost first.  The first is always the sample's own address.
 *
 * A recorded chain repeats that address, or has one near it where the processor reports the address
 * precisely but the chain began at the interrupt.  Then `skid` is true, and the second frame may
 * stand for the same call of the same procedure as the first.
 */
struct vt_chain {
	struct vt_frame frames[VT_CHAIN_MAX];
	size_t count;
	bool skid;
	bool recorded;	/* the sample has a chain */
	bool damaged;	/* the chain has an unknown marker; all of it was left out, as perf does */
	bool cut;	/* it had more frames than VT_CHAIN_MAX; the outermost ones were left out */
	bool shortened; /* callers are missing, whose frames lie beyond the copy of the stack */
};

/*
 * Reads the frames of a SAMPLE record.  The kernel's markers between the addresses set the mode of
 * those that follow.  Addresses after the first of each mode are return addresses; 1 is subtracted,
 * because the call may be the last instruction of its procedure.
 *
 * `branch_type` is the event's.  If the sample's branch stack is a call stack, it replaces the user
 * mode part of the chain.
 */
void vt_chain_read(struct vt_chain *c, const struct vt_record *sample, uint64_t branch_type);

/* Appends a caller of the outermost frame, or sets `cut`. */
void vt_chain_append(struct vt_chain *c, uint64_t address, enum vt_frame_mode mode);

#endif
