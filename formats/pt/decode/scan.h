/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_DECODE_SCAN_H
#define FORMATS_PT_DECODE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/pt/decode/engine.h"
#include "formats/pt/packet.h"
#include "formats/pt/timing.h"
#include "stream/writer.h"

/*
 * Counts the packets of a trace by kind, without any code.  The trace comes in pieces of any size;
 * the result does not depend on them.
 */

#define VT_PT_SCAN_PLACES 8

/* Bytes that are no packet, up to the next PSB. */
struct vt_pt_bad {
	uint64_t offset; /* in the trace */
	uint64_t bytes;
	bool cut; /* the trace ends, or is interrupted, inside a packet */
};

struct vt_pt_scan {
	uint64_t count[VT_PT_NKINDS];
	uint64_t bytes[VT_PT_NKINDS];
	uint64_t packets; /* sum of the counts */
	uint64_t size;	  /* bytes given: packets, `before` and `bad_bytes` */
	uint64_t before;  /* bytes before the first PSB of the trace, and after each break */
	uint64_t places;  /* with bytes that are no packet */
	uint64_t bad_bytes;
	struct vt_pt_bad bad[VT_PT_SCAN_PLACES]; /* the first of these places */
	uint64_t decisions;			 /* in TNT packets */
	uint64_t taken;				 /* of them */
	uint64_t first_tsc;			 /* of the first TSC packet, where timing.has_tsc */
	uint8_t min_cbr, max_cbr;		 /* 0: there are none */
	struct vt_pt_timing timing;		 /* as it stands at the end */
	/* Private. */
	uint64_t at;	    /* offset of the next byte */
	uint64_t bad_start; /* of the current place */
	bool synced;
	bool lost; /* not synced because of damage, not because a trace begins */
	unsigned bip;
	unsigned skz84; /* VT_PT_SKZ84 if the processor has it, else 0 */
	size_t kept_size;
	uint8_t kept[64];
};

/* Uses the clock and the processor of the options; NULL: both are unknown. */
void vt_pt_scan_init(struct vt_pt_scan *s, const struct vt_pt_options *opt);

void vt_pt_scan_feed(struct vt_pt_scan *s, const uint8_t *p, size_t size);

/* Says that the next bytes do not continue the previous ones. */
void vt_pt_scan_break(struct vt_pt_scan *s);

/* Ends the trace.  Results are valid only after it. */
void vt_pt_scan_end(struct vt_pt_scan *s);

/*
 * Writes PACKETS records of a trace.  vt_pt_packets_total() writes the one without a name, with the
 * number of all packets (0: not counted) and bytes.  vt_pt_scan_write() writes that one, one for
 * each kind that occurs, and one named "none" if there are bytes that are no packets.  Errors stick
 * to the writer.
 */
void vt_pt_packets_total(struct vt_writer *w, uint64_t index, uint64_t packets, uint64_t bytes);
void vt_pt_scan_write(const struct vt_pt_scan *s, uint64_t index, struct vt_writer *w);

/* The same for a whole trace in memory: counted if `kinds`, else only its size. */
void vt_pt_packets_write(struct vt_writer *w, uint64_t index, const uint8_t *trace, size_t size,
			 bool kinds);

#endif
