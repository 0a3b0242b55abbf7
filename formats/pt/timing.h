/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_TIMING_H
#define FORMATS_PT_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/pt/packet.h"

/*
 * The clock of a trace: estimates the time from the packets TSC, TMA, MTC, CBR and CYC.  Source:
 * Intel SDM volume 3C, "Intel Processor Trace": "Decoding Intel PT: estimating TSC".
 */

/* The clocks of the processor; 0 where unknown. */
struct vt_pt_clock {
	uint8_t mtc_period;	  /* RTIT_CTL.MTCFreq: an MTC each 2^n ticks of the crystal clock */
	uint8_t nominal_ratio;	  /* maximum non-turbo ratio: TSC ticks for each of the bus clock */
	uint32_t ctc_numerator;	  /* CPUID 15H EBX: TSC ticks are CTC ticks * */
	uint32_t ctc_denominator; /* CPUID 15H EAX: … numerator / denominator */
};

struct vt_pt_timing {
	struct vt_pt_clock clock;
	uint64_t tsc;	 /* now, estimated, in ticks of the TSC; 0: not known */
	uint64_t cycles; /* core cycles, by CYC packets, since the start of the trace */
	uint8_t cbr;	 /* core to bus ratio; 0: not known */
	bool has_tsc;
	bool has_cycles; /* there are CYC packets */
	uint64_t lost;	 /* MTC packets that must have been lost */
	/* Private. */
	uint64_t base;	/* TSC at the last TSC or MTC packet */
	uint64_t since; /* cycles since then */
	uint64_t limit; /* TSC at the next MTC; 0: none is due */
	uint64_t edge;	/* TSC at the last known tick of the crystal clock */
	uint32_t part;	/* fraction of a TSC tick to be added to it, in 1/ctc_denominator */
	uint32_t ctc;	/* the number of that tick, in the bits that packets have */
	uint32_t shown; /* mask of these bits */
	bool has_ctc;
	bool has_mtc;	   /* there are MTC packets, of a known clock */
	bool off;	   /* between TIP.PGD and TIP.PGE: cycles are not counted */
	bool measuring;	   /* cycles are being measured against the TSC, */
	uint64_t rate_tsc; /* from this time on */
	uint64_t rate_cycles;
	uint64_t rate; /* TSC ticks for each cycle, 16.16 fixed point; 0: not known */
};

void vt_pt_timing_init(struct vt_pt_timing *t, const struct vt_pt_clock *clock);

/*
 * Takes a packet of any kind; only those of timing, of tracing on and off, and overflows matter.
 * True if the time or the cycles have moved.
 *
 * At a TSC packet, and at an MTC where the clock is known, the time is that of the packet: a TMA
 * relates ticks of the crystal clock to the TSC.  In between, cycles of CYC packets advance it, but
 * not beyond the next MTC.  The rate is that of CBR, or else that measured between two such
 * packets. Time never goes back: after a late estimate it waits.
 */
bool vt_pt_timing_packet(struct vt_pt_timing *t, const struct vt_pt_packet *p);

/*
 * Packets are missing because of damage.  The time stays, the measurement restarts.  An OVF packet
 * does the same.
 */
void vt_pt_timing_gap(struct vt_pt_timing *t);

/* True if vt_pt_timing_packet() uses a kind of packet: others need not be given to it. */
static inline bool vt_pt_timing_cares(unsigned kind)
{
	return 1u << kind &
	       (1u << VT_PT_TSC | 1u << VT_PT_TMA | 1u << VT_PT_MTC | 1u << VT_PT_CBR |
		1u << VT_PT_CYC | 1u << VT_PT_OVF | 1u << VT_PT_TIP_PGE | 1u << VT_PT_TIP_PGD);
}

#endif
