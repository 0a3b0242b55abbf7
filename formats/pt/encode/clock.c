/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/encode/internal.h"
#include "formats/pt/encode/putpacket.h"

/*
 * The model's clock.  Everything is a function of the number of instructions, in whole numbers:
 *
 *	cycles = insns * cpi / 1000000		tsc = start + cycles * nominal_ratio / cbr
 *	ctc = tsc * ctc_denominator / ctc_numerator
 */

#define MILLION 1000000u

/* a * b / c, rounded down or up; the parts are small enough that nothing overflows. */
static uint64_t scale(uint64_t a, uint64_t b, uint64_t c)
{
	return a / c * b + a % c * b / c;
}

static uint64_t scale_up(uint64_t a, uint64_t b, uint64_t c)
{
	return a / c * b + (a % c * b + c - 1) / c;
}

uint64_t vti_enc_cycles(const struct vt_pt_encode *e, const struct enc_thread *t)
{
	return scale(t->h.insns + t->away, e->opt.cpi, MILLION);
}

uint64_t vti_enc_decided(const struct vt_pt_encode *e, const struct enc_thread *t)
{
	return scale(t->decided + t->away, e->opt.cpi, MILLION);
}

uint64_t vti_enc_tsc(const struct vt_pt_encode *e, uint64_t cycles)
{
	return e->opt.start_tsc + scale(cycles, e->opt.clock.nominal_ratio, e->opt.cbr);
}

void vti_enc_cyc(struct vt_pt_encode *e, struct enc_thread *t, uint64_t now)
{
	struct vt_pt_packet k = {.kind = VT_PT_CYC, .payload = now - t->cycles};

	if (!e->opt.cyc || now <= t->cycles)
		return;
	t->h.out = vt_pt_packet_write(t->h.out, &k);
	t->cycles = now;
}

static uint64_t ctc_of(const struct vt_pt_encode *e, uint64_t tsc)
{
	return scale(tsc, e->opt.clock.ctc_denominator, e->opt.clock.ctc_numerator);
}

/* The TSC when the CTC begins to be this. */
static uint64_t tsc_of(const struct vt_pt_encode *e, uint64_t ctc)
{
	return scale_up(ctc, e->opt.clock.ctc_numerator, e->opt.clock.ctc_denominator);
}

/* The first cycle in which the CTC is this. */
static uint64_t cycle_of(const struct vt_pt_encode *e, uint64_t ctc)
{
	return scale_up(tsc_of(e, ctc) - e->opt.start_tsc, e->opt.cbr, e->opt.clock.nominal_ratio);
}

static void set_tick(const struct vt_pt_encode *e, struct enc_thread *t)
{
	uint64_t insns = scale_up(cycle_of(e, t->next_ctc), MILLION, e->opt.cpi);

	t->tick = insns > t->away ? insns - t->away : 0;
}

void vti_enc_times(struct vt_pt_encode *e, struct enc_thread *t)
{
	uint64_t tsc = vti_enc_tsc(e, vti_enc_cycles(e, t)), ctc = ctc_of(e, tsc);
	struct vt_pt_packet k = {.kind = VT_PT_TSC, .payload = tsc};

	if (!e->timed)
		return;
	if (e->opt.tsc)
		t->h.out = vt_pt_packet_write(t->h.out, &k);
	if (e->opt.mtc) {
		if (e->opt.tsc) {
			k = (struct vt_pt_packet){
				.kind = VT_PT_TMA, .payload = ctc, .extra = tsc - tsc_of(e, ctc)};
			t->h.out = vt_pt_packet_write(t->h.out, &k);
		}
		t->next_ctc = ((ctc >> e->opt.clock.mtc_period) + 1) << e->opt.clock.mtc_period;
		set_tick(e, t);
	}
	k = (struct vt_pt_packet){.kind = VT_PT_CBR, .payload = e->opt.cbr};
	t->h.out = vt_pt_packet_write(t->h.out, &k);
}

void vti_enc_mtc(struct vt_pt_encode *e, struct enc_thread *t)
{
	uint64_t now = vti_enc_cycles(e, t), at;

	while ((at = cycle_of(e, t->next_ctc)) <= now) {
		struct vt_pt_packet k = {.kind = VT_PT_MTC,
					 .payload = t->next_ctc >> e->opt.clock.mtc_period};

		vti_enc_tnt(e, t);
		vti_enc_cyc(e, t, at);
		t->h.out = vt_pt_packet_write(t->h.out, &k);
		t->next_ctc += 1ull << e->opt.clock.mtc_period;
		if (t->h.out >= t->buffer + ENC_BUFFER + ENC_SLACK / 2)
			vti_enc_drain(e, t);
	}
	set_tick(e, t);
}
