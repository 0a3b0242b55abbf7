/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FORMATS_PT_TIMING_H
#define FORMATS_PT_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/pt/packet.h"

/*
 * The clock of a trace: where the packets TSC, TMA, MTC, CBR and CYC say the time stands.  Source:
 * Intel SDM volume 3C, "Intel Processor Trace": "Decoding Intel PT: estimating TSC".
 */

/* What the processor and the recording say of its clocks; 0 where unknown. */
struct vt_pt_clock {
	uint8_t mtc_period;	  /* RTIT_CTL.MTCFreq: an MTC each 2^n ticks of the crystal clock */
	uint8_t nominal_ratio;	  /* maximum non-turbo ratio: TSC ticks for each of the bus clock */
	uint32_t ctc_numerator;	  /* CPUID 15H EBX: TSC ticks are CTC ticks * */
	uint32_t ctc_denominator; /* CPUID 15H EAX: … numerator / denominator */
};

struct vt_pt_timing {
	struct vt_pt_clock clock;
	uint64_t tsc;	 /* now, estimated, in ticks of the TSC; 0: not known */
	uint64_t cycles; /* core cycles that CYC packets have told since the start of the trace */
	uint8_t cbr;	 /* core to bus ratio; 0: not known */
	bool has_tsc;
	bool has_cycles; /* there are CYC packets */
	uint64_t lost;	 /* MTC packets that must have been lost */
	/* Not for others. */
	uint64_t base;	/* TSC at the last TSC or MTC packet */
	uint64_t since; /* cycles since then */
	uint64_t limit; /* TSC of the MTC that is due next; 0: none is */
	uint64_t edge;	/* TSC at the tick of the crystal clock that was told last */
	uint32_t part;	/* of a TSC tick, in denominators, by which that tick is later */
	uint32_t ctc;	/* which tick that was, in the bits that packets show */
	uint32_t shown; /* mask of these bits */
	bool has_ctc;
	bool has_mtc;	   /* there are MTC packets, of a known clock */
	bool off;	   /* between TIP.PGD and TIP.PGE cycles are not counted */
	bool measuring;	   /* cycles are measured against the TSC, */
	uint64_t rate_tsc; /* from here on */
	uint64_t rate_cycles;
	uint64_t rate; /* TSC ticks for each cycle, 16.16 fixed point; 0: not known */
};

void vt_pt_timing_init(struct vt_pt_timing *t, const struct vt_pt_clock *clock);

/*
 * Takes a packet of any kind; only those of timing, of tracing on and off, and overflows matter.
 * True when the time or the cycles have moved.
 *
 * At a TSC packet, and at an MTC where the clock is known, the time is what the packet says: a TMA
 * ties the crystal clock's ticks to the TSC.  In between, cycles of CYC packets move it on, at the
 * rate that CBR tells or, where that cannot be used, that was measured between two such packets;
 * but not beyond the next MTC.  Time never goes back: it waits when it was estimated too late.
 */
bool vt_pt_timing_packet(struct vt_pt_timing *t, const struct vt_pt_packet *p);

/*
 * Packets are missing, from damage.  The time stays, what is measured begins anew.  An OVF packet
 * does the same.
 */
void vt_pt_timing_gap(struct vt_pt_timing *t);

/* Whether vt_pt_timing_packet() does anything with a kind of packet: others may be left out. */
static inline bool vt_pt_timing_cares(unsigned kind)
{
	return 1u << kind &
	       (1u << VT_PT_TSC | 1u << VT_PT_TMA | 1u << VT_PT_MTC | 1u << VT_PT_CBR |
		1u << VT_PT_CYC | 1u << VT_PT_OVF | 1u << VT_PT_TIP_PGE | 1u << VT_PT_TIP_PGD);
}

#endif
