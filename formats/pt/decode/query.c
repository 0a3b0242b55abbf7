/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/pt/decode/walk.h"

static const uint8_t uses[VT_PT_NKINDS] = {
	[VT_PT_PAD] = VTI_PT_IN_HEADER,
	[VT_PT_PSBEND] = VTI_PT_EVENT_PSBEND,
	[VT_PT_TNT8] = VTI_PT_TAKES_TNT,
	[VT_PT_TNT64] = VTI_PT_TAKES_TNT,
	[VT_PT_TIP] = VTI_PT_TAKES_TIP,
	[VT_PT_TIP_PGE] = VTI_PT_EVENT,
	[VT_PT_TIP_PGD] = VTI_PT_EVENT,
	[VT_PT_FUP] = VTI_PT_EVENT_FUP | VTI_PT_IN_HEADER,
	[VT_PT_MODE_EXEC] = VTI_PT_EVENT | VTI_PT_IN_HEADER,
	[VT_PT_PIP] = VTI_PT_EVENT | VTI_PT_IN_HEADER,
	[VT_PT_VMCS] = VTI_PT_EVENT | VTI_PT_IN_HEADER,
	[VT_PT_TSC] = VTI_PT_IN_HEADER,
	[VT_PT_TMA] = VTI_PT_IN_HEADER,
	[VT_PT_MTC] = VTI_PT_IN_HEADER,
	[VT_PT_CBR] = VTI_PT_EVENT | VTI_PT_IN_HEADER,
	[VT_PT_CYC] = VTI_PT_IN_HEADER,
	[VT_PT_OVF] = VTI_PT_EVENT | VTI_PT_EVENT_PSBEND,
	[VT_PT_STOP] = VTI_PT_EVENT,
	[VT_PT_MNT] = VTI_PT_EVENT | VTI_PT_IN_HEADER,
	[VT_PT_PTW] = VTI_PT_EVENT,
	[VT_PT_EXSTOP] = VTI_PT_EVENT,
	[VT_PT_MWAIT] = VTI_PT_EVENT,
	[VT_PT_PWRE] = VTI_PT_EVENT,
	[VT_PT_PWRX] = VTI_PT_EVENT,
};

unsigned vti_pt_uses(uint8_t kind)
{
	if (kind == VTI_PT_UNKNOWN)
		return VTI_PT_IN_HEADER;
	return kind < VT_PT_NKINDS ? uses[kind] : 0;
}

/* ---- packets ---------------------------------------------------------------- */

static uint8_t classify_extended(uint8_t second)
{
	switch (second) {
	case 0x82:
		return VT_PT_PSB;
	case 0x23:
		return VT_PT_PSBEND;
	case 0xa3:
		return VT_PT_TNT64;
	case 0x43:
		return VT_PT_PIP;
	case 0xc8:
		return VT_PT_VMCS;
	case 0x73:
		return VT_PT_TMA;
	case 0x03:
		return VT_PT_CBR;
	case 0xf3:
		return VT_PT_OVF;
	case 0x83:
		return VT_PT_STOP;
	case 0x62:
	case 0xe2:
		return VT_PT_EXSTOP;
	case 0xc2:
		return VT_PT_MWAIT;
	case 0x22:
		return VT_PT_PWRE;
	case 0xa2:
		return VT_PT_PWRX;
	default:
		return (second & 0x1f) == 0x12 ? VT_PT_PTW : VTI_PT_UNKNOWN;
	}
}

static uint8_t classify_first_byte(uint8_t first)
{
	switch (first) {
	case 0x00:
		return VT_PT_PAD;
	case 0x99:
		return VT_PT_MODE_EXEC; /* or MODE.TSX */
	case 0x19:
		return VT_PT_TSC;
	case 0x59:
		return VT_PT_MTC;
	default:
		break;
	}
	if (!(first & 1))
		return VT_PT_TNT8;
	if ((first & 3) == 3)
		return VT_PT_CYC;
	switch (first & 0x1f) {
	case 0x0d:
		return VT_PT_TIP;
	case 0x11:
		return VT_PT_TIP_PGE;
	case 0x01:
		return VT_PT_TIP_PGD;
	case 0x1d:
		return VT_PT_FUP;
	default:
		return VTI_PT_UNKNOWN;
	}
}

int vti_pt_fetch(const uint8_t *p, const uint8_t *end, uint8_t *kind)
{
	*kind = VTI_PT_NONE;
	if (p == end)
		return -VTI_PT_EOS;
	if (p[0] != 0x02) {
		*kind = classify_first_byte(p[0]);
		return 0;
	}
	if (end - p < 2)
		return -VTI_PT_EOS;
	if (p[1] == 0xc3) {
		if (end - p < 3)
			return -VTI_PT_EOS;
		*kind = p[2] == 0x88 ? VT_PT_MNT : VTI_PT_UNKNOWN;
		return 0;
	}
	*kind = classify_extended(p[1]);
	return 0;
}

int vti_pt_packet(const struct vti_pt_walk *w, struct vt_pt_packet *out, const uint8_t *p)
{
	unsigned skz84 = w->query.errata & VTI_PT_SKZ84 ? VT_PT_SKZ84 : 0;
	int size = vt_pt_packet_read(out, p, w->end, skz84);

	if (size == VT_PT_CUT)
		return -VTI_PT_EOS;
	/* The reference takes the bogus byte although the trace ends before it, and loses sync. */
	if (size > 1 && size < 8 && out->kind == VT_PT_PAD)
		return -VTI_PT_NOSYNC;
	return size < 0 ? -VTI_PT_PACKET : size;
}

int vti_pt_peek(const struct vti_pt_walk *w, struct vt_pt_packet *pkt, const uint8_t *p)
{
	uint8_t kind;
	int r = vti_pt_fetch(p, w->end, &kind);

	if (r)
		return r;
	if (kind == VTI_PT_UNKNOWN)
		return -VTI_PT_OPCODE;
	r = vti_pt_packet(w, pkt, p);
	if (r != -VTI_PT_NOSYNC && (r <= 1 || pkt->kind != VT_PT_PAD))
		return r;
	pkt->kind = VTI_PT_UNKNOWN;
	return pkt->size;
}

int vti_pt_peek_past(const struct vti_pt_walk *w, uint64_t passed, struct vti_pt_query *timing,
		     const uint8_t **p, struct vt_pt_packet *pkt)
{
	for (;; *p += pkt->size) {
		int r = vti_pt_peek(w, pkt, *p);

		if (r >= 0 && timing) {
			int fault = vti_pt_check_timing(timing, pkt);

			r = fault ? fault : r;
		}
		if (r < 0 || pkt->kind == VTI_PT_UNKNOWN || !(VT_PT_BIT(pkt->kind) & passed))
			return r;
	}
}

int vti_pt_fetch_next(struct vti_pt_walk *w)
{
	return vti_pt_fetch(w->pos, w->end, &w->query.next);
}

int vti_pt_read(struct vti_pt_walk *w, struct vt_pt_packet *p)
{
	if (w->query.next == VTI_PT_UNKNOWN)
		return -VTI_PT_OPCODE;
	return vti_pt_packet(w, p, w->pos);
}

void vti_pt_take_ip(struct vti_pt_walk *w, const struct vt_pt_packet *p)
{
	w->ip_suppressed = !vt_pt_ip_update(&w->last_ip, p);
	if (!w->ip_suppressed)
		w->has_last_ip = true;
}

int vti_pt_last_ip(const struct vti_pt_walk *w, uint64_t *ip)
{
	*ip = 0;
	if (!w->has_last_ip)
		return -VTI_PT_NOIP;
	if (w->ip_suppressed)
		return -VTI_PT_SUPPRESSED;
	*ip = w->last_ip;
	return 0;
}

void vti_pt_forget_ip(struct vti_pt_walk *w)
{
	w->last_ip = 0;
	w->has_last_ip = false;
	w->ip_suppressed = false;
}

/* ---- queries ------------------------------------------------------------------------ */

/* Takes packets up to the next one that can answer a query. */
static int read_ahead(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = &w->query;

	for (;;) {
		int r = vti_pt_fetch_next(w);

		if (r)
			return r;
		if (vti_pt_uses(q->next) & (VTI_PT_TAKES_TIP | VTI_PT_TAKES_TNT) ||
		    vti_pt_has_event(q))
			return 0;
		r = vti_pt_take_packet(w);
		if (r == -VTI_PT_EOS) {
			w->pos = w->end;
			q->next = VTI_PT_NONE;
		}
		if (r)
			return r;
	}
}

/* The same, but the end of the trace is no fault. */
static int read_ahead_or_end(struct vti_pt_walk *w)
{
	int r = read_ahead(w);

	return r == -VTI_PT_EOS ? 0 : r;
}

static int make_query_flags(const struct vti_pt_walk *w)
{
	const struct vti_pt_query *q = &w->query;
	int f = 0;
	uint8_t kind;

	/* Remaining decisions come before events. */
	if (w->tnt_count)
		return 0;
	if (vti_pt_has_event(q))
		f |= VTI_PT_PENDING;
	if (q->next == VTI_PT_NONE && vti_pt_fetch(w->pos, w->end, &kind))
		f |= VTI_PT_AT_END;
	return f;
}

static int get_missing_fault(const struct vti_pt_walk *w)
{
	uint8_t kind;
	int r = vti_pt_fetch(w->pos, w->end, &kind);

	return r < 0 ? r : -VTI_PT_INTERNAL;
}

void vti_pt_query_reset(struct vti_pt_walk *w)
{
	struct vti_pt_query *q = &w->query;
	unsigned i;

	q->enabled = false;
	q->consume = false;
	q->published = false;
	vti_pt_forget_ip(w);
	w->tnt_count = 0;
	for (i = 0; i < VTI_PT_NBINDINGS; i++)
		q->queues[i].count = 0;
}

int vti_pt_query_sync(struct vti_pt_walk *w, const uint8_t *psb, uint64_t *ip)
{
	struct vti_pt_query *q = &w->query;
	bool known;
	int r;

	vti_pt_query_reset(w);
	q->has_tsc = q->has_tma = false;
	q->sync = w->pos = psb;
	r = vti_pt_fetch_next(w);
	if (r)
		return r;
	if (q->next != VT_PT_PSB)
		return -VTI_PT_NOSYNC;
	r = vti_pt_take_packet(w);
	if (r < 0)
		return r;
	/* Another PSB right after this one does not change the address of this one. */
	known = !vti_pt_last_ip(w, ip);
	r = read_ahead(w);
	if (r < 0)
		return r;
	r = make_query_flags(w);
	if (!known && vti_pt_last_ip(w, ip))
		r |= VTI_PT_UNKNOWN_IP;
	return r;
}

/* Takes a TNT: read_ahead() has stopped at one, at a TIP, at an event, or at the end. */
static int take_tnt(struct vti_pt_walk *w)
{
	const struct vti_pt_query *q = &w->query;
	int r;

	if (q->next == VTI_PT_NONE)
		return get_missing_fault(w);
	if (vti_pt_has_event(q) || !(vti_pt_uses(q->next) & VTI_PT_TAKES_TNT))
		return -VTI_PT_QUERY;
	r = vti_pt_take_packet(w);
	return r ? r : read_ahead_or_end(w);
}

int vti_pt_query_cond(struct vti_pt_walk *w, bool *taken)
{
	int r = w->tnt_count ? 0 : take_tnt(w);

	if (r < 0)
		return r;
	*taken = w->tnt >> --w->tnt_count & 1;
	return make_query_flags(w);
}

int vti_pt_query_indirect(struct vti_pt_walk *w, uint64_t *ip)
{
	struct vti_pt_query *q = &w->query;
	int f = 0;
	int r;

	for (;;) {
		unsigned u = vti_pt_uses(q->next);

		if (q->next == VTI_PT_NONE)
			return get_missing_fault(w);
		if (vti_pt_has_event(q))
			return -VTI_PT_QUERY;
		if (u & VTI_PT_TAKES_TNT && w->tnt_count)
			return -VTI_PT_QUERY;
		r = vti_pt_take_packet(w);
		if (r)
			return r;
		if (u & VTI_PT_TAKES_TIP)
			break;
		r = read_ahead(w);
		if (r)
			return r;
	}
	if (vti_pt_last_ip(w, ip))
		f = VTI_PT_UNKNOWN_IP;
	r = read_ahead_or_end(w);
	if (r < 0)
		return r;
	return f | make_query_flags(w);
}

int vti_pt_query_event(struct vti_pt_walk *w, struct vti_pt_event *ev)
{
	struct vti_pt_query *q = &w->query;
	int r;

	if (w->tnt_count)
		return -VTI_PT_QUERY;
	for (;;) {
		if (q->next == VTI_PT_NONE)
			return get_missing_fault(w);
		if (vti_pt_uses(q->next) & (VTI_PT_TAKES_TIP | VTI_PT_TAKES_TNT) &&
		    !vti_pt_has_event(q))
			return -VTI_PT_QUERY;
		q->published = false;
		r = vti_pt_take_packet(w);
		if (r)
			return r;
		if (q->published)
			break;
		r = read_ahead(w);
		if (r)
			return r;
	}
	*ev = q->event;
	r = read_ahead_or_end(w);
	return r < 0 ? r : make_query_flags(w);
}
