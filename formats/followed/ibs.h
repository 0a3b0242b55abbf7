/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_FOLLOWED_IBS_H
#define FORMATS_FOLLOWED_IBS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads the registers of AMD's instruction-based sampling that the kernel's ibs_op and ibs_fetch
 * put into the raw bytes of a sample.
 */

/* What of a sample's raw bytes could be read. */
enum vt_ibs_result {
	VT_IBS_READ,
	VT_IBS_NO_RIP,	/* read; its address is where the interrupt was taken */
	VT_IBS_INVALID, /* the registers say that they hold no sample */
	VT_IBS_CUT,	/* registers are missing */
};

/* The processor, for its errata; family 0: unknown. */
struct vt_ibs_cpu {
	unsigned family;
	unsigned model;
};

/*
 * Sets what the registers tell in a row of SAMPLE: its fields of one instruction, and `addr`,
 * `phys_addr` and page sizes with their bits in `has` where the kernel has not.  Sets nothing of
 * raw bytes that are cut or invalid.
 */
enum vt_ibs_result vt_ibs_read_op(uint64_t *row, const uint8_t *raw, size_t size,
				  struct vt_ibs_cpu cpu);
enum vt_ibs_result vt_ibs_read_fetch(uint64_t *row, const uint8_t *raw, size_t size,
				     struct vt_ibs_cpu cpu);

#endif
