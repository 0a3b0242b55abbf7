/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef VT_COPROCESSOR_SIZES_H
#define VT_COPROCESSOR_SIZES_H

#include <stddef.h>
#include <stdint.h>

/* The structures of table 1, for chosen sizes, with estimates of their transistors. */
struct vt_coproc_sizes {
	uint32_t filter_bits;
	uint32_t buffer_bytes;
	uint32_t cam_bytes;
	uint32_t data_bytes;
};

struct vt_coproc_structure {
	const char *name;
	const char *ports; /* as in table 1 */
	uint64_t bits;
	uint64_t transistors; /* table 1's of the baseline, in proportion to the bits */
};

#define VT_COPROC_STRUCTURES 11
#define VT_COPROC_CORE	     250000 /* 3: "the core is simpler than that of the StrongARM" */

/* Fills the rows of table 1 in its order. */
void vt_coproc_structures(const struct vt_coproc_sizes *s,
			  struct vt_coproc_structure rows[VT_COPROC_STRUCTURES]);

#endif
