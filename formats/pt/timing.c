/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/timing.h"

#include <string.h>

#define MTC_BITS 8
#define TMA_BITS 16
/* RTIT_CTL.MTCFreq has 4 bits. */
#define MAX_PERIOD 15
#define RATE_BITS  16

/* More ticks than this between two packets are damage, not a measurement: about 5 minutes. */
#define MAX_MEASURED (UINT64_C(1) << 40)

void vt_pt_timing_init(struct vt_pt_timing *t, const struct vt_pt_clock *clock)
{
	memset(t, 0, sizeof(*t));
	t->clock = *clock;
	/* A ratio needs both numbers. */
	if (!clock->ctc_denominator || clock->mtc_period > MAX_PERIOD)
		t->clock.ctc_numerator = 0;
}

static uint64_t add_time_saturated(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static bool advance_time(struct vt_pt_timing *t, uint64_t tsc)
{
	if (tsc <= t->tsc)
		return false;
	t->tsc = tsc;
	return true;
}

/* Converts crystal clock ticks after the edge to TSC ticks; *part is the remainder. */
static uint64_t convert_crystal_ticks(const struct vt_pt_timing *t, uint32_t ticks, uint32_t *part)
{
	uint64_t sum = (uint64_t)ticks * t->clock.ctc_numerator + t->part;

	*part = (uint32_t)(sum % t->clock.ctc_denominator);
	return sum / t->clock.ctc_denominator;
}

/* The next MTC comes at the next multiple of the period. */
static void set_limit(struct vt_pt_timing *t)
{
	uint32_t period = 1u << t->clock.mtc_period, part;

	t->limit = t->has_mtc ? add_time_saturated(
					t->edge,
					convert_crystal_ticks(t, period - t->ctc % period, &part))
			      : 0;
}

/* Measures the rate between two places at which the time is known exactly. */
static void measure_rate(struct vt_pt_timing *t)
{
	uint64_t ticks = t->base - t->rate_tsc, cycles = t->cycles - t->rate_cycles;

	if (t->measuring && cycles && t->base > t->rate_tsc && ticks < MAX_MEASURED)
		t->rate = (ticks << RATE_BITS) / cycles;
	t->measuring = !t->off;
	t->rate_tsc = t->base;
	t->rate_cycles = t->cycles;
}

static bool take_tsc(struct vt_pt_timing *t, uint64_t tsc)
{
	t->base = t->edge = tsc;
	t->part = 0;
	t->since = 0;
	t->limit = 0;
	t->has_ctc = false;
	t->has_tsc = true;
	/* MTC packets are better: some TSC packets come after time that the core slept. */
	if (!t->has_mtc)
		measure_rate(t);
	return advance_time(t, tsc);
}

static void take_tma(struct vt_pt_timing *t, uint32_t ctc, uint64_t fast)
{
	unsigned bits = MTC_BITS + t->clock.mtc_period;

	if (!t->has_tsc || t->has_ctc || !t->clock.ctc_numerator)
		return;
	t->shown = (1u << (bits < TMA_BITS ? bits : TMA_BITS)) - 1;
	t->ctc = ctc & t->shown;
	t->edge -= fast < t->edge ? fast : t->edge;
	t->has_ctc = true;
	set_limit(t);
}

static bool take_mtc(struct vt_pt_timing *t, uint32_t payload)
{
	uint32_t period = 1u << t->clock.mtc_period, ctc, ticks, periods;

	/* Without a known clock it is of no use for measuring either. */
	t->has_mtc = t->clock.ctc_numerator;
	if (!t->has_ctc)
		return false;
	ctc = payload << t->clock.mtc_period;
	ticks = (ctc - t->ctc) & t->shown;
	periods = (t->ctc % period + ticks) / period;
	if (periods > 1)
		t->lost += periods - 1;
	t->edge = add_time_saturated(t->edge, convert_crystal_ticks(t, ticks, &t->part));
	t->ctc = ctc;
	t->shown = (1u << (MTC_BITS + t->clock.mtc_period)) - 1;
	t->base = t->edge;
	t->since = 0;
	measure_rate(t);
	set_limit(t);
	return advance_time(t, t->base);
}

static uint64_t get_cycle_rate(const struct vt_pt_timing *t)
{
	if (t->cbr && t->clock.nominal_ratio)
		return ((uint64_t)t->clock.nominal_ratio << RATE_BITS) / t->cbr;
	return t->rate;
}

static bool take_cyc(struct vt_pt_timing *t, uint64_t cycles)
{
	uint64_t rate = get_cycle_rate(t), tsc;
	bool moved = cycles;

	t->has_cycles = true;
	t->cycles = add_time_saturated(t->cycles, cycles);
	t->since = add_time_saturated(t->since, cycles);
	if (t->has_tsc && rate) {
		tsc = t->since > UINT64_MAX / rate ? UINT64_MAX : t->since * rate;
		tsc = add_time_saturated(t->base, tsc >> RATE_BITS);
		moved |= advance_time(t, t->limit && tsc > t->limit ? t->limit : tsc);
	}
	return moved;
}

/* At a new frequency the measured rate is wrong.  A repeated ratio changes nothing; 0 is none. */
static void take_cbr(struct vt_pt_timing *t, uint8_t cbr)
{
	if (!cbr)
		return;
	if (t->cbr && t->cbr != cbr) {
		t->measuring = false;
		t->rate = 0;
	}
	t->cbr = cbr;
}

bool vt_pt_timing_packet(struct vt_pt_timing *t, const struct vt_pt_packet *p)
{
	switch (p->kind) {
	case VT_PT_TSC:
		return take_tsc(t, p->payload);
	case VT_PT_TMA:
		take_tma(t, (uint32_t)p->payload, p->extra);
		return false;
	case VT_PT_MTC:
		return take_mtc(t, (uint32_t)p->payload);
	case VT_PT_CBR:
		take_cbr(t, (uint8_t)p->payload);
		return false;
	case VT_PT_CYC:
		return take_cyc(t, p->payload);
	case VT_PT_OVF:
		vt_pt_timing_gap(t);
		return false;
	case VT_PT_TIP_PGE:
		t->off = false;
		return false;
	case VT_PT_TIP_PGD:
		t->off = true;
		t->measuring = false;
		return false;
	default:
		return false;
	}
}

void vt_pt_timing_gap(struct vt_pt_timing *t)
{
	t->measuring = false;
}
