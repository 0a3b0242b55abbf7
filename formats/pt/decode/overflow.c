/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/decode/walk.h"

/*
 * An OVF packet: the processor lost packets.  If a FUP follows, tracing is enabled and resumes at
 * its address.  If not, tracing is disabled up to a TIP.PGE.  Errata of some processors break these
 * rules; the packets that follow show it.
 */

/* Packets that do not say where tracing resumes. */
#define NEUTRAL                                                                                    \
	(VT_PT_BIT(VT_PT_PAD) | VT_PT_BIT(VT_PT_MNT) | VT_PT_BIT(VT_PT_CBR) |                      \
	 VT_PT_BIT(VT_PT_TSC) | VT_PT_BIT(VT_PT_TMA) | VT_PT_BIT(VT_PT_MTC) |                      \
	 VT_PT_BIT(VT_PT_CYC))

static int put_overflow_disabled(struct vti_pt_walk *w)
{
	vti_pt_publish(&w->query, VTI_PT_EV_OVERFLOW)->suppressed = true;
	w->query.enabled = false;
	return 0;
}

/* Looks for a FUP in the header of a PSB; p is the end of the PSB.  1, 0 or a fault. */
static int header_has_fup(const struct vti_pt_walk *w, const uint8_t *p, struct vt_pt_packet *pkt)
{
	for (;;) {
		int r = vti_pt_peek(w, pkt, p);

		if (r < 0)
			return r;
		if (pkt->kind == VT_PT_FUP)
			return 1;
		if (pkt->kind == VT_PT_PSBEND)
			return 0;
		p += pkt->size;
	}
}

/* Looks for the FUP that the OVF binds to.  1: *p is its end; 0: none; or a negative fault. */
static int find_overflow_fup(const struct vti_pt_walk *w, const uint8_t **p)
{
	struct vt_pt_packet pkt;
	int r = vti_pt_peek_past(w, NEUTRAL, NULL, p, &pkt);

	if (r < 0)
		return r;
	*p += pkt.size;
	switch (pkt.kind) {
	case VT_PT_FUP:
		return 1;
	case VTI_PT_UNKNOWN:
		return -VTI_PT_OPCODE;
	case VT_PT_PSBEND:
	case VT_PT_TIP:
	case VT_PT_TIP_PGD:
	case VT_PT_TNT8:
	case VT_PT_TNT64:
		return -VTI_PT_CONTEXT;
	default:
		return 0;
	}
}

/* ---- SKD010: the FUP, or the TIP.PGE, may be missing --------------------------------- */

/* Resumes tracing at the address in pkt, and decoding with the packet at p. */
static int recover_overflow(struct vti_pt_walk *w, const struct vt_pt_packet *pkt, const uint8_t *p)
{
	struct vti_pt_event *ev;
	uint64_t ip;

	vti_pt_take_ip(w, pkt);
	if (vti_pt_last_ip(w, &ip))
		return -VTI_PT_CONTEXT;
	ev = vti_pt_publish(&w->query, VTI_PT_EV_OVERFLOW);
	ev->ip = ip;
	w->pos = p;
	w->query.enabled = true;
	return 0;
}

static int recover_at_psb(struct vti_pt_walk *w, const uint8_t *psb)
{
	struct vt_pt_packet pkt;
	int r = header_has_fup(w, psb + VT_PT_PSB_SIZE, &pkt);

	if (r < 0)
		return r == -VTI_PT_EOS ? 1 : r;
	return r ? recover_overflow(w, &pkt, psb) : 1;
}

/* 0: the overflow is handled; 1: the erratum does not apply; or a negative fault. */
static int try_skd010(struct vti_pt_walk *w)
{
	const uint64_t passed = NEUTRAL | VT_PT_BIT(VT_PT_MODE_EXEC) | VT_PT_BIT(VT_PT_PIP) |
				VT_PT_BIT(VT_PT_VMCS) | VT_PT_BIT(VT_PT_PWRE) |
				VT_PT_BIT(VT_PT_PWRX);
	const uint8_t *p = w->pos, *tsx = NULL;
	struct vt_pt_packet pkt;

	for (;; p += pkt.size) {
		int r = vti_pt_peek_past(w, passed, &w->query, &p, &pkt);

		if (r < 0)
			return r == -VTI_PT_EOS ? 1 : r;
		switch (pkt.kind) {
		case VT_PT_TIP_PGD:
			w->pos = p + pkt.size;
			return put_overflow_disabled(w);
		case VT_PT_TIP:
			return recover_overflow(w, &pkt, p + pkt.size);
		case VT_PT_FUP:
			return recover_overflow(w, &pkt, tsx ? tsx : p);
		case VT_PT_PSB:
			return recover_at_psb(w, p);
		case VT_PT_PSBEND:
			return -VTI_PT_CONTEXT;
		case VT_PT_MODE_TSX:
			if (tsx)
				return 1;
			tsx = p;
			break;
		case VT_PT_PTW:
		case VT_PT_EXSTOP:
			if (pkt.ip)
				return 1;
			break;
		default:
			return 1;
		}
	}
}

/* ---- APL11: there may be one TIP.PGD too many ------------------------------------------ */

static int try_apl11(struct vti_pt_walk *w)
{
	const uint8_t *p = w->pos;
	struct vt_pt_packet pkt;
	int r = vti_pt_peek_past(w, NEUTRAL, &w->query, &p, &pkt);

	if (r < 0)
		return r;
	switch (pkt.kind) {
	case VT_PT_TIP_PGD:
		w->pos = p + pkt.size;
		return put_overflow_disabled(w);
	case VT_PT_PSBEND:
	case VT_PT_TIP:
	case VT_PT_TNT8:
	case VT_PT_TNT64:
		return -VTI_PT_CONTEXT;
	default:
		return 1;
	}
}

/* ---- APL12: there may be a FUP although tracing is disabled ------------------------------ */

/* 0: tracing is certainly disabled; 1: it is enabled, or unknown; or a negative fault. */
static int check_disabled(const struct vti_pt_walk *w, const uint8_t *p)
{
	struct vt_pt_packet pkt;

	for (;; p += pkt.size) {
		int r = vti_pt_peek(w, &pkt, p);

		if (r < 0)
			return r == -VTI_PT_EOS ? 1 : r;
		switch (pkt.kind) {
		case VT_PT_STOP:
		case VT_PT_TIP_PGE:
			return 0;
		case VT_PT_TNT8:
		case VT_PT_TNT64:
		case VT_PT_TIP:
		case VT_PT_TIP_PGD:
		case VT_PT_OVF:
			return 1;
		case VT_PT_PSB:
			r = header_has_fup(w, p + pkt.size, &pkt);
			return r == -VTI_PT_EOS ? 1 : r;
		case VT_PT_PSBEND:
			return -VTI_PT_CONTEXT;
		default:
			break;
		}
	}
}

static int try_apl12(struct vti_pt_walk *w, const uint8_t *behind_fup)
{
	struct vt_pt_packet pkt;
	int r = check_disabled(w, behind_fup);

	if (r)
		return r;
	for (; w->pos < behind_fup; w->pos += pkt.size) {
		r = vti_pt_peek(w, &pkt, w->pos);
		if (r >= 0)
			r = vti_pt_check_timing(&w->query, &pkt);
		if (r < 0)
			return r;
	}
	return put_overflow_disabled(w);
}

/* Tries a workaround.  Undoes its timing checks of packets if it does not apply. */
static int try_erratum(struct vti_pt_walk *w, int (*try)(struct vti_pt_walk *))
{
	struct vti_pt_query *q = &w->query;
	bool has_tsc = q->has_tsc, has_tma = q->has_tma;
	int r = try(w);

	if (r > 0) {
		q->has_tsc = has_tsc;
		q->has_tma = has_tma;
	}
	return r;
}

int vti_pt_overflow(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = &w->query;
	const uint8_t *behind;
	int found, r;

	vti_pt_query_reset(w);
	w->pos += 2;
	behind = w->pos;
	found = find_overflow_fup(w, &behind);
	if (found > 0) {
		if (q->errata & VTI_PT_APL12) {
			r = try_apl12(w, behind);
			if (r <= 0)
				return r;
		}
		q->enabled = true;
		vti_pt_enqueue(q, VTI_PT_BIND_FUP, VTI_PT_EV_OVERFLOW);
		return 0;
	}
	if (q->errata & VTI_PT_SKD010) {
		r = try_erratum(w, try_skd010);
		if (r <= 0)
			return r;
	}
	if (q->errata & VTI_PT_APL11 && found == -VTI_PT_CONTEXT) {
		r = try_erratum(w, try_apl11);
		if (r <= 0)
			return r;
	}
	if (found < 0 && found != -VTI_PT_EOS)
		return found;
	return put_overflow_disabled(w);
}
