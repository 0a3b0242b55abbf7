/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_MACHINE_INTERP_FLAGS_H
#define VT_MACHINE_INTERP_FLAGS_H

#include "machine/lift/word.h"

/* Computes flags from VEX's thunk, which consists of the last operation and its operands. */

#define VTI_FLAG_C UINT64_C(0x001)
#define VTI_FLAG_P UINT64_C(0x004)
#define VTI_FLAG_A UINT64_C(0x010)
#define VTI_FLAG_Z UINT64_C(0x040)
#define VTI_FLAG_S UINT64_C(0x080)
#define VTI_FLAG_O UINT64_C(0x800)
#define VTI_FLAGS  UINT64_C(0x8d5)

/*
 * Returns the six flags at their places in rflags, with zeros elsewhere.  Flags that the manual
 * leaves undefined are unknown.
 */
struct vt_word vti_flags_all(struct vt_word op, struct vt_word dep1, struct vt_word dep2,
			     struct vt_word ndep);

/*
 * Returns a condition, by its number in instructions (Jcc), as a single bit in a 64-bit word.
 */
struct vt_word vti_flags_condition(struct vt_word condition, struct vt_word op, struct vt_word dep1,
				   struct vt_word dep2, struct vt_word ndep);

#endif
