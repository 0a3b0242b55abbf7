/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INSN_PLAIN_H
#define VT_MACHINE_INSN_PLAIN_H

#include <stddef.h>
#include <stdint.h>

/*
 * The length of the instruction at the start of `bytes` if it is one of the most frequent ones
 * that only ever go on to the next; 0: it is not, or not whole, and a decoder has to tell.  Takes
 * a tenth of a decoder's time, for what looks through all the code of a file.
 */
uint8_t vti_plain_length(const uint8_t *bytes, size_t size);

enum vti_plain_kind { VTI_PLAIN_BRANCH, VTI_PLAIN_JUMP, VTI_PLAIN_CALL, VTI_PLAIN_RETURN };

struct vti_plain {
	enum vti_plain_kind kind;
	int64_t target; /* of all but a return, from the first byte of the instruction */
};

/* The same for direct branches, jumps and calls, and for returns: sets *p unless it is 0. */
uint8_t vti_plain_branch(const uint8_t *bytes, size_t size, struct vti_plain *p);

#endif
