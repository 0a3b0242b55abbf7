/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_COMMON_VALUE_SAMPLE_H
#define FORMATS_COMMON_VALUE_SAMPLE_H

#include <stdint.h>

/*
 * What `vtrace record --sample-values` records with a sample besides its registers: the raw bytes
 * (PERF_SAMPLE_RAW) of a sample of time in a perf.data.  Little-endian, at a multiple of 8 bytes
 * except for RAW's own size.  Behind the head follow
 *
 *	u64 state[nstate][2]    8 * register + which 8 bytes of it; these bytes
 *	u64 line_addr[nlines]   multiples of 64
 *	u64 line_read[nlines]   bit n: byte n of the line is there
 *	u8  line[...]           these bytes of all lines
 *
 * and at most VT_VALUE_SAMPLE_PAD bytes of padding.
 */
#define VT_VALUE_SAMPLE_MAGIC 0x32534c56u /* "VLS2" */
#define VT_VALUE_SAMPLE_LINE  64
#define VT_VALUE_SAMPLE_PAD   15

#define VT_VALUE_SAMPLE_NO_BASE UINT64_MAX

struct vt_value_sample {
	uint32_t magic;
	uint16_t walked; /* instructions */
	uint16_t stop;	 /* enum walk_stop of cmd/walker/walk.h */
	uint32_t nlines;
	uint32_t mxcsr;	  /* 0: unknown */
	uint64_t fs_base; /* VT_VALUE_SAMPLE_NO_BASE: unknown; so is gs_base */
	uint64_t gs_base;
	uint64_t nstate;
};

/*
 * The state is of the masks and vector registers that the instructions use, ascending; the low 16
 * bytes of the first 16 vector registers are elsewhere.  8 bytes without an entry are zero if their
 * register has another, and otherwise unknown.
 */
#define VT_VALUE_SAMPLE_MASK   24  /* the number of k0 */
#define VT_VALUE_SAMPLE_VECTOR 32  /* of xmm0 and the wider registers that it is part of */
#define VT_VALUE_SAMPLE_NSTATE 232 /* at most: 8 masks, 16 vectors of 48 bytes, 16 of 64 */

/*
 * The registers of such a sample (PERF_SAMPLE_REGS_USER): general ones, flags and both halves of
 * xmm0 to xmm15, as bits of asm/perf_regs.h.
 */
#define VT_VALUE_SAMPLE_REGS (UINT64_C(0xffffffff00ff03ff))

/* Copies the bytes of a line that the mask has, one behind the other.  Returns their end in `to`.
 */
static inline uint8_t *vt_value_sample_pack(uint8_t *to, const uint8_t *line, uint64_t read)
{
	while (read) {
		unsigned at = (unsigned)__builtin_ctzll(read), n = VT_VALUE_SAMPLE_LINE - at;
		uint64_t rest = ~(read >> at);

		if (rest)
			n = (unsigned)__builtin_ctzll(rest);
		__builtin_memcpy(to, line + at, n); /* a program in the kernel includes this, too */
		to += n;
		read &= n + at < VT_VALUE_SAMPLE_LINE ? UINT64_MAX << (n + at) : 0;
	}
	return to;
}

#endif
