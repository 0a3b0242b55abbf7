/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_DECODE_CURSOR_H
#define FORMATS_PT_DECODE_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/pt/block.h"
#include "formats/pt/decode/engine.h"
#include "formats/pt/timing.h"

/* Errata of processors that the reference works around, depending on the model. */
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

/* True if, by erratum SKD007, the CYC at p hides an OVF, which begins at p + 1. */
bool vti_pt_hides_overflow(unsigned errata, const uint8_t *p, const uint8_t *end,
			   const struct vt_pt_packet *cyc);

/*
 * The clock of an engine.  The engine reads packets ahead; the cursor reads the packets a second
 * time, at the pace at which the engine uses them up.  Both engines use it.
 */
struct vti_pt_cursor {
	const uint8_t *begin;
	const uint8_t *p; /* the next packet */
	const uint8_t *end;
	unsigned errata;
	unsigned bip;	/* for vt_pt_packet_read() */
	unsigned skz84; /* VT_PT_SKZ84 if the processor has the erratum, for the same */
	unsigned tnt;	/* decisions left of the last TNT packet */
	/* The end of the block whose decision has not been found yet; else VT_PT_END_FALL. */
	uint8_t pending_end;
	struct vt_pt_timing timing;
};

void vti_pt_cursor_init(struct vti_pt_cursor *c, const uint8_t *trace, size_t size,
			const struct vt_pt_options *opt);

/* Moves to the end of the PSB+ at `offset`: after a gap, or where there is no gap. */
void vti_pt_cursor_sync(struct vti_pt_cursor *c, uint64_t offset);
void vti_pt_cursor_begin(struct vti_pt_cursor *c, uint64_t offset);

/* Feeds the packets in [from, to) to the clock, and does nothing else with them. */
void vti_pt_cursor_warm(struct vti_pt_cursor *c, const uint8_t *from, const uint8_t *to);

/*
 * Moves to the packet of the next decision, which a block that ends in `end` needs, if the packet
 * lies before offset `limit` and tracing does not end first.  Else the decision becomes pending.
 * True if it is the first decision of a packet.
 */
bool vti_pt_cursor_decide(struct vti_pt_cursor *c, unsigned end, uint64_t limit);

/* The same for the pending decision, if there is one: called after an event. */
bool vti_pt_cursor_decide_pending(struct vti_pt_cursor *c, uint64_t limit);

/*
 * True if the next decision, which a block that ends in `end` needs, is a TIP without address.
 * *behind is then the offset after it.
 */
bool vti_pt_cursor_suppressed(const struct vti_pt_cursor *c, unsigned end, uint64_t limit,
			      uint64_t *behind);

/*
 * Moves past the next packet of one of the kinds (bit n: enum vt_pt_kind n), and past the packet
 * that it is bound to, as far as they lie before offset `limit`.  Returns the packet's offset, or
 * the cursor's if there is no such packet.
 */
uint64_t vti_pt_cursor_seek(struct vti_pt_cursor *c, uint64_t kinds, uint64_t limit);

/*
 * The PSB where decoding resumes that began at the PSB `sync` (NULL: none) and failed at `pos`.  It
 * may begin inside a bad packet at `pos`.  NULL: there is none.
 */
const uint8_t *vti_pt_resync(const uint8_t *begin, const uint8_t *end, const uint8_t *pos,
			     const uint8_t *sync);

#endif
