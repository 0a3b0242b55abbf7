/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_COMMON_VALUE_SAMPLE_H
#define FORMATS_COMMON_VALUE_SAMPLE_H

#include <stdint.h>

/*
 * What `vtrace record --sample-values` records with a sample besides its registers: the raw bytes
 * (PERF_SAMPLE_RAW) of a sample of time in a perf.data.  Little-endian, at a multiple of 8 bytes
 * except for RAW's own size.  Behind the head follow
 *
 *	u64 high[2 * bits of high_mask]   bits 128 to 255 of those vector registers, ascending
 *	u64 line_addr[nlines]             multiples of 64
 *	u8  line[nlines][64]
 *
 * and at most 7 bytes of padding.
 */
#define VT_VALUE_SAMPLE_MAGIC 0x31534c56u /* "VLS1" */
#define VT_VALUE_SAMPLE_LINE  64

struct vt_value_sample {
	uint32_t magic;
	uint16_t walked; /* instructions */
	uint16_t stop;	 /* enum walk_stop of cmd/agent/walk.h */
	uint32_t nlines;
	uint32_t mxcsr;
	uint64_t fs_base;
	uint64_t gs_base;
	uint32_t high_mask; /* bit n: the upper half of ymm n is recorded */
	uint32_t high_zero; /* bit n: that is zero; in neither mask: it is unknown */
};

/*
 * The registers of such a sample (PERF_SAMPLE_REGS_USER): general ones, flags and both halves of
 * xmm0 to xmm15, as bits of asm/perf_regs.h.
 */
#define VT_VALUE_SAMPLE_REGS (UINT64_C(0xffffffff00ff03ff))

#endif
