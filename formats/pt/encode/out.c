/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/encode/internal.h"
#include "formats/pt/encode/putpacket.h"

/* ---- packets ---- */

static void put(struct enc_thread *t, const struct vt_pt_packet *k)
{
	t->h.out = vt_pt_packet_write(t->h.out, k);
}

static void put_kind(struct enc_thread *t, enum vt_pt_kind kind)
{
	struct vt_pt_packet k = {.kind = (uint8_t)kind};

	put(t, &k);
}

void vti_enc_tnt(struct vt_pt_encode *e, struct enc_thread *t)
{
	if (t->h.tnt == 1)
		return;
	vti_enc_cyc(e, t, vti_enc_decided(e, t));
	t->h.out = vt_pt_put_tnt(t->h.out, t->h.tnt);
	t->h.tnt = 1;
}

void vti_enc_tip(struct vt_pt_encode *e, struct enc_thread *t, unsigned opcode, uint64_t ip)
{
	vti_enc_tnt(e, t);
	vti_enc_cyc(e, t, vti_enc_cycles(e, t));
	t->h.out = vt_pt_put_ip(t->h.out, opcode, &t->h.last_ip, ip);
}

void vti_enc_off(struct vt_pt_encode *e, struct enc_thread *t)
{
	vti_enc_tnt(e, t);
	vti_enc_cyc(e, t, vti_enc_cycles(e, t));
	put_kind(t, VT_PT_TIP_PGD);
}

void vti_enc_mode(struct enc_thread *t)
{
	struct vt_pt_packet k = {.kind = VT_PT_MODE_EXEC, .payload = t->mode};

	if (t->told_mode == t->mode)
		return;
	put(t, &k);
	t->told_mode = t->mode;
}

void vti_enc_forget_calls(struct enc_thread *t)
{
	t->nreturns = t->npops = 0;
}

void vti_enc_psb(struct vt_pt_encode *e, struct enc_thread *t, bool on, uint64_t ip)
{
	struct vt_pt_packet pip = {.kind = VT_PT_PIP, .payload = e->opt.cr3};

	vti_enc_cyc(e, t, vti_enc_cycles(e, t));
	put_kind(t, VT_PT_PSB);
	t->h.last_ip = 0;
	vti_enc_forget_calls(t);
	vti_enc_times(e, t);
	t->told_mode = 0;
	vti_enc_mode(t);
	if (e->opt.cr3)
		put(t, &pip);
	if (on)
		t->h.out = vt_pt_put_ip(t->h.out, VT_PT_OP_FUP, &t->h.last_ip, ip);
	put_kind(t, VT_PT_PSBEND);
	t->psb_at = vti_enc_position(t) + e->opt.psb_bytes;
	vti_enc_set_stop(t);
}

/* ---- bytes ---- */

uint64_t vti_enc_position(const struct enc_thread *t)
{
	return t->pub.bytes + (uint64_t)(t->h.out - t->buffer);
}

uint64_t vti_enc_some(struct enc_thread *t, uint64_t mean)
{
	return mean / 2 + 1 + vt_rng_below(&t->rng, mean);
}

/* Changes bytes that are about to be given away: one, one bit, or a few in a row. */
static void spoil(struct vt_pt_encode *e, struct enc_thread *t, size_t size)
{
	uint64_t end = t->pub.bytes + size;

	while (t->damage_at < end) {
		uint8_t *p = t->buffer + (t->damage_at - t->pub.bytes);
		uint64_t left = end - t->damage_at, n;

		switch (vt_rng_below(&t->rng, 3)) {
		case 0:
			*p ^= (uint8_t)(1u << vt_rng_below(&t->rng, 8));
			e->sum.damaged++;
			break;
		case 1:
			*p ^= (uint8_t)(1 + vt_rng_below(&t->rng, 255));
			e->sum.damaged++;
			break;
		default:
			for (n = 1 + vt_rng_below(&t->rng, 16); n && left; n--, left--) {
				*p++ ^= (uint8_t)(1 + vt_rng_below(&t->rng, 255));
				e->sum.damaged++;
			}
			break;
		}
		t->damage_at += vti_enc_some(t, e->opt.damage);
	}
}

void vti_enc_drain(struct vt_pt_encode *e, struct enc_thread *t)
{
	uint8_t *end = t->losing ? t->losing : t->h.out;
	size_t size = (size_t)(end - t->buffer), lost = (size_t)(t->h.out - end);

	if (!size || e->failed)
		goto out;
	if (e->opt.damage)
		spoil(e, t, size);
	t->pub.insns = t->h.insns;
	t->pub.tsc = e->timed ? vti_enc_tsc(e, vti_enc_cycles(e, t)) : 0;
	e->failed = e->sink(e->arg, &t->pub, t->buffer, size, e->err);
	t->pub.bytes += size;
	e->sum.bytes += size;
out:
	/* What is being lost need not be kept, only how much it is; no overflow loses as much. */
	t->h.out = t->buffer + (lost < ENC_BUFFER ? lost : ENC_BUFFER);
	if (t->losing)
		t->losing = t->buffer;
	vti_enc_set_stop(t);
}

void vti_enc_room(struct vt_pt_encode *e, struct enc_thread *t)
{
	if (t->h.out >= t->buffer + ENC_BUFFER)
		vti_enc_drain(e, t);
}

void vti_enc_set_stop(struct enc_thread *t)
{
	uint64_t at = t->losing			   ? t->lost_at
		      : t->psb_at < t->overflow_at ? t->psb_at
						   : t->overflow_at;

	at -= t->pub.bytes < at ? t->pub.bytes : at;
	t->h.stop = t->buffer + (at < ENC_BUFFER ? at : ENC_BUFFER);
}

/* ---- what is due now and then ---- */

static void begin_loss(struct vt_pt_encode *e, struct enc_thread *t)
{
	uint64_t most = e->opt.overflow < ENC_MOST_LOST ? e->opt.overflow : ENC_MOST_LOST;

	vti_enc_drain(e, t);
	t->losing = t->h.out;
	t->lost_at = vti_enc_position(t) + 1 + vt_rng_below(&t->rng, most);
}

void vti_enc_end_loss(struct vt_pt_encode *e, struct enc_thread *t, bool on, uint64_t ip)
{
	struct vt_pt_packet fup = {.kind = VT_PT_FUP, .ipc = VT_PT_IPC_FULL, .payload = ip};

	if (!t->losing)
		return;
	t->h.out = t->losing;
	t->losing = NULL;
	t->h.tnt = 1;
	vti_enc_forget_calls(t);
	put_kind(t, VT_PT_OVF);
	e->sum.overflows++;
	t->h.last_ip = 0;
	t->cycles = vti_enc_cycles(e, t);
	if (on) {
		if (vt_pt_ip_compress(1ull << 63, ip) == VT_PT_IPC_SEXT48)
			fup.ipc = VT_PT_IPC_SEXT48;
		put(t, &fup);
		t->h.last_ip = ip;
	}
	t->overflow_at = vti_enc_position(t) + vti_enc_some(t, e->opt.overflow);
	/* Some processors synchronise at once, others go on as if nothing had happened. */
	if (vt_rng_below(&t->rng, 2))
		t->psb_at = vti_enc_position(t);
}

void vti_enc_service(struct vt_pt_encode *e, struct enc_thread *t, uint64_t ip)
{
	vti_enc_tnt(e, t);
	if (t->losing) {
		if (vti_enc_position(t) >= t->lost_at)
			vti_enc_end_loss(e, t, true, ip);
	} else if (vti_enc_position(t) >= t->overflow_at) {
		begin_loss(e, t);
	}
	if (!t->losing && vti_enc_position(t) >= t->psb_at)
		vti_enc_psb(e, t, true, ip);
	vti_enc_room(e, t);
	vti_enc_set_stop(t);
}
