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
	uint64_t fc;	/* fast counter of TMA */
	uint32_t ctc;	/* the CTC of the last MTC, or of TMA, in the bits that MTC shows */
	bool has_ctc;
	uint64_t rate_base; /* TSC and cycles where the measuring of cycles per tick began */
	uint64_t rate_cycles;
	uint64_t rate; /* TSC ticks for each cycle, 16.16 fixed point; 0: not known */
};

void vt_pt_timing_init(struct vt_pt_timing *t, const struct vt_pt_clock *clock);

/* Takes a packet of any kind.  True when the time or the cycles have moved. Time never goes back.
 */
bool vt_pt_timing_packet(struct vt_pt_timing *t, const struct vt_pt_packet *p);

/* Packets are missing: an overflow, or damage.  The time stays, what is measured begins anew. */
void vt_pt_timing_gap(struct vt_pt_timing *t);

#endif
