/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_DECODE_CURSOR_H
#define FORMATS_PT_DECODE_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/pt/block.h"
#include "formats/pt/decode/engine.h"
#include "formats/pt/timing.h"

/* Faults of processors that the reference makes up for; by model. */
enum vti_pt_erratum {
	VTI_PT_BDM70 = 1,
	VTI_PT_BDM64 = 2,
	VTI_PT_SKD007 = 4,
	VTI_PT_SKD022 = 8,
	VTI_PT_SKD010 = 16,
	VTI_PT_APL11 = 32,
	VTI_PT_APL12 = 64,
	VTI_PT_SKZ84 = 128,
};

/* Errata of a processor, by CPUID. */
unsigned vti_pt_errata(const struct vt_pt_options *opt);

/* Whether, with erratum SKD007, an OVF is hidden in the CYC read at p, one byte further. */
bool vti_pt_hides_overflow(unsigned errata, const uint8_t *p, const uint8_t *end,
			   const struct vt_pt_packet *cyc);

/*
 * The clock of an engine: a second reading of the packets, in step with what the engine uses up,
 * while the engine itself reads ahead.  The same for both engines.
 */
struct vti_pt_cursor {
	const uint8_t *begin;
	const uint8_t *p; /* the next packet */
	const uint8_t *end;
	unsigned errata;
	unsigned bip;	/* of vt_pt_packet_read(), */
	unsigned skz84; /* and VT_PT_SKZ84 if the processor has it */
	unsigned tnt;	/* decisions left of the last TNT packet */
	uint8_t owed;	/* how the block ended whose decision could not be found; VT_PT_END_FALL */
	struct vt_pt_timing timing;
};

void vti_pt_cursor_init(struct vti_pt_cursor *c, const uint8_t *trace, size_t size,
			const struct vt_pt_options *opt);

/* Goes on at a PSB behind a gap, and to the end of its PSB+; or where there is no gap. */
void vti_pt_cursor_sync(struct vti_pt_cursor *c, uint64_t offset);
void vti_pt_cursor_begin(struct vti_pt_cursor *c, uint64_t offset);

/* Lets the clock see the packets of [from, to), which nothing else is done with. */
void vti_pt_cursor_warm(struct vti_pt_cursor *c, const uint8_t *from, const uint8_t *to);

/*
 * To the packet of the next decision, that of a block that ends in `end`, if it lies before offset
 * `limit` and no end of tracing comes first; else nothing happens but that it is owed.  True when
 * it is the first decision of a packet.
 */
bool vti_pt_cursor_decide(struct vti_pt_cursor *c, unsigned end, uint64_t limit);

/* The same for a decision that is owed, if one is: behind an event. */
bool vti_pt_cursor_pay(struct vti_pt_cursor *c, uint64_t limit);

/*
 * Is the next decision, that of a block that ends in `end`, a TIP without address?  *behind is the
 * offset behind it.
 */
bool vti_pt_cursor_suppressed(const struct vti_pt_cursor *c, unsigned end, uint64_t limit,
			      uint64_t *behind);

/*
 * To the next packet of one of the kinds (bit n: enum vt_pt_kind n), if it lies before offset
 * `limit`: its offset is returned; else that where the cursor stands.  Also past the packet that it
 * is bound to, if that lies before the limit.
 */
uint64_t vti_pt_cursor_seek(struct vti_pt_cursor *c, uint64_t kinds, uint64_t limit);

/*
 * The PSB to go on at when decoding that began at the PSB `sync` (NULL: none) failed at `pos`: the
 * next one, be it that a bad packet took the first of its bytes.  NULL: there is none.
 */
const uint8_t *vti_pt_resync(const uint8_t *begin, const uint8_t *end, const uint8_t *pos,
			     const uint8_t *sync);

#endif
